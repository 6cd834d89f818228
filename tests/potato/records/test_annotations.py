"""Whole annotations of code review: the documented record, hostile texts, and answers of any shape."""

import copy
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from potato.configuration import ProjectConfiguration, check_configuration
from potato.records.annotations import malformed, missing, record, results
from potato.runs.changes.places import Evidence
from potato.schemes.answers import Incomplete
from potato.wording import timestamp
from tests.hostile import HOSTILE
from tests.potato.configuration import documented_configurations as documented
from tests.review.documented_record import RECORD
from tests.review.evidence import EVERY_KIND, TWO_FILES, change, numbered
from tests.review.schemes_from import project

SUBMITTED_AT = datetime(2025, 1, 15, 14, 30, 0, 123_456, tzinfo=UTC)
EVERYTHING = project(
    inline_comments={"severity": {"enabled": True}},
    file_ratings={"include_unchanged": True, "require_all_files": False},
    verdict={"require_summary": False, "summary_min_length": 0},
)


def documented_project() -> ProjectConfiguration:
    configuration = check_configuration(documented.COMPLETE).configuration
    assert configuration is not None
    return configuration


def entered() -> dict[str, Any]:
    """What the task page keeps while somebody makes the documented annotation: more keys, and out of order."""
    answers: dict[str, Any] = copy.deepcopy(RECORD["annotations"])
    for number, comment in enumerate(answers["inline_comments"]):
        comment |= {"side": "new", "comment_id": f"c{number}", "created_at": f"2025-01-15T14:0{number}:00.25Z"}
        comment.setdefault("severity", None)
        comment.setdefault("suggestion", None)
    answers["inline_comments"].reverse()
    answers["file_ratings"] = dict(reversed(answers["file_ratings"].items()))
    answers["verdict"] = dict(reversed(answers["verdict"].items()))
    return answers


def test_the_documented_record_comes_from_what_was_entered_key_by_key() -> None:
    annotations = results(entered(), documented_project(), TWO_FILES, SUBMITTED_AT)
    made = record("trace_042", "reviewer_01", SUBMITTED_AT, annotations)
    for number, comment in enumerate(made["annotations"]["inline_comments"]):
        added = {key: comment.pop(key) for key in ("side", "comment_id", "created_at")}
        assert added == {"side": "new", "comment_id": f"c{number}", "created_at": f"2025-01-15T14:0{number}:00.25Z"}
    assert json.dumps(made) == json.dumps(RECORD)


def test_the_documented_annotations_are_answers_as_they_are_printed() -> None:
    printed = RECORD["annotations"]
    made = results(printed, documented_project(), TWO_FILES, SUBMITTED_AT)
    for comment in made["inline_comments"]:
        assert comment.pop("side") == "new"
        del comment["comment_id"], comment["created_at"]
    assert made == printed


def test_a_result_is_made_only_of_answers_without_gaps() -> None:
    with pytest.raises(Incomplete) as told:
        results({}, documented_project(), TWO_FILES, SUBMITTED_AT)
    assert [gap.path for gap in told.value.gaps] == [
        ("file_ratings", "src/parser.py", "correctness"),
        ("file_ratings", "src/parser.py", "quality"),
        ("file_ratings", "tests/test_parser.py", "correctness"),
        ("file_ratings", "tests/test_parser.py", "quality"),
        ("verdict", "decision"),
        ("verdict", "summary"),
    ]
    assert str(told.value).startswith("src/parser.py: rate Correctness. src/parser.py: rate Code Quality.")


@pytest.mark.parametrize(
    ("answers", "path", "code"),
    [
        (None, (), "not_an_object"),
        ([], (), "not_an_object"),
        ({"ratings": {}}, ("ratings",), "unknown_scheme"),
        ({"\ud800": {}}, ("\ud800",), "unknown_scheme"),
        ({"verdict": []}, ("verdict",), "not_an_object"),
        ({"inline_comments": [{"colour": 1}]}, ("inline_comments", 0, "colour"), "unknown_key"),
    ],
)
def test_a_draft_holds_the_parts_of_the_schemes_alone(answers: Any, path: tuple[Any, ...], code: str) -> None:
    (gap,) = malformed(answers, EVERYTHING)
    assert (gap.path, gap.code) == (path, code)
    assert gap in missing(answers, EVERYTHING, TWO_FILES)


def test_a_scheme_keeps_its_own_name_in_the_record() -> None:
    text = json.dumps(
        {"task_name": "X", "annotation_schemes": [{"name": "my-verdict", "annotation_type": "code_review_verdict"}]}
    )
    configuration = check_configuration(text).configuration
    assert configuration is not None
    answers = {"my-verdict": {"decision": "approve", "summary": "Nothing to change here."}}
    assert results(answers, configuration, TWO_FILES, SUBMITTED_AT) == answers


@pytest.mark.parametrize("version", [1, 2])
def test_the_version_of_a_trace_is_told_above_1(version: int) -> None:
    made = record("t", "a", SUBMITTED_AT, {}, trace_version=version)
    assert made.get("trace_version", 1) == version
    assert list(made) == ["id", "annotator", "timestamp", "annotations"] or version > 1


