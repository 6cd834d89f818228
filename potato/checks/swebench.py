"""Reports of SWE-bench's harness: of one instance, and of a whole evaluation.

Field notes
- `logs/run_evaluation/RUN/MODEL/INSTANCE/report.json`: an object with the instance as its one key, or its value alone:
  patch_is_None, patch_exists, patch_successfully_applied, resolved, and tests_status with FAIL_TO_PASS, PASS_TO_PASS
  (and FAIL_TO_FAIL, PASS_TO_FAIL, which decide nothing), each {success, failure} with names of tests.
- `MODEL.RUN.json`: resolved_ids, unresolved_ids, error_ids, empty_patch_ids, completed_ids, submitted_ids. Older ones
  have lists under resolved, applied, generated, no_generation.
- In names of folders "/" of a model is "__".
"""

from collections import Counter
from typing import Any

from potato.checks.model import (
    BOUNDS,
    Counts,
    Outcome,
    Report,
    ReportBounds,
    Test,
    TestOutcome,
    UnreadableReport,
    kept_tests,
)
from potato.checks.values import listed, member, words

NAME = "SWE-bench"
_DECIDING = ("FAIL_TO_PASS", "PASS_TO_PASS")
_RESULTS: tuple[tuple[str, TestOutcome], ...] = (("success", "passed"), ("failure", "failed"))
_OF_INSTANCE = frozenset({"resolved", "tests_status", "patch_successfully_applied", "patch_exists", "patch_is_None"})
_SUMMARY = ("resolved_ids", "unresolved_ids", "error_ids", "empty_patch_ids")
_LISTS: tuple[tuple[str, Outcome, str], ...] = (
    ("resolved_ids", "passed", ""),
    ("unresolved_ids", "failed", ""),
    ("error_ids", "error", "The evaluation ended with an error."),
    ("empty_patch_ids", "failed", "The patch is empty."),
)


def is_instance(value: Any) -> bool:
    """Whether an object says what became of one instance."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("resolved"), bool)
        and len(_OF_INSTANCE & value.keys()) > 1
        # Published runs say the first of these, too.
        and not {"messages", "trajectory", "history", "model_patch"} & value.keys()
    )


def is_report(value: Any) -> bool:
    """Whether a document is a report, of one instance or of many."""
    if not isinstance(value, dict) or not value:
        return False
    if is_instance(value) or is_summary(value):
        return True
    return all(is_instance(each) for each in list(value.values())[:3])


def is_summary(value: dict[str, Any]) -> bool:
    present = [key for key in _SUMMARY if isinstance(value.get(key), list)]
    return "resolved_ids" in present and len(present) > 1


def read_swebench(value: dict[str, Any], bounds: ReportBounds = BOUNDS) -> list[Report]:
    """A report for each instance. Raises UnreadableReport where there is none."""
    if is_instance(value):
        return [_report(value, "", bounds)]
    if is_summary(value):
        reports = [
            Report(
                "swebench",
                NAME,
                ids=(id,),
                outcome=outcome,
                tests=(Test(why, "error" if outcome == "error" else "failed"),) if why else (),
            )
            for key, outcome, why in _LISTS
            for id in dict.fromkeys(words(each, 300) for each in listed(value.get(key)))
            if id
        ]
    else:
        reports = [_report(each, words(id, 300), bounds) for id, each in value.items() if is_instance(each)]
    if not reports:
        raise UnreadableReport("no_instances", "The report names no instance: nothing to show.")
    if len(reports) > bounds.reports:
        raise UnreadableReport(
            "too_many_reports", f"The report is of {len(reports):,} instances; a file may be of {bounds.reports:,}."
        )
    return reports


def _report(value: dict[str, Any], instance: str, bounds: ReportBounds) -> Report:
    left_out: Counter[str] = Counter()
    outcomes: list[tuple[str, str, TestOutcome]] = []
    status = value.get("tests_status")
    for group in _DECIDING:
        for key, outcome in _RESULTS:
            outcomes += ((words(name, bounds.path), group, outcome) for name in listed(member(status, group, key)))
    for group in ("FAIL_TO_FAIL", "PASS_TO_FAIL"):
        others = sum(len(listed(member(status, group, key))) for key in ("success", "failure"))
        if others:
            left_out[f"test of {group}"] += others
    tests = [Test(name or "unnamed", outcome, group) for name, group, outcome in outcomes]
    counts = Counts.of(test.outcome for test in tests)
    if value.get("patch_is_None") is True or value.get("patch_exists") is False:
        tests.append(Test("There is no patch.", "error"))
    elif value.get("patch_successfully_applied") is False:
        tests.append(Test("The patch could not be applied.", "error"))
    return Report(
        "swebench",
        NAME,
        ids=(instance,) if instance else (),
        outcome="passed" if value.get("resolved") is True else "failed",
        counts=counts,
        tests=kept_tests(tests, left_out, bounds),
        left_out=left_out,
    )
