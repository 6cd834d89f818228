"""A project as a whole for programs: its state, a copy, the archive, deletion."""

from typing import Annotated, Literal

from django.core.exceptions import ValidationError
from django.urls import path
from drf_spectacular.utils import extend_schema
from pydantic import BaseModel, ConfigDict, Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.actions.members import open_to_annotators
from accounts.actions.projects import (
    archive_project,
    create_project,
    duplicate_project,
    rename_project,
    restore_project,
)
from accounts.api.bodies import Body, InvalidRequest, read
from accounts.api.views import ApiView
from accounts.models import Project
from accounts.models.projects import visible_project
from assignments.api.views import ProjectsView
from potato.api.projects import ProjectState
from project_setup.actions import delete_project
from project_setup.configuration_api import LARGEST_REQUEST, ConfigurationBody
from project_setup.project_templates import TEMPLATES, template_named
from tenancy.roles import Right


class NewProject(ConfigurationBody):
    """A project, and what its configuration begins with: a text, a template, or nothing. It is a draft until it is
    published."""

    slug: Annotated[str, Field(min_length=1, max_length=63)]
    """Stands in its address: small letters, digits and hyphens."""
    name: Annotated[str, Field(min_length=1, max_length=200)]
    template: Literal[tuple(one.key for one in TEMPLATES)] | None = None  # type: ignore[valid-type]  # those there are


class ProjectNames(Body):
    """What is named is changed."""

    slug: Annotated[str, Field(min_length=1, max_length=63)] | None = None
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class OpenBody(Body):
    open: bool
    """Whether every annotator of the organisation works on the project, or its members alone."""


class Opened(BaseModel):
    open_to_annotators: bool
    released: int
    """How many held tasks went back to the queue, of people who no longer work on it."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class NewCopy(Body):
    slug: Annotated[str, Field(min_length=1, max_length=63)]
    name: Annotated[str, Field(min_length=1, max_length=200)]


class AllProjectsView(ProjectsView):
    """The list of projects, which annotators read, too; who makes projects makes one here."""

    right_to_change = Right.MAKE_PROJECTS
    largest_body = LARGEST_REQUEST

    @extend_schema(request=NewProject, responses={201: ProjectState})
    def post(self, request: Request) -> Response:
        """Make a project. Its address is taken once: the same request again is refused."""
        body = read(NewProject, request)
        source, template = body.text(), template_named(body.template or "")
        if source is not None and template is not None:
            raise InvalidRequest.at("template", "Begin with a template or with a configuration, not with both.")
        if template is not None:
            source, origin = template.source(body.name), f"template {template.key}"
        else:
            origin = "API" if source is not None else "empty"
        try:
            project = create_project(slug=body.slug, name=body.name, draft=source or "", origin=origin)
        except ValidationError as refused:
            raise InvalidRequest.from_model(refused, whole="slug") from None
        where = {"Location": self.location("api-project", project.slug)}
        return Response(_state(project), status=201, headers=where)


class WholeProjectView(ApiView):
    right = Right.CONFIGURE_PROJECTS

    def chosen(self, slug: str) -> Project:
        project: Project = Project.objects.get(pk=visible_project(self.membership, slug).pk)
        return project


class ProjectStateView(WholeProjectView):
    @extend_schema(responses=ProjectState)
    def get(self, request: Request, project: str) -> Response:
        """Whether it is published and whether it is archived."""
        return Response(_state(self.chosen(project)))

    @extend_schema(request=ProjectNames, responses=ProjectState)
    def patch(self, request: Request, project: str) -> Response:
        """Change the name or the address of the project. Old addresses lead nowhere."""
        chosen, body = self.chosen(project), read(ProjectNames, request)
        try:
            renamed = rename_project(project=chosen, slug=body.slug or chosen.slug, name=body.name or chosen.name)
        except ValidationError as refused:
            raise InvalidRequest.from_model(refused, whole="slug") from None
        return Response(_state(renamed))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, project: str) -> Response:
        """Delete a project in which nobody has annotated; one with annotations is refused, and can be archived."""
        delete_project(project=self.chosen(project))
        return Response(status=204)


class OpenView(ApiView):
    right = Right.MANAGE_MEMBERS

    @extend_schema(request=OpenBody, responses=Opened)
    def put(self, request: Request, project: str) -> Response:
        """Let every annotator of the organisation work on the project, or its members alone."""
        chosen, body = self.project(), read(OpenBody, request)
        released = open_to_annotators(project=chosen, is_open=body.open)
        return Response(Opened(open_to_annotators=body.open, released=released))


class ArchiveView(WholeProjectView):
    @extend_schema(request=None, responses=ProjectState)
    def post(self, request: Request, project: str) -> Response:
        """Take the project out of the lists; nothing new begins in it."""
        return Response(_state(archive_project(project=self.chosen(project))))


class RestoreView(WholeProjectView):
    @extend_schema(request=None, responses=ProjectState)
    def post(self, request: Request, project: str) -> Response:
        """Put an archived project back as it was."""
        return Response(_state(restore_project(project=self.chosen(project))))


class CopiesView(WholeProjectView):
    right = Right.MAKE_PROJECTS

    @extend_schema(request=NewCopy, responses={201: ProjectState})
    def post(self, request: Request, project: str) -> Response:
        """A new project that asks the same; traces, people and annotations stay."""
        body = read(NewCopy, request)
        try:
            copy = duplicate_project(project=self.chosen(project), slug=body.slug, name=body.name)
        except ValidationError as refused:
            raise InvalidRequest.from_model(refused, whole="slug") from None
        return Response(_state(copy), status=201, headers={"Location": self.location("api-project", copy.slug)})


def _state(project: Project) -> ProjectState:
    newest = project.newest_version()
    return ProjectState(
        slug=project.slug,
        name=project.name,
        version=newest.number if newest else None,
        archived_at=project.archived_at,
        open_to_annotators=project.open_to_annotators,
        created_at=project.created_at,
    )


urlpatterns = [
    path("projects/", AllProjectsView.as_view(), name="api-projects"),
    path("projects/<slug:project>/open/", OpenView.as_view(), name="api-project-open"),
    path("projects/<slug:project>/", ProjectStateView.as_view(), name="api-project"),
    path("projects/<slug:project>/archive/", ArchiveView.as_view(), name="api-project-archive"),
    path("projects/<slug:project>/restore/", RestoreView.as_view(), name="api-project-restore"),
    path("projects/<slug:project>/copies/", CopiesView.as_view(), name="api-project-copies"),
]
