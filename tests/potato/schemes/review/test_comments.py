"""Comments on lines: what they lack under each option, where they can stand, and what leaves."""

from datetime import UTC, datetime
from typing import Any

import pytest

from potato.runs.changes.places import Evidence
from potato.schemes.answers import Gap, TaskLocation
from potato.schemes.review.comments import InlineComment
from potato.schemes.review.types import InlineComments
from tests.review.evidence import EVERY_KIND, TWO_FILES
from tests.review.schemes_from import comments_scheme

SEVERITY = {"enabled": True}
SUBMITTED_AT = datetime(2025, 1, 15, 14, 30, 0, 999_999, tzinfo=UTC)


def comment(**keys: Any) -> dict[str, Any]:
    """A comment that nothing is missing of, with other keys; None takes a key away."""
    given = {"file": "src/parser.py", "line_start": 42, "line_end": 42, "category": "bug", "comment": "Off by one"}
    return {key: value for key, value in {**given, **keys}.items() if value is not None}


def gaps(*comments: Any, evidence: Evidence = TWO_FILES, **block: Any) -> tuple[Gap, ...]:
    return InlineComments.missing(list(comments), comments_scheme(**block), evidence)


def codes(*comments: Any, evidence: Evidence = TWO_FILES, **block: Any) -> list[str]:
    return [gap.code for gap in gaps(*comments, evidence=evidence, **block)]


def results(*comments: Any, **block: Any) -> list[InlineComment]:
    assert codes(*comments, **block) == []
    return InlineComments.result(list(comments), comments_scheme(**block), TWO_FILES, SUBMITTED_AT)


def test_no_comment_is_needed_where_none_is_asked_for() -> None:
    assert codes() == []
    assert InlineComments.missing(None, comments_scheme(), TWO_FILES) == ()
    assert results() == []


@pytest.mark.parametrize("category", [None, ""])
def test_a_comment_needs_a_category_only_where_it_is_required(category: str | None) -> None:
    given = {**comment(), "category": category}
    (gap,) = gaps(given)
    assert (gap.path, gap.code, gap.kind) == ((0, "category"), "no_category", "missing")
    assert gap.sentence == "src/parser.py, line 42: choose a category."
    assert gap.place == TaskLocation(file="src/parser.py", side="new", line=42)
    assert "category" not in results(given, require_category=False)[0]
    assert codes(comment(), require_category=True) == []


@pytest.mark.parametrize("is_required", [True, False])
def test_a_category_is_one_of_the_configured_ones(is_required: bool) -> None:
    block: dict[str, Any] = {"categories": [{"value": "typo"}], "require_category": is_required}
    assert results(comment(category="typo"), **block)[0]["category"] == "typo"
    (gap,) = gaps(comment(category="bug"), **block)
    assert (gap.path, gap.code, gap.kind) == ((0, "category"), "unknown_category", "refused")


def test_a_comment_needs_a_severity_only_where_it_is_required() -> None:
    assert codes(comment(), severity=SEVERITY) == []
    assert codes(comment(), severity=SEVERITY, require_severity=True) == ["no_severity"]
    assert codes(comment(severity="nit"), severity=SEVERITY, require_severity=True) == []


def test_a_severity_is_one_of_the_configured_ones() -> None:
    severity = {"enabled": True, "levels": [{"value": "loud"}]}
    assert results(comment(severity="loud"), severity=severity)[0]["severity"] == "loud"
    assert codes(comment(severity="nit"), severity=severity) == ["unknown_severity"]


def test_a_comment_carries_no_severity_where_it_is_off_and_none_is_asked_for() -> None:
    for block in ({}, {"severity": {"enabled": False}}, {"severity": {"enabled": False}, "require_severity": True}):
        assert codes(comment(), **block) == []
        assert codes(comment(severity="nit"), **block) == ["severity_off"]


