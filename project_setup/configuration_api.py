"""A project's configuration for programs: checked, saved as the draft, published, and its versions read."""

from typing import Annotated, Any, Literal

import yaml
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.actions.projects import NewestUnreadable, breaking_changes_since, save_draft
from accounts.api.bodies import Body, InvalidRequest, read
from accounts.api.pages import cursor_page
from accounts.api.parameters import CURSOR
from accounts.api.views import ApiView
from accounts.models import ConfigurationVersion, Project
from potato.api.projects import Checked, CheckedForProject, Loss, Published, ShownDraft, Version, Versions, WholeVersion
from potato.configuration import CheckedConfiguration, check_configuration
from potato.schemes.breaking_changes import BreakingChange
from project_setup.actions import publish_draft, publish_text
from project_setup.problems import problems_as_json
from tenancy.roles import Right

LARGEST_REQUEST = 1_000_000
"""In JSON a text may be several times as long as it is; the check has the bound of the text itself."""


class ConfigurationBody(Body):
    """Either `source`, the text in YAML, or `configuration`, the same as a JSON object."""

    source: str | None = None
    configuration: dict[str, Any] | None = None

    def text(self) -> str | None:
        """The YAML text, None where neither is there. Raises InvalidRequest for both."""
        if self.source is not None and self.configuration is not None:
            raise InvalidRequest.at("configuration", "Give source or configuration, not both.")
        if self.configuration is None:
            return None if self.source is None else self.source.replace("\r\n", "\n")
        return yaml.safe_dump(self.configuration, sort_keys=False, allow_unicode=True, width=100)


class SavedDraft(ConfigurationBody):
    revision: int
    """The one that was read: a draft that somebody saved since is not overwritten."""


class Publication(ConfigurationBody):
    """What is published: the text of the request, or the saved draft where it has none."""

    revision: int | None = None
    """Of the draft that was read; one that was saved since is not published. Not with a text."""
    note: Annotated[str, Field(max_length=200)] = ""
    confirmed: bool = False
    """Publish also what takes something that annotations refer to."""
    held: Literal["stay", "move"] = "stay"
    """Whether tasks that people hold are finished under their version, or under the new one."""


class ConfigurationView(ApiView):
    right = Right.CONFIGURE_PROJECTS
    largest_body = LARGEST_REQUEST

    def project(self) -> Project:
        """With its draft."""
        return Project.objects.get(pk=super().project().pk)


class CheckView(ApiView):
    right = Right.MAKE_PROJECTS
    largest_body = LARGEST_REQUEST

    @extend_schema(request=ConfigurationBody, responses=Checked)
    def post(self, request: Request) -> Response:
        """Check a configuration: all that is wrong with it at once, each with its place. Nothing is stored."""
        source = _needed(read(ConfigurationBody, request))
        return Response(Checked(**_checked(source, check_configuration(source))))


class ProjectCheckView(ConfigurationView):
    @extend_schema(request=ConfigurationBody, responses=CheckedForProject)
    def post(self, request: Request, project: str) -> Response:
        """Check a configuration, and what publishing it here would take from annotations. Nothing is stored."""
        chosen, source = self.project(), _needed(read(ConfigurationBody, request))
        checked = check_configuration(source)
        losses: tuple[BreakingChange, ...] = ()
        newest = chosen.newest_version()
        if newest is not None and checked.configuration is not None:
            try:
                losses = breaking_changes_since(newest, checked.configuration)
            except NewestUnreadable as unknown:
                losses = unknown.breaking_changes
        shown = [Loss(path=list(loss.path), code=loss.code, sentence=loss.message) for loss in losses]
        return Response(CheckedForProject(**_checked(source, checked), losses=shown))


class ConfigurationDraftView(ConfigurationView):
    @extend_schema(responses=ShownDraft)
    def get(self, request: Request, project: str) -> Response:
        """The configuration that somebody is writing, with what is wrong with it."""
        return Response(_draft(self.project()))

    @extend_schema(request=SavedDraft, responses=ShownDraft)
    def put(self, request: Request, project: str) -> Response:
        """Save the draft, errors and all. 409 where somebody saved it since that revision."""
        chosen, body = self.project(), read(SavedDraft, request)
        return Response(_draft(save_draft(project=chosen, source=_needed(body), revision=body.revision)))


class VersionsView(ConfigurationView):
    @extend_schema(parameters=[CURSOR], responses=Versions)
    def get(self, request: Request, project: str) -> Response:
        """The published versions, the oldest first."""
        rows = self.project().versions.select_related("published_by").defer("source", "configuration")
        following, previous, page = cursor_page(rows, request)
        return Response(Versions(next=following, previous=previous, results=[Version(**_facts(row)) for row in page]))

    @extend_schema(request=Publication, responses={200: Published, 201: Published})
    def post(self, request: Request, project: str) -> Response:
        """Publish a configuration, and make it the draft: new work is done under it. 200 with the newest version where
        it is this text already; 422 with all `problems` where it has errors; 409 with the `losses` where annotations
        would lose something and that is not `confirmed`."""
        chosen, body = self.project(), read(Publication, request)
        source, before = body.text(), chosen.newest_version()
        terms: dict[str, Any] = {"note": body.note, "confirmed": body.confirmed, "move_held": body.held == "move"}
        if source is not None:
            if body.revision is not None:
                raise InvalidRequest.at("revision", "revision is of the draft: leave it out beside a text.")
            version, moved = publish_text(project=chosen, source=source, **terms)
        else:
            version, moved = publish_draft(project=chosen, revision=body.revision, **terms)
        is_new = before is None or before.pk != version.pk
        where = {"Location": self.location("api-version", chosen.slug, version.number)}
        return Response(_published(version, moved), status=201 if is_new else 200, headers=where)


class VersionView(ConfigurationView):
    @extend_schema(responses=WholeVersion)
    def get(self, request: Request, project: str, number: int) -> Response:
        """One version: the YAML as it was written, and what it means as JSON."""
        rows = self.project().versions.select_related("published_by")
        row = get_object_or_404(rows, number=number)
        return Response(WholeVersion(**_facts(row), source=row.source, configuration=row.configuration))


def _needed(body: ConfigurationBody) -> str:
    text = body.text()
    if text is None:
        raise InvalidRequest.at("source", "source is missing: give the YAML, or `configuration` as JSON.", "missing")
    return text


def _checked(source: str, checked: CheckedConfiguration) -> dict[str, Any]:
    return {"is_publishable": checked.configuration is not None, "problems": problems_as_json(source, checked)}


def _draft(project: Project) -> ShownDraft:
    checked = check_configuration(project.draft)
    return ShownDraft(source=project.draft, revision=project.draft_revision, **_checked(project.draft, checked))


def _facts(row: ConfigurationVersion) -> dict[str, Any]:
    person = str(row.published_by) if row.published_by else None
    return {"number": row.number, "note": row.note, "published_by": person, "published_at": row.published_at}


def _published(row: ConfigurationVersion, moved: int) -> Published:
    return Published(**_facts(row), source=row.source, configuration=row.configuration, moved=moved)


_PROJECT = "projects/<slug:project>/"

urlpatterns = [
    path("configuration/check/", CheckView.as_view(), name="api-check"),
    path(f"{_PROJECT}configuration/", ConfigurationDraftView.as_view(), name="api-configuration"),
    path(f"{_PROJECT}configuration/check/", ProjectCheckView.as_view(), name="api-project-check"),
    path(f"{_PROJECT}versions/", VersionsView.as_view(), name="api-versions"),
    path(f"{_PROJECT}versions/<int:number>/", VersionView.as_view(), name="api-version"),
]
