"""The review of a trace from the front page to the stored record, in the seven steps of the documentation.

One annotator works with the mouse alone, another with the keyboard alone. Both enter what the documentation's example
holds, and the site must hand out that example.
"""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.actions.projects import publish_configuration
from accounts.models import Membership, User
from tenancy.actor import acting_in
from tests.assignments.reviews import FILES, review_yaml
from tests.exports.leaving import assert_leaves_as_documented
from tests.review.documented_record import RECORD
from tests.stories.conftest import Reader
from tests.stories.reviewing import is_ready
from tests.tenants import Tenants
from tests.traces.stored import step, stored

pytestmark = pytest.mark.browser

HOME = "/o/acme/"
TASK = "Fix the failing test in test_parser.py\n\nIt drops the **last page** of each range."
COMMENTS = RECORD["annotations"]["inline_comments"]
SUMMARY = RECORD["annotations"]["verdict"]["summary"]
NAME_OF_FOCUS = """() => {
  const at = document.activeElement;
  if (at === document.body) return "";
  return at.getAttribute("aria-label") || at.labels?.[0]?.textContent || at.textContent;
}"""
NAMES = {"bob": "reviewer_01", "alice": "reviewer_02"}


def prepare(tenants: Tenants) -> None:
    """A project that wants two reviews of a trace, with the documented configuration."""
    configuration = json.loads(review_yaml(verdict={"require_summary": True, "summary_min_length": 20}))
    with acting_in(tenants.acme):
        publish_configuration(
            project=tenants.acme_project,
            source=json.dumps({**configuration, "assignment": {"annotations_per_trace": 2}}),
        )
        for username, name in NAMES.items():
            Membership.objects.filter(user__username=username).update(annotator_name=name)
    stored(tenants.acme, tenants.acme_project, *FILES, steps=(step("I look at the parser."), step("I fix it.")))


def assert_documented(reader: Reader, person: User) -> None:
    """The site hands out the documented record: its keys, in its order, with the values as they were entered."""
    address = f"{reader.address}/o/acme/api/v1/projects/parser/annotations/?mine=1"
    (result,) = reader.page.context.request.get(address).json()["results"]
    record = result["record"]
    expected = copy.deepcopy(RECORD)
    # Our own key stands beside the documented ones: how long the annotator was at work.
    assert record.pop("active_seconds") >= 0
    assert list(record) == list(expected)
    assert record["id"] == expected["id"]
    assert record["annotator"] == NAMES[person.username]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record["timestamp"])
    given, wanted = record["annotations"], expected["annotations"]
    assert list(given) == list(wanted)
    for comment, documented in zip(given["inline_comments"], wanted["inline_comments"], strict=True):
        # Our own keys stand beside the documented ones.
        assert comment.pop("side") == "new"
        assert comment.pop("comment_id")
        assert comment.pop("created_at")
        assert list(comment) == list(documented)
        assert comment == documented
    assert json.dumps(given["file_ratings"]) == json.dumps(wanted["file_ratings"])
    assert json.dumps(given["verdict"]) == json.dumps(wanted["verdict"])


