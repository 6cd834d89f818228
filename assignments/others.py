"""Whether an annotator may read what others say of a trace that they annotated: `visibility.others_after_submit` of the
project's newest version.

Nobody reads it while they could still change what they said themselves: the trace has all its annotations, one's own
cannot be taken back any more, and where the project reviews annotations a reviewer let it stand. From then on it is not
returned to its annotator either. Of traces with a known answer nothing is ever read, and a configuration cannot have
such tasks beside this: what stays closed would tell which they are.
"""

from typing import Any

from django.utils import timezone

from accounts.models import ConfigurationVersion, Project, User
from assignments.models import Assignment, AssignmentState, Decision, Kind, Outcome, Submission, TraceQuota
from assignments.models.queue import Withheld
from assignments.models.submissions import UNDO_DECISION, UNDO_WITH_GRACE
from potato.configuration.project import Review
from traces.models import Trace

_CLOSED = (Withheld.KNOWN_ANSWER, Withheld.HELD_BACK)


def shows_others(project: Project) -> bool:
    """Whether the newest version lets annotators read what others say; not while none is published."""
    return _rules(project)[0]


def own_annotation(user: User, trace: Trace) -> Any:
    """What the person submitted of the trace in the course of their work, None where that does not stand."""
    rows = Submission.objects.submitted_by_person().filter(
        organisation=trace.organisation_id,
        assignment__trace=trace,
        assignment__user=user,
        assignment__kind=Kind.NORMAL,
        assignment__state=AssignmentState.SUBMITTED,
    )
    return rows.select_related("project", "assignment__version").defer("project__draft").order_by("pk").last()


def others_are_readable(own: Submission) -> bool:
    """Whether the annotator of that submission may read what others say of its trace."""
    project, assignment = own.project, own.assignment
    is_on, is_reviewed = _rules(project)
    if not is_on or assignment.kind != Kind.NORMAL or assignment.state != AssignmentState.SUBMITTED:
        return False
    now = timezone.now()
    here = {"organisation": project.organisation_id, "trace": assignment.trace_id}
    quota = TraceQuota.objects.filter(**here).first()
    if quota is None or quota.done < quota.target or quota.withheld in _CLOSED:
        return False
    if Assignment.objects.filter(**here, user=assignment.user_id).open().exists():
        return False
    decisions = Decision.objects.filter(organisation=project.organisation_id, submission__assignment=assignment)
    last = decisions.order_by("-decided_at", "-number").first()
    if last is not None and last.outcome in (Outcome.ACCEPTED, Outcome.CORRECTED):
        return now - last.decided_at > UNDO_DECISION
    return not is_reviewed and now - own.submitted_at > UNDO_WITH_GRACE


def _rules(project: Project) -> tuple[bool, bool]:
    """Whether others' annotations may be read, and whether some are reviewed."""
    versions = ConfigurationVersion.objects.filter(project=project).order_by("-number")
    row = versions.values_list("configuration__visibility__others_after_submit", "configuration__review").first()
    if row is None:
        return False, False
    return row[0] is True, Review.model_validate(row[1] or {}) != Review()
