"""Every option of the code review schemes, and a program that tries to go around it over the API.

Each test sends an annotation that the page would never send. The same annotation is taken where the option allows it,
so that the refusal is the option's.
"""

from typing import Any

import pytest

from tests.assignments.reviews import FILES, api_of, documented, reviewed
from tests.review.evidence import numbered
from tests.tenants import Tenants
from tests.traces.stored import outcome, read

ADDED = outcome("src/added.py", None, "one\ntwo\n")
DELETED = outcome("src/deleted.py", "one\ntwo\n", None)
UNCHANGED = read("README.md", numbered(4))


def codes(tenants: Tenants, answers: Any, *events: Any, **blocks: Any) -> list[tuple[str, str]]:
    """The gaps of the annotation under these settings, as codes and their paths; nothing where it is taken."""
    reviewed(tenants.acme, tenants.acme_project, *events, **blocks)
    api = api_of(tenants.bob)
    held = api.claim()
    answer = api.submit(held, answers)
    if answer.status_code == 201:
        return []
    assert (answer.status_code, answer.json()["code"]) == (422, "incomplete"), answer.content
    # Nothing was stored, and the work goes on.
    assert api.get("projects/parser/annotations/").json()["results"] == []
    assert api.claim()["id"] == held["id"]
    return [(gap["code"], "/".join(map(str, gap["path"]))) for gap in answer.json()["gaps"]]


def with_comment(**changed: Any) -> dict[str, Any]:
    """The documented annotation with these keys in its first comment; None leaves a key out."""
    answers = documented()
    comment = {**answers["inline_comments"][0], **changed}
    answers["inline_comments"][0] = {key: value for key, value in comment.items() if value is not None}
    return answers


def with_ratings(**ratings: Any) -> dict[str, Any]:
    answers = documented()
    answers["inline_comments"] = []
    answers["file_ratings"] = {path.replace("__", "/"): given for path, given in ratings.items()}
    return answers


def with_verdict(**changed: Any) -> dict[str, Any]:
    answers = documented()
    verdict = {**answers["verdict"], **changed}
    answers["verdict"] = {key: value for key, value in verdict.items() if value is not None}
    return answers


def documented_with_ratings(path: str) -> dict[str, Any]:
    """The documented annotation with ratings of one more file."""
    answers = documented()
    answers["file_ratings"][path] = {"correctness": 3, "quality": 3}
    return answers


COMMENT = "inline_comments"
RATINGS = "file_ratings"


# --- Comments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("allowed", [False, True])
def test_require_category(tenants: Tenants, allowed: bool) -> None:
    found = codes(tenants, with_comment(category=None), inline_comments={"require_category": not allowed})
    assert found == ([] if allowed else [("no_category", f"{COMMENT}/0/category")])


@pytest.mark.parametrize("allowed", [False, True])
def test_require_severity(tenants: Tenants, allowed: bool) -> None:
    # The documented third comment has none.
    found = codes(tenants, documented(), inline_comments={"require_severity": not allowed})
    assert found == ([] if allowed else [("no_severity", f"{COMMENT}/2/severity")])


@pytest.mark.parametrize("allowed", [False, True])
def test_severity_that_is_off(tenants: Tenants, allowed: bool) -> None:
    answers = with_comment(severity="critical")
    del answers[COMMENT][1:]
    found = codes(tenants, answers, inline_comments={"severity": {"enabled": allowed}})
    assert found == ([] if allowed else [("severity_off", f"{COMMENT}/0/severity")])


@pytest.mark.parametrize("allowed", [False, True])
def test_levels_of_severity(tenants: Tenants, allowed: bool) -> None:
    levels = [{"value": value} for value in (["critical", "nit"] if allowed else ["grave", "nit"])]
    found = codes(tenants, documented(), inline_comments={"severity": {"levels": levels}})
    assert found == ([] if allowed else [("unknown_severity", f"{COMMENT}/0/severity")])


@pytest.mark.parametrize("allowed", [False, True])
def test_categories(tenants: Tenants, allowed: bool) -> None:
    categories = [{"value": value} for value in (["bug", "style", "praise"] if allowed else ["style", "praise"])]
    found = codes(tenants, documented(), inline_comments={"categories": categories})
    assert found == ([] if allowed else [("unknown_category", f"{COMMENT}/0/category")])


@pytest.mark.parametrize("allowed", [False, True])
def test_allow_multi_line(tenants: Tenants, allowed: bool) -> None:
    # The documented third comment spans lines 28 to 30.
    found = codes(tenants, documented(), inline_comments={"allow_multi_line": allowed})
    assert found == ([] if allowed else [("multi_line", f"{COMMENT}/2/line_end")])


@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize("suggestion", ["return None", ""])
def test_allow_suggestions(tenants: Tenants, suggestion: str, allowed: bool) -> None:
    found = codes(tenants, with_comment(suggestion=suggestion), inline_comments={"allow_suggestions": allowed})
    assert found == ([] if allowed else [("suggestions_off", f"{COMMENT}/0/suggestion")])


