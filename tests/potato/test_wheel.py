"""`pip install potato-review` brings the package potato alone, and both documents' lines and commands run with it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.core.management import call_command

from potato.formats.registry import formats
from tests.environments import ROOT, checkout_without_tests, environment_with
from tests.potato.formats.files import folder
from tests.potato.formats.rewarded import RECORDS, RUNS
from tests.potato.formats.test_formats import record as review
from tests.potato.formats.test_formats import run as reviewed_run
from tests.rewards.documented_scripts import PLOTS, STATISTICS

pytestmark = pytest.mark.timeout(600)

REQUIREMENTS = str(ROOT / "requirements/library.in")
CONFIGURATION = """\
task_name: Both documents
annotation_schemes:
  - name: inline_comments
    annotation_type: code_review_comments
    inline_comments: {severity: {enabled: true}}
  - name: file_ratings
    annotation_type: code_review_file_ratings
  - name: verdict
    annotation_type: code_review_verdict
  - name: process_reward
    annotation_type: process_reward
    mode: per_step
"""
SUFFIXES = {
    "agent_trace": ".jsonl",
    "archive": ".zip",
    "atif": ".jsonl",
    "code_repair": ".jsonl",
    "code_review": ".jsonl",
    "code_review_comments": ".jsonl",
    "code_review_file_ratings": ".csv",
    "code_review_verdicts": ".json",
    "dpo": ".jsonl",
    "github_review": ".jsonl",
    "hf_dataset": ".zip",
    "kto": ".jsonl",
    "langfuse_scores": ".jsonl",
    "orm": ".jsonl",
    "otel_evaluations": ".jsonl",
    "prm": ".jsonl",
    "records_parquet": ".parquet",
    "sarif": ".sarif",
    "swebench": ".zip",
}
MISSING_CLIENT = 'The client asks sites with httpx2, which is missing: pip install "potato-review[client]"'
OF_EXTRAS = {"hf_dataset", "records_parquet"}
"""The formats that need a package of an extra."""


@dataclass(frozen=True)
class Researcher:
    """Somebody who installed the wheel and has no checkout. `brought` is what the wheel added beside the Python."""

    python: Path
    brought: frozenset[str]
    home: Path

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(self.python), *arguments],
            cwd=self.home,
            env={"PATH": os.defpath, "MPLCONFIGDIR": str(self.home / "matplotlib")},
            capture_output=True,
            text=True,
            check=False,
        )

    def export(self, format: str, output: str) -> bytes:
        done = self.run("-m", "potato.export", "-i", "output/", "-f", format, "-o", output)
        assert done.returncode == 0, done.stderr
        return (self.home / output).read_bytes()


def build(checkout: Path, into: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, "--no-deps", "--no-build-isolation", "--wheel-dir", into, checkout], check=True)
    (wheel,) = into.iterdir()
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("wheel")
    return build(checkout_without_tests(made / "checkout"), made / "wheels")


def researcher(wheel: Path, base: Path, home: Path) -> Researcher:
    """A new environment with the wheel, which sees the requirements that `base` has and installs none."""
    environment = home / "venv"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin/python"
    (site,) = environment.glob("lib/python*/site-packages")
    before = {path.name for path in site.iterdir()}
    install = ["install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    subprocess.run([base, "-m", "pip", "--python", python, *install, wheel], check=True)
    brought = frozenset(path.name for path in site.iterdir()) - before
    (known,) = base.parents[1].glob("lib/python*/site-packages")
    (site / "requirements.pth").write_text(f"{known}\n")
    return Researcher(python, brought, home)


@pytest.fixture
def plain(wheel: Path, tmp_path: Path) -> Researcher:
    """Without any extra."""
    return researcher(wheel, environment_with("library", "-r", REQUIREMENTS), with_archive(tmp_path / "plain"))


@pytest.fixture
def equipped(wheel: Path, tmp_path: Path) -> Researcher:
    """With the extras, `client` among them, as the wheel itself names them."""
    extras = sorted(set(required_by(wheel, extra=True)))
    base = environment_with("library-with-extras", "-r", REQUIREMENTS, *extras)
    return researcher(wheel, base, with_archive(tmp_path / "equipped"))


def with_archive(home: Path) -> Path:
    """A folder of somebody's with `output/`: reviews and process rewards of one project."""
    home.mkdir()
    folder(home / "output", [review(), *RECORDS], reviewed_run(), *RUNS, configuration=CONFIGURATION)
    return home


