"""Routes of reviewers: the queue, decisions, corrections; and the annotator's answers to notes."""

from typing import Annotated, Any, Literal
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import AwareDatetime, Field
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import Body, read
from accounts.api.parameters import one_of
from accounts.api.views import ApiView
from assignments.actions.answering import answer_note
from assignments.actions.correcting import begin_correction
from assignments.actions.deciding import accept, return_to_annotator, undo_decision, void
from assignments.api.pages import cursor_page
from assignments.api.parameters import CURSOR
from assignments.api.serializers import assignment_in_detail
from assignments.api.views import AnnotatorView
from assignments.decisions import OUTCOMES, ShownDecision, decisions_in_words, shown_decisions, without_outcomes
from assignments.errors import BadReviewNote
from assignments.hidden_outcomes import outcomes_are_hidden
from assignments.models import Decision, Submission
from assignments.readable import readable
from assignments.review_notes import ReviewNote
from assignments.review_queue import (
    HELD_FOR,
    MOST_COUNTED,
    hold_on,
    in_turn,
    queue_rows,
    reasons,
    review_rules,
    take_next,
)
from assignments.submission_records import annotator_names
from potato.api.reviewing import (
    AnswerToNote,
    Decisions,
    DecisionShape,
    DecisionsOfOne,
    ReviewNoteShape,
    ReviewQueue,
    Taken,
    Waiting,
)
from potato.api.shapes import AssignmentInDetail, Text
from tenancy.roles import Right

QUEUE_SHOWN = 100
_LONG = ("assignment__trace__task", "assignment__trace__report", "assignment__trace__test_runs")


class NewReviewNote(Body):
    text: Text
    path: Text | None = None
    side: Literal["new", "old"] = "new"
    line: int | None = Field(default=None, ge=1, lt=2**31)
    step: int | None = Field(default=None, ge=0, lt=2**31)


class NewDecision(Body):
    outcome: Literal["accepted", "returned", "voided"]
    notes: list[NewReviewNote] = Field(default_factory=list, max_length=50)
    until: Annotated[AwareDatetime, Field(strict=False)] | None = None
    seen: int | None = Field(default=None, ge=0, lt=2**31)


class NewAnswer(Body):
    note: int = Field(ge=0, lt=2**31)
    kept: bool
    text: Text = ""


class DecisionsView(ApiView):
    right = Right.SEE_ANNOTATIONS

    @extend_schema(
        parameters=[CURSOR, OpenApiParameter("outcome", str, enum=list(OUTCOMES), description="Those alone.")],
        responses=Decisions,
    )
    def get(self, request: Request, project: str) -> Response:
        """All decisions of reviewers in a project, the oldest first; those that take another back, too."""
        rows = Decision.objects.for_project(self.project())
        if outcome := one_of(request, "outcome", OUTCOMES):
            rows = rows.filter(outcome=outcome)
        following, previous, page = cursor_page(rows, request)
        results = [_decision(row) for row in decisions_in_words(page)]
        return Response(Decisions(next=following, previous=previous, results=results))


