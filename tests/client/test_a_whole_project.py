"""With the client alone, on a running site: from the documents' YAML to every export, compared with what went in."""

import asyncio
import hashlib
import json
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from potato.api.adjudication import NewSettlement, ToSettle
from potato.api.sources import SourceName
from potato.client import (
    AsyncClient,
    Client,
    Conflict,
    InvalidRequest,
    JobFailed,
    NotAcceptable,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    Refused,
    ScopeNeeded,
)
from potato.formats.registry import formats
from tests.client.annotating import ANNOTATORS, annotation, changed_lines, documented
from tests.client.conftest import Site
from tests.event_loops import run_apart
from tests.faults.conftest import eventually
from tests.shared_data import shared_file

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

JUDGE = SourceName(name="judge", version="1")
RUNS = ("github_issue", "astropy__astropy-7336", "pydata__xarray-4629")


def settlements(taken: ToSettle) -> list[NewSettlement]:
    """Whatever is open is as the first annotation has it."""
    return [
        NewSettlement(
            scheme=question.scheme, key=question.key, how="kept", taken_from=[question.answers[0].annotation], note="a"
        )
        for question in taken.questions
        if question.is_open
    ]


def test_a_program_does_all_of_a_project_with_the_client_alone(site: Site, tmp_path: Path) -> None:
    boss = Client(site.address, site.token)
    assert (boss.whoami().name, boss.whoami().role) == ("dora", "admin")
    # The project of the documents.
    broken = boss.check("annotation_schemes: [{name: x}]")
    assert not broken.is_publishable
    assert broken.problems[0].line == 1
    made = boss.make_project("both", "Both documents", source=documented())
    assert (made.slug, made.version) == ("both", None)
    project = boss.project("both")
    with pytest.raises(NotAcceptable) as refused:
        project.publish("annotation_schemes: 3")
    assert refused.value.code == "not_publishable"
    assert refused.value.facts["problems"]
    assert project.publish(documented()).number == project.publish(documented()).number == 1

    # Runs as they lie in a folder.
    folder = tmp_path / "runs"
    folder.mkdir()
    shown: dict[str, int] = {}
    for name in RUNS:
        content = shared_file(f"mini-swe-agent/{name}.traj.json").read_bytes()
        (folder / f"{name}.traj.json").write_bytes(content)
        if isinstance(facts := json.loads(content), dict):
            shown |= changed_lines(facts["info"]["submission"])
    (one,) = project.import_files(folder)
    assert (one.state, one.imported, one.files) == ("done", len(RUNS), len(RUNS))
    (again,) = project.import_files(folder)
    assert (again.imported, again.known) == (0, len(RUNS))
    steps = {trace.external_id: trace.steps for trace in project.traces()}
    assert len(steps) == len(RUNS)
    assert [trace.external_id for trace in project.traces(q="astropy")] == [name for name in steps if "astropy" in name]

    # What a manager steers with.
    (batch,) = project.batches()
    assert (batch.state, batch.traces) == ("open", len(RUNS))
    assert project.preview_release(take="share", share=50, seed=3).taken == 0, "the pool is empty"
    assert project.change_batch(batch, name="First", priority="high").priority == "high"
    pilot = min(steps)
    assert project.steer_traces("tag", [pilot], tag="pilot").done == 1
    assert [trace.external_id for trace in project.traces(tag="pilot")] == [pilot]
    held_back = project.steer_traces("hold_back", {"tag": ["pilot"]})
    assert project.undo_steering(held_back).sentence
    with pytest.raises(InvalidRequest):
        project.steer_traces("exclude", [])
    assert project.pause("The rules change.").reason == "The rules change."
    assert project.paused().paused
    assert not project.go_on().paused
    assert list(project.rules()) == []
    assert project.skips().total == 0

    # Three annotators, each with a token of their own that may do no more.
    submitted: dict[tuple[str, str], Any] = {}
    for number, name in enumerate(ANNOTATORS):
        boss.make_service_account(name)
        project.put_person(name, "annotator")
        token = boss.make_token("a rule", acts_as=name, scopes=["annotate", "read"]).text
        assert token is not None
        with Client(site.address, token) as annotator:
            with pytest.raises(NotAllowed):
                annotator.project("both").request_export("code_review")
            while (assignment := annotator.project("both").next().assignment) is not None:
                detail, trace = annotator.assignment(assignment.id), assignment.trace.external_id
                said = annotation(annotator, number, detail, steps[trace], shown)
                annotator.save_draft(assignment, said)
                with pytest.raises(NotAcceptable) as incomplete:
                    annotator.submit(assignment, {**said, "verdict": {}})
                assert incomplete.value.facts["gaps"]
                first = annotator.submit(assignment, said, key=f"{name}-{assignment.id}")
                assert annotator.submit(assignment, said, key=f"{name}-{assignment.id}") == first
                submitted[trace, name] = said
            own = list(annotator.project("both").records(mine=True))
            assert [record["annotator"] for record in own] == [name] * len(RUNS)
    assert len(submitted) == len(RUNS) * len(ANNOTATORS)
    records = list(project.records())
    assert {(record["id"], record["annotator"]): record["annotations"] for record in records} == submitted
    assert not [record for record in records if "via" in record], "service accounts act for nobody"

    # Somebody reviews some of it, and takes the decision back.
    assert project.review_queue().count == 0, "no rule of the project asks for it"
    assert project.take_to_review() is None
    reviewed = next(iter(project.submissions()))
    decision = boss.accept(reviewed, seen=0)
    with pytest.raises(Conflict):
        boss.void(reviewed, "At random", seen=0)
    assert [one.id for one in project.decisions(outcome="accepted")] == [decision.id]
    assert boss.undo_decision(decision).takes_back
    assert [one.takes_back for one in boss.decisions_of(reviewed)] == [False, True]
    assert project.steer_person(ANNOTATORS[0], paused=True, reason="Thank you").paused
    assert not project.steer_person(ANNOTATORS[0], paused=False).paused
    assert project.steer_people("limit", ANNOTATORS, limit=100).done == len(ANNOTATORS)
    with pytest.raises(Conflict):  # They hold nothing.
        project.give_back_tasks(people=ANNOTATORS)

    # Somebody settles what they disagree about.
    # A job compares what was submitted.
    eventually(lambda: len(project.adjudication_queue()) == len(RUNS), "all traces wait for an adjudicator")
    settled = {}
    while (taken := project.take_to_settle()) is not None:
        settled[taken.trace] = boss.settle(taken, settlements(taken)).record["annotations"]
    assert settled.keys() == steps.keys()
    assert {row.trace for row in project.adjudications()} == steps.keys()
    for trace, annotations in settled.items():
        assert annotations["verdict"]["decision"] in {
            submitted[trace, name]["verdict"]["decision"] for name in ANNOTATORS
        }

    # How far they agree: two of three say the same of everything.
    report = project.agreement(samples=20)
    assert (report.state, report.shared_traces) == ("done", len(RUNS))
    assert report.figures is not None
    assert report.figures["annotators"] == len(ANNOTATORS)

    # Every export, whose file is what the site says, and some of them read.
    files: dict[str, Path] = {}
    refused_formats: dict[str, str] = {}
    for name, format in formats().items():
        output = tmp_path / "exports" / f"{name}{format.suffix}"
        try:
            ready = project.export(name, output)
        except JobFailed as failed:
            refused_formats[name] = str(failed)
            continue
        assert hashlib.sha256(output.read_bytes()).hexdigest() == ready.sha256, name
        files[name] = output
    assert list(refused_formats) == ["dpo"]
    assert "no two traces of one task" in refused_formats["dpo"]
    rows = [json.loads(line) for line in files["code_review"].read_text().splitlines()]
    assert {
        (row["id"], row["annotator"]): row["annotations"] for row in rows if (row["id"], row["annotator"]) in submitted
    }
    with ZipFile(files["archive"]) as archive:
        kept = [json.loads(line) for line in archive.read("annotations.jsonl").decode().splitlines()]
    by_person = {(row["id"], row["annotator"]): row["annotations"] for row in kept if row["annotator"] in ANNOTATORS}
    assert by_person == submitted
    assert len(project.to_pandas(surplus=True)) >= len(submitted)

    # A schedule makes the same file by itself.
    schedule = project.make_export_schedule("Nightly", "archive", interval_minutes=60)
    project.run_export_schedule(schedule)
    runs = partial(project.export_schedule_runs, schedule)
    eventually(lambda: [one for one in runs() if one.finished_at], "the scheduled export is there")
    assert [(one.state, one.error) for one in runs()] == [("done", "")]
    scheduled = list(project.exports())[-1]
    project.download_export(scheduled, tmp_path / "scheduled.zip")
    with ZipFile(tmp_path / "scheduled.zip") as archive:
        assert [json.loads(line) for line in archive.read("annotations.jsonl").decode().splitlines()] == kept
    project.remove_export_schedule(schedule)
    assert list(project.export_schedules()) == []
    reports = project.make_agreement_schedule("Weekly", cron="0 4 * * 1", settings={"samples": 0})
    project.run_agreement_schedule(reports)
    runs_of_reports = partial(project.agreement_schedule_runs, reports)
    eventually(lambda: [one for one in runs_of_reports() if one.finished_at], "the scheduled report is there")
    assert [one.state for one in runs_of_reports()] == ["done"]
    assert project.pause_agreement_schedule(reports).is_paused
    project.remove_agreement_schedule(reports)
    assert reports.id not in {one.id for one in project.agreement_schedules()}

    # A judge beside the people says what the first annotator said, and is as near to them.
    first_annotator = {trace: said for (trace, name), said in submitted.items() if name == ANNOTATORS[0]}
    judged = [{"id": trace, "annotations": said} for trace, said in first_annotator.items()]
    answered = project.add_answers([*judged, {"id": "nowhere", "annotations": {}}], source=JUDGE)
    assert (answered.taken, [one.place for one in answered.refused]) == (len(RUNS), [len(RUNS) + 1])
    assert project.add_answers(judged, source=JUDGE).known == len(RUNS)
    (source,) = project.sources()
    assert (source.name, source.answers) == ("judge", len(RUNS))
    assert {one.id: one.annotations for one in project.source_answers(source)} == first_annotator
    compared = project.compare_source(source)
    assert (compared.state, compared.answers) == ("done", len(RUNS))
    assert compared.id in {one.id for one in project.source_reports(source)}

    # What was settled is known, and scores whoever comes next.
    known = project.expect([{"id": trace, "annotations": said} for trace, said in settled.items()])
    assert {one.external_id for one in known} == settled.keys()
    wrong = {"verdict": {"decision": "perhaps"}}
    with pytest.raises(Refused, match="Nobody could answer what is expected"):
        project.change_expected(known[0], wrong)
    changed = project.change_expected(known[0], known[0].annotations, why="Settled by all.")
    assert (changed.id, changed.annotations, changed.why) == (known[0].id, known[0].annotations, "Settled by all.")
    assert project.retire_expected(known[0]).retired_at is not None
    assert [one.id for one in project.expected()] == [one.id for one in known]
    assert list(project.gold_scores()) == []
    assert project.gold_standings().results == []

    # What is of the organisation.
    hook = boss.make_webhook("https://example.org/hook", ["export.finished"], project="both")
    assert hook.secret
    assert boss.change_webhook(hook, state="paused").state == "paused"
    assert [one.id for one in boss.webhooks()] == [hook.id]
    assert list(boss.deliveries(hook)) == []
    boss.remove_webhook(hook)
    assert boss.webhooks() == []
    exports_made = list(boss.jobs(kind=["export_annotations"], state="done"))
    assert len(exports_made) >= len(files)
    assert boss.job(exports_made[0].id).kind == "export_annotations"
    assert {one.verb for one in boss.audit()} >= {"membership.added", "token.made", "webhook.made"}
    assert {one.verb for one in boss.audit(project="both")} >= {"configuration.published"}

    with pytest.raises(NotFound):
        boss.project("nowhere").state()
    with pytest.raises(InvalidRequest) as taken_already:
        boss.make_project("both", "Again")
    assert [fault.path for fault in taken_already.value.faults] == [("slug",)]
    reading = boss.make_token("reading", acts_as="dora", scopes=["read"]).text
    with Client(site.address, reading) as reader, pytest.raises(ScopeNeeded):
        reader.project("both").request_export("archive")
    (revoked,) = [one for one in boss.tokens() if one.name == "reading"]
    boss.revoke_token(revoked)
    with Client(site.address, reading) as reader, pytest.raises(NotAuthenticated):
        reader.whoami()
    assert run_apart(asyncio.run, asked_by_asyncio(site)) == list(project.records())
    boss.close()


async def asked_by_asyncio(site: Site) -> list[dict[str, Any]]:
    async with AsyncClient(site.address, site.token) as client:
        project = client.project("both")
        whoami, people = await asyncio.gather(client.whoami(), project.people())
        assert whoami.name == "dora"
        assert {one.name for one in people.people} >= set(ANNOTATORS)
        return [record async for record in project.records()]