def required_by(wheel: Path, *, extra: bool) -> Iterator[str]:
    """What the wheel's metadata ask for, for its extras or without them."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = file.read(name).decode()
    for line in re.findall(r"^Requires-Dist: (.+)$", metadata, re.MULTILINE):
        requirement, _, condition = line.partition(";")
        if ("extra" in condition) == extra:
            yield requirement.strip()


def test_the_wheel_brings_the_package_potato_and_no_other_name(plain: Researcher) -> None:
    assert {name for name in plain.brought if not name.endswith(".dist-info")} == {"potato"}
    assert len(plain.brought) == 2


def test_the_wheel_asks_for_what_the_library_needs_and_nothing_of_the_site(wheel: Path) -> None:
    wanted = [line for line in Path(REQUIREMENTS).read_text().splitlines() if line and not line.startswith("#")]
    asked = {re.split(r"[<>=]", line)[0] for line in required_by(wheel, extra=False)}
    assert asked == {re.split(r"[<>=]", line)[0] for line in wanted}
    assert {re.split(r"[<>=]", line)[0] for line in required_by(wheel, extra=True)} == {
        "httpx2",
        "mcp",
        "numpy",
        "matplotlib",
        "pyarrow",
        "zstandard",
        "tree-sitter",
        "tree-sitter-go",
        "tree-sitter-java",
        "tree-sitter-javascript",
        "tree-sitter-python",
        "tree-sitter-typescript",
    }


def test_a_source_distribution_and_a_wheel_hold_the_licence_and_the_icons(wheel: Path, tmp_path: Path) -> None:
    checkout = checkout_without_tests(tmp_path / "checkout")
    program = "import sys, setuptools.build_meta as made; print(made.build_sdist(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path], cwd=checkout, check=True, capture_output=True, text=True
    )
    with tarfile.open(tmp_path / done.stdout.splitlines()[-1]) as file:
        file.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    for name in ("LICENSE", "potato/schemes/lucide_shapes.txt"):
        assert (unpacked / name).read_bytes() == (ROOT / name).read_bytes()
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    assert "potato/schemes/lucide_shapes.txt" in names
    assert [name for name in names if name.endswith("/LICENSE")]
    with zipfile.ZipFile(build(unpacked, tmp_path / "again")) as file:
        assert file.namelist() == names


@pytest.mark.parametrize("name", sorted(SUFFIXES.keys() - OF_EXTRAS))
def test_every_format_is_exported_without_the_extras(plain: Researcher, name: str) -> None:
    assert plain.export(name, f"results/file{SUFFIXES[name]}")


def test_the_exports_of_the_installed_wheel_are_the_sites_byte_for_byte(
    transactional_db: None, equipped: Researcher, tmp_path: Path
) -> None:
    assert set(SUFFIXES) == set(formats())
    call_command("load_project", str(equipped.home / "output"), "--org", "my-lab", "--project", "both", verbosity=0)
    # What the site has of it, so that both start from the same traces.
    shutil.rmtree(equipped.home / "output")
    call_command("export", "--project", "my-lab/both", "-f", "archive", "-o", str(equipped.home / "output"))
    for name, suffix in SUFFIXES.items():
        of_the_site = tmp_path / f"site-{name}{suffix}"
        call_command("export", "--project", "my-lab/both", "-f", name, "-o", str(of_the_site))
        assert equipped.export(name, f"results/{name}{suffix}") == of_the_site.read_bytes(), name


def test_the_documented_scripts_and_the_agreement_run_with_the_extras(equipped: Researcher) -> None:
    done = equipped.run("-c", STATISTICS + PLOTS)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Total traces annotated: " in done.stdout
    for name in ("error_distribution", "reward_curves"):
        assert (equipped.home / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    done = equipped.run("-m", "potato.analysis", "agreement", "-i", "output/", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["compared"]


def test_without_the_extras_statistics_run_and_the_rest_says_what_to_install(plain: Researcher) -> None:
    done = plain.run("-c", STATISTICS)
    assert (done.returncode, done.stderr) == (0, "")
    done = plain.run("-m", "potato.analysis", "agreement", "-i", "output/")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == 'Agreement is computed with numpy, which is missing: pip install "potato-review[agreement]"\n'
    done = plain.run("-c", STATISTICS + PLOTS)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "potato.statistics.extras.MissingExtra: Plots are drawn with matplotlib, which is missing: "
        'pip install "potato-review[plots]"'
    )
    assert not (plain.home / "figures").exists()
    for name in OF_EXTRAS:
        done = plain.run("-m", "potato.export", "-i", "output/", "-f", name, "-o", f"file{SUFFIXES[name]}")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            f'{name} is written with pyarrow, which is missing: pip install "potato-review[parquet]"\n'
        )


USER = """\
import asyncio
from typing import Any

