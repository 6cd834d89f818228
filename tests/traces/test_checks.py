"""Reports of tests and checkers beside the runs: joined by id, shown with the change, and gone with their import."""

import io
import json
import re
import zipfile
from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client

from accounts.actions.projects import publish_configuration
from adjudication.conflicts import tests_of as tests_said_by
from assignments.pool.filters import CHECKS, PoolFilters
from assignments.pool.listing import PoolList
from tenancy.actor import acting_in
from tests.pages import assert_harmless, text_of
from tests.potato.checks.test_reports import INSTANCE, JUNIT, SARIF, SUMMARY
from tests.stories.reviewing import claimed
from tests.tenants import Tenants
from tests.traces.stored import code, outcome, step, stored
from tests.traces.test_imports import upload
from traces.evidence.checks import checks_of
from traces.models import CheckReport, ImportProblem, Trace, TraceFile
from traces.undoing import undo_import

tests_said_by.__test__ = False  # type: ignore[attr-defined]
PATCH = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -1 +1,2 @@\n-old\n+new\n+newer\n"


def prediction(instance: str, model: str = "harbor/coder") -> dict[str, str]:
    return {"instance_id": instance, "model_name_or_path": model, "model_patch": PATCH.format("src/a.py")}


def packed(members: Mapping[str, Any]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as package:
        for name, value in members.items():
            package.writestr(name, value if isinstance(value, str) else json.dumps(value))
    return content.getvalue()


def runs(*predictions: dict[str, str]) -> str:
    return "\n".join(map(json.dumps, predictions))


def joined(tenants: Tenants) -> dict[str, str]:
    with acting_in(tenants.acme):
        return dict(CheckReport.objects.values_list("member", "external_id"))


def lint(path: str, line: int = 2, message: str = "total is never used", level: str = "error") -> dict[str, Any]:
    place = {"artifactLocation": {"uri": path}, "region": {"startLine": line}}
    result = {"ruleId": "E1", "level": level, "message": {"text": message}, "locations": [{"physicalLocation": place}]}
    return {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "Lint"}}, "results": [result]}]}


pytestmark = pytest.mark.django_db(transaction=True)


def test_reports_in_one_import_with_the_runs_are_joined_by_what_they_state_and_where_they_lie(tenants: Tenants) -> None:
    file = upload(
        tenants,
        packed(
            {
                "a/preds.jsonl": runs(prediction("acme__shop-7"), prediction("acme__shop-8")),
                "a/acme__shop-8/junit.xml": JUNIT.replace("run-7", ""),
                "a/acme__shop-8/pom.xml": "<project/>",
                "a/logs/acme__shop-7.report.json": INSTANCE["acme__shop-7"],
                "a/lint/other.sarif": SARIF,
                "a/stated.json": INSTANCE,
            }
        ),
        "all.zip",
    )
    assert joined(tenants) == {
        "a/acme__shop-8/junit.xml": "acme__shop-8",
        "a/logs/acme__shop-7.report.json": "acme__shop-7",
        "a/lint/other.sarif": "",
        "a/stated.json": "acme__shop-7",
    }
    with acting_in(tenants.acme):
        file.refresh_from_db()
        job = file.job
        assert job is not None
        assert job.state == "done", job.error
        said = {key: job.result[key] for key in ("imported", "errors", "reports", "reports_joined", "reports_waiting")}
        assert said == {"imported": 2, "errors": 0, "reports": 4, "reports_joined": 3, "reports_waiting": 1}
        assert not ImportProblem.objects.filter(code="nothing").exists()


def test_a_report_that_comes_first_waits_for_its_run_and_a_later_one_takes_its_place(tenants: Tenants) -> None:
    upload(tenants, json.dumps(INSTANCE).encode(), "report.json")
    assert joined(tenants) == {"report.json": ""}
    upload(tenants, runs(prediction("acme__shop-7")).encode(), "preds.jsonl")
    assert joined(tenants) == {"report.json": "acme__shop-7"}
    better = {"acme__shop-7": {**INSTANCE["acme__shop-7"], "resolved": True}}
    upload(tenants, json.dumps(better).encode(), "report.json")
    with acting_in(tenants.acme):
        (report,) = CheckReport.objects.all()
        assert (report.external_id, report.outcome) == ("acme__shop-7", "passed")


