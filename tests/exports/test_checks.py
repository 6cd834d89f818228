"""What tests and checkers said leaves with comments and archives, the same from the site and from files."""

import json
from zipfile import ZipFile

from potato.runs.model import Step, ToolCall
from tests.exports.conftest import ANSWERS, Reviews
from tests.potato.checks.test_reports import JUNIT
from tests.review.evidence import numbered
from tests.traces.stored import outcome, stored
from tests.traces.test_checks import lint
from tests.traces.test_imports import upload


def test_comments_and_archives_have_what_reports_say_and_the_offline_command_writes_the_same(reviews: Reviews) -> None:
    tenants = reviews.tenants
    tested = Step(calls=(ToolCall("1", "bash", {"command": "pytest"}, "1 failed, 2 passed in 0.1s"),))
    stored(
        tenants.acme,
        reviews.project,
        outcome("src/parser.py", numbered(60), numbered(60, (15, 42))),
        outcome("tests/test_parser.py", None, numbered(31)),
        steps=(tested,),
        external_id="run-7",
        agent_model="harbor/coder",
    )
    reviews.trace("other")
    for user in (tenants.bob, tenants.bob):
        reviews.submit(user)
    comment = next(each for each in ANSWERS["inline_comments"] if each.get("side", "new") == "new")
    line = comment["line_start"]
    upload(tenants, JUNIT.encode(), "junit.xml")
    upload(tenants, json.dumps(lint(f"/ci/build/{comment['file']}", line)).encode(), "run-7.sarif")
    upload(tenants, json.dumps(lint(comment["file"], line + 500)).encode(), "run-7.report.sarif")
    exported = reviews.export("code_review_comments")
    rows = [json.loads(each) for each in exported.splitlines()]
    own = [row for row in rows if row["id"] == "run-7"]
    assert {(row.get("test_outcome"), row.get("agent_test_outcome")) for row in own} == {("failed", "failed")}
    assert not [row for row in rows if row["id"] == "other" and {"test_outcome", "findings"} & row.keys()]
    (found,) = [row["findings"] for row in own if row.get("line_start") == line and row["file"] == comment["file"]]
    assert found == [
        {
            "path": comment["file"], "message": "total is never used", "line": line, "end_line": line, "level": "error",
            "rule": "E1", "tool": "Lint",
        }
    ]  # fmt: skip
    assert reviews.offline("code_review_comments") == exported
    with ZipFile(reviews.archive()) as archive:
        lines = [json.loads(each) for each in archive.read("traces.jsonl").splitlines()]
    reports = {each["id"]: each.get("reports") for each in lines}
    assert reports["other"] is None
    assert sorted(report["name"] for report in reports["run-7"]) == ["Lint", "Lint", "pytest"]
