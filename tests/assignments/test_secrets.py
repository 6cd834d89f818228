"""A run comes in with a token and an address: annotators are given nothing of it until a manager clears it, and once it
is replaced it is in no table and no file any more."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from pytest_django import Settings

from accounts.actions.projects import publish_configuration
from accounts.actions.tokens import make_token
from accounts.models import AuditEvent, Membership
from assignments.actions.claiming import claim_next
from assignments.actions.clearing_secrets import clear_secrets
from assignments.actions.withholding import give_out_again
from assignments.models import Assignment, TraceQuota
from jobs import outbox, runner
from jobs.models import Job
from leaving.searching import files_with, rows_with
from tenancy.actor import Actor, acting_in, unscoped
from tests.tenants import PASSWORD, Tenants
from traces.actions import request_import
from traces.models import ImportedFile, SecretsState, Trace, TraceSecrets

pytestmark = pytest.mark.django_db(transaction=True)

TOKEN, PERSON = "ghp_" + "a1B2c3D4" * 5, "quendolyn.ash@corp.io"
CONFIGURATION = "task_name: Secrets\n"


@pytest.fixture
def tenants(committed_tenants: Tenants, tmp_path: Path, settings: Settings) -> Tenants:
    settings.MEDIA_ROOT = tmp_path
    storage = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "default": storage}
    with acting_in(committed_tenants.acme, committed_tenants.dora):
        publish_configuration(project=committed_tenants.acme_project, source=CONFIGURATION)
    return committed_tenants


def leaky(id: str = "leaky", text: str = TOKEN) -> dict[str, Any]:
    before = f'KEY = "{text}"\nLIMIT = 2\n'
    call = {"name": "Bash", "arguments": {"command": "cat a.py"}, "result": f"1\n{before}"}
    return {
        "id": id,
        "task_description": f"Raise the limit, says {PERSON}",
        "steps": [{"message": "I look.", "tool_calls": [call]}, {"message": "Done."}],
        "file_events": [
            {"kind": "write", "path": "a.py", "text": before, "original": "", "step": 0},
            {"kind": "edit", "path": "a.py", "old": f'"{text}"\nLIMIT = 2', "new": f'"{text}"\nLIMIT = 3', "step": 1},
        ],
    }


def imported(tenants: Tenants, *records: dict[str, Any] | str) -> ImportedFile:
    content = "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in records).encode()
    with acting_in(tenants.acme, tenants.dora):
        file = request_import(project=tenants.acme_project, content=ContentFile(content, name="runs.jsonl"))
    actor = Actor(tenants.acme.pk, (tenants.acme.pk,), tenants.dora.pk)
    for _ in range(50):
        runner.run(job_id=file.job_id, actor=actor)  # type: ignore[arg-type]  # request_import has set it
        with acting_in(tenants.acme):
            if not Job.objects.get(pk=str(file.job_id)).is_open:
                outbox.deliver(actor)
                return file
    pytest.fail("the job does not end")


def places(*marks: str) -> set[str]:
    with unscoped("a test looks for secrets"):
        return {place.where for place in rows_with(marks)} | {place.where for place in files_with(marks)}


def signed_in(tenants: Tenants) -> Client:
    client = Client()
    assert client.login(username="mallory", password=PASSWORD)
    return client


PAGE = "/o/acme/p/parser/traces/secrets/"


def test_what_is_found_is_held_back_reported_and_replaced_for_good(tenants: Tenants) -> None:
    imported(tenants, leaky(), {"id": "bad", "steps": TOKEN})
    with acting_in(tenants.acme, tenants.bob):
        assert not isinstance(claim_next(project=tenants.acme_project, user=tenants.bob), Assignment)
    with acting_in(tenants.acme, tenants.mallory):
        trace = Trace.objects.get()
        row = TraceSecrets.objects.get()
        assert (row.state, row.kinds) == (SecretsState.HELD, {"github_token": 1, "email": 1})
        assert {"kind": "github_token", "step": 0, "part": "result of the call", "file": "", "line": 2} in row.places
        assert {"kind": "github_token", "step": None, "part": "added line", "file": "a.py", "line": 1} in row.places
        quota = TraceQuota.objects.get()
        assert (quota.withheld, quota.withheld_reason) == ("held_back", "secrets found")
        outcome = give_out_again(project=tenants.acme_project, traces=[trace.pk])
        assert (outcome.done, "page Secrets" in outcome.sentence) == (0, True)
        links = [file.links for file in trace.files.all()]
    assert places(TOKEN) == {"traces_body.packed"}
    client = signed_in(tenants)
    page = client.get(PAGE).content.decode()
    assert "1 GitHub token, 1 e-mail address" in page
    assert "a.py, added line 1" in page
    assert TOKEN not in page
    assert PERSON not in page
    done = client.post(PAGE, {"act": "replace", "trace": str(trace.pk)}, follow=True).content.decode()
    assert "1 trace with placeholders now." in done
    assert places(TOKEN, PERSON) == set()
    with acting_in(tenants.acme, tenants.mallory):
        same = Trace.objects.get()
        assert (same.pk, same.version, same.imported_at) == (trace.pk, trace.version, trace.imported_at)
        assert (same.added, same.removed, same.steps_count) == (trace.added, trace.removed, trace.steps_count)
        assert [file.links for file in same.files.all()] == links
        assert TraceSecrets.objects.get().state == SecretsState.REPLACED
        assert same.task == "Raise the limit, says EMAIL-1-xxxxxxxxxxxxx"
        assert AuditEvent.objects.get(verb="secrets.replaced").detail["traces"] == 1
    # The very same file comes again, and is known.
    again = imported(tenants, leaky())
    with acting_in(tenants.acme):
        assert Job.objects.get(pk=str(again.job_id)).result["known"] == 1
    with acting_in(tenants.acme, tenants.bob):
        assert isinstance(claim_next(project=tenants.acme_project, user=tenants.bob), Assignment)
    with acting_in(tenants.acme, tenants.mallory):
        TraceSecrets.objects.update(state=SecretsState.KEPT)
        refused = clear_secrets(project=tenants.acme_project, traces=[trace.pk], act="replace")
        why = "“Raise the limit, says EMAIL-1-xxxxxxxxxxxxx” (leaky) stays as it is: bob holds it."
        assert (refused.done, refused.problems) == (0, (why,))


def test_a_manager_keeps_what_was_found_and_programs_do_the_same(tenants: Tenants) -> None:
    imported(tenants, leaky("one"), leaky("two", text="nothing"))
    with acting_in(tenants.acme, tenants.alice):
        membership = Membership.objects.get(organisation=tenants.acme, user=tenants.mallory)
        _, token = make_token(membership=membership, name="imports", scopes=["import"], by_owner=True)
    client = Client(headers={"Authorization": f"Bearer {token}"})
    # Where nothing is said, a key holds a trace back, and an address alone is only listed.
    kinds = {"held": [("one", {"github_token": 1, "email": 1})], "reported": [("two", {"email": 1})]}
    for state, expected in kinds.items():
        report = client.get(f"/api/v1/projects/parser/secrets/?state={state}").json()
        assert [(row["external_id"], row["kinds"]) for row in report["results"]] == expected
        assert TOKEN not in json.dumps(report)
    ask = {"act": "keep", "all": True}
    answer = client.post("/api/v1/projects/parser/secrets/", ask, content_type="application/json")
    assert answer.json() == {"done": 1, "problems": [], "left": 0, "sentence": "1 trace kept as it is."}
    neither = client.post("/api/v1/projects/parser/secrets/", {"act": "keep"}, content_type="application/json")
    assert neither.status_code == 400
    with acting_in(tenants.acme, tenants.bob):
        assert isinstance(claim_next(project=tenants.acme_project, user=tenants.bob), Assignment)


def test_a_project_replaces_at_import_lists_only_or_looks_at_nothing(tenants: Tenants) -> None:
    with acting_in(tenants.acme, tenants.dora):
        source = f"{CONFIGURATION}secrets: {{keys: replace, personal_data: ignore}}\n"
        publish_configuration(project=tenants.acme_project, source=source)
    imported(tenants, leaky(), {"id": "bad", "steps": TOKEN})
    assert places(TOKEN) == set()
    assert "traces_body.packed" in places(PERSON)
    with acting_in(tenants.acme):
        assert TraceSecrets.objects.get().state == SecretsState.REPLACED
    again = imported(tenants, leaky())
    with acting_in(tenants.acme):
        assert Job.objects.get(pk=str(again.job_id)).result["known"] == 1
    with acting_in(tenants.acme, tenants.dora):
        source = f"{CONFIGURATION}secrets: {{keys: report, personal_data: report}}\n"
        publish_configuration(project=tenants.acme_project, source=source)
    imported(tenants, leaky("other"))
    with acting_in(tenants.acme, tenants.bob):
        assert TraceSecrets.objects.get(trace__external_id="other").state == SecretsState.REPORTED
        assert isinstance(claim_next(project=tenants.acme_project, user=tenants.bob), Assignment)
