"""A ZIP or a folder of runs: its files that may be traces, each with what lies beside it and belongs to it.

Nothing is unpacked to a disk. Sizes are bounded by what the members declare, beyond which Python reads none of them.
Files that belong to another one, as a session's sub-agents and long outputs do, are no runs of their own.
"""

import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from os import SEEK_END
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from potato.runs.model import Unreadable
from potato.runs.run_files import (
    BASE_STATE,
    HEAD_BYTES,
    SAMPLE_SHELL,
    StoredRunFile,
    chat_session,
    in_words,
    is_event_file,
    is_rollout,
    source_at,
)
from potato.runs.unpacking import unpacked_head
from potato.runs.zip_members import opened_member

_BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06")
_ENCRYPTED = 1
_MEMBERS = 50_000
_LIST_BYTES = 16 * 2**20
_END_BYTES = 22 + 65_535 + 76
"""The end record with the longest comment, and what stands before it in a large ZIP."""
_END = struct.Struct("<10xHL6x")
_LOCATOR = struct.Struct("<8xQ4x")
_LARGE_END = struct.Struct("<32xQQ8x")
_UNPACKED_BYTES = 4 * 2**30
_TRACES = frozenset({".json", ".jsonl", ".ndjson", ".traj", ".patch", ".diff", ".mbox", ".txt", ".bundle"})
_REPORT = re.compile(r"(?:.+\.(?:sarif|rdjsonl?)|(?:test-|.*(?:junit|tests?|report|results)).*\.xml)", re.IGNORECASE)
"""Reports of tests and checkers, by their names: other XML is part of no run."""
_INDEX = ".index.json"
_TRAJECTORIES = (".atif.jsonl", ".atif.json", ".trajectory.json", ".jsonl", ".json")
_PACKED_LINES = ".jsonl.zst"
BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError)
"""What reading a member raises that is cut off, altered, or packed in a way that Python does not know."""
_UNLISTED = (*BROKEN, ValueError, IndexError, struct.error)
"""What reading the list of a damaged ZIP raises: a name that is no text, a place before the file, a version to come."""
_TASKS = frozenset({".json", ".jsonl", ".ndjson", ".csv", ".tsv"})
_BESIDE_RUNS = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif"})
_ASKED_FOR_TASKS = 500
_EVAL = ".eval"
_EVAL_HEADER = "header.json"
_EVAL_JOURNAL = "_journal/start.json"
_SHELL = re.compile(r"samples/.+_epoch_\d+/" + re.escape(SAMPLE_SHELL))
_SESSION_ID = re.compile(rb'"sessionId"\s*:\s*"([\w-]{1,100})"')
_PARENT_THREAD = re.compile(rb'"parent_thread_id"\s*:\s*"([\w-]{1,100})"')
_THREAD = re.compile(r"-([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl(?:\.zst)?$")
_HISTORIES = (".aider.chat.history.md", "aider.chat.history.md")
"""Named as notes are, or hidden, and runs all the same."""
_PAGE_OF_A_RUN = re.compile(r"render_[\w.-]{1,100}\.html")
_RUN_OF_A_FOLDER = "interact_messages.json"
"""Where it lies, other files of text are notes of the program that ran the agent."""


def is_package(head: bytes) -> bool:
    return head.startswith(_BEGINNINGS)


def sources_in(
    name: str, open_file: Callable[[], BinaryIO], first: Collection[str] = ()
) -> Iterator[StoredRunFile | Unreadable]:
    """The members of a ZIP that may be traces, in the order of their names, after those that are to come `first`. One
    that cannot be read is said.

    A source is to be read before the next one is asked for; reading it may raise what BROKEN lists.
    """
    try:
        with open_file() as file:
            if _lists_too_much(file):
                yield Unreadable(
                    1, "too_large", f"{name} lists more files than the {_MEMBERS:,} of a ZIP. Split it by runs."
                )
                return
            with zipfile.ZipFile(file) as package:
                yield from _members(name, package, first)
    except _UNLISTED as error:
        yield Unreadable(1, "bad_zip", f"{name} is a ZIP that cannot be read: {error}. Pack it again.")


