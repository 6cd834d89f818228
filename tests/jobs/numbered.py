"""A job kind for stories: it writes 20 numbered rows in 20 parts, as audit events, which nothing can change.

The parameter `parts` asks for another number of them.
"""

from collections.abc import Callable

from accounts.models import AuditEvent
from jobs.kinds import JobFailed, Part
from jobs.models import Job
from tenancy import audit

PARTS = 20
NAME = "tests.numbered"
VERB = "number.written"


class Numbered:
    """`during` is called in every part, after its row is written and before it is committed."""

    name = NAME
    label = "Numbers"
    queue = "imports"

    def __init__(self, during: Callable[[Job, int], object] = lambda job, number: None) -> None:
        self.during = during

    def run_part(self, job: Job) -> Part:
        number, total = 1 if job.cursor is None else job.cursor + 1, job.parameters.get("parts", PARTS)
        audit.record(VERB, job, number=number, fencing_token=job.fencing_token)
        self.during(job, number)
        return Part(
            cursor=number,
            progress=number,
            total=total,
            finished=number == total,
            result={"last": number},
        )


def written() -> list[int]:
    """The numbers in the active organisation's rows, in the order of writing."""
    return list(AuditEvent.objects.filter(verb=VERB).order_by("at", "pk").values_list("detail__number", flat=True))


def fail_in(part: int, error: Exception, times: int = 1000) -> Callable[[Job, int], None]:
    """Raise the error in this part, so many times."""
    raised: list[int] = []

    def during(job: Job, number: int) -> None:
        if number == part and len(raised) < times:
            raised.append(number)
            raise error

    return during


UNREADABLE = JobFailed("The file ends in line 7. Export it again, then import it.")