def test_a_range_of_lines_needs_allow_multi_line() -> None:
    (result,) = results(comment(line_start=40, line_end=44), allow_multi_line=True)
    assert (result["line_start"], result["line_end"]) == (40, 44)
    assert codes(comment(line_start=40, line_end=44), allow_multi_line=False) == ["multi_line"]
    assert codes(comment(line_start=40, line_end=41), allow_multi_line=False) == ["multi_line"]
    assert codes(comment(line_start=40, line_end=41), allow_multi_line=True) == []
    assert codes(comment(line_start=40, line_end=40), allow_multi_line=False) == []


def test_a_suggestion_needs_allow_suggestions() -> None:
    given = comment(suggestion="if tokens:\n    return tokens[0]")
    assert results(given, allow_suggestions=True)[0]["suggestion"] == "if tokens:\n    return tokens[0]"
    assert codes(given, allow_suggestions=False) == ["suggestions_off"]
    assert codes(comment(suggestion=""), allow_suggestions=False) == ["suggestions_off"]
    assert codes({**comment(), "suggestion": None}, allow_suggestions=False) == []


def test_a_comment_is_marked_as_unsure_where_allow_unsure_says_so() -> None:
    assert results(comment(unsure=True), allow_unsure=True)[0]["unsure"] is True
    assert codes(comment(unsure=True), allow_unsure=False) == ["unsure_off"]
    assert codes(comment(unsure=False), allow_unsure=False) == []


def test_an_empty_suggestion_says_that_the_lines_go() -> None:
    assert results(comment(suggestion=""))[0]["suggestion"] == ""
    assert "suggestion" not in results({**comment(), "suggestion": None})[0]


def test_min_comments_counts_comments() -> None:
    assert codes(comment(), comment(), min_comments=2) == []
    (gap,) = gaps(comment(), min_comments=3)
    assert (gap.path, gap.code, gap.sentence) == ((), "too_few_comments", "Add 2 more comments, at least 3 in all.")
    assert gaps(min_comments=1)[0].sentence == "Add 1 more comment, at least 1 in all."


@pytest.mark.parametrize("text", [None, "", "  \n\t "])
def test_a_comment_needs_text(text: str | None) -> None:
    (gap,) = gaps(comment(), {**comment(comment_id="b"), "comment": text})
    assert (gap.path, gap.code, gap.kind) == ((1, "comment"), "no_text", "missing")
    assert gap.place.comment_id == "b"


def test_text_is_kept_as_it_was_entered() -> None:
    assert results(comment(comment="  two\r\nlines \n"))[0]["comment"] == "  two\r\nlines \n"


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ({}, None),
        ({"side": "old"}, None),
        ({"side": "new"}, None),
        ({"line_start": 39, "line_end": 45}, None),
        ({"line_end": None}, None),
        ({"side": "left"}, "unknown_side"),
        ({"file": None}, "no_file"),
        ({"file": "src/other.py"}, "unknown_file"),
        ({"file": "./src/parser.py"}, "unknown_file"),
        ({"line_start": None}, "no_line"),
        ({"line_end": 41}, "range_reversed"),
        ({"line_start": 0, "line_end": 0}, "unknown_line"),
        ({"line_start": -1, "line_end": 42}, "unknown_line"),
        ({"line_start": 38, "line_end": 42}, "unknown_line"),
        ({"line_start": 18, "line_end": 39}, "unknown_line"),
        ({"line_start": 42, "line_end": 10**18}, "unknown_line"),
        ({"line_start": 10**5000, "line_end": 10**5000}, "unknown_line"),
    ],
)
def test_a_comment_stands_on_shown_lines_of_one_side_of_one_file(place: dict[str, Any], code: str | None) -> None:
    assert codes(comment(**place)) == ([] if code is None else [code])


