"""Reports of tests and checkers: every kind is read for what it says, and nothing in a file can hurt."""

import json
import random
from typing import Any

import pytest

from potato.checks.model import Counts, Report, ReportBounds, UnreadableReport
from potato.checks.places import files_meant, findings_by_file, findings_within
from potato.checks.reading import read_reports, report_kind
from potato.runs.converters.detection import SURE_ENOUGH
from potato.runs.converters.registry import trace_converters
from tests.potato.runs.damaged_files import damaged, retyped
from tests.shared_data import SHARED_DATA, shared_files

JUNIT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><properties><property name="trace_id" value="run-7"/></properties>
<testsuite name="pytest" tests="5" failures="1" errors="1" skipped="1" time="1.5">
  <properties><property name="model" value="harbor/coder"/></properties>
  <testcase classname="tests.test_price" name="test_round" file="tests/test_price.py" line="11" time="0.002"/>
  <testcase classname="tests.test_price" name="test_sum" time="1,200.5">
    <failure message="assert 1 == 2">def test_sum():
&gt;   assert 1 == 2</failure><system-out>much</system-out></testcase>
  <testcase name="test_slow"><skipped message="too slow"/></testcase>
  <testcase name="test_db"><error message="no database"/></testcase>
  <testsuite name="inner"><testcase name="test_flaky"><flakyFailure message="once"/></testcase></testsuite>
