"""Whose a session is: read with the session itself, and verified as Django does."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.middleware import SessionMiddleware
from django.db import connection
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from accounts.login import AuthenticationBackend
from accounts.models import User
from accounts.models.sessions import Session
from accounts.sessions import AuthenticationMiddleware, SessionStore
from tests.tenants import Tenants

HOME = "/o/acme/"


@pytest.fixture
def browser(tenants: Tenants) -> Client:
    client = Client()
    client.force_login(tenants.bob)
    return client


@contextmanager
def statements() -> Iterator[list[str]]:
    found: list[str] = []
    with CaptureQueriesContext(connection) as captured:
        yield found
    found += [query["sql"] for query in captured.captured_queries]


def test_the_person_comes_with_the_session(browser: Client) -> None:
    browser.get(HOME)
    with statements() as sent:
        assert browser.get(HOME).status_code == 200
    assert [sql for sql in sent if 'FROM "accounts_session"' in sql and "accounts_user" in sql]
    assert not [sql for sql in sent if sql.startswith("SELECT") and 'FROM "accounts_user" WHERE' in sql], sent


def test_a_person_who_is_switched_off_or_has_another_password_is_out_at_the_next_request(
    tenants: Tenants, browser: Client
) -> None:
    assert browser.get(HOME).status_code == 200
    User.objects.filter(pk=tenants.bob.pk).update(is_active=False)
    assert browser.get(HOME).status_code == 302
    User.objects.filter(pk=tenants.bob.pk).update(is_active=True)
    again = Client()
    again.force_login(tenants.bob)
    tenants.bob.set_password("another one")
    tenants.bob.save()
    assert again.get(HOME).status_code == 302


def test_the_account_of_a_row_opens_nothing_for_whom_the_session_does_not_name(
    tenants: Tenants, browser: Client, rf: RequestFactory
) -> None:
    """What a session says is signed; the row beside it only saves a look for the same person."""
    Session.objects.filter(session_key=browser.session.session_key).update(account=tenants.alice)
    request = rf.get(HOME)
    request.COOKIES = {settings.SESSION_COOKIE_NAME: str(browser.session.session_key)}
    SessionMiddleware(lambda _: HttpResponse()).process_request(request)
    AuthenticationMiddleware(lambda _: HttpResponse()).process_request(request)
    assert request.session[SESSION_KEY] == str(tenants.bob.pk)
    assert isinstance(request.session, SessionStore)
    assert request.session.account == tenants.alice
    assert request.user == tenants.bob
    # Nothing of it is left for whoever asks next.
    with statements() as sent:
        assert AuthenticationBackend().get_user(tenants.alice.pk) == tenants.alice
    assert len(sent) == 1
