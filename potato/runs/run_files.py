"""Bounded reading of an uploaded file, from its beginning or from a place in it, with flat memory.

Knows bytes and lines; what they mean is the converters' matter.
"""

import copy
import re
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Self, TypeAlias

from potato.runs.model import BEGINNING, JSON, Bounds, ReadPosition, TooLarge

HEAD_BYTES = 64 * 1024
_CHUNK_BYTES = 256 * 1024


def in_words(size: int) -> str:
    """A number of bytes for a person: "2 GiB", "16 MiB", "512 bytes"."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{size} bytes"


class Lines(Iterator[bytes]):
    """The lines of a file. A line over the bound raises TooLarge and is skipped: iteration can go on after it.

    `offset` is where the file stands, in bytes from its beginning.
    """

    def __init__(self, file: BinaryIO, bound: int, offset: int = 0) -> None:
        self._file = file
        self._bound = bound
        self.offset = offset

    def __next__(self) -> bytes:
        line = self._file.readline(self._bound + 2)
        self.offset += len(line)
        if not line:
            self._file.close()
            raise StopIteration
        if line.endswith(b"\n"):
            body = line[:-1].removesuffix(b"\r")
            if len(body) <= self._bound:
                return body
        elif len(line) <= self._bound:
            return line
        raise TooLarge(self._sentence(self._skip_rest(line)))

    def _skip_rest(self, line: bytes) -> int:
        size = len(line)
        while line and not line.endswith(b"\n"):
            line = self._file.readline(_CHUNK_BYTES)
            size += len(line)
            self.offset += len(line)
        return size

    def _sentence(self, size: int) -> str:
        return (
            f"The line has {in_words(size)}; a line may have {in_words(self._bound)}. "
            "Leave large results out of the trace, or split the file by runs."
        )


COMPANIONS = 2_000
"""So many files at most are asked for that belong to one."""
EVENT_FILES = 50_000
"""So many, where each of them holds one event."""


Beside: TypeAlias = Callable[[str], "Callable[[], BinaryIO] | None"]
"""Finds a file that lies beside another, by its name from there; None where there is none."""


def nothing_beside(name: str) -> None:
    """Of a file that came alone."""
    return


def is_rollout(name: str) -> bool:
    """Whether a file is a rollout of Codex by its name, packed or not."""
    return name.startswith("rollout-") and name.removesuffix(".zst").endswith(".jsonl")


BASE_STATE = "base_state.json"
"""The state of a conversation of OpenHands, beside which its events lie in a folder."""
SAMPLE_SHELL = "sample.json"
"""What a log of Inspect says of a sample whose messages, events and attachments lie beside it, in pieces."""
_PIECE = re.compile(r"(?:messages|events|attachments)/\d+\.json")
_CHAT = re.compile(r"session-[\w-]+-([0-9a-f]{8})\.jsonl?")
_EVENT_FILE = re.compile(r"event[-_]\d+[-_][\w-]+\.json")


def is_event_file(name: str) -> bool:
    """Whether a file holds one event of a conversation of OpenHands, by its name."""
    return _EVENT_FILE.fullmatch(name.rpartition("/")[2]) is not None


def chat_session(name: str) -> str:
    """The beginning of the session's id in the name of a recorded chat of Gemini CLI; "" for every other name."""
    match = _CHAT.fullmatch(name)
    return match[1] if match else ""


def is_companion(name: str, of: str) -> bool:
    """Whether a file, by its name seen from the folder of the file `of`, belongs to that one: it lies in the folder of
    its name without the ending, or is another file of JSON lines beside it."""
    own = of.rpartition("/")[2]
    if is_rollout(own):
        # Rollouts lie by days; whose agent's one is stands in its own first line.
        return is_rollout(name.rpartition("/")[2]) and name.removesuffix(".zst") != own.removesuffix(".zst")
    if session := chat_session(own):
        # The folder has the whole id of the session, of which the name has the beginning.
        return name.startswith(session) and name.count("/") == 1 and name.endswith((".json", ".jsonl"))
    if own == BASE_STATE:
        return name.startswith("events/") and is_event_file(name)
    if own == SAMPLE_SHELL:
        return _PIECE.fullmatch(name) is not None
    if is_event_file(own):
        return is_event_file(name) and name != own and "/" not in name
    stem = own.removesuffix(".jsonl")
    if not of.endswith(".jsonl") or name.rpartition("/")[2].startswith("."):
        return False
    return name.startswith(f"{stem}/") or ("/" not in name and name.startswith("agent-") and name != of)


