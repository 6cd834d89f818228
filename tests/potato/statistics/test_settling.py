"""What annotators of one trace said differently, and the annotation that settling it makes."""

from typing import Any

from potato.configuration import ProjectConfiguration
from potato.statistics.agreement.settling import answer_in, items, join, weigh

REVIEW = ProjectConfiguration.model_validate({"task_name": "Review"})


def rewards(mode: str, **more: Any) -> ProjectConfiguration:
    scheme = {"name": "reward", "annotation_type": "process_reward", "mode": mode, **more}
    return ProjectConfiguration.model_validate({"task_name": "Steps", "annotation_schemes": [scheme]})


def comment(line: int, category: str = "bug", severity: str = "major", **more: Any) -> dict[str, Any]:
    text = more.pop("comment", f"{category} on {line}")
    place = {"file": "a.py", "line_start": line, "line_end": line, "side": "new"}
    return {**place, "category": category, "severity": severity, "comment": text, **more}


def review(decision: str = "approve", *comments: dict[str, Any], rating: int = 4) -> dict[str, Any]:
    return {
        "inline_comments": list(comments),
        "file_ratings": {"a.py": {"correctness": rating}},
        "verdict": {"decision": decision, "summary": f"I {decision}."},
    }


def first_error(step: int | None, steps: int = 4) -> dict[str, Any]:
    labels = [1] * (steps if step is None else step) + [-1] * (0 if step is None else steps - step)
    return {"reward": {"mode": "first_error", "first_error_step": step, "total_steps": steps, "labels": labels}}


def per_step(*labels: str) -> dict[str, Any]:
    scores = {"correct": 1.0, "partially_correct": 0.5, "incorrect": -1.0}
    return {
        "reward": {
            "mode": "per_step",
            "labels": [scores[label] for label in labels],
            "step_details": {str(at): {"label": label} for at, label in enumerate(labels)},
        }
    }


def test_every_question_stands_once_with_what_each_says_and_comments_by_their_place() -> None:
    laid = items([review("approve", comment(15)), review("comment_only", comment(16), comment(40))], REVIEW)
    assert [(item.scheme, item.key) for item in laid] == [
        ("inline_comments", "place-0"),
        ("inline_comments", "place-1"),
        ("file_ratings", "correctness:a.py"),
        ("verdict", "decision"),
    ]
    assert [item.differs for item in laid] == [False, True, False, True]
    assert [item.parts.count(None) for item in laid] == [0, 1, 0, 0]


def test_what_decides_training_data_comes_before_any_number_of_details() -> None:
    details = weigh(items([review("approve", *(comment(20 * at) for at in range(1, 30))), review(rating=1)], REVIEW))
    verdicts = weigh(items([review("approve"), review("request_changes")], REVIEW))
    assert details.differing == 30
    assert (details.deciding, verdicts.deciding) == (0, 1)
    assert verdicts.value > details.value
    assert weigh(items([review(), review()], REVIEW)).value == 0


def test_a_majority_is_a_start_but_never_settles_what_decides_training_data() -> None:
    verdict = items([review("approve"), review("approve"), review("request_changes")], REVIEW)[-1]
    assert (verdict.consensus, verdict.is_open) == (0, True)
    steps = items(
        [per_step("correct", "incorrect"), per_step("correct", "incorrect"), per_step("partially_correct", "correct")],
        rewards("per_step"),
    )
    assert [(item.consensus, item.decides, item.is_open) for item in steps] == [(0, False, False), (0, True, True)]


def test_near_ratings_start_from_their_median_and_far_ones_from_nothing() -> None:
    near = items([review(rating=2), review(rating=3), review(rating=3)], REVIEW)[0]
    assert near.consensus == 1
    three = items([{"file_ratings": {"a.py": {"correctness": rating}}} for rating in (2, 4, 5)], REVIEW)[0]
    assert (three.consensus, three.is_open) == (None, True)


def test_settled_values_make_answers_and_a_comment_that_is_dropped_is_none_of_them() -> None:
    both = [
        review("approve", comment(15, comment_id="comment-1")),
        review("comment_only", comment(40, comment_id="comment-1")),
    ]
    laid = items(both, REVIEW)
    keys = [(item.scheme, item.key) for item in laid]
    values = {(item.scheme, item.key): item.shown.value for item in laid}
    answers = join(values, REVIEW, keys)
    assert [row["comment_id"] for row in answers["inline_comments"]] == ["comment-1", "comment-1-2"]
    assert answers["file_ratings"] == {"a.py": {"correctness": 4}}
    del values["inline_comments", "place-0"]
    assert [row["line_start"] for row in join(values, REVIEW, keys)["inline_comments"]] == [40]


def test_a_first_error_is_one_question_and_its_answers_say_no_error_as_such() -> None:
    configuration = rewards("first_error", ask_correction=True)
    (item,) = items([first_error(2), first_error(None)], configuration)
    assert item.decides
    assert item.shown.steps == (2,)
    nowhere = item.parts[1]
    assert nowhere is not None
    assert join({("reward", item.key): nowhere.value}, configuration, [("reward", item.key)]) == {
        "reward": {"all_correct": True}
    }
    rewritten = {"first_error_step": 2, "correction": "Read the file."}
    assert join({("reward", item.key): rewritten}, configuration, [("reward", item.key)])["reward"] == rewritten
    assert answer_in(rewritten, item, configuration) == item.answers[0]


def test_a_correction_goes_where_its_step_is_not_the_first_wrong_one_any_more() -> None:
    configuration = rewards("per_step", ask_correction=True)
    laid = items([per_step("correct", "correct"), per_step("correct", "incorrect")], configuration)
    values = {
        ("reward", "0"): {"label": "incorrect"},
        ("reward", "1"): {"label": "incorrect", "correction": "Ask."},
    }
    details = join(values, configuration, [(item.scheme, item.key) for item in laid])["reward"]["step_details"]
    assert details == {"0": {"label": "incorrect"}, "1": {"label": "incorrect"}}


def test_general_comments_are_questions_of_their_own_by_file_and_order() -> None:
    on_file = {"subject_type": "file", "file": "a.py", "category": "bug", "comment": "Long"}
    on_change = {"subject_type": "change", "category": "style", "comment": "Two things"}
    laid = items([review("approve", comment(15), on_file, on_change), review("approve", on_file, on_file)], REVIEW)
    comments = [item for item in laid if item.scheme == "inline_comments"]
    assert [(item.key, item.parts.count(None), item.differs) for item in comments] == [
        ("general:1:a.py", 0, False),
        ("general:1:", 1, True),
        ("general:2:a.py", 1, True),
        ("place-0", 1, True),
    ]
    assert [item.shown.file for item in comments[:3]] == ["a.py", None, "a.py"]
