"""The reference of the export formats as Markdown, made from their registry and docstrings. Knows no Django.

The files that it shows are what each format writes for one invented review.
"""

import json
import sys
from collections.abc import Sequence
from inspect import cleandoc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from potato.formats.options import KnownOption, known_options, read_options, values_of
from potato.formats.registry import Format, formats
from potato.formats.writing import write_export
from potato.records.archives import ANNOTATIONS, CONFIGURATION, MANIFEST, TRACES, VERSIONS
from potato.records.folders import Folder
from potato.records.sources import Record, RecordsError, json_text

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

The files of reviews below are made of this one invented record:
"""
_REWARDS_HEAD = """\
The files of process rewards are made of these two, of two runs of one task:
"""
_ARCHIVE_FILES = {
    ANNOTATIONS: "the records, with `configuration_version`, and with `kind` where it is not `normal`",
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
}
_EXAMPLE: dict[str, Any] = {
    "inline_comments": [
        {
            "file": "src/prices.py",
            "line_start": 2,
            "line_end": 3,
            "category": "bug",
            "severity": "major",
            "comment": "Rounds half to even; an invoice needs half up.",
        }
    ],
    "file_ratings": {"src/prices.py": {"correctness": 2, "quality": 4}},
    "verdict": {"decision": "request_changes", "summary": "Rounding differs from the invoice."},
}


_REWARDS: tuple[dict[str, Any], ...] = (
    {"mode": "first_error", "first_error_step": None, "total_steps": 2, "labels": [1, 1]},
    {
        "mode": "first_error",
        "first_error_step": 1,
        "total_steps": 2,
        "labels": [1, -1],
        "label_origin": ["given", "given"],
        "correction": "Run the tests again.",
    },
)
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


def formats_reference() -> str:
    """The whole page, with a part for each installed format."""
    record = json.dumps(json.loads(_record().text), indent=2)
    rewards = "\n".join(record.text for record in _rewarded())
    parts = [_HEAD, _EXAMPLE_HEAD, f"```json\n{record}\n```\n", _REWARDS_HEAD, f"```json\n{rewards}\n```\n"]
    return "\n".join([*parts, *(_part(format) for format in formats().values())])


def _part(format: type[Format]) -> str:
    blocks = [f"## `{format.name}`", _prose(format), _facts(format)]
    if format.is_archive:
        blocks.append(_table(("file", "holds"), [(f"`{name}`", text) for name, text in _ARCHIVE_FILES.items()]))
    if options := known_options({format.name: format}):
        rows = [(_named(name, one), _values(format, name, one), one.description) for name, one in options.items()]
        blocks.append(_table(("option", "values", "chooses"), rows))
    if example := _example(format):
        blocks.append(f"```{_language(format)}\n{example.rstrip()}\n```")
    return "\n\n".join(block for block in blocks if block) + "\n"


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
    if values := values_of(format.options, name):
        return ", ".join(f"`{value}`" for value in values)
    return f"any, else `{option.default}`" if option.default not in ("", ()) else "any"


def _record() -> Record:
    return Record("trace_042", "reviewer_01", "2026-03-01T10:00:00Z", json_text(_EXAMPLE))


def _rewarded() -> list[Record]:
    parts = [json_text({"process_reward": rewards}) for rewards in _REWARDS]
    at = "2026-03-01T10:00:00Z"
    return [Record(str(run["id"]), "reviewer_01", at, part) for run, part in zip(_RUNS, parts, strict=True)]


def _example(format: type[Format]) -> str:
    """What the format writes for the example; nothing for a format of other annotations, and for an archive."""
    if format.is_archive:
        return ""
    is_reviews = not format.annotation_types or not format.annotation_types <= {"process_reward"}
    records, traces = ([_record()], [_TRACE]) if is_reviews else (_rewarded(), _RUNS)
    with TemporaryDirectory() as folder:
        (Path(folder) / ANNOTATIONS).write_text("".join(f"{record.text}\n" for record in records), encoding="utf-8")
        (Path(folder) / TRACES).write_text("".join(f"{json_text(trace)}\n" for trace in traces), encoding="utf-8")
        suffix = ".json" if format.suffix == ".zip" else format.suffix
        written = Path(folder) / f"example{suffix}"
        try:
            with Folder(Path(folder), None) as source:
                options = read_options(format.options, format.options_by(written))
                write_export(format(source.project, options), source, written)
        except RecordsError:
            return ""
        return written.read_bytes().decode("utf-8").replace("\r\n", "\n")


def _language(format: type[Format]) -> str:
    return {".jsonl": "json", ".json": "json", ".zip": "json"}.get(format.suffix, "text")


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
