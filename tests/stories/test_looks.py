"""How pages look where they are narrow, empty or full of long names: nothing huge, torn or out of its place."""

import pytest
from playwright.sync_api import Locator, expect

from accounts.actions.projects import create_project, publish_configuration
from tenancy.actor import acting_in
from tests.stories.conftest import Reader
from tests.stories.reviewing import at_task, claimed
from tests.tenants import Tenants
from tests.traces.stored import code, outcome, stored

pytestmark = pytest.mark.browser

SOURCE = 'task_name: "Coding Agent Code Review"\n'
HEIGHT_OF_LINES = (
    "(place) => parseFloat(getComputedStyle(place).lineHeight) / parseFloat(getComputedStyle(place).fontSize)"
)


def box(place: Locator) -> dict[str, float]:
    rectangle = place.bounding_box()
    assert rectangle
    return {side: rectangle[side] for side in ("x", "y", "width", "height")}


def published(tenants: Tenants) -> None:
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=SOURCE, confirmed=True)


def test_the_sign_of_a_button_on_an_empty_page_is_no_larger_than_elsewhere(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    tenants = tenants_of_browsers
    published(tenants)
    stored(tenants.acme, tenants.acme_project, outcome("a.py", code(3), code(4)))
    reader.sign_in("bob")
    reader.open("/o/acme/")
    claimed(tenants, tenants.mallory)
    reader.page.get_by_role("button", name="Next task").click()
    again = reader.page.get_by_role("button", name="Look again")
    expect(again).to_be_visible()
    assert box(again.locator("svg"))["height"] <= 16
    assert box(again)["y"] == box(reader.page.get_by_role("link", name="Back to your projects"))["y"]
    # A sentence is no wider than people read with ease.
    assert box(reader.page.locator(".empty > span").first)["width"] <= 600
    reader.assert_clean("the rest is with others")


def test_on_a_phone_the_page_of_a_project_is_neither_torn_nor_tiny(tenants_of_browsers: Tenants, phone: Reader) -> None:
    tenants = tenants_of_browsers
    published(tenants)
    stored(tenants.acme, tenants.acme_project, outcome("a.py", code(3), code(4)))
    phone.sign_in("alice")
    phone.open("/o/acme/p/parser/")
    exports = phone.page.get_by_role("heading", name="Exports")
    assert box(exports)["height"] < 24, "in one line"
    pace = phone.page.get_by_text("after 5 days with annotations")
    assert pace.evaluate(HEIGHT_OF_LINES) < 1.6
    assert box(pace)["height"] < 45
    labels = phone.page.locator(".plot__x span:not(:empty)")
    assert labels.count() >= 2
    assert min(box(label)["height"] for label in labels.all()) >= 10
    card = box(phone.page.locator("section", has=phone.page.locator("#days")))
    for label in labels.all():
        assert card["x"] <= box(label)["x"]
        assert box(label)["x"] + box(label)["width"] <= card["x"] + card["width"] - 4
    phone.assert_clean("the project on a phone")


def test_on_a_phone_a_project_stands_beside_its_sign(tenants_of_browsers: Tenants, phone: Reader) -> None:
    tenants = tenants_of_browsers
    with acting_in(tenants.acme, tenants.alice):
        words = "Process rewards, first error, of agents that were asked to mend something"
        project = create_project(slug="long", name=words)
        publish_configuration(project=project, source=SOURCE)
    stored(tenants.acme, project, outcome("a.py", code(3), code(4)))
    phone.sign_in("bob")
    phone.open("/o/acme/")
    project_row = phone.page.locator(".proj", has_text=words)
    sign, name = box(project_row.locator(".proj__ic")), box(project_row.locator(".proj__name"))
    assert name["x"] > sign["x"] + sign["width"]
    assert abs(name["y"] - sign["y"]) < sign["height"]
    act = box(project_row.locator(".proj__act"))
    assert abs(act["x"] - name["x"]) < 2
    assert box(project_row.get_by_role("button"))["x"] > act["x"]


def test_the_end_of_a_deep_folder_is_seen_in_the_list_of_files(tenants_of_browsers: Tenants, reader: Reader) -> None:
    tenants = tenants_of_browsers
    published(tenants)
    deep = "/".join(["services/checkout/a_rather_long_name_of_a_folder"] * 4)
    files = [outcome(f"{deep}/{end}/a.py", code(3), code(4)) for end in ("prices", "vouchers")]
    stored(tenants.acme, tenants.acme_project, *files)
    at_task(reader, claimed(tenants, tenants.bob))
    for end in ("prices", "vouchers"):
        folder = reader.page.locator(".tree__dir > span", has_text=f"/{end}")
        expect(folder).to_have_attribute("title", f"{deep}/{end}")
        expect(folder).to_have_text(f"{deep}/{end}")
        last = box(folder.locator("span").last)
        assert last["y"] + last["height"] <= box(folder)["y"] + box(folder)["height"] + 1
    # What is filtered by is all of it.
    reader.page.get_by_label("Filter files").fill("name_of_a_folder/vouchers")
    expect(reader.page.locator(".tree__file:visible")).to_have_count(1)
