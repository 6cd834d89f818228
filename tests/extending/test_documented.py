"""docs/architecture.md and docs/extending.md are true: paths, layers, and every line of the worked examples."""

import configparser
import json
import re
import subprocess
import sys
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from django.test import Client
from django.urls import include, path
from pytest_django.fixtures import Settings

from accounts.actions.projects import publish_configuration
from potato_site import organisation_urls
from tenancy.actor import acting_in
from tests.environments import ROOT, checkout_without_tests
from tests.extending.conftest import PACKAGES, Site
from tests.tenants import Tenants

ARCHITECTURE, EXTENDING = "docs/architecture.md", "docs/extending.md"
PAGES = (*sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/*.md")), "README.md", "CONTRIBUTING.md")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WITH_CONTACT = """\
task_name: Is it safe to merge
guidelines: Read all of it.
contact: rosa
annotation_schemes:
  - {name: risk, annotation_type: merge_risk}
"""
READ_GUIDELINES = """
import sys, django
django.setup()
from django.http import HttpResponse
from django.test import Client
from django.test.utils import setup_test_environment
from accounts.models import User
setup_test_environment()
bob = Client()
bob.force_login(User.objects.get(username="bob"))
task = bob.post("/o/acme/p/risk/next/").headers["Location"].partition("?")[0]
sys.stdout.write(bob.get(task + "guidelines/").content.decode())
"""


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return [code for name, code in BLOCK.findall(text_of(page)) if name == language]


def section(page: str, title: str) -> str:
    return text_of(page).split(f"\n## {title}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file_and_a_heading_that_are_there(page: str) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", BLOCK.sub("", text_of(page))):
        name, _, anchor = target.partition("#")
        file = (ROOT / page).parent / name if name else ROOT / page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w\- ]", "", one).lower().replace(" ", "-") for one in headings], target


@pytest.mark.parametrize("page", [ARCHITECTURE, EXTENDING, "CONTRIBUTING.md"])
def test_every_path_that_a_page_names_is_there(page: str) -> None:
    roots = (ROOT, ROOT / "potato", *PACKAGES.iterdir())
    for name in re.findall(r"`([\w./]+(?:/|\.py|\.css|\.js|\.json))`", BLOCK.sub("", text_of(page))):
        if name not in ("api.py", "templates/", "static/"):
            assert any((root / name).exists() for root in roots), name


def layers() -> list[str]:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    lines = contracts["importlinter:contract:layers"]["layers"].split()
    return [name for name in lines if name != "|"]


def test_the_picture_has_the_layers_that_are_checked() -> None:
    picture = text_of("docs/images/architecture.svg").split("The site: Django apps")[1]
    assert [name for name in re.findall(r">(\w+)</text>", picture) if name in layers()] == layers()
    assert "images/architecture.svg" in text_of(ARCHITECTURE)


def test_every_folder_of_the_checkout_is_explained() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    folders = {name.partition("/")[0] for name in listed.split() if "/" in name and not name.startswith(".")}
    explained = set(re.findall(r"\[(\w+)/\]\(\.\./\w+/\)", section(ARCHITECTURE, "Folders")))
    assert explained == folders


@pytest.mark.parametrize(
    ("title", "package"),
    [("A scheme type", "merge_risk"), ("An export format", "risk_report"), ("A trace converter", "session_log")],
)
def test_the_code_of_the_page_is_that_of_the_package(title: str, package: str) -> None:
    files = [file for file in (PACKAGES / package).rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    lines = {line.strip() for file in files for line in file.read_text().splitlines()}
    shown = [code for name, code in BLOCK.findall(section(EXTENDING, title)) if name in ("python", "toml")]
    assert len(shown) >= 2
    for line in "".join(shown).splitlines():
        assert line.strip() in ("...", *lines), line


def test_the_number_of_files_of_each_package_is_the_stated_one() -> None:
    def files(package: str) -> int:
        found = (file for file in (PACKAGES / package).rglob("*") if file.is_file())
        return len([file for file in found if "__pycache__" not in file.parts and file.parent.parent != PACKAGES])

    stated = text_of(EXTENDING)
    # Beside pyproject.toml and an empty __init__.py.
    assert files("merge_risk") - 1 == 3
    assert files("risk_report") - 1 == files("session_log") - 1 == 1
    assert "three files" in stated
    assert stated.count("a package of one file") == 2


def test_the_documented_setting_is_checked_listed_and_shown(extended: Site) -> None:
    """The difference of the page, applied to a copy of the checkout."""
    (difference,) = blocks(EXTENDING, "diff")
    checkout = checkout_without_tests(extended.folder / "checkout")
    subprocess.run(["git", "apply", "--unidiff-zero", "-"], cwd=checkout, input=difference, check=True, text=True)
    assert len(re.findall(r"^\+\+\+ b/", difference, re.MULTILINE)) == 2
    site = replace(extended, checkout=checkout)
    schema = json.loads(site.manage("config_schema"))
    assert schema["properties"]["contact"]["description"] == "Whom annotators may ask; shown below the guidelines."
    configuration, log = extended.folder / "config.yaml", extended.folder / "sessions.log.jsonl"
    configuration.write_text(WITH_CONTACT)
    turn = {"writes": "a.py", "text": "a = 2\n"}
    log.write_text(json.dumps({"session": "run-1", "request": "Fix it", "turns": [turn]}) + "\n")
    site.manage("load_project", str(configuration), "--org", "acme", "--project", "risk")
    site.manage("import_traces", "acme/risk", str(log))
    assert "Ask rosa" in site.run("-c", READ_GUIDELINES)


def test_the_documented_route_answers_those_who_have_the_right(
    tenants: Tenants, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = (code for code in blocks(EXTENDING, "python") if "TraceCountView" in code)
    example, routes = ModuleType("documented_route"), ModuleType("routes_with_the_documented_one")
    monkeypatch.setitem(sys.modules, example.__name__, example)
    monkeypatch.setitem(sys.modules, routes.__name__, routes)
    exec(compile(code, EXTENDING, "exec"), vars(example))  # noqa: S102  (our own page)
    vars(routes)["urlpatterns"] = [path("api/v1/", include(example.__name__)), *organisation_urls.urlpatterns]
    settings.ORGANISATION_URLCONF = routes.__name__
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source="task_name: Review", confirmed=True)

    def answer(person: str | None, project: str = "parser") -> Any:
        client = Client()
        if person:
            client.force_login(getattr(tenants, person))
        return client.get(f"/o/acme/api/v1/projects/{project}/traces/count/")

    assert json.loads(answer("mallory").content) == {"project": "parser", "traces": 0}
    assert [answer(person).status_code for person in (None, "charlie", "bob")] == [401, 404, 403]
    assert answer("alice", "no-such-project").status_code == 404
