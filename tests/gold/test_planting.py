"""A manager has faults planted in traces that are known to be good: a job makes gold of copies like the rest."""

import html
import json
from pathlib import Path
from uuid import UUID

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.actions.projects import publish_configuration
from accounts.models import AuditEvent
from assignments.models import Assignment, Kind, Submission, TraceQuota
from gold.actions import retire
from gold.attention import planted_without_reports
from gold.models import ExpectedAnnotation, Origin, Use
from gold.planting import NotPlantable, plant, request_planting, sources
from jobs.models import Job
from jobs.runner import run
from potato.runs.model import AgentRun, ConversionReport, Converted
from tenancy.actor import acting, acting_in
from tenancy.models import new_id
from tests.agreement.conftest import Comparing
from tests.assignments.reviews import dumps
from tests.tenants import Tenants
from tests.traces.stored import outcome, step, stored
from traces.evidence.checks import stored_reports
from traces.importing.storing import store_run
from traces.models import CheckReport, ImportedFile, Trace

OLD = """def pages(rows, size):
    return rows
"""
NEW = """def pages(rows, size):
    first = 0
    made = []
    while first < len(rows):
        made.append(rows[first : first + size])
        first = first + size
    if not made:
        raise ValueError("no rows")
    return made
"""
PLANT = "/o/acme/p/parser/gold/plant/"


@pytest.fixture
def reviewed(committed_tenants: Tenants, tmp_path: Path) -> Comparing:
    """Four traces with a change that two people have judged, and one that is still given out."""
    made = Comparing(committed_tenants, committed_tenants.acme_project, tmp_path)
    made.publish(target=2)
    for number in range(4):
        add_trace(made, f"trace_10{number}")
    for person in (committed_tenants.bob, committed_tenants.dora):
        for _ in range(4):
            claimed = made.claim(person)
            made.submit_annotations(claimed, ANSWERS)
    add_trace(made, "trace_104")
    return made


ANSWERS = {
    "inline_comments": [],
    "file_ratings": {"src/pages.py": {"correctness": 5, "quality": 4}},
    "verdict": {"decision": "approve", "summary": ""},
    "process_reward": {"step_details": {"0": {"label": "correct"}}},
}


def add_trace(made: Comparing, name: str) -> Trace:
    change = outcome("src/pages.py", OLD, NEW)
    return stored(made.tenants.acme, made.project, change, external_id=name, steps=(step(f"I write {name}."),))


def work(made: Comparing) -> Job:
    with acting(made.actor):
        job = Job.objects.get(kind="plant_faults")
    while job.is_open:
        run(job_id=job.pk, actor=made.actor)
        with acting(made.actor):
            job.refresh_from_db()
        assert not job.failures, job.error
    return job


def test_a_manager_plants_faults_on_a_page_and_they_are_given_as_gold_with_what_is_expected(
    reviewed: Comparing, client: Client
) -> None:
    tenants = reviewed.tenants
    client.force_login(tenants.mallory)
    page = client.get(PLANT).content.decode()
    assert "trace_103" in page
    assert "trace_104" not in page
    answer = client.post(PLANT, {"number": "3", "seed": "7", "kind": "off_by_one", "use": "gold"}, follow=True)
    assert "Faults are being planted" in answer.content.decode()
    job = work(reviewed)
    assert (job.state, job.result) == ("done", {"planted": 3, "problems": []})
    assert "3 planted" in client.get("/o/acme/p/parser/gold/").content.decode()
    with acting(reviewed.actor):
        gold = list(ExpectedAnnotation.objects.select_related("trace", "source"))
        assert {(row.origin, row.use, row.fault) for row in gold} == {(Origin.PLANTED, Use.GOLD, "off_by_one")}
        assert all(row.trace.external_id.startswith("trace_") for row in gold)
        assert (
            len({row.trace.external_id for row in gold} | {row.source.external_id for row in gold if row.source}) == 6
        )
        for row in gold:
            (comment,) = row.annotations["inline_comments"]
            assert (comment["file"], row.annotations["verdict"]["decision"]) == ("src/pages.py", "request_changes")
            assert row.why
            # Out of the queue from the moment that it is there.
            assert TraceQuota.objects.get(trace=row.trace).withheld == "known_answer"
        assert AuditEvent.objects.filter(verb="gold.planted").count() == 1
        # What had a fault planted is no source any more.
        assert sources(reviewed.project).count() == 1


