"""Which files differ between two trees of a repository that was read, with renamed ones found as git finds them.

Work is counted: a small file may hold folders whose comparison costs far more than it has bytes.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from potato.repositories.model import (
    DEEPEST,
    LONGEST_PATH,
    ReadRepository,
    TreeEntry,
    UnreadableRepository,
    tree_entries,
)

_AN_ENTRY, _A_DIFFERENCE = 10, 100
"""Elementary steps of reading a name in a folder, and of all that is done with a file that differs."""
_BYTES_OF_AN_ENTRY = 32
_MOST_KEPT = 100_000
"""So many names of folders that were read are kept for the next commit."""
_MOST_CANDIDATES = 100
"""So many removed files at most are compared with so many added ones, to find those that were renamed with changes."""


@dataclass(frozen=True, slots=True)
class FileDifference:
    """A file that is another in the new tree: `old` is None where it was added, `new` where it is gone. `old_path` is
    another one than `path` where it was renamed."""

    path: str
    old_path: str
    old: TreeEntry | None
    new: TreeEntry | None


@dataclass(slots=True)
class Work:
    """How much may still be done for one file, in elementary steps of half a microsecond: all of it takes some ten
    seconds."""

    left: int = 20_000_000

    def take(self, amount: int) -> None:
        """Raises UnreadableRepository where it is more than is left."""
        self.left -= amount
        if self.left < 0:
            raise UnreadableRepository(
                "too_much_to_compare",
                "Its commits change too much to be compared one by one. Make the bundle of fewer commits, or of one "
                "that has them all (git merge --squash).",
            )


class TreeComparison:
    """Compares trees of one repository, taking its work from what is left."""

    def __init__(self, read: ReadRepository, work: Work) -> None:
        self._read = read
        self._work = work
        self._parsed: dict[str, dict[str, TreeEntry]] = {}
        self._kept = 0

    def differing_files(self, old_tree: str, new_tree: str) -> list[FileDifference]:
        """The files that differ, sorted by path; "" is the tree without a file.

        A file that became a link, a folder or a submodule, or the other way, is gone and added. Raises
        UnreadableRepository for a tree that is not there, and where it is more work than is left.
        """
        found = list(self._differences(old_tree, new_tree, "", 0))
        found = _with_renames(found, self._read, self._work)
        return sorted(found, key=lambda each: each.path.encode("utf-8", "surrogateescape"))

    def _entries(self, tree: str) -> dict[str, TreeEntry]:
        if not tree:
            return {}
        known = self._parsed.get(tree)
        if known is not None:
            self._work.take(len(known))
            return known
        if tree not in self._read.trees:
            raise UnreadableRepository(
                "missing_object", f"The folder {tree} is not in it. Make it of a whole history, not of a shallow clone."
            )
        content = self._read.contents[tree]
        self._work.take(_AN_ENTRY * (1 + len(content) // _BYTES_OF_AN_ENTRY))
        entries = {entry.name: entry for entry in tree_entries(content)}
        # What one commit made of a folder is what the next one found.
        if self._kept + len(entries) > _MOST_KEPT:
            self._parsed.clear()
            self._kept = 0
        self._parsed[tree] = entries
        self._kept += len(entries)
        return entries

    def _differences(self, old_tree: str, new_tree: str, folder: str, depth: int) -> Iterator[FileDifference]:
        if old_tree == new_tree:
            return
        if depth > DEEPEST or len(folder) > LONGEST_PATH:
            raise UnreadableRepository("unsafe_path", f"The path {folder[:80]!r} is too long or too deep.")
        olds, news = self._entries(old_tree), self._entries(new_tree)
        for name in olds.keys() | news.keys():
            old, new = olds.get(name), news.get(name)
            if old == new:
                continue
            self._work.take(_A_DIFFERENCE)
            path = folder + name
            old_folder = old.id if old and old.is_folder else ""
            new_folder = new.id if new and new.is_folder else ""
            if old_folder or new_folder:
                yield from self._differences(old_folder, new_folder, f"{path}/", depth + 1)
            old_file = None if old_folder else old
            new_file = None if new_folder else new
            if old_file and new_file and old_file.kind != new_file.kind:
                yield FileDifference(path, path, old_file, None)
                yield FileDifference(path, path, None, new_file)
            elif old_file or new_file:
                yield FileDifference(path, path, old_file, new_file)


def _with_renames(found: list[FileDifference], read: ReadRepository, work: Work) -> list[FileDifference]:
    """As git does it by default: a removed file is the old one of an added file with the same content, or else with
    more than half of it."""
    removed = [each for each in found if each.old and not each.new and each.old.is_file]
    added = [each for each in found if each.new and not each.old and each.new.is_file]
    if not removed or not added:
        return found
    old_of: dict[str, FileDifference] = {}
    by_content: dict[str, list[FileDifference]] = {}
    for each in removed:
        by_content.setdefault(each.old.id if each.old else "", []).append(each)
    for each in added:
        alike = by_content.get(each.new.id if each.new else "")
        if alike:
            old_of[each.path] = alike.pop(0)
    taken = set(old_of.values())
    left = [each for each in removed if each not in taken]
    candidates = [each for each in added if each.path not in old_of]
    if len(left) <= _MOST_CANDIDATES and len(candidates) <= _MOST_CANDIDATES:
        old_of |= _similar(left, candidates, read, work)
    taken = set(old_of.values())
    are_added = set(added)
    return [
        FileDifference(each.path, old_of[each.path].path, old_of[each.path].old, each.new)
        if each in are_added and each.path in old_of
        else each
        for each in found
        if each not in taken
    ]


def _similar(
    removed: list[FileDifference], added: list[FileDifference], read: ReadRepository, work: Work
) -> dict[str, FileDifference]:
    """The removed file by the path of the added one, for the pairs that have most in common."""
    old_lines = {each.path: _counted(each.old, read, work) for each in removed}
    new_lines = {each.path: _counted(each.new, read, work) for each in added}
    pairs: list[tuple[float, str, str]] = []
    for new_path, (new_size, news) in new_lines.items():
        for old_path, (old_size, olds) in old_lines.items():
            # Half of the larger one at least has to stand in both, so that it cannot be more than twice as long.
            if not (old_size and new_size) or max(old_size, new_size) > 2 * min(old_size, new_size):
                continue
            work.take(min(len(olds), len(news)))
            common = sum(len(line) * count for line, count in (olds & news).items())
            share = common / max(old_size, new_size)
            if share >= 0.5:
                pairs.append((-share, new_path, old_path))
    by_path = {each.path: each for each in removed}
    chosen: dict[str, FileDifference] = {}
    for _, new_path, old_path in sorted(pairs):
        if new_path not in chosen and old_path in by_path:
            chosen[new_path] = by_path.pop(old_path)
    return chosen


def _counted(entry: TreeEntry | None, read: ReadRepository, work: Work) -> tuple[int, Counter[bytes]]:
    """The size of a text and its lines; nothing of one whose content was not kept."""
    content = read.contents.get(entry.id, b"") if entry else b""
    lines = Counter(content.splitlines(keepends=True))
    work.take(len(lines))
    return len(content), lines
