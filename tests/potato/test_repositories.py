"""Repositories are read out of bundles and archives as git itself reads them, and hostile files are refused."""

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potato.repositories.model import (
    RepositoryBounds,
    TreeEntry,
    UnreadableRepository,
    repository_name,
    tree_content,
    tree_entries,
)
from potato.repositories.packs import objects_in
from potato.repositories.reading import read_repository
from potato.runs.changes.base_text import Unfit, wants_base, with_base
from potato.runs.changes.patch import read_patch
from potato.runs.changes.texts import diff_texts

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def git(folder: Path, *arguments: str, data: bytes | None = None) -> bytes:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, env=environment, input=data, capture_output=True, check=True
    )
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Thirty commits to files that grow, so that git packs differences; a link, a binary file and strange names."""
    folder = tmp_path / "repository"
    (folder / "src" / "deep").mkdir(parents=True)
    git(folder, "init", "--quiet")
    for number in range(30):
        lines = [f"line {at} of {number if at % 7 == number % 7 else 0}\n" for at in range(400)]
        (folder / "src" / "deep" / "grown.py").write_text("".join(lines))
        (folder / "src" / f"näme {number % 3}.txt").write_text(f"{number}\r\nno end")
        if number == 3:
            (folder / "link").symlink_to("/etc/passwd")
            (folder / "picture.bin").write_bytes(bytes(range(256)) * 40)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", f"Commit {number}\n\nIts text.")
    git(folder, "repack", "-adq")
    return folder


def refusal(data: bytes, commit: str = "", bounds: RepositoryBounds | None = None) -> str:
    with pytest.raises(UnreadableRepository) as refused:
        read_repository(data, commit, bounds)
    assert len(refused.value.sentence) > 30
    return refused.value.code


@needs_git
def test_a_bundle_is_read_as_git_reads_it(repository: Path) -> None:
    git(repository, "bundle", "create", "--quiet", "all.bundle", "main")
    read = read_repository((repository / "all.bundle").read_bytes())

    wanted = git(repository, "rev-list", "--objects", "--no-object-names", "main").decode().split()
    kinds = dict(
        line.split()
        for line in git(
            repository, "cat-file", "--batch-check=%(objectname) %(objecttype)", data="\n".join(wanted).encode()
        )
        .decode()
        .splitlines()
    )
    assert set(read.commits) == {key for key, kind in kinds.items() if kind == "commit"}
    assert read.trees == {key for key, kind in kinds.items() if kind == "tree"}
    blobs = {key for key, kind in kinds.items() if kind == "blob"}
    assert read.left_out == 1, "the binary file"
    assert len(read.contents.keys() - read.trees) == len(blobs) - 1
    for key, content in read.contents.items():
        assert content == git(repository, "cat-file", kinds[key], key)
    head = read.commits[read.heads["refs/heads/main"]]
    assert (head.message, head.author) == ("Commit 29\n\nIts text.", "Ada")
    assert head.parents == (git(repository, "rev-parse", "main~").decode().strip(),)
    assert head.tree == git(repository, "rev-parse", "main^{tree}").decode().strip()


@needs_git
@pytest.mark.parametrize("form", ["tar", "tar.gz", "zip"])
def test_an_archive_has_the_tree_that_git_has(repository: Path, form: str) -> None:
    commit = git(repository, "rev-parse", "main").decode().strip()
    wanted = git(repository, "rev-parse", "main^{tree}").decode().strip()
    for prefix in ((), ("--prefix=hello-1234/",)):
        data = git(repository, "archive", f"--format={form}", *prefix, "main")
        read = read_repository(data, name="octo/hello")
        assert {key: facts.tree for key, facts in read.commits.items()} == {commit: wanted}
    assert refusal(data, "a" * 40) == "other_commit"
    # The link is its own target, as git keeps it: nothing was followed.
    (link,) = (entry for entry in tree_entries(read.contents[wanted]) if entry.name == "link")
    assert (link.mode, read.contents[link.id]) == ("120000", b"/etc/passwd")


@needs_git
def test_broken_and_hostile_bundles_are_refused(repository: Path) -> None:
    git(repository, "bundle", "create", "--quiet", "all.bundle", "main")
    git(repository, "bundle", "create", "--quiet", "range.bundle", "main~3..main")
    whole = (repository / "all.bundle").read_bytes()
    assert refusal((repository / "range.bundle").read_bytes()) == "has_prerequisites"
    assert refusal(whole[:-100]) == "broken_pack"
    assert (
        refusal(whole.replace(b"v2 git", b"v3 git", 1).replace(b"\n", b"\n@filter=blob:none\n", 1))
        == "unknown_capability"
    )
    assert refusal(whole, bounds=RepositoryBounds(objects=10)) == "too_many_objects"
    assert refusal(whole, bounds=RepositoryBounds(unpacked_bytes=20_000)) == "unpacks_too_large"
    assert refusal(whole, bounds=RepositoryBounds(object_bytes=500)) == "object_too_large"
    assert refusal(whole, bounds=RepositoryBounds(file_bytes=10)) == "file_too_large"
    assert refusal(b"GIF89a") == "unknown_file"
    head, pack = whole.split(b"\n\n", 1)
    for at in range(12, len(pack) - 20, 97):
        altered = bytearray(pack[:-20])
        altered[at] ^= 0x55
        data = head + b"\n\n" + bytes(altered) + hashlib.sha1(altered).digest()  # noqa: S324  (git's own)
        with suppress(UnreadableRepository):
            read_repository(data)


def pack_of(*objects: tuple[int, int, bytes, bytes]) -> bytes:
    """A pack of objects, each with its kind, the size that it says, what names its base, and its content."""
    body = b"PACK" + (2).to_bytes(4, "big") + len(objects).to_bytes(4, "big")
    for kind, size, base, content in objects:
        head = [kind << 4 | size & 15]
        size >>= 4
        while size:
            head[-1] |= 128
            head.append(size & 127)
            size >>= 7
        body += bytes(head) + base + zlib.compress(content)
    return body + hashlib.sha1(body).digest()  # noqa: S324  (git's own)


def test_bombs_in_packs_end_at_their_bounds() -> None:
    bounds = RepositoryBounds(object_bytes=10_000, unpacked_bytes=50_000)

    def code(pack: bytes) -> str:
        with pytest.raises(UnreadableRepository) as refused:
            list(objects_in(pack, bounds))
        return refused.value.code

    assert code(pack_of((3, 10, b"", b"\0" * 10_000_000))) == "broken_pack", "it says 10 bytes, and has ten millions"
    assert code(pack_of((3, 10_000_000, b"", b"\0" * 10_000_000))) == "object_too_large"
    assert code(pack_of(*[(3, 9_000, b"", b"%5d" % at + b"\0" * 8_995) for at in range(6)])) == "unpacks_too_large"
    # A difference that says that it makes 100 bytes, and copies its base a thousand times.
    base = b"x" * 9_000
    identity = bytes.fromhex(hashlib.sha1(b"blob 9000\0" + base).hexdigest())  # noqa: S324  (git's own)
    copies = (bytes([0b10110000]) + (9_000).to_bytes(2, "little")) * 1_000
    delta = bytes([9_000 & 127 | 128, 9_000 >> 7, 100]) + copies
    assert code(pack_of((3, 9_000, b"", base), (7, len(delta), identity, delta))) == "broken_pack"


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400))
def test_whatever_stands_in_a_pack_is_refused_or_read(body: bytes) -> None:
    start = b"PACK" + (2).to_bytes(4, "big") + (2).to_bytes(4, "big") + body
    pack = start + hashlib.sha1(start).digest()  # noqa: S324  (git's own)
    with suppress(UnreadableRepository):
        assert len(list(objects_in(pack, RepositoryBounds()))) <= 2


def tar_of(*members: tuple[str, bytes, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as package:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type, member.size = kind, len(content) if kind == tarfile.REGTYPE else 0
            member.linkname = "/etc/passwd"
            package.addfile(member, io.BytesIO(content) if kind == tarfile.REGTYPE else None)
    return gzip.compress(out.getvalue())


def test_archives_that_lead_elsewhere_are_refused() -> None:
    commit = "c" * 40
    for name in (
        "../up.py",
        "a/../../up.py",
        "/etc/cron.d/x",
        ".git/hooks/post-checkout",
        "a//b",
        "/".join("abc" * 40),
    ):
        assert refusal(tar_of((name, tarfile.REGTYPE, b"x")), commit) == "unsafe_path"
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as package:
            package.writestr(name, b"x")
        assert refusal(out.getvalue(), commit) == "unsafe_path"
    for kind in (tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
        assert refusal(tar_of(("a", kind, b"")), commit) == "unsafe_path"
    assert refusal(tar_of(("a", tarfile.REGTYPE, b"x"), ("a/b", tarfile.REGTYPE, b"x")), commit) == "unsafe_path"
    assert refusal(tar_of(("a", tarfile.REGTYPE, b"x"))) == "no_commit"
    bomb = gzip.compress(b"\0" * 30_000_000)
    assert refusal(bomb, commit, bounds=RepositoryBounds(unpacked_bytes=10**6, objects=10)) in (
        "no_files",
        "unpacks_too_large",
    )
    large = tar_of(("a", tarfile.REGTYPE, b"\0" * 30_000_000))
    assert refusal(large, commit, bounds=RepositoryBounds(object_bytes=10**6)) == "object_too_large"
    assert refusal(b"PK\x03\x04" + b"\0" * 100, commit) == "broken_archive"


def test_trees_are_ordered_as_git_orders_them() -> None:
    entries = [
        TreeEntry("40000", "a", "1" * 40),
        TreeEntry("100644", "a.b", "2" * 40),
        TreeEntry("100644", "a0", "3" * 40),
    ]
    assert [entry.name for entry in tree_entries(tree_content(entries))] == ["a.b", "a", "a0"]


@pytest.mark.parametrize(
    "text",
    [
        "Octo/Hello",
        "https://github.com/octo/hello.git",
        "git@github.com:octo/Hello.git",
        "ssh://git@host/x/octo/hello/",
    ],
)
def test_a_repository_has_one_name(text: str) -> None:
    assert repository_name(text) == "octo/hello"


_LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "x\r\n", "é\n"]), max_size=25)


@given(_LINES, _LINES, st.sampled_from(["", "end"]), st.integers(0, 3))
def test_the_whole_file_is_what_was_changed(old: list[str], new: list[str], end: str, context: int) -> None:
    """A patch with its base gives both whole texts, and with any other base nothing but a sentence."""
    before, after = "".join(old) + end, "".join(new)
    hunks = diff_texts(before, after, context)
    if not hunks:
        return
    body = "".join(
        f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@\n"
        + "".join(
            {"context": " ", "add": "+", "del": "-"}[line.kind]
            + line.whole
            + ("" if line.ends != "none" else "\n\\ No newline at end of file\n")
            for line in hunk.lines
        )
        for hunk in hunks
    )
    (change,) = read_patch(f"diff --git a/f b/f\n--- a/f\n+++ b/f\n{body}".encode()).files
    assert wants_base(change)
    whole = with_base(change, before)
    assert not isinstance(whole, Unfit)
    assert (whole.old_text, whole.new_text, whole.hunks) == (before, after, change.hunks)
    touched = next((line for hunk in hunks for line in hunk.lines if line.kind != "add"), None)
    if touched and touched.old_no:
        other = before.split("\n")
        other[touched.old_no - 1] += " altered"
        assert isinstance(with_base(change, "\n".join(other)), Unfit)
