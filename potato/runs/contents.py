"""What there is in a trace to be judged, in numbers that a list of traces knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TraceContents:
    """How many steps a trace has, and how many files of each operation: added, modified, deleted, renamed, copied, and
    unchanged for those that were only read."""

    steps: int = 0
    files: Mapping[str, int] = field(default_factory=dict)

    @property
    def changed_files(self) -> int:
        return sum(number for operation, number in self.files.items() if operation != "unchanged")

    @property
    def all_files(self) -> int:
        return sum(self.files.values())
