"""A repository that is attached to a project shows its files around the changes, and nothing that does not fit them."""

import json
import os
import re
import subprocess
from html import unescape
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from potato.runs.changes.texts import diff_texts
from tenancy.actor import acting_in
from tests.pages import assert_harmless, text_of
from tests.tenants import Tenants
from tests.traces.attached import COMMIT, REPOSITORY, archive, attached
from tests.traces.stored import step, stored
from traces.attaching import attach_repository
from traces.evidence.base_files import base_commit, checkout_commands
from traces.evidence.judged_files import judged_file, read_evidence
from traces.models import Fragment, Repository, RepositoryCommit, RepositoryObject, Trace

PATH = "src/parser.py"
BASE = "".join(f"line {number}\n" for number in range(1, 201))
CHANGED = BASE.replace("line 100\n", "line one hundred\nand more\n")


def patch_of(path: str, old: str, new: str) -> bytes:
    (hunk,) = diff_texts(old, new, 3)
    signs = {"context": " ", "add": "+", "del": "-"}
    lines = "".join(signs[line.kind] + line.whole for line in hunk.lines)
    place = f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@"
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{place}\n{lines}".encode()


def patched(tenants: Tenants, commit: str = COMMIT, repo: str = "https://github.com/Octo/Parser.git") -> Trace:
    return stored(
        tenants.acme,
        tenants.acme_project,
        steps=(step("Act."),),
        patch=patch_of(PATH, BASE, CHANGED),
        repo=repo,
        base_commit=commit,
    )


@pytest.fixture
def alice(tenants: Tenants, client: Client) -> Client:
    client.force_login(tenants.alice)
    return client


def part(client: Client, page: str, name: str) -> str:
    (base,) = re.findall(r'data-base="([^"]+)"', page)
    return text_of(client.get(f"{base}{name}.html"))


def numbers(html: str, side: str) -> list[int]:
    return [int(each) for each in re.findall(rf'<tr[^>]*data-{side}="(\d+)"', html)]


def test_the_whole_file_stands_around_a_patch_and_is_loaded_when_it_is_asked_for(
    tenants: Tenants, alice: Client
) -> None:
    trace = patched(tenants)
    address = f"/o/acme/p/parser/traces/{trace.pk}/"
    before = text_of(alice.get(address))
    assert "The trace has only the lines of the patch" in before
    attached(tenants.acme, tenants.acme_project, {PATH: BASE, "README.md": "# Parser\n"})
    page = text_of(alice.get(address))
    assert_harmless(page, PATH)
    assert "only the lines of the patch" not in page
    # None of the context is in the page before somebody asks for it.
    assert numbers(page, "old") == [*range(95, 106)]
    assert re.findall(r'data-part="([^"]+)" aria-label="([^"]+)"', page) == [
        ("rows-0-93", "Show 94 hidden lines"),
        ("tail-0-93", "Show 20 hidden lines before the shown ones"),
        ("rows-107-201", "Show 95 hidden lines"),
        ("head-107-201", "Show 20 hidden lines after the shown ones"),
    ]
    above = part(alice, page, "tail-0-93")
    assert (numbers(above, "old"), numbers(above, "new")) == ([*range(75, 95)], [*range(75, 95)])
    assert above.index('data-part="rows-0-73"') < above.index("<tr data-old"), "the rest is above"
    below = part(alice, page, "head-107-201")
    assert (numbers(below, "old"), numbers(below, "new")) == ([*range(106, 126)], [*range(107, 127)])
    assert below.index('data-part="rows-127-201"') > below.rindex("<tr data-old"), "the rest is below"
    rest = part(alice, page, "rows-127-201")
    assert (numbers(rest, "old")[-1], numbers(rest, "new")[-1]) == (200, 201)
    (base,) = re.findall(r'data-base="([^"]+)"', page)
    for name in ("rows-1-93", "rows-0-92", "head-5-93", "rows-0-900", "tail-0", "head-0-93-1"):
        assert alice.get(f"{base}{name}.html").status_code == 404
    # Parts that are cut out of a fold are drawn when they are asked for, and not kept.
    with acting_in(tenants.acme):
        assert not Fragment.objects.filter(part__regex="^(head|tail)|rows-127").exists()


