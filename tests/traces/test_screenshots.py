"""Screenshots on their way: out of uploads, folders and archives, isolated, to those who may see the trace."""

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.db import connection
from django.test import Client
from PIL import Image

from accounts.actions.projects import publish_configuration
from accounts.models import Organisation
from assignments.actions.claiming import claim_next
from assignments.actions.submitting import submit
from assignments.models import Assignment
from jobs import runner
from jobs.models import Job
from tenancy.actor import Actor, acting_in
from tests.potato.runs.reading import jsonl
from tests.potato.runs.web_runs import HOSTILE, RUN, as_json, drawn, zipped
from tests.shared_data import shared_file
from tests.tenants import Tenants
from traces.actions import Imported, import_now, request_import
from traces.importing.screenshots import PICTURES_A_RUN
from traces.models import Body, ImportedFile, ImportProblem, Picture, Trace, TraceStep

pytestmark = pytest.mark.django_db(transaction=True)

PICTURES = {f"screenshot{number}.png": drawn(colour=f"#{number}{number}6699") for number in (1, 2, 3)}
FOLDER = {"interact_messages.json": as_json(RUN), **PICTURES}
CONFIGURATION = """\
task_name: "Pages"
agentic:
  display_type: web_agent
annotation_schemes:
  - name: verdict
    annotation_type: code_review_verdict
"""
WITHOUT_STEPS = CONFIGURATION.replace("agentic:", "agentic:\n  enabled: false")
REWARDS = "  - {name: rewards, annotation_type: process_reward, mode: first_error}\n"


def publish(tenants: Tenants, source: str = CONFIGURATION) -> None:
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=source, confirmed=True)


def claimed(tenants: Tenants) -> Assignment:
    with acting_in(tenants.acme, tenants.bob):
        given = claim_next(project=tenants.acme_project, user=tenants.bob)
        assert isinstance(given, Assignment), given
        return given


def approve(tenants: Tenants) -> None:
    given = claimed(tenants)
    with acting_in(tenants.acme, tenants.bob):
        annotations = {"verdict": {"decision": "approve", "summary": "It found the page that was asked for."}}
        submit(assignment=given, fencing_token=given.fencing_token, key="k", annotations=annotations)


def unpacked(folder: Path, members: dict[str, bytes]) -> Path:
    """A run's folder on this machine; the path of its messages."""
    for name, content in members.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder / "interact_messages.json"


def imported(tenants: Tenants, path: Path) -> Imported:
    return import_now(organisation=tenants.acme, project=tenants.acme_project, path=path)


def native(folder: Path, *screenshots: Any, **step: Any) -> Path:
    """A run of ours with these screenshots, a step each."""
    path = folder / "run.jsonl"
    steps = [{"message": "I look.", "screenshot": screenshot, **step} for screenshot in screenshots]
    path.write_bytes(jsonl({"id": "own", "task_description": "Look.", "steps": steps}))
    return path


def uploaded(tenants: Tenants, content: bytes, name: str) -> Job:
    with acting_in(tenants.acme, tenants.dora):
        file = request_import(project=tenants.acme_project, content=ContentFile(content, name=name))
    assert file.job_id is not None
    actor = Actor(tenants.acme.pk, (tenants.acme.pk,), tenants.dora.pk)
    for _ in range(20):
        runner.run(job_id=file.job_id, actor=actor)
        with acting_in(tenants.acme):
            job = Job.objects.get(pk=str(file.job_id))
        if not job.is_open:
            return job
    pytest.fail("the job does not end")


def steps_of(tenants: Tenants, external_id: str = "") -> list[tuple[TraceStep, dict[str, Any]]]:
    """The steps of the newest trace of that id, or of all, with what their bodies say of the screenshot."""
    with acting_in(tenants.acme):
        steps = TraceStep.objects.select_related("trace").order_by("trace", "index")
        rows = list(steps.filter(trace__external_id=external_id) if external_id else steps)
        return [(step, Body.objects.get(sha256=step.sha256).content.get("screenshot", {})) for step in rows]


