"""The files of a trace as they were before the run, out of a repository that is attached to the trace's project.

A trace names its repository and its commit. Nothing is guessed: where the commit is not attached, or the change cannot
be applied to the file that is, the page shows what the trace has, and says why.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from shlex import quote

from potato.repositories.model import DEEPEST, TreeEntry, repository_name, tree_entries
from potato.runs.changes.base_text import Unfit, wants_base, with_base
from potato.runs.changes.model import FileChange
from potato.runs.secrets import find, placeholder
from traces.models import Repository, RepositoryCommit, RepositoryObject, Trace, TraceFile
from traces.rendering.diff import DiffOptions

MISSING = "missing"
PATCH_NAME = "run.patch"
_SHORTEST_COMMIT = 7
BASE_IN_KEY = "-base-"
"""Between the key of the options and the id of the file that stands around the change."""


@dataclass(frozen=True)
class BaseCommit:
    """The commit that a trace began from, as it is attached."""

    repository: Repository
    commit: str
    tree: str


@dataclass(frozen=True)
class Bases:
    """Which file of an attached repository belongs around each change of a trace: ids by the hash of the change's
    body, MISSING where the commit has no such file."""

    ids: Mapping[str, str] = field(default_factory=dict)
    commit: BaseCommit | None = None

    def key(self, options: DiffOptions, sha256: str) -> str:
        """Names the fragments of this change with these options."""
        base = self.ids.get(sha256)
        return f"{options.key}{BASE_IN_KEY}{base}" if base else options.key

    def completed(self, sha256: str, change: FileChange) -> tuple[FileChange, str]:
        """The change with the whole file around it, and "", or the change as it is and why."""
        base = self.ids.get(sha256)
        if not base or not wants_base(change):
            return change, ""
        if base == MISSING:
            return change, "The attached repository has no file of this path at the commit that the run began from."
        content = contents([base]).get(base)
        if content is None:
            return change, "The attached repository has this file, but not to be read: it is binary, or over 1 MB."
        own = "\n".join(line.text for hunk in (*change.excerpts, *change.hunks) for line in hunk.lines)
        whole = with_base(change, without_keys(content.decode("utf-8", "surrogateescape"), but=own))
        return (change, whole.sentence) if isinstance(whole, Unfit) else (whole, "")


NO_BASES = Bases()


def without_keys(text: str, but: str = "") -> str:
    """A file's text with a placeholder as long in the place of each key: nobody looks through a repository before it
    is attached, as a trace is looked through. `but` is what the trace itself says."""
    pieces: list[str] = []
    numbers: dict[str, int] = {}
    behind = 0
    for found in find(text, {"keys"}):
        if found.value not in but:
            number = numbers.setdefault(found.value, len(numbers) + 1)
            pieces += [text[behind : found.start], placeholder(found.kind, number, found.end - found.start)]
            behind = found.end
    return "".join([*pieces, text[behind:]])


def split_key(key: str) -> tuple[str, str]:
    """The options' part of a fragment's key, and the id of the file around the change, "" without."""
    options, _, base = key.partition(BASE_IN_KEY)
    return options, base


def base_commit(trace: Trace) -> BaseCommit | None:
    """The commit that the trace names, where it is attached to the trace's project; of a short id the only one."""
    name = repository_name(trace.repo)
    if not name or len(trace.base_commit) < _SHORTEST_COMMIT:
        return None
    commits = (
        RepositoryCommit.objects.filter(
            repository__project=trace.project_id, repository__name=name, commit__startswith=trace.base_commit.lower()
        )
        .select_related("repository")
        # The ids of all that a file holds may be a megabyte, and every page and submission of such a trace comes here.
        .defer("repository__objects_held")
        .order_by("repository__added_at", "pk")
    )
    found = {row.commit: row for row in commits[:50]}
    if len(found) != 1:
        return None
    row = next(iter(found.values()))
    return BaseCommit(row.repository, row.commit, row.tree)


