"""Where most of those who judged a trace contradict its tests, or a source: worth a second look.

The tests are what imported reports say of them, else the trace's tags; nothing is guessed where neither does.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from adjudication.compared import ComparedAnnotations
from agreement.models import SourceAnswer
from potato.schemes.comparisons import FirstErrorComparison, ValueComparison
from potato.schemes.registry import scheme_types
from traces.evidence.checks import stored_reports
from traces.models import Trace

PASSED = frozenset({"resolved", "tests passed", "tests:passed", "tests-passed", "resolved:true"})
FAILED = frozenset({"unresolved", "tests failed", "tests:failed", "tests-failed", "resolved:false"})
"""Tags of a trace that say what became of its tests."""


def conflicts_of(compared: ComparedAnnotations) -> list[dict[str, str]]:
    """What contradicts most of the people: each a `kind` ("tests" or "source"), a `name`, and `words`."""
    votes = [vote for row in compared.submissions if (vote := accepts(row.result, compared)) is not None]
    people = _majority(votes)
    if people is None:
        return []
    conflicts = []
    tests = tests_of(compared.trace)
    if tests is not None and tests != people:
        words = "The tests pass, and most people do not accept it" if tests else "The tests fail, and most accept it"
        conflicts.append({"kind": "tests", "name": "tests", "words": words})
    for name, machine in _sources(compared):
        if machine != people:
            words = f"{name} accepts it, and most people do not" if machine else f"{name} does not accept it"
            conflicts.append({"kind": "source", "name": name, "words": words})
    return conflicts


def tests_of(trace: Trace) -> bool | None:
    """What became of the run's tests, as far as reports or its tags say it: a report knows better than a tag. What the
    agent ran itself does not count, as it chooses what it runs."""
    outcomes = {row.outcome for row in stored_reports(trace) if row.outcome in ("passed", "failed")}
    if outcomes:
        return outcomes == {"passed"}
    return tests_passed(trace.tags)


def tests_passed(tags: Any) -> bool | None:
    """What the tags say of the tests; None where they say nothing, or both."""
    words = {str(tag).strip().lower() for tag in tags} if isinstance(tags, list) else set()
    passed, failed = bool(words & PASSED), bool(words & FAILED)
    return None if passed == failed else passed


def accepts(result: Mapping[str, Any], compared: ComparedAnnotations) -> bool | None:
    """Whether the annotation accepts the whole run, by the first scheme that lets one say so."""
    for scheme in compared.configuration.annotation_schemes:
        kind = scheme_types()[scheme.annotation_type]
        part = result.get(scheme.name)
        if part is None or kind.malformed(part):
            continue
        for comparison in kind.comparisons(scheme):
            if isinstance(comparison, FirstErrorComparison):
                return comparison.read(part) is None
            if not isinstance(comparison, ValueComparison) or not comparison.positive:
                continue
            if comparison.by_position or comparison.by_file:
                continue
            values = [value for _, value in comparison.read(part)]
            if values:
                return values[0] in comparison.positive
    return None


def _majority(votes: list[bool]) -> bool | None:
    yes = sum(votes)
    return None if 2 * yes == len(votes) else 2 * yes > len(votes)


def _sources(compared: ComparedAnnotations) -> Iterator[tuple[str, bool]]:
    rows = SourceAnswer.objects.filter(organisation=compared.trace.organisation_id, trace=compared.trace)
    for row in rows.select_related("source").order_by("source__name", "pk"):
        vote = accepts(row.result, compared)
        if vote is not None:
            yield str(row.source), vote
