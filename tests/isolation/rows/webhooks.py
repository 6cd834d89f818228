"""What makes a row of each tenant table of webhooks."""

from tests.isolation.rows.fixtures import Factories, Fixtures
from webhooks.models import Delivery, Endpoint


def _endpoint(fixtures: Fixtures) -> Endpoint:
    return Endpoint.objects.create(
        project=fixtures.rows["accounts.Project"],
        url=f"https://{fixtures.mark}.example.org/",
        description=fixtures.mark,
        events=["export.finished"],
        created_by=fixtures.person,
    )


def _delivery(fixtures: Fixtures) -> Delivery:
    return Delivery.objects.create(
        endpoint=fixtures.rows["webhooks.Endpoint"],
        event=fixtures.rows["jobs.OutboxEvent"].pk,
        type="export.finished",
        body=f'{{"type": "export.finished", "data": {{"format": "{fixtures.mark}"}}}}',
    )


FACTORIES: Factories = {
    "webhooks.Endpoint": _endpoint,
    "webhooks.Delivery": _delivery,
}
