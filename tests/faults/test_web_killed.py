"""The web process is killed at each stage of a review, before it has seen a request or before its answer has left.

Nothing that was acknowledged is lost, nothing is done twice, and the annotator is told what happened.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from assignments.actions.working import release
from tenancy.actor import acting_in
from tests.faults.conftest import Machine, Program, eventually
from tests.stories.working import TaskPage, claimed, project_of_tasks
from tests.tenants import PASSWORD, Tenants

pytestmark = pytest.mark.browser

MOMENTS = ["before", "after"]


@dataclass
class Web:
    """Gunicorn on one address, as often as it is started."""

    machine: Machine
    port: int
    program: Program | None = None

    @property
    def address(self) -> str:
        return f"http://localhost:{self.port}"

    def start(self) -> None:
        log = self.machine.folder / f"{len(self.machine.programs)}-web.log"
        options = ["--bind", f"localhost:{self.port}", "--worker-class", "potato_site.serving.Worker", "--threads", "4"]
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "gunicorn", "tests.faults.web", *options, "--no-control-socket"],
                env={**os.environ, **self.machine.settings, "TESTS_GATE": str(self.machine.folder)},
                cwd=Path(__file__).parents[2],
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.program = Program(process, log)
        self.machine.programs.append(self.program)
        eventually(self.answers, "the site answers")

    def answers(self) -> bool:
        try:
            with urlopen(f"{self.address}/accounts/login/", timeout=20) as answer:  # noqa: S310  (our own site)
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    def stops_at(self, method: str, ending: str, moment: str) -> None:
        """The next such request is the last one of this process."""
        part = self.machine.folder / "gate-part"
        part.write_text(f"{method} {ending} {moment}")
        part.rename(self.machine.folder / "gate")

    def dies(self, page: Page) -> None:
        """Wait for the request, and kill -9. The page goes on meanwhile."""
        reached = self.machine.folder / "reached"

        def has_come() -> bool:
            page.wait_for_timeout(20)
            return reached.exists()

        eventually(has_come, "the request")
        assert self.program
        self.program.kill_all()
        reached.unlink()


@pytest.fixture
def web(machine: Machine) -> Web:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    web = Web(machine, port)
    web.start()
    return web


@pytest.fixture
def task_page(web: Web, committed_tenants: Tenants, chromium: Browser) -> Iterator[TaskPage]:
    """Bob's, signed in, with the task open."""
    project_of_tasks(committed_tenants)
    with chromium.new_context() as context:
        context.set_default_timeout(15_000)
        page = context.new_page()
        page.goto(f"{web.address}/accounts/login/")
        page.get_by_label("User name or email").fill("bob")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{web.address}/o/acme/")
        task_page = TaskPage(
            committed_tenants,
            committed_tenants.bob,
            claimed(committed_tenants, committed_tenants.bob),
            page,
            web.address,
        )
        page.on("pageerror", lambda error: task_page.errors.append(str(error)))
        task_page.open()
        yield task_page
        assert task_page.errors == []


