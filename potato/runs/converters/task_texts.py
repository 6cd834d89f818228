"""What a data set says its tasks are, where the runs themselves do not: rows of instance_id and problem_statement.

Field notes
- SWE-bench and what is made like it: JSONL, a JSON list, an object of objects by their instance_id, or a table with a
  line of names, its columns apart by commas, semicolons or tabs. Columns that are not asked for are passed over.
- A prediction may have a problem_statement too. It has a model_patch or a model_name_or_path, and is a run.
"""

import codecs
import csv
from collections.abc import Iterator
from dataclasses import replace

from potato.runs.converters.fields import name, text
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import numbered_lines
from potato.runs.model import JSON, ReadPosition, RunFile, StatedTask, Unreadable

ID, TEXT = "instance_id", "problem_statement"
_OF_RUNS = frozenset({"model_patch", "model_name_or_path"})
_DELIMITERS = (",", "\t", ";")


def is_task(value: JSON) -> bool:
    """Whether a record states a task and is no run."""
    return isinstance(value, dict) and ID in value and TEXT in value and _OF_RUNS.isdisjoint(value)


def has_tasks(head: bytes, filename: str) -> bool:
    """Whether a file that begins so holds tasks, and no runs, as far as can be seen."""
    outline = detect_outline(head, filename)
    if outline.layout == "text":
        return _delimiter(_line(head.split(b"\n", 1)[0])) is not None
    for record in outline.records():
        if is_task(record):
            return True
        rows = list(record.values()) if isinstance(record, dict) else []
        if rows and all(isinstance(row, dict) and is_task({ID: "", **row}) for row in rows):
            return True
    return False


def read_task(value: dict[str, JSON], place: int, after: ReadPosition | None = None) -> StatedTask | Unreadable:
    """The task that a record states; `after` is where reading can begin anew behind it."""
    instance, task = name(value, ID), text(value, TEXT)
    if not instance.strip():
        return Unreadable(place, "no_instance_id", f"Task {place} has an empty {ID}.", after)
    if not task.strip():
        return Unreadable(place, "no_task_text", f"Task {place} ({instance[:100]}) has no text under {TEXT}.", after)
    return StatedTask(place, instance, task, after)


def tasks_in_table(source: RunFile) -> Iterator[StatedTask | Unreadable]:
    """The rows of a table whose first line names its columns. A cell may hold several lines between quotation marks."""
    read = source.begin
    cut: list[Unreadable] = []

    def lines() -> Iterator[str]:
        nonlocal read
        for entry in numbered_lines(source):
            if isinstance(entry, Unreadable):
                cut.append(entry)
            else:
                read = entry.after
                yield _line(entry.text) + "\n"

    delimiter = _delimiter(_line(source.head().split(b"\n", 1)[0])) or ","
    # Whoever goes on in the middle knows the names of the columns.
    rows = csv.DictReader(lines(), fieldnames=source.begin.state, delimiter=delimiter, strict=True)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            break
        except csv.Error as error:
            yield Unreadable(
                read.before, "bad_table", f"Line {read.before} is no line of a table: {error}. The rest is not read."
            )
            break
        finally:
            yield from cut
            cut.clear()
        after = replace(read, state=list(rows.fieldnames or ()))
        yield read_task({str(key): value for key, value in row.items() if key}, read.before, after)


def _line(data: bytes) -> str:
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape").removesuffix("\r")


def _delimiter(first: str) -> str | None:
    """What the columns of a table are apart by; None where the line does not name the two that are needed."""
    for delimiter in _DELIMITERS:
        if {ID, TEXT} <= {column.strip().strip('"') for column in first.split(delimiter)}:
            return delimiter
    return None
