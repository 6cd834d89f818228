"""Process rewards that people submitted leave by every way with the same bytes."""

import hashlib
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django.fixtures import Settings

from accounts.actions.projects import publish_configuration
from accounts.models import Project, User
from assignments.actions.claiming import claim_next
from assignments.actions.submitting import submit
from assignments.models import Assignment
from exports import storage
from exports.models import Export
from jobs.runner import run as run_job
from potato.commands.export import main
from potato.formats.registry import formats
from potato.runs.model import ConversionReport, Converted
from tenancy.actor import Actor, acting, acting_in
from tests.potato.formats.files import json_lines, lines
from tests.potato.formats.rewarded import RUNS, record
from tests.tenants import Tenants
from traces.importing.storing import store_run
from traces.models import ImportedFile, Trace

CONFIGURATION: dict[str, Any] = {
    "task_name": "Rewards",
    "annotation_schemes": [
        {
            "name": "process_reward",
            "annotation_type": "process_reward",
            "mode": "per_step",
            "ask_correction": True,
            "per_step": {"require_all_steps": False},
        },
        {
            "name": "verdict",
            "annotation_type": "code_review_verdict",
            "verdict": {"require_summary": False, "summary_min_length": 0},
        },
    ],
    "assignment": {"annotations_per_trace": 2},
}
EXPORTS: list[tuple[str, str, dict[str, str]]] = [
    ("prm", ".jsonl", {}),
    ("prm", ".jsonl", {"resolve": "majority", "step_text": "full", "threshold": "0.3"}),
    ("prm", ".jsonl", {"resolve": "latest", "lines": "yes"}),
    ("agent_trace", ".jsonl", {}),
    ("langfuse_scores", ".jsonl", {}),
    ("otel_evaluations", ".jsonl", {"resolve": "latest"}),
    ("prm", ".jsonl", {"resolve": "soft", "weighting": "one_coin"}),
    ("dpo", ".jsonl", {"resolve": "consensus"}),
    ("swebench", ".zip", {"resolve": "soft"}),
    ("dpo", ".jsonl", {"min_score_gap": "0.5"}),
    ("dpo", ".jsonl", {"score": "mean", "pairs": "within"}),
    ("dpo", ".jsonl", {"pairs": "corrections", "prompt_style": "messages"}),
    ("atif", ".jsonl", {}),
    ("kto", ".jsonl", {"completion": "steps"}),
    ("kto", ".jsonl", {"resolve": "majority", "resolved": "approve,comment_only"}),
    ("orm", ".jsonl", {"evidence": "both"}),
    ("records_parquet", ".parquet", {"resolve": "latest"}),
    ("hf_dataset", ".zip", {"split_by": "task", "license": "cc-by-4.0"}),
    ("swebench", ".zip", {}),
    ("swebench", ".json", {"model": "model-a", "resolved": "approve,comment_only"}),
]
TOLD = ("rows", "left_out", "counts", "remarks", "options", "consensus")
"""What every manifest says alike."""
SAID: dict[str, list[list[str | None]]] = {
    "alpha": [["correct", "correct", "recovery"], ["correct", None, "incorrect"]],
    "beta": [["incorrect", "correct", "incorrect"], ["correct", "partially_correct", "recovery"]],
    "gamma": [["correct", "correct", "recovery"], ["correct", None, None]],
    "delta": [["correct", "unnecessary", "correct"], ["incorrect", "incorrect", "incorrect"]],
    "empty": [["correct", "correct", "correct"], ["correct", "correct", "correct"]],
    "talk": [["correct", "correct", "incorrect"], ["correct", "correct", "incorrect"]],
    "short": [["correct", "correct"], ["correct", "incorrect"]],
}
VERDICTS = {"talk": "comment_only", "beta": "request_changes"}


@pytest.fixture
def project(committed_tenants: Tenants, settings: Settings, tmp_path: Path) -> Project:
    """Acme's project with seven runs, each judged by bob and by dora."""
    settings.EXPORT_SCRATCH = tmp_path / "scratch"
    settings.STORAGES = {
        **settings.STORAGES,
        "exports": {
            "BACKEND": "exports.storage.DurableFileSystemStorage",
            "OPTIONS": {"location": str(tmp_path / "storage")},
        },
    }
    settings.EXPORT_RECORDS_A_PART = 4
    tenants, project = committed_tenants, committed_tenants.acme_project
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=project, source=json.dumps(CONFIGURATION), confirmed=True)
        file = ImportedFile.objects.create(
            project=project, name="runs.jsonl", size=1, sha256="0" * 64, format="auto", chosen="native"
        )
        for run in RUNS:
            store_run(Converted(run, ConversionReport(), 1), file)
    for place, person in enumerate((tenants.bob, tenants.dora)):
        for _ in RUNS:
            judge(tenants, project, person, place)
    return project


