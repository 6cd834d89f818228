"""What the routes of known answers take and answer."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from potato.api.base import Body, Shape
from potato.api.shapes import Record

MOST_RECORDS = 1_000
MOST_AT_ONCE = 100
LARGEST_SEED = 2**31 - 1
UseName = Literal["gold", "practice"]


class Expected(Shape):
    """An expected annotation; `problem` says why nobody can be scored by it any more, "" where somebody can."""

    id: UUID
    trace: UUID
    external_id: str
    use: UseName
    origin: Literal["expert", "imported", "planted"]
    annotations: Any
    why: str
    problem: str
    made_at: datetime
    retired_at: datetime | None


class ExpectedAnnotations(Shape):
    next: str | None
    previous: str | None
    results: list[Expected]


class NewExpected(Body):
    """Records with the `id` of a trace, its expected `annotations`, and `why`, if there is something to say."""

    records: Annotated[list[Record], Field(min_length=1, max_length=MOST_RECORDS)]
    use: UseName = "gold"


class ChangedExpected(Body):
    """What is expected of the trace from now on, whole, and why."""

    annotations: dict[str, Any]
    why: str = ""


class Made(Shape):
    results: list[Expected]


class ScoreShape(Shape):
    submission: UUID
    expected: UUID
    annotator: str
    score: float
    scored_at: datetime
    parts: Any


class Scores(Shape):
    next: str | None
    previous: str | None
    results: list[ScoreShape]


class StandingShape(Shape):
    annotator: str
    state: Literal["too_few", "fine", "warned", "paused"]
    since: datetime
    scores: int
    mean: float | None
    low: float | None
    high: float | None
    sentence: str


class OneselfShape(Shape):
    what: str
    measure: str
    value: float | None
    traces: int


class Standings(Shape):
    """Where people stand, and how far they agree with themselves on traces that came again."""

    results: list[StandingShape]
    with_oneself: list[OneselfShape]


class Act(Body):
    act: Literal["go_on", "admit"]


class Done(Shape):
    annotator: str
    act: str


class NewPlanting(Body):
    """A fault of that kind, "" for one that the seed draws, in each of these `traces`; without traces in so many, drawn
    by the seed among all that have a change and all their annotations."""

    traces: Annotated[list[Annotated[UUID, Field(strict=False)]], Field(max_length=MOST_AT_ONCE)] = []
    number: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = 10
    seed: Annotated[int, Field(ge=0, le=LARGEST_SEED)] = 0
    kind: Literal["", "off_by_one", "swapped_arguments", "dropped_check", "wrong_operator", "removed_await"] = ""
    use: UseName = "gold"


class PlantingJob(Shape):
    """The job that plants; what came of it stands among the jobs, and the answers among the expected annotations."""

    job: UUID
    traces: int