def test_lines_outside_the_patch_are_judged_as_the_others(tenants: Tenants, alice: Client) -> None:
    trace = patched(tenants)
    with acting_in(tenants.acme):
        assert not read_evidence(trace).files[PATH].has_range("new", 10, 12)
    attached(tenants.acme, tenants.acme_project, {PATH: BASE})
    with acting_in(tenants.acme):
        for file in (read_evidence(trace).files[PATH], judged_file(trace, PATH)):
            assert file is not None
            assert file.text("new", 10, 11) == "line 10\nline 11"
            assert (file.text("old", 200, 200), file.text("new", 201, 201)) == ("line 200", "line 200")
            assert file.text("new", 100, 102) == "line one hundred\nand more\nline 101"
            assert not file.has_range("old", 201, 201)
            assert not file.has_range("new", 202, 202)


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({PATH: BASE.replace("line 98\n", "other\n")}, "there line 98 is another"),
        ({PATH: "line 1\n"}, "there it has 1 lines"),
        ({"other.py": BASE}, "has no file of this path"),
        ({PATH: BASE + "\0"}, "binary, or over 1 MB"),
        ({PATH: BASE + "x" * 2**20}, "binary, or over 1 MB"),
    ],
)
def test_a_file_that_does_not_fit_is_not_shown_and_the_page_says_why(
    tenants: Tenants, alice: Client, files: dict[str, str], sentence: str
) -> None:
    trace = patched(tenants)
    attached(tenants.acme, tenants.acme_project, files)
    page = text_of(alice.get(f"/o/acme/p/parser/traces/{trace.pk}/"))
    assert sentence in page
    assert numbers(page, "old") == [*range(97, 104)]
    assert "Show 20 hidden" not in page
    with acting_in(tenants.acme):
        assert not read_evidence(trace).files[PATH].has_range("new", 10, 10)


def test_a_commit_that_is_not_attached_is_named_and_a_short_one_is_found(tenants: Tenants, alice: Client) -> None:
    attached(tenants.acme, tenants.acme_project, {PATH: BASE})
    other = patched(tenants, commit="d" * 40)
    page = text_of(alice.get(f"/o/acme/p/parser/traces/{other.pk}/"))
    assert "does not have the commit dddddddddddd" in page
    assert numbers(page, "old") == [*range(97, 104)]
    short = patched(tenants, commit=COMMIT[:9], repo="git@github.com:octo/parser")
    page = text_of(alice.get(f"/o/acme/p/parser/traces/{short.pk}/"))
    assert "rows-0-93" in page
    # Nobody can say which of two commits a short id means.
    attached(tenants.acme, tenants.acme_project, {PATH: BASE + "more\n"}, commit=COMMIT[:10] + "1" * 30)
    assert "rows-0-93" not in text_of(alice.get(f"/o/acme/p/parser/traces/{short.pk}/"))


def test_a_repository_is_attached_once_and_leaves_nothing_behind(tenants: Tenants, alice: Client) -> None:
    trace = patched(tenants)
    address = "/o/acme/p/parser/traces/repositories/"
    data = archive({PATH: BASE, "README.md": "# Parser\n"})

    def send(data: bytes, name: str = REPOSITORY) -> str:
        form = {"name": name, "file": SimpleUploadedFile("parser.tar.gz", data), "clone_url": "https://example.org/p"}
        return text_of(alice.post(address, form, follow=True), 200 if data[:2] == b"\x1f\x8b" and name else 400)

    assert "1 commit" in send(data)
    send(data)
    second = archive({PATH: BASE, "more.py": "more\n"}, "d" * 40)
    send(second)
    page = text_of(alice.get(address))
    assert page.count("octo/parser</b>") == 2
    assert "https://example.org/p" in page
    with acting_in(tenants.acme):
        # Two root folders, one src, one parser.py, README.md and more.py.
        assert RepositoryObject.objects.count() == 6
        first = Repository.objects.get(commits__commit=COMMIT)
    text_of(alice.get(f"/o/acme/p/parser/traces/{trace.pk}/"))
    with acting_in(tenants.acme):
        assert Fragment.objects.filter(view__contains="-base-").exists()
    assert alice.post(f"{address}{first.pk}/remove/").status_code == 302
    with acting_in(tenants.acme):
        assert not Fragment.objects.filter(view__contains="-base-").exists()
        assert RepositoryObject.objects.count() == 4
        assert [row.commit for row in RepositoryCommit.objects.all()] == ["d" * 40]
    assert "only the lines of the patch" in text_of(alice.get(f"/o/acme/p/parser/traces/{trace.pk}/"))
    assert "neither a git bundle" in send(b"GIF89a")
    assert "Say which repository" in send(data, "")


