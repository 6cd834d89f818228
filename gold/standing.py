"""Scores of gold, and what follows for their person: nothing, a word to the manager, or a pause that the manager ends.

A person's pay is never touched by any of it.
"""

from dataclasses import replace
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import Project, User
from assignments.actions.locks import lock_queue_position
from assignments.actions.steering import pause_person, resume_person
from assignments.models import Kind, Submission
from gold.models import ExpectedAnnotation, GoldScore, GoldStanding, State, Use
from gold.scoring import gold_rules, score_of_result
from jobs.models import OutboxEvent
from potato.configuration.project import Gold
from potato.statistics.gold_standing import Standing, Thresholds, standing
from tenancy import audit
from traces.models.bodies import pack

PAUSE_REASON = "Please talk to the project's manager before you go on. What you have done is kept."
"""What the person reads: it says nothing of gold."""


def submission_changed(event: OutboxEvent) -> None:
    """Somebody submitted an annotation, took one back, or it was decided of: where it is of gold the standing follows.

    Long after the answer to the request, so that nothing of it tells which task was of gold.
    """
    rows = Submission.objects.filter(pk=event.payload["submission"], assignment__kind=Kind.GOLD)
    submission = rows.select_related("project", "assignment__user", "assignment__project").first()
    if submission is not None:
        take_in(submission)


def expectation_changed(event: OutboxEvent) -> None:
    """What is expected of a trace was changed: who was scored by it is scored anew."""
    rows = ExpectedAnnotation.objects.filter(pk=event.payload["expected"], use=Use.GOLD)
    expected = rows.select_related("project").first()
    if expected is None:
        return
    given = Submission.objects.for_project(expected.project).not_set_aside()
    given = given.filter(assignment__trace=expected.trace_id, assignment__kind=Kind.GOLD)
    for submission in given.select_related("project", "assignment__user", "assignment__project").order_by("pk"):
        take_in(submission, anew=True)


def take_in(submission: Submission, *, anew: bool = False) -> GoldStanding:
    """Score the submission, once or `anew`, and bring its person's standing up to date. Whom the scores have paused
    stays so, whatever comes of what they still hold, before a manager lets them go on."""
    project, user = submission.project, submission.assignment.user
    rules = gold_rules(project)
    with transaction.atomic():
        position = lock_queue_position(project, user)
        _score(submission, rules, anew=anew)
        row = _standing_row(project, user)
        if row.state == State.PAUSED and position.paused_at is None:
            # A manager has let the person go on: what was before does not count any more.
            row.counted_from = row.since
        now = standing(scores_of_person(project, user.pk, row), thresholds(rules))
        if row.state == State.PAUSED and position.paused_at is not None and now.state != "paused":
            now = replace(now, state="paused", sentence=f"Paused by earlier scores. {now.sentence}")
        _follow(row, now, project, user)
    return row


def thresholds(rules: Gold | None) -> Thresholds:
    """The lines of the project; without rules nobody is warned or paused."""
    asked = rules or Gold()
    return Thresholds(asked.warn_below, asked.pause_below, asked.after)


def scores_of_person(project: Project, user: UUID, row: GoldStanding | None) -> list[float]:
    """The scores that count for the person's standing, the oldest first."""
    return [score.score for score in counted_scores(project, user, row)]


def counted_scores(project: Project, user: UUID, row: GoldStanding | None) -> list[GoldScore]:
    """Those of annotations that stand, since a manager let the person go on last."""
    standing_rows = Submission.objects.not_set_aside().filter(
        organisation=project.organisation_id, project=project, assignment__user=user, assignment__kind=Kind.GOLD
    )
    scores = GoldScore.objects.newest().filter(
        organisation=project.organisation_id, project=project, user=user, submission__in=standing_rows
    )
    if row is not None and row.counted_from is not None:
        scores = scores.filter(submission__submitted_at__gt=row.counted_from)
    return list(scores.select_related("submission", "expected__trace").order_by("submission"))


def let_go_on(*, project: Project, user: User) -> None:
    """A manager lets somebody go on whom their scores have paused: from now on new scores alone count."""
    with transaction.atomic():
        lock_queue_position(project, user)
        row = _standing_row(project, user)
        row.counted_from, row.state, row.since = timezone.now(), State.TOO_FEW, timezone.now()
        row.number, row.mean, row.low, row.high = 0, None, None, None
        row.sentence = "No gold task is done since the manager let them go on."
        row.save()
        resume_person(project=project, user=user)


def _score(submission: Submission, rules: Gold | None, *, anew: bool) -> None:
    project = submission.project
    own = GoldScore.objects.filter(organisation=project.organisation_id, submission=submission)
    before = own.order_by("-number").first()
    if before is not None and not anew:
        return
    rows = ExpectedAnnotation.objects.for_project(project).filter(trace=submission.assignment.trace_id, use=Use.GOLD)
    expected = rows.order_by("-made_at").first()
    if expected is None:
        return
    scored = score_of_result(expected, submission.assignment, submission.result, rules)
    if scored is not None and (before is None or (before.score, before.parts) != (scored.score, scored.parts)):
        GoldScore.objects.create(
            project=project,
            user_id=submission.assignment.user_id,
            expected=expected,
            submission=submission,
            number=before.number + 1 if before is not None else 1,
            score=scored.score,
            packed=pack(scored.parts),
        )


def _standing_row(project: Project, user: User) -> GoldStanding:
    GoldStanding.objects.bulk_create([GoldStanding(project=project, user=user)], ignore_conflicts=True)
    rows = GoldStanding.objects.filter(organisation=project.organisation_id, project=project, user=user)
    return rows.select_for_update(no_key=True, of=("self",)).get()


def _follow(row: GoldStanding, now: Standing, project: Project, user: User) -> None:
    before, state = row.state, State(now.state)
    row.number, row.mean, row.low, row.high = now.number, now.mean, now.low, now.high
    row.sentence = now.sentence
    if state != before:
        row.state, row.since = state, timezone.now()
    row.save()
    if state == before:
        return
    if state == State.PAUSED:
        pause_person(project=project, user=user, reason=PAUSE_REASON)
    if state in (State.PAUSED, State.WARNED):
        audit.record(
            "gold.paused" if state == State.PAUSED else "gold.warned",
            row,
            project=project.slug,
            person=str(user.pk),
            why=now.sentence,
        )
