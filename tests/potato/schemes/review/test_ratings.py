"""Ratings of files: which files carry them under each option, what they lack, and what leaves."""

from datetime import UTC, datetime
from typing import Any

import pytest

from potato.runs.changes.places import Evidence
from potato.schemes.answers import Gap, TaskLocation
from potato.schemes.review.ratings import rated_files
from potato.schemes.review.types import FileRatings
from tests.review.evidence import EVERY_KIND, TWO_FILES
from tests.review.schemes_from import ratings_scheme

SUBMITTED_AT = datetime(2025, 1, 15, 14, 30, tzinfo=UTC)
BOTH = {"correctness": 4, "quality": 3}
ALWAYS = ["logo.png", "src/blocks.py", "src/parser.py", "src/renamed.py", "src/whole.py"]


def gaps(answers: Any, evidence: Evidence = TWO_FILES, **block: Any) -> tuple[Gap, ...]:
    return FileRatings.missing(answers, ratings_scheme(**block), evidence)


def codes(answers: Any, evidence: Evidence = TWO_FILES, **block: Any) -> list[str]:
    return [gap.code for gap in gaps(answers, evidence, **block)]


def result(answers: Any, evidence: Evidence = TWO_FILES, **block: Any) -> dict[str, dict[str, int | str]]:
    assert codes(answers, evidence, **block) == []
    return FileRatings.result(answers, ratings_scheme(**block), evidence, SUBMITTED_AT)


@pytest.mark.parametrize(
    ("block", "more"),
    [
        ({}, ["src/added.py", "src/copied.py", "src/deleted.py"]),
        ({"include_new_files": True}, ["src/added.py", "src/copied.py", "src/deleted.py"]),
        ({"include_new_files": False}, ["src/deleted.py"]),
        ({"include_deleted_files": False}, ["src/added.py", "src/copied.py"]),
        ({"include_unchanged": True}, ["README.md", "src/added.py", "src/copied.py", "src/deleted.py"]),
        ({"include_unchanged": True, "include_new_files": False, "include_deleted_files": False}, ["README.md"]),
    ],
)
def test_the_options_say_which_files_are_rated(block: dict[str, Any], more: list[str]) -> None:
    rated = [file.path for file in rated_files(ratings_scheme(**block).file_ratings, EVERY_KIND)]
    assert sorted(rated) == sorted([*ALWAYS, *more])
    assert list(result(dict.fromkeys(rated, BOTH), EVERY_KIND, **block)) == rated
    assert {gap.place.file for gap in gaps({}, EVERY_KIND, **block)} == {*rated}


@pytest.mark.parametrize(
    ("path", "block", "sentence"),
    [
        ("README.md", {}, "README.md has no ratings. Unchanged files are not rated in this project."),
        (
            "src/added.py",
            {"include_new_files": False},
            "src/added.py has no ratings. New files are not rated in this project.",
        ),
        (
            "src/copied.py",
            {"include_new_files": False},
            "src/copied.py has no ratings. New files are not rated in this project.",
        ),
        (
            "src/deleted.py",
            {"include_deleted_files": False},
            "src/deleted.py has no ratings. Deleted files are not rated in this project.",
        ),
        ("src/before.py", {}, "src/before.py is not a file of this trace."),
    ],
)
def test_a_rating_of_a_file_that_is_not_rated_is_refused(path: str, block: dict[str, Any], sentence: str) -> None:
    (gap,) = gaps({path: BOTH}, EVERY_KIND, require_all_files=False, **block)
    assert (gap.path, gap.sentence, gap.kind) == ((path,), sentence, "refused")


def test_every_dimension_of_every_file_is_rated_where_all_are_required() -> None:
    assert result({"tests/test_parser.py": BOTH, "src/parser.py": BOTH}) == {
        "src/parser.py": BOTH,
        "tests/test_parser.py": BOTH,
    }
    correctness, *others = gaps({"src/parser.py": {"correctness": None, "quality": 3}, "tests/test_parser.py": None})
    assert correctness.sentence == "src/parser.py: rate Correctness."
    assert correctness.path == ("src/parser.py", "correctness")
    assert correctness.place == TaskLocation(file="src/parser.py", dimension="correctness")
    assert [gap.sentence for gap in others] == [
        "tests/test_parser.py: rate Correctness.",
        "tests/test_parser.py: rate Code Quality.",
    ]
    assert len(gaps(None)) == 4


def test_files_can_be_left_out_where_not_all_are_required() -> None:
    assert result({}, require_all_files=False) == result(None, require_all_files=False) == {}
    assert result({"src/parser.py": {"quality": 3}, "tests/test_parser.py": {}}, require_all_files=False) == {
        "src/parser.py": {"quality": 3}
    }


def test_not_rated_is_apart_from_a_rating_of_0() -> None:
    block: dict[str, Any] = {"dimensions": [{"name": "speed", "scale": {"min": 0, "max": 3}}]}
    given = {"src/parser.py": {"speed": 0}, "tests/test_parser.py": {"speed": None}}
    assert codes(given, **block) == ["not_rated"]
    assert result(given, **block, require_all_files=False) == {"src/parser.py": {"speed": 0}}


@pytest.mark.parametrize(
    ("number", "fits"), [(-3, False), (-2, True), (0, True), (2, True), (3, False), (10**18, False)]
)
def test_a_rating_is_on_the_configured_scale(number: int, fits: bool) -> None:
    mood = {"name": "mood", "scale": {"min": -2, "max": 2}}
    found = gaps({"src/parser.py": {"mood": number}}, dimensions=[mood], require_all_files=False)
    if fits:
        assert found == ()
    else:
        assert [gap.sentence for gap in found] == ["src/parser.py: mood must be a whole number from -2 to 2."]


def test_a_dimension_is_one_of_the_configured_ones() -> None:
    block: dict[str, Any] = {"dimensions": [{"name": "speed"}], "require_all_files": False}
    assert codes({"src/parser.py": {"speed": 1}}, **block) == []
    (gap,) = gaps({"src/parser.py": {"quality": 1}}, **block)
    assert (gap.path, gap.code) == (("src/parser.py", "quality"), "unknown_dimension")


@pytest.mark.parametrize("number", ["4", 4.0, 3.5, True, [4], {}, float("nan")])
def test_a_rating_is_a_whole_number(number: Any) -> None:
    (gap,) = gaps({"src/parser.py": {"quality": number}}, require_all_files=False)
    assert (gap.path, gap.code) == (("src/parser.py", "quality"), "wrong_type")
    assert FileRatings.malformed({"src/parser.py": {"quality": number}}) == (gap,)


@pytest.mark.parametrize("given", [[], "text", 4, True])
def test_ratings_are_objects(given: Any) -> None:
    assert [gap.path for gap in FileRatings.malformed(given)] == [()]
    assert [gap.path for gap in FileRatings.malformed({"src/parser.py": given})] == [("src/parser.py",)]


def test_a_half_rated_file_is_kept_as_a_draft() -> None:
    assert FileRatings.malformed(None) == FileRatings.malformed({}) == ()
    assert FileRatings.malformed({"src/parser.py": {"correctness": 1, "quality": None}, "x": None}) == ()


def test_a_trace_without_files_to_rate_lacks_nothing() -> None:
    assert result(None, Evidence.of(())) == {}
