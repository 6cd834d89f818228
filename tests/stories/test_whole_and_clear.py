"""What a task page shows is whole: names, paths, choices and keys; and what is over does not stay."""

import json
import time
from collections.abc import Mapping

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from accounts.actions.projects import publish_configuration
from potato.runs.model import Step, ToolCall
from tenancy.actor import acting_in
from tests.stories import test_rating_steps as ratings
from tests.stories.conftest import Reader
from tests.stories.reviewing import at_task, claimed, task_path
from tests.tenants import Tenants
from tests.traces.stored import code, outcome, stored

pytestmark = pytest.mark.browser

CATEGORISED = {"per_step": {"error_categories": {"enabled": True}, "allow_notes": True}}
DEEP = "/".join(["services", "checkout", "a_rather_long_name_of_a_folder"] * 6)
NAME = "test_prices_with_discounts_in_percent_and_vouchers_of_partners_"
# Whether all of an element is within each box around it that cuts.
IS_SEEN = """(element) => {
  const own = element.getBoundingClientRect();
  if (!own.width) return false;
  for (let at = element.parentElement; at; at = at.parentElement) {
    if (getComputedStyle(at).overflowX === "visible") continue;
    const box = at.getBoundingClientRect();
    if (own.left < box.left - 1 || own.right > box.right + 1) return false;
  }
  return element.scrollWidth <= element.clientWidth + 1;
}"""
# Whether a choice has room for the words that it shows, with its arrow.
HAS_ROOM = """(select) => {
  const style = getComputedStyle(select);
  const brush = document.createElement("canvas").getContext("2d");
  brush.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const words = brush.measureText(select.selectedOptions[0].textContent).width;
  return words <= select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
}"""


def reviewing(tenants: Tenants, reader: Reader, *schemes: Mapping[str, object], path: str = "a.py") -> None:
    """Bob's task with a file of this path, under these schemes and a verdict."""
    verdict = {"name": "verdict", "annotation_type": "code_review_verdict"}
    source = json.dumps({"task_name": "Review", "annotation_schemes": [*schemes, verdict]})
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=source)
    stored(tenants.acme, tenants.acme_project, outcome(path, code(3), code(4)))
    at_task(reader, claimed(tenants, tenants.bob))


def keys_of(reader: Reader, words: str) -> list[str]:
    reader.page.keyboard.press("?")
    row = reader.page.locator("#keys li", has_text=words)
    expect(row).to_be_visible()
    return row.locator("kbd").all_text_contents()


@pytest.mark.parametrize(("count", "keys"), [(1, ["1"]), (2, ["1", "2"]), (6, ["1", "…", "6"]), (12, ["1", "…", "9"])])
def test_the_help_names_the_keys_of_the_categories_that_there_are(
    tenants_of_browsers: Tenants, reader: Reader, count: int, keys: list[str]
) -> None:
    categories = [{"value": f"kind_{at}", "display": f"Kind {at}"} for at in range(count)]
    comments = {"categories": categories}
    scheme = {"name": "comments", "annotation_type": "code_review_comments", "inline_comments": comments}
    reviewing(tenants_of_browsers, reader, scheme)
    assert keys_of(reader, "Choose category") == keys


def test_the_help_names_the_keys_of_the_scales_that_there_are(tenants_of_browsers: Tenants, reader: Reader) -> None:
    dimensions = [{"name": "safety", "scale": {"min": 0, "max": 3}}, {"name": "style", "scale": {"min": 0, "max": 3}}]
    scheme = {
        "name": "ratings",
        "annotation_type": "code_review_file_ratings",
        "file_ratings": {"dimensions": dimensions},
    }
    reviewing(tenants_of_browsers, reader, scheme)
    assert keys_of(reader, "Rate, then next scale") == ["0", "…", "3"]


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_a_category_is_read_whole_at_a_step_that_one_has_left(
    tenants_of_browsers: Tenants, reader: Reader, width: int
) -> None:
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(**CATEGORISED), steps=3)
    page.set_viewport_size({"width": width, "height": 900})
    ratings.press(page, "2", "Escape", "2")
    page.locator("#s1 select").select_option("Wrong tool selected")
    page.locator("#s2").click(position={"x": 60, "y": 12})
    expect(page.locator("#s2.is-rating")).to_be_visible()
    for index in (0, 1):
        assert page.locator(f"#s{index} select").evaluate(HAS_ROOM), (index, width)
        assert page.locator(f"#s{index} select").evaluate(IS_SEEN), (index, width)


@pytest.mark.parametrize("reveal", ["whole", "progressive"])
def test_a_partially_correct_step_asks_for_its_category_as_a_wrong_one_does(
    tenants_of_browsers: Tenants, reader: Reader, reveal: str
) -> None:
    extra = {} if reveal == "whole" else {"reveal": reveal}
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(**CATEGORISED, **extra), steps=3)
    for index in range(3):
        ratings.press(page, "3")
        expect(page.get_by_role("combobox", name=f"Error category of step {index}")).to_be_focused()
        ratings.press(page, "L", "Enter")
    categories = [page.locator(f"#s{index} select").input_value() for index in range(3)]
    assert categories == ["Logic error"] * 3


