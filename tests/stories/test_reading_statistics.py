"""The statistics of process rewards in a browser: computed at a click, read as text, in both themes."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.reviews import chance
from tests.rewards.judging import Judging
from tests.stories.conftest import Reader
from tests.tenants import Tenants
from tests.traces.stored import outcome, stored

pytestmark = pytest.mark.browser

PAGE = "/o/acme/p/parser/"


def make_annotations(tenants: Tenants, folder: Path) -> Judging:
    """Two people rate the runs of four models."""
    judging, random = Judging(tenants, tenants.acme_project, folder), chance(11)
    judging.publish()
    models = ("harbor-coder-2", "lantern-7b", "a-model-with-a-name-that-is-much-too-long-for-any-legend", "")
    for number in range(16):
        judging.trace(f"run-{number:02}", random.randint(4, 14), models[number % 4])
    for person in (tenants.bob, tenants.dora):
        for _ in range(16):
            judging.rate_at_random(person, random)
    judging.tell()
    return judging


def wide(page: Page) -> bool:
    """Whether the page is wider than its window."""
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


def test_statistics_are_computed_at_a_click_and_read_in_both_themes(
    tenants_of_browsers: Tenants, reader: Reader, tmp_path: Path
) -> None:
    judging = make_annotations(tenants_of_browsers, tmp_path)
    reader.sign_in("mallory")
    reader.open(PAGE)
    page = reader.page
    expect(page.get_by_text("Not computed yet")).to_be_visible()
    reader.assert_clean("before")
    page.get_by_role("button", name="Compute now").click()
    expect(page.locator("#rewards").get_by_text("Being computed.")).to_be_visible()
    reader.assert_clean("while it is computed")
    judging.work(judging.kept())
    reader.open(PAGE)
    expect(page.get_by_role("img", name="First errors by step")).to_be_visible()
    expect(page.get_by_role("img", name="Mean reward up to each step")).to_be_visible()
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        for width in (1440, 768, 360):
            page.set_viewport_size({"width": width, "height": 1000})
            assert not wide(page), width
        page.set_viewport_size({"width": 1440, "height": 1000})
        reader.assert_clean(scheme)
    page.get_by_role("link", name="Share of trace").click()
    expect(page.get_by_role("img", name="First errors by share of trace")).to_be_visible()
    expect(page.get_by_role("link", name="Share of trace")).to_have_attribute("aria-current", "true")
    page.locator("#first-errors").get_by_text("The figures").click()
    expect(page.get_by_role("row", name="0 to 10%")).to_be_visible()
    reader.assert_clean("by share")


def test_what_nothing_can_be_judged_of_and_categories_beside_no_error_are_said(
    tenants_of_browsers: Tenants, themed_reader: Reader, tmp_path: Path
) -> None:
    judging = Judging(tenants_of_browsers, tenants_of_browsers.acme_project, tmp_path)
    judging.publish(target=1)
    for name in ("one", "two", "three"):
        judging.trace(name, 3)
    stored(tenants_of_browsers.acme, judging.project, outcome("a.py", "a\n", "b\n"), external_id="without steps")
    judging.rate(tenants_of_browsers.bob, "correct", "partially_correct", "correct")
    judging.rate(tenants_of_browsers.bob, "correct", "incorrect", "correct")
    judging.tell()
    judging.compute()
    themed_reader.sign_in("mallory")
    themed_reader.open(PAGE)
    page = themed_reader.page
    expect(page.get_by_text("1 trace given to nobody: the trace has no steps.")).to_be_visible()
    without = page.locator(".kpi").filter(has_text="Without an error")
    expect(without).to_contain_text("50.0%")
    expect(without).to_contain_text("1 of them with an error category")
    page.locator("#exports").get_by_role("link", name="New export").click()
    expect(page.locator('input[value="code_review"]')).to_be_disabled()
    page.locator('input[value="dpo"]').check()
    dpo = page.get_by_role("group", name="Options of dpo")
    expect(dpo.get_by_label("Score", exact=True)).to_have_value("sum")
    expect(dpo.get_by_label("Pairs", exact=True).locator("option")).to_have_text(["traces", "within", "corrections"])
    themed_reader.assert_clean("with the options")
