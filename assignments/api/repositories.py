"""Attached repositories for programs: attach one, list and remove them."""

from uuid import UUID

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.pages import cursor_page
from accounts.api.parameters import CURSOR
from assignments.api.imports import ImporterView
from assignments.api.traces import TraceView
from potato.api.repositories import AttachedRepositories, AttachedRepository, BaseEntry, BaseFiles, BasePlace
from traces.attaching import CannotAttach, attach_repository, remove_repository
from traces.evidence.base_pages import asked_path, demand_base
from traces.evidence.base_tree import file_at, folder_at, search
from traces.models import Repository

BASE = [
    OpenApiParameter("path", str, description="Of a folder or a file; nothing for the topmost folder."),
    OpenApiParameter("q", str, description="What names or lines must say; then nothing else counts."),
]
FORM = {
    "multipart/form-data": {
        "type": "object",
        "required": ["name", "file"],
        "properties": {
            "name": {"type": "string", "description": "The repository as runs name it: `owner/name`, or its address."},
            "file": {"type": "string", "format": "binary", "description": "A git bundle, a tar, a tar.gz or a ZIP."},
            "commit": {"type": "string", "description": "Of an archive that does not say its commit."},
            "clone_url": {"type": "string", "description": "Where people clone it from."},
        },
    }
}


class RepositoriesView(ImporterView):
    @extend_schema(parameters=[CURSOR], responses=AttachedRepositories)
    def get(self, request: Request, project: str) -> Response:
        """The files that are attached to names of repositories, the oldest first."""
        chosen = self.project()
        rows = Repository.objects.filter(organisation=chosen.organisation_id, project=chosen).defer("objects_held")
        following, previous, page = cursor_page(rows, request)
        return Response(AttachedRepositories(next=following, previous=previous, results=[_shown(row) for row in page]))

    @extend_schema(request=FORM, responses={201: AttachedRepository})
    def post(self, request: Request, project: str) -> Response:
        """Attach a git bundle or an archive to a repository's name. Runs that name the repository and one of its
        commits show whole files around their changes from then on. The same file again answers what is attached."""
        chosen = self.project()
        form, files = request._request.POST, request._request.FILES
        file = files.get("file")
        if file is None:
            raise CannotAttach("Send a form with the repository's `name` and the `file`.")
        attached = attach_repository(
            project=chosen,
            name=form.get("name", ""),
            file=file,
            commit=form.get("commit", ""),
            clone_url=form.get("clone_url", "").strip(),
        )
        return Response(_shown(attached), status=201)


class RepositoryView(ImporterView):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, repository_id: UUID) -> Response:
        """Remove an attached file with its contents. Comments on its lines stay."""
        rows = self.reachable(Repository.objects.select_related("project"))
        remove_repository(repository=get_object_or_404(rows, pk=repository_id))
        return Response(status=204)


class BaseView(TraceView):
    @extend_schema(parameters=BASE, responses=BaseFiles)
    def get(self, request: Request, project: str, trace_id: UUID) -> Response:
        """The files that the run began from, where its repository is attached: a folder, a file, or places that say
        what is searched for. 404 where the commit is not attached, or has no such file."""
        base = demand_base(self.trace())
        path = asked_path(request.META["QUERY_STRING"])
        about = {"repository": base.repository.name, "commit": base.commit, "path": path}
        if words := request.query_params.get("q", "").strip()[:200]:
            found = search(base, words)
            places = [BasePlace(path=line.path, line=line.number, text=line.text) for line in found.lines]
            return Response(BaseFiles(**about, found=places, is_cut=found.is_cut))
        entries = folder_at(base, path)
        if entries is not None:
            prefix = f"{path}/" if path else ""
            listed = [BaseEntry(path=prefix + entry.name, kind=entry.kind) for entry in entries]
            return Response(BaseFiles(**about, entries=listed))
        file = file_at(base, path)
        if file is None:
            raise NotFound("There is no such file at this commit.", code="unknown_file")
        return Response(BaseFiles(**about, text=file.text, is_kept=file.text is not None))


def _shown(row: Repository) -> AttachedRepository:
    return AttachedRepository(
        id=row.pk,
        name=row.name,
        clone_url=row.clone_url,
        file_name=row.file_name,
        kind=row.kind,
        size=row.size,
        sha256=row.sha256,
        commits=row.commits_count,
        left_out=row.left_out,
        added_at=row.added_at,
    )


urlpatterns = [
    path("projects/<slug:project>/traces/<uuid:trace_id>/base/", BaseView.as_view(), name="api-trace-base"),
    path("projects/<slug:project>/repositories/", RepositoriesView.as_view(), name="api-repositories"),
    path("repositories/<uuid:repository_id>/", RepositoryView.as_view(), name="api-repository"),
]
