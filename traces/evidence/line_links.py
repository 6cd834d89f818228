"""Which step wrote which lines of the final change, as both tabs of a trace show it. Stored by importing.line_links."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from potato.runs.changes.model import Side
from potato.wording import counted
from traces.models import TraceFile
from traces.rendering.escaping import attribute


def links_attribute(file: TraceFile) -> str:
    """The stretches and titles as an attribute that js/line-links.js reads, with a space before it; "" where no line
    changed. Of lines that are in no stretch the page says that nobody knows their step."""
    if not file.links and not (file.added or file.removed):
        return ""
    told = {"lines": file.links["lines"], "steps": file.links["steps"]} if file.links else {}
    return f' data-links="{attribute(json.dumps(told, separators=(",", ":")))}"'


@dataclass(frozen=True)
class Stretch:
    """Lines that follow one another, and what stands behind # in the address of the first."""

    side: Side
    first: int
    last: int
    place: str

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"


@dataclass
class WrittenLines:
    """What a step did to the lines of one file: what it wrote and removed of the final change, and what others took
    away again."""

    file: TraceFile
    written: list[Stretch] = field(default_factory=list)
    removed: list[Stretch] = field(default_factory=list)
    overwritten: list[tuple[int | None, int]] = field(default_factory=list)
    """The steps that took lines away, None where nobody knows, with the number of lines."""

    @property
    def lines_written(self) -> int:
        return _lines(self.written)

    @property
    def lines_removed(self) -> int:
        return _lines(self.removed)

    @property
    def sentences_of_overwritten(self) -> list[tuple[str, int | None]]:
        """Each without its last word, which is a link to the step."""
        return [
            (f"{counted(lines, 'line')} of it {'was' if lines == 1 else 'were'} overwritten", step)
            for step, lines in self.overwritten
        ]


def _lines(stretches: Iterable[Stretch]) -> int:
    return sum(stretch.last - stretch.first + 1 for stretch in stretches)


def written_by_step(files: Iterable[TraceFile]) -> dict[int, list[WrittenLines]]:
    """For each step what it left in the files, in the order of the files."""
    by_step: dict[int, dict[int, WrittenLines]] = defaultdict(dict)

    def lines(step: int, file: TraceFile) -> WrittenLines:
        return by_step[step].setdefault(file.index, WrittenLines(file))

    for file in files:
        for side, first, last, steps in file.links.get("lines", ()):
            row = lines(steps[0], file)
            (row.written if side == "new" else row.removed).append(
                Stretch(side, first, last, f"f{file.index}-{side}-{first}")
            )
        for step, by, count in file.links.get("overwritten", ()):
            lines(step, file).overwritten.append((by, count))
    return {step: list(rows.values()) for step, rows in by_step.items()}
