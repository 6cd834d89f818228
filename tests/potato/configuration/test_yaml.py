"""Hostile and odd texts: always an answer, always soon."""

from string import printable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from potato.configuration import ProjectConfiguration, check_configuration
from potato.configuration.check import CheckedConfiguration
from potato.validation.yaml_source import MAX_BYTES, MAX_VALUES, read_yaml
from tests.function_calls import calls_of
from tests.potato.configuration import documented_configurations as documented

KB = 1024
COMMENTS = "task_name: X\nannotation_schemes: [{name: a, annotation_type: code_review_comments, inline_comments: "
HOSTILE = {
    "brackets": "[" * 3000,
    "brackets to the limit": "[" * (256 * KB - 1),
    "braces": "{a: " * 60_000,
    "hyphens": "- " * 100_000,
    "question marks": "? " * 100_000,
    "a flat mapping": "".join(f"key{n}: 1\n" for n in range(25_000)),
    "unknown keys": "".join(f"key{n}: 1\n" for n in range(9_000)),
    "one key again and again": "a: 1\n" * 9_000,
    "aliases": "a: &a [x, x]\n" + "".join(f"b{n}: [*a, *a, *a]\n" for n in range(2_000)),
    "nested aliases": "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1},' * 9}]\n" for n in range(1, 40)),
    "a list of numbers for schemes": f"task_name: X\nannotation_schemes: [{'1,' * 19_000}]",
    "schemes of no type": f"task_name: X\nannotation_schemes: [{'{annotation_type: z},' * 6_000}]",
    "icons that nobody drew": f"{COMMENTS}{{categories: [{'{value: a, icon: hert},' * 3_500}]}}}}]",
    "a number in base 60": "task_name: " + ":".join(["1"] * 100_000),
    "a long number": "task_name: " + "9" * 200_000,
    "a quotation without end": "task_name: '" + "x\n" * 100_000,
    "too long": "task_name: X # " + "x" * 1_000_000,
    "too long in bytes": "task_name: " + "€" * 100_000,
    "documents": "---\n" * 50_000,
    "anchors": "- &a x\n" * 9_000,
    "tags": "- !!x y\n" * 9_000,
    "percent signs": "%" * 100_000,
    "colons": ":" * 200_000,
    "carriage returns": "\r" * 200_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_text_is_refused_with_little_work(text: str) -> None:
    checked = answered(text)
    assert checked.configuration is None
    assert 0 < len(checked.errors) <= 101


def test_a_text_of_256_kb_is_read_and_one_byte_more_is_not() -> None:
    filler = "#" * (MAX_BYTES - len("task_name: X\n"))
    assert check_configuration(f"task_name: X\n{filler}").errors == ()
    assert [error.message for error in check_configuration(f"task_name: X\n{filler}#").errors] == [
        "The configuration must be at most 256 KB."
    ]


def test_32_levels_are_read_and_one_more_is_not() -> None:
    assert read_yaml("[" * 32 + "1" + "]" * 32).problems == ()
    problem = read_yaml("[" * 33 + "1" + "]" * 33).problems[0]
    assert (problem.line, problem.column, problem.message) == (1, 33, "A configuration is at most 32 levels deep.")


def test_the_number_of_values_is_bounded() -> None:
    assert read_yaml("- x\n" * (MAX_VALUES - 1)).problems == ()
    problem = read_yaml("- x\n" * MAX_VALUES).problems[0]
    assert problem.message == "A configuration holds at most 20,000 keys and values."
    assert problem.line == MAX_VALUES


def test_positions_count_characters_and_ignore_a_byte_order_mark() -> None:
    text = "\ufeff# ünïcödé 😀\r\ntask_name: 😀\r\nassignment: { 'max_open': 😀 }\r\n"
    (error,) = check_configuration(text).errors
    assert (error.line, error.column) == (3, 27)


def test_keys_are_text_whatever_yaml_would_read() -> None:
    assert read_yaml("no: 1\n5: 2\n1.0: 3\n~: 4\n2025-01-15: 5").value == {
        "no": 1, "5": 2, "1.0": 3, "~": 4, "2025-01-15": 5,
    }  # fmt: skip


def test_flow_and_block_style_and_comments_read_alike() -> None:
    block = "task_name: X\nassignment:\n  max_open: 2 # two\n"
    flow = '{"task_name": "X", "assignment": {"max_open": 2}}'
    assert check_configuration(block).configuration == check_configuration(flow).configuration


def answered(text: str) -> CheckedConfiguration:
    """What is said of the text, for no more work than a second holds: some hundred calls for each value that may be in
    it."""
    found: list[CheckedConfiguration] = []
    assert calls_of(lambda: found.append(check_configuration(text))) < 150 * MAX_VALUES
    return found[0]


def assert_answered(text: str) -> None:
    checked = answered(text)
    assert (checked.configuration is None) == bool(checked.errors)
    assert len(checked.problems) <= 101
    lines = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    for problem in checked.problems:
        assert 1 <= problem.line <= lines
        assert problem.column >= 1
        assert problem.message.endswith((".", "?"))
    if checked.configuration is not None:
        pinned = checked.configuration.model_dump(mode="json")
        assert ProjectConfiguration.model_validate(pinned) == checked.configuration


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=2_000))
@example("a: !!timestamp x")
@example("&a")
@example("*a")
@example("? ? ?")
@example("{}")
@example("...")
@example("---")
@example("a:\n  - b\n -")
def test_any_text_gets_an_answer(text: str) -> None:
    assert_answered(text)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="abc:-[]{}#&*!|>'\"%@`,?\\ \n\t01.~=<", max_size=200))
def test_any_text_of_yaml_signs_gets_an_answer(text: str) -> None:
    assert_answered(text)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_documented_configuration_with_a_random_edit_gets_an_answer(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(list(documented.ALL.values())))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    assert_answered(text[:start] + data.draw(st.text(alphabet=printable, max_size=20)) + text[end:])