def problems(tenants: Tenants) -> list[str]:
    with acting_in(tenants.acme):
        return list(ImportProblem.objects.values_list("sentence", flat=True))


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_a_zip_of_runs_brings_each_with_its_screenshots(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    members = {f"runs/{run}/{name}": content for run in ("form--1", "form--2") for name, content in FOLDER.items()}
    notes = {
        "runs/form--1/agent.log": b"notes",
        "__MACOSX/runs/form--1/interact_messages.json": b"\0",
        "a.pdf": b"%PDF",
    }
    job = uploaded(tenants, zipped({**members, **notes}), "runs.zip")

    assert job.result == {"imported": 2, "known": 0, "errors": 0}
    assert problems(tenants) == []
    steps = steps_of(tenants)
    assert [step.trace.external_id for step, _ in steps[::3]] == ["form--1", "form--2"]
    assert all(step.picture == shot["sha256"] and shot["width"] == 320 for step, shot in steps)
    with acting_in(tenants.acme):
        assert Picture.objects.count() == 3
        assert ImportedFile.objects.get().chosen == "webvoyager"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"PK\x03\x04 and no more", "bad_zip"),
        (zipped({"readme.md": b"Nothing"}), "nothing"),
        (zipped({"a.json": b"{}"}), "not_a_trace"),
        (zipped(FOLDER)[:-40], "bad_zip"),
    ],
)
def test_a_zip_that_brings_nothing_says_why(committed_tenants: Tenants, content: bytes, code: str) -> None:
    assert uploaded(committed_tenants, content, "runs.zip").error
    with acting_in(committed_tenants.acme):
        assert [problem.code for problem in ImportProblem.objects.all()] == [code]


def test_a_damaged_member_of_a_zip_is_told_and_the_others_come_in(committed_tenants: Tenants) -> None:
    whole = zipped({"a/run.jsonl": jsonl({"id": "a", "steps": [{"message": "x" * 500}]}), **FOLDER})
    damaged = whole.replace(b"x" * 500, b"y" * 500)
    job = uploaded(committed_tenants, damaged, "runs.zip")
    assert job.result["imported"] == 1
    assert [sentence for sentence in problems(committed_tenants) if "cannot be unpacked" in sentence]


def test_screenshots_are_found_beside_the_file(committed_tenants: Tenants, tmp_path: Path) -> None:
    result = imported(committed_tenants, unpacked(tmp_path / "form--3", FOLDER))
    assert (result.imported, result.errors) == (1, 0)
    assert [step.trace.external_id for step, shot in steps_of(committed_tenants) if shot["sha256"]] == ["form--3"] * 3


def test_a_project_is_loaded_with_the_screenshots_beside_its_data(committed_tenants: Tenants, tmp_path: Path) -> None:
    unpacked(tmp_path / "runs" / "form--4", FOLDER)
    (tmp_path / "project.yaml").write_text(
        CONFIGURATION.format(display="web_agent") + 'data_files: ["runs/form--4/interact_messages.json"]\n'
    )
    call_command("load_project", str(tmp_path / "project.yaml"), "--org", "acme", stdout=io.StringIO())
    assert all(step.picture for step, _ in steps_of(committed_tenants, "form--4"))


def test_a_screenshot_that_is_absent_is_named_and_counted(committed_tenants: Tenants, tmp_path: Path) -> None:
    tenants = committed_tenants
    here = {name: content for name, content in FOLDER.items() if name != "screenshot2.png"}
    imported(tenants, unpacked(tmp_path / "form--5", here))

    shots = [shot for _, shot in steps_of(tenants)]
    assert shots[1] == {"name": "screenshot2.png", "problem": "it did not come with the trace"}
    assert shots[0]["sha256"]
    assert shots[2]["sha256"]
    assert problems(tenants) == [
        "form--5: 1 of its screenshots did not come with it: screenshot2.png. Import a ZIP with the run and its "
        "screenshots to see them."
    ]
    with acting_in(tenants.acme):
        assert Trace.objects.get().report["repairs"] == {"screenshot that was not there": 1}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_is_no_picture_costs_no_run(committed_tenants: Tenants, tmp_path: Path, name: str) -> None:
    tenants = committed_tenants
    (tmp_path / name).write_bytes(HOSTILE[name])
    (tmp_path / "good.png").write_bytes(drawn())
    result = imported(tenants, native(tmp_path, name, "good.png"))

    assert (result.imported, result.errors) == (1, 0)
    (bad, bad_shot), (good, _) = steps_of(tenants)
    assert (bad.picture, bool(good.picture)) == ("", True)
    assert bad_shot["name"] == name
    assert problems(tenants) == [f"{name} cannot be shown: {bad_shot['problem']}. The step shows its name instead."]


