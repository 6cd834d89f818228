"""A change of a configuration's text says what was asked, and leaves every other sign where it stood."""

import difflib

import pytest

from potato.configuration import check_configuration
from potato.configuration.changes import changes
from potato.configuration.editing import NotEditableError, with_entry, with_key, with_value, without
from potato.configuration.fixes import find_fixes
from potato.configuration.keys import configuration_keys
from potato.validation.yaml_source import read_yaml

TEXT = """\
# For the second campaign.
task_name: "X"  # the title
assignment: {annotations_per_trace: 2, lease_minutes: 60}

annotation_schemes:
  # comments
  - name: comments
    annotation_type: code_review_comments
    inline_comments:
      categories:
        - { value: bug, color: "#ef4444", icon: bug }  # keep
        - value: logic
          display: L
      severity:
        enabled: true

  - name: verdict
    annotation_type: code_review_verdict
    verdict:
guidelines: |
  A
  B

# the end
"""
BLOCK = ("annotation_schemes", 0, "inline_comments")


def difference(text: str) -> list[str]:
    lines = difflib.unified_diff(TEXT.splitlines(), text.splitlines(), n=0, lineterm="")
    return [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]


@pytest.mark.parametrize(
    ("path", "value", "lines"),
    [
        (("task_name",), "Y: #z", ['-task_name: "X"  # the title', '+task_name: "Y: #z"  # the title']),
        (
            ("assignment", "max_open"),
            3,
            [
                "-assignment: {annotations_per_trace: 2, lease_minutes: 60}",
                "+assignment: {annotations_per_trace: 2, lease_minutes: 60, max_open: 3}",
            ],
        ),
        ((*BLOCK, "require_category"), True, ["+      require_category: true"]),
        ((*BLOCK, "categories", 1, "icon"), "bug", ["+          icon: bug"]),
        (("annotation_schemes", 1, "verdict", "require_summary"), True, ["+      require_summary: true"]),
        (("agentic", "display_type"), "web_agent", ["+agentic:", "+  display_type: web_agent"]),
        (("guidelines",), "One\n\nTwo\n", ["-  A", "-  B", "+  One", "+", "+  Two"]),
    ],
)
def test_a_value_is_set_where_it_stands_or_belongs(
    path: tuple[str | int, ...], value: object, lines: list[str]
) -> None:
    assert difference(with_value(TEXT, path, value)) == lines


def test_entries_come_and_go_with_their_lines_alone() -> None:
    categories = (*BLOCK, "categories")
    assert difference(with_entry(TEXT, categories, {"value": "docs"})) == ["+        - { value: docs }"]
    assert difference(without(TEXT, (*categories, 1))) == ["-        - value: logic", "-          display: L"]
    assert difference(without(TEXT, ("assignment", "lease_minutes"))) == [
        "-assignment: {annotations_per_trace: 2, lease_minutes: 60}",
        "+assignment: {annotations_per_trace: 2}",
    ]
    assert difference(with_key(TEXT, (*BLOCK, "severity"), "gravity")) == ["-      severity:", "+      gravity:"]


def test_the_last_key_of_a_block_takes_the_block_along() -> None:
    assert difference(without(TEXT, (*BLOCK, "severity", "enabled"))) == ["-      severity:", "-        enabled: true"]


def test_what_cannot_be_changed_safely_is_refused_with_its_line() -> None:
    with pytest.raises(NotEditableError) as refusal:
        with_value("task_name: [a, b]\nassignment: x\n", ("assignment", "max_open"), 2)
    assert refusal.value.sentence.endswith("on line 2.")


WRONG = """\
task_name: 5
guidelins: x
output_annotation_dir: o/
annotation_schemes:
  - annotation_type: code_review_comments
    inline_comments:
      severty:
        enabled: true
  - name: verdict
    annotation_type: code_review_verdict
    verdict:
      summary_min_length: twenty
assignment: {annotations_per_trace: 1000}
"""


def test_what_is_sure_is_mended_and_each_mend_takes_its_problem_away() -> None:
    checked = check_configuration(WRONG)
    offered = find_fixes(WRONG, checked)
    assert [fix.label for fix in offered.values()] == [
        'Make it "5"',
        "Make it guidelines",
        "Remove output_annotation_dir",
        "Add name: inline_comments",
        "Make it severity",
        "Make it 20",
        "Make it 100",
    ]
    for problem, fix in offered.items():
        fixed = WRONG[: fix.start] + fix.text + WRONG[fix.end :]
        left = check_configuration(fixed).problems
        assert len(left) == len(checked.problems) - 1
        assert problem.message not in {other.message for other in left}


def test_what_is_not_sure_has_no_mend() -> None:
    text = "task_name: X\nzzzz: 1\nannotation_schemes: []\n"
    assert find_fixes(text, check_configuration(text)) == {}


@pytest.mark.parametrize("score", [".nan", ".inf", "-.inf"])
def test_what_is_no_number_is_refused_and_no_number_is_offered_for_it(score: str) -> None:
    scheme = "{name: x, annotation_type: process_reward, mode: per_step, per_step: {labels: [{value: a, score: %s}]}}"
    text = f"task_name: X\nannotation_schemes: [{scheme % score}]\n"
    checked = check_configuration(text)
    assert ["score must be a number" in problem.message for problem in checked.problems] == [True]
    assert find_fixes(text, checked) == {}


def test_tabs_are_mended_though_nothing_can_be_read() -> None:
    text = "assignment:\n\tmax_open: 2\ntask_name: X\n"
    (fix,) = find_fixes(text, check_configuration(text)).values()
    fixed = text[: fix.start] + fix.text + text[fix.end :]
    assert read_yaml(fixed).value == {"assignment": {"max_open": 2}, "task_name": "X"}


def test_every_key_is_explained_with_what_is_allowed_and_its_default() -> None:
    keys = configuration_keys()["keys"]
    assert keys["assignment"]["keys"]["lease_minutes"] == {
        "help": "How long a claimed trace is kept for its annotator without a sign of work.",
        "allowed": "a whole number from 1 to 10080",
        "default": "`30`",
    }
    kinds = keys["annotation_schemes"]["entries"]["kinds"]
    comments = kinds["code_review_comments"]["inline_comments"]["keys"]
    assert comments["allow_suggestions"]["choices"] == ["true", "false"]
    assert set(comments["categories"]["entries"]["keys"]) == {"value", "display", "color", "icon"}


def test_changes_are_told_in_sentences() -> None:
    old = check_configuration("task_name: X\nguidelines: A\n").configuration
    new = check_configuration(
        "task_name: Y\nguidelines: B\nassignment: {max_open: 2}\nannotation_schemes:\n"
        "  - {name: inline_comments, annotation_type: code_review_comments,"
        " inline_comments: {categories: [{value: bug}, {value: docs}], allow_suggestions: false}}\n"
    ).configuration
    assert old is not None
    assert new is not None
    sentences = [change.sentence for change in changes(old, new)]
    assert "Task name goes from X to Y." in sentences
    assert "Category Docs of inline_comments is added." in sentences
    assert "Category Style of inline_comments is removed." in sentences
    assert "Allow suggestions of inline_comments is switched off." in sentences
    assert "Scheme verdict is removed." in sentences
    assert "Max open of assignment goes from 1 to 2." in sentences
    assert changes(old, old) == ()
