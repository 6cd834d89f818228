"""The flags and answers of the export command, for `python -m potato.export` and `manage.py export` alike.

Pure: where records come from is the entry point's to say.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from potato.entry_points import ExtensionError
from potato.formats.archive import Archive
from potato.formats.compression import demand_compressible
from potato.formats.options import KnownOption, Options, known_options, read_options
from potato.formats.registry import Format, demand_schemes, format_named, formats
from potato.formats.writing import ARCHIVE_FILES, describe_left_out, files_written, write_export, write_folder
from potato.records.folders import Folder, read_configuration
from potato.records.sources import RecordsError, RecordSource
from potato.wording import counted


class UsageError(RecordsError):
    """What was asked for cannot be understood; nothing was read yet."""


class Parser(Protocol):
    """argparse's parsers and Django's."""

    def add_argument(self, *names: str, **options: Any) -> Any: ...


@dataclass(frozen=True)
class Request:
    """An export as it was asked for on a command line. `folder` is where an archive goes without `-o`."""

    format: type[Format]
    options: Options
    output: Path | None
    folder: Path | None
    manifest: Path | None


def add_arguments(parser: Parser, *, input_is_required: bool) -> None:
    """The flags of every format; which of them a format knows is checked when it is chosen."""
    parser.add_argument(
        "-i",
        "--input",
        type=Path,
        metavar="PATH",
        required=input_is_required,
        help="an archive (folder or ZIP), a folder with annotations.jsonl, or a file of records",
    )
    parser.add_argument("-f", "--format", metavar="FORMAT", help=f"one of {', '.join(formats())}")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the file to write; its folders are made")
    parser.add_argument(
        "--config",
        type=Path,
        metavar="CONFIG.yaml",
        help="the project's configuration; without -o the archive's files go into its output_annotation_dir",
    )
    parser.add_argument("--manifest", type=Path, metavar="FILE", help="also write what the export holds, as JSON")
    for name, option in _flags().items():
        described = f"{option.description} ({', '.join(option.formats)})"
        parser.add_argument(f"--{name.replace('_', '-')}", dest=name, help=described)


def read_request(flags: Mapping[str, Any]) -> Request:
    """What the flags ask for. Raises UsageError."""
    output, configuration = flags["output"], flags["config"]
    name = flags["format"] or (Archive.name if output is None and configuration is not None else None)
    if name is None:
        raise UsageError(f"Say which format with -f. The formats are: {', '.join(formats())}.")
    try:
        format = format_named(name)
        chosen = {name: flags[name] for name in _flags() if flags[name] is not None}
        options = read_options(format.options, chosen | (format.options_by(output) if output else {}))
        demand_compressible(format.name, options.compression, format.kind_of_file(options.chosen())[0])
    except RecordsError as refusal:
        raise UsageError(refusal.sentence) from None
    folder = None
    if output is None:
        if configuration is None:
            raise UsageError("Say where to write with -o FILE.")
        if not format.is_archive:
            raise UsageError(
                f"Say where to write with -o FILE: only an archive goes into the folder of {configuration}."
            )
        folder = output_folder(configuration)
    return Request(format, options, output, folder, flags["manifest"])


def refuse_pseudonyms(request: Request) -> None:
    """Raises UsageError where other names are wanted of files: the key for them is the organisation's."""
    if request.options.pseudonyms == "yes":
        raise UsageError(
            "Pseudonyms are made with the organisation's key, which files have not. Export from the site: "
            "manage.py export --project ORG/PROJECT."
        )