def judge(tenants: Tenants, project: Project, person: User, place: int) -> None:
    with acting_in(tenants.acme, person):
        assignment = claim_next(project=project, user=person)
        assert isinstance(assignment, Assignment), assignment
        name = Trace.objects.get(pk=assignment.trace_id).external_id
        details: dict[str, Any] = {
            str(at): {"label": label} for at, label in enumerate(SAID[name][place]) if label is not None
        }
        wrong = next((at for at, detail in details.items() if detail["label"] in ("incorrect", "unnecessary")), None)
        if wrong is not None:
            details[wrong]["correction"] = f"Better than {name}"
        answers = {
            "process_reward": {"step_details": details},
            "verdict": {"decision": VERDICTS.get(name, "approve")},
        }
        submit(assignment=assignment, fencing_token=assignment.fencing_token, key=str(uuid4()), annotations=answers)


def counts_rows(format: str, options: dict[str, str]) -> bool:
    """Whether each row of the format is of one of several kinds here."""
    return format in ("kto", "orm") or (format == "dpo" and options.get("pairs") != "corrections")


def flags(options: dict[str, str]) -> list[str]:
    return [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]


def commanded(tmp_path: Path, format: str, suffix: str, options: dict[str, str]) -> bytes:
    """What `manage.py export` writes."""
    path = tmp_path / f"commanded{suffix}"
    call_command("export", "--project", "acme/parser", "-f", format, "-o", str(path), *flags(options))
    return path.read_bytes()


def in_body(suffix: str, options: dict[str, str]) -> dict[str, str]:
    """The options for entry points without a file name to tell the container by."""
    return options | ({"container": "json"} if suffix == ".json" else {})


def finished(tenants: Tenants, export: Export) -> Export:
    actor = Actor(tenants.acme.pk, (tenants.acme.pk,), tenants.alice.pk)
    with acting(actor):
        job = Export.objects.get(pk=export.pk).job
        assert job is not None
    while job.is_open:
        run_job(job_id=job.pk, actor=actor)
        with acting(actor):
            job.refresh_from_db()
        assert not job.failures, job.error
    with acting(actor):
        return Export.objects.select_related("project", "job").get(pk=export.pk)


def content(export: Export) -> bytes:
    return b"".join(block for part in export.parts for block in storage.read(part["name"]))


def newest(tenants: Tenants) -> Export:
    with acting_in(tenants.acme):
        return Export.objects.latest("requested_at")


@pytest.fixture
def alice(committed_tenants: Tenants) -> Client:
    client = Client()
    client.force_login(committed_tenants.alice)
    return client


def test_every_door_writes_the_same_bytes(
    project: Project, committed_tenants: Tenants, alice: Client, tmp_path: Path
) -> None:
    tenants = committed_tenants
    archive = tmp_path / "archive.zip"
    call_command("export", "--project", "acme/parser", "-f", "archive", "-o", str(archive))
    for format, suffix, options in EXPORTS:
        expected = commanded(tmp_path, format, suffix, options)
        offline = tmp_path / f"offline{suffix}"
        more = ["--manifest", str(tmp_path / "manifest.json"), *flags(options)]
        assert main(["-i", str(archive), "-f", format, "-o", str(offline), *more]) == 0
        assert offline.read_bytes() == expected
        again = tmp_path / f"again{suffix}"
        call_command("export", "-i", str(archive), "-f", format, "-o", str(again), *flags(options))
        assert again.read_bytes() == expected

        given = in_body(suffix, options)
        asked = alice.post(
            f"/o/acme/api/v1/projects/{project.slug}/exports/",
            json.dumps({"format": format, "options": given}),
            content_type="application/json",
        )
        assert asked.status_code == 202, asked.content
        by_api = finished(tenants, newest(tenants))
        assert content(by_api) == expected
        assert (by_api.sha256, by_api.bytes) == (hashlib.sha256(expected).hexdigest(), len(expected))
        assert by_api.file_name.endswith(suffix)
        told = json.loads((tmp_path / "manifest.json").read_text())
        assert {name: by_api.manifest.get(name) for name in TOLD} == {name: told.get(name) for name in TOLD}
        assert sum(told["counts"].values()) == (told["rows"] if counts_rows(format, options) else 0)

        sent = {f"{format}.{name}": value for name, value in given.items()} | {"format": format}
        assert alice.post(f"/o/acme/p/{project.slug}/exports/", sent).status_code == 302
        by_page = finished(tenants, newest(tenants))
        assert by_page.pk != by_api.pk
        assert content(by_page) == expected

        form = {f"option_{name}": value for name, value in given.items()} | {"format": format, "project": project.pk}
        assert alice.post("/o/acme/admin/exports/export/add/", form).status_code == 302
        by_admin = finished(tenants, newest(tenants))
        assert by_admin.pk != by_page.pk
        assert content(by_admin) == expected


