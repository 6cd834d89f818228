"""Files of other tools read as the site's records: a file, a folder or a ZIP, whose tool is named or found."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any

from potato.configuration import ProjectConfiguration
from potato.records.archives import RecordsError, parsed
from potato.records.other_tools.github import GitHubReviews
from potato.records.other_tools.label_studio import LabelStudio
from potato.records.other_tools.model import Place, Reading, ToolReader, Unplaced
from potato.records.other_tools.placing import PlacedRecord, place_all
from potato.records.other_tools.potato_2 import Potato2
from potato.records.other_tools.scores import Docent, LangfuseScores
from potato.wording import listed

READERS: Mapping[str, type[ToolReader]] = {
    reader.name: reader for reader in (Potato2, LabelStudio, GitHubReviews, LangfuseScores, Docent)
}
TITLES = {
    "potato_2": "Potato 2.x",
    "label_studio": "Label Studio",
    "github": "GitHub",
    "langfuse": "Langfuse",
    "docent": "Docent",
}
FOUND_BY_ITSELF = "auto"
LARGEST = 64 * 2**20
"""All files together are read at once, as what one says may be taken back by another."""
_SUFFIXES = (".json", ".jsonl", ".ndjson")
_OF_POTATO = ("user_state.json", "annotated_instances.jsonl", "annotated_instances.json")
_LOOKED_AT = 50


def records_from(
    path: Path, configuration: ProjectConfiguration, *, tool: str, reading: Reading, name: str = ""
) -> Iterator[PlacedRecord | Unplaced]:
    """The annotations at a path as records, and what of them has no place. `name` is what the path is called.

    `tool` is a name of READERS, or FOUND_BY_ITSELF. Raises RecordsError for files that cannot be read, and where no
    tool or several are recognised.
    """
    name = name or path.name
    places = list(_places(path, name))
    if not places:
        raise RecordsError(f"{name} has no JSON: nothing of another tool can be read from it.")
    reader = READERS.get(tool) or _recognised(places, name)
    found = reader.read(places, reading)
    yield from place_all(found, configuration, reading, tool=reader.name, title=TITLES[reader.name], file=name)


def documents_at(path: Path) -> dict[str, Any]:
    """The JSON of the files at a path by their names, of a file of lines the list of their values. Raises
    RecordsError."""
    by_file: dict[str, list[Place]] = {}
    for place in _places(path, path.name):
        by_file.setdefault(place.file, []).append(place)
    if not by_file:
        raise RecordsError(f"{path} has no JSON: nothing of another tool can be read from it.")
    return {
        file: places[0].value if places[0].name == file else [place.value for place in places]
        for file, places in by_file.items()
    }


def _recognised(places: Sequence[Place], name: str) -> type[ToolReader]:
    looked_at = places[:_LOOKED_AT]
    fitting = [reader for reader in READERS.values() if any(reader.recognises(place.value) for place in looked_at)]
    if len(fitting) == 1:
        return fitting[0]
    known = listed(READERS, "or")
    if not fitting:
        raise RecordsError(f"{name} is not as a tool writes it that is known. Say which one it is of: {known}.")
    several = listed([reader.name for reader in fitting], "or")
    raise RecordsError(f"{name} may be of {several}. Say which one it is of.")


def _places(path: Path, name: str) -> Iterator[Place]:
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and file.suffix in _SUFFIXES)
        names = _chosen([file.relative_to(path).as_posix() for file in files])
        left = LARGEST
        for inner in names:
            data = _within(path / inner, left, name)
            left -= len(data)
            yield from _values(data, inner, PurePosixPath(inner).parent.name or path.name)
    elif path.is_file() and zipfile.is_zipfile(path):
        yield from _zipped(path, name)
    elif path.is_file():
        yield from _values(_within(path, LARGEST, name), name, "")
    else:
        raise RecordsError(f"There is no file or folder {path}.")


def _zipped(path: Path, name: str) -> Iterator[Place]:
    left = LARGEST
    with zipfile.ZipFile(path) as archive:
        for inner in _chosen(sorted(one for one in archive.namelist() if one.endswith(_SUFFIXES))):
            try:
                with archive.open(inner) as member:
                    data = _read(member, left, name)
            except (RuntimeError, NotImplementedError, zipfile.BadZipFile, OSError, EOFError) as error:
                raise RecordsError(f"{inner} in {name} cannot be unpacked: {error}.") from None
            left -= len(data)
            yield from _values(data, inner, PurePosixPath(inner).parent.name)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _chosen(names: Sequence[str]) -> Sequence[str]:
    """Of an output folder of Potato the files with annotations alone; of other folders all."""
    of_potato = [name for name in names if PurePosixPath(name).name in _OF_POTATO]
    return of_potato or names


def _within(path: Path, left: int, name: str) -> bytes:
    with path.open("rb") as file:
        return _read(file, left, name)


def _read(file: IO[bytes], left: int, name: str) -> bytes:
    data = file.read(left + 1)
    if len(data) > left:
        raise RecordsError(f"{name} has over {LARGEST >> 20} MiB unpacked. Split it into several files.")
    return data


def _values(data: bytes, name: str, folder: str) -> Iterator[Place]:
    """The document, or a value of each line."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        return
    try:
        yield Place(name, json.loads(data, parse_constant=_no_constant), folder, name)
        return
    except ValueError:
        lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
    except RecursionError:
        raise RecordsError(f"{name} is nested too deeply to be read.") from None
    if len(lines) == 1:
        yield Place(name, parsed(data, name), folder, name)
    for number, line in lines if len(lines) > 1 else ():
        where = f"{name} line {number}"
        yield Place(where, parsed(line, where), folder, name)
