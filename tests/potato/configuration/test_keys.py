"""Every key of a configuration: set to a value of its own, and left out."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from potato.configuration import ProjectConfiguration, check_configuration
from potato.schemes.registry import scheme_types
from potato.validation.blocks import Block
from tests.potato.configuration.test_project import loaded

REQUIRED = object()


class Key(NamedTuple):
    """A key by its path; the entries of a list by number. `base` is written around it and says nothing of it."""

    path: tuple[str | int, ...]
    set_to: Any
    default: Any
    base: dict[str, Any] = {}


def comments(*path: str | int) -> tuple[str | int, ...]:
    return ("annotation_schemes", 0, "inline_comments", *path)


def ratings(*path: str | int) -> tuple[str | int, ...]:
    return ("annotation_schemes", 0, "file_ratings", *path)


def verdict(*path: str | int) -> tuple[str | int, ...]:
    return ("annotation_schemes", 0, "verdict", *path)


def first_error(*path: str | int) -> tuple[str | int, ...]:
    return ("annotation_schemes", 0, "first_error", *path)


def per_step(*path: str | int) -> tuple[str | int, ...]:
    return ("annotation_schemes", 0, "per_step", *path)


def rewards(*path: str | int) -> tuple[str | int, ...]:
    return ("annotation_schemes", 0, *path)


COMMENTS = {"annotation_schemes": [{"name": "c", "annotation_type": "code_review_comments"}]}
RATINGS = {"annotation_schemes": [{"name": "r", "annotation_type": "code_review_file_ratings"}]}
VERDICT = {"annotation_schemes": [{"name": "v", "annotation_type": "code_review_verdict"}]}

FIRST_ERROR = {"annotation_schemes": [{"name": "p", "annotation_type": "process_reward", "mode": "first_error"}]}
PER_STEP = {"annotation_schemes": [{"name": "s", "annotation_type": "process_reward", "mode": "per_step"}]}


def within(scheme: dict[str, Any], block: dict[str, Any]) -> dict[str, Any]:
    """A scheme with this block."""
    entry = scheme["annotation_schemes"][0]
    key = {"c": "inline_comments", "r": "file_ratings", "v": "verdict", "s": "per_step"}[entry["name"]]
    return {"annotation_schemes": [{**entry, key: block}]}


SUGGESTED = {"suggestions": {"shown": True}}
GOLD = {"gold": {}, "assignment": {"order": "random"}}
ADDING = {"assignment": {"annotations_per_trace": 2, "add_on_disagreement": {}}}
CATEGORY = within(COMMENTS, {"categories": [{"value": "logic"}]})
LEVEL = within(COMMENTS, {"severity": {"enabled": True, "levels": [{"value": "very_grave"}]}})
DIMENSION = within(RATINGS, {"dimensions": [{"name": "speed"}]})
OPTION = within(VERDICT, {"options": [{"value": "request_changes"}]})
STEP_LABEL = within(PER_STEP, {"labels": [{"value": "recovery"}]})
CATEGORISED = within(PER_STEP, {"error_categories": {"enabled": True}})
STEP_LABELS = [
    {"value": "correct", "display": "Correct", "color": "#22c55e", "score": 1.0},
    {"value": "partially_correct", "display": "Partially Correct", "color": "#eab308", "score": 0.5},
    {"value": "incorrect", "display": "Incorrect", "color": "#ef4444", "score": -1.0},
    {"value": "unnecessary", "display": "Unnecessary", "color": "#f97316", "score": -0.5},
    {"value": "recovery", "display": "Recovery from Error", "color": "#3b82f6", "score": 0.25},
]
ERROR_CATEGORIES = [
    "Wrong tool selected", "Correct tool, wrong arguments", "Hallucinated information", "Repeated previous step",
    "Logic error", "Syntax error", "Missed edge case", "Unnecessary step", "Other",
]  # fmt: skip
LEVELS = [{"value": value, "display": value.title()} for value in ("critical", "major", "minor", "nit")]
DISPLAY = ("agentic", "coding_trace_display")

KEYS = [
    Key(("task_name",), "Other", REQUIRED),
    Key(("task_dir",), "reviews", "."),
    Key(("data_files",), ["a.jsonl", "b.jsonl"], None),
    Key(("item_properties", "id_key"), "trace_id", "id"),
    Key(("item_properties", "text_key"), "prompt", "task_description"),
    Key(("agentic", "enabled"), False, True),
    Key(("agentic", "trace_converter"), "swebench", "auto"),
    Key(("agentic", "display_type"), "web_agent", "coding_trace"),
    Key((*DISPLAY, "diff_style"), "split", "unified"),
    Key((*DISPLAY, "diff_context_lines"), 12, 5),
    Key((*DISPLAY, "syntax_highlight"), False, True),
    Key((*DISPLAY, "show_line_numbers"), False, True),
    Key((*DISPLAY, "terminal_theme"), "light", "dark"),
    Key((*DISPLAY, "file_tree", "enabled"), False, True),
    Key((*DISPLAY, "file_tree", "position"), "right", "left"),
    Key((*DISPLAY, "file_tree", "show_operation_icons"), False, True),
    Key((*DISPLAY, "file_tree", "click_to_navigate"), False, True),
    Key(("agentic", "steps", "split_tool_calls"), True, False),
    Key(("output_annotation_dir",), "results/", "output/"),
    Key(("output_annotation_format",), "jsonl", "jsonl"),
    Key(("guidelines",), "# Be kind\n\nAnd exact.", None),
    Key(("assignment", "annotations_per_trace"), 3, 1),
    Key(("assignment", "order"), "fewest", "imported"),
    Key(("assignment", "limit_per_annotator"), 40, None),
    Key(("assignment", "share_per_annotator"), 0.25, None),
    Key(("assignment", "lease_minutes"), 90, 30),
    Key(("assignment", "max_open"), 2, 1),
    Key(("review", "share"), 0.25, 0),
    Key(("review", "low_agreement_below"), 0.5, None),
    Key(("review", "new_people"), 10, None),
    Key(("adjudication", "when"), "always", "never"),
    Key(("adjudication", "below"), 0.5, None, {"adjudication": {"when": "disagreement"}}),
    Key(("adjudication", "hide_names"), False, True),
    Key(("assignment", "add_on_disagreement", "below"), 0.6, 0.5, ADDING),
    Key(("assignment", "add_on_disagreement", "up_to"), 4, 3, ADDING),
    Key(("practice", "traces"), 5, 3, {"practice": {}}),
    Key(("practice", "pass"), 0.5, 0.7, {"practice": {}}),
    Key(("practice", "attempts"), 3, 2, {"practice": {}}),
    Key(("gold", "rate"), 0.2, 0.1, GOLD),
    Key(("gold", "warn_below"), 0.65, None, GOLD),
    Key(("gold", "pause_below"), 0.65, None, GOLD),
    Key(("gold", "after"), 8, 5, GOLD),
    Key(("gold", "line_tolerance"), 0, 3, GOLD),
    Key(("gold", "step_tolerance"), 2, 1, GOLD),
    Key(("gold", "rating_tolerance"), 0, 1, GOLD),
    Key(("repeat", "share"), 0.05, 0),
    Key(("repeat", "after_days"), 14, 7),
    Key(("visibility", "outcomes"), "hidden", "shown"),
    Key(("visibility", "others_after_submit"), True, False),
    Key(("secrets", "keys"), "replace", "hold"),
    Key(("secrets", "personal_data"), "ignore", "report"),
    Key(("suggestions", "shown"), True, False),
    Key(("suggestions", "hidden_share"), 0.3, 0.2, SUGGESTED),
    Key(("annotation_schemes", 0, "name"), "line_remarks", REQUIRED, COMMENTS),
    Key(("annotation_schemes", 0, "annotation_type"), "code_review_comments", REQUIRED, COMMENTS),
    Key(("annotation_schemes", 0, "description"), "Click any line", None, COMMENTS),
    Key(comments("categories", 0, "value"), "typo", REQUIRED, CATEGORY),
    Key(comments("categories", 0, "display"), "Flawed", "Logic", CATEGORY),
    Key(comments("categories", 0, "color"), "#Abc", "#f97316", CATEGORY),
    Key(comments("categories", 0, "icon"), "triangle-alert", "alert-triangle", CATEGORY),
    Key(comments("severity", "enabled"), False, True, within(COMMENTS, {"severity": {}})),
    Key(comments("severity", "levels"), LEVELS[:2], LEVELS, within(COMMENTS, {"severity": {"enabled": True}})),
    Key(comments("severity", "levels", 0, "value"), "mild", REQUIRED, LEVEL),
    Key(comments("severity", "levels", 0, "display"), "Grave!", "Very Grave", LEVEL),
    Key(comments("require_category"), False, True, COMMENTS),
    Key(comments("require_severity"), True, False, LEVEL),
    Key(comments("allow_multi_line"), False, True, COMMENTS),
    Key(comments("allow_suggestions"), False, True, COMMENTS),
    Key(comments("min_comments"), 4, 0, COMMENTS),
    Key(comments("allow_unsure"), True, False, COMMENTS),
    Key(comments("allow_general"), False, True, COMMENTS),
    Key(ratings("dimensions", 0, "name"), "safety", REQUIRED, DIMENSION),
    Key(ratings("dimensions", 0, "display"), "How fast", "Speed", DIMENSION),
    Key(ratings("dimensions", 0, "description"), "Does it scale?", None, DIMENSION),
    Key(ratings("dimensions", 0, "scale", "min"), 0, 1, DIMENSION),
    Key(ratings("dimensions", 0, "scale", "max"), 7, 5, DIMENSION),
    Key(ratings("dimensions", 0, "scale", "labels"), {"1": "Slow", "5": "Fast"}, {}, DIMENSION),
    Key(ratings("include_unchanged"), True, False, RATINGS),
    Key(ratings("include_new_files"), False, True, RATINGS),
    Key(ratings("include_deleted_files"), False, True, RATINGS),
    Key(ratings("require_all_files"), False, True, RATINGS),
    Key(verdict("options", 0, "value"), "unclear", REQUIRED, OPTION),
    Key(verdict("options", 0, "display"), "Not yet", "Request Changes", OPTION),
    Key(verdict("options", 0, "description"), "Needs work", None, OPTION),
    Key(verdict("options", 0, "color"), "#112233", "#ef4444", OPTION),
    Key(verdict("options", 0, "icon"), "circle-x", "x-circle", OPTION),
    Key(verdict("require_summary"), False, True, VERDICT),
    Key(verdict("summary_placeholder"), "", "Summarize your review...", VERDICT),
    Key(verdict("summary_min_length"), 0, 20, VERDICT),
    Key(rewards("mode"), "per_step", REQUIRED, FIRST_ERROR),
    Key(rewards("target"), "agentic_steps", "agentic_steps", PER_STEP),
    Key(rewards("reveal"), "progressive", "all", PER_STEP),
    Key(rewards("allow_neutral"), True, False, FIRST_ERROR),
    Key(rewards("ask_correction"), True, False, FIRST_ERROR),
    Key(rewards("allow_unsure"), True, False, PER_STEP),
    Key(rewards("keyboard_shortcuts", "enabled"), False, True, FIRST_ERROR),
    Key(rewards("keyboard_shortcuts", "next_step"), "n", "j", PER_STEP),
    Key(rewards("keyboard_shortcuts", "prev_step"), "p", "k", PER_STEP),
    Key(first_error("correct_color"), "#123", "#22c55e", FIRST_ERROR),
    Key(first_error("error_color"), "#123", "#ef4444", FIRST_ERROR),
    Key(first_error("downstream_color"), "#123", "#f97316", FIRST_ERROR),
    Key(first_error("unmarked_color"), "#123", "#6b7280", FIRST_ERROR),
    Key(first_error("require_confirmation"), False, True, FIRST_ERROR),
    Key(first_error("allow_no_error"), False, True, FIRST_ERROR),
    Key(first_error("show_step_content"), False, True, FIRST_ERROR),
    Key(first_error("labels", "correct"), "fine", "+1", FIRST_ERROR),
    Key(first_error("labels", "first_error"), "here", "-1 (first error)", FIRST_ERROR),
    Key(first_error("labels", "downstream"), "after", "-1 (downstream)", FIRST_ERROR),
    Key(first_error("labels", "all_correct"), "all fine", "+1 (all correct)", FIRST_ERROR),
    Key(per_step("labels"), STEP_LABELS[1:], STEP_LABELS, PER_STEP),
    Key(per_step("labels", 0, "value"), "correct", REQUIRED, STEP_LABEL),
    Key(per_step("labels", 0, "display"), "Back on track", "Recovery from Error", STEP_LABEL),
    Key(per_step("labels", 0, "color"), "#Abc", "#3b82f6", STEP_LABEL),
    Key(per_step("labels", 0, "score"), 0.125, 0.25, STEP_LABEL),
    Key(per_step("error_categories", "enabled"), True, False, PER_STEP),
    Key(per_step("error_categories", "categories"), ["Slip"], ERROR_CATEGORIES, CATEGORISED),
    Key(per_step("error_categories", "applies_to"), ["unnecessary"], None, CATEGORISED),
    Key(per_step("require_all_steps"), False, True, PER_STEP),
    Key(per_step("allow_notes"), True, False, PER_STEP),
    Key(per_step("show_running_score"), True, False, PER_STEP),
]
# Lists of blocks and blocks themselves: their keys are in the table, their defaults in test_schemes.py.
CONTAINERS = {
    "agentic", "agentic.coding_trace_display", "agentic.coding_trace_display.file_tree", "agentic.steps",
    "annotation_schemes", "assignment",
    "adjudication", "assignment.add_on_disagreement", "review", "practice", "gold", "repeat", "visibility",
    "secrets", "suggestions",
    "item_properties",
    "annotation_schemes.inline_comments", "annotation_schemes.inline_comments.categories",
    "annotation_schemes.inline_comments.severity",
    "annotation_schemes.file_ratings", "annotation_schemes.file_ratings.dimensions",
    "annotation_schemes.file_ratings.dimensions.scale",
    "annotation_schemes.verdict", "annotation_schemes.verdict.options",
    "annotation_schemes.first_error", "annotation_schemes.first_error.labels", "annotation_schemes.per_step",
    "annotation_schemes.per_step.error_categories", "annotation_schemes.keyboard_shortcuts",
}  # fmt: skip


def key_id(key: Key) -> str:
    return ".".join(str(step) for step in key.path if not isinstance(step, int))


def configuration_with(key: Key, *, value: Any) -> str:
    """The base with the key set, as YAML (JSON is YAML too)."""
    configuration = json.loads(json.dumps({"task_name": "X", **key.base}))
    *above, last = key.path
    block = configuration
    for step in above:
        block = block[step] if isinstance(step, int) else block.setdefault(step, {})
    if value is REQUIRED:
        block.pop(last)
    else:
        block[last] = value
    return json.dumps(configuration)


def value_of(configuration: ProjectConfiguration, key: Key) -> Any:
    value: Any = configuration.model_dump(mode="json")
    for step in key.path:
        value = value[step]
    return value


@pytest.mark.parametrize("key", KEYS, ids=key_id)
def test_a_key_keeps_the_value_that_it_is_given(key: Key) -> None:
    assert value_of(loaded(configuration_with(key, value=key.set_to)), key) == key.set_to


@pytest.mark.parametrize("key", [key for key in KEYS if key.default is not REQUIRED], ids=key_id)
def test_a_key_that_is_left_out_has_its_default(key: Key) -> None:
    assert value_of(loaded(json.dumps({"task_name": "X", **key.base})), key) == key.default


@pytest.mark.parametrize("key", [key for key in KEYS if key.default is REQUIRED], ids=key_id)
def test_a_required_key_that_is_left_out_is_named(key: Key) -> None:
    errors = check_configuration(configuration_with(key, value=REQUIRED)).errors
    assert [error.message.split(" needs it")[0].split(" is missing")[0] for error in errors] == [key.path[-1]]
    assert [error.code for error in errors] == ["missing_key"]
    assert [error.path for error in errors] == [key.path[:-1]]


def test_every_value_in_the_table_differs_from_its_default() -> None:
    """But for keys that today allow a single value."""
    same = [key_id(key) for key in KEYS if key.set_to == key.default]
    assert same == ["output_annotation_format", "annotation_schemes.target"]


def test_every_key_of_the_models_is_in_the_table() -> None:
    keys = set(_keys_of(ProjectConfiguration))
    for scheme_type in scheme_types().values():
        keys |= {f"annotation_schemes.{key}" for key in _keys_of(scheme_type.configuration)}
    assert keys == {key_id(key) for key in KEYS} | CONTAINERS


def _keys_of(model: type[Block]) -> list[str]:
    keys = []
    for name, field in model.model_fields.items():
        keys.append(name)
        inner = _block_in(field.annotation)
        if inner is not None and name != "annotation_schemes":
            keys += [f"{name}.{key}" for key in _keys_of(inner)]
    return keys


def _block_in(annotation: Any) -> type[Block] | None:
    if isinstance(annotation, type) and issubclass(annotation, Block):
        return annotation
    return next(filter(None, map(_block_in, getattr(annotation, "__args__", ()))), None)


def test_every_key_stands_in_the_documentation() -> None:
    page = (Path(__file__).parents[3] / "docs" / "configuration-reference.md").read_text()
    documented = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`\n]+)`", page))))
    assert {str(key.path[-1]) for key in KEYS} <= documented