class ReviewQueueView(ApiView):
    right = Right.REVIEW_ANNOTATIONS

    @extend_schema(responses=ReviewQueue)
    def get(self, request: Request, project: str) -> Response:
        """What the caller may review, the first to come first, each with why. Nobody reviews their own work."""
        chosen = self.project()
        rules = review_rules(chosen)
        ids = in_turn(chosen, self.person, MOST_COUNTED, rules)
        submissions = Submission.objects.select_related("assignment__trace").defer("packed", *_LONG)
        rows = queue_rows(submissions, ids[:QUEUE_SHOWN], rules)
        names = annotator_names(row.assignment.user_id for row in rows)
        return Response(
            ReviewQueue(
                count=len(ids),
                results=[
                    Waiting(
                        submission=row.pk,
                        trace=row.assignment.trace.external_id,
                        annotator=names.get(row.assignment.user_id, ""),
                        reasons=[why.words for why in reasons(row, rules)],
                    )
                    for row in rows
                ],
            )
        )

    @extend_schema(request=None, responses=Taken)
    def post(self, request: Request, project: str) -> Response:
        """Hold the next annotation of the queue: no other reviewer is given it meanwhile. Null where there is none."""
        taken = take_next(project=self.project(), user=self.person)
        return Response(Taken(submission=taken, minutes=HELD_FOR.seconds // 60))


class SubmissionDecisionsView(ApiView):
    right = Right.SEE_ORGANISATION
    right_to_change = Right.REVIEW_ANNOTATIONS
    largest_body = 262_144

    def submission(self) -> Any:
        rows = self.reachable(readable(self.membership, self.person).select_related("assignment__user"))
        return get_object_or_404(rows, pk=self.kwargs["submission_id"])

    @extend_schema(responses=DecisionsOfOne)
    def get(self, request: Request, submission_id: UUID) -> Response:
        """What was decided of an annotation, the oldest first: the last one is in force. Its annotator reads it too:
        where the project hides outcomes, what was returned alone, and not by whom."""
        submission = self.submission()
        decisions = shown_decisions([submission.pk])
        is_own = submission.assignment.user_id == self.person.pk
        if is_own and not self.membership.may(Right.SEE_ANNOTATIONS) and outcomes_are_hidden(submission.project):
            decisions = without_outcomes(decisions)
        return Response(DecisionsOfOne(results=[_decision(row) for row in decisions]))

    @extend_schema(request=NewDecision, responses={201: DecisionShape})
    def post(self, request: Request, submission_id: UUID) -> Response:
        """Accept an annotation, return it with notes until a time, or void it with a note that says why. `seen`, the
        number of decisions that the caller knows of, refuses it where there are others."""
        submission, body = self.submission(), read(NewDecision, request)
        notes = [ReviewNote(note.text, note.path, note.side, note.line, note.step) for note in body.notes]
        if body.until is not None and body.outcome != "returned":
            raise ParseError("until belongs to what is returned.", code="invalid_request")
        if body.outcome == "accepted":
            decision = accept(submission=submission, user=self.person, notes=notes, seen=body.seen)
        elif body.outcome == "returned":
            decision = return_to_annotator(
                submission=submission, user=self.person, notes=notes, until=body.until, seen=body.seen
            )
        else:
            if len(notes) > 1:
                raise BadReviewNote("What is void has one note, which says why.")
            reason = notes[0].text if notes else ""
            decision = void(submission=submission, user=self.person, reason=reason, seen=body.seen)
        return Response(_made(decision), status=201)


class CorrectView(SubmissionDecisionsView):
    right = Right.REVIEW_ANNOTATIONS
    http_method_names = ["post"]

    @extend_schema(request=None, responses=AssignmentInDetail)
    def post(self, request: Request, submission_id: UUID) -> Response:
        """Open an annotation as the caller's own assignment, with its answers as the draft. What is submitted under it
        counts in its place; both are kept."""
        return Response(assignment_in_detail(begin_correction(submission=self.submission(), user=self.person).pk))


class HoldView(ApiView):
    right = Right.REVIEW_ANNOTATIONS

    @extend_schema(request=None, responses=Taken)
    def post(self, request: Request, submission_id: UUID) -> Response:
        """Hold an annotation that the queue gave the caller for as long again. `submission` is null where it did not
        give it, or where another reviewer looks at it since."""
        rows = self.reachable(Submission.objects.visible_to(self.membership, self.person).select_related("project"))
        submission = get_object_or_404(rows.defer("packed"), pk=submission_id)
        is_held = hold_on(submission=submission.pk, user=self.person)
        return Response(Taken(submission=submission.pk if is_held else None, minutes=HELD_FOR.seconds // 60))


class UndoView(ApiView):
    right = Right.REVIEW_ANNOTATIONS

    @extend_schema(request=None, responses=DecisionShape)
    def post(self, request: Request, decision_id: UUID) -> Response:
        """Take one's own decision back, within ten minutes: what was decided before is in force again."""
        rows = self.reachable(
            Decision.objects.select_related(
                "submission__assignment__user", "submission__project", "submission__assignment__project", "correction"
            )
        )
        decision = get_object_or_404(rows, pk=decision_id)
        return Response(_made(undo_decision(decision=decision, user=self.person)))


class AnswersView(AnnotatorView):
    @extend_schema(request=NewAnswer, responses={201: AnswerToNote})
    def post(self, request: Request, assignment_id: UUID) -> Response:
        """Say what became of a note of a returned task, by its place from 0: something was changed, or it is kept, and
        why. Each note is answered once, and all before the task is submitted again."""
        assignment = self.own_assignment()
        body = read(NewAnswer, request)
        stored = answer_note(assignment=assignment, user=self.person, note=body.note, is_kept=body.kept, text=body.text)
        return Response(AnswerToNote(kept=stored.is_kept, text=stored.text), status=201)


def _made(decision: Decision) -> DecisionShape:
    return _decision(next(row for row in shown_decisions([decision.submission_id]) if row.id == decision.pk))


def _decision(row: ShownDecision) -> DecisionShape:
    return DecisionShape(
        id=row.id,
        submission=row.submission,
        number=row.number,
        outcome=row.outcome,
        takes_back=row.takes_back,
        reviewer=row.by,
        decided_at=row.at,
        until=row.until,
        correction=row.correction,
        notes=[
            ReviewNoteShape(
                text=shown.note.text,
                path=shown.note.path,
                side=shown.note.side if shown.note.line else None,
                line=shown.note.line,
                step=shown.note.step,
                answer=AnswerToNote(kept=shown.answer.is_kept, text=shown.answer.text) if shown.answer else None,
            )
            for shown in row.notes
        ],
    )
