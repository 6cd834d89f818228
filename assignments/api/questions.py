"""Routes of questions: annotators ask about a task that they hold, managers answer."""

from datetime import datetime
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import Body, read
from accounts.api.views import ApiView
from assignments.actions.asking import Where, answer_question, ask
from assignments.api.views import AnnotatorView
from assignments.models import Question
from assignments.questions import ShownQuestion, shown_questions
from potato.api.base import Shape
from potato.api.shapes import Text
from tenancy.permissions import demand_at
from tenancy.roles import Right


class NewQuestion(Body):
    text: Text
    path: Text | None = None
    side: str = "new"
    line: int | None = Field(default=None, ge=1, lt=2**31)
    step: int | None = Field(default=None, ge=0, lt=2**31)


class NewQuestionAnswer(Body):
    text: Text
    publish: bool = False
    """Put question and answer into the guidelines, in a new version."""


class QuestionShape(Shape):
    """`answer` is null while nobody answered, `version` where the answer is in no guidelines."""

    id: UUID
    assignment: UUID
    trace: str
    annotator: str
    place: str
    text: str
    asked_at: datetime
    answer: str | None
    answered_by: str | None
    answered_at: datetime | None
    version: int | None


class Questions(Shape):
    results: list[QuestionShape]


class QuestionsView(ApiView):
    right = Right.SEE_ORGANISATION

    @extend_schema(responses=Questions)
    def get(self, request: Request, project: str) -> Response:
        """The newest 200 questions of a project with their answers: everybody's for who may see all annotations, else
        the caller's own."""
        chosen = self.project()
        questions = Question.objects.for_project(chosen)
        if not self.membership.may_in(Right.SEE_ANNOTATIONS, chosen):
            questions = questions.asked_by_person(self.person)
        return Response(Questions(results=[_shape(row) for row in shown_questions(questions)]))


class AskView(AnnotatorView):
    @extend_schema(request=NewQuestion, responses={201: QuestionShape})
    def post(self, request: Request, assignment_id: UUID) -> Response:
        """Ask the managers about a held task, one of its lines or steps. The task stays with its annotator."""
        assignment, body = self.own_assignment(), read(NewQuestion, request)
        where = Where(body.path, body.side, body.line, body.step)
        question = ask(assignment=assignment, text=body.text, where=where)
        return Response(_one_question(question), status=201)


class AnswerQuestionView(ApiView):
    right = Right.MANAGE_PROJECTS

    @extend_schema(request=NewQuestionAnswer, responses={201: QuestionShape})
    def post(self, request: Request, question_id: UUID) -> Response:
        """Answer a question, once; with `publish` question and answer become part of the guidelines."""
        question = get_object_or_404(self.reachable(Question.objects.select_related("project")), pk=question_id)
        body = read(NewQuestionAnswer, request)
        if body.publish:
            demand_at(request._request, Right.CONFIGURE_PROJECTS, {"project": question.project.slug})
        answer_question(question=question, user=self.person, text=body.text, publishes=body.publish)
        return Response(_one_question(question), status=201)


def _one_question(question: Question) -> QuestionShape:
    return _shape(shown_questions(Question.objects.filter(pk=question.pk))[0])


def _shape(row: ShownQuestion) -> QuestionShape:
    return QuestionShape(
        id=row.id,
        assignment=row.assignment,
        trace=row.trace,
        annotator=row.annotator,
        place=row.place,
        text=row.text,
        asked_at=row.asked_at,
        answer=row.answer or None,
        answered_by=row.answered_by or None,
        answered_at=row.answered_at,
        version=row.version,
    )
