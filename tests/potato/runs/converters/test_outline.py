"""A file's layout is told by its first lines, whether they are whole or cut off."""

import pytest

from potato.runs.converters.outline import detect_outline

MESSAGE = '{"role": "user", "content": "Round."}'


@pytest.mark.parametrize(
    "text",
    [
        f'{{"messages": [\n{MESSAGE}\n]}}\n',
        f'{{"id": "a",\n"messages": [\n{MESSAGE}\n]}}\n',
        f'{{"id": "a", "more": {{\n  "n": 1}},\n"messages": [\n{MESSAGE}]}}\n',
        f"[\n{MESSAGE},\n{MESSAGE}\n]\n",
        '{\n "id": "a"\n}\n',
    ],
)
def test_a_document_may_have_a_whole_object_on_one_of_its_lines(text: str) -> None:
    assert detect_outline(text.encode()).layout == "document"


@pytest.mark.parametrize(
    "text",
    [
        f"{MESSAGE}\n{MESSAGE}\n",
        f'{{"id": "cut off", \n{MESSAGE}\n',
        f'{{"id": "cut off", "more": {{\n{MESSAGE}\n',
        f'{{"id": "cut off", "more": "te\n{MESSAGE}\n',
        f'{{"id": "cut off"\n\n{MESSAGE}\n',
    ],
)
def test_below_a_line_that_was_cut_off_the_lines_are_lines(text: str) -> None:
    assert detect_outline(text.encode()).layout == "lines"