def test_repositories_are_attached_and_removed_by_programs(tenants: Tenants, alice: Client) -> None:
    address = "/o/acme/api/v1/projects/parser/repositories/"
    form = {"name": REPOSITORY, "file": SimpleUploadedFile("parser.tar.gz", archive({PATH: BASE}))}
    made = alice.post(address, form)
    assert made.status_code == 201, made.content
    row = made.json()
    assert (row["name"], row["kind"], row["commits"], row["left_out"]) == (REPOSITORY, "archive", 1, 0)
    assert [each["id"] for each in alice.get(address).json()["results"]] == [row["id"]]
    refused = alice.post(address, {"name": REPOSITORY, "file": SimpleUploadedFile("x", b"GIF89a")})
    assert (refused.status_code, refused.json()["code"]) == (400, "cannot_attach"), json.dumps(refused.json())
    assert alice.delete(f"/o/acme/api/v1/repositories/{row['id']}/").status_code == 204
    assert alice.get(address).json()["results"] == []


FILES = {
    PATH: BASE + 'print("<b>&")\n',
    "src/deep/nested.py": "def nested():\n    return 'Needle'\n",
    "README.md": "# Parser\n\nA needle in it.\n",
}


def test_files_are_read_and_searched_as_they_were_before_the_run(tenants: Tenants, alice: Client) -> None:
    trace = patched(tenants)
    address = f"/o/acme/p/parser/traces/{trace.pk}/base/"
    assert alice.get(address).status_code == 404
    attached(tenants.acme, tenants.acme_project, FILES)
    assert f'href="{address}"' in text_of(alice.get(f"/o/acme/p/parser/traces/{trace.pk}/"))
    top = text_of(alice.get(address))
    assert re.findall(r'href="(\?path=[^"]+)"', top) == ["?path=src", "?path=README.md"]
    assert 'git apply "$patch"' in unescape(top)
    file = text_of(alice.get(address, {"path": PATH}))
    assert_harmless(file, PATH)
    assert re.findall(r'<tr id="L(\d+)"', file) == [str(number) for number in range(1, 202)]
    assert "&lt;b&gt;&amp;" in file
    found = text_of(alice.get(address, {"q": "NEEDLE"}))
    assert re.findall(r'href="(\?path=[^"]+#[^"]+)"', found) == [
        "?path=README.md#L3",
        "?path=src%2Fdeep%2Fnested.py#L2",
    ]
    assert "?path=src%2Fdeep%2Fnested.py" in text_of(alice.get(address, {"q": "nested.py"}))
    for path in ("nothing.py", "../etc/passwd", "src/parser.py/more", "src//deep"):
        assert alice.get(address, {"path": path}).status_code == 404
    patch = alice.get(f"{address}run.patch")
    assert patch.content == patch_of(PATH, BASE, CHANGED)
    api = f"/o/acme/api/v1/projects/parser/traces/{trace.pk}/base/"
    assert alice.get(api).json()["entries"] == [
        {"path": "src", "kind": "folder"},
        {"path": "README.md", "kind": "file"},
    ]
    assert alice.get(api, {"path": "README.md"}).json()["text"] == FILES["README.md"]
    assert alice.get(api, {"q": "needle"}).json()["found"][1] == {
        "path": "src/deep/nested.py",
        "line": 2,
        "text": "return 'Needle'",
    }


HOSTILE = """x; touch pwned #$(touch pwned)`touch pwned`'\\\""""


@pytest.mark.parametrize("name", ["octo/hello", "octo/-hello world", f"octo/{HOSTILE}"])
@pytest.mark.parametrize("kind", ["bundle", "tar.gz", "zip", "zip of GitHub"])
def test_the_commands_that_check_out_locally_do_it_whatever_the_names_are(
    tenants: Tenants, alice: Client, tmp_path: Path, kind: str, name: str
) -> None:
    source = tmp_path / "source"
    (source / "src").mkdir(parents=True)
    (source / PATH).write_text(BASE)
    git = ("git", "-C", str(source), "-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "base")):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    made = {
        "bundle": ("bundle", "create", "-q", "../made", "--all"),
        "tar.gz": ("archive", "--format=tar.gz", "-o", "../made", commit),
        "zip": ("archive", "--format=zip", "-o", "../made", commit),
        "zip of GitHub": ("archive", "--format=zip", f"--prefix=hello-{commit}/", "-o", "../made", commit),
    }
    subprocess.run([*git, *made[kind]], check=True)
    here = tmp_path / "here"
    here.mkdir()
    file_name = f"--upload-pack=touch pwned;{HOSTILE}.{kind.split()[0]}".replace("/", "_")
    (tmp_path / "made").rename(here / file_name)
    trace = patched(tenants, commit, name)
    with acting_in(tenants.acme):
        content = ContentFile((here / file_name).read_bytes(), name=file_name)
        repository = attach_repository(project=tenants.acme_project, name=name, file=content)
        base = base_commit(trace)
        assert base is not None
        commands = checkout_commands(trace, base)
    page = text_of(alice.get(f"/o/acme/p/parser/traces/{trace.pk}/base/"))
    assert "Check out locally" in page
    patch = alice.get(f"/o/acme/p/parser/traces/{trace.pk}/base/run.patch")
    (here / "run.patch").write_bytes(patch.content)
    (here / repository.file_name).write_bytes((here / file_name).read_bytes())
    subprocess.run(["sh", "-e", "-c", commands], cwd=here, check=True, timeout=60)
    assert not list(here.rglob("pwned"))
    (changed,) = here.rglob("parser.py")
    assert changed.read_text() == CHANGED