def test_a_timestamp_is_in_utc_and_whole_seconds() -> None:
    at = datetime(2025, 1, 15, 16, 0, 59, 999_999, tzinfo=timezone(timedelta(hours=1, minutes=30)))
    assert timestamp(at) == "2025-01-15T14:30:59Z"
    with pytest.raises(ValueError, match="zone"):
        timestamp(datetime(2025, 1, 15))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_come_out_unchanged(text: str) -> None:
    path = f"src/{text}"
    evidence = Evidence.of([change(path, numbered(1), f"{text}\n")])
    comment = {"file": path, "line_start": 1, "line_end": 1, "category": "bug", "comment": text, "suggestion": text}
    answers = {
        "inline_comments": [{**comment, "side": "new", "comment_id": "a", "created_at": "2025-01-15T14:30:00Z"}],
        "file_ratings": {path: {"quality": 1}},
        "verdict": {"decision": "approve", "summary": text},
    }
    made = results(answers, EVERYTHING, evidence, SUBMITTED_AT)
    assert made == answers
    assert json.loads(json.dumps(made)) == answers


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_values_are_refused_in_sentences_that_hide_nothing(text: str) -> None:
    answers = {
        text: 1,
        "inline_comments": [
            {"file": text, "line_start": 1, "category": text, "severity": text, "side": text, "comment": "x"},
            {"comment_id": text, "created_at": text, text: text},
        ],
        "file_ratings": {text: {text: 1}},
        "verdict": {"decision": text, text: text},
    }
    gaps = missing(answers, EVERYTHING, TWO_FILES)
    assert len(gaps) == 10
    assert all(gap.sentence.isprintable() and len(gap.sentence) < 400 for gap in gaps)


TEXTS = st.one_of(
    st.sampled_from([*HOSTILE, "", " ", "bug", "approve", "new", "old", "quality", *EVERY_KIND.files]),
    st.text(st.characters(), max_size=8),
    st.text(st.sampled_from("\x00\ud800\udcff\u202eé a"), max_size=4),
).map(lambda text: str(json.loads(json.dumps(text))))
"""Texts as JSON can hold them: a pair of surrogates is one character there."""
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)
COMMENT_KEYS = (
    "file",
    "line_start",
    "line_end",
    "category",
    "severity",
    "comment",
    "suggestion",
    "side",
    "numbering",
    "created_at",
)
ALMOST = st.fixed_dictionaries(
    {},
    optional={
        "inline_comments": JSON | st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(COMMENT_KEYS, JSON))),
        "file_ratings": JSON | st.dictionaries(TEXTS, st.dictionaries(TEXTS, JSON)),
        "verdict": JSON | st.fixed_dictionaries({}, optional={"decision": JSON, "summary": JSON}),
        "other": JSON,
    },
)


@given(JSON | ALMOST)
@example({"inline_comments": [{"line_start": 10**5000, "line_end": -(10**5000)}]})
def test_answers_of_any_shape_get_their_gaps_told(answers: Any) -> None:
    gaps = missing(answers, EVERYTHING, EVERY_KIND)
    assert {*malformed(answers, EVERYTHING)} <= {*gaps}
    for gap in gaps:
        assert gap.sentence.isprintable()
        assert gap.sentence.endswith(".")
    if gaps:
        with pytest.raises(Incomplete) as told:
            results(answers, EVERYTHING, EVERY_KIND, SUBMITTED_AT)
        assert told.value.gaps == gaps
    else:
        json.dumps(results(answers, EVERYTHING, EVERY_KIND, SUBMITTED_AT))


LINES = [
    (file.path, side, number, file.numbering)
    for file in EVERY_KIND.files.values()
    for side in ("new", "old")
    for number in file.lines(side)
]
VISIBLE = TEXTS.filter(str.strip)
COMMENTS = st.builds(
    lambda place, **keys: {
        "file": place[0],
        "side": place[1],
        "line_start": place[2],
        **({"numbering": "excerpt"} if place[3] == "excerpt" else {}),
        **keys,
    },
    st.sampled_from(LINES),
    category=st.sampled_from(["bug", "praise"]),
    severity=st.sampled_from([None, "", "nit"]),
    comment=VISIBLE,
    suggestion=st.none() | TEXTS,
    created_at=st.none() | st.datetimes().map(lambda at: at.isoformat() + "Z"),
)
FINISHED = st.fixed_dictionaries(
    {
        "verdict": st.fixed_dictionaries(
            {"decision": st.sampled_from(["approve", "comment_only"])}, optional={"summary": st.none() | TEXTS}
        )
    },
    optional={
        "inline_comments": st.lists(COMMENTS, max_size=5),
        "file_ratings": st.dictionaries(
            st.sampled_from(sorted(EVERY_KIND.files)),
            st.none() | st.dictionaries(st.sampled_from(["correctness", "quality"]), st.none() | st.integers(1, 5)),
        ),
    },
)


@given(FINISHED)
def test_a_result_is_its_own_result_and_survives_json(answers: Any) -> None:
    untouched = copy.deepcopy(answers)
    assert missing(answers, EVERYTHING, EVERY_KIND) == ()
    made = results(answers, EVERYTHING, EVERY_KIND, SUBMITTED_AT)
    assert answers == untouched
    read_back = json.loads(json.dumps(made, allow_nan=False))
    assert read_back == made
    assert results(read_back, EVERYTHING, EVERY_KIND, SUBMITTED_AT + timedelta(days=1)) == made
    assert sorted(one["comment"] for one in made["inline_comments"]) == sorted(
        one["comment"] for one in answers.get("inline_comments", [])
    )