def test_the_same_seed_draws_the_same_traces_and_what_cannot_be_planted_in_is_said(reviewed: Comparing) -> None:
    with acting_in(reviewed.tenants.acme, reviewed.tenants.alice):
        first, again = (request_planting(project=reviewed.project, traces=(), number=2, seed=5) for _ in range(2))
        assert first.parameters == again.parameters
        open_one = Trace.objects.get(external_id="trace_104")
        for words, arguments in (
            ("still given to annotators", {"traces": [open_one.pk], "number": 1, "seed": 1}),
            ("no kind of fault", {"traces": (), "number": 1, "seed": 1, "kind": "typo"}),
            ("A seed is a whole number", {"traces": (), "number": 1, "seed": -1}),
        ):
            with pytest.raises(NotPlantable, match=words):
                request_planting(project=reviewed.project, **arguments)  # type: ignore[arg-type]  # as named


def test_a_manager_reads_what_was_planted_and_expects_something_else_of_it(reviewed: Comparing, client: Client) -> None:
    call_command("gold", "plant", "acme/parser", "--trace", "trace_100", "--kind", "dropped_check", "--seed", "3")
    work(reviewed)
    with acting(reviewed.actor):
        expected = ExpectedAnnotation.objects.get()
    client.force_login(reviewed.tenants.mallory)
    address = f"/o/acme/p/parser/gold/{expected.pk}/"
    assert address in client.get("/o/acme/p/parser/gold/").content.decode()
    page = client.get(address).content.decode()
    assert "A planted fault: dropped check" in page
    planted = page[page.index("What was planted") : page.index("What is expected")]
    assert "no rows" in planted, "the line that went"
    assert "Request Changes" in page
    assert expected.why in html.unescape(page)
    (comment,) = expected.annotations["inline_comments"]
    other = {**expected.annotations, "inline_comments": [{**comment, "line_start": 4, "line_end": 4}]}
    for typed, words in (
        ("{", "is no JSON"),
        ('{"verdict": NaN}', "NaN is no number"),
        ("[]", "is an object"),
        ('{"typo": {}}', "typo is no scheme of the project"),
        ("{}", "says nothing to score by"),
        ('{"verdict": {"decision": "no_such"}}', "Nobody could answer what is expected"),
        ('{"file_ratings": {"src/pages.py": {"correctness": 99}}}', "Nobody could answer what is expected"),
        ('{"file_ratings": {"src/nowhere.py": {"correctness": 5}}}', "Nobody could answer what is expected"),
        (json.dumps({"inline_comments": [{**comment, "category": "no_such"}]}), "Nobody could answer"),
        (json.dumps({"inline_comments": [{**comment, "line_start": -3, "line_end": -3}]}), "Nobody could answer"),
    ):
        refused = client.post(address, {"annotations": typed, "why": "I know better."})
        assert (refused.status_code, words in refused.content.decode()) == (422, True), words
        assert "I know better." in refused.content.decode(), "what was typed stays"
    client.post(address, {"annotations": json.dumps(other), "why": "The loop is wrong."})
    with acting(reviewed.actor):
        changed = ExpectedAnnotation.objects.get()
        assert (changed.annotations, changed.why) == (other, "The loop is wrong.")
        assert AuditEvent.objects.filter(verb="gold.changed").count() == 1
    client.post(f"{address}retire/")
    late = client.post(address, {"annotations": json.dumps(expected.annotations), "why": ""})
    assert "is retired" in late.content.decode()


