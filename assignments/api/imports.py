"""Imports for programs: bring files in (202, then look at its Location), what came of them, and undo."""

from uuid import UUID

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import InvalidRequest, read
from accounts.api.views import ApiView
from accounts.models.projects import visible_project
from assignments.api.pages import cursor_page
from potato.api.imports import (
    Again,
    Import,
    ImportedFileFacts,
    ImportedFiles,
    Imports,
    ImportsStarted,
    NewUpload,
    Problems,
    UndoPreview,
    UnmatchedTexts,
    Unread,
    UploadState,
)
from potato.runs.converters.detection import AUTOMATIC
from tenancy.roles import Right, TokenScope
from traces.actions import cancel_import, import_resumed, request_imports, try_again
from traces.importing.resumed import PART_BYTES, ResumedUpload
from traces.importing.task_texts import texts_without_trace
from traces.imports_shown import ImportRow, import_rows
from traces.models import ImportedFile, ImportedMember, ImportProblem
from traces.undoing import undo_import, undoing

CURSOR = OpenApiParameter("cursor", str, description="The cursor in `next` or `previous` of another page.")
UPLOAD = OpenApiParameter("Upload", str, OpenApiParameter.HEADER, required=True, description="The upload's name.")
RANGE = OpenApiParameter(
    "Content-Range", str, OpenApiParameter.HEADER, required=True, description="As in `bytes 0-1048575/734003200`."
)
FORM = {
    "multipart/form-data": {
        "type": "object",
        "properties": {
            "file": {
                "type": "array",
                "items": {"type": "string", "format": "binary"},
                "description": "One or more files. A field named `file:<path>` says where a file lies in its folder.",
            },
            "upload": {"type": "string", "description": "An upload that came in parts, instead of files."},
            "format": {"type": "string", "description": "The files' format; `auto`, or nothing, finds it."},
        },
    }
}


class ImporterView(ApiView):
    right = Right.SEE_TRACES
    right_to_change = Right.IMPORT_TRACES
    read_with = frozenset({TokenScope.IMPORT})

    def file(self) -> ImportedFile:
        rows = ImportedFile.objects.select_related("job", "project")
        return get_object_or_404(self.reachable(rows), pk=self.kwargs["file_id"])


class ProjectImportsView(ImporterView):
    @extend_schema(parameters=[CURSOR], responses=Imports)
    def get(self, request: Request, project: str) -> Response:
        """The project's imports, the oldest first."""
        chosen = self.project()
        rows = ImportedFile.objects.filter(organisation=chosen.organisation_id, project=chosen)
        following, previous, files = cursor_page(rows.select_related("job", "project"), request)
        return Response(Imports(next=following, previous=previous, results=shown_imports(files)))

    @extend_schema(request=FORM, responses={202: ImportsStarted})
    def post(self, request: Request, project: str) -> Response:
        """Import files that come as a form: those that come together are one import, a ZIP beside others is its own.
        They are read in the background; Location is the first import. 413 over the bound of all files together."""
        collected = getattr(request._request, "collected", None)
        form = request._request.POST if collected is not None else {}
        arrived, format = collected.arrived if collected is not None else [], form.get("format") or AUTOMATIC
        if signed := form.get("upload"):
            project_of_upload = self.project()
            upload = ResumedUpload.named(signed, project_of_upload)
            files = import_resumed(upload=upload, project=project_of_upload, format=format)
        else:
            files = request_imports(project=self.project(), arrived=arrived, format=format)
        return Response(
            ImportsStarted(imports=shown_imports(files)),
            status=202,
            headers={"Location": self.location("api-import", files[0].pk)},
        )


class UploadsView(ImporterView):
    right = Right.IMPORT_TRACES

    @extend_schema(request=NewUpload, responses={201: UploadState})
    def post(self, request: Request, project: str) -> Response:
        """Begin an upload in parts, for large files and connections that break off. Send it by PUT to `uploads/part/`,
        and when it is whole POST its name as `upload` to `imports/`. It is kept for a day."""
        chosen = visible_project(self.membership, project)
        body = read(NewUpload, request)
        upload = ResumedUpload.begun(project=chosen, size=body.size, name=body.name, type=body.type)
        return Response(UploadState(upload=upload.signed, received=0, most=PART_BYTES), status=201)


class UploadPartView(ImporterView):
    right = Right.IMPORT_TRACES

    def upload(self, request: Request) -> ResumedUpload:
        project, named = visible_project(self.membership, self.kwargs["project"]), request.headers.get("Upload")
        if named is None:
            raise InvalidRequest.at("Upload", "The header Upload is missing: send what beginning the upload answered.")
        return ResumedUpload.named(named, project)

    @extend_schema(parameters=[UPLOAD], responses=UploadState)
    def get(self, request: Request, project: str) -> Response:
        """How much of the upload is here: after a lost connection it goes on there."""
        return _state(upload := self.upload(request), upload.received)

    @extend_schema(parameters=[UPLOAD, RANGE], request={"application/octet-stream": bytes}, responses=UploadState)
    def put(self, request: Request, project: str) -> Response:
        """The next part. What is here already is not written again, so that a part may be sent once more."""
        upload = self.upload(request)
        return _state(upload, upload.add(request.headers.get("Content-Range", ""), request._request.body))

    @extend_schema(parameters=[UPLOAD], responses={204: None})
    def delete(self, request: Request, project: str) -> Response:
        """Give the upload up."""
        self.upload(request).remove()
        return Response(status=204)


