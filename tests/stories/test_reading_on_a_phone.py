"""A narrow screen, in Chromium: names of files stand whole, and nothing is wider than the screen."""

import pytest
from playwright.sync_api import Locator, expect

from tests.stories.commenting import open_task_page
from tests.stories.conftest import Reader
from tests.tenants import Tenants
from tests.traces.stored import code, outcome

pytestmark = pytest.mark.browser

LONG = "components/navigation/breadcrumbs/previous_page_of_every_station_and_its_neighbours.test.ts"
CUT = "(at) => at.scrollWidth > at.clientWidth + 1 || getComputedStyle(at).visibility === 'hidden'"

GOES_ON = """(name) => {
  const lines = [...name.children].map((part) => {
    const text = document.createRange();
    text.selectNodeContents(part);
    return [...text.getClientRects()];
  });
  const [end, start] = [lines[0].at(-1), lines[1][0]];
  return start.top > end.bottom - 1 || (Math.abs(start.top - end.top) < 2 && Math.abs(start.left - end.right) < 2);
}"""


def is_cut(place: Locator) -> bool:
    return bool(place.evaluate(CUT))


def test_a_file_is_named_whole_in_the_list_and_above_its_lines(tenants_of_browsers: Tenants, phone: Reader) -> None:
    files = [outcome(LONG, code(8), code(8, "new")), *(outcome(f"src/{n}.py", None, code(3)) for n in range(20))]
    task_page = open_task_page(phone, tenants_of_browsers, *files)
    task_page.open()
    page = task_page.page
    name = LONG.rpartition("/")[2]
    listed = page.get_by_role("navigation", name="Changed files").get_by_text(name)
    expect(listed).to_be_visible()
    assert not is_cut(listed)
    # Its two parts are one text: the second goes on where the first one ends.
    assert listed.evaluate(GOES_ON)
    head = task_page.file(LONG).locator(".file__path")
    expect(head).to_have_text(LONG)
    assert not is_cut(head)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    # The list of many files leaves room for the first of them.
    tree = page.locator(".rail__body").bounding_box()
    assert tree
    assert tree["height"] <= 844 * 0.35
    phone.assert_clean("phone")


def test_files_of_one_name_are_told_apart_by_their_folders(tenants_of_browsers: Tenants, phone: Reader) -> None:
    files = [outcome(f"services/{folder}/handler.py", None, code(3)) for folder in ("checkout", "vouchers")]
    task_page = open_task_page(phone, tenants_of_browsers, *files)
    task_page.open()
    page = task_page.page
    tree = page.get_by_role("navigation", name="Changed files")
    for width in (390, 800):
        page.set_viewport_size({"width": width, "height": 844})
        for folder in ("checkout", "vouchers"):
            expect(tree.get_by_text(f"services/{folder}")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == width
    phone.assert_clean("folders")
