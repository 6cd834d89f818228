"""The tab Imports: files come in, how far each import is, what came of it; cancel, try again and undo."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from defusedcsv import csv
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect, JsonResponse, StreamingHttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.live_parts import live_context, part_answer
from accounts.models import Project
from accounts.models.projects import visible_project
from potato.runs.converters.detection import AUTOMATIC
from potato.runs.run_files import in_words
from potato.wording import counted
from tenancy.actor import Actor, acting, current
from tenancy.errors import Refused
from tenancy.ids import read_id
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import Right
from traces.actions import cancel_import, import_resumed, request_imports, try_again
from traces.importing.received import Arrived
from traces.importing.resumed import PART_BYTES, ResumedUpload, requested_size
from traces.importing.uploads import FILE_BYTES
from traces.imports_shown import (
    IMPORTS_SHOWN,
    format_choices,
    import_page,
    import_rows,
    page_address,
    project_imports,
)
from traces.models import ImportedFile, ImportProblem
from traces.sample_runs import load_samples
from traces.undoing import undo_import, undoing


@requires(Right.SEE_TRACES)
@require_safe
def imports(request: OrganisationRequest, project: str) -> HttpResponse:
    """The project's imports, and where files are dropped."""
    return _list(request, visible_project(request.membership, project))


@requires(Right.SEE_TRACES)
@require_safe
def imports_live(request: OrganisationRequest, project: str) -> HttpResponse:
    """The lists of imports as they are now; 304 where they are what the page has."""
    return part_answer(request, _rows_part(request, visible_project(request.membership, project)))


@requires(Right.IMPORT_TRACES)
@require_http_methods(["GET", "HEAD", "POST"])
def new_import(request: OrganisationRequest, project: str) -> HttpResponse:
    """POST: files that came in. A script that asks for JSON is answered the address to go on at, or why not."""
    chosen = visible_project(request.membership, project)
    if request.method != "POST":
        return redirect("imports", project=chosen.slug)
    is_script = request.headers.get("Accept", "") == "application/json"
    signed, asked = request.POST.get("upload", ""), request.POST.get("format") or AUTOMATIC
    try:
        if signed:
            started = import_resumed(upload=ResumedUpload.named(signed, chosen), project=chosen, format=asked)
        else:
            started = request_imports(project=chosen, arrived=_arrived(request), format=asked)
    except Refused as refused:
        if is_script:
            return _refusal(refused)
        return _list(request, chosen, refused)
    messages.success(request, _started(started))
    url = page_address(started[0]) if len(started) == 1 else reverse("imports", args=[chosen.slug])
    return JsonResponse({"url": url}) if is_script else HttpResponseRedirect(url)


@requires(Right.IMPORT_TRACES)
@require_POST
def begin_upload(request: OrganisationRequest, project: str) -> JsonResponse:
    """Begin an upload of so many bytes (`size`) that comes in parts: a form of that `type`, or the file `name`."""
    chosen = visible_project(request.membership, project)
    fields = request.POST
    try:
        upload = ResumedUpload.begun(
            project=chosen,
            size=requested_size(fields.get("size")),
            name=fields.get("name", ""),
            type=fields.get("type", ""),
        )
    except Refused as refused:
        return _refusal(refused)
    return JsonResponse({"upload": upload.signed, "received": 0, "most": PART_BYTES}, status=201)


@requires(Right.IMPORT_TRACES)
@require_http_methods(["GET", "HEAD", "PUT", "DELETE"])
def upload_part(request: OrganisationRequest, project: str) -> JsonResponse:
    """Of the upload that the header `Upload` names. GET: how much of it is here, and a `token` for what follows, for
    whoever signed in anew has another than the page. PUT: the bytes that Content-Range says. DELETE: give it up."""
    chosen = visible_project(request.membership, project)
    try:
        upload = ResumedUpload.named(request.headers.get("Upload", ""), chosen)
        if request.method == "DELETE":
            upload.remove()
            return JsonResponse({"received": 0})
        if request.method == "PUT":
            return JsonResponse({"received": upload.add(request.headers.get("Content-Range", ""), request.body)})
        return JsonResponse({"received": upload.received, "token": get_token(request)})
    except Refused as refused:
        return _refusal(refused)


