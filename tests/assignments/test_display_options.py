"""The task page under each option of the display, and the tab of the steps."""

import re

import pytest
from django.test import Client

from assignments.actions.working import release
from potato.schemes.rewards.types import ProcessReward
from tenancy.actor import acting_in
from tests.assignments.opening import DEFAULTS, REWARDS, claimed, data_of, display, opened, path_of, publish, small
from tests.pages import text_of
from tests.tenants import Tenants
from tests.traces.stored import outcome, stored


def test_diff_style_chooses_the_layout_until_the_reader_does(tenants: Tenants, bob: Client) -> None:
    page = opened(tenants, bob, display(diff_style="split"))
    assert 'data-view="split"' in page
    assert "diff--split" in page
    assignment = path_of(claimed(tenants))
    assert 'data-view="unified"' in text_of(bob.get(assignment, {"view": "unified"}))
    bob.cookies["potato_view"] = "unified"
    assert "diff--split" not in text_of(bob.get(assignment))
    assert "diff--split" in text_of(bob.get(assignment, {"view": "split"}))
    bob.cookies["potato_view"] = "sideways"
    assert "diff--split" in text_of(bob.get(assignment))


@pytest.mark.parametrize(("context", "shown"), [(0, 0), (2, 4), (5, 10)])
def test_diff_context_lines_are_shown_around_each_change(
    tenants: Tenants, bob: Client, context: int, shown: int
) -> None:
    page = opened(tenants, bob, display(diff_context_lines=str(context)))
    article = page[page.index('aria-label="src/parser.py"') : page.index('aria-label="tests/gone.py"')]
    assert len(re.findall(r'<tr data-old="\d+" data-new="\d+">', article)) == shown
    assert "hidden lines" in article


def test_where_more_context_is_asked_for_than_is_known_the_page_says_so(tenants: Tenants, bob: Client) -> None:
    publish(tenants, display(diff_context_lines="50"))
    patch = b"--- a/a.py\n+++ b/a.py\n@@ -10,3 +10,3 @@\n one\n-two\n+zwei\n three\n"
    stored(tenants.acme, tenants.acme_project, patch=patch)
    page = text_of(bob.get(path_of(claimed(tenants))))
    assert "The trace has only the lines of the patch" in page


def test_syntax_highlight_can_be_off(tenants: Tenants, bob: Client) -> None:
    assert '<span class="k">def</span>' in opened(tenants, bob)
    publish(tenants, display(syntax_highlight="false"))
    with acting_in(tenants.acme, tenants.alice):
        small(tenants, external_id="another")
    with acting_in(tenants.acme, tenants.bob):
        release(assignment=claimed(tenants), fencing_token=1)
        plain = claimed(tenants)
    page = text_of(bob.get(path_of(plain)))
    assert "-plain" in page
    assert '<span class="k">' not in page


def test_show_line_numbers_can_be_off(tenants: Tenants, bob: Client) -> None:
    assert 'data-line-numbers="off"' in opened(tenants, bob, display(show_line_numbers="false"))


def test_line_numbers_are_shown_unless_switched_off(tenants: Tenants, bob: Client) -> None:
    assert "data-line-numbers" not in opened(tenants, bob)


def test_white_space_is_hidden_where_the_reader_chose_it(tenants: Tenants, bob: Client) -> None:
    publish(tenants)
    stored(tenants.acme, tenants.acme_project, outcome("a.py", "a\n b\nc\n", "a\nb\nd\n"))
    task = path_of(claimed(tenants))
    assert len(re.findall('<tr class="is-(?:add|del)"', text_of(bob.get(task)))) == 4
    bob.cookies["potato_whitespace"] = "hidden"
    page = text_of(bob.get(task))
    assert len(re.findall('<tr class="is-(?:add|del)"', page)) == 2
    assert "data-whitespace checked" in page
    (base,) = re.findall(r'data-base="([^"]+)"', page)
    assert base.endswith("-nowhitespace/")
    del bob.cookies["potato_whitespace"]
    assert "is-del" in text_of(bob.get(f"{base}0.html"))


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_terminal_theme_colours_what_the_agent_saw(tenants: Tenants, bob: Client, theme: str) -> None:
    assert f'data-terminal="{theme}"' in opened(tenants, bob, display(terminal_theme=theme), "steps/")


