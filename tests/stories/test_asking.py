"""An annotator asks about the step where they are, a manager answers into the guidelines, in browsers."""

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from assignments.models import Question
from tenancy.actor import acting_in
from tests.stories.conftest import Reader, reader_at
from tests.stories.pictures import shoot
from tests.stories.test_first_error import at_trace
from tests.tenants import Tenants

pytestmark = pytest.mark.browser


def test_a_question_about_a_step_is_answered_into_the_guidelines(
    tenants_of_browsers: Tenants, themed_reader: Reader, chromium: Browser, live_server: LiveServer
) -> None:
    tenants = tenants_of_browsers
    page = at_trace(tenants, themed_reader, steps=3)
    page.locator("#s1 a.snum").click()
    page.get_by_role("button", name="Ask the managers").click()
    dialog = page.get_by_role("dialog", name="Ask the managers")
    expect(dialog.get_by_label("Step")).to_have_value("1")
    dialog.get_by_label("Your question").fill("Is a retry a step of its own?")
    themed_reader.assert_clean()
    dialog.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_role("heading", name="Your questions")).to_be_visible()
    expect(page.get_by_text("Waits for an answer")).to_be_visible()
    with acting_in(tenants.acme, tenants.alice):
        assert Question.objects.get().assignment.is_open
    shoot(themed_reader, "asked")
    for manager in reader_at(chromium, live_server.url, in_both_themes=True):
        manager.sign_in("mallory")
        manager.open("/o/acme/p/parser/questions/")
        manager.page.get_by_label("Your answer").fill("Yes, each one.")
        manager.assert_clean()
        shoot(manager, "questions")
        manager.page.get_by_role("button", name="Answer, and add to the guidelines").click()
        expect(manager.page.get_by_text("Version 2 has it in its guidelines.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Yes, each one.")).to_be_visible()
