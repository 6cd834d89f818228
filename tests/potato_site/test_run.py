"""`manage.py run` in a checkout of its own: the servers it accepts, and what is left when it is ended early."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from potato_site.devservices import servers
from potato_site.devservices.locations import find_locations
from potato_site.devservices.processes import listener
from tests.potato_site.developers import CHECKOUT, Developer
from tests.stories.reviewing import is_ready, saved

NOT_COPIED = shutil.ignore_patterns(".*", "node_modules", "__pycache__", "build", "tests", "docs")
SECONDS = 120

Run = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """One that the servers' user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="potato-test-", dir="/var/tmp" if os.geteuid() == 0 else "/tmp"))  # noqa: S108
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def checkout(folder: Path) -> Iterator[Path]:
    checkout = folder / "checkout"
    shutil.copytree(CHECKOUT, checkout, ignore=NOT_COPIED)
    yield checkout
    stop_servers(checkout)
    shutil.rmtree(find_locations("development", checkout=checkout).base, ignore_errors=True)


@pytest.fixture(scope="module")
def elsewhere(folder: Path) -> Iterator[tuple[str, str]]:
    """Servers that somebody else runs: the administrator's address of a database, and a broker's."""
    place = folder / "elsewhere"
    place.mkdir(mode=0o755)
    developer = Developer(place, "auto")
    database, _, broker = developer.addresses()
    yield database.replace("potato_app@/potato", "postgres@/potato"), broker
    developer.leave()


@pytest.fixture
def run(checkout: Path) -> Iterator[Run]:
    """Starts `manage.py run`, no server running, with nothing of this environment but what is named."""
    stop_servers(checkout)
    begun: list[subprocess.Popen[str]] = []

    def begin(*, ignoring: signal.Signals | None = None, **environment: str) -> "subprocess.Popen[str]":
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]

        def take_signals() -> None:
            # Whatever who runs the tests ignores, as nohup does.
            for number in (signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN if number == ignoring else signal.SIG_DFL)

        begun.append(
            subprocess.Popen(
                [sys.executable, "manage.py", "run"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                cwd=checkout,
                start_new_session=True,
                preexec_fn=take_signals,
                env={"PATH": os.environ["PATH"], "PORT": str(port), **environment},
            )
        )
        return begun[-1]

    yield begin
    for process in begun:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=SECONDS)


def output_until(process: "subprocess.Popen[str]", words: str) -> str:
    """What it said up to the line with these words; without such a line, all that it said until its end."""
    assert process.stdout
    output = ""
    for line in process.stdout:
        output += line
        if words in line:
            break
    return output


def stop_servers(checkout: Path) -> None:
    locations = find_locations("development", checkout=checkout)
    for sockets in locations.sockets.glob("*"):
        servers.stop(sockets)


def running_servers(checkout: Path) -> list[Path]:
    sockets = find_locations("development", checkout=checkout).sockets
    found = [*sockets.glob("postgresql-*/.s.PGSQL.5432"), *sockets.glob("*/server.sock")]
    return [path for path in found if listener(path)]


