"""A ZIP of runs: its members that may be traces, each with the pictures that lie beside it.

Nothing is unpacked to a disk. Sizes are bounded by what the members declare, beyond which Python reads none of them.
"""

import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from traces.runs import Unreadable
from traces.sources import FileSource, in_words

_BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06")
_ENCRYPTED = 1
_MEMBERS = 50_000
_UNPACKED_BYTES = 4 * 2**30
_TRACES = frozenset({".json", ".jsonl", ".ndjson", ".traj", ".patch", ".diff", ".mbox", ".txt"})
BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError)
"""What reading a member raises that is cut off, altered, or packed in a way that Python does not know."""
_RUN_OF_A_FOLDER = "interact_messages.json"
"""Where it lies, other files of text are notes of the program that ran the agent."""


def is_package(head: bytes) -> bool:
    return head.startswith(_BEGINNINGS)


def sources_in(name: str, open_file: Callable[[], BinaryIO]) -> Iterator[FileSource | Unreadable]:
    """The members of a ZIP that may be traces, in the order of their names. One that cannot be read is said.

    A source is to be read before the next one is asked for; reading it may raise what BROKEN lists.
    """
    try:
        with open_file() as file, zipfile.ZipFile(file) as package:
            yield from _members(name, package)
    except (zipfile.BadZipFile, UnicodeDecodeError) as error:
        yield Unreadable(1, "bad_zip", f"{name} is a ZIP that cannot be read: {error}. Pack it again.")


def _members(name: str, package: zipfile.ZipFile) -> Iterator[FileSource | Unreadable]:
    members = package.infolist()
    unpacked = sum(member.file_size for member in members)
    if len(members) > _MEMBERS or unpacked > _UNPACKED_BYTES:
        yield Unreadable(
            1,
            "too_large",
            f"{name} holds {len(members):,} files with {in_words(unpacked)}; a ZIP may hold {_MEMBERS:,} files with "
            f"{in_words(_UNPACKED_BYTES)}. Split it by runs.",
        )
        return
    found = {member.filename: member for member in members if not member.is_dir()}
    of_one_run = {path.parent for path in map(PurePosixPath, found) if path.name == _RUN_OF_A_FOLDER}
    wanted = sorted(member for member in found if _may_be_a_trace(PurePosixPath(member), of_one_run))
    if not wanted:
        yield Unreadable(
            1, "nothing", f"{name} is a ZIP without a trace: none of its files is JSON, JSON lines, a patch or a text."
        )
    for member in wanted:
        if found[member].flag_bits & _ENCRYPTED:
            yield Unreadable(1, "encrypted", f"{member} in {name} is encrypted. Pack it without a password.")
        else:
            yield _source(package, found, member)


def _may_be_a_trace(path: PurePosixPath, of_one_run: set[PurePosixPath]) -> bool:
    if path.name.startswith(".") or "__MACOSX" in path.parts:
        return False
    if path.parent in of_one_run:
        return path.name == _RUN_OF_A_FOLDER
    return path.suffix.lower() in _TRACES


def _source(package: zipfile.ZipFile, found: dict[str, zipfile.ZipInfo], member: str) -> FileSource:
    folder = PurePosixPath(member).parent

    def opened(info: zipfile.ZipInfo) -> BinaryIO:
        return cast(BinaryIO, package.open(info))

    def beside(name: str) -> Callable[[], BinaryIO] | None:
        picture = found.get(str(folder / name))
        return None if picture is None or picture.flag_bits & _ENCRYPTED else lambda: opened(picture)

    return FileSource(member, lambda: opened(found[member]), found[member].file_size, folder=folder.name, beside=beside)