def test_a_review_in_seven_steps_with_the_mouse_alone(
    tenants_of_browsers: Tenants, reader: Reader, tmp_path: Path
) -> None:
    tenants, page = tenants_of_browsers, reader.page
    prepare(tenants)
    reader.sign_in("bob")
    reader.open(HOME)
    page.get_by_role("button", name=re.compile("Start|Next task")).first.click()
    page.wait_for_url("**/tasks/**")
    is_ready(page)

    # 1. Task overview
    expect(page.get_by_role("heading", level=1)).to_have_text("Fix the failing test in test_parser.py")
    expect(page.locator(".task__ask")).to_contain_text("It drops the last page of each range.")

    # 2. File tree navigation
    tree = page.get_by_role("navigation", name="Changed files")
    expect(tree.locator(".tree__file[data-c=modified]")).to_have_count(2)
    tree.get_by_text("test_parser.py", exact=True).click()
    expect(page.get_by_role("article", name="tests/test_parser.py")).to_be_in_viewport()

    # 3. Diff review
    parser = page.get_by_role("article", name="src/parser.py")
    tests = page.get_by_role("article", name="tests/test_parser.py")
    tree.get_by_text("parser.py", exact=True).click()
    parser.get_by_role("button", name=re.compile("Show .* hidden lines")).first.click()
    marks = tree.locator(".tree__seen:not(.is-off)")
    parser.get_by_label("Viewed").check()
    expect(marks).to_have_text(["viewed"])
    parser.get_by_label("Viewed").uncheck()
    expect(marks).to_have_count(0)
    parser.get_by_label("Viewed").check()
    tests.get_by_label("Viewed").check()
    expect(marks).to_have_text(["viewed", "viewed"])
    expect(page.locator("[data-viewed-count]")).to_have_text("2 of 2 viewed")

    # 4. Adding inline comments
    def comment_on(file: Locator, documented: dict[str, Any]) -> None:
        first, last = documented["line_start"], documented["line_end"]
        line = file.get_by_role("button", name=f"Comment on new line {first}", exact=True)
        line.scroll_into_view_if_needed()
        if last == first:
            line.click()
        else:
            line.hover()
            page.mouse.down()
            file.get_by_role("button", name=f"Comment on new line {last}", exact=True).hover()
            page.mouse.up()
        form = page.get_by_role("form")
        form.locator(f"label:has([value={documented['category']}])").click()
        if "severity" in documented:
            form.locator(f"label:has([value={documented['severity']}])").click()
        form.get_by_label("Comment", exact=True).click()
        page.keyboard.insert_text(documented["comment"])
        if "suggestion" in documented:
            form.get_by_role("button", name="Suggest a change").click()
            form.get_by_label("Suggested replacement code").fill(documented["suggestion"])
        form.get_by_role("button", name="Save comment").click()
        expect(form).to_have_count(0)

    comment_on(parser, COMMENTS[0])
    comment_on(parser, COMMENTS[1])
    comment_on(tests, COMMENTS[2])

    # 5. File ratings
    for path, ratings in RECORD["annotations"]["file_ratings"].items():
        section = page.get_by_role("region", name=f"Rate {path}")
        section.scroll_into_view_if_needed()
        for name, number in ratings.items():
            section.locator(f"[data-dimension={name}] .rating__n").nth(number - 1).click()
    # A slip, taken back.
    section.locator("[data-dimension=quality] .rating__n").nth(0).click()
    section.get_by_role("button", name="Clear Code Quality").click()
    page.locator("[data-missing]").get_by_text("Code Quality of test_parser.py").click()
    section.locator("[data-dimension=quality] .rating__n").nth(3).click()

    # 6. Overall verdict
    page.locator(".vopt").nth(1).click()
    expect(page.locator("[data-bar-verdict]")).to_have_text("Request Changes")
    page.locator(".verdict .todo__go").get_by_text("Summary").click()
    page.keyboard.insert_text(SUMMARY)
    expect(page.locator("[data-left]")).to_have_text("Ready to submit")
    reader.assert_clean("before it is submitted")

    # 7. Submission
    page.get_by_role("button", name="Submit review").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    assert_documented(reader, tenants.bob)
    assert_leaves_as_documented(tmp_path, NAMES["bob"], task=TASK, operations=("modified", "modified"))


