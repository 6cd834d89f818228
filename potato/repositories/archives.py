"""An archive of a repository's files at one commit: what `git archive` writes, or GitHub hands out.

Field notes
- `git archive` writes the commit's id into the archive: as comment of a ZIP, as "comment" in a tar's first pax header.
- GitHub puts all files into one folder, "name-commit/" or "name-branch/". Such a folder around everything is taken off:
  one that names the commit, or begins with the repository's name; any other may be the repository's own.
- A link is kept as git keeps it, a small text that is its target; it is never followed. Hard links, devices and pipes
  are refused.
"""

import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator

from potato.repositories.model import (
    DEEPEST,
    FOLDER_MODE,
    LINK_MODE,
    LONGEST_PATH,
    CommitFacts,
    ReadRepository,
    RepositoryBounds,
    TreeEntry,
    UnreadableRepository,
    demand_name,
    is_text,
    object_id,
    tree_content,
)

_COMMIT = re.compile(r"[0-9a-f]{40}")
_ZIP = b"PK\x03\x04"
_GZIP = b"\x1f\x8b"
_TAR = 257
_LIST_BYTES = 16 * 2**20


def is_archive(head: bytes) -> bool:
    return head.startswith((_ZIP, _GZIP)) or head[_TAR : _TAR + 5] == b"ustar"


def read_archive(data: bytes, bounds: RepositoryBounds, commit: str = "", name: str = "") -> ReadRepository:
    """The files of an archive of the repository `name`, at the commit that is named, else the one that it names itself.

    Raises UnreadableRepository where it is broken, over a bound, or where no commit is known.
    """
    folder = _Folder(bounds)
    try:
        named = _read_zip(data, folder, bounds) if data.startswith(_ZIP) else _read_tar(data, folder, bounds)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError,
            UnicodeError, ValueError, RuntimeError) as error:  # fmt: skip
        raise UnreadableRepository(
            "broken_archive", f"The archive cannot be read: {error}. Pack it again: git archive --format=tar.gz COMMIT"
        ) from error
    if commit and named and not named.startswith(commit):
        raise UnreadableRepository(
            "other_commit", f"The archive says that it is of the commit {named}, not of {commit}. Attach the right one."
        )
    commit = named or commit
    if not _COMMIT.fullmatch(commit):
        raise UnreadableRepository(
            "no_commit",
            "The archive does not say of which commit it is. Give the whole id of the commit beside it (40 digits).",
        )
    read = ReadRepository("archive", left_out=folder.left_out)
    tree = folder.written(read, commit, name.rpartition("/")[2])
    read.commits[commit] = CommitFacts(commit, tree)
    return read


class _Folder:
    """Files by their path, until their trees are made."""

    def __init__(self, bounds: RepositoryBounds) -> None:
        self._bounds = bounds
        self._files: dict[tuple[str, ...], tuple[str, str]] = {}
        self._contents: dict[str, bytes] = {}
        self._size = 0
        self.left_out = 0

    def count(self, size: int) -> None:
        """Raises UnreadableRepository where a file of so many bytes is one too many."""
        self._size += size
        if len(self._files) >= self._bounds.objects or self._size > self._bounds.unpacked_bytes:
            raise UnreadableRepository(
                "unpacks_too_large",
                f"The archive has more than {self._bounds.objects:,} files or {self._bounds.unpacked_bytes:,} bytes. "
                "Leave out what nobody reads.",
            )
        if size > self._bounds.object_bytes:
            raise UnreadableRepository(
                "object_too_large",
                f"A file of the archive has {size:,} bytes; {self._bounds.object_bytes:,} are read. Leave it out.",
            )

    def add(self, path: str, mode: str, content: bytes) -> None:
        parts = tuple(part for part in path.split("/") if part != ".")
        if not parts or len(path) > LONGEST_PATH or len(parts) > DEEPEST:
            raise UnreadableRepository(
                "unsafe_path", f"The archive has the path {path[:80]!r}, which is empty, too long or too deep."
            )
        for part in parts:
            demand_name(part)
        identity = object_id("blob", content)
        self._files[parts] = (mode, identity)
        if len(content) <= self._bounds.kept_bytes and is_text(content):
            self._contents[identity] = content
        else:
            self.left_out += 1

    def written(self, read: ReadRepository, commit: str, name: str) -> str:
        """Puts blobs and trees into what is read, and gives the id of the topmost tree."""
        if not self._files:
            raise UnreadableRepository("no_files", "The archive has no file. Attach one with the repository's files.")
        read.contents.update(self._contents)
        first = {parts[0].lower() if len(parts) > 1 else "" for parts in self._files}
        is_wrapped = len(first) == 1 and any(
            commit[:7] in folder or (name and folder.startswith(f"{name.lower()}-")) for folder in first
        )
        files = {parts[1:] if is_wrapped else parts: kept for parts, kept in self._files.items()}
        return _tree(files, read)


