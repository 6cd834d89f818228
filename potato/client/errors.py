"""What goes wrong between a program and a site, as classes made from the site's problem details (RFC 9457)."""
# ruff: noqa: N818  (named for what happened, as Python's own TimeoutExpired)

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any


class PotatoError(Exception):
    """Whatever this client raises of its own; its text is a sentence for people."""


class NotConfigured(PotatoError):
    """It is not known which site to ask, or with which token."""


class NoAnswer(PotatoError):
    """The site could not be reached, or broke off, as often as it was tried. What was asked for may have been done."""


class Unfinished(PotatoError):
    """What the site does in the background was not over within the time that was given for it; it goes on there."""


class JobFailed(PotatoError):
    """What the site did in the background failed or was cancelled; the text says why."""


class NothingToSend(PotatoError):
    """There is no file at the paths that were named."""


class WrongFile(PotatoError):
    """A downloaded file has not the SHA-256 that the site says; it was removed."""


@dataclass(frozen=True)
class Fault:
    """What is wrong at one place of a request's body or parameters."""

    path: tuple[str | int, ...]
    code: str
    sentence: str


class Refused(PotatoError):
    """The site answered with an error. `code` is for programs and `detail` for people; `facts` is all that it said,
    among it `gaps` of an annotation, `problems` and `losses` of a configuration. docs/api.md lists the codes."""

    def __init__(self, asked: str, status: int, facts: Mapping[str, Any], retry_after: float | None = None) -> None:
        self.asked, self.status, self.facts, self.retry_after = asked, status, dict(facts), retry_after
        self.code = str(facts.get("code") or "")
        self.detail = str(facts.get("detail") or f"The site answered {status} and said no more.")
        super().__init__(self.detail)

    @property
    def faults(self) -> list[Fault]:
        """Of a body or parameters that were not taken: every fault with its place."""
        return [
            Fault(tuple(fault["path"]), fault["code"], fault["sentence"]) for fault in self.facts.get("errors") or ()
        ]


class InvalidRequest(Refused):
    """400, 405, 411, 413, 415: the request itself is at fault; `faults` says where."""


class NotAuthenticated(Refused):
    """401: there is no such token, or it has ended."""


class NotAllowed(Refused):
    """403: the member or the token may not do this."""


class ScopeNeeded(NotAllowed):
    """403 `scope_needed`: the token was not made for this."""


class NotFound(Refused):
    """404, 410: it is not there, not any more, or not for you."""


class Conflict(Refused):
    """409: it does not go with what is there now."""


class NotAcceptable(Refused):
    """422: what was sent can be read and not be taken; `facts` has the `gaps` or `problems`."""


class TooManyRequests(Refused):
    """429: wait as many seconds as `retry_after` says. The client waits by itself up to its `longest_pause`."""


class SiteFailed(Refused):
    """500 and above."""


_BY_STATUS: dict[int, type[Refused]] = {
    401: NotAuthenticated,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    410: NotFound,
    422: NotAcceptable,
    429: TooManyRequests,
}


def refusal(asked: str, status: int, headers: Mapping[str, str], content: bytes) -> Refused:
    """The error that an answer is, whoever made it: an answer of a proxy may be no JSON. `asked` is the request as
    people name it."""
    try:
        facts = json.loads(content)
    except ValueError:
        facts = {}
    if not isinstance(facts, dict):
        facts = {}
    kind = SiteFailed if status >= 500 else _BY_STATUS.get(status, InvalidRequest)
    if facts.get("code") == "scope_needed":
        kind = ScopeNeeded
    return kind(asked, status, facts, retry_after(headers))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a Retry-After says, from a number or a date; None without one."""
    told = headers.get("retry-after", "").strip()
    if told.isdigit():
        return float(told)
    try:
        moment = parsedate_to_datetime(told)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
