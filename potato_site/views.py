"""The site's own answers: error pages and the browser's reports of the content security policy."""

import json
import sys

import structlog
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from redis import RedisError

from tenancy.permissions import public

log = structlog.get_logger(__name__)

_REPORT_BYTES = 8_192


@public
@csrf_exempt
@require_POST
def csp_report(request: HttpRequest) -> HttpResponse:
    """Log what the browser refused to load or run. Browsers send these without a session's consent."""
    body = request.read(_REPORT_BYTES)
    try:
        report = json.loads(body, parse_constant=_refused)
    except (ValueError, RecursionError):
        return HttpResponse(status=400)
    log.warning("csp.report", report=report)
    return HttpResponse(status=204)


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _error_page(request, 400)


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _error_page(request, 403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _error_page(request, 404)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403_csrf.html", _facts(), status=403)


def server_error(request: HttpRequest) -> HttpResponse:
    """Without the request: its session, its user and its transaction may be what failed.

    A database, broker or cache that cannot be reached is an outage, which passes: 503, and when to try again.
    """
    if isinstance(sys.exc_info()[1], OperationalError | RedisError):
        page = render_to_string("503.html", _facts())
        return HttpResponse(page, status=503, headers={"Retry-After": "10"})
    return HttpResponse(render_to_string("500.html", _facts()), status=500)


def _error_page(request: HttpRequest, status: int) -> HttpResponse:
    return render(request, f"{status}.html", _facts(), status=status)


def _facts() -> dict[str, str]:
    return {"request_id": structlog.contextvars.get_contextvars().get("request_id", "")}
