"""Sessions in the database, as Django keeps them. Each request asks for one."""

from datetime import datetime

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from tenancy.prepared import prepared


@prepared
def _living(key: str, now: datetime) -> QuerySet[Session]:
    return Session.objects.filter(session_key=key, expire_date__gt=now)


class SessionStore(DatabaseStore):
    def _get_session_from_db(self) -> Session | None:
        session = _living.first(self.session_key or "", timezone.now())
        if session is None:
            self._session_key = None
        return session
