"""Routes of adjudicators: the queue, what is settled of a trace, and how often that sided with whom."""

from typing import Annotated, Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import Body, read
from accounts.api.idempotency import key_of
from accounts.api.parameters import one_of
from accounts.api.views import ApiView
from adjudication.actions import (
    UNDO_ADJUDICATION,
    OpenAdjudication,
    give_back,
    open_adjudication,
    save_settled,
    settle,
    take,
    undo_adjudication,
)
from adjudication.measuring import sided_with
from adjudication.models import Adjudication
from adjudication.queue import MOST_COUNTED, REASONS, in_turn, queue_rows, reasons, take_next
from adjudication.settlements import title_of
from adjudication.weighing import Weighed, weighed_answers
from assignments.api.pages import cursor_page
from assignments.api.parameters import CURSOR, IDEMPOTENCY_KEY
from assignments.api.views import LARGEST_ANNOTATION
from assignments.models import Assignment, Kind
from assignments.submission_records import annotator_names, submission_record
from potato.api import shapes
from potato.api.adjudication import (
    AdjudicationMade,
    AdjudicationQueue,
    Adjudications,
    AdjudicationShape,
    AfterUndo,
    AnswerShape,
    FieldShape,
    LetteredAnnotation,
    Measure,
    NewSettlement,
    OfferShape,
    OpenQuestion,
    SavedSettled,
    SettledItem,
    SidedWithShape,
    TakenTrace,
    ToSettle,
    WaitingTrace,
    WeighedAnswer,
)
from potato.api.shapes import Whole
from potato.schemes.parts import Part
from potato.statistics.agreement.settling import Item
from tenancy.roles import Right
from traces.models import Trace

QUEUE_SHOWN = 100


class Take(Body):
    """The trace to settle; the first of the queue where none is named."""

    trace: Annotated[UUID, Field(strict=False)] | None = None


class SaveSettled(Body):
    lease_token: Whole
    revision: Whole
    settled: list[NewSettlement] = Field(max_length=20_000)


class SubmitSettled(Body):
    """`tells`: whether the annotators read what became of their annotations."""

    lease_token: Whole
    settled: list[NewSettlement] = Field(max_length=20_000)
    tells: bool = True


class AdjudicatorView(ApiView):
    right = Right.ADJUDICATE

    def own_assignment(self) -> Assignment:
        """The caller's adjudication that the address names."""
        own = Assignment.objects.of(self.person).filter(kind=Kind.ADJUDICATION)
        rows = self.reachable(own.select_related("project", "trace", "user"))
        return get_object_or_404(rows, pk=self.kwargs["assignment_id"])


class AdjudicationQueueView(AdjudicatorView):
    @extend_schema(
        parameters=[OpenApiParameter("reason", str, enum=list(REASONS), description="Those alone.")],
        responses=AdjudicationQueue,
    )
    def get(self, request: Request, project: str) -> Response:
        """What the caller may settle, the differences that hurt most first. Nobody settles what they annotated."""
        reason = one_of(request, "reason", REASONS)
        chosen = self.project()
        ids = in_turn(chosen, self.person, MOST_COUNTED, reason)
        rows = queue_rows(self.person, ids[:QUEUE_SHOWN])
        return Response(AdjudicationQueue(count=len(ids), results=[_waiting(row) for row in rows]))

    @extend_schema(request=Take, responses=TakenTrace)
    def post(self, request: Request, project: str) -> Response:
        """Hold a trace, the first of the queue where none is named: no other adjudicator is given it meanwhile. Null
        where there is none."""
        chosen, body = self.project(), read(Take, request)
        if body.trace is None:
            row = take_next(project=chosen, user=self.person)
        else:
            row = take(project=chosen, trace=_trace(chosen, body.trace), user=self.person)
        if row is None:
            return Response(TakenTrace(to_settle=None))
        rows = Assignment.objects.select_related("project", "trace", "user")
        return Response(TakenTrace(to_settle=to_settle_shape(open_adjudication(rows.get(pk=row.pk)))))


