"""One annotator more, one at a time, where the annotators of a trace disagree; and traces for which nobody is left."""

from collections import defaultdict
from functools import cache
from uuid import UUID

from django.db import transaction
from django.db.models import F, PositiveIntegerField
from django.db.models.functions import Greatest
from django.utils import timezone

from accounts.models import Project
from accounts.models.members import members_with
from assignments.actions.claiming import has_reached_limit
from assignments.actions.quotas import newest_rules
from assignments.actions.releasing import QUEUE_CHANGED
from assignments.models import Assignment, BatchPerson, Kind, QueuePosition, Submission, TraceQuota
from assignments.models.claims import KEEPS_AWAY, pinned_configuration
from gold.models import AddedAnnotator
from jobs import outbox
from jobs.models import OutboxEvent
from potato.configuration import UnreadablePinError
from tenancy import audit
from tenancy.roles import Right, Role

_LOOKED_AT = 500


def submission_made(event: OutboxEvent) -> None:
    rows = Submission.objects.filter(pk=event.payload["submission"], is_check=False).defer("packed")
    submission = rows.select_related("project", "assignment").first()
    if submission is not None:
        ask_one_more(project=submission.project, trace=submission.assignment.trace_id)


def ask_one_more(*, project: Project, trace: UUID) -> bool:
    """Want one annotator more of the trace where all that were wanted have submitted, and agree less than the newest
    configuration asks for; whether one was. Asked again before that one has submitted, it does nothing."""
    newest = newest_rules(project)
    if newest is None or (added := newest[0].add_on_disagreement) is None:
        return False
    try:
        configuration = pinned_configuration(newest[1])
    except UnreadablePinError:
        return False
    # Numpy comes with it: not in every process that knows the name of this module.
    from potato.statistics.agreement.more_annotators import wanted_annotators

    with transaction.atomic():
        rows = TraceQuota.objects.for_project(project).filter(trace=trace)
        quota = rows.select_for_update(no_key=True, of=("self",)).first()
        if quota is None or not quota.is_released or quota.active or quota.done != quota.target:
            return False
        counted = Submission.objects.for_project(project).counted()
        of_trace = counted.filter(assignment__trace=trace, assignment__kind=Kind.NORMAL).order_by("pk")
        annotations = [row.result for row in of_trace]
        if len(annotations) != quota.target:
            return False
        wanted = wanted_annotators(
            annotations, configuration, annotators=quota.target, below=added.below, up_to=added.up_to
        )
        if wanted.annotators <= quota.target or wanted.agreement is None:
            return False
        rows.update(
            extra=F("extra") + 1,
            target=F("target") + 1,
            slots=Greatest(F("slots"), F("target") + 1, output_field=PositiveIntegerField()),
            returned_at=timezone.now(),
        )
        AddedAnnotator.objects.bulk_create(
            [AddedAnnotator(project=project, trace_id=trace, annotators=quota.target, agreement=wanted.agreement)],
            ignore_conflicts=True,
        )
        audit.record("trace.annotator-added", project, trace=str(trace), why=wanted.sentence)
        outbox.publish(QUEUE_CHANGED, project=str(project.pk))
    return True


def nobody_left(project: Project) -> list[UUID]:
    """Traces that want one annotator more because of a disagreement, and that everybody has had who may be given
    them."""
    added = AddedAnnotator.objects.filter(organisation=project.organisation_id, project=project).order_by("-pk")
    traces = set(added.values_list("trace", flat=True)[:_LOOKED_AT])
    if not traces:
        return []
    free = TraceQuota.objects.for_project(project).free().filter(trace__in=traces).select_related("batch")
    quotas = list(free.order_by("trace"))
    if not quotas:
        return []
    positions = {
        row.user_id: row for row in QueuePosition.objects.filter(organisation=project.organisation_id, project=project)
    }
    paused = {user for user, row in positions.items() if row.paused_at is not None}
    members = members_with(Right.ANNOTATE, project).exclude(role=Role.SERVICE)
    everybody = set(members.values_list("user", flat=True)) - paused
    had: dict[UUID, set[UUID]] = defaultdict(set)
    own = Assignment.objects.for_project(project).filter(
        KEEPS_AWAY,
        trace__in=[quota.trace_id for quota in quotas],
    )
    for trace, user in own.values_list("trace", "user"):
        had[trace].add(user)
    named: dict[UUID, set[UUID]] = defaultdict(set)
    restricted = {quota.batch_id for quota in quotas if quota.batch is not None and quota.batch.is_restricted}
    people = BatchPerson.objects.filter(organisation=project.organisation_id, batch__in=restricted)
    for batch, user in people.values_list("batch", "user"):
        named[batch].add(user)
    newest = newest_rules(project)

    @cache
    def may_go_on(user: UUID) -> bool:
        position = positions.get(user) or QueuePosition(project=project, user_id=user)
        return newest is None or not has_reached_limit(position, newest[0])

    stuck = []
    for quota in quotas:
        people_of_batch = named[quota.batch_id] if quota.batch_id and quota.batch_id in restricted else everybody
        # Who has not had it is mostly there: only then is it counted how much they have done.
        if not any(map(may_go_on, (everybody & people_of_batch) - had[quota.trace_id])):
            stuck.append(quota.trace_id)
    return stuck
