"""What the routes answer by which a campaign is steered."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from potato.api.base import Shape

TracesAct = Literal[
    "hold_back",
    "exclude",
    "retire",
    "give_out",
    "tag",
    "untag",
    "priority",
    "offer",
    "end_offer",
    "more_annotators",
]
PeopleAct = Literal["pause", "resume", "limit", "take_off"]


class Reassigned(Shape):
    assignment: str
    """The id of the assignment of whoever goes on with the task."""
    annotator: str


class Paused(Shape):
    paused: bool


class ProjectPause(Shape):
    paused: bool
    since: datetime | None
    reason: str


class Steered(Shape):
    done: int
    sentence: str
    act: UUID | None
    """By which it can be taken back, for 30 seconds: POST to steering/<act>/undo/."""


class ReleaseStratum(Shape):
    name: str
    matching: int
    taken: int


class ReleasePreview(Shape):
    """What a release would take of the pool as it is now."""

    matching: int
    taken: int
    strata: list[ReleaseStratum]
    first: list[UUID]
    """The first 100 that are taken."""
    digest: str
    """Which ones are taken: another pool has another digest."""


class Rule(Shape):
    """What of each later import goes into a batch."""

    id: UUID
    number: int
    batch: int
    selection: dict[str, Any]
    description: str
    taken: int
    made_at: datetime


class Rules(Shape):
    next: str | None
    previous: str | None
    results: list[Rule]


class SkipReason(Shape):
    reason: str
    number: int


class SkipCounts(Shape):
    """Why tasks were skipped: the presets by their number, own words together."""

    total: int
    reasons: list[SkipReason]


class Undone(Shape):
    sentence: str
