"""A git bundle: what `git bundle create FILE REFERENCE` writes.

Field notes (git's gitformat-bundle)
- "# v2 git bundle", or "# v3 git bundle" with lines "@capability=value"; then "-" and a commit that must be there
  already (a prerequisite), for a range such as base..tip; then commits with their references; an empty line; a pack.
- v3 names the kind of hash ("@object-format=sha256") and of filter ("@filter=blob:none"): neither is read here.
"""

import re
from collections.abc import Iterator

from potato.repositories.model import (
    CommitFacts,
    ObjectKind,
    ReadRepository,
    RepositoryBounds,
    UnreadableRepository,
    is_text,
    tree_entries,
)
from potato.repositories.packs import objects_in

MAGIC = (b"# v2 git bundle\n", b"# v3 git bundle\n")
_LONGEST_HEAD = 2**20
_REFERENCE = re.compile(rb"([0-9a-f]{40}) ([^\n]{1,1024})")
_PREREQUISITE = re.compile(rb"-([0-9a-f]{40})(?: [^\n]*)?")
_TAGGED = re.compile(rb"object ([0-9a-f]{40})\n")
_MOST_TAGS = 10
"""So many tags of tags are followed to their commit."""
_AUTHOR = re.compile(rb"^author ([^\n]*?) <[^\n]*> (\d{1,12}) [+-]\d{4}$", re.MULTILINE)


def is_bundle(head: bytes) -> bool:
    return head.startswith(MAGIC)


def read_bundle(data: bytes, bounds: RepositoryBounds) -> ReadRepository:
    """All commits, trees and readable blobs of a bundle. Raises UnreadableRepository."""
    read = ReadRepository("bundle")
    pack = _read_head(data, read)
    tagged: dict[str, str] = {}
    for identity, kind, content in objects_in(pack, bounds):
        if kind == "tag":
            if found := _TAGGED.match(content):
                tagged[identity] = found[1].decode()
        else:
            _keep(read, identity, kind, content, bounds)
    read.heads = {name: _commit_of(identity, tagged) for name, identity in read.heads.items()}
    for identity in read.trees:
        # Refused as a whole where one name would lead out of its folder.
        for _ in tree_entries(read.contents[identity]):
            pass
    return read


def _commit_of(identity: str, tagged: dict[str, str]) -> str:
    """What a reference names, or the tag that it names."""
    for _ in range(_MOST_TAGS):
        identity = tagged.get(identity, identity)
    return identity


def _read_head(data: bytes, read: ReadRepository) -> bytes:
    """Reads the references, and gives the pack behind them."""
    end = data.find(b"\n\n", 0, _LONGEST_HEAD)
    if not is_bundle(data) or end < 0:
        raise UnreadableRepository("not_a_bundle", "It is no git bundle. Make one: git bundle create FILE REFERENCE")
    prerequisites: list[str] = []
    for line in data[:end].split(b"\n")[1:]:
        if line.startswith(b"@"):
            if line != b"@object-format=sha1":
                raise UnreadableRepository(
                    "unknown_capability",
                    f"The bundle needs {line[1:80].decode('ascii', 'replace')}, which is not read here. Make it of a "
                    "whole repository with SHA-1 ids, or attach an archive.",
                )
        elif found := _PREREQUISITE.fullmatch(line):
            prerequisites.append(found[1].decode())
        elif found := _REFERENCE.fullmatch(line):
            read.heads[found[2].decode("utf-8", "replace")] = found[1].decode()
        else:
            raise UnreadableRepository("broken_bundle", "The list of references is broken. Make the bundle again.")
    read.prerequisites = tuple(prerequisites)
    return data[end + 2 :]


def _keep(read: ReadRepository, identity: str, kind: ObjectKind, content: bytes, bounds: RepositoryBounds) -> None:
    if kind == "commit":
        read.commits[identity] = commit_facts(identity, content)
    elif kind == "tree":
        read.trees.add(identity)
        read.contents[identity] = content
    elif kind == "blob":
        if len(content) <= bounds.kept_bytes and is_text(content):
            read.contents[identity] = content
        else:
            read.left_out += 1


def commit_facts(identity: str, content: bytes) -> CommitFacts:
    """What a commit object says. Raises UnreadableRepository for one without a tree."""
    head, _, message = content.partition(b"\n\n")
    lines = head.split(b"\n")
    if not re.fullmatch(rb"tree [0-9a-f]{40}", lines[0]):
        raise UnreadableRepository("broken_commit", f"The commit {identity} names no tree. Make the file again.")
    author = _AUTHOR.search(head)
    return CommitFacts(
        identity,
        lines[0][5:].decode(),
        tuple(_parents(lines)),
        message.decode("utf-8", "replace").strip(),
        author[1].decode("utf-8", "replace") if author else "",
        int(author[2]) if author else None,
    )


def _parents(lines: list[bytes]) -> Iterator[str]:
    for line in lines[1:]:
        if not re.fullmatch(rb"parent [0-9a-f]{40}", line):
            return
        yield line[7:].decode()
