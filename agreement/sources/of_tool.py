"""What is said of a file of another tool beside the file: which tool, and what its names and values mean here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from potato.records.other_tools.model import Reading
from potato.records.other_tools.reading import FOUND_BY_ITSELF, READERS
from potato.wording import listed
from tenancy.errors import Refused

_LONGEST = 200
_MOST_PAIRS = 1_000


class NoAnswers(Refused):
    code = "no_answers"
    status = 400


@dataclass(frozen=True)
class OfTool:
    """Which tool a file is of, and what whoever imports it says of it."""

    tool: str
    reading: Reading

    @property
    def parameters(self) -> dict[str, Any]:
        """As a job keeps it."""
        return {"tool": self.tool, "reading": self.reading.as_json()}


def checked_tool(
    tool: str, *, trace: str, id_key: str, names: Mapping[str, str], values: Mapping[str, str], version: str
) -> OfTool:
    """Raises NoAnswers for a tool that is not known, and for texts that are too long."""
    if tool not in (*READERS, FOUND_BY_ITSELF):
        raise NoAnswers(f"{tool!r} is no tool that is read. Read are {listed(READERS, 'and')}.")
    for name, text in (
        ("version", version),
        ("id_key", id_key),
        *(("name or value", key) for key in (*names, *values)),
    ):
        if len(text) > _LONGEST:
            raise NoAnswers(f"A {name} may have {_LONGEST} characters, not {len(text)}.")
    if len(names) + len(values) > _MOST_PAIRS:
        raise NoAnswers(f"At most {_MOST_PAIRS:,} names and values can be said.")
    return OfTool(tool, Reading(trace.strip(), id_key, dict(names), dict(values), version.strip() or "1"))


def of_tool(
    tool: str, *, trace: str = "", id_key: str = "", names: Sequence[str] = (), values: Sequence[str] = (),
    version: str = "",
) -> OfTool | None:  # fmt: skip
    """The same out of texts THEIRS=OURS; None for a file of records. Raises NoAnswers, too, for what is no such text
    and for what is without effect on records."""
    if tool:
        read_names, read_values = _pairs(names), _pairs(values)
        return checked_tool(tool, trace=trace, id_key=id_key, names=read_names, values=read_values, version=version)
    if trace or id_key or names or values:
        raise NoAnswers("A trace, a key, names and values are said of files of other tools. Say which tool.")
    return None


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        theirs, sign, ours = text.rpartition("=")
        if not sign or not theirs.strip() or not ours.strip():
            raise NoAnswers(f"{text!r} must be THEIRS=OURS, as in reward=verdict.")
        pairs[theirs.strip()] = ours.strip()
    return pairs
