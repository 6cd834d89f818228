"""Prints what the converters make of files: `python -m tests.potato.runs.table FILE...`, one line a run or error."""

import sys
from collections import Counter
from pathlib import Path

from potato.runs.changes.derive import derive
from potato.runs.converters.reading import Chosen, read_file
from potato.runs.model import Converted, ReadingOptions, Unreadable
from potato.runs.run_files import StoredRunFile


def counted(counts: Counter[str]) -> str:
    """Counts as "3 progress, 1 summary"."""
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "-"


def rows(path: Path) -> list[str]:
    """What came of one file, in lines to print."""
    lines = [str(Path(*path.parts[-3:]))]
    source = StoredRunFile(path.name, lambda: path.open("rb"), path.stat().st_size)
    for entry in read_file(source, ReadingOptions()):
        match entry:
            case Chosen():
                lines.append(f"  {entry.sentence}")
            case Unreadable():
                lines.append(f"  place {entry.place}: {entry.code}: {entry.sentence}")
            case Converted(run=run, report=report):
                changes = derive(run)
                changed = [file for file in changes.files if file.operation != "unchanged"]
                badges = Counter(str(badge.code) for file in changes.files for badge in file.badges)
                lines += [
                    f"  place {entry.place}: {run.external_id or '(no id)'} | {run.agent_model or 'unknown model'} | "
                    f"task {run.task[:60]!r}",
                    f"    steps {len(run.steps)}, tool calls {sum(len(step.calls) for step in run.steps)}, prompts "
                    f"{sum(bool(step.prompt) for step in run.steps)}, file events {len(run.events)}, patch bytes "
                    f"{len(run.patch or b'')}, files changed {len(changed)} of {len(changes.files)}, lines "
                    f"+{sum(file.added for file in changed)} -{sum(file.removed for file in changed)}, "
                    f"badges {counted(badges)}, refused {len(changes.problems)}",
                    f"    dropped: {counted(report.dropped)}",
                    f"    unknown: {counted(report.unknown)}",
                    f"    repairs: {counted(report.repairs)}",
                ]
    return lines


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print("\n".join(rows(Path(argument))))
