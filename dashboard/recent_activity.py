"""What happened in a project lately: annotations, and what people decided about it. A fixed number of queries."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from typing import Any

from django.db.models.functions import Left
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent, Project
from assignments.history import TASK_START, trace_title
from assignments.models import Submission
from assignments.submission_records import annotator_names
from potato.wording import moment

SHOWN = 8
_SUBMISSIONS = 5
_SAYS = {
    "project.created": ("made this project", "plus"),
    "project.renamed": ("renamed this project", "pencil"),
    "draft.discarded": ("discarded the draft of the configuration", "trash-2"),
    "configuration.published": ("published version {number}", "sliders-horizontal"),
    "traces.import-requested": ("imported {file}", "upload"),
    "traces.imported": ("imported {file}", "upload"),
    "project.loaded": ("loaded an archive into this project", "download"),
    "attention.dismissed": ("left for a week: {matter} “{reason}”", "clock"),
}


@dataclass(frozen=True)
class Activity:
    """Who did what, at `at`; `thing` is what it was done to, with its page where there is one."""

    at: datetime
    who: str
    did: str
    icon: str
    thing: str = ""
    url: str = ""

    @property
    def when(self) -> str:
        return moment(timezone.localtime(self.at), timezone.localtime())


def recent_activity_in(project: Project) -> list[Activity]:
    """The newest SHOWN things, the newest first."""
    return nlargest(SHOWN, [*_submissions(project), *_decisions(project)], key=lambda happening: happening.at)


def _submissions(project: Project) -> Iterator[Activity]:
    rows = Submission.objects.for_project(project).filter(is_check=False).select_related("assignment__trace")
    with_task = rows.annotate(task_start=Left("assignment__trace__task", TASK_START))
    lean = with_task.defer("packed", "assignment__trace__task", "assignment__trace__report")
    last: list[Any] = list(lean.order_by("-pk")[:_SUBMISSIONS])  # Any: what is annotated
    names = annotator_names(submission.assignment.user_id for submission in last)
    for submission in last:
        yield Activity(
            at=submission.submitted_at,
            who=names.get(submission.assignment.user_id, "Somebody"),
            did="submitted",
            icon="check",
            thing=trace_title(submission.task_start, submission.assignment.trace.external_id),
            url=reverse("read-annotation", args=[project.slug, submission.pk]),
        )


def _decisions(project: Project) -> Iterator[Activity]:
    own = AuditEvent.objects.filter(organisation=project.organisation_id, target_id=project.pk, verb__in=_SAYS)
    for event in own.order_by("-at")[:SHOWN]:
        words, icon = _SAYS[event.verb]
        yield Activity(event.at, event.person_name or "The system", words.format_map(_Details(event.detail)), icon)


class _Details(dict[str, Any]):
    """What an event says of itself; an older one may lack something."""

    def __missing__(self, key: str) -> str:
        return "…"
