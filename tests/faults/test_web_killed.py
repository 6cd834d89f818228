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
from tests.stories.working import Desk, claimed, project_of_tasks
from tests.worlds import PASSWORD, World

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
def desk(web: Web, committed_world: World, chromium: Browser) -> Iterator[Desk]:
    """Bob's, signed in, with the task open."""
    project_of_tasks(committed_world)
    with chromium.new_context() as context:
        context.set_default_timeout(15_000)
        page = context.new_page()
        page.goto(f"{web.address}/accounts/login/")
        page.get_by_label("User name or email").fill("bob")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{web.address}/o/acme/")
        desk = Desk(
            committed_world, committed_world.bob, claimed(committed_world, committed_world.bob), page, web.address
        )
        page.on("pageerror", lambda error: desk.errors.append(str(error)))
        desk.open()
        yield desk
        assert desk.errors == []


def is_saved(desk: Desk) -> None:
    """Also after the pauses between tries have grown."""
    expect(desk.saved).to_contain_text("Saved", timeout=20_000)


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_a_draft_is_saved(web: Web, desk: Desk, moment: str) -> None:
    desk.write("One")
    is_saved(desk)
    web.stops_at("PUT", "/draft/", moment)
    desk.write(" two")
    web.dies(desk.page)
    assert desk.stored_summary() == ("One" if moment == "before" else "One two")
    expect(desk.saved).to_have_text("Offline, 1 change kept here")
    desk.write(" three")
    web.start()
    is_saved(desk)
    assert desk.stored_summary() == "One two three"
    expect(desk.dialog("Two versions of this work")).to_have_count(0)


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_a_draft_is_saved_and_the_browser_dies_too(web: Web, desk: Desk, moment: str) -> None:
    web.stops_at("PUT", "/draft/", moment)
    desk.write("Only here")
    web.dies(desk.page)
    desk.page.close()
    web.start()
    again = desk.beside()
    again.open()
    expect(again.summary).to_have_value("Only here")
    is_saved(again)
    assert desk.stored_summary() == "Only here"


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_the_review_is_submitted(web: Web, desk: Desk, moment: str) -> None:
    desk.write("Fine")
    desk.decide()
    web.stops_at("POST", "/submit/", moment)
    desk.submit()
    web.dies(desk.page)
    expect(desk.dialog("Submitting")).to_contain_text("The site does not answer")
    assert len(desk.submissions()) == (0 if moment == "before" else 1)
    web.start()
    expect(desk.dialog("Submitted")).to_be_visible(timeout=20_000)
    (submission,) = desk.submissions()
    assert submission.result["verdict"] == {"decision": "approve", "summary": "Fine"}


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_the_review_is_submitted_and_the_browser_dies_too(web: Web, desk: Desk, moment: str) -> None:
    desk.decide()
    web.stops_at("POST", "/submit/", moment)
    desk.submit()
    web.dies(desk.page)
    desk.page.close()
    web.start()
    again = desk.beside()
    again.page.goto(again.address + again.path)
    if moment == "before":
        expect(again.dialog("Submitted")).to_be_visible()
    else:
        expect(again.page.get_by_text("You submitted this task")).to_be_visible()
    assert len(desk.submissions()) == 1


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_a_submission_is_given_up_and_edited(web: Web, desk: Desk, moment: str) -> None:
    """The attempt may have arrived without our knowing; then the page says so, and what is submitted can be undone."""
    desk.decide()
    web.stops_at("POST", "/submit/", moment)
    desk.submit()
    web.dies(desk.page)
    desk.page.get_by_role("button", name="Stop, and go on working").click()
    desk.write("Second thoughts")
    web.start()
    if moment == "after":
        expect(desk.dialog("Submitted")).to_contain_text("What you changed since", timeout=20_000)
        desk.page.get_by_role("button", name="Undo").click()
        expect(desk.dialog("Submitted")).to_have_count(0)
    expect(desk.summary).to_have_value("Second thoughts")
    is_saved(desk)
    desk.submit()
    expect(desk.dialog("Submitted")).to_be_visible()
    assert desk.submissions()[-1].result["verdict"] == {"decision": "approve", "summary": "Second thoughts"}
    assert len(desk.submissions()) == (1 if moment == "before" else 2)


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_a_submission_is_taken_back(web: Web, desk: Desk, moment: str) -> None:
    desk.write("Fine")
    desk.decide()
    desk.submit()
    undo = desk.dialog("Submitted").get_by_role("button", name="Undo")
    web.stops_at("POST", "/withdraw/", moment)
    undo.click()
    web.dies(desk.page)
    expect(desk.dialog("Submitted").get_by_role("alert")).to_contain_text("not reached")
    web.start()
    undo.click()
    expect(desk.dialog("Submitted")).to_have_count(0)
    expect(desk.summary).to_have_value("Fine")
    assert desk.row().state == "claimed"


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_the_task_is_skipped(web: Web, desk: Desk, moment: str) -> None:
    desk.page.get_by_role("button", name="Skip task").click()
    dialog = desk.dialog("Give this task up")
    dialog.get_by_label("Why do you skip it?").fill("Empty")
    web.stops_at("POST", "/skip/", moment)
    dialog.get_by_role("button", name="Skip for good").click()
    web.dies(desk.page)
    expect(dialog.get_by_role("alert")).to_contain_text("not reached")
    web.start()
    dialog.get_by_role("button", name="Skip for good").click()
    if moment == "after":
        expect(desk.banner).to_contain_text("This trace was skipped already")
        desk.page.get_by_role("button", name="Next task").click()
    desk.page.wait_for_url(lambda url: "/tasks/" not in url)
    assert desk.row().skip_reason == "Empty"


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_a_tab_takes_over(web: Web, desk: Desk, moment: str) -> None:
    desk.write("First")
    is_saved(desk)
    second = desk.beside()
    second.open()
    web.stops_at("POST", "/resume/", moment)
    second.page.get_by_role("button", name="Take over here").click()
    web.dies(second.page)
    expect(second.page.locator(".toast")).to_contain_text("not reached")
    expect(desk.summary).not_to_be_editable()
    web.start()
    second.page.get_by_role("button", name="Take over here").click()
    expect(second.summary).to_be_editable()
    second.write(" second")
    is_saved(second)
    assert desk.stored_summary() == "First second"


@pytest.mark.parametrize("moment", MOMENTS)
def test_while_the_next_task_is_claimed(web: Web, desk: Desk, moment: str) -> None:
    with acting_in(desk.world.acme, desk.person):
        release(assignment=desk.row(), fence=1)
    desk.page.goto(f"{web.address}/o/acme/")
    web.stops_at("POST", "/next/", moment)
    desk.page.get_by_role("button", name="Next task").click(no_wait_after=True)
    web.dies(desk.page)
    web.start()
    desk.page.goto(f"{web.address}/o/acme/")
    if moment == "before":
        desk.page.get_by_role("button", name="Next task").click()
    else:
        desk.page.get_by_role("link", name="Continue").first.click()
    desk.page.wait_for_url("**/tasks/**")
    assert (desk.row().state, desk.row().fence) == ("claimed", 2), "it was claimed once"
