"""A real Chromium on the running site. Every page is watched: what its security policy refuses fails the test."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.core.signals import request_finished, request_started
from playwright.sync_api import Browser, BrowserContext, Page
from pytest_django.live_server_helper import LiveServer

from tests.worlds import PASSWORD, World, build_world

# The rules of WCAG 2.0 to 2.2, A and AA.
AXE_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}

# Requests that the site of the stories answers now.
_answering: list[object] = []


def _begin(**_: object) -> None:
    _answering.append(object())


def _end(**_: object) -> None:
    if _answering:
        _answering.pop()


request_started.connect(_begin)
request_finished.connect(_end)

WATCH = """
window.__reports = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.__reports.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
"""


@dataclass
class Reader:
    """A person at a browser. `reports` are what the page's policy refused; `errors` what its scripts threw."""

    page: Page
    address: str
    errors: list[str]
    failures: list[str]

    def open(self, path: str) -> None:
        self.page.goto(self.address + path)

    def sign_in(self, username: str) -> None:
        self.open("/accounts/login/")
        self.page.get_by_label("User name or email").fill(username)
        self.page.get_by_label("Password", exact=True).fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(self.address + "/")

    def reports(self) -> list[str]:
        found: list[str] = self.page.evaluate("window.__reports")
        return found

    def violations(self) -> list[str]:
        """What axe finds wrong for people who see, hear or type differently, as rule and place."""
        results: dict[str, Any] = Axe().run(self.page, options=AXE_RULES).response
        return [
            f"{violation['id']}: {node['target']}" for violation in results["violations"] for node in violation["nodes"]
        ]

    def assert_clean(self, where: str = "") -> None:
        assert self.reports() == [], where
        assert self.errors == [], where
        assert self.violations() == [], where


@pytest.fixture
def world_of_browsers(transactional_db: None) -> World:
    return build_world()


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _context(chromium: Browser, theme: str) -> BrowserContext:
    context = chromium.new_context(viewport={"width": 1440, "height": 1000}, color_scheme=theme)  # type: ignore[arg-type]
    context.add_init_script(WATCH)
    context.set_default_timeout(8_000)
    return context


@pytest.fixture
def reader(chromium: Browser, live_server: LiveServer) -> Iterator[Reader]:
    yield from _reader(chromium, live_server, "light")


@pytest.fixture
def themed_reader(chromium: Browser, live_server: LiveServer, theme: str) -> Iterator[Reader]:
    yield from _reader(chromium, live_server, theme)


def _reader(chromium: Browser, live_server: LiveServer, theme: str) -> Iterator[Reader]:
    with _context(chromium, theme) as context:
        page = context.new_page()
        errors: list[str] = []
        failures: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("requestfailed", lambda request: failures.append(request.url))
        yield Reader(page, live_server.url, errors, failures)
        _leave(context)


def _leave(context: BrowserContext) -> None:
    """Close the pages, and let the site answer what they send at the last moment: the next story empties its tables."""
    for page in context.pages:
        page.close()
    quiet_since = time.monotonic()
    until = quiet_since + 5
    while (now := time.monotonic()) < until and now < quiet_since + 0.2:
        if _answering:
            quiet_since = now
        time.sleep(0.02)