class SettlingView(AdjudicatorView):
    largest_body = LARGEST_ANNOTATION

    @extend_schema(responses=ToSettle)
    def get(self, request: Request, assignment_id: UUID) -> Response:
        """What the caller took, with every question, what each annotation answers, and what was settled so far."""
        return Response(to_settle_shape(open_adjudication(self.own_assignment())))

    @extend_schema(request=SaveSettled, responses=SavedSettled)
    def put(self, request: Request, assignment_id: UUID) -> Response:
        """Keep what was settled so far; the trace stays held."""
        body = read(SaveSettled, request)
        draft = save_settled(
            assignment=self.own_assignment(),
            fencing_token=body.lease_token,
            revision=body.revision,
            settlements=[row.model_dump() for row in body.settled],
        )
        return Response(SavedSettled(revision=draft.revision))


class SubmitSettledView(AdjudicatorView):
    largest_body = LARGEST_ANNOTATION
    minds_its_key = True

    @extend_schema(parameters=[IDEMPOTENCY_KEY], request=SubmitSettled, responses={201: AdjudicationMade})
    def post(self, request: Request, assignment_id: UUID) -> Response:
        """Make the trace's authoritative annotation: what all or most say is taken over, and every other question has
        to be settled. The same request again is answered the same."""
        assignment = self.own_assignment()
        body = read(SubmitSettled, request)
        rows = [row.model_dump() for row in body.settled]
        made = settle(
            assignment=assignment,
            fencing_token=body.lease_token,
            key=key_of(request, what="annotation"),
            settlements=rows,
            payload={"settled": rows, "tells": body.tells},
            tells=body.tells,
        )
        submission = made.submission
        submission.assignment = assignment
        name = self.membership.annotator_name
        shape = adjudication_shape(made, name)
        return Response(
            AdjudicationMade(**dict(shape), record=submission_record(submission, name)),
            status=201,
        )


class SettleLaterView(AdjudicatorView):
    @extend_schema(request=shapes.LeaseToken, responses=shapes.State)
    def post(self, request: Request, assignment_id: UUID) -> Response:
        """Let others have the trace. What was settled so far is kept, and it comes to the caller after all others."""
        assignment = self.own_assignment()
        row = give_back(assignment=assignment, fencing_token=read(shapes.LeaseToken, request).lease_token)
        return Response(shapes.State.model_validate({"state": row.state}))


class AdjudicationsView(ApiView):
    right = Right.SEE_ANNOTATIONS

    @extend_schema(parameters=[CURSOR], responses=Adjudications)
    def get(self, request: Request, project: str) -> Response:
        """Every adjudication of the project that stands, the oldest first."""
        rows = Adjudication.objects.for_project(self.project()).in_force().select_related("trace")
        following, previous, page = cursor_page(rows, request)
        names = annotator_names(row.decided_by_id for row in page if row.decided_by_id)
        results = [
            adjudication_shape(row, names.get(row.decided_by_id, "") if row.decided_by_id else "") for row in page
        ]
        return Response(Adjudications(next=following, previous=previous, results=results))


class SidesView(ApiView):
    right = Right.SEE_ANNOTATIONS

    @extend_schema(responses=Measure)
    def get(self, request: Request, project: str) -> Response:
        """How often adjudication sided with whom: of the questions on which the annotations of a trace differed."""
        rows = sided_with(self.project())
        return Response(
            Measure(
                results=[
                    SidedWithShape(
                        annotator=row.annotator, traces=row.traces, parts=row.parts, same=row.same, share=row.share
                    )
                    for row in rows
                ]
            )
        )


class UndoAdjudicationView(AdjudicatorView):
    @extend_schema(request=None, responses=AfterUndo)
    def post(self, request: Request, adjudication_id: UUID) -> Response:
        """Take one's own adjudication back, within ten minutes: what stood before it stands again."""
        rows: QuerySet[Adjudication] = self.reachable(
            Adjudication.objects.select_related("submission__assignment__project", "submission__assignment__user")
        )
        row = undo_adjudication(adjudication=get_object_or_404(rows, pk=adjudication_id), user=self.person)
        return Response(AfterUndo.model_validate({"state": row.state}))