def _tree(files: dict[tuple[str, ...], tuple[str, str]], read: ReadRepository) -> str:
    entries: list[TreeEntry] = []
    below: dict[str, dict[tuple[str, ...], tuple[str, str]]] = {}
    for parts, (mode, identity) in files.items():
        if len(parts) == 1:
            entries.append(TreeEntry(mode, parts[0], identity))
        else:
            below.setdefault(parts[0], {})[parts[1:]] = (mode, identity)
    if clash := {entry.name for entry in entries} & below.keys():
        raise UnreadableRepository(
            "unsafe_path", f"The archive has {sorted(clash)[0][:80]!r} both as a file and as a folder. Pack it again."
        )
    entries += (TreeEntry(FOLDER_MODE, name, _tree(rest, read)) for name, rest in below.items())
    content = tree_content(entries)
    identity = object_id("tree", content)
    read.contents[identity] = content
    read.trees.add(identity)
    return identity


def _read_zip(data: bytes, folder: _Folder, bounds: RepositoryBounds) -> str:
    # Python reads the whole list of members before it tells how many they are.
    if data.count(b"PK\x01\x02") > bounds.objects * 2:
        raise UnreadableRepository("too_many_objects", "The archive lists too many files. Leave out what nobody reads.")
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        for member in package.infolist():
            if member.is_dir():
                continue
            kind = member.external_attr >> 16
            folder.count(member.file_size)
            with package.open(member) as file:
                content = file.read(member.file_size + 1)
            if len(content) != member.file_size:
                raise zipfile.BadZipFile(f"{member.filename[:80]} is of another size than it says")
            folder.add(member.filename, _mode(kind), content)
        return _named(package.comment.decode("ascii", "replace"))


def _read_tar(data: bytes, folder: _Folder, bounds: RepositoryBounds) -> str:
    # As a stream: a bomb is unpacked no further than its bounds, and nothing is written to a disk.
    stream = _Bounded(data, bounds.unpacked_bytes + 2_048 * bounds.objects)
    named = ""
    with tarfile.open(fileobj=stream, mode="r|", errorlevel=2) as package:
        for member in package:
            named = named or _named(package.pax_headers.get("comment", ""))
            if member.isdir():
                continue
            if member.issym():
                folder.count(len(member.linkname))
                folder.add(member.name, LINK_MODE, member.linkname.encode("utf-8", "surrogateescape"))
            elif member.isfile():
                folder.count(member.size)
                file = package.extractfile(member)
                folder.add(member.name, _mode(member.mode), file.read() if file else b"")
            else:
                raise UnreadableRepository(
                    "unsafe_path",
                    f"The archive has {member.name[:80]!r}, which is neither a file, a folder nor a symbolic link.",
                )
    return named


class _Bounded(io.RawIOBase):
    """A tar file, packed with gzip or not, of which no more than so many bytes are read."""

    def __init__(self, data: bytes, most: int) -> None:
        self._data = memoryview(data)
        self._left = most
        self._pieces = self._unpacked() if data.startswith(_GZIP) else iter((data,))
        self._piece = memoryview(b"")

    def read(self, size: int = -1) -> bytes:
        got: list[bytes] = []
        wanted = size if size >= 0 else self._left
        while wanted > 0:
            if not self._piece:
                following = next(self._pieces, None)
                if following is None:
                    break
                self._piece = memoryview(following)
                continue
            piece = self._piece[:wanted]
            self._piece = self._piece[len(piece) :]
            wanted -= len(piece)
            got.append(bytes(piece))
        data = b"".join(got)
        self._left -= len(data)
        if self._left < 0:
            raise UnreadableRepository(
                "unpacks_too_large", "The archive unpacks to more than is read. Leave out what nobody reads."
            )
        return data

    def readable(self) -> bool:
        return True

    def _unpacked(self) -> Iterator[bytes]:
        unpacking = zlib.decompressobj(31)
        rest: bytes | memoryview = self._data
        while not unpacking.eof:
            piece = unpacking.decompress(rest, 2**20)
            rest = unpacking.unconsumed_tail
            if not piece and not rest:
                return
            yield piece


def _mode(mode: int) -> str:
    """A file's mode as git has it: a link, or a file that may be executed or not."""
    if mode & 0o170000 == 0o120000:
        return LINK_MODE
    return "100755" if mode & 0o100 else "100644"


def _named(comment: str) -> str:
    return comment if _COMMIT.fullmatch(comment) else ""
