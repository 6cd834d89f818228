"""What makes a row of each tenant table of leaving."""

from leaving.models import PersonalCopy, RetentionPolicy, TraceRemoval
from tests.isolation.rows.fixtures import Factories, Fixtures


def _personal_copy(fixtures: Fixtures) -> PersonalCopy:
    return PersonalCopy.objects.create(
        membership=fixtures.rows["accounts.Membership"],
        person=fixtures.rows["accounts.Membership"].user,
        requested_by=fixtures.person,
        stored_as=f"personal/{fixtures.organisation.pk}/{fixtures.mark}",
    )


def _trace_removal(fixtures: Fixtures) -> TraceRemoval:
    return TraceRemoval.objects.create(
        project=fixtures.rows["accounts.Project"],
        traces=[],
        job=fixtures.rows["jobs.Job"],
        requested_by=fixtures.person,
        result={"mark": fixtures.mark},
    )


def _retention_policy(fixtures: Fixtures) -> RetentionPolicy:
    return RetentionPolicy.objects.create(audit_days=365)


FACTORIES: Factories = {
    "leaving.PersonalCopy": _personal_copy,
    "leaving.TraceRemoval": _trace_removal,
    "leaving.RetentionPolicy": _retention_policy,
}