def test_a_toast_goes_with_the_submission(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(), steps=2)
    ratings.press(page, "1", "1", "4")
    expect(page.locator("#toasts")).to_contain_text("Unnecessary instead of Correct")
    ratings.submitted(tenants_of_browsers, page)
    expect(page.locator("#toasts .toast")).to_have_count(0)


def is_seen(place: Locator) -> bool:
    return bool(place.evaluate(IS_SEEN))


@pytest.mark.parametrize("width", [1440, 1024, 800])
def test_a_path_above_its_lines_keeps_the_end_of_its_name(
    tenants_of_browsers: Tenants, reader: Reader, width: int
) -> None:
    path = f"{DEEP}/{NAME}new.py"
    reviewing(tenants_of_browsers, reader, path=path)
    reader.page.set_viewport_size({"width": width, "height": 900})
    shown = reader.page.locator(".file__path")
    expect(shown).to_have_text(path)
    expect(shown).to_have_attribute("title", path)
    assert is_seen(shown.locator("> :last-child")), width
    expect(reader.page.get_by_role("article", name=path)).to_be_visible()


def test_steps_that_differ_at_their_end_are_told_apart_in_the_rail_and_in_their_heads(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    tenants = tenants_of_browsers
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=ratings.per_step())
    paths = [f"/{DEEP}/{NAME}{end}.py" for end in ("old", "new")]
    reads = [Step("", calls=(ToolCall("c", "Read", {"file_path": path}, "x"),)) for path in paths]
    said = [Step(f"I look for the reason why the totals of both orders differ, part {end}.") for end in "12"]
    stored(tenants.acme, tenants.acme_project, outcome("a.py", code(3), code(4)), steps=(*reads, *said))
    assignment = claimed(tenants, tenants.bob)
    reader.sign_in("bob")
    reader.open(task_path(assignment, "steps/"))
    page = reader.page
    ratings.is_ready(page)
    for index, path in enumerate(paths):
        detail = page.locator(f"#s{index} .step__title .trunc")
        expect(detail).to_have_attribute("title", f"…{path[-159:]}")
        assert is_seen(detail.locator("span").last)
    for index in (2, 3):
        title = page.locator(".srail__item").nth(index).locator(".trunc").first
        assert (title.text_content() or "").startswith("I look for the reason why")
        assert is_seen(title.locator("span").last)
    page.get_by_label("Filter steps by title").fill("orders differ, part 2")
    expect(page.locator(".srail__item:visible")).to_have_count(1)


def test_on_a_phone_all_tabs_are_in_sight_and_a_notice_stands_beside_its_sign(
    tenants_of_browsers: Tenants, phone: Reader
) -> None:
    tenants = tenants_of_browsers
    source = json.loads(ratings.per_step()) | {"guidelines": "Read all of it."}
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=json.dumps(source))
    stored(tenants.acme, tenants.acme_project, outcome("a.py", code(3), code(4)), steps=(Step("I look."),))
    phone.sign_in("bob")
    phone.open(task_path(claimed(tenants, tenants.bob), "steps/"))
    tabs = phone.page.locator(".task .tabs a")
    expect(tabs).to_have_count(3)
    assert all(is_seen(tab) for tab in tabs.all())
    sign, words = (
        phone.page.locator(".banners .banner").locator(part).first.bounding_box() for part in ("svg", "span")
    )
    assert sign
    assert words
    assert abs(sign["y"] + sign["height"] / 2 - words["y"] - words["height"] / 2) < words["height"]
    assert words["x"] > sign["x"] + sign["width"]


def test_on_a_phone_nothing_of_the_navigation_shows_beyond_the_account(
    tenants_of_browsers: Tenants, phone: Reader
) -> None:
    phone.sign_in("alice")
    phone.open("/o/acme/")
    account = phone.page.locator(".sidenav__foot").bounding_box()
    assert account
    assert account["x"] + account["width"] >= 389, "but for the line at its edge"
    middle = account["y"] + account["height"] / 2
    for x in range(int(account["x"]) + 2, 389, 4):
        script = "([x, y]) => document.elementFromPoint(x, y).closest('.sidenav__group') === null"
        assert phone.page.evaluate(script, [x, middle]), x


def test_a_page_that_was_made_before_the_last_save_was_answered_shows_it_and_finds_no_other_version(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(), steps=3)
    held: list[Route] = []
    page.route("**/draft/", lambda route: held.append(route), times=1)
    ratings.press(page, "1")
    until_held(page, held)

    def reload_around_the_save(route: Route) -> None:
        made_before = route.fetch()
        held[0].continue_()
        # The page that is left gets its answer meanwhile.
        time.sleep(1)
        route.fulfill(response=made_before)

    page.route("**/steps/", reload_around_the_save, times=1)
    page.reload()
    ratings.is_ready(page)
    expect(page.locator("[data-steps-progress]")).to_have_text("1 of 3 labelled")
    answers: list[int] = []
    page.on("response", lambda answer: answers.append(answer.status) if answer.request.method == "PUT" else None)
    page.locator("#s1").click(position={"x": 60, "y": 12})
    ratings.press(page, "1")
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    expect(page.locator("dialog:modal")).to_have_count(0)
    assert set(answers) == {200}
    expect(page.locator("[data-steps-progress]")).to_have_text("2 of 3 labelled")


def until_held(page: Page, held: list[Route]) -> None:
    for _ in range(200):
        if held:
            return
        page.wait_for_timeout(25)
    raise AssertionError("nothing was saved")
