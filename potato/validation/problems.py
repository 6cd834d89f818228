"""What is wrong with a configuration, and where in its text. Decides nothing and reads nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["error", "warning"]
Path: TypeAlias = tuple[str | int, ...]


class Position(NamedTuple):
    """A place in a text; lines and columns count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Problem:
    """One sentence for a person about one place of a configuration.

    `path` leads from the top of the configuration to the key or value, list entries counted from 0. `code` names
    the broken rule for programs and does not change with the wording.
    """

    line: int
    column: int
    severity: Severity
    path: Path
    code: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.severity}: {self.message}"
