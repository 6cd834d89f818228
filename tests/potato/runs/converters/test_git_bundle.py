"""Git bundles: a branch is a run, its commits are the steps, and the change is the one that git itself tells."""

import hashlib
import os
import random
import shutil
import subprocess
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

import pytest

from potato.repositories.comparing import Work
from potato.repositories.model import TreeEntry, object_id, tree_content
from potato.runs.changes.derive import derive
from potato.runs.changes.model import FileChange
from potato.runs.changes.patch import read_patch
from potato.runs.converters import git_bundle
from potato.runs.converters.git_bundle import GitBundle
from potato.runs.model import AgentRun, Bounds, FileRead, ReadingOptions, Unreadable
from potato.runs.run_files import InMemoryRunFile
from tests.potato.runs.damaged_files import damaged, read_without_error
from tests.potato.runs.reading import errors, read, runs, the_one

Git: TypeAlias = Callable[..., str]

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """git in an empty repository whose branch is main."""
    environment = {
        **os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_DATE": "2026-03-01T10:00:00Z", "GIT_COMMITTER_DATE": "2026-03-01T10:00:00Z",
    }  # fmt: skip
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main")

    def run(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=tmp_path, env=environment, check=True, capture_output=True
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip("\n")

    run("init", "--quiet")
    return run


def commit(git: Git, folder: Path, message: str, **files: str | None) -> str:
    """Write these files, commit everything, and give the commit's id. `__` in a name is a slash, `_` a dot."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_bytes(text.encode())
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "--message", message)
    return git("rev-parse", "HEAD")


def bundle(git: Git, folder: Path, *references: str) -> bytes:
    git("bundle", "create", "--quiet", "run.bundle", *references)
    data = (folder / "run.bundle").read_bytes()
    (folder / "run.bundle").unlink()
    return data


def the_error(data: bytes, options: ReadingOptions | None = None) -> tuple[str, str]:
    """Code and sentence of the one error that is all that a bundle gives."""
    _, refusal = read(data, "run.bundle", options=options)
    assert isinstance(refusal, Unreadable), refusal
    return refusal.code, refusal.sentence


LINES = "".join(f"line {number}\n" for number in range(60))


@pytest.fixture
def branched(git: Git, tmp_path: Path) -> str:
    """main with a commit, and agent/fix with three more: one file changed twice, one added, one gone, one renamed, a
    binary one, a link, a mode. Gives the commit of main."""
    base = commit(
        git, tmp_path, "Start", cart_py=LINES, gone_py="x\n", src__old_py=LINES, logo_png="\0png", n_txt="ä\r\n"
    )
    git("checkout", "--quiet", "-b", "agent/fix")
    commit(git, tmp_path, "Round totals\n\nTwo digits.", cart_py=LINES.replace("line 7\n", "seven\n"), tax_py="rate")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "cart.py").chmod(0o755)
    commit(git, tmp_path, "Move", gone_py=None, logo_png="\0gnp", n_txt="ö\r\n")
    git("mv", "src/old.py", "src/new name.py")
    (tmp_path / "src/new name.py").write_text(LINES.replace("line 50\n", "fifty\n"))
    commit(git, tmp_path, "Again", cart_py=LINES.replace("line 7\n", "7\n").replace("line 40\n", ""))
    return base


def as_read(patch: bytes) -> list[tuple[str, str, str, str | None, str | None, list[str]]]:
    return sorted(
        (
            file.path, file.old_path, file.operation,
            *((None, None) if file.old_mode == file.new_mode else (file.old_mode, file.new_mode)),
            [f"{hunk.old_start} {hunk.new_start} {line.kind} {line.text} {line.ends}" for hunk in file.hunks
             for line in hunk.lines],
        )
        for file in read_patch(patch).files
    )  # fmt: skip


def files_of(run: AgentRun) -> dict[str, FileChange]:
    return {file.path: file for file in derive(run).files}


@needs_git
def test_a_branch_is_a_run_its_commits_are_the_steps_and_the_change_is_that_of_git(
    git: Git, tmp_path: Path, branched: str
) -> None:
    run = the_one(bundle(git, tmp_path, "main", "agent/fix"), "run.bundle").run
    assert [(step.message, step.at) for step in run.steps] == [
        ("Round totals\n\nTwo digits.", "2026-03-01T10:00:00+00:00"),
        ("Move", "2026-03-01T10:00:00+00:00"),
        ("Again", "2026-03-01T10:00:00+00:00"),
    ]
    assert (run.external_id, run.base_commit, run.tags) == (git("rev-parse", "agent/fix"), branched, ("agent/fix",))
    assert (run.task, run.repo, run.agent_model) == ("Round totals\nMove\nAgain", "", "")
    told = git("diff", "--full-index", "--patience", "main...agent/fix").encode("utf-8", "surrogateescape") + b"\n"
    assert as_read(run.patch or b"") == as_read(told)
    assert run.gaps == (
        "The run changes files that are binary or larger than 1 MiB, whose lines are not shown: logo.png.",
    )
    (tmp_path / "run.patch").write_bytes(run.patch or b"")
    git("checkout", "--quiet", "--force", "main")
    git("apply", "--exclude=logo.png", "run.patch")
    git("add", "--all", "--", ":!run.patch")
    assert git("diff", "--cached", "--name-only", "agent/fix") == "logo.png"


@needs_git
def test_every_line_knows_the_commit_that_wrote_it_and_changed_files_are_whole(
    git: Git, tmp_path: Path, branched: str
) -> None:
    files = files_of(the_one(bundle(git, tmp_path, "--all"), "run.bundle").run)
    cart = files["cart.py"]
    assert cart.old_text == LINES
    assert cart.new_text == LINES.replace("line 7\n", "7\n").replace("line 40\n", "")
    assert {(link.side, link.first, link.last, link.steps) for link in cart.links} == {
        ("new", 8, 8, (2, 0)), ("old", 8, 8, (0,)), ("old", 41, 41, (2,)),
    }  # fmt: skip
    assert [badge for file in files.values() for badge in file.badges if file.path != "logo.png"] == []
    moved = files["src/new name.py"]
    assert (moved.operation, moved.old_path, moved.old_text, moved.steps) == ("renamed", "src/old.py", LINES, (2,))
    assert [(link.side, link.steps) for link in moved.links] == [("new", (2,)), ("old", (2,))]
    assert files["link"].is_symlink
    assert files["logo.png"].is_binary


def blamed(git: Git, path: str, commits: list[str]) -> dict[int, int]:
    """The step of each line as git says it, from 1; of lines from before the run none."""
    lines: dict[int, int] = {}
    for line in git("blame", "--line-porcelain", "--first-parent", "HEAD", "--", path).splitlines():
        words = line.split(" ")
        if len(words) in (3, 4) and len(words[0]) == 40 and words[0] in commits:
            lines[int(words[2])] = commits.index(words[0])
    return lines


@needs_git
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_links_are_those_of_git_blame(git: Git, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  (not for secrets)
    lines = [f"line {number}\n" for number in range(80)]
    commit(git, tmp_path, "Start", a_py="".join(lines))
    git("checkout", "--quiet", "-b", "agent")
    commits = []
    for number in range(12):
        for at in range(chance.randrange(1, 6)):
            place = chance.randrange(len(lines))
            # Lines of their own: of equal ones nobody could say which is which.
            lines[place : place + chance.randrange(0, 3)] = [
                f"{number} {at} {each}\n" for each in range(chance.randrange(3))
            ]
        commits.append(commit(git, tmp_path, f"Edit {number}", a_py="".join(lines)))
    change = files_of(the_one(bundle(git, tmp_path, "--all")).run)["a.py"]
    linked = {
        number: link.steps[0]
        for link in change.links
        if link.side == "new"
        for number in range(link.first, link.last + 1)
    }
    assert change.new_text == "".join(lines)
    assert linked == blamed(git, "a.py", commits)
    assert len(linked) > 10


@needs_git
def test_each_branch_is_a_run_and_reading_can_go_on_behind_one(git: Git, tmp_path: Path) -> None:
    commit(git, tmp_path, "Start", a_py=LINES)
    for name in ("one", "two", "same"):
        git("checkout", "--quiet", "-B", name, "two" if name == "same" else "main")
        if name != "same":
            commit(git, tmp_path, f"By {name}", **{f"{name}_py": "x\n"})
    data = bundle(git, tmp_path, "--all")
    found = runs(read(data))
    assert [(run.tags, run.task) for run in found] == [(("one",), "By one"), (("same",), "By two")]
    source = InMemoryRunFile("a.bundle", data)
    first, *_ = GitBundle().read(source, ReadingOptions())
    assert first.after is not None
    (second,) = GitBundle().read(source.at(first.after), ReadingOptions())
    assert getattr(second, "run", None) == found[1]


@needs_git
def test_the_run_may_be_main_itself_where_a_remote_or_base_says_where_it_began(git: Git, tmp_path: Path) -> None:
    base = commit(git, tmp_path, "Start", a_py="a\n")
    code, sentence = the_error(bundle(git, tmp_path, "--all"))
    assert (code, "has no branch with commits that main does not have" in sentence) == ("no_commits", True)
    commit(git, tmp_path, "Mine", a_py="b\n")
    for make, remove in (
        (("tag", "-a", "-m", "Where it began", "base", base), ("tag", "-d", "base")),
        (("branch", "base", base), ("branch", "-D", "base")),
        (("update-ref", "refs/remotes/origin/main", base), ("update-ref", "-d", "refs/remotes/origin/main")),
    ):
        git(*make)
        run = the_one(bundle(git, tmp_path, "--all"), "run.bundle").run
        assert (run.base_commit, run.tags, run.task) == (base, ("main",), "Mine")
        git(*remove)


@needs_git
def test_merges_of_the_trunk_are_nobodys_and_merged_branches_stand_in_their_merge(git: Git, tmp_path: Path) -> None:
    commit(git, tmp_path, "Start", a_py=LINES, b_py=LINES)
    git("checkout", "--quiet", "-b", "agent")
    commit(git, tmp_path, "Mine", a_py=LINES.replace("line 3\n", "three\n"))
    git("checkout", "--quiet", "-b", "side")
    commit(git, tmp_path, "Beside", c_py="c\n")
    git("checkout", "--quiet", "agent")
    git("merge", "--quiet", "--no-ff", "-m", "Merge side", "side")
    git("checkout", "--quiet", "main")
    newest = commit(git, tmp_path, "Others", b_py=LINES.replace("line 9\n", "nine\n"))
    git("checkout", "--quiet", "agent")
    git("merge", "--quiet", "-m", "Merge main", "main")
    commit(git, tmp_path, "More", b_py=LINES.replace("line 9\n", "nine\n").replace("line 50\n", "fifty\n"))
    git("branch", "-D", "side")
    converted = the_one(bundle(git, tmp_path, "--all"))
    run = converted.run
    assert [step.message for step in run.steps] == ["Mine", "Merge side", "Merge main", "More"]
    assert converted.report.dropped == {"commit of a branch that was merged": 1}
    assert run.base_commit == newest
    files = files_of(run)
    assert {path: (file.added, file.removed) for path, file in files.items()} == {
        "a.py": (1, 1), "b.py": (1, 1), "c.py": (1, 0),
    }  # fmt: skip
    assert [link.steps for link in files["c.py"].links] == [(1,)]
    assert [link.steps for link in files["b.py"].links] == []


@needs_git
def test_what_says_nothing_of_where_a_run_began_is_refused_with_what_to_do(git: Git, tmp_path: Path) -> None:
    commit(git, tmp_path, "Start", a_py="a\n")
    git("checkout", "--quiet", "-b", "agent")
    commit(git, tmp_path, "Mine", a_py="b\n")
    code, sentence = the_error(bundle(git, tmp_path, "agent"))
    assert (code, "git branch base COMMIT" in sentence) == ("no_base", True)
    code, sentence = the_error(bundle(git, tmp_path, "main..agent"))
    assert (code, "git format-patch --stdout main..BRANCH" in sentence) == ("has_prerequisites", True)


@needs_git
def test_nothing_of_a_bundle_is_run_or_written_and_no_git_is_needed(
    git: Git, tmp_path: Path, branched: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bundle(git, tmp_path, "--all")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "empty"))

    def refused(*arguments: object, **named: object) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr(subprocess, "Popen", refused)
    assert the_one(data).run.steps
    assert list((tmp_path / "empty").iterdir()) == []


def packed(objects: Iterable[tuple[int, bytes]]) -> bytes:
    """A pack of whole objects: 1 is a commit, 2 a tree, 3 a blob."""
    objects = list(objects)
    pack = bytearray(b"PACK" + (2).to_bytes(4, "big") + len(objects).to_bytes(4, "big"))
    for kind, content in objects:
        size, byte = len(content) >> 4, kind << 4 | len(content) & 15
        while size:
            pack.append(byte | 128)
            byte, size = size & 127, size >> 7
        pack.append(byte)
        pack += zlib.compress(content)
    return bytes(pack) + hashlib.sha1(bytes(pack), usedforsecurity=False).digest()


def made(trees: list[bytes], blobs: Iterable[bytes]) -> bytes:
    """A bundle whose main is the first tree and whose branch has a commit for each other one."""
    commits: list[tuple[str, bytes]] = []
    for tree in trees:
        parent = f"parent {commits[-1][0]}\n" if commits else ""
        content = (
            f"tree {object_id('tree', tree)}\n{parent}author A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nx\n".encode()
        )
        commits.append((object_id("commit", content), content))
    head = f"# v2 git bundle\n{commits[0][0]} refs/heads/main\n{commits[-1][0]} refs/heads/agent\n\n".encode()
    return head + packed(
        [*((1, content) for _, content in commits), *((2, tree) for tree in set(trees)), *((3, blob) for blob in blobs)]
    )


def test_a_small_bundle_with_much_to_compare_is_refused_before_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of commits between two folders of 2,000 names: a few kB that would be compared for long."""
    folders = [
        tree_content([TreeEntry("100644", f"{number}", f"{number:040x}") for number in range(first, 2_000, 2)])
        for first in (0, 1)
    ]
    data = made([folders[number % 2] for number in range(300)], [])
    monkeypatch.setattr(git_bundle, "Work", lambda: Work(left=1_000_000))
    assert the_error(data)[0] == "too_much_to_compare"


def test_more_text_than_a_run_may_have_and_larger_files_are_refused() -> None:
    blobs = [b"".join(b"%d %d\n" % (number, line) for line in range(2_000)) for number in range(8)]
    trees = [tree_content([TreeEntry("100644", "a.txt", object_id("blob", blob))]) for blob in blobs]
    data = made(trees, blobs)
    assert len(the_one(data).run.steps) == 7
    small = ReadingOptions(bounds=Bounds(run_bytes=50_000))
    assert errors(read(data, options=small)) == [(1, "too_large")]
    tiny = ReadingOptions(bounds=Bounds(document_bytes=1_000))
    assert the_error(data, tiny)[0] == "too_large"


@pytest.mark.parametrize("name", ["..", ".git", "a/b", ""])
def test_names_that_lead_out_of_their_folder_are_refused(name: str) -> None:
    tree = tree_content([TreeEntry("100644", name, object_id("blob", b"x"))])
    assert the_error(made([tree_content([]), tree], [b"x"]))[0] == "unsafe_path"


def test_a_branch_without_the_commit_before_it_is_refused() -> None:
    content = b"tree %s\nparent %s\n\nx" % (object_id("tree", b"").encode(), b"7" * 40)
    orphan = object_id("commit", content).encode()
    other = b"tree %s\n\ny" % object_id("tree", b"").encode()
    trunk = object_id("commit", other).encode()
    data = b"# v2 git bundle\n%s refs/heads/main\n%s refs/heads/agent\n\n" % (trunk, orphan) + packed(
        [(1, content), (1, other), (2, b"")]
    )
    assert the_error(data)[0] == "missing_object"


@needs_git
def test_damaged_bundles_give_runs_or_errors_by_name(git: Git, tmp_path: Path, branched: str) -> None:
    data = bundle(git, tmp_path, "--all")
    head, _, pack = data.partition(b"\n\n")
    found = 0
    for copy in damaged(data, 3, 200):
        found += len(read_without_error(copy, "a.bundle", "git_bundle"))
    # A pack whose checksum is right again gets further.
    for copy in damaged(pack[:-20], 4, 300):
        whole = copy + hashlib.sha1(copy, usedforsecurity=False).digest()
        found += len(read_without_error(head + b"\n\n" + whole, "a.bundle", "git_bundle"))
    assert found < 500


@needs_git
def test_texts_that_are_kept_once_stand_before_the_commits(git: Git, tmp_path: Path, branched: str) -> None:
    run = the_one(bundle(git, tmp_path, "--all")).run
    reads = [event for event in run.events if isinstance(event, FileRead)]
    assert sorted(event.path for event in reads) == ["cart.py", "gone.py", "n.txt", "src/old.py"]
    assert run.event_steps[: len(reads)] == (None,) * len(reads)