def test_no_name_leads_out_of_the_folder(committed_tenants: Tenants, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(drawn())
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "inside.png").write_bytes(drawn())
    names = ["../secret.png", str(tmp_path / "secret.png"), "link.png", "in\0side.png", "x" * 5000, "inside.png"]
    imported(committed_tenants, native(folder, *names))

    steps = steps_of(committed_tenants)
    assert [bool(step.picture) for step, _ in steps] == [False, False, False, False, False, True]
    assert {shot.get("problem") for _, shot in steps[:5]} == {"it did not come with the trace"}


def test_a_hash_that_a_run_claims_shows_nothing(committed_tenants: Tenants, tmp_path: Path) -> None:
    """Else a person who imports could show a picture of a project that they do not see."""
    tenants = committed_tenants
    imported(tenants, unpacked(tmp_path / "form--6", FOLDER))
    with acting_in(tenants.acme):
        known = Picture.objects.first()
        assert known is not None
    imported(tenants, native(tmp_path, {"name": "mine.png", "sha256": known.sha256, "width": 10, "height": 10}))
    ((step, shot),) = steps_of(tenants, "own")
    assert step.picture == ""
    assert shot == {"name": "mine.png", "problem": "it did not come with the trace"}


def test_a_picture_inside_the_run_is_kept_once(committed_tenants: Tenants, tmp_path: Path) -> None:
    url = f"data:image/png;base64,{base64.b64encode(drawn()).decode()}"
    broken = "data:image/png;base64,%%%"
    imported(
        committed_tenants, native(tmp_path, url, {"name": "page", "data": url}, broken, url=" https://a.example/ ")
    )
    steps = steps_of(committed_tenants)
    assert [bool(step.picture) for step, _ in steps] == [True, True, False]
    assert [shot["name"] for _, shot in steps[:2]] == ["screenshot in the trace", "page"]
    with acting_in(committed_tenants.acme):
        assert Picture.objects.count() == 1
        trace = Trace.objects.get()
        assert b"base64" not in bytes(json.dumps(Body.objects.get(sha256=trace.content_sha256).content), "ascii")


def test_the_same_run_again_is_known_and_makes_no_picture_anew(committed_tenants: Tenants, tmp_path: Path) -> None:
    path = unpacked(tmp_path / "form--7", FOLDER)
    imported(committed_tenants, path)
    again = imported(committed_tenants, path)
    assert (again.imported, again.known) == (0, 1)
    with acting_in(committed_tenants.acme):
        assert Picture.objects.count() == 3


