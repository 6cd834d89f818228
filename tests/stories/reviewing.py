"""People at the task page: a claimed trace in a browser, and what the site keeps of it."""

import time

from playwright.sync_api import Page, expect

from accounts.models import User
from assignments.actions.claiming import claim_next
from assignments.models import Assignment
from tenancy.actor import acting_in
from tests.stories.conftest import Reader
from tests.tenants import Tenants


def claimed(tenants: Tenants, user: User) -> Assignment:
    """The next trace of Acme's project, held by this person."""
    with acting_in(tenants.acme):
        found = claim_next(project=tenants.acme_project, user=user)
        assert isinstance(found, Assignment)
        return found


def task_path(assignment: Assignment, tab: str = "") -> str:
    return f"/o/acme/p/parser/tasks/{assignment.pk}/{tab}"


def at_task(reader: Reader, assignment: Assignment, username: str = "bob") -> Page:
    """The files of a task in this person's browser, ready for work."""
    reader.sign_in(username)
    reader.open(task_path(assignment))
    is_ready(reader.page)
    return reader.page


def is_ready(page: Page) -> None:
    """The modules of the schemes are at work, and this page is the one that writes."""
    expect(page.locator(".verdict [data-todo] li").first).to_be_attached()
    expect(page.locator(".verdict input").first).to_be_enabled()


def send_now(page: Page) -> None:
    """Have the page send what is new, as when its network comes back, and not after its pause."""
    page.evaluate("dispatchEvent(new Event('online'))")


def saved(page: Page) -> None:
    """Everything has reached the site."""
    page.wait_for_timeout(50)
    expect(page.locator("[data-saved]")).to_contain_text("Saved")


def until(page: Page, condition: str) -> None:
    """Wait for a JavaScript expression, as the content policy allows, and without what an assertion does at each look:
    it describes the whole page, which is slow with 500 steps."""
    end = time.monotonic() + 30
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        time.sleep(0.02)
