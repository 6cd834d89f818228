"""The reference of the export formats as Markdown, made from their registry and docstrings. Knows no Django.

The files that it shows are what each format writes for the examples of the scheme types.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import cleandoc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from potato.formats.options import KnownOption, accepted_values, known_options, read_options
from potato.formats.registry import Format, formats
from potato.formats.writing import write_export
from potato.records.archives import ANNOTATIONS, CONFIGURATION, MANIFEST, TRACES, VERSIONS
from potato.records.folders import Folder
from potato.records.sources import Record, RecordsError, json_text
from potato.schemes.registry import SchemeType, scheme_types
from potato.wording import title_case

_HEAD = """\
# Reference of the export formats

Written by `make reference` from the formats that are installed. Every format is there on a project's page, in the
admin, over the API, and for the two commands, which write the same bytes:

```console
$ .venv/bin/python manage.py export --project ORGANISATION/PROJECT -f FORMAT -o FILE
$ .venv/bin/python -m potato.export -i PATH -f FORMAT -o FILE
```

The second needs no database. PATH is an archive (folder or ZIP), a folder with `annotations.jsonl`, or a file of
records. `--config CONFIG.yaml` names a configuration that does not lie in it; `--manifest FILE` writes down what was
exported, with its size and SHA-256. An export that selects nothing says so, exits with 1 and writes no file.
"""
_EXAMPLE_HEAD = """\
## The examples
"""
_COMMON_HEAD = """\
## Options of every format

