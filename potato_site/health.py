"""Answers /healthz (the process lives) and /readyz (it can reach its database and broker) before anything else.

They stand in front of host checks, sessions and transactions, so that a probe works while the rest does not.
"""

from collections.abc import Callable

import redis
from django.conf import settings
from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from kombu.exceptions import OperationalError as BrokerError

from potato_site.celery import app


class HealthMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info == "/healthz":
            return HttpResponse("ok\n", content_type="text/plain")
        if request.path_info == "/readyz":
            return _readiness()
        return self.get_response(request)


def _readiness() -> JsonResponse:
    found = {"database": _database_answers(), "broker": _broker_answers()}
    return JsonResponse(found, status=200 if all(found.values()) else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except OperationalError:
        return False
    finally:
        connection.close()
    return True


def _broker_answers() -> bool:
    if settings.BROKER_URL.startswith("memory://"):
        return True
    try:
        with app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, timeout=2)
    except (BrokerError, redis.RedisError, OSError, ValueError):
        return False
    return True
