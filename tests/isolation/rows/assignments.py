"""What makes a row of each tenant table of assignments."""

from datetime import timedelta

from django.utils import timezone

from assignments.models import (
    Assignment,
    Batch,
    BatchPerson,
    BatchPosition,
    Correction,
    Decision,
    Draft,
    Note,
    NoteAnswer,
    Outcome,
    Question,
    QuestionAnswer,
    QueuePosition,
    Reservation,
    ReviewHold,
    StandingRule,
    Steering,
    SteeringAct,
    Submission,
    Suggestion,
    SuggestionExposure,
    TraceQuota,
    Withdrawal,
)
from tests.isolation.rows.fixtures import Factories, Fixtures
from traces.models.bodies import pack


def _trace_places(fixtures: Fixtures) -> TraceQuota:
    return TraceQuota.objects.create(
        batch=fixtures.rows["assignments.Batch"],
        is_released=True,
        trace=fixtures.rows["traces.Trace"],
        project=fixtures.rows["accounts.Project"],
        target=1,
        slots=1,
        active=1,
    )


def _batch(fixtures: Fixtures) -> Batch:
    return Batch.objects.create(project=fixtures.rows["accounts.Project"], number=1, name=f"Batch of {fixtures.mark}")


def _batch_person(fixtures: Fixtures) -> BatchPerson:
    return BatchPerson.objects.create(batch=fixtures.rows["assignments.Batch"], user=fixtures.person)


def _batch_position(fixtures: Fixtures) -> BatchPosition:
    return BatchPosition.objects.create(
        batch=fixtures.rows["assignments.Batch"], user=fixtures.person, returned_at=timezone.now()
    )


def _standing_rule(fixtures: Fixtures) -> StandingRule:
    return StandingRule.objects.create(
        project=fixtures.rows["accounts.Project"],
        batch=fixtures.rows["assignments.Batch"],
        number=1,
        selection={"filter": {"q": fixtures.mark}},
    )


def _steering(fixtures: Fixtures) -> Steering:
    return Steering.objects.create(project=fixtures.rows["accounts.Project"])


def _reservation(fixtures: Fixtures) -> Reservation:
    return Reservation.objects.create(
        project=fixtures.rows["accounts.Project"],
        trace=fixtures.rows["traces.Trace"],
        user=fixtures.person,
        until=timezone.now() + timedelta(days=1),
    )


def _steering_act(fixtures: Fixtures) -> SteeringAct:
    # Too long ago to be undone, however long a test takes.
    return SteeringAct.objects.create(
        project=fixtures.rows["accounts.Project"],
        verb="traces.held-back",
        sentence=fixtures.mark,
        packed=pack([]),
        done_at=timezone.now() - timedelta(hours=1),
    )


def _queue_position(fixtures: Fixtures) -> QueuePosition:
    return QueuePosition.objects.create(project=fixtures.rows["accounts.Project"], user=fixtures.person)


def _assignment(fixtures: Fixtures) -> Assignment:
    return Assignment.objects.create(
        project=fixtures.rows["accounts.Project"],
        trace=fixtures.rows["traces.Trace"],
        user=fixtures.person,
        version=fixtures.rows["accounts.ConfigurationVersion"],
        state="skipped",
        skip_reason=fixtures.mark,
    )


def _draft(fixtures: Fixtures) -> Draft:
    return Draft.objects.create(assignment=fixtures.rows["assignments.Assignment"], packed=pack(fixtures.mark))


def _submission(fixtures: Fixtures) -> Submission:
    return Submission.objects.create(
        project=fixtures.rows["accounts.Project"],
        assignment=fixtures.rows["assignments.Assignment"],
        number=1,
        packed=pack({"verdict": fixtures.mark}),
        key=fixtures.mark,
        request_sha256="0" * 64,
    )


def _withdrawal(fixtures: Fixtures) -> Withdrawal:
    return Withdrawal.objects.create(submission=fixtures.rows["assignments.Submission"], withdrawn_by=fixtures.person)


def _note(fixtures: Fixtures) -> Note:
    submission = fixtures.rows["assignments.Submission"]
    return Note.objects.create(submission=submission, text=fixtures.mark, written_by=fixtures.person)


def _decision(fixtures: Fixtures) -> Decision:
    submission = fixtures.rows["assignments.Submission"]
    return Decision.objects.create(
        project=fixtures.rows["accounts.Project"],
        submission=submission,
        number=1,
        outcome=Outcome.CORRECTED,
        notes=[{"text": fixtures.mark}],
        correction=submission,
        decided_by=fixtures.person,
    )


def _note_answer(fixtures: Fixtures) -> NoteAnswer:
    decision = fixtures.rows["assignments.Decision"]
    return NoteAnswer.objects.create(decision=decision, note=0, is_kept=True, text=fixtures.mark)


def _question(fixtures: Fixtures) -> Question:
    return Question.objects.create(
        project=fixtures.rows["accounts.Project"],
        assignment=fixtures.rows["assignments.Assignment"],
        text=fixtures.mark,
    )


def _suggestion(fixtures: Fixtures) -> Suggestion:
    return Suggestion.objects.create(
        project=fixtures.rows["accounts.Project"],
        trace=fixtures.rows["traces.Trace"],
        configuration=fixtures.rows["accounts.ConfigurationVersion"],
        model=fixtures.mark,
        model_version="1",
        provenance={"prompt": fixtures.mark},
        packed=pack({"review_verdict": {"decision": "approve", "notes": fixtures.mark}}),
        given_sha256="0" * 64,
        added_by=fixtures.person,
    )


def _suggestion_exposure(fixtures: Fixtures) -> SuggestionExposure:
    return SuggestionExposure.objects.create(
        assignment=fixtures.rows["assignments.Assignment"],
        suggestion=fixtures.rows["assignments.Suggestion"],
        is_shown=True,
    )


def _question_answer(fixtures: Fixtures) -> QuestionAnswer:
    question = fixtures.rows["assignments.Question"]
    return QuestionAnswer.objects.create(question=question, text=fixtures.mark, answered_by=fixtures.person)


def _correction(fixtures: Fixtures) -> Correction:
    return Correction.objects.create(
        assignment=fixtures.rows["assignments.Assignment"], submission=fixtures.rows["assignments.Submission"]
    )


def _review_hold(fixtures: Fixtures) -> ReviewHold:
    submission = fixtures.rows["assignments.Submission"]
    return ReviewHold.objects.create(submission=submission, user=fixtures.person, until=timezone.now())


FACTORIES: Factories = {
    "assignments.Batch": _batch,
    "assignments.BatchPerson": _batch_person,
    "assignments.BatchPosition": _batch_position,
    "assignments.StandingRule": _standing_rule,
    "assignments.Steering": _steering,
    "assignments.Reservation": _reservation,
    "assignments.SteeringAct": _steering_act,
    "assignments.TraceQuota": _trace_places,
    "assignments.QueuePosition": _queue_position,
    "assignments.Assignment": _assignment,
    "assignments.Draft": _draft,
    "assignments.Submission": _submission,
    "assignments.Withdrawal": _withdrawal,
    "assignments.Note": _note,
    "assignments.Decision": _decision,
    "assignments.NoteAnswer": _note_answer,
    "assignments.Question": _question,
    "assignments.QuestionAnswer": _question_answer,
    "assignments.Suggestion": _suggestion,
    "assignments.SuggestionExposure": _suggestion_exposure,
    "assignments.Correction": _correction,
    "assignments.ReviewHold": _review_hold,
}
