"""Imports by programs: files come in by a token or a session, with what came of them, and undo; and nobody else's."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from accounts.actions.tokens import make_token
from accounts.models import Membership, Project, ProjectMember
from tenancy.actor import acting_in
from tenancy.roles import ProjectRole, Role
from tests.assignments.conftest import Queue
from tests.tenants import Tenants
from tests.traces.test_imports import lines, run, upload, work
from tests.traces.test_task_texts import FORMS
from tests.traces.test_uploads import Unread, sent
from traces.models import ImportedFile, Trace

pytestmark = pytest.mark.django_db(transaction=True)

API = "/api/v1/"
OWN = "/o/acme/api/v1/"


@pytest.fixture(autouse=True)
def media(settings: Settings, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def tenants(committed_tenants: Tenants) -> Tenants:
    return committed_tenants


@pytest.fixture
def program(tenants: Tenants) -> Client:
    """With a token of the manager."""
    return Client(headers={"Authorization": f"Bearer {token(tenants, 'mallory')}"})


def token(tenants: Tenants, person: str) -> str:
    with acting_in(tenants.acme, tenants.alice):
        membership = Membership.objects.get(organisation=tenants.acme, user=getattr(tenants, person))
        return str(make_token(membership=membership, name="nightly", by_owner=True)[1])


def form(*names: str) -> dict[str, Any]:
    files = [SimpleUploadedFile(name, lines(run(name, task=f"Task of {name}"))) for name in names]
    return {"file": files, "format": "auto"}


def test_a_program_brings_files_in_and_reads_what_came_of_them(tenants: Tenants, program: Client) -> None:
    answer = program.post(f"{API}projects/parser/imports/", {**form("a.jsonl", "b.jsonl"), "file:x/c.jsonl": broken()})
    assert answer.status_code == 202, answer.content
    (begun,) = answer.json()["imports"]
    assert (begun["state"], begun["name"], begun["imported"]) == ("queued", "3 files", 0)
    assert answer["Location"].endswith(f"/api/v1/imports/{begun['id']}/")
    with acting_in(tenants.acme):
        file = ImportedFile.objects.get()
        assert file.added_by == tenants.mallory
    work(tenants, file)
    done = program.get(f"{API}imports/{begun['id']}/").json()
    assert (done["state"], done["imported"], done["errors"], done["files"]) == ("done", 2, 1, 3)
    files = program.get(f"{API}imports/{begun['id']}/files/").json()["results"]
    assert [(one["name"], one["imported"], one["errors"]) for one in files] == [
        ("a.jsonl", 1, 0), ("b.jsonl", 1, 0), ("x/c.jsonl", 0, 1),
    ]  # fmt: skip
    (problem,) = program.get(f"{API}imports/{begun['id']}/problems/").json()["results"]
    assert (problem["file"], problem["place"]) == ("x/c.jsonl", 1)
    assert problem["sentence"]
    assert [one["id"] for one in program.get(f"{API}projects/parser/imports/").json()["results"]] == [begun["id"]]


def broken() -> SimpleUploadedFile:
    return SimpleUploadedFile("c.jsonl", b'{"id": ')


def test_a_program_undoes_an_import_and_is_told_what_stands_in_the_way(tenants: Tenants, program: Client) -> None:
    program.post(f"{API}projects/parser/imports/", form("a.jsonl"))
    with acting_in(tenants.acme):
        file = ImportedFile.objects.get()
    address = f"{API}imports/{file.pk}/undo/"
    assert "still being read" in program.post(address).json()["detail"]
    work(tenants, file)
    assert program.get(address).json() == {"traces": 1, "texts": 0, "reports": 0, "reopened": 0, "in_the_way": []}
    answer = program.post(address)
    assert (answer.status_code, answer.json()["state"]) == (200, "undone")
    with acting_in(tenants.acme):
        assert not Trace.objects.exists()
    answer = program.post(address)
    assert (answer.status_code, answer.json()["code"]) == (409, "cannot_undo")


def test_a_program_cancels_and_tries_again(tenants: Tenants, program: Client) -> None:
    program.post(f"{API}projects/parser/imports/", form("a.jsonl"))
    with acting_in(tenants.acme):
        address = f"{API}imports/{ImportedFile.objects.get().pk}/"
    cancelled = program.post(f"{address}cancel/").json()
    assert (cancelled["state"], cancelled["can_try_again"]) == ("cancelled", True)
    answer = program.post(f"{address}again/", {"format": "native"}, content_type="application/json")
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")
    assert program.post(f"{address}again/", {}, content_type="application/json").status_code == 409


def test_texts_that_belong_to_no_trace_are_told(tenants: Tenants, program: Client) -> None:
    file = upload(tenants, FORMS["tasks.jsonl"], "tasks.jsonl")
    ids = program.get(f"{API}imports/{file.pk}/task-texts/").json()["ids"]
    assert ids == ["acme__parser-1", "acme__parser-2"]


def test_files_are_received_from_those_alone_who_may_import_and_from_others_nothing_is_read(
    tenants: Tenants, program: Client
) -> None:
    address = f"{API}projects/parser/imports/"
    with acting_in(tenants.acme, tenants.alice):
        Queue(tenants, tenants.acme_project).publish()
    annotator = Client(headers={"Authorization": f"Bearer {token(tenants, 'bob')}"})
    wrong = Client(headers={"Authorization": "Bearer pt_nothing"})
    for client, path, status in (
        (annotator, address, 403),
        (wrong, address, 401),
        (Client(), address, 401),
        (program, f"{API}projects/elsewhere/imports/", 404),
    ):
        assert sent(client, path, 1_000_000_000, Unread()).status_code == status
    assert sent(program, address, 2**31 + 2**21, Unread()).status_code == 413
    assert program.post(address, {"format": "auto"}).json()["code"] == "no_files"


def test_a_manager_of_another_project_is_sent_away_unread_with_404_everywhere(tenants: Tenants) -> None:
    file = upload(tenants, lines(run("one")))
    with acting_in(tenants.acme, tenants.alice):
        other = Project.objects.create(slug="other", name="Other")
        membership = Membership.objects.get(organisation=tenants.acme, user=tenants.bob)
        membership.role = Role.MEMBER
        membership.save(update_fields=["role"])
        ProjectMember.objects.create(project=other, membership=membership, role=ProjectRole.MANAGER)
    client = Client()
    client.force_login(tenants.bob)
    page = f"/o/acme/p/parser/traces/imports/{file.pk}/"
    for path in (page, f"{page}live/", f"{page}undo/", f"{page}problems.csv", "/o/acme/p/parser/traces/imports/"):
        assert client.get(path).status_code == 404, path
    for path in (f"{page}undo/", f"{page}cancel/", f"{page}again/", "/o/acme/p/parser/traces/imports/samples/"):
        assert client.post(path).status_code == 404, path
    for path in ("", "files/", "problems/", "task-texts/", "undo/"):
        assert client.get(f"{OWN}imports/{file.pk}/{path}").status_code == 404, path
    for path in ("undo/", "cancel/", "again/"):
        assert client.post(f"{OWN}imports/{file.pk}/{path}").status_code == 404, path
    for path in ("/o/acme/p/parser/traces/imports/new/", f"{OWN}projects/parser/imports/"):
        assert sent(client, path, 1_000_000_000, Unread()).status_code == 404, path
    # An import of another project is not shown under one's own.
    assert client.get(f"/o/acme/p/other/traces/imports/{file.pk}/").status_code == 404
    assert client.get("/o/acme/p/other/traces/imports/").status_code == 200
    with acting_in(tenants.acme):
        assert Trace.objects.count() == 1
