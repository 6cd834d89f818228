"""Every option of process rewards in both modes, and a program that tries to go around it over the API.

Each refused annotation has its counterpart, the same annotation taken where the option allows it, so that the refusal
is the option's. What comes out is what the document prints.
"""

import json
import re
from typing import Any

import pytest

from accounts.actions.projects import publish_configuration
from potato.runs.model import Step
from tenancy.actor import acting_in
from tests.assignments.reviews import api_of
from tests.rewards import documented_results as documented
from tests.tenants import Tenants
from tests.traces.stored import stored

REWARDS = "process_reward"
CATEGORIES = {"enabled": True}


def rewarded(tenants: Tenants, steps: int, **keys: Any) -> None:
    """A trace of so many steps in a project of process rewards with these keys in its scheme."""
    scheme = {"name": REWARDS, "annotation_type": REWARDS, "mode": "first_error", **keys}
    source = json.dumps({"task_name": "Rewards", "annotation_schemes": [scheme]})
    with acting_in(tenants.acme):
        publish_configuration(project=tenants.acme_project, source=source)
    run = tuple(Step(message=f"Act {at}") for at in range(steps))
    stored(tenants.acme, tenants.acme_project, steps=run, external_id="trace_042")


def codes(tenants: Tenants, answers: Any, steps: int = 4, **keys: Any) -> list[tuple[str, str]]:
    """The gaps of the answers under these keys, as codes and their paths; nothing where they are taken."""
    rewarded(tenants, steps, **keys)
    api = api_of(tenants.bob)
    held = api.claim()
    answer = api.submit(held, {REWARDS: answers})
    if answer.status_code == 201:
        return []
    assert (answer.status_code, answer.json()["code"]) == (422, "incomplete"), answer.content
    # Nothing was stored, and the work goes on.
    assert api.get("projects/parser/annotations/").json()["results"] == []
    assert api.claim()["id"] == held["id"]
    assert all(gap["path"][0] == REWARDS for gap in answer.json()["gaps"])
    return [(gap["code"], "/".join(map(str, gap["path"][1:]))) for gap in answer.json()["gaps"]]


def details(**labels: str) -> dict[str, Any]:
    return {"step_details": {index.removeprefix("s"): {"label": label} for index, label in labels.items()}}


def with_detail(index: str, **changed: Any) -> dict[str, Any]:
    """Four rated steps, the third wrong, with these keys in one of them."""
    answers = details(s0="correct", s1="correct", s2="incorrect", s3="correct")
    answers["step_details"][index].update(changed)
    return answers


# --- What comes out --------------------------------------------------------------------------------------------------


def record(tenants: Tenants, answers: Any, steps: int, **keys: Any) -> dict[str, Any]:
    rewarded(tenants, steps, **keys)
    api = api_of(tenants.bob)
    answer = api.submit(api.claim(), {REWARDS: answers})
    assert answer.status_code == 201, answer.content
    (listed,) = api.get("projects/parser/annotations/").json()["results"]
    assert listed["record"] == answer.json()["record"]
    found: dict[str, Any] = listed["record"]
    return found


def test_the_first_error_record_of_the_document(tenants: Tenants) -> None:
    found = record(tenants, {"first_error_step": 4}, 8)
    assert set(found) == {"id", "annotator", "timestamp", "annotations"}
    assert found["id"] == "trace_042"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["timestamp"])
    origin = ["given"] * 5 + ["inferred"] * 3
    assert found["annotations"] == {REWARDS: {**documented.FIRST_ERROR, "label_origin": origin}}


def test_the_record_of_a_trace_without_an_error(tenants: Tenants) -> None:
    part = record(tenants, {"all_correct": True}, 8)["annotations"][REWARDS]
    assert (part["first_error_step"], part["labels"], part["label_origin"]) == (None, [1] * 8, ["given"] * 8)


def test_the_per_step_record_of_the_document_with_the_sum_of_its_labels(tenants: Tenants) -> None:
    block = {"error_categories": CATEGORIES, "allow_notes": True}
    given = documented.PER_STEP["step_details"]
    found = record(tenants, {"step_details": given}, 6, mode="per_step", per_step=block)
    assert found["annotations"] == {REWARDS: {**documented.PER_STEP, "label_origin": ["given"] * 6}}
    assert all(isinstance(label, float) for label in found["annotations"][REWARDS]["labels"])


def test_a_step_without_a_rating_is_null(tenants: Tenants) -> None:
    part = record(tenants, details(s1="recovery"), 3, mode="per_step", per_step={"require_all_steps": False})
    assert part["annotations"][REWARDS]["labels"] == [None, 0.25, None]
    assert part["annotations"][REWARDS]["step_details"] == {"1": {"label": "recovery"}}


