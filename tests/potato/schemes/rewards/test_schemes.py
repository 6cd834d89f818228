"""Process rewards as pure rules: the documented outputs, what is refused, and what follows from what was said."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from potato.runs.changes.places import Evidence
from potato.schemes.rewards.configuration import KNOWN_LABELS, ProcessRewardScheme
from potato.schemes.rewards.types import ProcessReward
from potato.validation.blocks import Block, Remark, all_remarks
from tests.rewards import documented_results as documented

NOW = datetime(2025, 1, 15, 14, 30, tzinfo=UTC)


class Known(ProcessRewardScheme):
    """Read as a scheme of its type also where no installed package announces it."""

    @classmethod
    def model_for(cls, given: object) -> type[Block]:
        return cls


def scheme(**keys: Any) -> ProcessRewardScheme:
    entry = {"name": "process_reward", "annotation_type": "process_reward", "mode": "first_error", **keys}
    return ProcessRewardScheme.model_validate(entry)


def remarks(**keys: Any) -> list[Remark]:
    entry = {"name": "process_reward", "annotation_type": "process_reward", "mode": "first_error", **keys}
    return list(all_remarks(Known, entry))


def codes(answers: object, rules: ProcessRewardScheme, steps: int) -> list[str]:
    return [gap.code for gap in ProcessReward.missing(answers, rules, Evidence({}, steps))]


def result(answers: object, rules: ProcessRewardScheme, steps: int) -> Any:
    assert codes(answers, rules, steps) == []
    return ProcessReward.result(answers, rules, Evidence({}, steps), NOW)


def without_our_keys(part: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key != "label_origin"}


def test_the_first_error_example_of_the_document() -> None:
    part = result({"first_error_step": 4}, scheme(), 8)
    assert without_our_keys(part) == documented.FIRST_ERROR
    assert part["label_origin"] == ["given"] * 5 + ["inferred"] * 3


def test_all_steps_correct_is_null_and_ones() -> None:
    part = result({"all_correct": True}, scheme(), 3)
    assert without_our_keys(part) == {
        "mode": "first_error",
        "first_error_step": None,
        "total_steps": 3,
        "labels": [1, 1, 1],
    }


def test_the_per_step_example_of_the_document_with_the_sum_of_its_labels() -> None:
    rules = scheme(mode="per_step", per_step={"error_categories": {"enabled": True}, "allow_notes": True})
    part = result({"step_details": documented.PER_STEP["step_details"]}, rules, 6)
    assert without_our_keys(part) == documented.PER_STEP
    assert all(isinstance(label, float) for label in part["labels"])


def test_a_step_that_is_not_rated_is_null_and_not_zero() -> None:
    rules = scheme(mode="per_step", per_step={"require_all_steps": False})
    part = result({"step_details": {"1": {"label": "unnecessary"}}}, rules, 3)
    assert part["labels"] == [None, -0.5, None]
    assert part["label_origin"] == [None, "given", None]
    assert part["cumulative_score"] == -0.5


def test_scores_are_added_as_they_are_written() -> None:
    labels = [{"value": "tenth", "score": 0.1}]
    rules = scheme(mode="per_step", per_step={"labels": labels})
    part = result({"step_details": {str(index): {"label": "tenth"} for index in range(3)}}, rules, 3)
    assert part["cumulative_score"] == 0.3


@pytest.mark.parametrize(
    ("answers", "keys", "expected"),
    [
        (None, {}, ["not_judged"]),
        ({}, {}, ["not_judged"]),
        ({"reviewed_to": 3}, {}, ["not_judged"]),
        ({"first_error_step": 4}, {}, ["unknown_step"]),
        ({"first_error_step": -1}, {}, ["unknown_step"]),
        ({"first_error_step": True}, {}, ["wrong_type"]),
        ({"first_error_step": 1, "all_correct": True}, {}, ["both"]),
        ({"all_correct": True}, {"first_error": {"allow_no_error": False}}, ["no_error_off"]),
        ({"first_error_step": 1, "labels": [1, 1, -1, -1]}, {}, ["not_derived"]),
        ({"first_error_step": 1, "total_steps": 9}, {}, ["not_derived"]),
        ({"first_error_step": 1, "mode": "per_step"}, {}, ["not_derived"]),
        ({"first_error_step": 1, "correction": "read it first"}, {}, ["correction_off"]),
        ({"all_correct": True, "correction": "nothing"}, {"ask_correction": True}, ["nothing_to_correct"]),
        ({"first_error_step": 1, "unsure": True}, {}, ["unsure_off"]),
        ({"first_error_step": 1, "neutral_steps": [0]}, {}, ["neutral_off"]),
        ({"first_error_step": 1, "neutral_steps": [1]}, {"allow_neutral": True}, ["not_before_error"]),
        ({"first_error_step": 3, "neutral_steps": [1, 1]}, {"allow_neutral": True}, ["repeated"]),
        ({"first_error_step": 1, "labells": []}, {}, ["unknown_key"]),
        ([], {}, ["not_an_object"]),
    ],
)
def test_what_keeps_a_first_error_from_being_submitted(
    answers: object, keys: dict[str, Any], expected: list[str]
) -> None:
    assert codes(answers, scheme(**keys), 4) == expected


@pytest.mark.parametrize(
    ("details", "keys", "expected"),
    [
        ({}, {}, ["not_rated", "not_rated"]),
        ({}, {"require_all_steps": False}, ["nothing_rated"]),
        ({"0": {"label": "correct"}}, {}, ["not_rated"]),
        ({"0": {"label": "splendid"}}, {"require_all_steps": False}, ["unknown_label"]),
        ({"2": {"label": "correct"}}, {"require_all_steps": False}, ["unknown_step", "nothing_rated"]),
        ({"00": {"label": "correct"}}, {}, ["not_an_index"]),
        ({"0": {"label": "correct", "notes": "why"}}, {"require_all_steps": False}, ["notes_off"]),
        (
            {"0": {"notes": "why"}, "1": {"label": "correct"}},
            {"require_all_steps": False, "allow_notes": True},
            ["not_rated"],
        ),
        (
            {"0": {"label": "incorrect", "error_category": "Other"}},
            {"require_all_steps": False},
            ["categories_off"],
        ),
        (
            {"0": {"label": "correct", "error_category": "Other"}},
            {"require_all_steps": False, "error_categories": {"enabled": True}},
            ["category_without_error"],
        ),
        (
            {"0": {"label": "incorrect", "error_category": "Else"}},
            {"require_all_steps": False, "error_categories": {"enabled": True}},
            ["unknown_category"],
        ),
        ({"0": {"label": "incorrect", "correction": "x"}}, {"require_all_steps": False}, ["correction_off"]),
    ],
)
def test_what_keeps_ratings_from_being_submitted(
    details: dict[str, Any], keys: dict[str, Any], expected: list[str]
) -> None:
    assert codes({"step_details": details}, scheme(mode="per_step", per_step=keys), 2) == expected


def test_a_correction_is_written_at_the_first_wrong_step_alone() -> None:
    rules = scheme(mode="per_step", ask_correction=True)
    details = {"0": {"label": "correct"}, "1": {"label": "incorrect"}, "2": {"label": "incorrect", "correction": "x"}}
    assert codes({"step_details": details}, rules, 3) == ["not_first_error"]
    details = {"0": {"label": "correct"}, "1": {"label": "incorrect", "correction": "x"}, "2": {"label": "correct"}}
    assert result({"step_details": details}, rules, 3)["step_details"]["1"]["correction"] == "x"


def test_a_step_that_is_worth_nothing_is_the_first_wrong_one() -> None:
    """As everywhere: right is what scores above 0."""
    labels = [{"value": "fine", "score": 0.1}, {"value": "useless", "score": 0}, {"value": "bad", "score": -1}]
    rules = scheme(mode="per_step", ask_correction=True, per_step={"labels": labels})
    details = {"0": {"label": "fine"}, "1": {"label": "useless", "correction": "x"}, "2": {"label": "bad"}}
    part = result({"step_details": details}, rules, 3)
    assert part["labels"] == [0.1, 0.0, -1.0]
    assert ("first_error", "found") in list(ProcessReward.choices(part, rules))
    misplaced = {**details, "1": {"label": "useless"}, "2": {"label": "bad", "correction": "x"}}
    assert codes({"step_details": misplaced}, rules, 3) == ["not_first_error"]


@pytest.mark.parametrize(("score", "found"), [(0, "found"), (0.1, "none"), (-0.1, "found")])
def test_a_run_has_an_error_where_a_step_scores_nothing_or_less(score: float, found: str) -> None:
    labels = [{"value": "fine", "score": 1}, {"value": "odd", "score": score}]
    rules = scheme(mode="per_step", per_step={"labels": labels})
    part = result({"step_details": {"0": {"label": "fine"}, "1": {"label": "odd"}}}, rules, 2)
    assert [value for question, value in ProcessReward.choices(part, rules) if question == "first_error"] == [found]


def test_progressive_reveal_is_said_in_the_result() -> None:
    assert result({"first_error_step": 0}, scheme(reveal="progressive"), 2)["reveal"] == "progressive"


@given(st.data())
def test_a_result_is_its_own_answers(data: st.DataObject) -> None:
    steps = data.draw(st.integers(1, 30))
    if data.draw(st.booleans()):
        rules = scheme(mode="per_step", per_step={"require_all_steps": False})
        rated = data.draw(st.dictionaries(st.integers(0, steps - 1), st.sampled_from(list(KNOWN_LABELS)), min_size=1))
        answers: Any = {"step_details": {str(index): {"label": label} for index, label in rated.items()}}
    else:
        rules = scheme()
        step = data.draw(st.none() | st.integers(0, steps - 1))
        answers = {"all_correct": True} if step is None else {"first_error_step": step}
    part = result(answers, rules, steps)
    assert result(part, rules, steps) == part


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["first_error_step", "labels", "step_details", "0", "label", "notes", "mode"])
                | st.text(),
                inner,
            )
        ),
    )
)
def test_no_json_breaks_the_rules(answers: object) -> None:
    for rules in (scheme(), scheme(mode="per_step")):
        if not ProcessReward.malformed(answers) and answers is not None:
            ProcessReward.summary(answers, rules)  # type: ignore[arg-type]
            list(ProcessReward.choices(answers, rules))  # type: ignore[arg-type]
        ProcessReward.missing(answers, rules, Evidence({}, 3))


def test_what_is_wrong_with_ratings_is_said_of_ratings() -> None:
    gaps = ProcessReward.malformed({"step_details": {"0": 5, "1": {"label": 7}}})
    assert [gap.path for gap in gaps] == [("step_details", "0"), ("step_details", "1", "label")]


@pytest.mark.parametrize(
    ("keys", "path", "code"),
    [
        (
            {"mode": "per_step", "keyboard_shortcuts": {"correct": "j"}},
            ("keyboard_shortcuts", "correct"),
            "one_key_twice",
        ),
        ({"keyboard_shortcuts": {"incorrect": "k"}}, ("keyboard_shortcuts", "incorrect"), "one_key_twice"),
        ({"keyboard_shortcuts": {"next_step": "2"}}, ("keyboard_shortcuts", "next_step"), "one_key_twice"),
        ({"keyboard_shortcuts": {"incorrect": "?"}}, ("keyboard_shortcuts", "incorrect"), "fixed_key"),
        ({"keyboard_shortcuts": {"prev_step": "?"}}, ("keyboard_shortcuts", "prev_step"), "fixed_key"),
        ({"keyboard_shortcuts": {"correct": 2}}, ("keyboard_shortcuts", "correct"), "one_key_twice"),
        ({"keyboard_shortcuts": {"unnecessary": "4"}}, ("keyboard_shortcuts", "unnecessary"), "no_effect"),
        ({"keyboard_shortcuts": {"corect": "5"}}, ("keyboard_shortcuts", "corect"), "unknown_key"),
        ({"keyboard_shortcuts": {"enabled": False, "correct": "5"}}, ("keyboard_shortcuts", "correct"), "no_effect"),
        ({"per_step": {}}, ("per_step",), "no_effect"),
        ({"mode": "per_step", "first_error": {}}, ("first_error",), "no_effect"),
        (
            {"mode": "per_step", "per_step": {"labels": [{"value": "fine"}]}},
            ("per_step", "labels", 0, "value"),
            "score_needed",
        ),
        (
            {"mode": "per_step", "per_step": {"error_categories": {"enabled": True, "categories": []}}},
            ("per_step", "error_categories", "categories"),
            "no_categories",
        ),
        (
            {"mode": "per_step", "per_step": {"error_categories": {"enabled": True, "applies_to": ["wrong"]}}},
            ("per_step", "error_categories", "applies_to", 0),
            "unknown_label",
        ),
    ],
)
def test_rules_between_keys(keys: dict[str, Any], path: tuple[str | int, ...], code: str) -> None:
    assert [(remark.path, remark.code) for remark in remarks(**keys)] == [(path, code)]


def test_a_label_may_have_the_key_of_a_move_that_has_another_one() -> None:
    moved = {"incorrect": "j", "next_step": "l"}
    assert remarks(keyboard_shortcuts=moved) == []
    assert scheme(keyboard_shortcuts=moved).keys == {
        "correct": "1",
        "incorrect": "j",
        "next_step": "l",
        "prev_step": "k",
    }


def test_keys_are_those_of_the_labels_that_exist() -> None:
    assert scheme().keys == {"correct": "1", "incorrect": "2", "next_step": "j", "prev_step": "k"}
    own = scheme(mode="per_step", keyboard_shortcuts={"recovery": 5, "next_step": "n"}).keys
    assert own == {
        "correct": "1",
        "partially_correct": "3",
        "incorrect": "2",
        "unnecessary": "4",
        "recovery": "5",
        "next_step": "n",
        "prev_step": "k",
    }
    assert scheme(keyboard_shortcuts={"enabled": False}).keys == {}


def test_a_label_without_a_key_has_the_next_free_digit_in_the_order_of_the_labels() -> None:
    assert scheme(mode="per_step").keys["recovery"] == "5"
    names = ["fine", "correct", "odd", "bad"]
    labels = [{"value": name, "score": 0.5} for name in names]
    own = scheme(mode="per_step", per_step={"labels": labels}, keyboard_shortcuts={"bad": "2", "next_step": 4})
    assert own.keys == {"fine": "3", "correct": "1", "odd": "5", "bad": "2", "next_step": "4", "prev_step": "k"}
    assert own.named_keys == [
        ("Fine", "3", True),
        ("Correct", "1", False),
        ("Odd", "5", True),
        ("Bad", "2", False),
    ]
    many = [{"value": f"label_{number}", "score": 0} for number in range(12)]
    keys = scheme(mode="per_step", per_step={"labels": many}).keys
    assert [keys.get(f"label_{number}") for number in range(12)] == [*"1234567890", None, None]
    off = scheme(mode="per_step", per_step={"labels": many}, keyboard_shortcuts={"enabled": False})
    assert (off.keys, off.named_keys) == ({}, [])


RATED: dict[str, Any] = {
    "step_details": {"0": {"label": "correct"}, "1": {"label": "incorrect", "error_category": "Other"}}
}


@pytest.mark.parametrize(
    ("answers", "keys", "steps", "words", "counted"),
    [
        ({"first_error_step": 4}, {}, 8, "First error at step 4", [("first_error", "found")]),
        ({"all_correct": True}, {}, 8, "All 8 steps correct", [("first_error", "none")]),
        ({"all_correct": True}, {}, 1, "All 1 step correct", [("first_error", "none")]),
        (
            RATED,
            {"mode": "per_step", "per_step": {"require_all_steps": False, "error_categories": {"enabled": True}}},
            3,
            "2 of 3 steps rated, score 0",
            [("label", "correct"), ("label", "incorrect"), ("error_category", "Other"), ("first_error", "found")],
        ),
        (
            {"step_details": {"0": {"label": "recovery"}}},
            {"mode": "per_step"},
            1,
            "1 of 1 step rated, score 0.25",
            [("label", "recovery"), ("first_error", "none")],
        ),
    ],
)
def test_a_result_in_words_and_what_is_counted_of_it(
    answers: object, keys: dict[str, Any], steps: int, words: str, counted: list[tuple[str, str]]
) -> None:
    rules = scheme(**keys)
    part = result(answers, rules, steps)
    assert ProcessReward.summary(part, rules) == words
    assert list(ProcessReward.choices(part, rules)) == counted


def test_what_was_chosen_is_shown_in_the_order_of_the_configuration() -> None:
    rules = scheme(mode="per_step", per_step={"error_categories": {"enabled": True, "categories": ["Slip", "Other"]}})
    counts = {"label": {"incorrect": 2, "gone": 1}, "error_category": {"Other": 2}, "first_error": {"found": 1}}
    shown = {
        distribution.title: [(chosen.value, chosen.count) for chosen in distribution.values]
        for distribution in ProcessReward.distributions(counts, rules)
    }
    assert shown == {
        "Steps by label": [
            ("correct", 0), ("partially_correct", 0), ("incorrect", 2), ("unnecessary", 0), ("recovery", 0),
            ("gone", 1),
        ],
        "Errors by category": [("Slip", 0), ("Other", 2)],
        "First errors": [("found", 1), ("none", 0)],
    }  # fmt: skip
    plain = scheme()
    assert [one.title for one in ProcessReward.distributions({}, plain)] == ["First errors"]


def test_each_label_and_each_state_has_its_colour() -> None:
    assert ProcessReward.colours(scheme(first_error={"error_color": "#123"})) == {
        "correct": "#22c55e",
        "first_error": "#123",
        "downstream": "#f97316",
        "unmarked": "#6b7280",
    }
    assert ProcessReward.colours(scheme(mode="per_step", per_step={"labels": [{"value": "recovery"}]})) == {
        "recovery": "#3b82f6"
    }


def test_a_mode_is_needed() -> None:
    with pytest.raises(ValidationError):
        ProcessRewardScheme.model_validate({"name": "r", "annotation_type": "process_reward"})