@pytest.mark.parametrize("allowed", [False, True])
def test_allow_unsure(tenants: Tenants, allowed: bool) -> None:
    found = codes(tenants, with_comment(unsure=True), inline_comments={"allow_unsure": allowed})
    assert found == ([] if allowed else [("unsure_off", f"{COMMENT}/0/unsure")])


def test_a_comment_that_is_sure_says_nothing_of_it(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project, inline_comments={"allow_unsure": True})
    answers = with_comment(unsure=False)
    answers[COMMENT][1]["unsure"] = True
    api = api_of(tenants.bob)
    kept = api.submit(api.claim(), answers).json()["record"]["annotations"][COMMENT]
    assert [comment.get("unsure") for comment in kept] == [None, True, None]


@pytest.mark.parametrize("allowed", [False, True])
def test_min_comments(tenants: Tenants, allowed: bool) -> None:
    found = codes(tenants, documented(), inline_comments={"min_comments": 3 if allowed else 4})
    assert found == ([] if allowed else [("too_few_comments", COMMENT)])


def test_min_comments_is_not_filled_with_empty_or_repeated_ones(tenants: Tenants) -> None:
    answers = documented()
    answers[COMMENT] = [
        {**answers[COMMENT][0], "comment_id": "same"},
        {**answers[COMMENT][1], "comment_id": "same"},
        {"file": "src/parser.py", "line_start": 15, "category": "bug", "comment": " \n"},
        {},
    ]
    found = codes(tenants, answers, inline_comments={"min_comments": 4})
    assert ("repeated_id", f"{COMMENT}/1/comment_id") in found
    assert ("no_text", f"{COMMENT}/2/comment") in found
    assert ("no_file", f"{COMMENT}/3/file") in found


@pytest.mark.parametrize(
    ("changed", "code", "key"),
    [
        ({"line_start": 61, "line_end": 61}, "unknown_line", "line_start"),
        ({"line_start": 0, "line_end": 0}, "unknown_line", "line_start"),
        ({"line_start": -5, "line_end": 42}, "unknown_line", "line_start"),
        ({"line_start": 42, "line_end": 10**30}, "unknown_line", "line_start"),
        ({"line_start": 43, "line_end": 42}, "range_reversed", "line_end"),
        ({"line_start": 42.0}, "wrong_type", "line_start"),
        ({"line_start": "42"}, "wrong_type", "line_start"),
        ({"line_start": None, "line_end": None}, "no_line", "line_start"),
        ({"file": "src/other.py"}, "unknown_file", "file"),
        ({"file": "../src/parser.py"}, "unknown_file", "file"),
        ({"file": None}, "no_file", "file"),
        ({"side": "both"}, "unknown_side", "side"),
        ({"comment": ""}, "no_text", "comment"),
        ({"comment_id": "a b"}, "wrong_id", "comment_id"),
        ({"created_at": "yesterday"}, "wrong_time", "created_at"),
        ({"author": "alice"}, "unknown_key", "author"),
    ],
)
def test_a_comment_stands_on_lines_that_people_can_see(
    tenants: Tenants, changed: dict[str, Any], code: str, key: str
) -> None:
    assert codes(tenants, with_comment(**changed)) == [(code, f"{COMMENT}/0/{key}")]


def test_a_deleted_file_is_commented_on_its_old_side_alone(tenants: Tenants) -> None:
    comment = {"file": "src/deleted.py", "line_start": 1, "line_end": 2, "category": "bug", "comment": "Why?"}
    answers = documented_with_ratings("src/deleted.py")
    answers[COMMENT] = [{**comment, "side": "new"}]
    assert codes(tenants, answers, *FILES, DELETED) == [("unknown_line", f"{COMMENT}/0/line_start")]
    answers[COMMENT] = [{**comment, "side": "old"}]
    api = api_of(tenants.bob)
    assert api.submit(api.claim(), answers).status_code == 201


# --- Ratings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("allowed", [False, True])
def test_require_all_files(tenants: Tenants, allowed: bool) -> None:
    answers = with_ratings(**{"src__parser.py": {"correctness": 3}})
    found = codes(tenants, answers, file_ratings={"require_all_files": not allowed})
    assert found == (
        []
        if allowed
        else [
            ("not_rated", f"{RATINGS}/src/parser.py/quality"),
            ("not_rated", f"{RATINGS}/tests/test_parser.py/correctness"),
            ("not_rated", f"{RATINGS}/tests/test_parser.py/quality"),
        ]
    )


