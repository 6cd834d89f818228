"""The scheme types of code review: what they fill in, and what they refuse."""

import json
from typing import Any

import pytest

from potato.configuration import SchemeConfiguration, check_configuration
from potato.schemes.registry import scheme_types
from potato.schemes.review.configuration import (
    FileRatingsBlock,
    FileRatingsScheme,
    InlineCommentsBlock,
    InlineCommentsScheme,
    Severity,
    SeverityLevel,
    VerdictBlock,
    VerdictScheme,
)
from potato.schemes.review.types import FileRatings, InlineComments, Verdict
from potato.schemes.rewards.types import ProcessReward
from tests.potato.configuration import documented_configurations as documented

NAMES = {
    InlineCommentsScheme: ("code_review_comments", "inline_comments"),
    FileRatingsScheme: ("code_review_file_ratings", "file_ratings"),
    VerdictScheme: ("code_review_verdict", "verdict"),
}


def scheme_from(text: str) -> SchemeConfiguration:
    configuration = check_configuration(text).configuration
    assert configuration is not None
    return configuration.annotation_schemes[0]


def comments(block: dict[str, Any] | None = None) -> InlineCommentsBlock:
    scheme = scheme_from(_text(InlineCommentsScheme, block))
    assert isinstance(scheme, InlineCommentsScheme)
    return scheme.inline_comments


def ratings(block: dict[str, Any] | None = None) -> FileRatingsBlock:
    scheme = scheme_from(_text(FileRatingsScheme, block))
    assert isinstance(scheme, FileRatingsScheme)
    return scheme.file_ratings


def verdict(block: dict[str, Any] | None = None) -> VerdictBlock:
    scheme = scheme_from(_text(VerdictScheme, block))
    assert isinstance(scheme, VerdictScheme)
    return scheme.verdict


def _text(model: type[SchemeConfiguration], block: dict[str, Any] | None) -> str:
    kind, key = NAMES[model]
    scheme = {"name": key, "annotation_type": kind, **({} if block is None else {key: block})}
    return json.dumps({"task_name": "X", "annotation_schemes": [scheme]})


def test_all_types_are_found_by_their_entry_points() -> None:
    assert scheme_types() == {
        "code_review_comments": InlineComments,
        "code_review_file_ratings": FileRatings,
        "code_review_verdict": Verdict,
        "process_reward": ProcessReward,
    }
    assert [kind.target for kind in scheme_types().values()] == ["line", "file", "change_set", "agentic_steps"]
    blocks = ["inline_comments", "file_ratings", "verdict", ""]
    assert [kind.block for kind in scheme_types().values()] == blocks


def test_comments_without_a_block_are_as_documented_but_without_severity() -> None:
    documented_scheme = scheme_from(documented.PARTIAL["inline_comments"])
    assert isinstance(documented_scheme, InlineCommentsScheme)
    as_documented = documented_scheme.inline_comments.model_dump()
    assert comments().severity.offered == ()
    assert {**comments().model_dump(), "severity": None} == {**as_documented, "severity": None}
    assert comments({}) == comments()


def test_ratings_without_a_block_are_as_documented() -> None:
    documented_scheme = scheme_from(documented.PARTIAL["file_ratings"])
    assert isinstance(documented_scheme, FileRatingsScheme)
    assert ratings() == ratings({}) == documented_scheme.file_ratings


def test_a_verdict_without_a_block_is_as_documented() -> None:
    documented_scheme = scheme_from(documented.PARTIAL["verdict"])
    assert isinstance(documented_scheme, VerdictScheme)
    assert verdict() == verdict({}) == documented_scheme.verdict


@pytest.mark.parametrize("severity", [{}, {"enabled": True}])
def test_severity_alone_offers_the_four_levels(severity: dict[str, Any]) -> None:
    levels = comments({"severity": severity}).severity.offered
    assert [(level.value, level.display) for level in levels] == [
        ("critical", "Critical"),
        ("major", "Major"),
        ("minor", "Minor"),
        ("nit", "Nit"),
    ]


def test_severity_that_is_switched_off_offers_no_level() -> None:
    assert comments({"severity": {"enabled": False}}).severity.offered == ()


def test_a_known_value_has_the_documented_colour_and_icon_and_its_own_title() -> None:
    (category,) = comments({"categories": [{"value": "logic"}]}).categories
    assert (category.display, category.color, category.icon) == ("Logic", "#f97316", "alert-triangle")
    (option,) = verdict({"options": [{"value": "comment_only"}]}).options
    assert (option.display, option.color, option.icon) == ("Comment Only", "#6b7280", "message-circle")
    assert option.description is None


def test_an_own_value_is_grey_without_an_icon_and_titled() -> None:
    (category,) = comments({"categories": [{"value": "needs_API-docs"}]}).categories
    assert (category.display, category.color, category.icon) == ("Needs API Docs", "#6b7280", None)
    (option,) = verdict({"options": [{"value": "_"}]}).options
    assert (option.display, option.color, option.icon) == ("_", "#6b7280", None)