def test_a_draft_with_a_mark_that_is_no_answer_yet_is_kept(tenants: Tenants) -> None:
    rewarded(tenants, 4)
    api = api_of(tenants.bob)
    held = api.claim()
    content = {"answers": {REWARDS: {"reviewed_to": 2}}}
    assert api.save(held, content).status_code == 200
    assert api.get(f"assignments/{held['id']}/draft/").json()["content"] == content
    assert api.save(held, {"answers": {REWARDS: {"reviewd_to": 2}}}, revision=1).status_code == 422


# --- First error -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("allowed", [False, True])
def test_allow_no_error(tenants: Tenants, allowed: bool) -> None:
    found = codes(tenants, {"all_correct": True}, first_error={"allow_no_error": allowed})
    assert found == ([] if allowed else [("no_error_off", "all_correct")])


@pytest.mark.parametrize("allowed", [False, True])
def test_all_correct_is_not_smuggled_in_as_labels(tenants: Tenants, allowed: bool) -> None:
    found = codes(tenants, {"labels": [1, 1, 1, 1]}, first_error={"allow_no_error": allowed})
    assert found == ([] if allowed else [("no_error_off", "all_correct")])


@pytest.mark.parametrize("asks", [False, True])
def test_a_confirmation_is_a_matter_of_the_page(tenants: Tenants, asks: bool) -> None:
    assert codes(tenants, {"first_error_step": 1}, first_error={"require_confirmation": asks}) == []


@pytest.mark.parametrize("allowed", [False, True])
def test_allow_neutral(tenants: Tenants, allowed: bool) -> None:
    found = codes(tenants, {"first_error_step": 3, "neutral_steps": [1]}, allow_neutral=allowed)
    assert found == ([] if allowed else [("neutral_off", "neutral_steps")])


@pytest.mark.parametrize("allowed", [False, True])
def test_ask_correction(tenants: Tenants, allowed: bool) -> None:
    found = codes(tenants, {"first_error_step": 3, "correction": "Read it first"}, ask_correction=allowed)
    assert found == ([] if allowed else [("correction_off", "correction")])


@pytest.mark.parametrize("allowed", [False, True])
def test_allow_unsure(tenants: Tenants, allowed: bool) -> None:
    found = codes(tenants, {"first_error_step": 3, "unsure": True}, allow_unsure=allowed)
    assert found == ([] if allowed else [("unsure_off", "unsure")])


@pytest.mark.parametrize("reveal", ["all", "progressive"])
def test_reveal_is_said_by_the_site_and_not_by_the_annotator(tenants: Tenants, reveal: str) -> None:
    found = codes(tenants, {"first_error_step": 3, "reveal": "progressive"}, reveal=reveal)
    assert found == ([] if reveal == "progressive" else [("not_derived", "reveal")])


@pytest.mark.parametrize(
    ("answers", "code", "path"),
    [
        (None, "not_judged", ""),
        ({}, "not_judged", ""),
        ({"reviewed_to": 3}, "not_judged", ""),
        ({"first_error_step": 4}, "unknown_step", "first_error_step"),
        ({"first_error_step": -1}, "unknown_step", "first_error_step"),
        ({"first_error_step": 10**30}, "unknown_step", "first_error_step"),
        ({"first_error_step": 2.0}, "wrong_type", "first_error_step"),
        ({"first_error_step": "2"}, "wrong_type", "first_error_step"),
        ({"first_error_step": 2, "all_correct": True}, "both", "all_correct"),
        ({"first_error_step": 2, "labels": [1, 1, 1, -1]}, "not_derived", "labels"),
        ({"first_error_step": 2, "label_origin": ["given"] * 4}, "not_derived", "label_origin"),
        ({"first_error_step": 2, "total_steps": 5}, "not_derived", "total_steps"),
        ({"first_error_step": 2, "mode": "per_step"}, "not_derived", "mode"),
        ({"first_error_step": 2, "cumulative_score": 0}, "unknown_key", "cumulative_score"),
        ({"step_details": {"0": {"label": "correct"}}}, "unknown_key", "step_details"),
        ([], "not_an_object", ""),
    ],
)
def test_a_first_error_is_one_step_of_the_trace(tenants: Tenants, answers: Any, code: str, path: str) -> None:
    assert codes(tenants, answers) == [(code, path)]


@pytest.mark.parametrize(("step", "allowed"), [(1, True), (2, False), (3, False), (-1, False)])
def test_neutral_steps_stand_before_the_first_error(tenants: Tenants, step: int, allowed: bool) -> None:
    found = codes(tenants, {"first_error_step": 2, "neutral_steps": [step]}, allow_neutral=True)
    assert found == ([] if allowed else [("not_before_error", "neutral_steps/0")])


# --- Per step --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("allowed", [False, True])
def test_require_all_steps(tenants: Tenants, allowed: bool) -> None:
    answers = details(s0="correct", s3="incorrect")
    found = codes(tenants, answers, mode="per_step", per_step={"require_all_steps": not allowed})
    missing = [("not_rated", "step_details/1/label"), ("not_rated", "step_details/2/label")]
    assert found == ([] if allowed else missing)


