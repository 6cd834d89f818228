"""`Idempotency-Key`: a request that comes again, because its answer was lost, is answered as it was the first time and
does nothing more.

The key is written down in the transaction of its request. So it is there exactly if what the request did is there, and
the same request beside it waits for that.
"""

import json
import re
import zlib
from hashlib import sha256
from typing import Any, NoReturn
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.exact_json import dumps
from accounts.models.idempotency import IdempotencyKey
from tenancy.actor import Actor, acting
from tenancy.errors import KeyReused, Refused
from tenancy.prepared import insert, prepared_update

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
LARGEST_KEPT = 256 * 1024
"""Bytes of an answer, packed; a larger one is not kept."""
_KEY = re.compile(r"[!-~]{1,100}")
_REMOVED_AT_ONCE = 1_000


class AnswerNotKept(Refused):
    """The request was done, and its answer held a secret or was large."""

    code = "answer_not_kept"
    status = 409

    def __init__(self, location: str) -> None:
        super().__init__(
            "This request was done before, and its answer is not kept: it held a secret, or was very large. Look at "
            "what there is; what has a secret that you never read is removed and made again, under a new key."
        )
        self.location = location

    def facts(self) -> dict[str, Any]:
        return {"location": self.location} if self.location else {}


class Replayed(Exception):  # noqa: N818  (an answer, and no error)
    """The request was done before; `answer` is what was said then."""

    def __init__(self, answer: Response) -> None:
        super().__init__()
        self.answer = answer


def key_of(request: Request, *, what: str = "request") -> str:
    """The key that the request comes with. Raises ParseError for none, and for what is no key."""
    key: str = request.headers.get(HEADER, "")
    if not _KEY.fullmatch(key):
        raise ParseError(
            f"Send the header {HEADER} with 1 to 100 visible ASCII characters: a new one for each {what}, the same one "
            "when you repeat a request.",
            code="idempotency_key_needed",
        )
    return key


def begin_once(request: Request, caller: str) -> IdempotencyKey:
    """Write the key of the request down. Raises Replayed where it was done before, KeyReused where the key came with
    another request, AnswerNotKept, and ParseError."""
    digest = _sha256(caller, key_of(request))
    asked = _sha256(request.method or "", request._request.get_full_path(), _content(request))
    row = IdempotencyKey(digest=digest, request_sha256=asked)
    # Waits for the same request beside this one, until that is done or taken back.
    while not insert(row, ignore_conflicts=True):
        there = IdempotencyKey.objects.filter(digest=digest).first()
        if there is None or there.expires_at <= timezone.now():
            IdempotencyKey.objects.filter(digest=digest).expired(timezone.now()).delete()
            continue
        _answer_again(there, asked)
    return row


def _answer_again(there: IdempotencyKey, asked: str) -> NoReturn:
    if there.request_sha256 != asked:
        raise KeyReused("This Idempotency-Key came before with another request. Send a new key with each new request.")
    if not there.packed:
        raise AnswerNotKept(there.location)
    body = json.loads(zlib.decompress(there.packed))
    headers = {REPLAYED: "true", **({"Location": there.location} if there.location else {})}
    raise Replayed(Response(body, status=there.status, headers=headers))


def end_once(row: IdempotencyKey, answer: Response, *, is_kept: bool) -> None:
    """Keep what the request was answered. A refusal that took nothing back leaves its key free."""
    if answer.status_code >= 400:
        row.delete()
        return
    packed = zlib.compress(dumps(answer.data)) if is_kept else b""
    kept = packed if len(packed) <= LARGEST_KEPT else b""
    _keep_answer.run(row.pk, answer.status_code, answer.get("Location", ""), kept)


@prepared_update
def _keep_answer(
    key: UUID, status: int, location: str, packed: bytes
) -> "tuple[QuerySet[IdempotencyKey], dict[str, Any]]":
    return IdempotencyKey.objects.filter(pk=key), {"status": status, "location": location, "packed": packed}


def remove_expired(actor: Actor) -> int:
    """Delete the keys that are past their time; returns how many."""
    removed = 0
    while True:
        with acting(actor):
            expired = list(
                IdempotencyKey.objects.expired(timezone.now()).values_list("pk", flat=True)[:_REMOVED_AT_ONCE]
            )
            IdempotencyKey.objects.filter(pk__in=expired).delete()
        removed += len(expired)
        if len(expired) < _REMOVED_AT_ONCE:
            return removed


def _content(request: Request) -> str:
    """What a JSON body says, whatever stands between its keys. Of a form, whose boundary is new each time, nothing."""
    if (request.content_type or "").partition(";")[0].strip().lower() != "application/json":
        return ""
    return json.dumps(request.data, sort_keys=True)


def _sha256(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