def test_among_runs_of_one_instance_the_model_tells_and_nothing_is_guessed(tenants: Tenants) -> None:
    several = [prediction("acme__shop-7", model) for model in ("harbor/coder", "reef/coder", "reef/small")]
    upload(
        tenants,
        packed(
            {
                "preds.jsonl": runs(*several, prediction("acme__shop-8", "harbor/coder")),
                "plain/acme__shop-7/report.json": INSTANCE,
                "reef__small/acme__shop-7/report.json": INSTANCE,
                "logs/run_evaluation/r/reef__coder/acme__shop-7/report.json": INSTANCE,
                # The one run of the instance is another model's.
                "logs/run_evaluation/r/reef__coder/acme__shop-8/report.json": INSTANCE["acme__shop-7"],
                "harbor__coder.r1.json": {**SUMMARY, "resolved_ids": ["acme__shop-7"], "unresolved_ids": []},
            }
        ),
        "all.zip",
    )
    found = joined(tenants)
    found.pop("harbor__coder.r1.json")
    assert found == {
        "plain/acme__shop-7/report.json": "",
        "reef__small/acme__shop-7/report.json": "acme__shop-7@reef/small",
        "logs/run_evaluation/r/reef__coder/acme__shop-7/report.json": "acme__shop-7@reef/coder",
        "logs/run_evaluation/r/reef__coder/acme__shop-8/report.json": "",
    }
    with acting_in(tenants.acme):
        assert CheckReport.objects.get(member="plain/acme__shop-7/report.json").meant == 3
        (summed,) = CheckReport.objects.exclude(external_id="").filter(member="harbor__coder.r1.json")
        assert (summed.external_id, summed.outcome) == ("acme__shop-7@harbor/coder", "passed")


def test_a_hostile_report_is_a_problem_by_name_and_the_runs_beside_it_come_in(tenants: Tenants) -> None:
    bomb = '<!DOCTYPE t [<!ENTITY a "aaaa">]><testsuite><testcase name="&a;"/></testsuite>'
    file = upload(tenants, packed({"preds.jsonl": runs(prediction("i-1")), "i-1/junit.xml": bomb}), "all.zip")
    with acting_in(tenants.acme):
        (problem,) = file.problems.exclude(place=0)
        assert (problem.code, problem.member) == ("document_type", "i-1/junit.xml")
        assert Trace.objects.count() == 1


def test_keys_in_what_tests_print_are_hidden(tenants: Tenants) -> None:
    key = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    told = JUNIT.replace("assert 1 == 2", f"token {key}")
    upload(tenants, packed({"preds.jsonl": runs(prediction("i-1")), "i-1/junit.xml": told}), "all.zip")
    with acting_in(tenants.acme):
        (report,) = CheckReport.objects.all()
        assert key not in json.dumps(report.content)
        assert "token" in json.dumps(report.content)


def test_the_undo_of_an_import_takes_its_reports_and_those_of_a_removed_run_go_with_it(tenants: Tenants) -> None:
    upload(tenants, runs(prediction("acme__shop-7")).encode(), "preds.jsonl")
    file = upload(tenants, json.dumps(INSTANCE).encode(), "report.json")
    with acting_in(tenants.acme, tenants.alice):
        assert undo_import(file=file).words == "1 report"
        assert not CheckReport.objects.exists()


def run_with_tests(tenants: Tenants, result: str = "2 failed, 3 passed in 1.0s", **more: Any) -> Trace:
    return stored(
        tenants.acme,
        tenants.acme_project,
        outcome("src/parser.py", code(6), code(6, "new")),
        outcome("gone.py", "x\n", None),
        steps=(step("Look."), step("Test.", result=result)),
        external_id="run-7",
        **more,
    )


def report_of(tenants: Tenants, content: Any, name: str) -> None:
    """Bring a report of the run in, which names the model of stored traces."""
    text = content if isinstance(content, str) else json.dumps(content)
    upload(tenants, text.replace("harbor/coder", "harbor-coder-2").encode(), name)


