"""A good configuration: the documented ones load as they are printed, and what they leave out has its default."""

import json
from importlib.metadata import EntryPoints

import pytest
from pydantic import ValidationError

from potato.configuration import ProjectConfiguration, check_configuration
from potato.configuration.agentic import Agentic, CodingTraceDisplay, FileTree, Steps
from potato.configuration.project import Assignment, ItemProperties
from potato.schemes.review.configuration import (
    FileRatingsScheme,
    InlineCommentsBlock,
    InlineCommentsScheme,
    Severity,
    VerdictScheme,
)
from tests.potato.configuration import documented_configurations as documented


@pytest.fixture(autouse=True)
def _no_converters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings depend on what is installed."""
    monkeypatch.setattr("potato.entry_points.entry_points", lambda *, group: EntryPoints())


def loaded(text: str) -> ProjectConfiguration:
    checked = check_configuration(text)
    assert checked.errors == ()
    assert checked.configuration is not None
    return checked.configuration


@pytest.mark.parametrize("name", documented.ALL)
def test_a_documented_configuration_loads_unchanged(name: str) -> None:
    assert check_configuration(documented.ALL[name], where="command").errors == ()


@pytest.mark.parametrize("name", documented.PARTIAL)
def test_a_documented_scheme_alone_gives_no_warning(name: str) -> None:
    assert check_configuration(documented.PARTIAL[name]).problems == ()


def test_the_complete_configuration_says_what_has_no_effect_in_the_browser() -> None:
    warned = [(problem.line, problem.path) for problem in check_configuration(documented.COMPLETE).warnings]
    assert warned == [
        (2, ("task_dir",)),
        (4, ("data_files",)),
        (13, ("agentic", "trace_converter")),
        (77, ("output_annotation_dir",)),
    ]


def test_the_commands_read_the_paths_that_the_browser_keeps_inert() -> None:
    warnings = check_configuration(documented.COMPLETE, where="command").warnings
    assert [warning.path for warning in warnings] == [("agentic", "trace_converter")]
    configuration = loaded(documented.COMPLETE)
    assert configuration.data_files == ("data/coding_traces.jsonl",)
    assert configuration.output_annotation_dir == "output/"


def test_the_complete_configuration_is_read_key_by_key() -> None:
    configuration = loaded(documented.COMPLETE)
    assert configuration.task_name == "Coding Agent Code Review"
    assert configuration.agentic.trace_converter == "claude_code"
    comments, ratings, verdict = configuration.annotation_schemes
    assert isinstance(comments, InlineCommentsScheme)
    assert isinstance(ratings, FileRatingsScheme)
    assert isinstance(verdict, VerdictScheme)
    assert [level.value for level in comments.inline_comments.severity.offered] == ["critical", "major", "minor", "nit"]
    assert [dimension.display for dimension in ratings.file_ratings.dimensions] == ["Correctness", "Code Quality"]
    assert [option.color for option in verdict.verdict.options] == ["#22c55e", "#ef4444", "#6b7280"]


def test_a_title_is_enough() -> None:
    """What is left out is what the complete documented configuration says, but for the format and the files."""
    configuration = loaded("task_name: X")
    assert configuration.task_dir == "."
    assert configuration.data_files is None
    assert configuration.item_properties == ItemProperties(id_key="id", text_key="task_description")
    assert configuration.agentic == Agentic(
        enabled=True,
        trace_converter="auto",
        display_type="coding_trace",
        coding_trace_display=CodingTraceDisplay(
            diff_style="unified",
            diff_context_lines=5,
            syntax_highlight=True,
            show_line_numbers=True,
            terminal_theme="dark",
            file_tree=FileTree(enabled=True, position="left", show_operation_icons=True, click_to_navigate=True),
        ),
        steps=Steps(split_tool_calls=False),
    )
    assert configuration.annotation_schemes == loaded(documented.COMPLETE).annotation_schemes
    assert configuration.output_annotation_dir == "output/"
    assert configuration.output_annotation_format == "jsonl"
    assert configuration.guidelines is None
    assert configuration.assignment == Assignment(annotations_per_trace=1, lease_minutes=30, max_open=1)


@pytest.mark.parametrize("text", [*documented.ALL.values(), "task_name: X"])
def test_a_configuration_goes_through_json_and_comes_back_equal(text: str) -> None:
    configuration = loaded(text)
    pinned = json.loads(json.dumps(configuration.model_dump(mode="json")))
    assert ProjectConfiguration.model_validate(pinned) == configuration
    assert ProjectConfiguration.model_validate_json(configuration.model_dump_json()) == configuration


def test_the_pinned_form_reads_as_a_configuration_itself() -> None:
    configuration = loaded(documented.COMPLETE)
    checked = check_configuration(configuration.model_dump_json(), where="command")
    assert checked.configuration == configuration


def test_a_configuration_never_changes() -> None:
    configuration = loaded("task_name: X")
    with pytest.raises(ValidationError):
        configuration.task_name = "Y"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        configuration.agentic.coding_trace_display.diff_style = "split"  # type: ignore[misc]


def test_a_rule_between_keys_also_holds_for_objects_made_in_code() -> None:
    with pytest.raises(ValidationError, match="already the value of entry 1"):
        InlineCommentsBlock.model_validate({"categories": [{"value": "bug"}, {"value": "bug"}]})
    with pytest.raises(ValidationError, match="at most one scheme of the type"):
        ProjectConfiguration.model_validate(
            {
                "task_name": "X",
                "annotation_schemes": [
                    {"name": "a", "annotation_type": "code_review_verdict"},
                    {"name": "b", "annotation_type": "code_review_verdict"},
                ],
            }
        )
    assert Severity(enabled=False).offered == ()


WITHOUT_EFFECT = [
    (
        "agentic: { coding_trace_display: { file_tree: { enabled: false, position: right, click_to_navigate: no } } }",
        [
            (2, 65, "position has no effect: the file tree is not enabled."),
            (2, 82, "click_to_navigate has no effect: the file tree is not enabled."),
        ],
    ),
    (
        "agentic:\n  enabled: false\n  display_type: web_agent\n  coding_trace_display: { terminal_theme: light }",
        [
            (4, 3, "display_type has no effect: agentic is not enabled, so there is no trace tab."),
            (5, 27, "terminal_theme has no effect: agentic is not enabled, so there is no trace tab."),
        ],
    ),
    (
        "agentic:\n  enabled: false\n  display_type: web_agent\nannotation_schemes:\n"
        "  - { name: v, annotation_type: code_review_verdict }\n"
        "  - { name: r, annotation_type: process_reward, mode: first_error }",
        [(3, 3, "enabled has no effect: process_reward is about the agent's steps, so the trace tab stays.")],
    ),
    (
        "agentic: { steps: { split_tool_calls: true } }",
        [
            (
                2,
                21,
                "split_tool_calls counts for traces that are imported from now on. Those that are there keep their "
                "steps.",
            )
        ],
    ),
    (
        "annotation_schemes:\n  - name: c\n    annotation_type: code_review_comments\n    inline_comments:\n"
        "      severity: { enabled: false, levels: [{ value: grave }] }\n      require_severity: true",
        [
            (6, 35, "levels has no effect: severity is not enabled."),
            (7, 7, "require_severity has no effect: severity is not enabled."),
        ],
    ),
    (
        "task_dir: here\ndata_files: [a.jsonl]\noutput_annotation_dir: there",
        [
            (2, 1, "task_dir has no effect: paths are read by the commands only."),
            (3, 1, "data_files has no effect: paths are read by the commands only."),
            (4, 1, "output_annotation_dir has no effect: paths are read by the commands only."),
        ],
    ),
]


@pytest.mark.parametrize(("keys", "told"), WITHOUT_EFFECT)
def test_what_loads_and_does_nothing_is_a_warning_at_its_place(keys: str, told: list[tuple[int, int, str]]) -> None:
    checked = check_configuration(f"task_name: X\n{keys}\n")
    assert [(warning.line, warning.column, warning.message) for warning in checked.problems] == told
    assert {warning.severity for warning in checked.problems} == {"warning"}
    assert checked.configuration is not None


def test_warnings_are_told_beside_errors() -> None:
    checked = check_configuration("task_name: X\ntask_dir: here\nagentic: { enabled: 1 }\n")
    assert [problem.severity for problem in checked.problems] == ["warning", "error"]
    assert checked.configuration is None
