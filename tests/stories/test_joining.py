"""An admin invites two people: one sets a password, the other signs in, and both land in the organisation."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.core.cache import cache
from playwright.sync_api import Browser, expect

from accounts.models import AuditEvent, Membership, User
from tenancy.actor import acting_in
from tests.stories.conftest import WATCH, Reader
from tests.tenants import PASSWORD, Tenants

pytestmark = pytest.mark.browser

NEW_PASSWORD = "a quiet place 77"


@pytest.fixture(autouse=True)
def no_tries_yet() -> None:
    cache.clear()


@contextmanager
def fresh_browser(chromium: Browser, admin: Reader, *, width: int = 1440) -> Iterator[Reader]:
    """Somebody else's browser: no cookies, no choices, watched like the admin's."""
    with chromium.new_context(viewport={"width": width, "height": 1000}) as context:
        context.add_init_script(WATCH)
        context.set_default_timeout(8_000)
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield Reader(page, admin.address, errors, [], admin.in_both_themes)


def invite(admin: Reader, email: str, name: str) -> str:
    """Invite from the list of people, copy the link with the button, and return what was copied."""
    admin.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    admin.open("/o/acme/admin/accounts/membership/")
    admin.assert_clean("people")
    admin.page.get_by_role("link", name="Invite", exact=True).click()
    admin.page.get_by_label("Email address").fill(email)
    admin.page.get_by_label("Annotator name").fill(name)
    admin.assert_clean("invite")
    admin.page.get_by_role("button", name="Make the link").click()
    admin.page.get_by_role("button", name="Copy").click()
    expect(admin.page.get_by_text("Copied.")).to_be_visible()
    admin.assert_clean("link")
    copied: str = admin.page.evaluate("navigator.clipboard.readText()")
    assert copied == admin.page.get_by_label("Link", exact=True).input_value()
    return copied


def test_one_sets_a_password_another_signs_in(
    tenants_of_browsers: Tenants, themed_reader: Reader, chromium: Browser
) -> None:
    tenants, admin = tenants_of_browsers, themed_reader
    admin.sign_in("dora")
    for_rosa = invite(admin, "rosa@example.org", "rosa")
    for_charlie = invite(admin, "charlie@work.example", "c-17")

    with fresh_browser(chromium, admin) as rosa:
        rosa.page.goto(for_rosa)
        expect(rosa.page.get_by_role("heading", level=1, name="Join Acme Research")).to_be_visible()
        rosa.assert_clean("join")
        rosa.page.get_by_label("Password", exact=True).fill(NEW_PASSWORD)
        rosa.page.get_by_label("Password again").fill("something else")
        rosa.page.get_by_role("button", name="Set password and join").click()
        expect(rosa.page.get_by_text("The two passwords differ.")).to_be_visible()
        rosa.assert_clean("join, refused")
        rosa.page.get_by_label("Password", exact=True).fill(NEW_PASSWORD)
        rosa.page.get_by_label("Password again").fill(NEW_PASSWORD)
        rosa.page.get_by_role("button", name="Set password and join").click()
        rosa.page.wait_for_url(f"{admin.address}/o/acme/")
        expect(rosa.page.get_by_text("You belong to Acme Research now.")).to_be_visible()
        rosa.assert_clean("organisation")

    with fresh_browser(chromium, admin, width=768) as charlie:
        charlie.page.goto(for_rosa)
        expect(charlie.page.get_by_role("heading", name="This invitation is not open")).to_be_visible()
        charlie.assert_clean("a used link")
        charlie.page.goto(for_charlie)
        charlie.assert_clean("join, narrow")
        charlie.page.get_by_label("User name or email").fill("charlie")
        charlie.page.get_by_label("Password of that account").fill(PASSWORD)
        charlie.page.get_by_role("button", name="Sign in and join").click()
        charlie.page.wait_for_url(f"{admin.address}/o/acme/")
        charlie.open("/")
        expect(charlie.page.get_by_text("Birch Labs")).to_be_visible()
        expect(charlie.page.get_by_text("Acme Research")).to_be_visible()

    with acting_in(tenants.acme):
        names = dict(Membership.objects.values_list("annotator_name", "user__email"))
        assert (names["rosa"], names["c-17"]) == ("rosa@example.org", "charlie@example.org")
        assert AuditEvent.objects.filter(verb="invitation.accepted").count() == 2


def test_a_person_who_is_signed_in_joins_with_one_click(
    tenants_of_browsers: Tenants, reader: Reader, chromium: Browser
) -> None:
    reader.sign_in("dora")
    link = invite(reader, "charlie@example.org", "c-17")
    with fresh_browser(chromium, reader) as charlie:
        charlie.sign_in("charlie")
        charlie.page.goto(link)
        charlie.assert_clean("one click")
        charlie.page.get_by_role("button", name="Join as charlie").click()
        charlie.page.wait_for_url(f"{reader.address}/o/acme/")
    assert User.objects.filter(email="charlie@example.org").count() == 1


def test_an_admin_replaces_a_link_and_revokes_it(
    tenants_of_browsers: Tenants, reader: Reader, chromium: Browser
) -> None:
    reader.sign_in("dora")
    first = invite(reader, "rosa@example.org", "rosa")
    reader.page.get_by_role("link", name="Open invitations").first.click()
    reader.assert_clean("open invitations")
    reader.page.get_by_role("button", name="New link for rosa@example.org").click()
    second = reader.page.get_by_label("Link", exact=True).input_value()
    with fresh_browser(chromium, reader) as rosa:
        rosa.page.goto(first)
        expect(rosa.page.get_by_role("heading", name="This invitation is not open")).to_be_visible()
        rosa.page.goto(second)
        expect(rosa.page.get_by_role("heading", name="Set a password")).to_be_visible()
        reader.open("/o/acme/admin/accounts/invitation/")
        reader.page.get_by_role("button", name="Revoke the invitation of rosa@example.org").click()
        expect(reader.page.get_by_text(re.compile("rosa@example.org is revoked"))).to_be_visible()
        reader.assert_clean("no open invitations")
        rosa.page.reload()
        expect(rosa.page.get_by_role("heading", name="This invitation is not open")).to_be_visible()