def test_the_page_of_a_trace_shows_all_of_it_apart_from_comments_and_nothing_that_acts(tenants: Tenants) -> None:
    trace = run_with_tests(tenants)
    report_of(tenants, JUNIT, "junit.xml")
    report_of(tenants, lint("file:///ci/build/src/parser.py", message="<script>alert(1)</script>\u202e"), "run-7.sarif")
    client = Client()
    client.force_login(tenants.alice)
    page = text_of(client.get(f"/o/acme/p/parser/traces/{trace.pk}/"))
    assert_harmless(page, "alert(1)")
    plain = re.sub(r"<[^>]+>|\s+", " ", page)
    assert "Tests pytest" in plain
    assert "Failed: 1 failed, 1 could not be run, 2 passed, 1 skipped" in re.sub(r" +", " ", plain)
    assert "2 failed, 3 passed" in plain
    (data,) = re.findall(r'<script id="findings" type="application/json">(.*?)</script>', page, re.S)
    (at_line,) = json.loads(data)
    assert (at_line["file"], at_line["line"], at_line["level"], at_line["by"]) == (1, 2, "error", "Lint E1")
    assert f'href="/o/acme/p/parser/traces/{trace.pk}/?file=1#f1-new-2"' in page
    steps = text_of(client.get(f"/o/acme/p/parser/traces/{trace.pk}/steps/"))
    assert f'href="/o/acme/p/parser/traces/{trace.pk}/steps/?step=1#s1"' in steps


def test_findings_on_files_that_the_run_deleted_or_did_not_change_are_at_no_line(tenants: Tenants) -> None:
    trace = run_with_tests(tenants, result="ok")
    report_of(tenants, lint("gone.py"), "run-7.sarif")
    report_of(tenants, lint("parser.py"), "run-7.report.sarif")
    with acting_in(tenants.acme):
        checks = checks_of(trace, list(TraceFile.objects.filter(trace=trace)))
        assert checks is not None
        assert checks.at_lines == []
        assert [finding.place for report in checks.reports for finding in report.findings] == ["", ""]


def hidden_by(block: dict[str, Any]) -> dict[str, Any]:
    schemes = [{"name": "comments", "annotation_type": "code_review_comments"}]
    return {"task_name": "Parser", "annotation_schemes": schemes, **block}


@pytest.mark.parametrize(
    ("block", "is_shown"),
    [({}, True), ({"visibility": {"outcomes": "hidden"}}, False), ({"gold": {"rate": 0.1}}, False)],
)
def test_an_annotator_sees_it_unless_the_project_hides_outcomes_or_mixes_known_answers_in(
    tenants: Tenants, block: dict[str, Any], is_shown: bool
) -> None:
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=json.dumps(hidden_by(block)), confirmed=True)
    run_with_tests(tenants)
    report_of(tenants, JUNIT, "junit.xml")
    report_of(tenants, lint("src/parser.py"), "run-7.sarif")
    assignment = claimed(tenants, tenants.bob)
    client = Client()
    client.force_login(tenants.bob)
    page = text_of(client.get(f"/o/acme/p/parser/tasks/{assignment.pk}/"))
    assert ("pytest" in page, 'id="findings"' in page, "is never used" in page) == (is_shown,) * 3
    told = client.get(f"/o/acme/api/v1/assignments/{assignment.pk}/").content.decode()
    assert "is never used" not in told
    assert client.get(f"/o/acme/p/parser/traces/{assignment.trace_id}/").status_code == 403


def test_a_task_whose_later_steps_are_a_secret_does_not_tell_their_tests(tenants: Tenants) -> None:
    scheme = {
        "name": "reward", "annotation_type": "process_reward", "mode": "first_error",
        "reveal": "progressive",
    }  # fmt: skip
    configuration = {"task_name": "Parser", "annotation_schemes": [scheme]}
    with acting_in(tenants.acme, tenants.alice):
        result = publish_configuration(project=tenants.acme_project, source=json.dumps(configuration), confirmed=True)
        assert result is not None
    run_with_tests(tenants)
    assignment = claimed(tenants, tenants.bob)
    client = Client()
    client.force_login(tenants.bob)
    page = text_of(client.get(f"/o/acme/p/parser/tasks/{assignment.pk}/steps/"))
    assert 'id="checks"' not in page


