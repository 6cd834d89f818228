"""A real Chromium on the running site. Every page is watched: what its security policy refuses fails the test."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page
from playwright.sync_api import Error as PageError
from playwright.sync_api import TimeoutError as PageTimeout
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from tests.stories.accessibility import Accessibility
from tests.tenants import PASSWORD, Tenants, build_tenants

accessibility = Accessibility()

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
    in_both_themes: bool = False

    def open(self, path: str) -> None:
        self.page.goto(self.address + path)

    def sign_in(self, username: str) -> None:
        """Go on as somebody who signed in before; no page has been opened yet."""
        client = Client()
        client.force_login(User.objects.get(username=username))
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        self.page.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": self.address}])

    def sign_in_by_form(self, username: str) -> None:
        self.open("/accounts/login/")
        self.page.get_by_label("User name or email").fill(username)
        self.page.get_by_label("Password", exact=True).fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(re.compile(rf"{self.address}/(o/[a-z-]+/)?$"))

    def reports(self) -> list[str]:
        """What the policy of the page refused."""
        reports: list[str] = self._read_last_page(lambda: self.page.evaluate("window.__reports"))
        return reports

    def violations(self) -> list[str]:
        """What axe finds wrong for people who see, hear or type differently, as rule and place."""
        violations = self._violations()
        if self.in_both_themes:
            self.page.emulate_media(color_scheme="dark")
            violations += [f"dark {violation}" for violation in self._violations(colours_alone=True)]
            self.page.emulate_media(color_scheme="light")
        return violations

    def _violations(self, *, colours_alone: bool = False) -> list[str]:
        rules = self._read_last_page(lambda: accessibility.violations(self.page, colours_alone=colours_alone))
        return [f"{rule['id']}: {node['target']}" for rule in rules for node in rule["nodes"]]

    def _read_last_page(self, read: Callable[[], Any]) -> Any:
        """What `read` reads of one whole page. A click's next page may come meanwhile: then it reads that one."""
        while True:
            self.page.wait_for_load_state()
            began = None
            try:
                began = self.page.evaluate("performance.timeOrigin")
                result = read()
                if self.page.evaluate("performance.timeOrigin") == began:
                    return result
            except PageError as error:
                try:
                    self.page.wait_for_function("(began) => performance.timeOrigin !== began", arg=began, timeout=5_000)
                except PageTimeout:
                    raise error from None

    def assert_clean(self, where: str = "") -> None:
        assert self.reports() == [], where
        assert self.errors == [], where
        assert self.violations() == [], where


@pytest.fixture
def tenants_of_browsers(transactional_db: None) -> Tenants:
    return build_tenants()


@pytest.fixture
def reader(chromium: Browser, live_server: LiveServer) -> Iterator[Reader]:
    yield from reader_at(chromium, live_server.url)


@pytest.fixture
def themed_reader(chromium: Browser, live_server: LiveServer) -> Iterator[Reader]:
    """One whose pages must be clean in the dark as well."""
    yield from reader_at(chromium, live_server.url, in_both_themes=True)


@pytest.fixture
def phone(chromium: Browser, live_server: LiveServer) -> Iterator[Reader]:
    """One with a narrow screen that is touched."""
    yield from reader_at(chromium, live_server.url, viewport={"width": 390, "height": 844}, has_touch=True)


def reader_at(chromium: Browser, address: str, *, in_both_themes: bool = False, **screen: Any) -> Iterator[Reader]:
    """Somebody at a browser on the site at that address."""
    with chromium.new_context(**{"viewport": {"width": 1440, "height": 1000}, **screen}) as context:
        context.add_init_script(WATCH)
        context.set_default_timeout(8_000)
        page = context.new_page()
        errors: list[str] = []
        failures: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("requestfailed", lambda request: failures.append(request.url))
        yield Reader(page, address, errors, failures, in_both_themes)
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