def test_a_run_with_too_many_screenshots_keeps_the_first(
    committed_tenants: Tenants, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("traces.importing.screenshots.PICTURES_A_RUN", 2)
    assert PICTURES_A_RUN == 1_000
    (tmp_path / "a.png").write_bytes(drawn())
    imported(committed_tenants, native(tmp_path, "a.png", "a.png", "a.png"))
    assert [bool(step.picture) for step, _ in steps_of(committed_tenants)] == [True, True, False]


def test_managers_and_the_annotator_of_the_trace_get_its_pictures_and_nobody_else(
    committed_tenants: Tenants, tmp_path: Path
) -> None:
    tenants = committed_tenants
    publish(tenants)
    imported(tenants, unpacked(tmp_path / "form--8", FOLDER))
    (step, _), *_ = steps_of(tenants)
    given = claimed(tenants)
    tail = f"pictures/{step.picture}/whole.webp"
    of_the_trace = f"/o/acme/p/parser/traces/{step.trace_id}/{tail}"
    of_the_task = f"/o/acme/p/parser/tasks/{given.pk}/{tail}"

    for user, address, status in (
        (tenants.alice, of_the_trace, 200),
        (tenants.bob, of_the_trace, 403),
        (tenants.bob, of_the_task, 200),
        (tenants.alice, of_the_task, 404),
        (tenants.charlie, of_the_trace, 404),
        (tenants.charlie, of_the_task, 404),
    ):
        answer = client_of(user).get(address)
        assert answer.status_code == status, (user, address)
        assert (b"WEBP" in answer.content[:16]) == (status == 200)

    alice = client_of(tenants.alice)
    for wrong in (
        tail.replace("whole", "source_sha256"),
        tail.replace("whole", "id"),
        f"pictures/{'0' * 64}/small.webp",
    ):
        assert alice.get(f"/o/acme/p/parser/traces/{step.trace_id}/{wrong}").status_code == 404


@pytest.mark.parametrize(("judges_steps", "status"), [(True, 200), (False, 404)])
def test_where_the_trace_is_switched_off_pictures_are_for_those_who_judge_steps(
    committed_tenants: Tenants, tmp_path: Path, judges_steps: bool, status: int
) -> None:
    tenants = committed_tenants
    publish(tenants, WITHOUT_STEPS + (REWARDS if judges_steps else ""))
    imported(tenants, unpacked(tmp_path / "form--8", FOLDER))
    (step, _), *_ = steps_of(tenants)
    task, bob = f"/o/acme/p/parser/tasks/{claimed(tenants).pk}/", client_of(tenants.bob)
    assert bob.get(f"{task}steps/").status_code == status
    for size in ("whole", "small"):
        answer = bob.get(f"{task}pictures/{step.picture}/{size}.webp")
        assert answer.status_code == status
        assert (b"WEBP" in answer.content[:16]) is judges_steps


def test_a_picture_is_sent_as_a_picture_and_nothing_else(committed_tenants: Tenants, tmp_path: Path) -> None:
    imported(committed_tenants, unpacked(tmp_path / "form--9", FOLDER))
    (step, _), *_ = steps_of(committed_tenants)
    address = f"/o/acme/p/parser/traces/{step.trace_id}/pictures/{step.picture}/small.webp"
    answer = client_of(committed_tenants.alice).get(address)
    assert answer["Content-Type"] == "image/webp"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cache-Control"] == "private, max-age=31536000, immutable"
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert Image.open(io.BytesIO(answer.content)).size == (160, 100)


def test_another_organisation_does_not_even_see_that_the_picture_is_there(
    committed_tenants: Tenants, tmp_path: Path
) -> None:
    imported(committed_tenants, unpacked(tmp_path / "form--10", FOLDER))
    with acting_in(committed_tenants.birch), connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM traces_picture")
        assert cursor.fetchone() == (0,)
    with acting_in(committed_tenants.birch):
        assert not Picture.objects.exists()


def test_screenshots_survive_an_archive(committed_tenants: Tenants, tmp_path: Path) -> None:
    tenants = committed_tenants
    publish(tenants)
    tall = drawn(120, 9_000)
    here = {**FOLDER, "screenshot1.png": tall, "screenshot3.png": HOSTILE["half.png"]}
    imported(tenants, unpacked(tmp_path / "form--11", here))
    approve(tenants)
    call_command("export", "--project", "acme/parser", "-f", "archive", "-o", str(tmp_path / "archive"))

    for project, organisation in (("copy", "my-lab"), ("copy", "my-lab"), ("copy", "acme")):
        call_command(
            "load_project", str(tmp_path / "archive"), "--org", organisation, "--project", project, stdout=io.StringIO()
        )
    with acting_in(tenants.acme):
        original = Trace.objects.get(project=tenants.acme_project)
        rows = Trace.objects.get(project__slug="copy")
        assert rows.content_sha256 == original.content_sha256
        pictures = list(Picture.objects.order_by("sha256").values_list("sha256", "whole"))
    with acting_in(Organisation.objects.get(slug="my-lab")):
        there = Trace.objects.get()
        assert there.content_sha256 == original.content_sha256
        assert list(there.steps.values_list("sha256", "picture")) != []
        assert list(Picture.objects.order_by("sha256").values_list("sha256", "whole")) == pictures


def test_a_real_run_comes_in_whole(committed_tenants: Tenants) -> None:
    imported(committed_tenants, shared_file("web-agent/webvoyager/taskArXiv--11/interact_messages.json"))
    steps = steps_of(committed_tenants, "taskArXiv--11")
    assert [bool(step.picture) for step, _ in steps] == [True] * 7
    assert {(shot["width"], shot["height"]) for _, shot in steps} == {(1024, 768)}

    imported(committed_tenants, shared_file("web-agent/webvoyager/taskGitHub--0/interact_messages.json"))
    assert [shot["name"] for _, shot in steps_of(committed_tenants, "taskGitHub--0")] == [
        f"screenshot{number}.png" for number in range(1, 6)
    ]


def seen_by_tools(tenants: Tenants, folder: Path, **more: Any) -> None:
    """A run with a tool that gave a picture back twice and one that is absent, and an agent whose tool gave another."""
    urls = [
        f"data:image/png;base64,{base64.b64encode(drawn(colour=colour)).decode()}" for colour in ("#123456", "#654321")
    ]
    first, second = urls
    inner = {"message": "I look, too.", "tool_calls": [{"name": "look", "result": "", "pictures": [second]}]}
    step = {
        "message": "I look.",
        "tool_calls": [{"id": "a", "name": "look", "result": "Two pages.", "pictures": [first, first, "absent.png"]}],
        "agents": [{"name": "helper", "call_id": "a", "steps": [inner]}],
        **more,
    }
    path = folder / "seen.jsonl"
    path.write_bytes(jsonl({"id": "seen", "task_description": "Look.", "steps": [step, {"message": "Done."}]}))
    imported(tenants, path)


def test_pictures_that_tools_gave_back_are_shown_below_their_results(
    committed_tenants: Tenants, tmp_path: Path
) -> None:
    tenants = committed_tenants
    publish(tenants, CONFIGURATION.replace("web_agent", "coding_trace"))
    seen_by_tools(tenants, tmp_path)

    with acting_in(tenants.acme):
        trace = Trace.objects.get()
        first, last = trace.steps.all()
        sizes = {picture.sha256: len(picture.whole) for picture in Picture.objects.all()}
    assert (first.picture, first.result_pictures, last.result_pictures) == ("", sorted(sizes), [])
    assert len(sizes) == 2
    assert problems(tenants) == [
        "seen: 1 of its screenshots did not come with it: absent.png. Import a ZIP with the run and its screenshots to "
        "see them."
    ]
    client = client_of(tenants.dora)
    page = client.get(f"/o/acme/p/parser/traces/{trace.pk}/steps/").content.decode()
    shown = re.findall(r'<img src="\.\./pictures/([0-9a-f]{64})/whole\.webp"', page)
    assert (len(shown), set(shown)) == (3, set(sizes))
    for mark in ("absent.png", "it did not come with the trace", "css/screenshots", 'id="zoom"'):
        assert mark in page
    assert 'class="filmstrip"' not in page
    for sha256 in sizes:
        answer = client.get(f"/o/acme/p/parser/traces/{trace.pk}/pictures/{sha256}/whole.webp")
        assert (answer.status_code, len(answer.content)) == (200, sizes[sha256])
    assert client.get(f"/o/acme/p/parser/traces/{trace.pk}/pictures/{'0' * 64}/whole.webp").status_code == 404


def test_a_hash_that_a_result_claims_shows_nothing(committed_tenants: Tenants, tmp_path: Path) -> None:
    tenants = committed_tenants
    imported(tenants, unpacked(tmp_path / "form--12", FOLDER))
    with acting_in(tenants.acme):
        known = Picture.objects.first()
        assert known is not None
    claim = {"name": "mine.png", "sha256": known.sha256, "width": 10, "height": 10}
    call = {"name": "look", "result": "", "pictures": [claim]}
    agent = {"name": "helper", "steps": [{"message": "I look.", "tool_calls": [call]}]}
    imported(tenants, native(tmp_path, None, tool_calls=[call], agents=[agent]))
    with acting_in(tenants.acme):
        step = TraceStep.objects.get(trace__external_id="own")
        body = Body.objects.get(sha256=step.sha256).content
    assert step.result_pictures == []
    refused = [{"name": "mine.png", "problem": "it did not come with the trace"}]
    assert body["calls"][0]["pictures"] == refused
    assert body["agents"][0]["steps"][0]["calls"][0]["pictures"] == refused


def test_pictures_of_results_survive_an_archive(committed_tenants: Tenants, tmp_path: Path) -> None:
    tenants = committed_tenants
    publish(tenants, CONFIGURATION.replace("web_agent", "coding_trace"))
    seen_by_tools(tenants, tmp_path)
    approve(tenants)
    call_command("export", "--project", "acme/parser", "-f", "archive", "-o", str(tmp_path / "archive"))
    call_command(
        "load_project", str(tmp_path / "archive"), "--org", "my-lab", "--project", "copy", stdout=io.StringIO()
    )
    with acting_in(tenants.acme):
        original = Trace.objects.get()
        pictures = sorted(Picture.objects.values_list("sha256", flat=True))
    with acting_in(Organisation.objects.get(slug="my-lab")):
        there = Trace.objects.get()
        assert there.content_sha256 == original.content_sha256
        assert there.steps.get(index=0).result_pictures == pictures
        assert sorted(Picture.objects.values_list("sha256", flat=True)) == pictures


def test_pictures_that_a_person_sent_are_shown_before_the_step_and_survive_an_archive(
    committed_tenants: Tenants, tmp_path: Path
) -> None:
    tenants = committed_tenants
    publish(tenants, CONFIGURATION.replace("web_agent", "coding_trace"))
    sent = [f"data:image/png;base64,{base64.b64encode(drawn(colour='#336699')).decode()}"]
    asked = {"message": "I see a lamp.", "prompt_pictures": sent}
    also = {"message": "It is off.", "prompt": "And this?", "prompt_pictures": sent}
    thanked = {"message": "Done.", "after": "Now it is on.", "after_pictures": sent}
    record = {"id": "sent", "task_description": "What is it?", "steps": [asked, also, thanked]}
    path = tmp_path / "sent.jsonl"
    path.write_bytes(jsonl(record))
    imported(tenants, path)
    with acting_in(tenants.acme):
        trace = Trace.objects.get()
        (picture,) = Picture.objects.values_list("sha256", flat=True)
        assert [step.result_pictures for step in trace.steps.all()] == [[picture], [picture], [picture]]
    client = client_of(tenants.dora)
    page = client.get(f"/o/acme/p/parser/traces/{trace.pk}/steps/").content.decode()
    assert page.count('aria-label="Enlarge: picture that the user sent"') == 3
    behind = page[page.index("The user said, after this step") :]
    assert behind.count('aria-label="Enlarge: picture that the user sent"') == 1
    assert ("The user sent, before this step" in page, "The user said, before this step" in page) == (True, True)
    assert client.get(f"/o/acme/p/parser/traces/{trace.pk}/pictures/{picture}/whole.webp").status_code == 200
    approve(tenants)
    call_command("export", "--project", "acme/parser", "-f", "archive", "-o", str(tmp_path / "archive"))
    call_command(
        "load_project", str(tmp_path / "archive"), "--org", "my-lab", "--project", "copy", stdout=io.StringIO()
    )
    with acting_in(Organisation.objects.get(slug="my-lab")):
        assert Trace.objects.get().content_sha256 == trace.content_sha256
        assert list(Picture.objects.values_list("sha256", flat=True)) == [picture]