def test_the_file_tree_can_be_left_out(tenants: Tenants, bob: Client) -> None:
    page = opened(tenants, bob, display(file_tree__enabled="false"))
    assert 'class="rail"' not in page
    assert "work--alone" in page


@pytest.mark.parametrize(("position", "is_right"), [("left", False), ("right", True)])
def test_the_file_tree_stands_left_or_right(tenants: Tenants, bob: Client, position: str, is_right: bool) -> None:
    page = opened(tenants, bob, display(file_tree__position=position))
    assert ("work--right" in page) is is_right
    assert '<aside class="rail"' in page


@pytest.mark.parametrize("are_shown", [True, False])
def test_the_file_tree_shows_operations_by_colour_word_and_icon(tenants: Tenants, bob: Client, are_shown: bool) -> None:
    page = opened(tenants, bob, display(file_tree__show_operation_icons=str(are_shown).lower()))
    tree = page[page.index('class="rail"') : page.index("<main")]
    assert [word in tree for word in ("i-file-plus", "i-file-pen", "i-file-minus")] == [are_shown] * 3
    for tone in ("added", "modified", "deleted"):
        assert f'data-c="{tone}"' in tree
        assert f"<span>{tone.title()}</span>" in tree
    assert tree.count("not viewed") == 4


@pytest.mark.parametrize("is_link", [True, False])
def test_a_click_in_the_file_tree_navigates_where_it_may(tenants: Tenants, bob: Client, is_link: bool) -> None:
    page = opened(tenants, bob, display(file_tree__click_to_navigate=str(is_link).lower()))
    assert len(re.findall(r'<a href="#f\d+" data-file="\d+" class="tree__file', page)) == (4 if is_link else 0)
    assert len(re.findall(r'<span data-file="\d+" class="tree__file', page)) == (0 if is_link else 4)


def test_agentic_switched_off_takes_the_trace_tab_away(tenants: Tenants, bob: Client) -> None:
    page = opened(tenants, bob, DEFAULTS + "agentic: {enabled: false}\n")
    assert "Agent trace" not in page
    assert data_of(page)["urls"]["steps"] is None
    assignment = claimed(tenants)
    assert bob.get(path_of(assignment, "steps/")).status_code == 404
    with acting_in(tenants.acme, tenants.bob):
        first = assignment.trace.steps.get(index=0)
    assert bob.get(path_of(assignment, f"steps/0/{first.sha256}/1/step-coloured/0.html")).status_code == 404


def test_the_trace_tab_shows_the_steps(tenants: Tenants, bob: Client) -> None:
    page = opened(tenants, bob, tab="steps/")
    assert "I fix." in page
    assert data_of(page)["tab"] == "steps"
    assert len(data_of(page)["files"]) == 4
    assert "data-submit" in page


@pytest.mark.parametrize("is_secret", [False, True])
def test_steps_are_searched_unless_a_type_says_that_later_ones_are_a_secret(
    tenants: Tenants, bob: Client, monkeypatch: pytest.MonkeyPatch, is_secret: bool
) -> None:
    monkeypatch.setattr(ProcessReward, "hides_later_steps", classmethod(lambda cls, scheme: is_secret))
    publish(tenants, DEFAULTS + REWARDS)
    small(tenants)
    page = text_of(bob.get(path_of(claimed(tenants), "steps/"), {"q": "I fix."}))
    assert ("1 step with &ldquo;I fix.&rdquo;" in page) is not is_secret
    assert ('name="q"' in page) is not is_secret
    assert ("I look." in page) is is_secret


def test_a_trace_without_steps_has_no_tab_for_them(tenants: Tenants, bob: Client) -> None:
    publish(tenants)
    stored(tenants.acme, tenants.acme_project, outcome("a.py", "a\n", "b\n"), steps=())
    page = text_of(bob.get(path_of(claimed(tenants))))
    assert "Agent trace" not in page
    assert data_of(page)["urls"]["steps"] is None