def test_what_was_submitted_leaves_as_it_was_said(project: Project, tmp_path: Path) -> None:
    rows = {(row["trace_id"], row["annotator"]): row for row in json_lines(commanded(tmp_path, "prm", ".jsonl", {}))}
    assert rows["alpha", "bob"]["rewards"] == [1.0, 1.0, 0.25]
    assert rows["alpha", "dora"]["labels"] == [1, -100, 0]
    assert len(rows) == 14
    pairs = json_lines(commanded(tmp_path, "dpo", ".jsonl", {}))
    assert {(row["chosen_annotator"], row["chosen_trace_id"], row["rejected_trace_id"]) for row in pairs} == {
        ("bob", "alpha", "beta"),
        ("bob", "gamma", "beta"),
        ("dora", "beta", "alpha"),
        ("dora", "beta", "gamma"),
        ("dora", "gamma", "alpha"),
        ("bob", "empty", "delta"),
        ("bob", "delta", "talk"),
        ("bob", "empty", "talk"),
        ("dora", "empty", "delta"),
        ("dora", "empty", "talk"),
        ("dora", "talk", "delta"),
    }
    corrections = json_lines(commanded(tmp_path, "dpo", ".jsonl", {"pairs": "corrections"}))
    assert {(row["trace_id"], row["step"]) for row in corrections} >= {("alpha", 2), ("delta", 1), ("delta", 0)}