def missing_commit(trace: Trace, base: BaseCommit | None) -> str:
    """That the repository is attached, and the trace's commit is not in it; "" where it is, or nothing is attached."""
    name = repository_name(trace.repo)
    if base or not name or not trace.base_commit:
        return ""
    if not Repository.objects.filter(project=trace.project_id, name=name).exists():
        return ""
    return (
        f"The attached repository {name} does not have the commit {trace.base_commit[:12]} from which the run began, "
        "or more than one that begins so. Only the lines of the trace are shown."
    )


def checkout_commands(trace: Trace, base: BaseCommit) -> str:
    """What somebody types to have the files as the run left them, with the patch that they downloaded.

    Names come from files and runs: each is quoted, and begins with ./ where it could be an option or an address.
    """
    repository = base.repository
    folder = quote(f"./{repository.name.rpartition('/')[2].strip() or 'repository'}")
    file = quote(f"./{repository.file_name}")
    if repository.clone_url or repository.kind == "bundle":
        source = quote(repository.clone_url) if repository.clone_url else file
        lines = [f"git clone {source} {folder}", f"cd {folder}", f"git checkout {base.commit}"]
        return "\n".join([*lines, f"git apply {quote(f'../{PATCH_NAME}')}"])
    is_zip = repository.file_name.lower().endswith(".zip")
    unpack = f"unzip -q {file} -d {folder}" if is_zip else f"tar -xf {file} -C {folder}"
    # GitHub puts a folder around all files. Without a repository of their own git apply would look for one around them.
    own = [f"[ -e {quote(f'./{name}')} ] || cd ./*/" for name in _names_on_top(base)[:1]]
    lines = [f'patch="$PWD/{PATCH_NAME}"', f"mkdir {folder}", unpack, f"cd {folder}", *own, "git init -q"]
    return "\n".join([*lines, 'git apply "$patch"'])


def _names_on_top(base: BaseCommit) -> list[str]:
    """Of the topmost folder, those that can be typed."""
    entries = folders_of([base.tree]).get(base.tree, {})
    return sorted(name for name, entry in entries.items() if entry.kind in ("file", "folder") and name.isprintable())


def bases_of(trace: Trace, files: Iterable[TraceFile] | None = None) -> Bases:
    """For the trace's files, or some of them. No query where the trace names no repository and commit."""
    if not trace.repo or not trace.base_commit or (base := base_commit(trace)) is None:
        return NO_BASES
    chosen = trace.files.only("path", "old_path", "operation", "is_binary", "sha256") if files is None else files
    paths = {
        file.sha256: file.old_path or file.path for file in chosen if file.operation != "added" and not file.is_binary
    }
    return bases_at(base, paths)


def bases_at(base: BaseCommit, paths: Mapping[str, str]) -> Bases:
    """For changes of the files at these paths, by the hashes of the changes' bodies."""
    found = entries_at(base.tree, set(paths.values()))
    return Bases(
        {
            sha256: found[path].id if path in found and found[path].is_file else MISSING
            for sha256, path in paths.items()
        },
        base,
    )


def entries_at(tree: str, paths: Iterable[str]) -> dict[str, TreeEntry]:
    """What stands at these paths below a tree; those where nothing stands are left out. A query for each depth."""
    left = {path: (tree, path.split("/")) for path in paths if len(path.split("/")) <= DEEPEST}
    found: dict[str, TreeEntry] = {}
    while left:
        folders = folders_of({identity for identity, _ in left.values()})
        following: dict[str, tuple[str, list[str]]] = {}
        for path, (identity, parts) in left.items():
            entry = folders.get(identity, {}).get(parts[0])
            if entry is None:
                continue
            if len(parts) == 1:
                found[path] = entry
            elif entry.is_folder:
                following[path] = (entry.id, parts[1:])
        left = following
    return found


def folders_of(ids: Iterable[str]) -> dict[str, dict[str, TreeEntry]]:
    """The entries of folders by their names, by the folders' ids."""
    return {
        identity: {entry.name: entry for entry in tree_entries(content)} for identity, content in contents(ids).items()
    }


def contents(ids: Iterable[str]) -> dict[str, bytes]:
    """What these files and folders hold, as far as it is kept."""
    rows = RepositoryObject.objects.filter(git_id__in=list(ids))
    return {row.git_id: row.content for row in rows}