@requires(Right.IMPORT_TRACES)
@require_POST
def import_samples(request: OrganisationRequest, project: str) -> HttpResponse:
    """Bring in the runs that the product ships, so that somebody new can try at once."""
    chosen = visible_project(request.membership, project)
    try:
        file = load_samples(project=chosen)
    except Refused as refused:
        return _list(request, chosen, refused)
    messages.success(request, "The sample runs are being read. Undo the import when you are done with them.")
    return HttpResponseRedirect(page_address(file))


@requires(Right.SEE_TRACES)
@require_safe
def one_import(request: OrganisationRequest, project: str, file_id: UUID) -> HttpResponse:
    """All that is known of one import."""
    chosen, file = _import(request, project, file_id)
    part = _import_part(request, chosen, file)
    context = {
        "project": chosen,
        "row": import_rows([file])[0],
        **live_context(part),
        "formats": format_choices(),
        "format": file.format,
        "may_import": allowed(request, Right.IMPORT_TRACES, chosen),
    }
    return render(request, "traces/import.html", context)


@requires(Right.SEE_TRACES)
@require_safe
def import_live(request: OrganisationRequest, project: str, file_id: UUID) -> HttpResponse:
    """What changes of an import's page; 304 where it is what the page has."""
    chosen, file = _import(request, project, file_id)
    return part_answer(request, _import_part(request, chosen, file))


@requires(Right.IMPORT_TRACES)
@require_POST
def cancel(request: OrganisationRequest, project: str, file_id: UUID) -> HttpResponse:
    """End the import after its present part; what came in stays."""
    _, file = _import(request, project, file_id)
    try:
        job = cancel_import(file=file)
    except Refused as refused:
        messages.warning(request, refused.sentence)
    else:
        words = "ends after its present part" if job.is_open else "is cancelled"
        messages.success(request, f"The import of {file.name} {words}. What came in stays; undo takes it away.")
    return HttpResponseRedirect(page_address(file))


@requires(Right.IMPORT_TRACES)
@require_POST
def again(request: OrganisationRequest, project: str, file_id: UUID) -> HttpResponse:
    """Read the file of an import that failed or was cancelled once more, in another `format` if one is named."""
    _, file = _import(request, project, file_id)
    try:
        try_again(file=file, format=request.POST.get("format", ""))
    except Refused as refused:
        messages.error(request, refused.sentence)
    else:
        messages.success(request, f"{file.name} is being read again, from its beginning.")
    return HttpResponseRedirect(page_address(file))


@requires(Right.IMPORT_TRACES)
@require_http_methods(["GET", "HEAD", "POST"])
def undo(request: OrganisationRequest, project: str, file_id: UUID) -> HttpResponse:
    """GET: what would go, and what stands in the way. POST: undo the import."""
    chosen, file = _import(request, project, file_id)
    status = 200
    if request.method == "POST":
        try:
            gone = undo_import(file=file)
        except Refused as refused:
            status = refused.status
        else:
            messages.success(request, f"The import of {file.name} is undone: {gone.words} went.")
            return HttpResponseRedirect(reverse("imports", args=[chosen.slug]))
    (row,) = import_rows([file])
    context = {"project": chosen, "row": row, "undoing": undoing(file)}
    return render(request, "traces/import_undo.html", context, status=status)


@requires(Right.SEE_TRACES)
@require_safe
def problems(request: OrganisationRequest, project: str, file_id: UUID) -> StreamingHttpResponse:
    """All that could not be read, as CSV. No cell of it is a formula to a spreadsheet."""
    _, file = _import(request, project, file_id)
    return problems_answer(file)


