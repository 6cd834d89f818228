"""What the routes of adjudicators answer."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from potato.api.base import Body, Shape

LONGEST_NAME = 500
LONGEST_NOTE = 2_000


class WaitingTrace(Shape):
    trace: UUID
    id: str
    weight: float
    questions: int
    differing: int
    deciding: int
    annotations: int
    agreement: float | None
    reasons: list[str]


class AdjudicationQueue(Shape):
    """`count` goes up to 1,000."""

    count: int
    results: list[WaitingTrace]


class OfferShape(Shape):
    value: str | int | float | bool | None
    words: str


class FieldShape(Shape):
    """One of the offers is chosen; where there are none it is a text."""

    name: str
    title: str
    is_required: bool
    offers: list[OfferShape]


class AnswerShape(Shape):
    """`annotation` is the letter of the annotation that says so."""

    annotation: str
    value: dict[str, Any]
    words: list[str]
    number: float | None


class WeighedAnswer(Shape):
    """What the answers say together, each weighed by how reliable its annotator is in the newest report of agreement:
    the letter of the first that says so, and how probable it is. `doubts` say why that is not to be trusted."""

    annotation: str
    probability: float
    doubts: list[str]


class OpenQuestion(Shape):
    """`is_open`: a person has to settle it. `consensus` is the letter of an annotation that says what most do.
    `weighed` is null for comments and ratings, and before there is a report of agreement."""

    scheme: str
    key: str
    title: str
    differs: bool
    decides: bool
    is_open: bool
    is_optional: bool
    consensus: str | None
    weighed: WeighedAnswer | None
    answers: list[AnswerShape]
    fields: list[FieldShape]


class LetteredAnnotation(Shape):
    """`annotator` is null while names are hidden."""

    annotation: str
    annotator: str | None


class ToSettle(Shape):
    assignment: UUID
    trace: str
    lease_token: int
    lease_until: datetime | None
    revision: int
    annotations: list[LetteredAnnotation]
    newer: int
    """So many annotations came since the trace was taken."""
    questions: list[OpenQuestion]
    settled: list[dict[str, Any]]


class TakenTrace(Shape):
    to_settle: ToSettle | None


class SavedSettled(Shape):
    revision: int


class SettledItem(Shape):
    """`taken_from` and `sides` are submissions: of whom it was taken, and who says the same."""

    scheme: str
    key: str
    title: str
    how: str
    words: str = ""
    differed: bool
    taken_from: list[UUID]
    sides: list[UUID]
    note: str = ""


class AdjudicationShape(Shape):
    id: UUID
    trace: str
    submission: UUID
    adjudicator: str
    decided_at: datetime
    undo_until: datetime
    items: list[SettledItem]


class AdjudicationMade(AdjudicationShape):
    record: dict[str, Any]


class Adjudications(Shape):
    next: str | None
    previous: str | None
    results: list[AdjudicationShape]


class SidedWithShape(Shape):
    """Of the `parts` that differed and were settled, as many became final as the annotator had said: `same`."""

    annotator: str
    traces: int
    parts: int
    same: int
    share: float | None


class Measure(Shape):
    results: list[SidedWithShape]


class NewSettlement(Body):
    """`taken_from` are letters of annotations; `fields` are what is written anew."""

    scheme: Annotated[str, Field(max_length=LONGEST_NAME)]
    key: Annotated[str, Field(max_length=5_000)]
    how: Literal["consensus", "kept", "merged", "rewritten", "dropped"]
    taken_from: list[Annotated[str, Field(max_length=1)]] = Field(default_factory=list, max_length=9)
    fields: dict[str, str | int | float | bool | None] | None = None
    note: Annotated[str, Field(max_length=LONGEST_NOTE)] = ""


class AfterUndo(Shape):
    """What became of the caller's claim on the trace: `submitted` where an earlier adjudication of theirs is behind it,
    `claimed` where they had taken the trace again, `released` otherwise. Undone twice it may have moved on."""

    state: Literal["released", "submitted", "claimed", "expired", "skipped", "voided"]
