"""The format `git_bundle`: a git bundle, each branch of which is a run, and each of its commits a step.

Field notes
- `git bundle create FILE main BRANCH...`, or `--all`: references, and a pack with the objects. It is read in memory and
  no git is called: nothing of it is written, checked out or run, and no hook and no address in it means anything.
- Where a run began is what the trunk has: references called `base` where there are some, else the remote's HEAD, main
  or master, and main or master. A branch with commits of its own is a run; so is main where a remote's main, or `base`,
  says where it began.
- The steps are the commits from there to the branch, each followed to its first parent, as `git log --first-parent`
  lists them: what another branch did stands in the commit that merged it. A merge of the trunk brings what others did,
  so that nobody of the run wrote those lines.
- The change is that of `git diff TRUNK...BRANCH`: from the last commit of the trunk that the branch has.
- The run is named after its last commit, as the one of a mailbox is. The bundle does not say what was asked: the task
  are the subjects. Who made the commits is left out: an author need not be the agent. The name of the branch is a tag.
- Bundles of a range (`base..tip`) hold differences to files that are not there, and are refused.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from potato.repositories.bundles import is_bundle, read_bundle
from potato.repositories.comparing import FileDifference, TreeComparison, Work
from potato.repositories.model import (
    CommitFacts,
    ReadRepository,
    RepositoryBounds,
    TreeEntry,
    UnreadableRepository,
)
from potato.runs.changes.differences import STEPS
from potato.runs.changes.model import FileChange, Operation
from potato.runs.changes.texts import CONTEXT, compare
from potato.runs.changes.writing import unified_patch
from potato.runs.converters.commits import Commit, commit_steps
from potato.runs.model import (
    AgentRun,
    ConversionReport,
    Converted,
    FileRead,
    ReadingOptions,
    ReadPosition,
    RunFile,
    TooLarge,
    Unreadable,
)
from potato.runs.run_files import in_words

_BRANCH, _REMOTE, _TAG = "refs/heads/", "refs/remotes/", "refs/tags/"
_BASE = "base"
_TRUNKS = frozenset({"main", "master"})
_MOST_BRANCHES = 100
_MOST_NAMED = 5
_BYTES_A_STEP = 16
"""So many bytes of a text are split into lines in the time of one elementary step of a comparison."""
_BYTES_A_FILE = 200
"""What a changed file takes of a run besides its lines."""
_MAILBOX = "git format-patch --stdout main..BRANCH > run.mbox"
_TOO_LARGE = frozenset({"too_many_objects", "unpacks_too_large", "object_too_large"})


class GitBundle:
    """Git bundles."""

    name = "git_bundle"
    label = "Git bundle, a run for each branch"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        if is_bundle(head):
            return 1.0, "it begins as a git bundle does"
        return 0.0, "it does not begin as a git bundle does"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        try:
            read = read_bundle(lines.whole(), RepositoryBounds(file_bytes=options.bounds.document_bytes))
            branches = _branches(read, lines.name)
        except TooLarge as error:
            yield Unreadable(1, "too_large", f"{lines.name} is too large. {_instead(str(error))}")
            return
        except UnreadableRepository as refusal:
            yield Unreadable(1, refusal.code, _sentence(lines.name, refusal))
            return
        work = Work()
        begun = lines.begin.before
        for place, branch in enumerate(branches[begun:], begun + 1):
            # The pack is read again, but not what came before.
            after = ReadPosition(0, place)
            try:
                yield _converted(read, branch, work, options, place, after)
            except UnreadableRepository as refusal:
                yield Unreadable(place, refusal.code, _sentence(f"{branch.name} in {lines.name}", refusal), after)


@dataclass(frozen=True, slots=True)
class _Branch:
    """A branch with commits of its own, the first one first. `trunk` is all that it does not count as its own."""

    name: str
    commits: tuple[CommitFacts, ...]
    trunk: frozenset[str]


def _sentence(name: str, refusal: UnreadableRepository) -> str:
    if refusal.code in _TOO_LARGE:
        return f"{name}: {_instead(refusal.sentence)}"
    end = "" if refusal.sentence.endswith(".") else "."
    return f"{name}: {refusal.sentence}{end}"


def _instead(sentence: str) -> str:
    """The sentence with what can be done about a repository that is too large to be read."""
    return f"{sentence.partition('. ')[0].rstrip('.')}. Import the branch alone, as a mailbox: {_MAILBOX}."


def _branches(read: ReadRepository, filename: str) -> list[_Branch]:
    """The branches that are runs, by their names. Raises UnreadableRepository where there is none, and says why."""
    if read.prerequisites:
        raise UnreadableRepository(
            "has_prerequisites",
            f"It holds only what came after {read.prerequisites[0][:12]}, as differences to files that are not in it. "
            f"Make it with the branch on which the run began (git bundle create FILE main BRANCH), or as a mailbox: "
            f"{_MAILBOX}.",
        )
    named = [name for name in read.heads if name in (_BRANCH + _BASE, _TAG + _BASE)]
    remote = [name for name in read.heads if name.startswith(_REMOTE) and _last(name) in _TRUNKS | {"HEAD"}]
    local = [name for name in read.heads if name.removeprefix(_BRANCH) in _TRUNKS]
    trunk = named or [*remote, *local]
    trunk_of_trunks = named or remote
    chosen = {name for name in read.heads if name.startswith(_BRANCH)} or {
        name for name in read.heads if name.startswith(_REMOTE) and name not in remote
    }
    if "HEAD" in read.heads and read.heads["HEAD"] not in {read.heads[name] for name in chosen}:
        chosen.add("HEAD")
    candidates = sorted(chosen - set(named) - (set() if trunk_of_trunks else set(local)))
    others = _history(read, [read.heads[name] for name in trunk])
    others_of_trunks = others if named else _history(read, [read.heads[name] for name in trunk_of_trunks])
    if not trunk:
        shown = ", ".join(_short(name) for name in candidates[:_MOST_NAMED]) or "none"
        raise UnreadableRepository(
            "no_base",
            f"Nothing in it says where the run began: it has no branch main, master or base (its branches: {shown}). "
            "Name the commit before the run, and make it with both: git branch base COMMIT; git bundle create FILE "
            "base BRANCH.",
        )
    branches: list[_Branch] = []
    seen: set[str] = set()
    for name in candidates:
        excluded = others_of_trunks if name in local else others
        tip = read.heads[name]
        if tip in seen or tip in excluded or tip not in read.commits:
            continue
        seen.add(tip)
        branches.append(_Branch(_short(name), tuple(_chain(read, tip, excluded)), excluded))
    if not branches:
        shown = ", ".join(_short(name) for name in trunk[:_MOST_NAMED])
        raise UnreadableRepository(
            "no_commits",
            f"It has no branch with commits that {shown} does not have, so there is no run in it. If the run's commits "
            "are merged, name the commit before them: git branch base COMMIT; git bundle create FILE base BRANCH. To "
            "attach it as the repository of other runs, use Repositories beside Imports.",
        )
    if len(branches) > _MOST_BRANCHES:
        raise UnreadableRepository(
            "too_many_branches",
            f"It has {len(branches)} branches with commits of their own; {_MOST_BRANCHES} are read as runs. Make it "
            "with those that are runs: git bundle create FILE main BRANCH...",
        )
    return branches


def _last(name: str) -> str:
    """Of "refs/remotes/origin/main" what follows the remote."""
    return name.removeprefix(_REMOTE).partition("/")[2]


def _short(name: str) -> str:
    return name.removeprefix(_BRANCH).removeprefix(_REMOTE).removeprefix(_TAG)


def _history(read: ReadRepository, tips: Iterable[str], excluded: frozenset[str] = frozenset()) -> frozenset[str]:
    """These commits and all before them that are not excluded, as far as the bundle has them."""
    found: set[str] = set()
    left = [*tips]
    while left:
        identity = left.pop()
        commit = read.commits.get(identity)
        if commit is not None and identity not in found and identity not in excluded:
            found.add(identity)
            left += commit.parents
    return frozenset(found)


def _chain(read: ReadRepository, tip: str, trunk: frozenset[str]) -> list[CommitFacts]:
    """The branch's commits, the first one first."""
    chain: list[CommitFacts] = []
    identity = tip
    while identity not in trunk:
        commit = read.commits.get(identity)
        if commit is None:
            raise UnreadableRepository(
                "missing_object",
                f"The commit {identity[:12]}, which comes before {chain[-1].id[:12]}, is not in it. Make it of a whole "
                "history: git fetch --unshallow.",
            )
        chain.append(commit)
        if not commit.parents:
            break
        identity = commit.parents[0]
    return chain[::-1]