def is_saved(task_page: TaskPage) -> None:
    """Also after the pauses between tries have grown."""
    expect(task_page.saved).to_contain_text("Saved", timeout=20_000)


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_a_draft_is_saved(web: Web, task_page: TaskPage, moment: str) -> None:
    task_page.write("One")
    is_saved(task_page)
    web.stops_at("PUT", "/draft/", moment)
    task_page.write(" two")
    web.dies(task_page.page)
    assert task_page.stored_summary() == ("One" if moment == "before" else "One two")
    expect(task_page.saved).to_have_text("Offline, 1 change kept here")
    task_page.write(" three")
    web.start()
    is_saved(task_page)
    assert task_page.stored_summary() == "One two three"
    expect(task_page.dialog("Two versions of this work")).to_have_count(0)


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_a_draft_is_saved_and_the_browser_dies_too(web: Web, task_page: TaskPage, moment: str) -> None:
    web.stops_at("PUT", "/draft/", moment)
    task_page.write("Only here")
    web.dies(task_page.page)
    task_page.page.close()
    web.start()
    again = task_page.beside()
    again.open()
    expect(again.summary).to_have_value("Only here")
    is_saved(again)
    assert task_page.stored_summary() == "Only here"


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_the_review_is_submitted(web: Web, task_page: TaskPage, moment: str) -> None:
    task_page.write("Fine")
    task_page.decide()
    web.stops_at("POST", "/submit/", moment)
    task_page.submit()
    web.dies(task_page.page)
    expect(task_page.dialog("Submitting")).to_contain_text("The site does not answer")
    assert len(task_page.submissions()) == (0 if moment == "before" else 1)
    web.start()
    expect(task_page.dialog("Submitted")).to_be_visible(timeout=20_000)
    (submission,) = task_page.submissions()
    assert submission.result["verdict"] == {"decision": "approve", "summary": "Fine"}


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_the_review_is_submitted_and_the_browser_dies_too(web: Web, task_page: TaskPage, moment: str) -> None:
    task_page.decide()
    web.stops_at("POST", "/submit/", moment)
    task_page.submit()
    web.dies(task_page.page)
    task_page.page.close()
    web.start()
    again = task_page.beside()
    again.page.goto(again.address + again.path)
    if moment == "before":
        expect(again.dialog("Submitted")).to_be_visible()
    else:
        expect(again.page.get_by_text("You submitted this task")).to_be_visible()
    assert len(task_page.submissions()) == 1


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_a_submission_is_given_up_and_edited(web: Web, task_page: TaskPage, moment: str) -> None:
    """The attempt may have arrived without our knowing; then the page says so, and what is submitted can be undone."""
    task_page.decide()
    web.stops_at("POST", "/submit/", moment)
    task_page.submit()
    web.dies(task_page.page)
    task_page.page.get_by_role("button", name="Stop, and go on working").click()
    task_page.write("Second thoughts")
    web.start()
    if moment == "after":
        expect(task_page.dialog("Submitted")).to_contain_text("What you changed since", timeout=20_000)
        task_page.page.get_by_role("button", name="Undo").click()
        expect(task_page.dialog("Submitted")).to_have_count(0)
    expect(task_page.summary).to_have_value("Second thoughts")
    is_saved(task_page)
    task_page.submit()
    expect(task_page.dialog("Submitted")).to_be_visible()
    assert task_page.submissions()[-1].result["verdict"] == {"decision": "approve", "summary": "Second thoughts"}
    assert len(task_page.submissions()) == (1 if moment == "before" else 2)


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_a_submission_is_taken_back(web: Web, task_page: TaskPage, moment: str) -> None:
    task_page.write("Fine")
    task_page.decide()
    task_page.submit()
    undo = task_page.dialog("Submitted").get_by_role("button", name="Undo")
    web.stops_at("POST", "/withdraw/", moment)
    undo.click()
    web.dies(task_page.page)
    expect(task_page.dialog("Submitted").get_by_role("alert")).to_contain_text("not reached")
    web.start()
    undo.click()
    expect(task_page.dialog("Submitted")).to_have_count(0)
    expect(task_page.summary).to_have_value("Fine")
    assert task_page.row().state == "claimed"


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_the_task_is_skipped(web: Web, task_page: TaskPage, moment: str) -> None:
    task_page.page.get_by_role("button", name="Skip task").click()
    dialog = task_page.dialog("Give this task up")
    dialog.get_by_label("Why do you skip it?").fill("Empty")
    web.stops_at("POST", "/skip/", moment)
    dialog.get_by_role("button", name="Skip for good").click()
    web.dies(task_page.page)
    expect(dialog.get_by_role("alert")).to_contain_text("not reached")
    web.start()
    dialog.get_by_role("button", name="Skip for good").click()
    if moment == "after":
        expect(task_page.banner).to_contain_text("This trace was skipped already")
        task_page.page.get_by_role("button", name="Next task").click()
    task_page.page.wait_for_url(lambda url: "/tasks/" not in url)
    assert task_page.row().skip_reason == "Empty"


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_a_tab_takes_over(web: Web, task_page: TaskPage, moment: str) -> None:
    task_page.write("First")
    is_saved(task_page)
    second = task_page.beside()
    second.open()
    web.stops_at("POST", "/resume/", moment)
    second.page.get_by_role("button", name="Take over here").click()
    web.dies(second.page)
    expect(second.page.locator(".toast")).to_contain_text("not reached")
    expect(task_page.summary).not_to_be_editable()
    web.start()
    second.page.get_by_role("button", name="Take over here").click()
    expect(second.summary).to_be_editable()
    second.write(" second")
    is_saved(second)
    assert task_page.stored_summary() == "First second"


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_the_next_task_is_claimed(web: Web, task_page: TaskPage, moment: str) -> None:
    with acting_in(task_page.tenants.acme, task_page.person):
        release(assignment=task_page.row(), fencing_token=1)
    task_page.page.goto(f"{web.address}/o/acme/")
    web.stops_at("POST", "/next/", moment)
    task_page.page.get_by_role("button", name="Next task").click(no_wait_after=True)
    web.dies(task_page.page)
    web.start()
    task_page.page.goto(f"{web.address}/o/acme/")
    if moment == "before":
        task_page.page.get_by_role("button", name="Next task").click()
    else:
        task_page.page.get_by_role("link", name="Continue").first.click()
    task_page.page.wait_for_url("**/tasks/**")
    assert (task_page.row().state, task_page.row().fencing_token) == ("claimed", 2), "it was claimed once"
