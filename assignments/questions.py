"""Questions of annotators as pages and the API show them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Left

from assignments.history import TASK_START, trace_title
from assignments.models import Assignment, Question, QuestionAnswer
from assignments.models.questions import QuestionQuerySet
from assignments.submission_records import annotator_names
from tenancy.prepared import prepared

SHOWN = 200


@dataclass(frozen=True)
class ShownQuestion:
    """A question with who asked, about what, and its answer, "" where there is none yet."""

    id: UUID
    text: str
    place: str
    title: str
    trace: str
    trace_id: UUID
    assignment: UUID
    is_held: bool
    annotator: str
    asked_at: datetime
    answer: str
    answered_by: str
    answered_at: datetime | None
    version: int | None


def questions_of_task(assignment: Assignment) -> list[ShownQuestion]:
    """Those of one task. Most have none, which a prepared query tells: asked by the ORM that was a tenth of the
    processor time of an annotator's loop (`bench/bench_annotator_loop.py`)."""
    ids = _ids_of_task.rows(assignment.pk)
    return shown_questions(Question.objects.filter(pk__in=ids)) if ids else []


@prepared
def _ids_of_task(assignment: UUID) -> "QuerySet[Question, UUID]":
    return Question.objects.filter(assignment=assignment).values_list("pk", flat=True)


def shown_questions(questions: QuestionQuerySet) -> list[ShownQuestion]:
    """The newest ones. Three queries."""
    rows = list(
        questions.select_related("assignment__trace")
        .annotate(task_start=Left("assignment__trace__task", TASK_START))
        .defer("assignment__trace__task", "assignment__trace__report")
        .order_by("-pk")[:SHOWN]
    )
    answers = {row.question_id: row for row in QuestionAnswer.objects.filter(question__in=[row.pk for row in rows])}
    people: Iterable[UUID] = [
        *(row.assignment.user_id for row in rows),
        *(answer.answered_by_id for answer in answers.values() if answer.answered_by_id),
    ]
    names = annotator_names(people)
    return [_shown(row, answers.get(row.pk), names) for row in rows]


def _shown(row: Question, answer: QuestionAnswer | None, names: dict[UUID, str]) -> ShownQuestion:
    assignment = row.assignment
    task: str = getattr(row, "task_start", "")
    return ShownQuestion(
        id=row.pk,
        text=row.text,
        place=row.place,
        title=trace_title(task, assignment.trace.external_id),
        trace=assignment.trace.external_id,
        trace_id=assignment.trace_id,
        assignment=assignment.pk,
        is_held=assignment.is_open,
        annotator=names.get(assignment.user_id, ""),
        asked_at=row.asked_at,
        answer=answer.text if answer else "",
        answered_by=names.get(answer.answered_by_id, "") if answer and answer.answered_by_id else "",
        answered_at=answer.answered_at if answer else None,
        version=answer.version if answer else None,
    )
