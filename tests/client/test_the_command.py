"""The command `potato` as a shell runs it: the life of a project in short, on a running site and without one."""

import io
import json
import re
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from zipfile import ZipFile

import pytest

from accounts.models.tokens import Pace as SitesPace
from potato.api.people import Pace, ProjectRole, Role, TokenScope
from potato.client import Client
from potato.commands.main import TOOLS, main
from potato.records.other_tools.reading import FOUND_BY_ITSELF, READERS
from tenancy import roles
from tests.client.annotating import annotation, documented
from tests.client.conftest import Site
from tests.event_loops import run_apart
from tests.potato.checks.test_reports import JUNIT, SARIF
from tests.traces import attached as by_hand
from tests.traces.test_imports import lines, run


@dataclass
class Shell:
    """Somebody's shell, with a home of its own and no terminal. `said` is what the last command told people."""

    home: Path
    patch: pytest.MonkeyPatch
    captured: pytest.CaptureFixture[str]
    said: str = ""

    def ask(self, *arguments: str, given: str = "", code: int = 0) -> str:
        """What the command put out, once its exit code was that."""
        self.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        done: Any
        try:
            done = main(arguments)
        except SystemExit as ended:
            done = ended.code
        output, self.said = self.captured.readouterr()
        assert done == code, (arguments, output, self.said)
        assert "\x1b" not in output + self.said, "no colours where there is no terminal"
        return output


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    for name in ("POTATO_URL", "POTATO_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return Shell(home, monkeypatch, capsys)


def run_documented_examples(site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of docs/client.md, in its order, where somebody has a folder of runs."""
    (folder / "runs").mkdir(parents=True)
    (folder / "runs/week.jsonl").write_bytes(lines(run("monday"), run("tuesday")) + b"no run\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("POTATO_URL", site.address)
    monkeypatch.setenv("POTATO_TOKEN", site.token)
    text = (Path(__file__).parents[2] / "docs/client.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "documented"}
    for example in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        run_apart(exec, compile(example, "docs/client.md", "exec"), names)
    exported = [json.loads(line) for line in Path("results/reviews.jsonl").read_text().splitlines()]
    assert {row["id"] for row in exported} == {"monday", "tuesday", "live-1"}
    assert exported == list(names["project"].records())
    names["client"].close()


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(600)
def test_a_project_from_a_shell(site: Site, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.ask("whoami", code=1)
    assert "potato login" in shell.said
    shell.ask("login", site.address, "--token-from-stdin", given="pt_wrong\n", code=1)
    shell.ask("login", site.address, "--token-from-stdin", given=f"{site.token}\n")
    kept = shell.home / ".config/potato/login.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert json.loads(shell.ask("whoami", "--json"))["name"] == "dora"

    # A configuration with its data file, then runs by a pattern, from stdin and from a followed folder.
    (shell.home / "config.yaml").write_text(documented() + "data_files: [first.jsonl]\n")
    (shell.home / "first.jsonl").write_bytes(lines(run("one")))
    assert "version 1 is published" in shell.ask("load", "config.yaml", "--project", "by-shell")
    assert "first.jsonl: 0 traces imported, 1 known" in shell.ask("load", "config.yaml", "--project", "by-shell")
    (shell.home / "second.jsonl").write_bytes(lines(run("two")))
    assert "1 trace imported, 1 known" in shell.ask("import", "by-shell", "*.jsonl")
    shell.ask("import", "by-shell", "nothing*.jsonl", code=1)
    assert "1 trace imported" in shell.ask("import", "by-shell", "-", given=lines(run("three")).decode())
    live = shell.home / "live"
    live.mkdir()
    (live / "four.jsonl").write_bytes(lines(run("four")))
    assert "1 trace imported" in shell.ask("import", "by-shell", "--follow", "live", "--once", "--every", "0.2")

    (shell.home / "code.tar.gz").write_bytes(by_hand.archive({"a.py": "a\n"}))
    attached = shell.ask("repositories", "by-shell", "--attach", "https://example.org/Octo/Code.git", "code.tar.gz")
    found = re.search(r"octo/code +code.tar.gz +1 +([0-9a-f-]{36})", attached)
    assert found, (attached, shell.said)
    assert "octo/code" not in shell.ask("repositories", "by-shell", "--remove", found[1])
    shell.ask("repositories", "by-shell", "--remove", "nothing", code=1)

    # One annotates; the shell puts them on the project and watches.
    with Client(site.address, site.token) as boss:
        for number in range(3):
            boss.make_service_account(f"rule-{number}")
            shell.ask("people", "by-shell", "--put", f"rule-{number}", "annotator")
            token = boss.make_token("a rule", acts_as=f"rule-{number}", scopes=["annotate", "read"]).text
            steps = {trace.external_id: trace.steps for trace in boss.project("by-shell").traces()}
            with Client(site.address, token) as annotator:
                while (assignment := annotator.project("by-shell").next().assignment) is not None:
                    detail, steps_there = annotator.assignment(assignment.id), steps[assignment.trace.external_id]
                    annotator.submit(assignment, annotation(annotator, number, detail, steps_there, {}))
    assert "12 of 12 annotations" in shell.ask("watch", "by-shell")
    assert re.search(r"rule-0 +Annotator +4", shell.ask("people", "by-shell"))
    assert re.search(r"by-shell +Both documents +12 +12", shell.ask("projects"))

    # What was said elsewhere of the same runs.
    score = {"traceId": "one", "name": "their_verdict", "value": "approve", "source": "ANNOTATION", "authorUserId": "u"}
    (shell.home / "scores.json").write_text(json.dumps([score, {**score, "traceId": "nowhere"}]))
    elsewhere = ("import-annotations", "by-shell", "scores.json", "--name", "their_verdict=verdict")
    assert "scores.json: 1 new, 0 known, 1 refused, 0 parts left out" in shell.ask(*elsewhere)
    assert "has no trace 'nowhere'" in shell.said
    assert json.loads(shell.ask(*elsewhere, "--json", "--strict", code=1))["known"] == 1
    shell.ask("import-annotations", "by-shell", "missing.json", code=1)

    # What comes out.
    report = json.loads(shell.ask("agreement", "by-shell", "--samples", "0", "--json"))
    assert report["shared_traces"] == 4
    ready = json.loads(shell.ask("export", "by-shell", "-f", "archive", "-o", "out/all.zip", "--json"))
    assert ready["state"] == "ready"
    with ZipFile(shell.home / "out/all.zip") as archive:
        assert len(archive.read("annotations.jsonl").splitlines()) == 12
    shell.ask("export", "by-shell", "-f", "nothing", "-o", "x", code=1)
    assert not (shell.home / "x").exists()
    assert "latest" in shell.ask(
        "export", "by-shell", "-f", "code_review", "-o", "x.jsonl", "--option", "resolve=latest", "--json"
    )
    shell.ask("logout")
    assert not kept.exists()
    shell.ask("projects", code=1)
    run_documented_examples(site, tmp_path / "documented", monkeypatch)


def test_what_needs_no_site(shell: Shell) -> None:
    (shell.home / "good.yaml").write_text(documented())
    assert "good.yaml can be published: 4 schemes." in shell.ask("check", "good.yaml")
    (shell.home / "bad.yaml").write_text("task_name: X\nannotation_schemes:\n  - name: a\n    annotation_type: b\n")
    told = json.loads(shell.ask("check", "bad.yaml", "--json", code=1))
    assert (told["is_publishable"], told["problems"][0]["line"]) == (False, 4)
    shell.ask("check", "missing.yaml", code=1)

    (shell.home / "fix.patch").write_text("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n")
    (shell.home / "notes.jsonl").write_text('{"no": "run"}\n')
    shell.ask("convert", "fix.patch", "notes.jsonl", "-o", "runs.jsonl")
    assert "1 run of 2 files written, 1 not read" in shell.said
    (native,) = [json.loads(line) for line in (shell.home / "runs.jsonl").read_text().splitlines()]
    assert native["id"] == "fix.patch"
    again = json.loads(shell.ask("convert", "runs.jsonl"))
    assert again == native
    shell.ask("convert", "notes.jsonl", code=1)

    # A file is replaced once it is read, also by itself, and left as it was where there is nothing to write.
    before = (shell.home / "runs.jsonl").read_text()
    shell.ask("convert", "runs.jsonl", "-o", "runs.jsonl")
    assert (shell.home / "runs.jsonl").read_text() == before
    shell.ask("convert", "notes.jsonl", "-o", "runs.jsonl", code=1)
    assert (shell.home / "runs.jsonl").read_text() == before
    told = json.loads(shell.ask("convert", "fix.patch", "notes.jsonl", "-o", "runs.jsonl", "--json"))
    assert (told["runs"], told["files"], told["unread"][0]["file"]) == (1, 2, "notes.jsonl")
    shell.ask("convert", "fix.patch", "--json", code=1)
    shell.ask("convert", "notes.jsonl", "-o", "none.jsonl", code=1)
    assert not [path for path in shell.home.iterdir() if path.name in ("none.jsonl", ".none.jsonl.part")]
    for command in (["logout"], ["review", "runs.jsonl"], ["completion", "bash"], ["mcp"], ["login"]):
        shell.ask(*command, "--json", code=2)

    # What tests and checkers say of runs is named as that, in a folder as well, and is no configuration.
    (shell.home / "both").mkdir()
    (shell.home / "both/fix.patch").write_text((shell.home / "fix.patch").read_text())
    (shell.home / "both/junit.xml").write_text(JUNIT)
    (shell.home / "both/lint.sarif").write_text(json.dumps(SARIF))
    assert json.loads(shell.ask("convert", "both")) == native
    assert "junit.xml is a JUnit report of tests and no run. `potato import` brings it in" in shell.said
    assert "lint.sarif is findings as SARIF and no run." in shell.said
    assert "1 run of 3 files written, 2 not read" in shell.said
    for _ in range(2):  # What came of the first time is not read the second time.
        shell.ask("convert", "both", "-o", "both/all.jsonl")
        assert "1 run of 3 files written" in shell.said
    shell.ask("check", "both/junit.xml", code=1)
    assert "is a JUnit report of tests and no configuration" in shell.said

    token = "npm_" + "a1B2c3" * 6
    leak = {"id": "leak", "task_description": f"Publish with {token}", "steps": [{"message": "Done."}]}
    (shell.home / "leak.jsonl").write_text(json.dumps(leak) + "\n")
    told = shell.ask("check-secrets", "leak.jsonl", "runs.jsonl", code=1)
    assert told == "leak.jsonl, leak\n  1 npm token\n    task, line 1\n"
    assert "1 run of 2 with secrets, 0 not read." in shell.said
    assert shell.ask("check-secrets", "leak.jsonl", "--only", "personal_data") == ""
    found = json.loads(shell.ask("check-secrets", "leak.jsonl", "-o", "clean.jsonl", "--json"))
    assert [run["kinds"] for run in found["found"]] == [{"npm_token": 1}]
    assert token not in (shell.home / "clean.jsonl").read_text()
    shell.ask("check-secrets", "clean.jsonl")
    shell.ask("check-secrets", "leak.jsonl", "-o", "clean.jsonl", code=1)

    shell.ask("no-such-command", code=2)
    shell.ask("projects", "--site", "http://127.0.0.1:9", code=1)
    shell.ask("projects", "--site", "http://potato.example.org", code=1)
    for name in ("bash", "zsh", "fish"):
        assert "agreement" in shell.ask("completion", name)
    script = shell.home / "complete.sh"
    script.write_text(
        shell.ask("completion", "bash") + "COMP_WORDS=(potato imp); COMP_CWORD=1; _potato; echo $COMPREPLY\n"
    )
    assert subprocess.run(["bash", script], capture_output=True, text=True, check=True).stdout == "import\n"


def test_the_librarys_words_for_roles_and_scopes_are_the_sites() -> None:
    assert (FOUND_BY_ITSELF, *READERS) == TOOLS
    for words, choices in ((Role, roles.Role), (ProjectRole, roles.ProjectRole), (TokenScope, roles.TokenScope)):
        assert get_args(words) == tuple(choices.values)
    assert get_args(Pace) == tuple(SitesPace.values)
