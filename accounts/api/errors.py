"""Every refusal as JSON: `code` for programs, `detail` for people, and what else the refusal knows. The one handler."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.http import Http404
from rest_framework.exceptions import APIException
from rest_framework.response import Response

from accounts.api.problems import media_type, problem
from potato.configuration import UnreadablePinError
from potato.schemes.answers import Gap, Incomplete
from tenancy.errors import Frozen, HoldsNul, Refused, frozen_by, refuses_nul
from tenancy.permissions import ScopeMissing

GAPS_TOLD = 500


class Throttled(Refused):
    code = "throttled"
    status = 429

    def __init__(self, who: str, seconds: int) -> None:
        super().__init__(f"{who} asks faster than the site answers. Wait {seconds} s, then go on with pauses.")
        self.retry_after = seconds


def answer_to(error: Exception, context: dict[str, Any]) -> Response | None:
    """The answer to an expected failure; None for an error of the site, which Django reports.

    What the request had stored until then is taken back, as after any view that raised.
    """
    answer = _answer(error)
    if answer is not None:
        request = context["request"]._request
        request.failed = True  # for TenancyMiddleware, which owns the transaction
        answer.data = problem(request, answer.status_code, **answer.data)
        answer.content_type = media_type(request)
    return answer


def _answer(error: Exception) -> Response | None:
    match error:
        case DatabaseError() if frozen_by(error):
            return _answer(Frozen())
        case DatabaseError() if refuses_nul(error):
            return _answer(HoldsNul())
        case Refused():
            response = _response(error.status, error.code, error.sentence, **_facts(error.facts()))
            if error.retry_after is not None:
                response["Retry-After"] = str(error.retry_after)
            return response
        case Incomplete():
            sentence = "The annotation cannot be submitted yet. `gaps` says what is missing or not allowed, and where."
            return _response(422, error.code, sentence, **_facts({"gaps": error.gaps}))
        case UnreadablePinError():
            return _response(409, error.code, error.sentence)
        case Http404():
            return _response(404, "not_found", "There is nothing here that you may see.")
        case ScopeMissing():
            return _response(403, "scope_needed", str(error))
        case PermissionDenied():
            return _response(403, "permission_denied", str(error) or "Your role does not allow this.")
        case APIException(detail=detail) if isinstance(detail, str):
            response = _response(error.status_code, detail.code, str(detail))
            if header := getattr(error, "auth_header", None):
                response["WWW-Authenticate"] = header
            return response
    return None


def _response(status_code: int, code: str | None, detail: str, **facts: Any) -> Response:
    return Response({"code": code or "refused", "detail": detail, **facts}, status=status_code)


def _facts(facts: dict[str, Any]) -> dict[str, Any]:
    """Gaps become plain JSON, so many that a page can show them; `gaps_in_all` counts the rest as well."""
    gaps = facts.get("gaps")
    if gaps is None:
        return facts
    return {**facts, "gaps": [gap_record(gap) for gap in gaps[:GAPS_TOLD]], "gaps_in_all": len(gaps)}


def gap_record(gap: Gap) -> dict[str, Any]:
    """A gap as JSON. Of `place`, only what applies."""
    place = {name: value for name in gap.place.__slots__ if (value := getattr(gap.place, name)) is not None}
    return {"path": gap.path, "code": gap.code, "sentence": gap.sentence, "kind": gap.kind, "place": place}