from potato.api.people import Caller
from potato.client import AsyncClient, Client, NotFound, bars


def gather(client: Client) -> dict[str, Any]:
    caller: Caller = client.whoami()
    project = client.project(client.projects()[0].slug)
    (imported,) = project.import_files("runs", wait=True, patience=60)
    traces: list[int] = [trace.steps for trace in project.traces(state="open")]
    records: list[dict[str, Any]] = list(project.records(mine=True))
    sha256: str = project.export("prm", "prm.jsonl").sha256
    names: list[str] = [one.name for one in project.sources()] + [one.name for one in client.tokens()]
    sentences: list[str] = [one.sentence for one in client.audit(project="a")]
    return {"caller": caller.name, "count": imported.imported, "rest": (traces, records, sha256, names, sentences)}


async def gather_meanwhile(client: AsyncClient) -> list[str]:
    caller: Caller = await client.whoami()
    return [caller.name, *[record["id"] async for record in client.project("a").records()]]


if __name__ == "__main__":
    print(asyncio.iscoroutinefunction(gather_meanwhile), NotFound.__mro__, bars())
"""
MISUSE = """\
from potato.client import AsyncClient, Client

Client("https://potato.example.org", "t").project("a").export(3)
Client("https://potato.example.org", "t").whoami().nme
for record in AsyncClient("https://potato.example.org", "t").project("a").records():
    pass
"""


def test_the_client_comes_with_its_extra_and_types_for_who_uses_it(plain: Researcher, equipped: Researcher) -> None:
    done = plain.run("-c", "import potato.client")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith('httpx2, which is missing: pip install "potato-review[client]"')
    done = plain.run("-m", "potato", "projects")
    assert (done.returncode, done.stderr) == (1, f"potato: {MISSING_CLIENT}\n")
    (plain.home / "config.yaml").write_text(CONFIGURATION)
    command = [str(plain.python.parent / "potato"), "check", "config.yaml"]
    checked = subprocess.run(command, cwd=plain.home, capture_output=True, text=True, check=True)
    assert checked.stdout == "config.yaml can be published: 4 schemes.\n"
    done = plain.run("-m", "potato", "review", "none.jsonl")
    assert (done.returncode, done.stderr) == (1, "potato: There is no file none.jsonl.\n")

    (equipped.home / "user.py").write_text(USER)
    (equipped.home / "misuse.py").write_text(MISUSE)
    assert equipped.run("user.py").stdout.startswith("True ")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--python-executable", str(equipped.python)]
    done = subprocess.run([*mypy, "user.py"], cwd=equipped.home, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "Success: no issues found in 1 source file\n"), done.stderr
    done = subprocess.run([*mypy, "misuse.py"], cwd=equipped.home, capture_output=True, text=True, check=False)
    assert {line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line} == {"3", "4", "5"}