@pytest.mark.usefixtures("addresses")
def test_no_id_and_no_missing_report_tells_a_planted_copy(reviewed: Comparing) -> None:
    """Annotators read the id of a trace, which has its time in it, and what tests and checkers say of the change."""
    long_ago = UUID(int=(new_id().int >> 80) - 10**9 << 80 | new_id().int & ~(-1 << 80))
    with acting_in(reviewed.tenants.acme, reviewed.tenants.alice):
        change = outcome("src/pages.py", OLD, NEW)
        made = AgentRun("trace_090", task="Pages", events=(change,), event_steps=(None,), steps=(step("I write."),))
        file = ImportedFile.objects.create(
            project=reviewed.project, name="runs", size=1, sha256="0" * 64, format="auto", chosen="native"
        )
        store_run(Converted(made, ConversionReport(), 1), file, long_ago)
        source = Trace.objects.get(pk=long_ago)
        finding = {"path": "/build/src/pages.py", "line": 9, "level": "warning", "rule": "R1", "message": "Long."}
        CheckReport.objects.create(
            project=reviewed.project,
            file=file,
            identity_sha256="1" * 64,
            kind="junit",
            name="unit",
            external_id="trace_090",
            outcome="passed",
            passed=31,
            findings=1,
            content={"tests": [], "findings": [finding]},
        )
        expected = plant(trace=source, file=file, seed=3, kind="dropped_check", use=Use.GOLD)
        copy = expected.trace
        assert copy.pk.int >> 80 == long_ago.int >> 80
        assert copy.pk != long_ago
        (of_source,), (of_copy,) = stored_reports(source), stored_reports(copy)
        assert (of_copy.outcome, of_copy.passed, of_copy.name) == ("passed", 31, "unit")
        # The two lines of the check are gone, and what was behind them has moved.
        assert of_copy.content["findings"] == [{**finding, "line": 7}]
        assert of_source.content["findings"] == [finding]
        assert TraceQuota.objects.get(trace=copy).withheld == "known_answer"
        # What comes later is of the source alone, and the manager hears of it.
        assert list(planted_without_reports(reviewed.project)) == []
        of_source.pk, of_source.identity_sha256, of_source.name = new_id(), "2" * 64, "lint"
        of_source.save(force_insert=True)
        (matter,) = planted_without_reports(reviewed.project)
        assert matter.sentence == "1 planted trace lacks a report of tests or checkers."
        retire(expected=expected)
        assert list(planted_without_reports(reviewed.project)) == []


def test_a_change_without_a_place_for_the_kind_is_named_with_its_reason(reviewed: Comparing) -> None:
    call_command("gold", "plant", "acme/parser", "--trace", "trace_100", "--kind", "removed_await")
    job = work(reviewed)
    assert job.result["planted"] == 0
    (problem,) = job.result["problems"]
    assert problem.startswith("trace_100: ")
    with acting(reviewed.actor):
        assert not ExpectedAnnotation.objects.exists()
        assert Trace.objects.count() == 5


def test_who_judged_the_source_is_never_given_the_copy_and_others_are(reviewed: Comparing, client: Client) -> None:
    tenants = reviewed.tenants
    call_command("gold", "plant", "acme/parser", "--trace", "trace_100", "--seed", "3")
    work(reviewed)
    with acting_in(tenants.acme, tenants.alice):
        source = {
            "task_name": "Review",
            "annotation_schemes": [{"name": "verdict", "annotation_type": "code_review_verdict"}],
            "assignment": {"annotations_per_trace": 2, "order": "random"},
            "gold": {"rate": 0.5},
        }
        publish_configuration(project=reviewed.project, source=dumps(source), confirmed=True)
    for number in range(5, 15):
        add_trace(reviewed, f"trace_1{number:02}")
    for person, expected in ((tenants.bob, 0), (tenants.mallory, 1)):
        for _ in range(10):
            claimed = reviewed.claim(person)
            reviewed.submit_annotations(
                claimed, {"verdict": {"decision": "approve", "summary": "It is fine just as it is."}}
            )
        with acting(reviewed.actor):
            assert Assignment.objects.filter(user=person, kind=Kind.GOLD).count() == expected
    with acting(reviewed.actor):
        assert Submission.objects.filter(is_check=True).count() == 1
