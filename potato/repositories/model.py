"""What is read of a repository: its commits, trees and blobs, as git names them."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

ObjectKind: TypeAlias = Literal["commit", "tree", "blob", "tag"]

FOLDER_MODE = "40000"
LINK_MODE = "120000"
SUBMODULE_MODE = "160000"
LONGEST_PATH = 4_096
DEEPEST = 64


class UnreadableRepository(Exception):  # noqa: N818  (an answer to the person who attaches the file)
    """A file of which no repository can be read. The sentence says why, and what to do."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class RepositoryBounds:
    """How much is read of one file: what it has, what it unpacks to, its objects, and the largest of them."""

    file_bytes: int = 64 * 2**20
    unpacked_bytes: int = 384 * 2**20
    objects: int = 60_000
    object_bytes: int = 32 * 2**20
    kept_bytes: int = 2**20
    """A larger blob is in its tree, and its content is not kept: nobody reads it line by line."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One name in a folder: its mode as git writes it ("100644", "40000") and the id of what it names."""

    mode: str
    name: str
    id: str

    @property
    def is_folder(self) -> bool:
        return self.mode == FOLDER_MODE

    @property
    def kind(self) -> str:
        """In a word: "folder", "file", "link" or "submodule"."""
        return {FOLDER_MODE: "folder", LINK_MODE: "link", SUBMODULE_MODE: "submodule"}.get(self.mode, "file")

    @property
    def is_file(self) -> bool:
        """Whether it is a file with a content of its own: no link, which is never followed, and no submodule."""
        return self.mode.startswith("100")


@dataclass(frozen=True, slots=True)
class CommitFacts:
    """A commit: its id, its tree, its parents in their order, the first line and all of its message, its moment."""

    id: str
    tree: str
    parents: tuple[str, ...] = ()
    message: str = ""
    author: str = ""
    at: int | None = None
    """Seconds since 1970, of the author."""


@dataclass(slots=True)
class ReadRepository:
    """What a file holds. `contents` are trees and blobs by their id; blobs that are not kept are left out."""

    kind: Literal["bundle", "archive"]
    commits: dict[str, CommitFacts] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)
    """Commits by the names of their references, as "refs/heads/main"; of a tag that is an object the commit that it
    names."""
    contents: dict[str, bytes] = field(default_factory=dict)
    trees: set[str] = field(default_factory=set)
    left_out: int = 0
    """How many blobs are binary or too large to be read."""
    prerequisites: tuple[str, ...] = ()


def object_id(kind: ObjectKind, content: bytes) -> str:
    """The id that git gives the object: SHA-1 of its kind, its size and its content."""
    return hashlib.sha1(b"%s %d\0%s" % (kind.encode(), len(content), content), usedforsecurity=False).hexdigest()


def is_text(content: bytes) -> bool:
    """As git decides it: no NUL within the first 8,000 bytes."""
    return b"\0" not in content[:8_000]


def tree_entries(content: bytes) -> Iterator[TreeEntry]:
    """The entries of a tree object, in their order.

    Raises UnreadableRepository for one that is broken, or names what no folder holds: "..", ".git", a path.
    """
    at = 0
    while at < len(content):
        blank = content.find(b" ", at, at + 8)
        end = content.find(b"\0", blank, blank + LONGEST_PATH)
        if blank < 0 or end < 0 or end + 21 > len(content):
            raise UnreadableRepository("broken_tree", "A folder of the repository is broken. Make the file again.")
        name = content[blank + 1 : end].decode("utf-8", "surrogateescape")
        demand_name(name)
        mode = content[at:blank].decode("ascii", "replace").lstrip("0")
        yield TreeEntry(mode, name, content[end + 1 : end + 21].hex())
        at = end + 21


def demand_name(name: str) -> None:
    """Raises UnreadableRepository for a name that would lead out of its folder, or into git's own."""
    if name in ("", ".", "..") or name.lower() == ".git" or "/" in name or "\0" in name:
        raise UnreadableRepository(
            "unsafe_path", f"The repository has a file named {name[:80]!r}, which no folder may hold. It was not read."
        )


def tree_content(entries: list[TreeEntry]) -> bytes:
    """A tree object of these entries, in git's order: a folder's name counts as if it ended with a slash."""
    ordered = sorted(entries, key=lambda entry: _raw(entry.name) + (b"/" if entry.is_folder else b""))
    return b"".join(
        b"%s %s\0%s" % (entry.mode.encode(), _raw(entry.name), bytes.fromhex(entry.id)) for entry in ordered
    )


def _raw(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def repository_name(text: str) -> str:
    """A repository as its name is compared: "owner/name" of an address, in small letters; "" of nothing.

    `https://github.com/Octo/Hello.git`, `git@github.com:octo/hello` and `octo/hello` are the same one.
    """
    bare = text.strip().split("?")[0].split("#")[0].rstrip("/")
    if "://" in bare:
        bare = bare.partition("://")[2].partition("/")[2]
    elif "@" in bare.partition(":")[0]:
        bare = bare.partition(":")[2]
    bare = bare.strip("/").removesuffix(".git")
    return "/".join(bare.split("/")[-2:]).lower()
