"""What the routes of secrets answer and take."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from potato.api.base import Body, Shape

SecretsStateName = Literal["held", "reported", "replaced", "kept"]


class SecretPlace(Shape):
    kind: str
    step: int | None
    """The step's index, from 0; null outside the steps."""
    part: str
    file: str
    line: int
    """Within the part or file, from 1."""


class FoundSecrets(Shape):
    trace: UUID
    external_id: str
    state: SecretsStateName
    kinds: dict[str, int]
    """How many different secrets there are of each kind."""
    places: list[SecretPlace]
    """The first 200 places."""
    occurrences: int
    found_at: datetime


class SecretsReport(Shape):
    next: str | None
    previous: str | None
    results: list[FoundSecrets]


class ClearSecrets(Body):
    act: Literal["replace", "keep"]
    """Replace what was found with placeholders of the same length, or keep it."""
    traces: Annotated[list[str], Field(max_length=10_000)] = []
    """Ids as in `trace` of the report."""
    all: bool = False
    """Instead of `traces`: all that are held."""


class SecretsCleared(Shape):
    done: int
    problems: list[str]
    """Why others were not cleared, a sentence each."""
    left: int
    """So many were left for lack of time: ask again."""
    sentence: str