def _converted(
    read: ReadRepository, branch: _Branch, work: Work, options: ReadingOptions, place: int, after: ReadPosition
) -> Converted:
    report = ConversionReport()
    if aside := len(_history(read, [branch.commits[-1].id], branch.trunk)) - len(branch.commits):
        report.dropped["commit of a branch that was merged"] += aside
    trees = TreeComparison(read, work)
    compared = _Compared(read, work, options.bounds.run_bytes)
    first = branch.commits[0]
    before = read.commits.get(first.parents[0]) if first.parents else None
    base = before
    commits: list[Commit] = []
    for commit in branch.commits:
        differences = trees.differing_files(before.tree if before else "", commit.tree)
        from_trunk = [identity for identity in commit.parents[1:] if identity in branch.trunk]
        if from_trunk:
            base = read.commits[from_trunk[-1]]
            touched = tuple(dict.fromkeys(path for each in differences for path in (each.path, each.old_path)))
            compared.known.update(touched)
            commits.append(Commit(commit.id, commit.message, _moment(commit), touched=touched))
        else:
            compared.keep_texts(differences)
            files = tuple(compared.changes(differences))
            commits.append(Commit(commit.id, commit.message, _moment(commit), files=files))
        before = commit
    whole = trees.differing_files(base.tree if base else "", branch.commits[-1].tree)
    patch = unified_patch(compared.changes(whole))
    steps = commit_steps(commits)
    run = AgentRun(
        external_id=branch.commits[-1].id,
        task=_task(branch.commits),
        steps=steps.steps,
        events=(*compared.texts, *steps.events),
        event_steps=(*(None for _ in compared.texts), *steps.event_steps),
        patch=patch or None,
        tags=(branch.name,),
        started_at=_moment(first),
        gaps=_gaps(read, whole),
        base_commit=base.id if base else "",
    )
    return Converted(run, report, place, after)