@pytest.mark.parametrize(
    ("file", "side", "line", "fits"),
    [
        ("src/whole.py", "new", 1, True),
        ("src/whole.py", "old", 60, True),
        ("src/whole.py", "new", 61, False),
        ("src/parser.py", "new", 1, False),
        ("src/added.py", "new", 3, True),
        ("src/added.py", "old", 1, False),
        ("src/deleted.py", "old", 3, True),
        ("src/deleted.py", "new", 1, False),
        ("README.md", "new", 4, True),
        ("logo.png", "new", 1, False),
        ("src/renamed.py", "new", 1, False),
    ],
)
def test_a_line_outside_the_hunks_can_be_commented_where_the_text_is_known(
    file: str, side: str, line: int, fits: bool
) -> None:
    given = comment(file=file, side=side, line_start=line, line_end=line)
    assert codes(given, evidence=EVERY_KIND) == ([] if fits else ["unknown_line"])


def test_a_comment_on_lines_whose_place_nobody_knows_says_that_it_counts_the_excerpt() -> None:
    given = comment(file="src/blocks.py", line_start=1, line_end=1, numbering="excerpt", side="old")
    assert codes(given, evidence=EVERY_KIND) == []
    (result,) = InlineComments.result([given], comments_scheme(), EVERY_KIND, SUBMITTED_AT)
    assert (result["line_start"], result["line_end"], result["numbering"]) == (1, 1, "excerpt")
    assert list(result)[-4:] == ["side", "numbering", "comment_id", "created_at"]
    assert codes({**given, "line_end": 2}, evidence=EVERY_KIND) == ["unknown_line"]
    (gap,) = gaps({**given, "comment": ""}, evidence=EVERY_KIND)
    assert gap.sentence == "src/blocks.py, line 1 of the excerpt: write the comment or delete it."


def test_numbers_of_an_excerpt_and_numbers_of_the_file_are_never_mistaken_for_each_other() -> None:
    (silent,) = gaps(comment(file="src/blocks.py", line_start=1, line_end=1), evidence=EVERY_KIND)
    assert (silent.path, silent.code, silent.kind) == ((0, "numbering"), "wrong_numbering", "refused")
    assert 'say so: "numbering": "excerpt"' in silent.sentence
    (false,) = gaps(comment(numbering="excerpt"), evidence=EVERY_KIND)
    assert (false.code, false.sentence.rpartition(": ")[2]) == (
        "wrong_numbering",
        "line numbers of this file are those of the file. Leave numbering out.",
    )
    assert codes(comment(numbering="pages"), evidence=EVERY_KIND) == ["wrong_numbering"]
    assert "numbering" not in results(comment(numbering="file"))[0]


def test_comments_leave_in_the_order_of_their_creation() -> None:
    first, second, third = "2025-01-15T09:00:00Z", "2025-01-15T09:00:00.5Z", "2025-01-15T10:00:00Z"
    given = [comment(comment=at, created_at=at) for at in (third, second, first)]
    given.append(comment(comment="same", created_at=first))
    assert [one["comment"] for one in results(*given)] == [first, "same", second, third]


def test_a_comment_without_an_id_and_a_time_gets_both() -> None:
    given = [comment(comment="b"), comment(comment_id="comment-1", created_at="2025-01-15T09:00:00Z"), comment()]
    assert [(one["comment_id"], one["created_at"]) for one in results(*given)] == [
        ("comment-1", "2025-01-15T09:00:00Z"),
        ("comment-2", "2025-01-15T14:30:00Z"),
        ("comment-3", "2025-01-15T14:30:00Z"),
    ]


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "a\n", "\u0661", "\ud800", "<b>"])
def test_a_comment_id_is_a_short_word(name: str) -> None:
    assert codes(comment(comment_id=name)) == ["wrong_id"]


def test_no_two_comments_have_one_id() -> None:
    assert codes(comment(comment_id="a"), comment(comment_id="b")) == []
    (gap,) = gaps(comment(comment_id="a"), comment(comment_id="a"))
    assert (gap.path, gap.code) == ((1, "comment_id"), "repeated_id")


