"""Times on the clocks of who reads them. The browser says its zone in a cookie, which static/js/theme.js writes; until
it has, times are in UTC and say so.
"""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

COOKIE = "zone"


class ReaderZoneMiddleware:
    """Activates the zone for the request. An unknown name is as none, and the API is in UTC."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        name = _names().get(request.COOKIES.get(COOKIE, ""))
        if name is None or "/api/" in request.path:
            return self._get_response(request)
        with timezone.override(_zone(name)):
            return self._get_response(request)


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    """The zones by their names in cookies. Once a process: it reads 600 files, which takes 20 ms."""
    return {name.replace("/", "."): name for name in available_timezones()}


@lru_cache(maxsize=100)
def _zone(name: str) -> ZoneInfo:
    # Not the object that the site itself has: UTC that a browser said is told from UTC for want of a zone.
    return ZoneInfo.no_cache(name)


def moment_text(at: datetime, form: str = "%-d %b %Y, %H:%M") -> str:
    """The moment as all pages show it: "23 Nov 2026, 14:31", with "UTC" where that is not the reader's own zone."""
    return f"{timezone.localtime(at):{form}}{'' if zone_is_known() else ' UTC'}"


def zone_is_known() -> bool:
    """Whether the reader's browser has said its zone."""
    return timezone.get_current_timezone() is not timezone.get_default_timezone()
