"""A project's overview stays as it is now while it is open, and a matter is seen to without leaving it."""

import pytest
from playwright.sync_api import expect

from exports.models import Export
from jobs.models import JobState
from tenancy.actor import acting_in
from tests.assignments.conftest import Queue, submit
from tests.dashboard.reviews import deliver, publish_review
from tests.dashboard.test_attention import failed_export
from tests.stories.conftest import Reader
from tests.tenants import Tenants

pytestmark = pytest.mark.browser

PAGE = "/o/acme/p/parser/"
LATER = 15_000
"""The page asks every ten seconds."""


@pytest.fixture
def queue(tenants_of_browsers: Tenants) -> Queue:
    tenants = tenants_of_browsers
    queue = Queue(tenants, tenants.acme_project)
    with acting_in(tenants.acme, tenants.alice):
        publish_review(queue, annotations_per_trace=2)
        queue.add_traces(3)
        submit(queue.claimed(tenants.bob))
        deliver(queue)
    return queue


def test_what_happens_meanwhile_comes_into_the_open_page(queue: Queue, themed_reader: Reader) -> None:
    reader, page, tenants = themed_reader, themed_reader.page, queue.tenants
    reader.sign_in("mallory")
    reader.open(PAGE)
    figures, attention = (
        page.get_by_role("region", name="Key figures"),
        page.get_by_role("region", name="Needs attention"),
    )
    expect(figures).to_contain_text("1 of 6")
    expect(attention).to_contain_text("Nothing needs you")
    expect(attention).to_contain_text("Live, checked")
    page.get_by_text("The figures", exact=True).click()
    page.evaluate("window.sameDocument = true")
    with acting_in(tenants.acme, tenants.alice):
        submit(queue.claimed(tenants.dora))
        deliver(queue)
        failed_export(queue)
    expect(figures).to_contain_text("2 of 6", timeout=LATER)
    expect(attention).to_contain_text("The disk is full. Free some space.")
    expect(page.get_by_role("region", name="Annotations of each day")).to_be_visible()
    assert page.evaluate("window.sameDocument")
    reader.assert_clean("something needs attention")
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0


def test_a_matter_is_solved_or_left_by_keys_alone(queue: Queue, reader: Reader) -> None:
    page, tenants = reader.page, queue.tenants
    with acting_in(tenants.acme, tenants.alice):
        failed_export(queue)
        failed_export(queue, "archive")
    reader.sign_in("mallory")
    reader.open(PAGE)
    attention = page.get_by_role("region", name="Needs attention")
    expect(attention.get_by_role("listitem")).to_have_count(2)
    attention.get_by_label("Leave for a week: The export “archive”").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("Nobody waits for it.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(attention.get_by_role("listitem")).to_have_count(1)
    expect(attention).to_contain_text("1 left for a while by somebody.")
    attention.get_by_role("button", name="Try again").focus()
    page.keyboard.press("Enter")
    expect(attention).to_contain_text("Nothing needs you")
    with acting_in(tenants.acme, tenants.alice):
        again = Export.objects.filter(format="code_review").latest("requested_at")
        assert again.job is not None
        assert again.job.state == JobState.QUEUED
    reader.assert_clean("solved")


def test_words_that_are_being_typed_are_not_taken_away(queue: Queue, reader: Reader) -> None:
    page, tenants = reader.page, queue.tenants
    with acting_in(tenants.acme, tenants.alice):
        failed_export(queue)
    reader.sign_in("mallory")
    reader.open(PAGE)
    page.get_by_label("Leave for a week").click()
    page.get_by_label("Why can it wait?").fill("The new disk comes")
    with acting_in(tenants.acme, tenants.alice):
        failed_export(queue, "archive")
        submit(queue.claimed(tenants.dora))
        deliver(queue)
    expect(page.get_by_role("region", name="Key figures")).to_contain_text("2 of 6", timeout=LATER)
    expect(page.get_by_label("Why can it wait?")).to_have_value("The new disk comes")
    expect(page.get_by_role("region", name="Needs attention").get_by_role("listitem")).to_have_count(1)