def _state(upload: ResumedUpload, received: int) -> Response:
    return Response(UploadState(upload=upload.signed, received=received, most=PART_BYTES))


class ImportView(ImporterView):
    @extend_schema(responses=Import)
    def get(self, request: Request, file_id: UUID) -> Response:
        """One import."""
        return Response(shown_imports([self.file()])[0])


class ImportFilesView(ImporterView):
    @extend_schema(parameters=[CURSOR], responses=ImportedFiles)
    def get(self, request: Request, file_id: UUID) -> Response:
        """What came of each of its files."""
        rows = ImportedMember.objects.filter(file=self.file())
        following, previous, members = cursor_page(rows, request)
        results = [
            ImportedFileFacts(**{name: getattr(member, name) for name in ImportedFileFacts.model_fields})
            for member in members
        ]
        return Response(ImportedFiles(next=following, previous=previous, results=results))


class ImportProblemsView(ImporterView):
    @extend_schema(parameters=[CURSOR], responses=Problems)
    def get(self, request: Request, file_id: UUID) -> Response:
        """What could not be read, and remarks."""
        following, previous, rows = cursor_page(ImportProblem.objects.filter(file=self.file()), request)
        results = [Unread(file=row.member, place=row.place, code=row.code, sentence=row.sentence) for row in rows]
        return Response(Problems(next=following, previous=previous, results=results))


class ImportTextsView(ImporterView):
    @extend_schema(responses=UnmatchedTexts)
    def get(self, request: Request, file_id: UUID) -> Response:
        """Task texts of this import that no trace of the project has now."""
        return Response(UnmatchedTexts(ids=list(texts_without_trace(self.file()))))


class ImportCancelView(ImporterView):
    right = Right.IMPORT_TRACES

    @extend_schema(request=None, responses=Import)
    def post(self, request: Request, file_id: UUID) -> Response:
        """End the import after its present part; what came in stays."""
        cancel_import(file=self.file())
        return Response(shown_imports([self.file()])[0])


class ImportAgainView(ImporterView):
    right = Right.IMPORT_TRACES

    @extend_schema(request=Again, responses={202: Import})
    def post(self, request: Request, file_id: UUID) -> Response:
        """Read the file of an import that failed or was cancelled once more; it is kept for a day."""
        file = self.file()
        body = read(Again, request)
        where = self.location("api-import", file.pk)
        shown = shown_imports([try_again(file=file, format=body.format)])[0]
        return Response(shown, status=202, headers={"Location": where})


class ImportUndoView(ImporterView):
    @extend_schema(responses=UndoPreview)
    def get(self, request: Request, file_id: UUID) -> Response:
        """What the undo would take away, and what stands in its way."""
        preview = undoing(self.file())
        return Response(
            UndoPreview(
                traces=preview.traces,
                texts=preview.texts,
                reports=preview.reports,
                reopened=preview.reopened,
                in_the_way=list(preview.obstacles),
            )
        )

    @extend_schema(request=None, responses=Import)
    def post(self, request: Request, file_id: UUID) -> Response:
        """Remove what the import brought. 409 while somebody has judged or holds a trace of it."""
        undo_import(file=self.file())
        return Response(shown_imports([self.file()])[0])


def shown_imports(files: list[ImportedFile]) -> list[Import]:
    """The imports as they are answered, with what came of them."""
    return [_shown(file, row) for file, row in zip(files, import_rows(files, counts_alone=True), strict=True)]


def _shown(file: ImportedFile, row: ImportRow) -> Import:
    same = {
        name: getattr(row, name)
        for name in (
            "files", "chosen", "reason", "imported", "versions", "known", "errors", "stated", "matched", "unmatched",
            "joined", "reports", "reports_joined", "reports_waiting", "error", "can_undo", "can_try_again",
        )
    }  # fmt: skip
    return Import(
        id=file.pk,
        project=file.project.slug,
        name=file.name,
        state="done" if row.state == "doubtful" else row.state,
        files_done=row.progress.value if row.progress and row.progress.total else None,
        format=file.format,
        requested_at=file.added_at,
        **same,
    )


urlpatterns = [
    path("projects/<slug:project>/imports/", ProjectImportsView.as_view(), name="api-imports"),
    path("projects/<slug:project>/uploads/", UploadsView.as_view(), name="api-uploads"),
    path("projects/<slug:project>/uploads/part/", UploadPartView.as_view(), name="api-upload"),
    path("imports/<uuid:file_id>/", ImportView.as_view(), name="api-import"),
    path("imports/<uuid:file_id>/files/", ImportFilesView.as_view(), name="api-import-files"),
    path("imports/<uuid:file_id>/problems/", ImportProblemsView.as_view(), name="api-import-problems"),
    path("imports/<uuid:file_id>/task-texts/", ImportTextsView.as_view(), name="api-import-task-texts"),
    path("imports/<uuid:file_id>/cancel/", ImportCancelView.as_view(), name="api-import-cancel"),
    path("imports/<uuid:file_id>/again/", ImportAgainView.as_view(), name="api-import-again"),
    path("imports/<uuid:file_id>/undo/", ImportUndoView.as_view(), name="api-import-undo"),
]
