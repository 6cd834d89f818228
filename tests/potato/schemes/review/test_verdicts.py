"""The verdict: what it lacks under each option, and what leaves."""

from datetime import UTC, datetime
from typing import Any

import pytest

from potato.schemes.answers import Gap
from potato.schemes.review.types import Verdict
from tests.review.evidence import TWO_FILES
from tests.review.schemes_from import verdict_scheme

LONG_ENOUGH = "Twenty characters ..."
SUBMITTED_AT = datetime(2025, 1, 15, 14, 30, tzinfo=UTC)


def gaps(answers: Any, **block: Any) -> tuple[Gap, ...]:
    return Verdict.missing(answers, verdict_scheme(**block), TWO_FILES)


def sentences(answers: Any, **block: Any) -> list[str]:
    return [gap.sentence for gap in gaps(answers, **block)]


def result(answers: Any, **block: Any) -> Any:
    assert sentences(answers, **block) == []
    return Verdict.result(answers, verdict_scheme(**block), TWO_FILES, SUBMITTED_AT)


@pytest.mark.parametrize("answers", [None, {}, {"decision": None, "summary": None}, {"decision": "", "summary": ""}])
def test_a_verdict_and_a_summary_are_needed(answers: Any) -> None:
    assert sentences(answers) == ["Choose a verdict.", "Write a summary of at least 20 characters."]
    assert [(gap.path, gap.kind) for gap in gaps(answers)] == [(("decision",), "missing"), (("summary",), "missing")]


def test_no_summary_is_needed_where_none_is_required() -> None:
    assert result({"decision": "approve"}, require_summary=False) == {"decision": "approve"}
    assert result({"decision": "approve", "summary": " \n"}, require_summary=False) == {"decision": "approve"}
    assert sentences({"decision": "approve", "summary": " \n"}) == ["Write a summary of at least 20 characters."]


@pytest.mark.parametrize("is_required", [True, False])
def test_a_given_summary_has_its_least_length_after_trimming(is_required: bool) -> None:
    block = {"require_summary": is_required, "summary_min_length": 5}
    for summary in ("12345", "  12345  ", "\U0001f600" * 5, "12 45", "1\n\n\n5"):
        assert result({"decision": "approve", "summary": summary}, **block)["summary"] == summary
    for summary in ("1234", "  1234     ", "\n\t1234\n"):
        assert sentences({"decision": "approve", "summary": summary}, **block) == [
            "The summary needs 1 more character, at least 5."
        ]


@pytest.mark.parametrize("least", [0, 1])
def test_a_required_summary_has_a_character_also_without_a_least_length(least: int) -> None:
    assert sentences({"decision": "approve", "summary": " "}, summary_min_length=least) == ["Write a summary."]
    assert result({"decision": "approve", "summary": "k"}, summary_min_length=least)["summary"] == "k"


def test_a_decision_is_one_of_the_configured_ones() -> None:
    block = {"options": [{"value": "ship"}, {"value": "hold"}]}
    assert result({"decision": "ship", "summary": LONG_ENOUGH}, **block)["decision"] == "ship"
    (gap,) = gaps({"decision": "approve", "summary": LONG_ENOUGH}, **block)
    assert (gap.path, gap.code, gap.kind) == (("decision",), "unknown_decision", "refused")
    assert gap.sentence == "approve is not a verdict. Choose ship or hold."


@pytest.mark.parametrize(
    ("given", "path", "code"),
    [
        ([], (), "not_an_object"),
        ("approve", (), "not_an_object"),
        (False, (), "not_an_object"),
        ({"decision": 1, "summary": LONG_ENOUGH}, ("decision",), "wrong_type"),
        ({"decision": "approve", "summary": ["x"]}, ("summary",), "wrong_type"),
        ({"decision": "approve", "summary": LONG_ENOUGH, "\ud800": 1}, ("\ud800",), "unknown_key"),
    ],
)
def test_what_is_no_verdict_is_not_even_kept_as_a_draft(given: Any, path: tuple[str, ...], code: str) -> None:
    (gap,) = Verdict.malformed(given)
    assert (gap.path, gap.code, gap.kind) == (path, code, "refused")
    assert gap in gaps(given)


def test_a_summary_that_has_just_begun_is_kept_as_a_draft() -> None:
    assert Verdict.malformed({"summary": "Th"}) == Verdict.malformed({"decision": "x"}) == Verdict.malformed(None) == ()
