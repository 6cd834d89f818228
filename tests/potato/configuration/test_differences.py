"""What a new version of a configuration would take from the annotations that exist."""

import json
from typing import Any

import pytest

from potato.configuration import ProjectConfiguration, differences
from tests.potato.configuration import documented_configurations as documented
from tests.potato.configuration.test_project import loaded

OLD: dict[str, Any] = {
    "task_name": "X",
    "annotation_schemes": [
        {
            "name": "remarks",
            "annotation_type": "code_review_comments",
            "inline_comments": {
                "categories": [{"value": "bug"}, {"value": "style"}],
                "severity": {"levels": [{"value": "major"}, {"value": "minor"}]},
            },
        },
        {
            "name": "ratings",
            "annotation_type": "code_review_file_ratings",
            "file_ratings": {"dimensions": [{"name": "speed", "scale": {"min": 0, "max": 4}}, {"name": "safety"}]},
        },
        {
            "name": "verdict",
            "annotation_type": "code_review_verdict",
            "verdict": {"options": [{"value": "approve"}, {"value": "reject"}]},
        },
    ],
}


def changed(*path: str | int, to: Any) -> ProjectConfiguration:
    """OLD with another value at a path below `annotation_schemes`."""
    configuration = json.loads(json.dumps(OLD))
    block = configuration["annotation_schemes"]
    for step in path[:-1]:
        block = block[step]
    block[path[-1]] = to
    return loaded(json.dumps(configuration))


def told(new: ProjectConfiguration) -> list[tuple[str, str]]:
    return [
        ("/".join(str(step) for step in difference.path), difference.message)
        for difference in differences(loaded(json.dumps(OLD)), new)
    ]


@pytest.mark.parametrize(
    ("path", "to", "expected"),
    [
        (
            (0, "inline_comments", "categories"),
            [{"value": "style"}, {"value": "logic"}],
            ("remarks/inline_comments/categories/bug", "The category bug of remarks is removed."),
        ),
        (
            (0, "inline_comments", "severity", "levels"),
            [{"value": "minor"}],
            ("remarks/inline_comments/severity/levels/major", "The severity level major of remarks is removed."),
        ),
        (
            (1, "file_ratings", "dimensions"),
            [{"name": "speed", "scale": {"min": 0, "max": 4}}],
            ("ratings/file_ratings/dimensions/safety", "The dimension safety of ratings is removed."),
        ),
        (
            (1, "file_ratings", "dimensions", 0, "scale"),
            {"min": 1, "max": 6},
            (
                "ratings/file_ratings/dimensions/speed/scale",
                "The scale of speed of ratings no longer holds all of 0 to 4: it becomes 1 to 6.",
            ),
        ),
        (
            (2, "verdict", "options"),
            [{"value": "approve"}],
            ("verdict/verdict/options/reject", "The option reject of verdict is removed."),
        ),
        ((0, "name"), "comments", ("remarks", "The scheme remarks is removed.")),
    ],
)
def test_what_is_removed_is_told(path: tuple[str | int, ...], to: Any, expected: tuple[str, str]) -> None:
    place, sentence = expected
    assert told(changed(*path, to=to)) == [(f"annotation_schemes/{place}", sentence)]


LABELLED = {"min": 1, "max": 5, "labels": {1: "bad", 2: "poor", 5: "good"}}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({1: "bad", 5: "good"}, {"2": "The label poor of 2 of speed of ratings is removed."}),
        (
            {1: "good", 2: "poor", 5: "bad"},
            {
                "1": "The label of 1 of speed of ratings changes from bad to good.",
                "5": "The label of 5 of speed of ratings changes from good to bad.",
            },
        ),
        ({1: "bad", 2: "poor", 3: "fair", 5: "good"}, {}),
    ],
)
def test_a_rating_keeps_the_words_under_which_it_was_given(labels: dict[int, str], expected: dict[str, str]) -> None:
    scale = (1, "file_ratings", "dimensions", 0, "scale")
    found = differences(changed(*scale, to=LABELLED), changed(*scale, to={**LABELLED, "labels": labels}))
    place = "annotation_schemes/ratings/file_ratings/dimensions/speed/scale/labels/"
    assert {"/".join(str(step) for step in one.path): one.message for one in found} == {
        place + point: sentence for point, sentence in expected.items()
    }


def test_switching_severity_off_removes_its_levels() -> None:
    sentences = [sentence for _, sentence in told(changed(0, "inline_comments", "severity", to={"enabled": False}))]
    assert sentences == [
        "The severity level major of remarks is removed.",
        "The severity level minor of remarks is removed.",
    ]


def test_levels_that_nobody_could_choose_are_no_loss() -> None:
    off = changed(0, "inline_comments", "severity", to={"enabled": False, "levels": [{"value": "major"}]})
    assert differences(off, changed(0, "inline_comments", "severity", to={"levels": [{"value": "minor"}]})) == ()


def test_a_name_that_moves_to_another_type_is_told() -> None:
    new = loaded(
        json.dumps(
            {"task_name": "X", "annotation_schemes": [{"name": "remarks", "annotation_type": "code_review_verdict"}]}
        )
    )
    assert told(new) == [
        (
            "annotation_schemes/remarks/annotation_type",
            "The scheme remarks changes its type from code_review_comments to code_review_verdict.",
        ),
        ("annotation_schemes/ratings", "The scheme ratings is removed."),
        ("annotation_schemes/verdict", "The scheme verdict is removed."),
    ]


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (
            (0, "inline_comments", "categories"),
            [{"value": "new"}, {"value": "style"}, {"value": "bug", "display": "B"}],
        ),
        ((1, "file_ratings", "dimensions", 0, "scale"), {"min": -1, "max": 5}),
        ((2, "verdict", "require_summary"), False),
        ((2, "description"), "Decide"),
    ],
)
def test_adding_and_renaming_for_the_eye_takes_nothing(path: tuple[str | int, ...], to: Any) -> None:
    assert told(changed(*path, to=to)) == []


@pytest.mark.parametrize("text", documented.ALL.values())
def test_a_configuration_does_not_differ_from_itself(text: str) -> None:
    assert differences(loaded(text), loaded(text)) == ()