def to_settle_shape(opened: OpenAdjudication) -> ToSettle:
    names = {} if opened.hides_names else annotator_names(row.assignment.user_id for row in opened.letters.values())
    letters = {row.pk: letter for letter, row in opened.letters.items()}
    order = [letters[row.pk] for row in opened.compared.submissions]
    weighed = weighed_answers(opened.assignment.project, opened.compared)
    return ToSettle(
        assignment=opened.assignment.pk,
        trace=opened.assignment.trace.external_id,
        lease_token=opened.assignment.fencing_token,
        lease_until=opened.assignment.lease_until,
        revision=opened.revision,
        annotations=[
            LetteredAnnotation(annotation=letter, annotator=names.get(row.assignment.user_id))
            for letter, row in opened.letters.items()
        ],
        newer=opened.newer,
        questions=[_question(item, order, weighed.get((item.scheme, item.key))) for item in opened.compared.items],
        settled=[dict(row) for row in opened.stored],
    )


def adjudication_shape(row: Adjudication, name: str) -> AdjudicationShape:
    return AdjudicationShape(
        id=row.pk,
        trace=row.trace.external_id,
        submission=row.submission_id,
        adjudicator=name,
        decided_at=row.decided_at,
        undo_until=row.decided_at + UNDO_ADJUDICATION,
        items=[SettledItem.model_validate(item) for item in row.items],
    )


def _waiting(row: Any) -> WaitingTrace:
    return WaitingTrace(
        trace=row.trace_id,
        id=row.trace.external_id,
        weight=row.weight,
        questions=row.questions,
        differing=row.differing,
        deciding=row.deciding,
        annotations=row.annotations,
        agreement=row.agreement,
        reasons=[why.words for why in reasons(row)],
    )


def _question(item: Item, order: list[str], weighed: Weighed | None) -> OpenQuestion:
    answers = [(letter, part) for letter, part in zip(order, item.parts, strict=True) if part is not None]
    return OpenQuestion(
        scheme=item.scheme,
        key=item.key,
        title=title_of(item),
        differs=item.differs,
        decides=item.decides,
        is_open=item.is_open,
        is_optional=item.shown.is_optional,
        consensus=None if item.consensus is None else order[item.consensus],
        weighed=None
        if weighed is None
        else WeighedAnswer(
            annotation=order[weighed.at], probability=round(weighed.share, 4), doubts=list(weighed.doubts)
        ),
        answers=[_answer(letter, part) for letter, part in sorted(answers, key=lambda pair: pair[0])],
        fields=[
            FieldShape(
                name=field.name,
                title=field.title,
                is_required=field.is_required,
                offers=[OfferShape(value=offer.value, words=offer.choice.words) for offer in field.offers],
            )
            for field in item.shown.fields
        ],
    )


def _answer(letter: str, part: Part) -> AnswerShape:
    words = [choice.words for opinion in part.opinions for choice in opinion.choices]
    return AnswerShape(annotation=letter, value=dict(part.value), words=words, number=part.number)


def _trace(project: Any, trace: UUID) -> Trace:
    row = Trace.objects.filter(project=project, pk=trace).first()
    if row is None:
        raise Http404
    return row


urlpatterns = [
    path("projects/<slug:project>/adjudication/", AdjudicationQueueView.as_view(), name="api-adjudication"),
    path("projects/<slug:project>/adjudications/", AdjudicationsView.as_view(), name="api-adjudications"),
    path("projects/<slug:project>/adjudication/sides/", SidesView.as_view(), name="api-adjudication-sides"),
    path("adjudication/<uuid:assignment_id>/", SettlingView.as_view(), name="api-settling"),
    path("adjudication/<uuid:assignment_id>/submit/", SubmitSettledView.as_view(), name="api-settle"),
    path("adjudication/<uuid:assignment_id>/later/", SettleLaterView.as_view(), name="api-settle-later"),
    path("adjudications/<uuid:adjudication_id>/undo/", UndoAdjudicationView.as_view(), name="api-undo-adjudication"),
]