def _lists_too_much(file: BinaryIO) -> bool:
    """Whether the list at the end has more entries than a ZIP may have: Python reads all of it, at ten times its size,
    before it tells how many they are. What is no list is its own to refuse.
    """
    length = file.seek(0, SEEK_END)
    file.seek(max(0, length - _END_BYTES))
    tail = file.read()
    plain = len(tail) - _END.size  # Without a comment, which is where Python looks first.
    at = plain if tail[-_END.size :].startswith(b"PK\x05\x06") else tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        return False
    entries, size = _END.unpack_from(tail, at)
    locator = tail[max(0, at - _LOCATOR.size) : at]
    if len(locator) == _LOCATOR.size and locator.startswith(b"PK\x06\x07"):
        (offset,) = _LOCATOR.unpack(locator)
        file.seek(min(offset, length))
        large = file.read(_LARGE_END.size)
        if len(large) == _LARGE_END.size:
            entries, size = _LARGE_END.unpack(large)
    return bool(entries > _MEMBERS or size > _LIST_BYTES) or _entries_in(file, length, tail, at, size) > _MEMBERS


def _entries_in(file: BinaryIO, length: int, tail: bytes, at: int, size: int) -> int:
    """The entries that are really there, counted; the number that the end tells may be another."""
    end = length - len(tail) + at
    file.seek(max(0, end - size - _LOCATOR.size - _LARGE_END.size))
    return file.read(size + _LOCATOR.size + _LARGE_END.size).count(b"PK\x01\x02")


def _members(name: str, package: zipfile.ZipFile, first: Collection[str]) -> Iterator[StoredRunFile | Unreadable]:
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
    entries = {member.filename: member for member in members if not member.is_dir()}
    if _is_inspect_log(entries):
        yield from _samples(name, package, entries)
        return
    for member in sorted(entries):
        if member.lower().endswith(_EVAL):
            yield Unreadable(
                1,
                "nested_zip",
                f"{member} in {name} is an Inspect log, which is a ZIP itself. Import it by itself.",
            )

    companions = companions_among(entries, lambda member: _head(package, entries[member]))
    belonging = {member for members_of_one in companions.values() for member in members_of_one}
    before = [member for member in first if member in entries]
    members_of_runs = before + [
        member
        for member in sorted({*runs_among(entries), *reports_among(entries)})
        if member not in belonging and member not in before
    ]
    if not members_of_runs:
        yield Unreadable(
            1, "nothing", f"{name} is a ZIP without a trace: none of its files is JSON, JSON lines, a patch or a text."
        )
    for member in members_of_runs:
        if entries[member].flag_bits & _ENCRYPTED:
            yield Unreadable(1, "encrypted", f"{member} in {name} is encrypted. Pack it without a password.")
        else:
            yield _source(package, entries, member, companions.get(member, []))


def _is_inspect_log(entries: dict[str, zipfile.ZipInfo]) -> bool:
    has_header = _EVAL_HEADER in entries or _EVAL_JOURNAL in entries
    return has_header and any(member.startswith(("samples/", "_journal/")) for member in entries)


def _samples(
    name: str, package: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo]
) -> Iterator[StoredRunFile | Unreadable]:
    """The samples of an Inspect log, each of which is a run. One in pieces is a folder with a shell."""
    shells = {member.removesuffix(SAMPLE_SHELL): member for member in entries if _SHELL.fullmatch(member)}
    pieces: dict[str, list[str]] = {shell: [] for shell in shells.values()}
    samples = []
    for member in sorted(entries):
        if not (member.startswith("samples/") and member.endswith(".json")):
            continue
        folder = next((name for name in _folders(member) if name in shells), "")
        if not folder or member == shells[folder]:
            samples.append(member)
        else:
            pieces[shells[folder]].append(member)
    if not samples:
        yield Unreadable(
            1,
            "no_steps",
            f"The Inspect log {name} has no samples: nothing to judge. Import one of a run that has them.",
        )
    for member in samples:
        if entries[member].flag_bits & _ENCRYPTED:
            yield Unreadable(1, "encrypted", f"{member} in {name} is encrypted. Pack it without a password.")
        else:
            yield _source(package, entries, member, pieces.get(member, []))


def _folders(member: str) -> Iterator[str]:
    """The folders of a member, with a stroke at their ends."""
    return (f"{folder}/" for folder in PurePosixPath(member).parents)