@pytest.mark.parametrize(
    "at",
    [
        "",
        "now",
        "2025-01-15",
        "2025-01-15T14:30:00",
        "2025-02-30T00:00:00Z",
        "2025-01-15T14:30:00+01:00",
        "2025-01-15T14:30:60Z",
        "2025-01-15T14:30:00Z\n",
    ],
)
def test_a_time_is_one_in_utc(at: str) -> None:
    assert codes(comment(created_at=at)) == ["wrong_time"]


@pytest.mark.parametrize(
    ("given", "path", "code"),
    [
        ({}, (), "not_a_list"),
        ("text", (), "not_a_list"),
        (False, (), "not_a_list"),
        ([None], (0,), "not_an_object"),
        ([[]], (0,), "not_an_object"),
        ([comment(line_start=42.0)], (0, "line_start"), "wrong_type"),
        ([comment(line_start=True)], (0, "line_start"), "wrong_type"),
        ([comment(line_end="42")], (0, "line_end"), "wrong_type"),
        ([comment(comment=1)], (0, "comment"), "wrong_type"),
        ([comment(category=["bug"])], (0, "category"), "wrong_type"),
        ([comment(unsure="yes")], (0, "unsure"), "wrong_type"),
        ([comment(certain=True)], (0, "certain"), "unknown_key"),
        ([comment(**{"\ud800\x00": 1})], (0, "\ud800\x00"), "unknown_key"),
    ],
)
def test_what_is_no_comment_is_not_even_kept_as_a_draft(given: Any, path: tuple[Any, ...], code: str) -> None:
    (kept,) = InlineComments.malformed(given)
    assert (kept.path, kept.code, kept.kind) == (path, code, "refused")
    assert InlineComments.missing(given, comments_scheme(), TWO_FILES) == (kept,)


def test_a_comment_that_has_just_begun_is_kept_as_a_draft() -> None:
    begun = {"file": "src/parser.py", "line_start": 42, "comment": "", "category": None, "side": "new"}
    assert InlineComments.malformed([begun, {}]) == ()
    assert codes(begun) == ["no_category", "no_text"]


def test_all_gaps_are_told_at_once() -> None:
    given = comment(
        file="x", side="y", line_start=2, line_end=1, category="z", severity="s", comment="", comment_id="?"
    )
    assert codes({**given, "comment_id": "?"}, 7, comment(created_at="soon"), min_comments=4) == [
        "wrong_id", "unknown_side", "unknown_file", "range_reversed", "unknown_category", "severity_off", "no_text",
        "not_an_object", "wrong_time", "too_few_comments",
    ]  # fmt: skip


def test_a_general_comment_is_on_a_file_or_the_whole_change_and_says_nothing_of_lines() -> None:
    on_file = {"subject_type": "file", "file": "src/parser.py", "category": "bug", "comment": "Too long"}
    on_change = {"subject_type": "change", "category": "bug", "comment": "Two things at once"}
    first, second, third = results(on_file, on_change, comment())
    assert list(first) == ["file", "category", "comment", "subject_type", "comment_id", "created_at"]
    assert list(second) == ["category", "comment", "subject_type", "comment_id", "created_at"]
    assert "subject_type" not in third
    assert third["side"] == "new"
    assert codes({**on_file, "file": None}) == ["no_file"]
    assert codes({**on_file, "file": "gone.py"}) == ["unknown_file"]
    assert codes({**on_change, "file": "src/parser.py"}) == ["file_of_change"]
    assert codes({**on_file, "subject_type": "line"}) == ["unknown_subject"]
    assert codes({**on_file, "line_start": 3, "side": "new", "suggestion": ""}) == ["not_on_lines"] * 3
    assert codes({**on_change, "comment": ""}) == ["no_text"]
    assert codes(on_file, on_change, allow_general=False) == ["general_off"] * 2
    (gap,) = gaps({**on_file, "comment": " "})
    assert gap.sentence == "The comment on src/parser.py: write the comment or delete it."
    assert gap.place == TaskLocation(file="src/parser.py")