def _task(commits: tuple[CommitFacts, ...]) -> str:
    if len(commits) == 1:
        return commits[0].message
    return "\n".join(subject for commit in commits if (subject := commit.message.partition("\n")[0]))


def _moment(commit: CommitFacts) -> str:
    try:
        return "" if commit.at is None else datetime.fromtimestamp(commit.at, UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return ""


class _Compared:
    """Makes changes of what differs, and keeps the texts that files had before the run."""

    def __init__(self, read: ReadRepository, work: Work, most_bytes: int) -> None:
        self._read = read
        self._work = work
        self._left = most_bytes
        self._changes: dict[FileDifference, FileChange] = {}
        self.texts: list[FileRead] = []
        self.known: set[str] = set()

    def keep_texts(self, differences: list[FileDifference]) -> None:
        """A file that was not changed before has the text from before the run."""
        for each in differences:
            if each.old is not None and each.old_path not in self.known:
                self._keep_text(each.old_path, each.old)
            self.known.update((each.path, each.old_path))

    def changes(self, differences: list[FileDifference]) -> Iterator[FileChange]:
        """What became of each of them. Raises UnreadableRepository for more than a run may have."""
        for each in differences:
            change = self._changes.get(each)
            if change is None:
                change = self._changes[each] = self._made(each)
            self._take(_BYTES_A_FILE + sum(len(line.text) + 1 for hunk in change.hunks for line in hunk.lines))
            yield change

    def _keep_text(self, path: str, entry: TreeEntry) -> None:
        content = self._read.contents.get(entry.id)
        if content is not None and entry.is_file:
            self._take(len(content))
            self.texts.append(FileRead(path, content.decode("utf-8", "surrogateescape")))

    def _take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise UnreadableRepository(
                "too_large",
                "Its commits change more text than a run may have. Make the bundle of fewer commits, or of one that "
                "has them all (git merge --squash).",
            )

    def _made(self, difference: FileDifference) -> FileChange:
        old, new = difference.old, difference.new
        operation: Operation = "modified"
        if old is None:
            operation = "added"
        elif new is None:
            operation = "deleted"
        elif difference.old_path != difference.path:
            operation = "renamed"
        change = FileChange(
            path=difference.path,
            old_path="" if old is None else difference.old_path,
            operation=operation,
            source="patch",
            old_mode=old.mode if old else None,
            new_mode=new.mode if new else None,
            is_binary=_lines_unknown(self._read, difference),
        )
        old_text, new_text = _text(self._read, old), _text(self._read, new)
        if old_text is None or new_text is None or (old and new and old.id == new.id):
            return change
        self._work.take((len(old_text) + len(new_text)) // _BYTES_A_STEP)
        compared = compare(old_text, new_text, CONTEXT, min(STEPS, self._work.left))
        self._work.take(compared.steps)
        return replace(change, hunks=compared.hunks)


def _text(read: ReadRepository, entry: TreeEntry | None) -> str | None:
    """The entry's text, "" of none and None where it was not kept. Of a submodule it is what git writes."""
    if entry is None:
        return ""
    if entry.kind == "submodule":
        return f"Subproject commit {entry.id}\n"
    content = read.contents.get(entry.id)
    return None if content is None else content.decode("utf-8", "surrogateescape")


def _lines_unknown(read: ReadRepository, difference: FileDifference) -> bool:
    old, new = difference.old, difference.new
    if old and new and old.id == new.id:
        return False
    return any(_text(read, entry) is None for entry in (old, new))


def _gaps(read: ReadRepository, whole: list[FileDifference]) -> tuple[str, ...]:
    without = [each.path for each in whole if _lines_unknown(read, each)]
    if not without:
        return ()
    more = f" and {len(without) - _MOST_NAMED} more" if len(without) > _MOST_NAMED else ""
    most = in_words(RepositoryBounds().kept_bytes)
    named = ", ".join(without[:_MOST_NAMED])
    return (f"The run changes files that are binary or larger than {most}, whose lines are not shown: {named}{more}.",)
