"""What the routes of batches answer and take."""

from datetime import datetime
from typing import Any, Literal

from potato.api.base import Shape

PriorityName = Literal["low", "normal", "high", "urgent"]
OrderName = Literal["imported", "random", "priority", "fewest"]


class ShownBatch(Shape):
    number: int
    name: str
    state: Literal["draft", "open", "paused", "withdrawn"]
    priority: PriorityName
    order: OrderName
    redundancy: int | None
    """Annotations a trace; null for as many as the configuration says."""
    deadline: str | None
    """A date as 2026-12-04."""
    restricted: bool
    """Whether only named people are given its tasks."""
    selection: dict[str, Any]
    """How its traces were chosen: filter, number or share, stratum and seed."""
    released_at: datetime | None
    traces: int
    complete: int
    target: int
    """Annotations that its traces need together."""
    done: int
    held: int


class Batches(Shape):
    results: list[ShownBatch]