@pytest.mark.browser
def test_the_demo_is_reviewed_with_the_files_as_they_are_served(run: Run, chromium: Browser) -> None:
    """Other stories read the scripts as they were written, and not hashed and shortened as people get them."""
    process = run()
    output = output_until(process, "READY")
    [address] = re.findall("READY (http://.*)", output) or [output]
    errors: list[str] = []
    page = chromium.new_context(base_url=address, viewport={"width": 1440, "height": 1000}).new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto("/accounts/login/")
    page.get_by_label("User name or email").fill("annotator")
    page.get_by_label("Password", exact=True).fill("potato-demo")
    page.get_by_role("button", name="Sign in").click()
    page.goto("/o/demo/")
    page.get_by_role("button", name="Next task").first.click()
    is_ready(page)
    page.locator("tr.is-add button[data-side=new]").first.click()
    form = page.locator(".cform")
    form.get_by_role("radio").first.check(force=True)
    form.get_by_label("Comment", exact=True).fill("An empty list ends here.")
    form.get_by_role("button", name="Save comment").click()
    expect(page.locator(".comment")).to_contain_text("An empty list ends here.")
    for file in page.locator(".rate").all():
        file.scroll_into_view_if_needed()
        expect(file.locator(".rating__opt").first).to_be_visible()
        for rating in file.locator("fieldset.rating").all():
            rating.get_by_role("radio").first.check(force=True)
    page.locator(".vopt input").first.check(force=True)
    page.get_by_label("Summary").fill("The change does what it should, but for the empty list.")
    saved(page)
    page.reload()
    is_ready(page)
    expect(page.locator(".comment")).to_contain_text("An empty list ends here.")
    submit = page.get_by_role("button", name="Submit review")
    expect(submit).not_to_have_attribute("aria-disabled", "true")
    submit.click()
    expect(page.get_by_role("dialog", name="Submitted")).to_be_visible()
    assert errors == []
    page.context.close()


def test_an_administrators_address_is_enough_each_time(run: Run, elsewhere: tuple[str, str]) -> None:
    database, broker = elsewhere
    for others in ({}, {"BROKER_URL": broker}):
        process = run(DATABASE_URL=database, **others)
        output = output_until(process, "READY")
        assert "READY" in output, output
        process.terminate()
        assert process.wait(timeout=SECONDS) == 0


@pytest.mark.parametrize(
    ("address", "error_output"),
    [
        ("redis://127.0.0.1:1/0", "Connection refused"),
        ("redis://127.0.0.1:port/0", "port"),
        ("potatoes", "redis://host:6379/0"),
        ("memory://", "redis://host:6379/0"),
    ],
)
def test_a_broker_that_cannot_be_used_is_refused_before_ready(
    run: Run, elsewhere: tuple[str, str], address: str, error_output: str
) -> None:
    process = run(DATABASE_URL=elsewhere[0], BROKER_URL=address)
    output = output_until(process, "READY")
    assert process.wait(timeout=SECONDS) == 1, output
    assert "READY" not in output
    assert "Traceback" not in output
    [sentence] = [line for line in output.splitlines() if "BROKER_URL" in line]
    assert error_output in sentence
    assert "unset BROKER_URL" in sentence


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_servers_start_leaves_none_of_them(run: Run, checkout: Path, number: signal.Signals) -> None:
    process = run()
    assert "started PostgreSQL" in output_until(process, "started PostgreSQL")
    os.killpg(process.pid, number)
    output, _ = process.communicate(timeout=SECONDS)
    assert "Traceback" not in output
    assert process.returncode == 128 + number, output
    assert running_servers(checkout) == []


def test_a_terminal_that_closes_while_it_migrates_leaves_no_server(run: Run, checkout: Path) -> None:
    process = run()
    assert "migrating" in output_until(process, "migrating")
    os.killpg(process.pid, signal.SIGHUP)
    output, _ = process.communicate(timeout=SECONDS)
    assert "Traceback" not in output
    assert process.returncode == 128 + signal.SIGHUP, output
    assert running_servers(checkout) == []


def test_a_script_that_runs_it_in_the_background_can_interrupt_it_early(run: Run, checkout: Path) -> None:
    """A shell without job control starts background programs with SIGINT ignored."""
    process = run(ignoring=signal.SIGINT)
    assert "started PostgreSQL" in output_until(process, "started PostgreSQL")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 128 + signal.SIGINT, output
    assert running_servers(checkout) == []


def test_under_nohup_it_outlives_its_terminal(run: Run, checkout: Path) -> None:
    process = run(ignoring=signal.SIGHUP)
    assert "started PostgreSQL" in output_until(process, "started PostgreSQL")
    process.send_signal(signal.SIGHUP)
    assert "READY" in output_until(process, "READY")
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=1)
    process.terminate()
    assert process.wait(timeout=SECONDS) == 0
    assert running_servers(checkout) == []
