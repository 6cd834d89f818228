"""Sessions in the database, as Django keeps them, with whose each one is. Each request asks for one."""

import re
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.middleware import AuthenticationMiddleware as DjangoAuthenticationMiddleware
from django.contrib.auth.middleware import get_user
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.functional import SimpleLazyObject

from accounts.models.people import User
from accounts.models.sessions import Session
from tenancy.prepared import prepared

_SEEN_EVERY = timedelta(minutes=5)
_BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
_SYSTEMS = (("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"), ("Mac OS", "macOS"),
            ("CrOS", "ChromeOS"), ("Linux", "Linux"))  # fmt: skip


@prepared
def _living(key: str, now: datetime) -> QuerySet[Session]:
    rows = Session.objects.filter(session_key=key, expire_date__gt=now)
    return rows.select_related("account").only("session_data", "account", "seen_at")


class SessionStore(DatabaseStore):
    account: User | None = None
    """Whose the row of the session was when it was read."""

    @classmethod
    def get_model_class(cls) -> Any:
        return Session

    def create_model_instance(self, data: Mapping[str, Any]) -> Any:
        row: Session = super().create_model_instance(dict(data))  # type: ignore[assignment]  # get_model_class says so
        account = data.get(SESSION_KEY)
        row.account_id = UUID(account) if account else None
        row.device = data.get("device", "")
        row.began_at = parse_datetime(data["began"]) if "began" in data else None
        row.seen_at = timezone.now()
        return row

    def _get_session_from_db(self) -> Session | None:
        session = _living.first(self.session_key or "", timezone.now())
        self.account = session.account if session else None
        if session is None:
            self._session_key = None
        elif session.account_id and (session.seen_at is None or session.seen_at < timezone.now() - _SEEN_EVERY):
            # Another request of the same browser may be noting it just now: nobody waits for that.
            row = Session.objects.filter(pk=session.pk).select_for_update(skip_locked=True)
            Session.objects.filter(pk__in=row.values("pk")).update(seen_at=timezone.now())
        return session


_reading: ContextVar[SessionStore | None] = ContextVar("reading", default=None)


class AuthenticationMiddleware(DjangoAuthenticationMiddleware):
    """As Django's, with all that it verifies; the person has come with the row of the session.

    Asked for by a statement of its own, the person was 0.3 of the 6 million instructions of a draft that is saved, and
    a journey to the database of each request (`bench/bench_annotator_loop.py`).
    """

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: _person_of(request))  # type: ignore[assignment]  # as Django's own


def _person_of(request: HttpRequest) -> AbstractBaseUser | AnonymousUser:
    before = _reading.set(request.session)  # type: ignore[arg-type]  # SESSION_ENGINE is this module
    try:
        return get_user(request)
    finally:
        _reading.reset(before)


def account_of_session(id: UUID) -> User | None:
    """The account, where it came with the session whose person Django is just looking for. For the backend alone."""
    session = _reading.get()
    account = session.account if session is not None else None
    return account if account is not None and account.pk == id else None


def note_beginning(sender: Any, request: HttpRequest, user: User, **more: Any) -> None:
    """Receiver of user_logged_in: what the person recognises the session by."""
    if hasattr(request, "session"):
        request.session["device"] = device_in(request.headers.get("User-Agent", ""))
        request.session["began"] = timezone.now().isoformat()


def device_in(agent: str) -> str:
    """A browser in words, as in "Firefox on Linux". What says nothing of the two is a program."""
    browser = next((name for mark, name in _BROWSERS if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or re.sub(r"[^\w./ -]", "", agent)[:40].strip() or "unknown"


def live_sessions(user: User) -> "QuerySet[Session]":
    """The person's sessions that have not ended, the newest first."""
    return Session.objects.filter(account=user, expire_date__gt=timezone.now()).order_by("-began_at", "session_key")


def end_session(user: User, name: str) -> bool:
    """Sign the person out where the session of that name is; False where it has ended already."""
    key = next((row.session_key for row in live_sessions(user) if row.name == name), "")
    return Session.objects.filter(session_key=key).delete()[0] > 0


def end_sessions(user: User, *, but: str = "") -> int:
    """Sign the person out everywhere, except in the session of that key; returns how many sessions ended."""
    return live_sessions(user).exclude(session_key=but).delete()[0]
