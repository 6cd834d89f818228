"""What a request may bring, by its route, before anything of it is kept; and a body is whole before the database is
entered.

Django bounds the fields of a form and counts no files, so that 1.5 GB sent to any form would lie in memory or on the
disk. Here a body is bounded by its address and its declared length, beyond which nothing is read. The large one, an
upload, is received from those alone who may import, after a look at their rights and outside every transaction.
"""

import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase

from accounts.actions.tokens import enter_by_token
from accounts.api.authentication import WRONG_TOKENS
from accounts.attempts import client_network
from accounts.models.projects import visible_project
from assignments.api.views import LARGEST_ANNOTATION
from potato.runs.run_files import in_words
from potato_site.views import refusal
from tenancy import actor
from tenancy.errors import Frozen, HoldsNul, Refused, frozen_by, refuses_nul
from tenancy.permissions import ScopeMissing, demand_scope
from tenancy.roles import Right
from traces.importing.received import CollectingHandler
from traces.importing.uploads import FILE_BYTES, FULL, NoSpace

FORM_BYTES = 2**20
API_BYTES = 2 * LARGEST_ANNOTATION
"""Each route of the API has its own, smaller bound, and says so in its own words up to here."""
UPLOADS_AT_ONCE = 2
"""Of a process: each holds a thread while it comes."""


UPLOAD_BYTES = FILE_BYTES + FORM_BYTES


@dataclass(frozen=True)
class Upload:
    """A form with files to import, by its address within an organisation; docker/nginx.conf has the same ones.

    The right is asked in the project that the address names. `is_collected`: many files, of which a few are made.
    """

    address: re.Pattern[str]
    right: Right
    is_collected: bool = False


UPLOADS = (
    Upload(re.compile(r"/p/(?P<project>[a-z0-9-]+)/traces/imports/new/"), Right.IMPORT_TRACES, is_collected=True),
    Upload(re.compile(r"/api/v1/projects/(?P<project>[a-z0-9-]+)/imports/"), Right.IMPORT_TRACES, is_collected=True),
    Upload(re.compile(r"/p/(?P<project>[a-z0-9-]+)/traces/repositories/"), Right.IMPORT_TRACES),
    Upload(re.compile(r"/api/v1/projects/(?P<project>[a-z0-9-]+)/repositories/"), Right.IMPORT_TRACES),
    Upload(re.compile(r"/p/(?P<project>[a-z0-9-]+)/agreement/machines/import/"), Right.MANAGE_SOURCES),
)