</testsuite></testsuites>
"""
SARIF: dict[str, Any] = {
    "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
    "version": "2.1.0",
    "runs": [
        {
            "tool": {"driver": {"name": "Lint", "rules": [
                {"id": "E1", "defaultConfiguration": {"level": "error"},
                 "messageStrings": {"unused": {"text": "{0} is never used"}}},
                {"id": "N1", "defaultConfiguration": {"level": "note"}},
            ]}},
            "automationDetails": {"id": "run-7/"},
            "artifacts": [{"location": {"uri": "src/b.py"}}],
            "results": [
                {"ruleId": "E1", "message": {"id": "unused", "arguments": ["total"]}, "locations": [
                    {"physicalLocation": {"artifactLocation": {"uri": "file:///home/dev/shop/src/a%20b.py"},
                                          "region": {"startLine": 3, "endLine": 5}}}]},
                {"ruleIndex": 1, "message": {"text": "Rename it"}, "locations": [
                    {"physicalLocation": {"artifactLocation": {"index": 0}}}]},
                {"ruleId": "W9", "message": {"text": "No level"}, "locations": [
                    {"physicalLocation": {"artifactLocation": {"uri": "../../etc/passwd"},
                                          "region": {"startLine": 0}}}]},
                {"ruleId": "E1", "kind": "pass", "message": {"text": "fine"}},
                {"ruleId": "E1", "message": {"text": "hushed"}, "suppressions": [{"kind": "inSource"}]},
                {"ruleId": "E1", "message": {"text": "nowhere"}},
            ],
        }
    ],
}  # fmt: skip
RDJSON: dict[str, Any] = {
    "source": {"name": "shellcheck"},
    "severity": "WARNING",
    "diagnostics": [
        {"message": "Quote this", "location": {"path": "bin/run.sh", "range": {
            "start": {"line": 4, "column": 2}, "end": {"line": 6, "column": 1}}}, "severity": "ERROR",
         "code": {"value": "SC2086"}},
        {"message": "No line", "location": {"path": "bin/run.sh"}},
        {"message": "", "location": {"path": "x"}},
    ],
}  # fmt: skip
INSTANCE: dict[str, Any] = {
    "acme__shop-7": {
        "patch_is_None": False, "patch_exists": True, "patch_successfully_applied": True, "resolved": False,
        "tests_status": {
            "FAIL_TO_PASS": {"success": ["test_a"], "failure": ["test_b"]},
            "PASS_TO_PASS": {"success": ["test_c", "test_d"], "failure": []},
            "FAIL_TO_FAIL": {"success": [], "failure": ["test_e"]},
        },
    }
}  # fmt: skip
SUMMARY = {"total_instances": 3, "resolved_ids": ["a-1"], "unresolved_ids": ["a-2"], "error_ids": ["a-3"],
           "empty_patch_ids": [], "schema_version": 2}  # fmt: skip


def one(content: Any, name: str = "report.json") -> Report:
    data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
    (report,) = read_reports(data, name)
    return report


def refusal(data: bytes, name: str = "r.json", bounds: ReportBounds | None = None) -> str:
    with pytest.raises(UnreadableReport) as refused:
        read_reports(data, name, bounds or ReportBounds())
    assert refused.value.sentence.endswith((".", "HEAD"))
    return refused.value.code


def test_junit_says_each_test_with_what_it_printed_and_names_its_run() -> None:
    report = one(JUNIT, "junit.xml")
    assert (report.kind, report.name, report.outcome, report.ids, report.model) == (
        "junit", "pytest", "failed", ("run-7",), "harbor/coder",
    )  # fmt: skip
    assert report.counts == Counts(passed=2, failed=1, errors=1, skipped=1)
    assert [(test.name, test.outcome) for test in report.tests] == [
        ("test_sum", "failed"), ("test_db", "error"), ("test_round", "passed"), ("test_flaky", "passed"),
        ("test_slow", "skipped"),
    ]  # fmt: skip
    failed, _, passed, flaky, _ = report.tests
    assert failed.message == "assert 1 == 2\ndef test_sum():\n>   assert 1 == 2"
    assert (failed.group, failed.seconds) == ("tests.test_price", 1200.5)
    assert (passed.file, passed.line, passed.seconds) == ("tests/test_price.py", 11, 0.002)
    assert flaky.group == "inner"


def test_a_suite_alone_is_a_document_and_one_without_a_case_is_refused() -> None:
    assert one('<testsuite name="s"><testcase name="t" status="notrun"/></testsuite>', "t.xml").counts == Counts(
        skipped=1
    )
    assert refusal(b"<testsuites></testsuites>", "t.xml") == "no_tests"
    assert refusal(b"<testsuites><testcase", "t.xml") == "bad_xml"


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><testsuite><testcase name="&c;"/></testsuite>'
)
OUTSIDE = '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&x;"/></testsuite>'


@pytest.mark.parametrize("document", [BOMB, OUTSIDE])
def test_documents_that_declare_entities_are_refused(document: str) -> None:
    assert refusal(document.encode(), "junit.xml") == "document_type"


def test_what_is_nested_without_end_or_larger_than_its_bound_is_refused() -> None:
    deep = b"<testsuite>" * 200 + b"</testsuite>" * 200
    assert refusal(deep, "junit.xml") == "too_deep"
    assert refusal(b'{"version": "2.1.0", "runs": ' + b"[" * 100_000 + b"]" * 100_000 + b"}") in (
        "bad_json",
        "too_deep",
    )
    nested: Any = []
    for _ in range(150):
        nested = [nested]
    value = {**SARIF, "properties": nested}
    assert refusal(json.dumps(value).encode()) == "too_deep"
    assert refusal(JUNIT.encode(), "junit.xml", ReportBounds(file_bytes=100)) == "too_large"


def test_a_hundred_thousand_tests_are_counted_and_those_that_failed_are_kept() -> None:
    cases = "".join(f'<testcase name="t{at}"/>' for at in range(100_000))
    failed = '<testcase name="last"><failure message="no"/></testcase>'
    report = one(f'<testsuite name="s">{cases}{failed}</testsuite>', "junit.xml")
    assert report.counts == Counts(passed=100_000, failed=1)
    assert report.tests[0].name == "last"
    assert len(report.tests) == 5_000
    assert report.left_out["test over the bound"] == 95_001


def test_sarif_says_levels_messages_and_places_as_the_standard_has_them() -> None:
    report = one(SARIF, "lint.sarif")
    assert (report.kind, report.name, report.ids) == ("sarif", "Lint", ("run-7", "lint"))
    assert [(each.path, each.line, each.end_line, each.level, each.rule, each.message) for each in report.findings] == [
        ("etc/passwd", None, None, "warning", "W9", "No level"),
        ("home/dev/shop/src/a b.py", 3, 5, "error", "E1", "total is never used"),
        ("src/b.py", None, None, "note", "N1", "Rename it"),
    ]
    assert report.left_out == {
        "result that is no fault": 1, "suppressed result": 1, "result without a file": 1,
    }  # fmt: skip


def test_rdjson_and_its_lines_say_the_same() -> None:
    report = one(RDJSON)
    whole, first = report.findings
    assert (whole.line, whole.level, whole.tool) == (None, "warning", "shellcheck")
    assert (first.path, first.line, first.end_line, first.level, first.rule) == ("bin/run.sh", 4, 5, "error", "SC2086")
    lines = "\n".join(json.dumps({**each, "source": {"name": "shellcheck"}}) for each in RDJSON["diagnostics"])
    from_lines = one(lines, "r.rdjsonl")
    assert [(each.path, each.line, each.end_line) for each in from_lines.findings] == [
        ("bin/run.sh", None, None), ("bin/run.sh", 4, 5),
    ]  # fmt: skip
    assert from_lines.name == "shellcheck"


def test_swebench_reports_say_an_instance_with_its_tests_or_many_in_short() -> None:
    report = one(INSTANCE)
    assert (report.ids, report.outcome, report.counts) == (("acme__shop-7",), "failed", Counts(3, 1))
    assert [(test.name, test.group) for test in report.tests[:2]] == [
        ("test_b", "FAIL_TO_PASS"),
        ("test_a", "FAIL_TO_PASS"),
    ]
    assert report.left_out == {"test of FAIL_TO_FAIL": 1}
    bare = one(INSTANCE["acme__shop-7"], "logs/run_evaluation/r1/harbor__coder/acme__shop-7/report.json")
    assert (bare.ids[0], bare.model) == ("acme__shop-7", "harbor__coder")
    several = read_reports(json.dumps(SUMMARY).encode(), "harbor__coder.r1.json")
    assert [(each.ids[0], each.outcome) for each in several] == [("a-1", "passed"), ("a-2", "failed"), ("a-3", "error")]
    assert several[0].hints == ("harbor__coder.r1", "harbor__coder")


FILES = {
    "junit.xml": JUNIT.encode(),
    "lint.sarif": json.dumps(SARIF).encode(),
    "r.rdjson": json.dumps(RDJSON).encode(),
    "r.json": json.dumps(INSTANCE).encode(),
    "s.json": json.dumps(SUMMARY).encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_every_kind_is_found_by_its_beginning_and_no_format_of_runs_takes_it(name: str) -> None:
    kind = report_kind(FILES[name][:65_536], name)
    assert kind == {"junit.xml": "junit", "lint.sarif": "sarif", "r.rdjson": "rdjson"}.get(name, "swebench")
    assert kind == report_kind(FILES[name][: len(FILES[name]) * 2 // 3], name)
    claims = [converter.recognises(FILES[name], name)[0] for converter in trace_converters().values()]
    assert max(claims) < SURE_ENOUGH


@pytest.mark.parametrize("name", FILES)
def test_damaged_reports_are_read_or_refused_with_a_sentence(name: str) -> None:
    copies = list(damaged(FILES[name], 5, 400))
    if not name.endswith(".xml"):
        copies += [json.dumps(value).encode() for value in retyped(json.loads(FILES[name]), 6, 400)]
    read, sentences = 0, []
    for copy in copies:
        report_kind(copy, name)
        try:
            read += len(read_reports(copy, name))
        except UnreadableReport as refused:
            sentences.append(refused.sentence)
    assert read > 2
    assert all(sentence.endswith(".") for sentence in sentences)


def test_paths_of_reports_name_files_of_the_change_and_never_one_outside() -> None:
    paths = ["src/a.py", "a.py", "lib/src/a.py"]
    named = ["src/a.py", "home/dev/repo/lib/src/a.py", "repo/a.py", "b.py", "py"]
    assert files_meant(named, paths) == {
        "src/a.py": "src/a.py", "home/dev/repo/lib/src/a.py": "lib/src/a.py", "repo/a.py": "a.py",
    }  # fmt: skip
    assert files_meant(["a.py"], ["src/a.py"]) == {}


def test_findings_within_lines_are_those_whose_stretch_meets_them() -> None:
    said = [{"path": "w/a.py", "line": 3, "end_line": 5, "message": "x"}, {"path": "a.py", "line": 9, "message": "y"},
            {"path": "a.py", "message": "whole"}]  # fmt: skip
    (own,) = findings_by_file([{"findings": said}], ["a.py"]).values()
    assert [each["path"] for each in own] == ["a.py"] * 3
    chance = random.Random(4)  # noqa: S311  (not for secrets)
    for _ in range(200):
        start = chance.randrange(1, 12)
        end = start + chance.randrange(4)
        lines = set(range(start, end + 1))
        expected = [each["message"] for each in own if "line" in each
                    and lines & set(range(each["line"], each.get("end_line", each["line"]) + 1))]  # fmt: skip
        assert [each["message"] for each in findings_within(own, start, end)] == expected


def test_the_shared_reports_are_read_and_no_shared_run_is_taken_for_one() -> None:
    found: dict[str, int] = {}
    for path in shared_files("**/*"):
        if path.is_file() and (kind := report_kind(path.read_bytes()[:65_536], path.name)):
            name = path.relative_to(SHARED_DATA).as_posix()
            for report in read_reports(path.read_bytes(), name):
                found[kind] = found.get(kind, 0) + 1
                value = json.loads(path.read_bytes())
                if kind == "swebench":
                    status = value["tests_status"]
                    numbers = [sum(len(status[group][key]) for group in ("FAIL_TO_PASS", "PASS_TO_PASS"))
                               for key in ("success", "failure")]  # fmt: skip
                    assert [report.counts.passed, report.counts.failed] == numbers
                    assert report.outcome == ("passed" if value["resolved"] else "failed")
                    assert report.ids[0] == path.name.removesuffix(".report.json")
                else:
                    assert len(report.findings) == len(value["diagnostics"])
    assert found.keys() == {"rdjson", "swebench"}
