"""What makes a row of each tenant table of jobs."""

from jobs.models import Job, OutboxEvent
from tests.isolation.rows.fixtures import Factories, Fixtures


def _job(fixtures: Fixtures) -> Job:
    return Job.objects.create(kind=fixtures.mark, parameters={"mark": fixtures.mark}, created_by=fixtures.person)


def _outbox_event(fixtures: Fixtures) -> OutboxEvent:
    return OutboxEvent.objects.create(topic=fixtures.mark, payload={"mark": fixtures.mark})


FACTORIES: Factories = {
    "jobs.Job": _job,
    "jobs.OutboxEvent": _outbox_event,
}
