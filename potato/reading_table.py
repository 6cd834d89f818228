"""What is read of each file in a folder, as a table of Markdown: `python -m potato.reading_table FOLDER -o PAGE`.

For each file its format, its runs with their steps, calls and changed files, the lines of their changes, and what was
left out, not known or mended. Where a run states its patch, the last figure says how many of its changed lines come out
of the agent's edits alone, without a look at the patch.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from potato.checks.model import UnreadableReport
from potato.checks.reading import NAMES, read_reports, report_kind
from potato.runs.changes.derive import derive
from potato.runs.changes.model import ChangeSet
from potato.runs.converters.reading import Chosen, read_file
from potato.runs.model import AgentRun, Converted, ReadingOptions, StatedTask
from potato.runs.packages import BROKEN, is_package, sources_in
from potato.runs.run_files import HEAD_BYTES, StoredRunFile, source_at

_HEADING = (
    "| file | format | runs | steps | calls | files | lines | left out | not known | mended | replayed |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
)
_INTRODUCTION = """# What is read of real files

Made by `python -m potato.reading_table FOLDER -o docs/formats-read.md`; do not edit it. The files are public ones that
agents and benchmarks wrote. Each line is a file: the format it was read as, its runs with their steps and calls, the
files that they changed and the lines of these changes, and how often something was left out, was not known, or was
mended. Where runs state their patch, *replayed* says how many of its changed lines come out of the agent's edits alone,
without a look at the patch: shell commands and scripts change files without saying how.
[importing.md](importing.md) says what is read of each format.

"""
_REPORTS = "\n## Reports, which are shown beside the run that they name\n\n"
_NOT_READ = "\n## What was not read, and why\n\n"
_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif"})
_LONGEST_REASON = 160


@dataclass(slots=True)
class FileRow:
    """What reading one file came to. `replayed` of `stated` changed lines of patches come out of the edits alone.

    `report` says of a file that is no trace what it holds of tests and findings.
    """

    name: str
    format: str = ""
    runs: int = 0
    tasks: int = 0
    steps: int = 0
    calls: int = 0
    files: int = 0
    added: int = 0
    removed: int = 0
    dropped: int = 0
    unknown: int = 0
    repairs: int = 0
    replayed: int = 0
    stated: int = 0
    report: str = ""
    problems: list[str] = field(default_factory=list)

    def take(self, converted: Converted) -> None:
        """Count one more run."""
        run, report = converted.run, converted.report
        self.runs += 1
        self.steps += len(run.steps)
        self.calls += sum(len(step.calls) for step in run.steps)
        for file in derive(run).files:
            if file.operation != "unchanged":
                self.files += 1
                self.added += file.added
                self.removed += file.removed
        self.dropped += report.dropped.total()
        self.unknown += report.unknown.total()
        self.repairs += report.repairs.total()
        replayed, stated = compare_with_patch(run)
        self.replayed += replayed
        self.stated += stated


def compare_with_patch(run: AgentRun) -> tuple[int, int]:
    """How many changed lines of the run's patch its edits alone give, and how many it has; 0, 0 without either."""
    if run.patch is None or not run.steps:
        return 0, 0
    stated = _changed_lines(derive(replace(run, events=(), event_steps=())))
    replayed = _changed_lines(derive(replace(run, patch=None)))
    return (stated & replayed).total(), stated.total()


def _changed_lines(changes: ChangeSet) -> Counter[tuple[str, str, str]]:
    return Counter(
        (file.path, line.kind, line.text)
        for file in changes.files
        if file.operation != "unchanged"
        for hunk in file.hunks
        for line in hunk.lines
        if line.kind != "context"
    )


def read_row(name: str, source: StoredRunFile) -> FileRow:
    """The row of one file."""
    row = FileRow(name)
    for entry in read_file(source, ReadingOptions()):
        if isinstance(entry, Chosen):
            row.format = entry.format
        elif isinstance(entry, Converted):
            row.take(entry)
        elif isinstance(entry, StatedTask):
            row.tasks += 1
        else:
            row.problems.append(entry.sentence)
    if not row.format and (report := _report(source)):
        row.report, row.problems = report, []
    return row