def test_the_command_says_what_was_left_out(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commanded(tmp_path, "dpo", ".jsonl", {"min_score_gap": "1"})
    said = capsys.readouterr().err
    assert "Left out: " in said
    assert "ties" in said
    assert "under the gap" in said


def test_an_adjudicated_export_of_a_project_without_one_is_refused(project: Project, tmp_path: Path) -> None:
    for format, suffix in (("prm", ".jsonl"), ("dpo", ".jsonl"), ("swebench", ".zip")):
        with pytest.raises(CommandError, match="has no adjudicated annotation"):
            commanded(tmp_path, format, suffix, {"resolve": "adjudicated"})


def test_the_page_offers_the_formats_that_the_schemes_fill_with_their_options(project: Project, alice: Client) -> None:
    page = alice.get(f"/o/acme/p/{project.slug}/exports/new/").content.decode()
    for format in ("prm", "dpo", "swebench", "code_review", "code_review_verdicts", "archive"):
        assert f'value="{format}"' in page
    assert 'value="code_review_comments" disabled' in page
    assert 'name="dpo.min_score_gap" autocomplete="off" type="number" step="any" value="0"' in page
    assert 'name="dpo.score"' in page
    assert 'name="swebench.container"' in page


def test_the_page_says_what_should_be_known_of_a_file(
    committed_tenants: Tenants, project: Project, alice: Client
) -> None:
    alice.post(f"/o/acme/p/{project.slug}/exports/", {"format": "dpo", "dpo.min_score_gap": "1"})
    finished(committed_tenants, newest(committed_tenants))
    page = alice.get(f"/o/acme/p/{project.slug}/exports/").content.decode()
    assert "Left out: " in page
    assert "under the gap" in page
    assert "--prompt-style messages writes it so." in page


def test_without_a_scheme_of_review_no_door_offers_reviews(
    committed_tenants: Tenants, alice: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenants, project = committed_tenants, committed_tenants.acme_project
    rewards = CONFIGURATION | {"annotation_schemes": [CONFIGURATION["annotation_schemes"][0]]}
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=project, source=json.dumps(rewards), confirmed=True)
    fit = [
        "agent_trace", "archive", "atif", "dpo", "hf_dataset", "kto", "langfuse_scores", "orm", "otel_evaluations",
        "prm", "records_parquet", "swebench",
    ]  # fmt: skip
    says = f"this project has no such scheme. The formats that its schemes fill: {', '.join(fit)}."

    page = alice.get(f"/o/acme/p/{project.slug}/exports/new/").content.decode()
    form = alice.get("/o/acme/admin/exports/export/add/").content.decode()
    for shown in (page, form):
        chosen = [name for name in formats() if f'value="{name}"' in shown and f'value="{name}" disabled' not in shown]
        assert chosen == fit

    asked = {"format": "code_review"}
    address = f"/o/acme/api/v1/projects/{project.slug}/exports/"
    answer = alice.post(address, json.dumps(asked), content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, "not_exportable")
    assert says in answer.json()["detail"]
    assert says in alice.post(f"/o/acme/p/{project.slug}/exports/", asked, follow=True).content.decode()
    sent = alice.post("/o/acme/admin/exports/export/add/", asked | {"project": project.pk})
    assert (sent.status_code, "code_review is not one of the available choices" in sent.content.decode()) == (200, True)
    with acting_in(tenants.acme):
        assert not Export.objects.exists()

    with pytest.raises(CommandError) as refused:
        commanded(tmp_path, "code_review", ".jsonl", {})
    assert says in str(refused.value)
    lines(tmp_path / "records.jsonl", [record("alpha", "ann")])
    (tmp_path / "config.yaml").write_text(json.dumps(rewards))
    flags = [
        "-i",
        str(tmp_path / "records.jsonl"),
        "--config",
        str(tmp_path / "config.yaml"),
        "-o",
        str(tmp_path / "x"),
    ]
    with pytest.raises(SystemExit) as ended:
        main(["-f", "code_review", *flags])
    assert ended.value.code == 1
    assert says in capsys.readouterr().err


def test_annotations_of_a_scheme_that_was_given_up_can_still_leave(
    committed_tenants: Tenants, project: Project, alice: Client, tmp_path: Path
) -> None:
    before = commanded(tmp_path, "code_review", ".jsonl", {})
    rewards = CONFIGURATION | {"annotation_schemes": [CONFIGURATION["annotation_schemes"][0]]}
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        publish_configuration(project=project, source=json.dumps(rewards), confirmed=True)
    assert 'value="code_review_verdicts"' in alice.get(f"/o/acme/p/{project.slug}/exports/new/").content.decode()
    assert commanded(tmp_path, "code_review", ".jsonl", {}) == before


def test_the_admin_refuses_a_format_that_only_another_project_can_fill(
    committed_tenants: Tenants, project: Project, alice: Client
) -> None:
    rewards = CONFIGURATION | {"annotation_schemes": [CONFIGURATION["annotation_schemes"][0]]}
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        other = Project.objects.create(slug="other", name="Other")
        publish_configuration(project=other, source=json.dumps(rewards), confirmed=True)
    sent = alice.post("/o/acme/admin/exports/export/add/", {"format": "code_review", "project": other.pk})
    assert (sent.status_code, "this project has no such scheme" in sent.content.decode()) == (200, True)


def test_a_wrong_option_is_refused_by_every_door(project: Project, committed_tenants: Tenants, alice: Client) -> None:
    refused = alice.post(
        f"/o/acme/api/v1/projects/{project.slug}/exports/",
        json.dumps({"format": "dpo", "options": {"min_score_gap": -1}}),
        content_type="application/json",
    )
    assert refused.status_code == 400
    assert "min_score_gap" in refused.content.decode()
    page = alice.post(f"/o/acme/p/{project.slug}/exports/", {"format": "dpo", "dpo.min_score_gap": "-1"}, follow=True)
    assert "min_score_gap: Input should be greater than or equal to 0" in page.content.decode()
    form = {"format": "dpo", "project": project.pk, "option_min_score_gap": "-1"}
    admin = alice.post("/o/acme/admin/exports/export/add/", form)
    assert admin.status_code == 200
    assert "min_score_gap" in admin.content.decode()
    with acting_in(committed_tenants.acme):
        assert not Export.objects.exists()