def test_keys_in_an_attached_repository_are_shown_to_nobody(tenants: Tenants, alice: Client) -> None:
    token, other = "ghp_" + "Ab1" * 12, "glpat-" + "Cd2" * 8
    base = BASE.replace("line 101\n", f"T = '{token}'\n").replace("line 10\n", f"G = '{other}'\n")
    trace = stored(
        tenants.acme,
        tenants.acme_project,
        steps=(step("Act."),),
        patch=patch_of(PATH, base, base.replace("line 100\n", "line one hundred\n")),
        repo="octo/parser",
        base_commit=COMMIT,
    )
    attached(tenants.acme, tenants.acme_project, {PATH: base, "env": f"{token}\n"})
    address = f"/o/acme/p/parser/traces/{trace.pk}/"
    above = part(alice, text_of(alice.get(address)), "rows-0-93")
    # What the trace itself shows fits its file; what stands in the file alone has a placeholder of its length.
    assert other not in above
    assert "GITLAB-TOKEN-1-" in above
    pages = [text_of(alice.get(f"{address}base/", asked)) for asked in ({"path": PATH}, {"path": "env"}, {"q": "T = "})]
    api = f"/o/acme/api/v1/projects/parser/traces/{trace.pk}/base/"
    pages += [text_of(alice.get(api, asked)) for asked in ({"path": PATH}, {"path": "env"}, {"q": "T = "})]
    assert not [page for page in pages if token in page or other in page]
    assert len(alice.get(api, {"path": PATH}).json()["text"]) == len(base)
    assert alice.get(api, {"q": token[:12]}).json()["found"] == []


def test_a_file_whose_name_is_not_utf_8_is_listed_found_and_read(
    tenants: Tenants, alice: Client, tmp_path: Path
) -> None:
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.com")
    folder = os.path.join(os.fsencode(tmp_path), b"caf\xe9")
    os.mkdir(folder)
    Path(os.fsdecode(os.path.join(folder, b"na\xffme.txt"))).write_text("Needle\n")
    for words in (
        ("init", "-q"),
        ("add", "-A"),
        ("commit", "-qm", "base"),
        ("bundle", "create", "-q", "made", "--all"),
    ):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    trace = patched(tenants, commit)
    with acting_in(tenants.acme):
        content = ContentFile((tmp_path / "made").read_bytes(), name="made.bundle")
        attach_repository(project=tenants.acme_project, name=REPOSITORY, file=content)
    for address in (
        f"/o/acme/p/parser/traces/{trace.pk}/base/",
        f"/o/acme/api/v1/projects/parser/traces/{trace.pk}/base/",
    ):
        assert alice.get(address).status_code == 200
        assert alice.get(f"{address}?path=caf%E9").status_code == 200
        assert "Needle" in text_of(alice.get(f"{address}?path=caf%E9%2Fna%FFme.txt"))
        assert alice.get(f"{address}?q=needle").status_code == 200
    top = text_of(alice.get(f"/o/acme/p/parser/traces/{trace.pk}/base/"))
    assert 'href="?path=caf%E9"' in top
    found = text_of(alice.get(f"/o/acme/p/parser/traces/{trace.pk}/base/", {"q": "needle"}))
    assert 'href="?path=caf%E9%2Fna%FFme.txt#L1"' in found


def test_another_organisation_has_contents_of_its_own(tenants: Tenants) -> None:
    attached(tenants.acme, tenants.acme_project, {PATH: BASE})
    theirs = attached(tenants.birch, tenants.birch_project, {PATH: BASE})
    with acting_in(tenants.birch):
        assert RepositoryObject.objects.count() == 3
        assert [row.pk for row in Repository.objects.all()] == [theirs.pk]