def test_null_takes_the_icon_of_a_known_value_away() -> None:
    assert comments({"categories": [{"value": "bug", "icon": None}]}).categories[0].icon is None


@pytest.mark.parametrize("icon", ["alert-triangle", "triangle-alert", "help-circle", "check-circle", "x-circle", "bug"])
def test_lucide_icons_are_known_by_their_present_and_former_names(icon: str) -> None:
    assert verdict({"options": [{"value": "a", "icon": icon}]}).options[0].icon == icon


@pytest.mark.parametrize("scale", [None, {}, {"min": 1, "max": 5}])
def test_correctness_and_quality_on_1_to_5_have_the_documented_labels(scale: dict[str, Any] | None) -> None:
    given = {} if scale is None else {"scale": scale}
    block = ratings({"dimensions": [{"name": "correctness", **given}, {"name": "quality", **given}]})
    assert [dimension.scale for dimension in block.dimensions] == [d.scale for d in ratings().dimensions]
    assert [dimension.description for dimension in block.dimensions] == [None, None]


@pytest.mark.parametrize(
    ("dimension", "labels"),
    [
        ({"name": "speed"}, {}),
        ({"name": "quality", "scale": {"min": 0}}, {}),
        ({"name": "quality", "scale": {"max": 3}}, {}),
        ({"name": "quality", "scale": {"labels": {"1": "Bad"}}}, {1: "Bad"}),
        ({"name": "quality", "scale": {"labels": {}}}, {}),
    ],
)
def test_other_scales_have_the_labels_that_they_say(dimension: dict[str, Any], labels: dict[int, str]) -> None:
    assert ratings({"dimensions": [dimension]}).dimensions[0].scale.labels == labels


def test_scale_labels_may_be_numbers_or_text() -> None:
    text = _text(FileRatingsScheme, {"dimensions": []}).replace(
        '"dimensions": []', '"dimensions": [{name: speed, scale: {min: -1, labels: {-1: a, "0": b, 5: c}}}]'
    )
    scheme = scheme_from(text)
    assert isinstance(scheme, FileRatingsScheme)
    assert scheme.file_ratings.dimensions[0].scale.labels == {-1: "a", 0: "b", 5: "c"}


@pytest.mark.parametrize("key", ["01", "1.0", "+1", "0x1", "\u0661", "-0", "one", "", "99999"])
def test_a_label_for_what_is_no_whole_number_is_refused(key: str) -> None:
    text = _text(FileRatingsScheme, {"dimensions": [{"name": "speed", "scale": {"labels": {key: "a"}}}]})
    assert [error.code for error in check_configuration(text).errors] == ["label_key"]


@pytest.mark.parametrize(("low", "high", "fits"), [(0, 10, True), (0, 11, False), (-100, -90, True), (4, 5, True)])
def test_a_scale_has_at_most_eleven_points(low: int, high: int, fits: bool) -> None:
    text = _text(FileRatingsScheme, {"dimensions": [{"name": "speed", "scale": {"min": low, "max": high}}]})
    assert (check_configuration(text).errors == ()) == fits


@pytest.mark.parametrize("colour", ["#abc", "#ABCDEF", "#012345"])
def test_colours_are_three_or_six_hexadecimal_digits(colour: str) -> None:
    assert comments({"categories": [{"value": "a", "color": colour}]}).categories[0].color == colour


@pytest.mark.parametrize("colour", ["abc", "#ab", "#abcd", "#abcdefa", "#ggg", "red", "#abc\n", " #abc", "rgb(1,2,3)"])
def test_other_colours_are_refused(colour: str) -> None:
    text = _text(InlineCommentsScheme, {"categories": [{"value": "a", "color": colour}]})
    assert [error.code for error in check_configuration(text).errors] == ["wrong_value"]


@pytest.mark.parametrize("value", ["a", "A-b_9", "x" * 64])
def test_values_are_short_words(value: str) -> None:
    assert verdict({"options": [{"value": value}]}).options[0].value == value


@pytest.mark.parametrize("value", ["", "a b", "ä", "a/b", "x" * 65, "a\n", "a.b"])
def test_other_values_are_refused(value: str) -> None:
    text = _text(VerdictScheme, {"options": [{"value": value}]})
    assert [error.code for error in check_configuration(text).errors] == ["wrong_value"]


def test_a_severity_that_is_required_needs_no_warning_when_there_is_one() -> None:
    block = {"severity": {"enabled": True}, "require_severity": True}
    assert check_configuration(_text(InlineCommentsScheme, block)).problems == ()


def test_a_severity_has_the_sign_of_its_name_and_else_of_its_rank() -> None:
    def signs(*values: str) -> list[str]:
        return [sign for _, sign in Severity(levels=tuple(SeverityLevel(value=value) for value in values)).signed]

    assert signs("nit", "critical") == ["sev-nit", "sev-critical"]
    assert signs("p1", "p2", "p3", "p4") == ["sev-critical", "sev-major", "sev-minor", "sev-nit"]
    assert signs("high", "low") == ["sev-critical", "sev-nit"]
    assert signs("only") == ["sev-critical"]
    assert Severity(enabled=False).signed == []
