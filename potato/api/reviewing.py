"""What the routes of reviewers answer: the queue, decisions, and what annotators say to notes."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from potato.api.base import Shape


class AnswerToNote(Shape):
    kept: bool
    text: str


class ReviewNoteShape(Shape):
    text: str
    path: str | None
    side: str | None
    line: int | None
    step: int | None
    answer: AnswerToNote | None


class DecisionShape(Shape):
    id: UUID
    submission: UUID
    number: int
    outcome: Literal["accepted", "returned", "corrected", "voided", "undecided"]
    takes_back: bool
    reviewer: str
    decided_at: datetime
    until: datetime | None
    correction: UUID | None
    notes: list[ReviewNoteShape]


class Decisions(Shape):
    next: str | None
    previous: str | None
    results: list[DecisionShape]


class DecisionsOfOne(Shape):
    results: list[DecisionShape]


class Waiting(Shape):
    submission: UUID
    trace: str
    annotator: str
    reasons: list[str]


class ReviewQueue(Shape):
    """`count` goes up to 1,000."""

    count: int
    results: list[Waiting]


class Taken(Shape):
    submission: UUID | None
    minutes: int
