"""Prints what the converters make of files: `python -m tests.traces.table FILE...`, one line a run or error."""

import sys
from collections import Counter
from pathlib import Path

from traces.converters.reading import Chosen, read_file
from traces.runs import Converted, FileRead, ReadingOptions, Unreadable
from traces.sources import FileSource


def counted(counts: Counter[str]) -> str:
    """Counts as "3 progress, 1 summary"."""
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "-"


def rows(path: Path) -> list[str]:
    """What came of one file, in lines to print."""
    lines = [str(Path(*path.parts[-3:]))]
    source = FileSource(path.name, lambda: path.open("rb"), path.stat().st_size)
    for entry in read_file(source, ReadingOptions()):
        match entry:
            case Chosen():
                lines.append(f"  {entry.sentence}")
            case Unreadable():
                lines.append(f"  place {entry.place}: {entry.code}: {entry.sentence}")
            case Converted(run=run, report=report):
                changed = {event.path for event in run.events if not isinstance(event, FileRead)}
                lines += [
                    f"  place {entry.place}: {run.external_id or '(no id)'} | {run.agent_model or 'unknown model'} | "
                    f"task {run.task[:60]!r}",
                    f"    steps {len(run.steps)}, tool calls {sum(len(step.calls) for step in run.steps)}, "
                    f"file events {len(run.events)}, changed files {len(changed)}, patch bytes {len(run.patch or b'')}",
                    f"    dropped: {counted(report.dropped)}",
                    f"    unknown: {counted(report.unknown)}",
                    f"    repairs: {counted(report.repairs)}",
                ]
    return lines


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print("\n".join(rows(Path(argument))))