@pytest.mark.parametrize("allowed", [False, True])
def test_labels(tenants: Tenants, allowed: bool) -> None:
    labels = [{"value": "correct"}, {"value": "splendid" if allowed else "fine", "score": 2}]
    answers = details(s0="correct", s1="splendid", s2="correct", s3="correct")
    found = codes(tenants, answers, mode="per_step", per_step={"labels": labels})
    assert found == ([] if allowed else [("unknown_label", "step_details/1/label")])


@pytest.mark.parametrize("allowed", [False, True])
def test_error_categories(tenants: Tenants, allowed: bool) -> None:
    answers = with_detail("2", error_category="Logic error")
    found = codes(tenants, answers, mode="per_step", per_step={"error_categories": {"enabled": allowed}})
    assert found == ([] if allowed else [("categories_off", "step_details/2/error_category")])


@pytest.mark.parametrize("allowed", [False, True])
def test_categories(tenants: Tenants, allowed: bool) -> None:
    categories = {"enabled": True, "categories": ["Slip", "Lie"] if allowed else ["Lie"]}
    answers = with_detail("2", error_category="Slip")
    found = codes(tenants, answers, mode="per_step", per_step={"error_categories": categories})
    assert found == ([] if allowed else [("unknown_category", "step_details/2/error_category")])


@pytest.mark.parametrize("allowed", [False, True])
def test_applies_to(tenants: Tenants, allowed: bool) -> None:
    categories = {"enabled": True, "applies_to": ["correct"] if allowed else ["incorrect"]}
    answers = with_detail("0", error_category="Other")
    found = codes(tenants, answers, mode="per_step", per_step={"error_categories": categories})
    assert found == ([] if allowed else [("category_without_error", "step_details/0/error_category")])


@pytest.mark.parametrize("allowed", [False, True])
def test_allow_notes(tenants: Tenants, allowed: bool) -> None:
    found = codes(tenants, with_detail("1", notes="Why?"), mode="per_step", per_step={"allow_notes": allowed})
    assert found == ([] if allowed else [("notes_off", "step_details/1/notes")])


@pytest.mark.parametrize("allowed", [False, True])
def test_a_step_is_unsure(tenants: Tenants, allowed: bool) -> None:
    found = codes(tenants, with_detail("1", unsure=True), mode="per_step", allow_unsure=allowed)
    assert found == ([] if allowed else [("unsure_off", "step_details/1/unsure")])


@pytest.mark.parametrize("allowed", [False, True])
def test_a_correction_of_a_step(tenants: Tenants, allowed: bool) -> None:
    found = codes(tenants, with_detail("2", correction="Read it"), mode="per_step", ask_correction=allowed)
    assert found == ([] if allowed else [("correction_off", "step_details/2/correction")])


@pytest.mark.parametrize(("step", "allowed"), [("2", True), ("3", False), ("1", False)])
def test_a_correction_stands_at_the_first_wrong_step(tenants: Tenants, step: str, allowed: bool) -> None:
    found = codes(tenants, with_detail(step, correction="Read it"), mode="per_step", ask_correction=True)
    assert found == ([] if allowed else [("not_first_error", f"step_details/{step}/correction")])


@pytest.mark.parametrize("shown", [False, True])
def test_a_running_score_is_a_matter_of_the_page(tenants: Tenants, shown: bool) -> None:
    assert codes(tenants, with_detail("0"), mode="per_step", per_step={"show_running_score": shown}) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mode", "first_error"),
        ("total_steps", 5),
        ("labels", [1, 1, 0, 1]),
        ("labels", [1.0, 1.0, None, 1.0]),
        ("cumulative_score", 3),
        ("label_origin", ["given", "given", "inferred", "given"]),
        ("reveal", "progressive"),
    ],
)
def test_what_follows_from_ratings_is_not_sent_as_something_else(tenants: Tenants, key: str, value: Any) -> None:
    assert codes(tenants, {**with_detail("0"), key: value}, mode="per_step") == [("not_derived", key)]


@pytest.mark.parametrize(
    ("given", "code", "path"),
    [
        ({"4": {"label": "correct"}}, "unknown_step", "4"),
        ({"-1": {"label": "correct"}}, "not_an_index", "-1"),
        ({"03": {"label": "correct"}}, "not_an_index", "03"),
        ({"0": {"label": 1}}, "wrong_type", "0/label"),
        ({"0": {"label": "correct", "score": 5}}, "unknown_key", "0/score"),
        ({"0": "correct"}, "not_an_object", "0"),
    ],
)
def test_ratings_are_of_the_steps_of_the_trace(tenants: Tenants, given: Any, code: str, path: str) -> None:
    answers = {"step_details": {**with_detail("0")["step_details"], **given}}
    assert (code, f"step_details/{path}") in codes(tenants, answers, mode="per_step")