def test_traces_are_found_by_what_is_known_of_their_tests(tenants: Tenants) -> None:
    run_with_tests(tenants)
    stored(tenants.acme, tenants.acme_project, steps=(step("Test.", result="5 passed in 1.0s"),), external_id="run-8")
    stored(tenants.acme, tenants.acme_project, steps=(step("Look."),), external_id="run-9")
    report_of(tenants, JUNIT, "junit.xml")
    report_of(tenants, lint("a.py"), "run-8.sarif")
    well = JUNIT.replace("run-7", "run-9").replace("<failure", "<skipped").replace("</failure>", "</skipped>")
    report_of(tenants, well.replace("<error", "<skipped"), "j.xml")
    with acting_in(tenants.acme):
        found = {
            value: sorted(
                trace.external_id
                for trace in PoolList(tenants.acme_project, PoolFilters(checks=(value,))).chosen().order_by("pk")
            )
            for value in CHECKS
        }
        assert found == {
            "tests-failed": ["run-7"], "tests-passed": ["run-9"], "findings": ["run-8"], "run-failed": ["run-7"],
            "run-passed": ["run-8"], "none": [],
        }  # fmt: skip
        row = PoolList(tenants.acme_project, PoolFilters()).chips(["checks"], 3)
        (chip,) = [*row.shown, *row.folded]
        assert {option.value: option.count for option in chip.options} == {
            "tests-failed": 1, "tests-passed": 1, "findings": 1, "run-failed": 1, "run-passed": 1, "none": 0,
        }  # fmt: skip


def test_programs_read_it_in_short_and_run_by_run(tenants: Tenants) -> None:
    trace = run_with_tests(tenants)
    report_of(tenants, JUNIT, "junit.xml")
    report_of(tenants, INSTANCE, "report.json")
    client = Client()
    client.force_login(tenants.alice)
    listed = client.get("/o/acme/api/v1/projects/parser/reports/").json()["results"]
    assert [(one["run"], one["name"], one["failed"], one["names"][0]) for one in listed] == [
        ("run-7", "pytest", 1, "run-7"), ("", "SWE-bench", 1, "acme__shop-7"),
    ]  # fmt: skip
    known = client.get(f"/o/acme/api/v1/projects/parser/traces/{trace.pk}/checks/").json()
    assert [(run["step"], run["outcome"], run["failed"], run["passed"]) for run in known["test_runs"]] == [
        (0, "", None, None), (1, "failed", 2, 3),
    ]  # fmt: skip
    (report,) = known["reports"]
    assert report["tests"][0] == {
        "name": "test_sum", "outcome": "failed", "group": "tests.test_price", "seconds": 1200.5,
        "message": "assert 1 == 2\ndef test_sum():\n>   assert 1 == 2",
    }  # fmt: skip
    whole = client.get(f"/o/acme/api/v1/projects/parser/traces/{trace.pk}/").json()
    assert whole["tests_outcome"] == "failed"


def test_reports_contradict_annotators_before_tags_do(tenants: Tenants) -> None:
    trace = run_with_tests(tenants, tags=("resolved",))
    with acting_in(tenants.acme):
        assert tests_said_by(trace) is True
    report_of(tenants, JUNIT, "junit.xml")
    with acting_in(tenants.acme):
        assert tests_said_by(trace) is False


def test_a_report_is_of_every_version_of_its_run(tenants: Tenants) -> None:
    first = run_with_tests(tenants)
    report_of(tenants, JUNIT, "junit.xml")
    second = run_with_tests(tenants, result="5 passed in 1.0s")
    with acting_in(tenants.acme):
        assert second.version == 2
        assert [len(checks.reports) for trace in (first, second) if (checks := checks_of(trace, []))] == [1, 1]
        assert second.tests_outcome == "passed"