Filters come first: what they leave out counts nowhere, not for the latest nor for the majority. Several values stand
with commas between them.
"""
_ONE_RECORD = "The files of {activity} are made of this one invented record:\n"
_RECORDS_OF_RUNS = "The files of {activity} are made of these records, of two runs of one task:\n"
_ARCHIVE_FILES = {
    ANNOTATIONS: (
        "the records, with `configuration_version`, with `kind` where it is not `normal`, and with `batch`, the number "
        "of the batch in which the trace was when it was annotated"
    ),
    TRACES: "the traces, in [Potato's own format](trace-format.md)",
    CONFIGURATION: "the newest configuration",
    VERSIONS: "every version of it: `version`, `source` (the YAML), `note`",
    MANIFEST: "the number of rows, and size and SHA-256 of each file",
}
_NEEDS = {
    "agent_model": "the agent model",
    "task_description": "the task description",
    "operations": "what became of each file",
    "files": "the changed lines",
    "run": "the whole run",
    "links": "which steps wrote the lines",
    "checks": "what tests and checkers said",
}
_AT = "2026-03-01T10:00:00Z"
_RUNS = tuple(
    {
        "id": f"trace_{number}",
        "task_description": "Fix the failing test.",
        "steps": [
            {"message": "Look at the test.", "tool_calls": [{"name": "read", "arguments": {"path": "test_a.py"}}]},
            {"message": last},
        ],
    }
    for number, last in ((1, "Now it passes."), (2, "I give up."))
)
_TRACE = {
    "id": "trace_042",
    "task_description": "Round prices to cents.",
    "agent_model": "agent-2",
    "files": [
        {
            "path": "src/prices.py",
            "old_text": "def shown(price):\n    return str(price)\n",
            "new_text": "def shown(price):\n    cents = round(price, 2)\n    return str(cents)\n",
        }
    ],
}


@dataclass
class _Example:
    """The invented records of the scheme types of one activity, with their traces."""

    annotation_types: set[str] = field(default_factory=set)
    parts: list[dict[str, Any]] = field(default_factory=list)
    traces: Sequence[dict[str, Any]] = (_TRACE,)

    @property
    def records(self) -> list[Record]:
        pairs = zip(self.traces, self.parts, strict=False)
        return [Record(str(trace["id"]), "reviewer_01", _AT, json_text(parts)) for trace, parts in pairs]

    @property
    def is_one(self) -> bool:
        return len(self.records) == 1

    def add(self, kind: type[SchemeType], name: str) -> None:
        self.annotation_types.add(kind.annotation_type)
        if kind.target == "agentic_steps":
            self.traces = _RUNS
        self.parts += [{} for _ in kind.examples[len(self.parts) :]]
        for parts, result in zip(self.parts, kind.examples, strict=False):
            parts[name] = result


def _examples() -> dict[str, _Example]:
    """By the activity, as the types stand in the registry: that of whole records is the first."""
    by_activity: dict[str, _Example] = {}
    for kind in scheme_types().values():
        entry = kind.default_entry or kind.assumed_entry
        if kind.examples and entry:
            activity = kind.activity or title_case(kind.annotation_type)
            by_activity.setdefault(activity, _Example()).add(kind, entry["name"])
    return by_activity


def formats_reference() -> str:
    """The whole page, with a part for each installed format."""
    parts = [_HEAD, _EXAMPLE_HEAD]
    for activity, example in _examples().items():
        head = (_ONE_RECORD if example.is_one else _RECORDS_OF_RUNS).format(activity=activity.lower())
        texts = [record.text for record in example.records]
        shown = json.dumps(json.loads(texts[0]), indent=2) if example.is_one else "\n".join(texts)
        parts += [head, f"```json\n{shown}\n```\n"]
    return "\n".join([*parts, _common(), *(_part(format) for format in formats().values())])


def _common() -> str:
    """The options of every format, once."""
    any_format = next(iter(formats().values()))
    options = known_options({any_format.name: any_format})
    common = {name: option for name, option in options.items() if option.is_common}
    return f"{_COMMON_HEAD}\n{_options(any_format, common)}\n"


def _part(format: type[Format]) -> str:
    blocks = [f"## `{format.name}`", _prose(format), _facts(format)]
    if format.is_archive:
        blocks.append(_table(("file", "holds"), [(f"`{name}`", text) for name, text in _ARCHIVE_FILES.items()]))
    if own := {name: option for name, option in known_options({format.name: format}).items() if not option.is_common}:
        blocks.append(_options(format, own))
    if example := _example(format):
        fence = "````" if "```" in example else "```"
        blocks.append(f"{fence}{_language(format)}\n{example.rstrip()}\n{fence}")
    return "\n\n".join(block for block in blocks if block) + "\n"


def _options(format: type[Format], options: Mapping[str, KnownOption]) -> str:
    rows = [
        (_named(name, option), _values(format, name, option), option.description) for name, option in options.items()
    ]
    return _table(("option", "values", "chooses"), rows)


def _prose(format: type[Format]) -> str:
    """The docstrings of the module and of the class; the first may begin with the name, which is the title here."""
    module = cleandoc(sys.modules[format.__module__].__doc__ or "").removeprefix(f"`{format.name}`: ")
    module = module[:1].upper() + module[1:]
    own = cleandoc(format.__doc__ or "")
    return "\n\n".join(text for text in (module, own) if text)


def _facts(format: type[Format]) -> str:
    needs = ", ".join(_NEEDS[need] for need in sorted(format.needs))
    types = ", ".join(f"`{kind}`" for kind in sorted(format.annotation_types))
    lines = [
        f"- File: `{format.suffix}`, {format.media_type}",
        f"- Made of: the answers to {types}" if types else "- Made of: whole records",
    ]
    if format.needs_traces:
        lines.append(f"- Asks the trace for: {needs}; without `traces.jsonl` there is no export")
    elif needs:
        lines.append(f'- Asks the trace for: {needs}; without `traces.jsonl` they are null, empty or "unknown"')
    return "\n".join(lines)


def _named(name: str, option: KnownOption) -> str:
    return f"`{name}`; a command takes it from -o" if option.is_in_file_name else f"`--{name.replace('_', '-')}`"


def _values(format: type[Format], name: str, option: KnownOption) -> str:
    """The values that this format takes, the default first."""
    if values := accepted_values(format.options, name):
        return ", ".join(f"`{value}`" for value in values)
    return f"any, else `{option.default}`" if option.default not in ("", ()) else "any"


def _example(format: type[Format]) -> str:
    """What the format writes for the example; nothing for a format of other annotations, and for an archive."""
    if format.is_archive:
        return ""
    accepted = format.annotation_types
    fitting = (example for example in _examples().values() if not accepted or accepted & example.annotation_types)
    return next((shown for example in fitting if (shown := _shown(format, example))), "")


def _shown(format: type[Format], example: _Example) -> str:
    """What the format writes for that example; nothing where it selects nothing of it."""
    records, traces = example.records, example.traces
    with TemporaryDirectory() as folder:
        (Path(folder) / ANNOTATIONS).write_text("".join(f"{record.text}\n" for record in records), encoding="utf-8")
        (Path(folder) / TRACES).write_text("".join(f"{json_text(trace)}\n" for trace in traces), encoding="utf-8")
        suffix = ".json" if format.suffix == ".zip" else format.suffix
        written = Path(folder) / ("example" if format.example_file else f"example{suffix}")
        try:
            with Folder(Path(folder), None) as source:
                options = read_options(format.options, format.options_by(written))
                write_export(format(source.project, options), source, written)
        except RecordsError:
            return ""
        if format.suffix == ".parquet":
            return "".join(f"{json.dumps(row, default=str)}\n" for row in _table_rows(written))
        return (written / format.example_file).read_bytes().decode("utf-8").replace("\r\n", "\n")


def _table_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file."""
    import pyarrow.parquet as pq

    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


def _language(format: type[Format]) -> str:
    if format.example_file.endswith(".md"):
        return "markdown"
    return {".parquet": "json", ".jsonl": "json", ".json": "json", ".zip": "json", ".sarif": "json"}.get(
        format.suffix, "text"
    )


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