@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize(
    ("option", "event", "path"),
    [
        ("include_unchanged", UNCHANGED, "README.md"),
        ("include_new_files", ADDED, "src/added.py"),
        ("include_deleted_files", DELETED, "src/deleted.py"),
    ],
)
def test_which_files_are_rated(tenants: Tenants, option: str, event: Any, path: str, allowed: bool) -> None:
    found = codes(tenants, documented_with_ratings(path), *FILES, event, file_ratings={option: allowed})
    assert found == ([] if allowed else [("unrated_file", f"{RATINGS}/{path}")])


@pytest.mark.parametrize(
    ("option", "event", "path"),
    [
        ("include_unchanged", UNCHANGED, "README.md"),
        ("include_new_files", ADDED, "src/added.py"),
        ("include_deleted_files", DELETED, "src/deleted.py"),
    ],
)
def test_files_that_are_rated_are_not_left_out(tenants: Tenants, option: str, event: Any, path: str) -> None:
    found = codes(tenants, documented(), *FILES, event, file_ratings={option: True})
    assert found == [("not_rated", f"{RATINGS}/{path}/correctness"), ("not_rated", f"{RATINGS}/{path}/quality")]


@pytest.mark.parametrize(
    ("rating", "code"),
    [
        (0, "outside_scale"),
        (6, "outside_scale"),
        (-3, "outside_scale"),
        (10**30, "outside_scale"),
        (3.0, "wrong_type"),
        ("3", "wrong_type"),
        (True, "wrong_type"),
        ([3], "wrong_type"),
        (None, "not_rated"),
    ],
)
def test_scale(tenants: Tenants, rating: Any, code: str) -> None:
    answers = documented()
    answers[RATINGS]["src/parser.py"]["quality"] = rating
    assert codes(tenants, answers)[:1] == [(code, f"{RATINGS}/src/parser.py/quality")]


@pytest.mark.parametrize("allowed", [False, True])
def test_a_scale_of_ones_own(tenants: Tenants, allowed: bool) -> None:
    scale = {"min": 1 if allowed else 3, "max": 5}
    dimensions = [{"name": "correctness"}, {"name": "quality", "scale": scale}]
    found = codes(tenants, documented(), file_ratings={"dimensions": dimensions})
    assert found == ([] if allowed else [("outside_scale", f"{RATINGS}/src/parser.py/quality")])


@pytest.mark.parametrize("allowed", [False, True])
def test_dimensions(tenants: Tenants, allowed: bool) -> None:
    names = ["correctness", "quality"] if allowed else ["correctness"]
    found = codes(tenants, documented(), file_ratings={"dimensions": [{"name": name} for name in names]})
    assert found == (
        []
        if allowed
        else [
            ("unknown_dimension", f"{RATINGS}/src/parser.py/quality"),
            ("unknown_dimension", f"{RATINGS}/tests/test_parser.py/quality"),
        ]
    )


def test_files_that_the_trace_does_not_have_are_not_rated(tenants: Tenants) -> None:
    found = codes(tenants, documented_with_ratings("src/other.py"))
    assert found == [("unknown_file", f"{RATINGS}/src/other.py")]


# --- Verdict ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize("summary", [None, "", " \n\t"])
def test_require_summary(tenants: Tenants, summary: str | None, allowed: bool) -> None:
    found = codes(tenants, with_verdict(summary=summary), verdict={"require_summary": not allowed})
    assert found == ([] if allowed else [("no_summary", "verdict/summary")])


@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize("length", [19, 20])
def test_summary_min_length(tenants: Tenants, length: int, required: bool) -> None:
    summary = f"  {'x' * length}\n\n"
    found = codes(tenants, with_verdict(summary=summary), verdict={"require_summary": required})
    assert found == ([] if length == 20 else [("short_summary", "verdict/summary")])


@pytest.mark.parametrize("allowed", [False, True])
def test_options(tenants: Tenants, allowed: bool) -> None:
    values = ["request_changes", "reject"] if allowed else ["approve", "reject"]
    found = codes(tenants, documented(), verdict={"options": [{"value": value} for value in values]})
    assert found == ([] if allowed else [("unknown_decision", "verdict/decision")])


@pytest.mark.parametrize(
    ("decision", "code"), [(None, "no_decision"), ("", "no_decision"), ("Approve", "unknown_decision")]
)
def test_a_verdict_is_chosen(tenants: Tenants, decision: str | None, code: str) -> None:
    assert codes(tenants, with_verdict(decision=decision)) == [(code, "verdict/decision")]


# --- Schemes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("left_out", ["file_ratings", "verdict"])
def test_a_scheme_is_not_left_out(tenants: Tenants, left_out: str) -> None:
    answers = documented()
    del answers[left_out]
    found = codes(tenants, answers)
    assert found
    assert all(path.startswith(f"{left_out}/") for _, path in found)


def test_a_scheme_that_the_project_does_not_have_is_not_smuggled_in(tenants: Tenants) -> None:
    assert codes(tenants, {**documented(), "extra": {"decision": "approve"}}) == [("unknown_scheme", "extra")]