def _report(source: StoredRunFile) -> str:
    """What a report of tests or of a checker holds; "" for a file that is none."""
    kind = report_kind(source.head(), source.name)
    if kind is None:
        return ""
    with source.opened() as file:
        data = file.read()
    try:
        reports = read_reports(data, source.name)
    except UnreadableReport:
        return ""
    passed, failed, findings = (
        sum(each.counts.passed for each in reports),
        sum(each.counts.failed + each.counts.errors for each in reports),
        sum(len(each.findings) for each in reports),
    )
    return f"{NAMES[kind]}, {passed} tests passed, {failed} failed, {findings} findings"


def rows_of_folder(folder: Path) -> Iterator[FileRow]:
    """A row for each file that is no picture, however deep, in the order of their names; of a ZIP one for each run."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix.lower() in _PICTURES:
            continue
        name = path.relative_to(folder).as_posix()
        with path.open("rb") as opened:
            head = opened.read(HEAD_BYTES)
        if not is_package(head):
            yield read_row(name, source_at(path))
            continue
        for member in sources_in(path.name, lambda path=path: path.open("rb")):  # type: ignore[misc]
            if not isinstance(member, StoredRunFile):
                yield FileRow(name, problems=[member.sentence])
                continue
            try:
                yield read_row(f"{name}/{member.name}", member)
            except BROKEN as error:
                yield FileRow(f"{name}/{member.name}", problems=[f"It cannot be unpacked: {error}."])


def as_page(rows: Iterable[FileRow]) -> str:
    """The page: what the columns say, a table of the files that were read, and why others were not."""
    rows = list(rows)
    total = FileRow(f"{len(rows)} files")
    lines = []
    for row in rows:
        for name in ("runs", "steps", "calls", "files", "added", "removed", "dropped", "unknown", "repairs"):
            setattr(total, name, getattr(total, name) + getattr(row, name))
        total.replayed += row.replayed
        total.stated += row.stated
        if row.format:
            lines.append(_line(row))
    lines.append(_line(total))
    problems = [
        f"- `{row.name}`: {_short(problem)}" + (f" ({number} such lines or records)" if number > 1 else "")
        for row in rows
        for problem, number in Counter(row.problems).most_common(3)
    ]
    reports = [f"- `{row.name}`: {row.report}." for row in rows if row.report]
    parts = [_INTRODUCTION, _HEADING, *lines]
    for heading, items in ((_REPORTS, reports), (_NOT_READ, problems)):
        parts += [heading, "\n".join(items), "\n"] if items else []
    return "".join(parts)


def _line(row: FileRow) -> str:
    replayed = f"{row.replayed} of {row.stated}" if row.stated else ""
    changed = f"+{row.added} -{row.removed}" if row.files else ""
    runs = f"{row.runs}" + (f" and {row.tasks} texts of tasks" if row.tasks else "")
    cells = [
        row.name, row.format, runs, row.steps, row.calls, row.files, changed, row.dropped, row.unknown, row.repairs,
        replayed,
    ]  # fmt: skip
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |\n"


def _short(problem: str) -> str:
    line = " ".join(problem.partition(" Potato reads ")[0].split())
    return line if len(line) <= _LONGEST_REASON else line[: _LONGEST_REASON - 1] + "…"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Write a table of what is read of each file in a folder.")
    parser.add_argument("folder", type=Path, help="a folder with files of any format")
    parser.add_argument("-o", "--output", type=Path, help="the page to write; without it, it is printed")
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        parser.error(f"{arguments.folder} is no folder.")
    page = as_page(rows_of_folder(arguments.folder))
    if arguments.output is None:
        print(page, end="")
    else:
        arguments.output.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
