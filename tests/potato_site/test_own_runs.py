"""Somebody's own runs become a project that they can review, on their own machine."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Organisation, User
from potato_site.own_runs import LOGIN, ORGANISATION, PASSWORD, NothingCameIn, load_own_runs
from tenancy.actor import acting_in
from tests.traces.test_imports import lines, run
from traces.models import Trace

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    folder = tmp_path / "My_Runs.of May"
    folder.mkdir()
    (folder / "one.jsonl").write_bytes(lines(run("one")))
    (folder / "two.jsonl").write_bytes(lines(run("two")))
    return folder


def test_a_folder_of_runs_is_a_project_that_its_owner_opens_by_signing_in(folder: Path, client: Client) -> None:
    said: list[str] = []
    address = load_own_runs([folder], "both", said.append)
    assert address == load_own_runs([folder], "both", said.append)
    assert "0 imported, 1 known" in said[-1]
    with acting_in(Organisation.objects.get(slug=ORGANISATION)):
        assert sorted(Trace.objects.values_list("external_id", flat=True)) == ["one", "two"]
    assert client.login(username=User.objects.get(username=LOGIN).username, password=PASSWORD)
    (page,) = parse_qs(urlsplit(address).query)["next"]
    assert page == "/o/own-runs/p/my-runs-both/"
    assert b"2 traces" in client.get(page).content


def test_files_without_a_run_are_named(folder: Path) -> None:
    path = folder / "notes.jsonl"
    path.write_text('{"no": "run"}\n')
    with pytest.raises(NothingCameIn, match=r"No run came in\.\nnotes\.jsonl"):
        load_own_runs([path], "code-review", print)