class StoredRunFile:
    """A file that can be opened again from its beginning; `size` is what the storage says, in bytes.

    `folder` names the folder in which it lies, and `beside` finds what lies there.
    """

    begin: ReadPosition = BEGINNING
    survey: dict[str, JSON] | None = None

    def __init__(
        self,
        name: str,
        open_file: Callable[[], BinaryIO],
        size: int,
        bounds: Bounds | None = None,
        *,
        folder: str = "",
        beside: Beside = nothing_beside,
        names: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self.name = name
        self.size = size
        self.folder = folder
        self._open_file = open_file
        self._bounds = bounds or Bounds()
        self._beside = beside
        self._names = names

    def at(self, place: ReadPosition, survey: dict[str, JSON] | None = None) -> Self:
        """The same file, to be read from this place on; `survey` is what a survey of the whole file noted."""
        there = copy.copy(self)
        there.begin, there.survey = place, survey
        return there

    @property
    def find_beside(self) -> Beside:
        """How a file that lies beside this one is found."""
        return self._beside

    @property
    def names_beside(self) -> Callable[[], Iterable[str]]:
        """The names of the files that may belong to this one."""
        return self._names

    def opened(self) -> BinaryIO:
        """The file from its beginning; whoever asks closes it."""
        return self._open_file()

    def head(self) -> bytes:
        """The file's first 64 KiB, or all of a shorter file."""
        with self._open_file() as file:
            return file.read(HEAD_BYTES)

    def lines(self) -> Lines:
        """Lines from `begin` on without their end, split at LF alone; a CR before it belongs to the end."""
        file = self._open_file()
        if self.begin.offset:
            file.seek(self.begin.offset)
        return Lines(file, self._bounds.line_bytes, self.begin.offset)

    def chunks(self) -> Iterator[bytes]:
        """All bytes from `begin` on, in chunks of 256 KiB."""
        with self._open_file() as file:
            if self.begin.offset:
                file.seek(self.begin.offset)
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk

    def whole(self) -> bytes:
        """All bytes; TooLarge over the bound for documents, whatever `size` says."""
        bound = self._bounds.document_bytes
        data = b""
        if self.size <= bound:
            with self._open_file() as file:
                data = file.read(bound + 1)
        if max(self.size, len(data)) > bound:
            raise TooLarge(
                f"{self.name} has {in_words(max(self.size, len(data)))}; a file that is one document may have "
                f"{in_words(bound)}. Write one run a line (JSONL), or split the file."
            )
        return data

    def beside(self, name: str) -> bytes | None:
        """The bytes of a picture that came with the file; TooLarge over the bound for pictures."""
        open_picture = self._beside(name)
        if open_picture is None:
            return None
        bound = self._bounds.picture_bytes
        with open_picture() as file:
            data = file.read(bound + 1)
        if len(data) > bound:
            raise TooLarge(f"it has more than {in_words(bound)}")
        return data

    def companions(self) -> tuple[str, ...]:
        """Names of the files that belong to this one, at most 2,000, sorted."""
        own = self.name.rpartition("/")[2]
        # Those of the file's own folder first: beside it lie others' as well.
        names = sorted(
            (name for name in self._names() if is_companion(name, own)), key=lambda name: ("/" not in name, name)
        )
        is_in_pieces = own in (BASE_STATE, SAMPLE_SHELL) or is_event_file(own)
        return tuple(names[: EVENT_FILES if is_in_pieces else COMPANIONS])

    def companion(self, name: str) -> "StoredRunFile | None":
        """One of them; None where it is not there."""
        open_file = self._beside(name)
        # Its size is bounded in reading: of a member of a ZIP by what that declares.
        return None if open_file is None else StoredRunFile(name, open_file, 0, self._bounds)


def source_at(path: Path) -> StoredRunFile:
    """A file of this machine with what lies in its folder; links that lead out of the folder are not followed."""
    folder = path.resolve().parent

    def beside(name: str) -> Callable[[], BinaryIO] | None:
        try:
            resolved = (folder / name).resolve()
            if not (resolved.is_relative_to(folder) and resolved.is_file()):
                return None
        except (OSError, ValueError, RuntimeError):
            # A name with NUL in it, or too long, or links that lead in a circle.
            return None
        return lambda: resolved.open("rb")

    def names() -> Iterator[str]:
        stem = folder / path.name.removesuffix(".jsonl")
        yield from (file.name for file in folder.glob("agent-*.jsonl"))
        if session := chat_session(path.name):
            yield from (file.relative_to(folder).as_posix() for file in folder.glob(f"{session}*/*.json*"))
        if path.name == BASE_STATE:
            yield from (f"events/{file.name}" for file in folder.glob("events/event*.json"))
        if is_event_file(path.name):
            yield from (file.name for file in folder.glob("event*.json"))
        if is_rollout(path.name):
            yield from (file.name for file in folder.glob("rollout-*.jsonl*"))
        for file in stem.rglob("*") if stem.is_dir() and stem != path.resolve() else ():
            if file.is_file():
                yield file.relative_to(folder).as_posix()

    return StoredRunFile(
        path.name, lambda: path.open("rb"), path.stat().st_size, folder=folder.name, beside=beside, names=names
    )


class InMemoryRunFile(StoredRunFile):
    """A file that is in memory already."""

    def __init__(self, name: str, data: bytes, bounds: Bounds | None = None) -> None:
        super().__init__(name, lambda: BytesIO(data), len(data), bounds)