def problems_answer(file: ImportedFile) -> StreamingHttpResponse:
    """What could not be read of an import, as a file of CSV."""
    response = StreamingHttpResponse(_report(file, current()), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="import-problems-{file.pk}.csv"'
    return response


def _refusal(refused: Refused) -> JsonResponse:
    """Why not, for a script."""
    wait = {"Retry-After": str(refused.retry_after)} if refused.retry_after else {}
    return JsonResponse({"sentence": refused.sentence}, status=refused.status, headers=wait)


def _list(request: OrganisationRequest, project: Project, refused: Refused | None = None) -> HttpResponse:
    part = _rows_part(request, project)
    context = {
        "project": project,
        **live_context(part),
        "refusal": refused.sentence if refused else "",
        "chosen_format": request.POST.get("format", "") if refused else "",
        "may_import": allowed(request, Right.IMPORT_TRACES, project),
        "number": project_imports(project).count(),
        **dropping(),
    }
    page = render(request, "traces/imports.html", context, status=refused.status if refused else 200)
    if refused is not None and refused.retry_after:
        page["Retry-After"] = str(refused.retry_after)
    return page


def dropping() -> dict[str, Any]:
    """What the drop area needs to know, on whatever page it stands."""
    return {
        "formats": format_choices(),
        "most_bytes": FILE_BYTES,
        "most_bytes_words": in_words(FILE_BYTES),
        "most_files": settings.DATA_UPLOAD_MAX_NUMBER_FILES,
    }


def _rows_part(request: OrganisationRequest, project: Project) -> str:
    """Those on their way, and one page of those that are over; `before` is the id behind which it begins."""
    files = project_imports(project)
    before = str(read_id(request.GET.get("before", "")) or "")
    on_their_way = import_rows(
        [] if before else list(files.filter(job__state__in=("queued", "running"))[:IMPORTS_SHOWN])
    )
    over = files.exclude(job__state__in=("queued", "running"))
    if before:
        over = over.filter(pk__lt=before)
    page = list(over.order_by("-pk")[: IMPORTS_SHOWN + 1])
    context = {
        "project": project,
        "on_their_way": on_their_way,
        "finished": import_rows(page[:IMPORTS_SHOWN]),
        "older": str(page[IMPORTS_SHOWN - 1].pk) if len(page) > IMPORTS_SHOWN else "",
        "is_first_page": not before,
        "may_import": allowed(request, Right.IMPORT_TRACES, project),
    }
    return render_to_string("traces/partials/import_rows.html", context, request)


def _import_part(request: OrganisationRequest, project: Project, file: ImportedFile) -> str:
    context = {
        "project": project,
        "page": import_page(file),
        "formats": dict(format_choices()),
        "may_import": allowed(request, Right.IMPORT_TRACES, project),
    }
    return render_to_string("traces/partials/import_state.html", context, request)


def _import(request: OrganisationRequest, project: str, file_id: UUID) -> tuple[Project, ImportedFile]:
    chosen = visible_project(request.membership, project)
    return chosen, get_object_or_404(project_imports(chosen), pk=file_id)


def _arrived(request: OrganisationRequest) -> list[Arrived]:
    collected = getattr(request, "collected", None)
    return collected.arrived if collected is not None else []


def _started(files: list[ImportedFile]) -> str:
    if len(files) == 1:
        return f"The import of {files[0].name} began. This page says how far it is; you may close it."
    return f"{counted(len(files), 'import')} began: each ZIP is one of its own. You may close this page."


class _Echo:
    """What csv.writer writes to: it answers the line instead of keeping it."""

    def write(self, line: str) -> str:
        return line


def _report(file: ImportedFile, actor: Actor) -> Iterator[str]:
    """Runs after the request's transaction, so it enters the organisation itself."""
    writer = csv.writer(_Echo())
    yield writer.writerow(["file", "line or record", "code", "problem"])
    with acting(actor):
        rows = ImportProblem.objects.filter(file=file).order_by("member", "place", "pk")
        for problem in rows.iterator(chunk_size=1000):
            yield writer.writerow([problem.member or file.name, problem.place or "", problem.code, problem.sentence])
