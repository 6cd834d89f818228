"""Exports in the admin: ask for one, watch its job, download its file, read its manifest; and their schedules."""

import json
from typing import Any, cast

from django import forms
from django.contrib.admin import AdminSite, display
from django.contrib.messages import success
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.models import Project
from accounts.schedules.admin import ScheduleAdmin, with_pause
from exports.actions import request_export
from exports.models import Export, ExportPolicy, ExportSchedule, published_annotation_types
from exports.policies import OverQuota, change_policy, demand_room, replace_pseudonym_key, usage
from exports.scheduling import schedule_sentence
from jobs.bounds import TooManyJobs, demand_capacity
from potato.formats.compression import demand_compressible
from potato.formats.options import known_options, read_options
from potato.formats.registry import demand_schemes, formats, formats_for
from potato.records.sources import RecordsError
from potato.runs.run_files import in_words
from tenancy.admin import OrganisationModelAdmin, OrganisationModelForm
from tenancy.roles import Right


class RequestForm(OrganisationModelForm[Export]):
    """What a person chooses; saving is the action's. Every option of any format has a field, named option_..."""

    format = forms.ChoiceField()

    class Meta:
        model = Export
        fields = ["project", "format"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "format" in self.fields:
            # Those that a project of the organisation can fill; whether the chosen one can is seen when it is chosen.
            offered = formats_for(published_annotation_types(Project.objects.all()))
            choices = [(name, f"{name}: {format.label}") for name, format in offered.items()]
            cast(forms.ChoiceField, self.fields["format"]).choices = choices

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        try:
            demand_capacity()
            demand_room()
        except (TooManyJobs, OverQuota) as refusal:
            raise ValidationError(refusal.sentence) from None
        format, project = formats().get(given.get("format", "")), given.get("project")
        if format is not None:
            try:
                options = read_options(format.options, self.chosen()).chosen()
                demand_compressible(format.name, options.get("compression", "none"), format.kind_of_file(options)[0])
                if project is not None:
                    demand_schemes(format, published_annotation_types([project]))
            except RecordsError as refusal:
                raise ValidationError(refusal.sentence) from None
        return given

    def chosen(self) -> dict[str, str]:
        """The options that were given."""
        names = known_options(formats())
        return {name: given for name in names if (given := self.cleaned_data.get(f"option_{name}"))}


class ExportAdmin(OrganisationModelAdmin[Export]):
    view_right = add_right = Right.EXPORT
    form = RequestForm
    list_display = [
        "format_name",
        "project",
        "present_state",
        "rows",
        "size",
        "download",
        "requested_by",
        "requested_at",
    ]
    list_filter = ["project", "format"]
    list_select_related = ["project", "job", "requested_by"]
    date_hierarchy = "requested_at"
    readonly_fields = [
        "format", "project", "chosen", "present_state", "rows", "size", "hash", "file", "requested_by",
        "requested_at", "expires_at", "manifest_text",
    ]  # fmt: skip

    def get_form(self, request: HttpRequest, obj: Export | None = None, change: bool = False, **kwargs: Any) -> Any:
        """The form with a field for each option that installed formats have."""
        fields = {f"option_{name}": _field(name, option) for name, option in known_options(formats()).items()}
        form = type("RequestFormWithOptions", (RequestForm,), fields)
        made = super().get_form(request, obj, change=change, form=form, **kwargs)
        if project := made.base_fields.get("project"):
            widget = project.widget
            widget.can_add_related = widget.can_change_related = widget.can_view_related = False
        return made

    def get_fields(self, request: HttpRequest, obj: Export | None = None) -> Any:
        options = [f"option_{name}" for name in known_options(formats())]
        return ["project", "format", *options] if obj is None else self.readonly_fields

    def get_readonly_fields(self, request: HttpRequest, obj: Export | None = None) -> Any:
        return [] if obj is None else self.readonly_fields

    def save_model(self, request: HttpRequest, obj: Export, form: Any, change: bool) -> None:
        given = form.cleaned_data
        made = request_export(project=given["project"], format=given["format"], options=form.chosen())
        obj.pk, obj.job, obj.requested_at = made.pk, made.job, made.requested_at

    def response_add(self, request: HttpRequest, obj: Export, post_url_continue: str | None = None) -> HttpResponse:
        success(request, f"{obj.format} is being exported. Reload this page to see how far it is.")
        return HttpResponseRedirect(reverse("admin:exports_export_change", args=[obj.pk]))

    @display(description="format", ordering="format")
    def format_name(self, export: Export) -> str:
        return export.format

    @display(description="options")
    def chosen(self, export: Export) -> str:
        return ", ".join(f"{name}: {value}" for name, value in export.options.items()) or "none"

    @display(description="state")
    def present_state(self, export: Export) -> SafeString | str:
        job = export.job
        if job is None or export.ready_at is not None:
            return export.state
        how_far = f"{export.state}, {job.progress}" + (f" of {job.total}" if job.total else "")
        reason = format_html(" {}", job.error) if job.error else ""
        return format_html('<a href="{}">{}</a>{}', reverse("admin:jobs_job_change", args=[job.pk]), how_far, reason)

    @display(description="size", ordering="bytes")
    def size(self, export: Export) -> str:
        return in_words(export.bytes)

    @display(description="file")
    def file(self, export: Export) -> SafeString | str:
        if not export.is_ready:
            return "removed" if export.removed_at else "none yet"
        return format_html('<a href="{}" download>{}</a>', reverse("export-file", args=[export.pk]), export.file_name)

    @display(description="file")
    def download(self, export: Export) -> SafeString | str:
        """As `file`, in the narrow column of a list."""
        if not export.is_ready:
            return self.file(export)
        words = '<a href="{}" download aria-label="Download {}">Download</a>'
        return format_html(words, reverse("export-file", args=[export.pk]), export.file_name)

    @display(description="SHA-256", empty_value="none yet")
    def hash(self, export: Export) -> str:
        return export.sha256

    @display(description="manifest")
    def manifest_text(self, export: Export) -> SafeString | str:
        return format_html("<pre>{}</pre>", json.dumps(export.manifest, indent=2)) if export.manifest else "none yet"

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "project":
            kwargs["queryset"] = Project.objects.order_by("name")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class ExportScheduleAdmin(ScheduleAdmin[ExportSchedule]):
    view_right = Right.EXPORT
    list_filter = ["project", "format"]
    fields = ["name", "project", "in_words", "chosen", "time_zone", "next_at", "paused_at", "paused_because",
              "destination", "bucket", "folder", "destination_checked_at", "runs", "page", "created_by",
              "created_at"]  # fmt: skip
    readonly_fields = ["in_words", "chosen", "last_run", "runs", "page"]

    @display(description="when, what and where to")
    def in_words(self, schedule: ExportSchedule) -> str:
        return with_pause(schedule, schedule_sentence(schedule, schedule.organisation.slug))

    @display(description="options")
    def chosen(self, schedule: ExportSchedule) -> str:
        return ", ".join(f"{name}: {value}" for name, value in schedule.options.items()) or "none"


class PolicyForm(OrganisationModelForm[ExportPolicy]):
    """Quota and days; and a new key on request, which cannot be undone."""

    new_pseudonym_key = forms.BooleanField(
        required=False,
        label="New key for pseudonyms",
        help_text="Everybody has another name in exports from then on, and nobody can tell that it is the same person. "
        "This cannot be undone.",
    )

    class Meta:
        model = ExportPolicy
        fields = ["quota_mib", "retention_days"]


class ExportPolicyAdmin(OrganisationModelAdmin[ExportPolicy]):
    view_right = add_right = change_right = Right.CONFIGURE_PROJECTS
    form = PolicyForm
    list_display = ["__str__", "quota_mib", "used", "retention_days", "pseudonym_key_made_at"]
    readonly_fields = ["used", "pseudonym_key_made_at"]
    fields = ["quota_mib", "used", "retention_days", "pseudonym_key_made_at", "new_pseudonym_key"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not ExportPolicy.objects.exists()

    @display(description="kept now")
    def used(self, policy: ExportPolicy) -> str:
        return usage().sentence

    def save_model(self, request: HttpRequest, obj: ExportPolicy, form: Any, change: bool) -> None:
        given = form.cleaned_data
        row = change_policy(quota_mib=given["quota_mib"], retention_days=given["retention_days"])
        if given["new_pseudonym_key"]:
            row = replace_pseudonym_key()
        obj.pk = row.pk


def _field(name: str, option: Any) -> forms.Field:
    label, help_text = name.replace("_", " ").capitalize(), f"{option.description} ({', '.join(option.formats)})"
    if option.choices:
        choices = [("", "As usual"), *((choice, choice) for choice in option.choices)]
        return forms.ChoiceField(choices=choices, required=False, label=label, help_text=help_text)
    return forms.CharField(required=False, label=label, help_text=help_text)


def register(site: AdminSite) -> None:
    site.register(Export, ExportAdmin)
    site.register(ExportSchedule, ExportScheduleAdmin)
    site.register(ExportPolicy, ExportPolicyAdmin)
