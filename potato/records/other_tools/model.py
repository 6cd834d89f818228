"""What every reader of another tool's files answers, and what it is told. Reads and places nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal, Protocol

from potato.schemes.statements import Unplaced

__all__ = ["Found", "Place", "Reading", "Said", "ToolReader", "Unplaced", "as_list", "as_object", "utc_timestamp"]

Author = Literal["person_elsewhere", "llm_judge", "automated_reviewer", "other"]
"""What kind of source somebody is who worked in another tool."""


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that was said. `name` is what the tool calls its question; where it has none, `annotation_type` names
    the scheme type that is meant. The rest is as `Statement` has it."""

    value: Any
    name: str = ""
    annotation_type: str = ""
    part: str = ""
    step: int | None = None
    file: str | None = None
    text: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """One annotation of another tool. `trace` is the id of the trace that it names, "" where it names none; `id` is its
    own id there, `at` when it was made as the tool writes it, or "". `place` is where it stands, for people."""

    place: str
    trace: str
    author: str
    said: tuple[Said, ...]
    id: str = ""
    at: str = ""
    kind: Author = "person_elsewhere"
    trace_version: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A JSON value out of a file: `name` says where it stands, `folder` is the folder of its file, `file` its path in
    what was given."""

    name: str
    value: Any
    folder: str = ""
    file: str = ""


@dataclass(frozen=True)
class Reading:
    """What whoever imports says of the file. `trace` is the trace that all of it is about. `names` has, for names of
    questions there, the scheme here, or `scheme.part`; `values` for values there those here, of one question under
    `question:value`. `id_key` is the key of the task's data that names the trace. `version` is that of the sources: the
    answers of another version stand beside those that came before."""

    trace: str = ""
    id_key: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    version: str = "1"

    def as_json(self) -> dict[str, Any]:
        """As a job keeps it; `Reading(**...)` reads it again."""
        return {
            "trace": self.trace,
            "id_key": self.id_key,
            "names": dict(self.names),
            "values": dict(self.values),
            "version": self.version,
        }


class ToolReader(Protocol):
    """Reads what one tool writes. `recognises` is asked of the first values of a file alone."""

    name: ClassVar[str]
    label: ClassVar[str]

    @staticmethod
    def recognises(value: Any) -> bool: ...

    @staticmethod
    def read(places: Sequence[Place], reading: Reading) -> Iterator[Found | Unplaced]: ...


def as_object(value: Any) -> Mapping[str, Any]:
    """The object that it is, else one without members: files of others may hold anything anywhere."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> Sequence[Any]:
    """The list that it is, else one without entries."""
    return value if isinstance(value, list) else ()


def utc_timestamp(text: str) -> str | None:
    """A time of ISO 8601 as records write it, in UTC; one without a zone is UTC. None for what is no time."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
