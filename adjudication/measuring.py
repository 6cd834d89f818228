"""How often adjudication sided with whom: on how many of the questions that it settled each annotator said the same."""

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Sum

from accounts.models import Project
from adjudication.models import Adjudication, Side
from assignments.submission_records import annotator_names

FEW = 10
"""Below so many traces nothing should be read into a share."""


@dataclass(frozen=True)
class SidedWith:
    annotator: str
    traces: int
    parts: int
    same: int

    @property
    def share(self) -> float | None:
        """None where no question of theirs differed from others'."""
        return self.same / self.parts if self.parts else None

    @property
    def per_cent(self) -> int:
        return round(100 * (self.share or 0))

    @property
    def is_few(self) -> bool:
        return self.traces < FEW


def sided_with(project: Project) -> list[SidedWith]:
    """Each annotator whose annotations were looked at by an adjudication that stands, with whom it sided most first."""
    in_force = Adjudication.objects.for_project(project).in_force()
    rows = Side.objects.filter(organisation=project.organisation_id, adjudication__project=project).filter(
        Exists(in_force.filter(pk=OuterRef("adjudication")))
    )
    sums = rows.values("submission__assignment__user").annotate(
        traces=Count("pk"), all_parts=Sum("parts"), all_same=Sum("same")
    )
    counted = {row["submission__assignment__user"]: row for row in sums.order_by()}
    names = annotator_names(counted)
    measured = [
        SidedWith(names.get(user, ""), row["traces"], row["all_parts"], row["all_same"])
        for user, row in counted.items()
    ]
    return sorted(measured, key=lambda row: (-(row.share if row.share is not None else -1), row.annotator))


def settled_traces(project: Project) -> int:
    """How many traces of the project are settled."""
    return Adjudication.objects.for_project(project).in_force().count()