def task_texts_in(open_file: Callable[[], BinaryIO], is_task_text: Callable[[bytes, str], bool]) -> list[str]:
    """The members of a ZIP that state tasks, as their beginnings say it; [] for one that cannot be read.

    Asked of the first hundreds of files alone: who packs a data set with thousands of runs gives its texts by itself.
    """
    try:
        with open_file() as file:
            if _lists_too_much(file):
                return []
            with zipfile.ZipFile(file) as package:
                entries = [entry for entry in package.infolist() if _may_state_tasks(PurePosixPath(entry.filename))]
                return sorted(
                    entry.filename
                    for entry in entries[:_ASKED_FOR_TASKS]
                    if not entry.flag_bits & _ENCRYPTED and is_task_text(_head(package, entry), entry.filename)
                )
    except _UNLISTED:
        return []


def _may_state_tasks(path: PurePosixPath) -> bool:
    if path.name.startswith(".") or "__MACOSX" in path.parts:
        return False
    return path.suffix.lower() in _TASKS


def _head(package: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if entry.flag_bits & _ENCRYPTED:
        return b""
    try:
        with opened_member(package, entry) as opened:
            return opened.read(HEAD_BYTES)
    except BROKEN:
        return b""


def left_out(names: Iterable[str]) -> list[str]:
    """Of files that come together, those that are read neither as runs nor with one, by their names alone."""
    names = list(names)
    kept, reports = set(runs_among(names)), set(reports_among(names))
    stems = {name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl")}
    return sorted(
        name
        for name in names
        if name not in kept
        and name not in reports
        and PurePosixPath(name).suffix.lower() not in _BESIDE_RUNS | _TASKS
        and not any(str(folder) in stems for folder in PurePosixPath(name).parents)
    )


def runs_among(names: Iterable[str]) -> list[str]:
    """The files that may be traces, by their names from a common folder, in order."""
    names = list(names)
    of_one_run = {path.parent for path in map(PurePosixPath, names) if path.name == _RUN_OF_A_FOLDER}
    return sorted(name for name in names if _may_be_a_trace(PurePosixPath(name), of_one_run))


def reports_among(names: Iterable[str]) -> list[str]:
    """The files that may be reports of tests or checkers and by their names are no traces, in order."""
    return sorted(name for name in names if _REPORT.fullmatch(PurePosixPath(name).name) and not _is_hidden(name))


def _is_hidden(name: str) -> bool:
    path = PurePosixPath(name)
    return path.name.startswith(".") or "__MACOSX" in path.parts


def companions_among(names: Iterable[str], head: Callable[[str], bytes]) -> dict[str, list[str]]:
    """Which files belong to which: what lies in the folder that has the name of a file of JSON lines without its
    ending, and sub-agents' transcripts beside the session that they name in their first bytes."""
    names = list(names)
    stems = {name.removesuffix(".jsonl"): name for name in names if name.endswith(".jsonl")}
    companions: dict[str, list[str]] = {}
    for name in names:
        owner = next((stems[str(folder)] for folder in PurePosixPath(name).parents if str(folder) in stems), None)
        if owner is not None:
            companions.setdefault(owner, []).append(name)
    inside = {name for members in companions.values() for name in members}
    for name in names:
        path = PurePosixPath(name)
        if name in inside or not (path.name.startswith("agent-") and path.suffix == ".jsonl"):
            continue
        match = _SESSION_ID.search(head(name))
        own = str(path.with_name(f"{match[1].decode('ascii')}.jsonl")) if match else ""
        if own and own.removesuffix(".jsonl") in stems:
            notes = f"{name.removesuffix('.jsonl')}.meta.json"
            companions.setdefault(own, []).extend([name, *([notes] if notes in names else [])])
    for belonging in (
        _rollouts_of_agents(names, head),
        _events_of_conversations(names),
        _indexes(names),
        _chats(names),
    ):
        for name, owner in belonging.items():
            companions.setdefault(owner, []).append(name)
    return companions


def _chats(names: list[str]) -> dict[str, str]:
    """Chats of Gemini CLI's agents, in a folder with the id of the session that started them, with that session's."""
    chats: dict[tuple[PurePosixPath, str], str] = {}
    for name in names:
        path = PurePosixPath(name)
        if begin := chat_session(path.name):
            chats[path.parent, begin] = name
    owners = {}
    for name in names if chats else []:
        folder = PurePosixPath(name).parent
        owner = chats.get((folder.parent, folder.name[:8]))
        if owner is not None and name.endswith((".json", ".jsonl")):
            owners[name] = owner
    return owners


def _indexes(names: list[str]) -> dict[str, str]:
    """Indexes of ATIF trajectories, which have no steps, with the trajectory that lies beside each."""
    known = set(names)
    owners = {}
    for name in names:
        stem = name.removesuffix(_INDEX)
        if stem != name:
            owner = next((stem + ending for ending in _TRAJECTORIES if stem + ending in known), "")
            if owner:
                owners[name] = owner
    return owners


def _events_of_conversations(names: list[str]) -> dict[str, str]:
    """Files of one event each, with the base state of their conversation or, where there is none, its first event."""
    folders: dict[PurePosixPath, list[str]] = {}
    for name in names:
        if is_event_file(name):
            folders.setdefault(PurePosixPath(name).parent, []).append(name)
    known = set(names)
    owners = {}
    for folder, events in folders.items():
        state = str(folder.parent / BASE_STATE)
        has_state = folder.name == "events" and state in known
        owner = state if has_state else min(events)
        owners.update({name: owner for name in events if name != owner})
    return owners


def _rollouts_of_agents(names: list[str], head: Callable[[str], bytes]) -> dict[str, str]:
    """Rollouts of Codex whose threads others started, with the rollout of the thread that nobody there started. A
    rollout's name ends with its thread."""
    rollouts = {name for name in names if is_rollout(PurePosixPath(name).name)}
    if len(rollouts) < 2:
        return {}
    by_thread = {ending[1]: name for name in rollouts if (ending := _THREAD.search(name))}
    parents = {}
    for name in rollouts:
        match = _PARENT_THREAD.search(unpacked_head(head(name)).partition(b"\n")[0])
        parent = by_thread.get(match[1].decode("ascii")) if match else None
        if parent is not None and parent != name:
            parents[name] = parent
    owners = {}
    for name in sorted(parents):
        owner, seen = parents[name], {name}
        while owner in parents and owner not in seen:
            seen.add(owner)
            owner = parents[owner]
        if owner not in parents:
            owners[name] = owner
    return owners


def run_files(folder: Path) -> list[Path]:
    """The files of a folder of this machine that may be traces, however deep, in order; links that lead out of the
    folder are not followed."""
    root = folder.resolve()
    files = {
        path.relative_to(root).as_posix(): path
        for path in root.rglob("*")
        if path.is_file() and path.resolve().is_relative_to(root)
    }

    def head(name: str) -> bytes:
        with files[name].open("rb") as opened:
            return opened.read(HEAD_BYTES)

    companions = companions_among(files, head)
    belonging = {name for members in companions.values() for name in members}
    logs = [name for name in files if name.lower().endswith(_EVAL) and not name.rpartition("/")[2].startswith(".")]
    return [files[name] for name in sorted({*runs_among(files), *logs} - belonging)]


def packed(path: Path, into: BinaryIO) -> bool:
    """Write a folder, or a file with what belongs to it, as a ZIP; False for a file that stands alone."""
    if path.is_dir():
        root, members = path.resolve(), [file for file in path.resolve().rglob("*") if file.is_file()]
    else:
        source = source_at(path)
        root = path.resolve().parent
        members = [root / name for name in source.companions()]
        if not members:
            return False
        members.append(path.resolve())
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as package:
        for file in sorted(members):
            if file.resolve().is_relative_to(root):
                package.write(file, file.relative_to(root).as_posix())
    return True


def _may_be_a_trace(path: PurePosixPath, of_one_run: set[PurePosixPath]) -> bool:
    if path.name in _HISTORIES or _PAGE_OF_A_RUN.fullmatch(path.name):
        return "__MACOSX" not in path.parts
    if path.name.startswith(".") or "__MACOSX" in path.parts:
        return False
    if path.parent in of_one_run:
        return path.name == _RUN_OF_A_FOLDER
    return path.suffix.lower() in _TRACES or path.name.lower().endswith(_PACKED_LINES)


def _source(
    package: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], member: str, companions: list[str]
) -> StoredRunFile:
    folder = PurePosixPath(member).parent
    names = [posixpath.relpath(name, folder) for name in companions]

    def opened(info: zipfile.ZipInfo) -> BinaryIO:
        return opened_member(package, info)

    def beside(name: str) -> Callable[[], BinaryIO] | None:
        picture = entries.get(posixpath.normpath(str(folder / name)))
        return None if picture is None or picture.flag_bits & _ENCRYPTED else lambda: opened(picture)

    return StoredRunFile(
        member,
        lambda: opened(entries[member]),
        entries[member].file_size,
        folder=folder.name,
        beside=beside,
        names=lambda: names,
    )