def refuse_own_input(request: Request, input: Path | None, configuration: Path | None) -> None:
    """Raises RecordsError where the export would write over what it is read from; to be called before reading."""
    read = [] if configuration is None else [configuration]
    if input is not None:
        read += [input / name for name in ARCHIVE_FILES] if input.is_dir() else [input]
    output = request.folder or request.output
    assert output is not None  # noqa: S101 - read_request has made sure
    if input is not None and input.is_dir() and output.resolve() == input.resolve():
        raise RecordsError(f"{output} is the folder that is read. Name another place to write to with -o.")
    if output.is_dir() and not (request.format.is_archive or request.format.in_folders):
        example = output / f"{request.format.name}{request.format.suffix}"
        raise RecordsError(f"{output} is a folder. Name a file with -o, such as {example}.")
    written = files_written(request.format, output)
    for path in (*written, *([request.manifest] if request.manifest else [])):
        for source in read:
            if _is_same(path, source):
                raise RecordsError(
                    f"{path} is one of the files that are read, and would be written over. Name another place to write "
                    "to."
                )
    if request.manifest is not None and any(_is_same(request.manifest, path) for path in written):
        raise RecordsError(f"{request.manifest} is where the export goes. Name another file for the manifest.")


def _is_same(path: Path, other: Path) -> bool:
    """Whether both are one file, by whatever way, or would be."""
    try:
        return path.samefile(other)
    except OSError:
        return path.resolve() == other.resolve()


def _flags() -> dict[str, KnownOption]:
    """The options that have a flag."""
    return {name: option for name, option in known_options(formats()).items() if not option.is_in_file_name}


def output_folder(configuration: Path) -> Path:
    """The `output_annotation_dir` of a configuration, inside the configuration's folder with links resolved."""
    try:
        text = configuration.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecordsError(f"{configuration} cannot be read: {error}.") from None
    read = read_configuration(text, configuration.name)
    root = configuration.resolve().parent
    folder = (root / read.task_dir / read.output_annotation_dir).resolve()
    if not folder.is_relative_to(root):
        raise RecordsError(f"output_annotation_dir of {configuration.name} lies outside its folder. Name one inside.")
    return folder


def export(request: Request, source: RecordSource) -> tuple[str, list[str]]:
    """Write what was asked for; answers a sentence about it, and what a person should know besides.

    Raises RecordsError where nothing can be written.
    """
    if accepted := request.format.annotation_types:
        demand_schemes(request.format, source.project.annotation_types(accepted))
    format = request.format(source.project, request.options)
    try:
        if request.folder is not None:
            manifest, written = write_folder(format, source, request.folder), request.folder
        else:
            assert request.output is not None  # noqa: S101 - read_request has made sure
            manifest, written = write_export(format, source, request.output), request.output
    except OSError as error:
        raise RecordsError(f"{error.filename or 'The export'} cannot be written: {error.strerror}.") from None
    if request.manifest is not None:
        request.manifest.write_text(json.dumps(manifest.as_json(), indent=2) + "\n", encoding="utf-8")
    rows = counted(manifest.rows, "row")
    chosen = "".join(f", {name} {_shown(value)}" for name, value in manifest.options.items() if value not in ("", []))
    size = counted(manifest.bytes, "byte")
    summary = f"{written}: {rows} of {manifest.format}{chosen}, {size}, sha256 {manifest.sha256}"
    return summary, [*filter(None, [describe_left_out(format)]), *manifest.remarks]


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m potato.export`: 0 when a file was written, 1 when not, 2 for flags that cannot be understood."""
    parser = argparse.ArgumentParser(
        prog="python -m potato.export", description="Export annotations from files, without a database."
    )
    try:
        add_arguments(parser, input_is_required=True)
        flags = vars(parser.parse_args(arguments))
        request = read_request(flags)
        refuse_own_input(request, flags["input"], flags["config"])
        refuse_pseudonyms(request)
        with Folder(flags["input"], flags["config"], request.options.filters) as folder:
            summary, remarks = export(request, folder)
        print(summary)
        for remark in remarks:
            print(remark, file=sys.stderr)
    except UsageError as refusal:
        parser.error(refusal.sentence)
    except RecordsError as refusal:
        parser.exit(1, f"{refusal.sentence}\n")
    except ExtensionError as broken:
        parser.exit(1, f"{broken}\n")
    return 0