class Keys:
    """A person who has a keyboard and nothing else."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def focused(self) -> str:
        return str(self.page.evaluate(NAME_OF_FOCUS))

    def tab_to(self, name: str, *, back: bool = False) -> None:
        """Go on with Tab until what has the focus is called so."""
        for _ in range(150):
            if re.search(name, self.focused()):
                return
            self.press("Shift+Tab" if back else "Tab")
        raise AssertionError(f"Tab never came to {name}; it is at {self.focused()}")

    def line(self, number: int, *, side: str = "new") -> None:
        """From a line of a file to another one of it."""
        expect(self.page.locator("button[data-side]:focus")).to_have_count(1)
        for _ in range(80):
            at = re.search(r"Comment on (\w+) line (\d+)", self.focused())
            assert at, self.focused()
            if (at[1], int(at[2])) == (side, number):
                return
            self.press("ArrowDown" if int(at[2]) <= number else "ArrowUp")
        raise AssertionError(f"The arrows never came to line {number}; they are at {self.focused()}")


def test_a_review_in_seven_steps_with_the_keyboard_alone(tenants_of_browsers: Tenants, reader: Reader) -> None:
    tenants, page, keys = tenants_of_browsers, reader.page, Keys(reader.page)
    prepare(tenants)
    reader.sign_in("alice")
    reader.open(HOME)
    keys.tab_to("Start|Next task")
    keys.press("Enter")
    page.wait_for_url("**/tasks/**")
    is_ready(page)

    # 1. and 2. The task is at the top; the tree leads to a file, and the filter finds one.
    keys.tab_to("Filter files")
    page.keyboard.type("test_")
    keys.press("Enter")
    expect(page.get_by_role("article", name="tests/test_parser.py")).to_be_in_viewport()

    # 3. From change to change, each file marked as viewed.
    keys.press("p", "p", "j")
    expect(page.locator("tr.is-at")).to_contain_text("line 15")
    keys.press("v", "n", "v")
    expect(page.locator("[data-viewed-count]")).to_have_text("2 of 2 viewed")

    # 4. Comments
    keys.press("p", "j")
    keys.line(42)
    keys.press("c")
    form = page.get_by_role("form")
    expect(form.get_by_role("radio").first).to_be_focused()
    keys.press("1")
    keys.press("Shift+Tab", "ArrowRight")  # from the last severity to the first
    expect(form.get_by_role("radio", name="Critical")).to_be_checked()
    keys.press("Tab")
    page.keyboard.type(COMMENTS[0]["comment"])
    keys.tab_to("Suggest a change")
    keys.press("Enter")
    keys.tab_to("Suggested replacement code")
    keys.press("Control+a")
    page.keyboard.insert_text(COMMENTS[0]["suggestion"])
    keys.press("Control+Enter")
    expect(form).to_have_count(0)

    keys.line(15)
    keys.press("c", "5")
    keys.press("Shift+Tab", "Space")
    expect(form.get_by_role("radio", name="Nit")).to_be_checked()
    keys.press("Tab")
    page.keyboard.type(COMMENTS[1]["comment"])
    keys.press("Control+Enter")
    expect(form).to_have_count(0)

    keys.press("n")
    keys.tab_to(r"Comment on \w+ line")
    keys.line(28)
    keys.press("Shift+ArrowDown", "Shift+ArrowDown", "Enter", "8")
    page.keyboard.type(COMMENTS[2]["comment"])
    keys.press("Control+Enter")
    expect(form).to_have_count(0)

    # 5. Ratings: those of the file that is read, then those of the other one
    keys.press("r", "5", "4")
    keys.press("p", "r", "3", "1")
    keys.press("Backspace")
    expect(page.locator("[data-missing]")).to_contain_text("Code Quality of parser.py")
    keys.press("2")
    expect(page.locator("[data-count=file_ratings]")).to_have_text("4 of 4")

    # 6. Verdict and summary
    keys.press("g", "v", "x")
    keys.press("Tab")
    page.keyboard.type(SUMMARY)
    expect(page.locator("[data-left]")).to_have_text("Ready to submit")
    reader.assert_clean("before it is submitted")

    # 7. Submission
    keys.press("Control+Shift+Enter")
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    assert_documented(reader, tenants.alice)


def test_two_annotators_review_the_same_trace_and_never_see_each_other(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    tenants, page = tenants_of_browsers, reader.page
    prepare(tenants)
    for username, decision in (("bob", "Approve"), ("alice", "Comment Only")):
        reader.sign_in(username)
        reader.open(HOME)
        page.get_by_role("button", name=re.compile("Start|Next task")).first.click()
        page.wait_for_url("**/tasks/**")
        is_ready(page)
        assert page.get_by_role("radio", checked=True).count() == 0
        expect(page.locator("#summary")).to_have_value("")
        for path in RECORD["annotations"]["file_ratings"]:
            section = page.get_by_role("region", name=f"Rate {path}")
            section.scroll_into_view_if_needed()
            for scale in section.get_by_role("group").all():
                scale.get_by_role("radio").nth(2).check()
        page.get_by_role("radio", name=decision).check()
        page.locator("#summary").fill(f"{NAMES[username]} has read all of it.")
        page.get_by_role("button", name="Submit review").click()
        expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
        page.context.clear_cookies()
    reader.sign_in("alice")
    address = f"{reader.address}/o/acme/api/v1/projects/parser/annotations/"
    records = [result["record"] for result in page.context.request.get(address).json()["results"]]
    verdicts = {record["annotator"]: record["annotations"]["verdict"]["decision"] for record in records}
    assert verdicts == {"reviewer_01": "approve", "reviewer_02": "comment_only"}
