"""Projects in the admin: name and address, the configuration's editor, its versions and their differences.

The rules live in accounts.actions.projects; these views parse, call one action and answer.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.admin import display
from django.contrib.messages import success
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from accounts.actions.projects import (
    BreaksAnnotations,
    DraftChanged,
    NotPublishable,
    create_project,
    discard_draft,
    publish_configuration,
    rename_project,
    save_draft,
)
from accounts.models import ConfigurationVersion, Project
from accounts.textdiff import unified_rows
from potato.configuration import CheckedConfiguration, check_configuration
from tenancy.admin import OrganisationModelAdmin
from tenancy.permissions import demand
from tenancy.roles import Right


class DraftForm(forms.Form):
    """What the editor sends. Spaces at the ends are the author's."""

    source = forms.CharField(required=False, strip=False)
    revision = forms.IntegerField(min_value=0)
    note = forms.CharField(required=False, max_length=200)
    confirmed = forms.BooleanField(required=False)
    action = forms.ChoiceField(choices=[("save", "Save"), ("publish", "Publish"), ("discard", "Discard")])

    def clean_source(self) -> str:
        # Browsers send a textarea's lines with CR LF, whatever was written.
        source: str = self.cleaned_data["source"]
        return source.replace("\r\n", "\n")


class ProjectAdmin(OrganisationModelAdmin[Project]):
    view_right = add_right = change_right = Right.CONFIGURE_PROJECTS
    list_display = ["name", "slug", "published", "configuration_link", "created_at"]
    search_fields = ["name", "slug"]
    fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}

    def get_queryset(self, request: HttpRequest) -> Any:
        return Project.objects.with_newest_version()

    @display(description="published", ordering="newest_number")
    def published(self, project: Any) -> str:
        return f"version {project.newest_number}" if project.newest_number else "not yet"

    @display(description="configuration")
    def configuration_link(self, project: Project) -> SafeString:
        return format_html('<a href="{}">Edit</a>', _url("configuration", project))

    def save_model(self, request: HttpRequest, obj: Project, form: forms.ModelForm[Project], change: bool) -> None:
        if change:
            rename_project(project=Project.objects.get(pk=obj.pk), slug=obj.slug, name=obj.name)
        else:
            obj.pk = create_project(slug=obj.slug, name=obj.name).pk

    def response_add(self, request: HttpRequest, obj: Project, post_url_continue: str | None = None) -> HttpResponse:
        """A new project wants a configuration next."""
        success(request, f"{obj.name} is made. Write its configuration, then publish it.")
        return HttpResponseRedirect(_url("configuration", obj))

    def get_urls(self) -> list[URLPattern]:
        def route(pattern: str, view: Callable[..., HttpResponse], name: str) -> URLPattern:
            return path(pattern, self.admin_site.admin_view(view), name=f"accounts_project_{name}")

        return [
            route("<uuid:project_id>/configuration/", self.configuration_view, "configuration"),
            route("<uuid:project_id>/configuration/check/", require_POST(self.check_view), "check"),
            route("<uuid:project_id>/versions/", self.versions_view, "versions"),
            *super().get_urls(),
        ]

    def configuration_view(self, request: HttpRequest, project_id: UUID) -> HttpResponse:
        """The editor: GET shows the draft, POST saves, publishes or discards it."""
        project = _project(request, project_id)
        if request.method != "POST":
            return self._editor(request, project, project.draft)
        form = DraftForm(request.POST)
        if not form.is_valid():
            return self._editor(
                request, project, request.POST.get("source", ""), refusal=_first_error(form), revision=0, status=400
            )
        given = form.cleaned_data
        if given["action"] == "discard":
            return self._discard(request, project, given)
        try:
            save_draft(project=project, source=given["source"], revision=given["revision"])
        except DraftChanged as refusal:
            return self._conflict(request, project, given, refusal)
        if given["action"] == "save":
            success(request, "The draft is saved.")
            return HttpResponseRedirect(_url("configuration", project))
        return self._publish(request, project, given)

    def _discard(self, request: HttpRequest, project: Project, given: dict[str, Any]) -> HttpResponse:
        try:
            discard_draft(project=project, revision=given["revision"])
        except DraftChanged as refusal:
            return self._conflict(request, project, given, refusal)
        success(request, "The draft is discarded; the editor holds the published configuration.")
        return HttpResponseRedirect(_url("configuration", project))

    def _conflict(
        self, request: HttpRequest, project: Project, given: dict[str, Any], refusal: DraftChanged
    ) -> TemplateResponse:
        sentence, revision = refusal.sentence, given["revision"]
        return self._editor(
            request, project, given["source"], refusal=sentence, revision=revision, status=refusal.status
        )

    def _publish(self, request: HttpRequest, project: Project, given: dict[str, Any]) -> HttpResponse:
        before = project.newest_version()
        try:
            version = publish_configuration(
                project=project, source=given["source"], note=given["note"], confirmed=given["confirmed"]
            )
        except NotPublishable as refusal:
            return self._editor(request, project, given["source"], checked=refusal.checked, status=refusal.status)
        except BreaksAnnotations as refusal:
            return self._confirmation(request, project, given, refusal)
        if before is not None and before.pk == version.pk:
            success(request, f"Version {version.number} is this text already: nothing was published.")
        else:
            success(request, f"Version {version.number} is published. New work is done under it.")
        return HttpResponseRedirect(_url("versions", project))

    def _editor(
        self,
        request: HttpRequest,
        project: Project,
        source: str,
        *,
        checked: CheckedConfiguration | None = None,
        refusal: str = "",
        revision: int | None = None,
        status: int = 200,
    ) -> TemplateResponse:
        """`revision` is the one that the text came from; sent again it is refused again, until the page is reloaded."""
        if checked is None:
            checked = check_configuration(source) if source.strip() else CheckedConfiguration(None, ())
        newest = project.newest_version()
        context = {
            **self._frame(request, project, "Set-up"),
            "source": source,
            "revision": project.draft_revision if revision is None else revision,
            "problems": _as_json(checked),
            "errors": len(checked.errors),
            "warnings": len(checked.warnings),
            "checked_at": timezone.now(),
            "next_number": newest.number + 1 if newest else 1,
            "is_published": newest is not None and newest.source == source,
            "newest": newest,
            "refusal": refusal,
        }
        return TemplateResponse(request, "admin/accounts/project/configuration.html", context, status=status)

    def _confirmation(
        self, request: HttpRequest, project: Project, given: dict[str, Any], refusal: BreaksAnnotations
    ) -> TemplateResponse:
        context = {
            **self._frame(request, project, "Publish"),
            "breaking_changes": refusal.breaking_changes,
            "source": given["source"],
            "note": given["note"],
            "revision": project.draft_revision,
        }
        return TemplateResponse(request, "admin/accounts/project/publish_confirm.html", context, status=refusal.status)

    def check_view(self, request: HttpRequest, project_id: UUID) -> HttpResponse:
        """What is wrong with the text as it stands; nothing is stored."""
        _project(request, project_id)
        checked = check_configuration(request.POST.get("source", "").replace("\r\n", "\n"))
        return JsonResponse({"problems": _as_json(checked), "checked_at": timezone.now().isoformat()})

    def versions_view(self, request: HttpRequest, project_id: UUID) -> HttpResponse:
        """The published versions, and the difference of two: ?old=1&new=2; the two newest unless told."""
        project = _project(request, project_id)
        versions = list(project.versions.select_related("published_by").order_by("-number"))
        new = _chosen(request.GET.get("new"), versions, default=0)
        old = _chosen(request.GET.get("old"), versions, default=1)
        context = {
            **self._frame(request, project, "Versions"),
            "versions": versions,
            "old": old,
            "new": new,
            "rows": unified_rows(old.source, new.source) if old and new else [],
        }
        return TemplateResponse(request, "admin/accounts/project/versions.html", context)

    def _frame(self, request: HttpRequest, project: Project, title: str) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            "subtitle": project.name,
            "project": project,
            "configuration_url": _url("configuration", project),
            "check_url": _url("check", project),
            "versions_url": _url("versions", project),
            "project_url": _url("change", project),
        }


def _project(request: HttpRequest, project_id: UUID) -> Project:
    demand(request, Right.CONFIGURE_PROJECTS)
    return get_object_or_404(Project, pk=project_id)


def _url(name: str, project: Project) -> str:
    return reverse(f"admin:accounts_project_{name}", args=[project.pk])


def _as_json(checked: CheckedConfiguration) -> list[dict[str, Any]]:
    return [
        {
            "line": problem.line,
            "column": problem.column,
            "severity": problem.severity,
            "message": problem.message,
            "path": list(problem.path),
        }
        for problem in checked.problems
    ]


def _chosen(number: str | None, versions: list[ConfigurationVersion], *, default: int) -> ConfigurationVersion | None:
    if number is None:
        return versions[default] if default < len(versions) else None
    for version in versions:
        if str(version.number) == number:
            return version
    raise Http404(f"There is no version {number}.")


def _first_error(form: forms.Form) -> str:
    return " ".join(str(error) for errors in form.errors.values() for error in errors)