class ReceivingMiddleware:
    """Stands above TenancyMiddleware, whose transaction a client's slowness would hold open."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._uploads = threading.BoundedSemaphore(UPLOADS_AT_ONCE)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        length = request.META.get("CONTENT_LENGTH")
        if not length or length == "0":
            return self._without_length(request)
        try:
            declared = int(length)
        except ValueError:
            declared = 0  # Django takes it for nothing, too.
        upload = _upload_at(request)
        if upload is not None:
            return self._receive(request, upload, declared)
        bound = API_BYTES if request.path_info.startswith("/api/") else FORM_BYTES
        # By what it declares, before a byte is read: Django reads no further than that.
        if declared > bound:
            return _too_large(request, declared, bound)
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """What the site lacked for an action, or could not keep, and no page of it said."""
        if frozen_by(exception):
            return _refused(request, Frozen())
        if refuses_nul(exception):
            return _refused(request, HoldsNul())
        if isinstance(exception, Refused) and exception.status >= 500:
            return _refused(request, exception)
        return None

    def _without_length(self, request: HttpRequest) -> HttpResponseBase:
        if "HTTP_TRANSFER_ENCODING" in request.META and not request.path_info.startswith("/api/"):
            # Django would take it for an empty one. The API says it in its own words.
            return refusal(
                request,
                411,
                code="length_needed",
                title="The length is missing",
                sentence="Send the body in one piece, with its Content-Length.",
            )
        return self.get_response(request)

    def _receive(self, request: HttpRequest, upload: Upload, declared: int) -> HttpResponseBase:
        if declared > UPLOAD_BYTES:
            return _too_large(request, declared, FILE_BYTES)
        # Before the body is read, in a transaction of its own: an upload of minutes must not hold one open.
        if request.path_info.startswith("/api/") and not _may_by_api(request, upload):
            return self.get_response(request)  # The API says in its own words what is missing, and reads nothing.
        if (elsewhere := _demand(request, upload)) is not None:
            return elsewhere
        # Not waited for: each that waits would hold a thread, until uploads had taken all of them from annotators.
        if not self._uploads.acquire(blocking=False):
            return refusal(
                request,
                503,
                code="busy",
                title="Other files are arriving",
                sentence="Other files are being received just now. Send this one again in a minute.",
                retry_after=60,
            )
        collecting = CollectingHandler(request) if upload.is_collected else None
        if collecting is not None:
            request.upload_handlers = [collecting]
        try:
            _ = request.POST  # Received, and its files are on the disk.
        except Refused as refused:
            _discard(request)
            return _refused(request, refused)
        except MultiPartParserError:
            return self.get_response(request)  # Django's 400, where the view asks again.
        except OSError as error:
            _remove_what_arrived(request)
            if error.errno in FULL:
                return _refused(request, NoSpace(NoSpace.SENTENCE))
            return too_slow(request)
        finally:
            self._uploads.release()
        if collecting is None:
            return self.get_response(request)
        collected = collecting.collected()
        request.collected = collected  # type: ignore[attr-defined]  # the view's
        try:
            return self.get_response(request)
        finally:
            collected.close()


def _upload_at(request: HttpRequest) -> Upload | None:
    if request.method != "POST":
        return None
    # Outside an organisation the API's token names it.
    if not getattr(request, "organisation_slug", None) and not request.path_info.startswith("/api/"):
        return None
    return next((upload for upload in UPLOADS if upload.address.fullmatch(request.path_info)), None)


def _discard(request: HttpRequest) -> None:
    for handler in request.upload_handlers:
        if isinstance(handler, CollectingHandler):
            with suppress(OSError):
                handler.discard()


def _remove_what_arrived(request: HttpRequest) -> None:
    """Now, and not when somebody collects the garbage; closing such a file fails once more on a full disk."""
    _discard(request)
    for handler in request.upload_handlers:
        file = getattr(handler, "file", None)
        if isinstance(file, TemporaryUploadedFile):
            with suppress(OSError):
                os.unlink(file.temporary_file_path())
            with suppress(OSError):
                file.close()


def _refused(request: HttpRequest, answer: Refused) -> HttpResponse:
    titles = {
        NoSpace.code: "The disk is full",
        Frozen.code: "This organisation is being closed",
        HoldsNul.code: "Request not understood",
    }
    title = titles.get(answer.code, "Not now")
    return refusal(
        request,
        answer.status,
        code=answer.code,
        title=title,
        sentence=answer.sentence,
        retry_after=answer.retry_after or 0,
    )


def too_slow(request: HttpRequest) -> HttpResponse:
    return refusal(
        request,
        408,
        code="too_slow",
        title="The request did not arrive",
        sentence="What you sent came too slowly, or broke off. Nothing of it was kept. Try again.",
    )


def _demand(request: HttpRequest, upload: Upload) -> HttpResponse | None:
    """As a view would: 404 for strangers and for projects that the person does not see, 403 for members without the
    right; who is not signed in is led to do so."""
    if getattr(request, "organisation_slug", None) is None:
        return None  # _may_by_api() has looked.
    with _entering():
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        membership = actor.enter_organisation(request.user, request.organisation_slug)  # type: ignore[attr-defined]
        if membership is None:
            raise Http404
        may = _carries(membership, upload, request)
    if not may:
        raise PermissionDenied(f"This needs the right to {upload.right}.")
    return None


def _may_by_api(request: HttpRequest, upload: Upload) -> bool:
    """Whether a program may bring files here: by its token, or in the session of somebody who is signed in."""
    if getattr(request, "organisation_slug", None) is not None:
        return bool(request.user.is_authenticated)
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or WRONG_TOKENS.is_empty(client_network(request)):
        return False
    with _entering():
        entered = enter_by_token(text.strip())
        try:
            if entered is None:
                return False
            demand_scope(entered.membership, upload.right, is_change=True)
            return _carries(entered.membership, upload, request)
        except (Http404, ScopeMissing):
            return False


@contextmanager
def _entering() -> Iterator[None]:
    """A look at somebody's rights, in a transaction of its own."""
    before, nested = actor.current(), transaction.get_connection().in_atomic_block
    with transaction.atomic():
        try:
            yield
        finally:
            # Tests have a transaction of their own, that goes on.
            actor.restore(before, send=nested)


def _carries(membership: actor.ActiveMembership, upload: Upload, request: HttpRequest) -> bool:
    """Whether the membership has the right in the project that the address names; Http404 for one that it does not
    see."""
    address = upload.address.fullmatch(request.path_info)
    if address is None:
        raise Http404
    return membership.may_in(upload.right, visible_project(membership, address["project"]))


def _too_large(request: HttpRequest, declared: int, bound: int) -> HttpResponse:
    return refusal(
        request,
        413,
        code="too_large",
        title="That is too much",
        sentence=f"The request brings {in_words(declared)}; here it may bring {in_words(bound)}. Nothing was kept.",
    )
