"""The pages of one schedule of exports: make it, change it, see what it did, run, pause and remove it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import mail
from accounts.models import Membership, Project
from exports import destinations
from exports.models import Destination, ExportSchedule
from exports.pages import project_named
from exports.schedules_shown import history_of, next_runs, possible_recipients
from exports.scheduling import (
    Wanted,
    can_be_mailed,
    change_schedule,
    check_again,
    check_wanted,
    make_schedule,
    sentence_of,
)
from exports.shown import choices_for, given_options, sent_options, texts_of
from jobs.models import RunState
from jobs.schedules.actions import RunIsOpen, pause_schedule, remove_schedule, resume_schedule, run_now
from jobs.timing import BadTiming, zone_names
from jobs.timing_words import DAYS, Fields, cron_of, fields_of, until
from tenancy.errors import Refused
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right

SHAPES = (
    ("daily", "Daily"),
    ("weekly", "Weekly"),
    ("monthly", "Monthly"),
    ("interval", "Every few hours"),
    ("cron", "Cron"),
)
_HOUR = 60


@requires(Right.EXPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def new_schedule(request: OrganisationRequest, project: str) -> HttpResponse:
    """GET: the form, with the format and options that the form of an export sent along. POST: make it."""
    found = project_named(request, project)
    if request.method != "POST":
        return _page(request, found, None, _usual(request.GET))
    try:
        made = make_schedule(project=found, wanted=_wanted(request, request.POST))
    except Refused as refusal:
        return _page(request, found, None, request.POST, refusal)
    messages.success(request, f"{made.name} is on. Its first run is {_next(made)}.")
    return redirect(reverse("export-schedule", args=[found.slug, made.pk]))


@requires(Right.EXPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def schedule(request: OrganisationRequest, project: str, schedule_id: UUID) -> HttpResponse:
    """GET: what it does, its next runs and its last ones, and the form. POST: change it."""
    found, row = _schedule(request, project, schedule_id)
    if request.method != "POST":
        return _page(request, found, row, _fields_of(row))
    try:
        row = change_schedule(schedule=row, wanted=_wanted(request, request.POST))
    except Refused as refusal:
        return _page(request, found, row, request.POST, refusal)
    messages.success(request, f"{row.name} is saved.")
    return redirect(reverse("export-schedule", args=[found.slug, row.pk]))


@requires(Right.EXPORT)
@require_safe
def preview(request: OrganisationRequest, project: str) -> HttpResponse:
    """The sentence and the next runs of what stands in the form; nothing is stored, and no bucket is tried."""
    found = project_named(request, project)
    part = render(request, "exports/partials/sentence.html", _said(request, found, request.GET))
    part["Cache-Control"] = "no-store"
    return part


@requires(Right.EXPORT)
@require_POST
def run(request: OrganisationRequest, project: str, schedule_id: UUID) -> HttpResponse:
    found, row = _schedule(request, project, schedule_id)
    try:
        began = run_now(schedule=row)
    except RunIsOpen as refusal:
        messages.warning(request, refusal.sentence)
    else:
        if began.state == RunState.FAILED:
            messages.error(request, began.error)
        else:
            messages.success(request, f"{row.name} runs now." if began.is_open else f"{row.name}: {began.error}")
    return _back(request, found, row)


@requires(Right.EXPORT)
@require_POST
def pause(request: OrganisationRequest, project: str, schedule_id: UUID) -> HttpResponse:
    found, row = _schedule(request, project, schedule_id)
    pause_schedule(schedule=row)
    messages.success(request, f"{row.name} is paused. It fires no more until somebody resumes it.")
    return _back(request, found, row)


@requires(Right.EXPORT)
@require_POST
def resume(request: OrganisationRequest, project: str, schedule_id: UUID) -> HttpResponse:
    found, row = _schedule(request, project, schedule_id)
    resume_schedule(schedule=row)
    messages.success(request, f"{row.name} is on again. Its next run is {_next(row)}.")
    return _back(request, found, row)


@requires(Right.EXPORT)
@require_POST
def check(request: OrganisationRequest, project: str, schedule_id: UUID) -> HttpResponse:
    """Write a test file where it writes, and remove it."""
    found, row = _schedule(request, project, schedule_id)
    try:
        check_again(schedule=row)
    except Refused as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.success(request, "A test file was written and removed.")
    return redirect(reverse("export-schedule", args=[found.slug, row.pk]))


@requires(Right.EXPORT)
@require_POST
def remove(request: OrganisationRequest, project: str, schedule_id: UUID) -> HttpResponse:
    found, row = _schedule(request, project, schedule_id)
    remove_schedule(schedule=row)
    messages.success(request, f"{row.name} is deleted. The files that it made stay until their time is over.")
    return redirect(f"{reverse('project-exports', args=[found.slug])}#schedules")


def _schedule(request: OrganisationRequest, project: str, schedule_id: UUID) -> tuple[Project, ExportSchedule]:
    found = project_named(request, project)
    rows = ExportSchedule.objects.kept().filter(project=found).select_related("project", "created_by")
    row: ExportSchedule = get_object_or_404(rows, pk=schedule_id)
    return found, row


def _next(row: ExportSchedule) -> str:
    return until(row.next_at, timezone.now()) if row.next_at else "not to come"


def _back(request: OrganisationRequest, project: Project, row: ExportSchedule) -> HttpResponse:
    """To the page where the button was."""
    if request.POST.get("from") == "list":
        return redirect(f"{reverse('project-exports', args=[project.slug])}#schedules")
    return redirect(reverse("export-schedule", args=[project.slug, row.pk]))


def _page(
    request: OrganisationRequest,
    project: Project,
    row: ExportSchedule | None,
    sent: QueryDict,
    refusal: Refused | None = None,
) -> HttpResponse:
    members = Membership.objects.active().select_related("user").order_by("annotator_name")
    recipients = possible_recipients(row, [member for member in members if can_be_mailed(member)])
    for one in recipients:
        one["field"] = f"tell.{one['member'].user_id}"
        one["when"] = sent.get(one["field"], one["when"])
    return render(
        request,
        "exports/schedule.html",
        {
            "project": project,
            "schedule": row,
            "by": members.filter(user=row.created_by_id).values_list("annotator_name", flat=True).first()
            if row
            else "",
            "sent": sent,
            "shapes": [(name, title, name == sent.get("shape")) for name, title in SHAPES],
            "days": [(str(number), name, str(number) in sent.getlist("days")) for number, name in enumerate(DAYS, 1)],
            "zones": zone_names(),
            "formats": choices_for(project, sent.get("format", ""), texts_of(sent)),
            "buckets": destinations.bucket_names(),
            "organisation": request.membership.organisation_slug,
            "places": [(name, title, name == sent.get("destination")) for name, title in Destination.choices],
            "recipients": recipients,
            "has_mail": mail.is_configured(),
            "history": history_of(row) if row else [],
            "refusal": refusal.sentence if refusal else "",
            **_said(request, project, sent),
        },
        status=refusal.status if refusal else 200,
    )


def _said(request: OrganisationRequest, project: Project, sent: QueryDict) -> dict[str, Any]:
    """The sentence of what stands in the form and its next runs, or what is wrong with it."""
    now = timezone.now()
    try:
        wanted = _wanted(request, sent, usual_name="Schedule")
        checked = check_wanted(project=project, wanted=wanted, starts_at=now)
    except Refused as refusal:
        return {"sentence": "", "problem": refusal.sentence, "next_runs": [], "first": ""}
    row = ExportSchedule(project=project, **checked.fields)
    row.set_timing(checked.timing, now)
    return {
        "sentence": sentence_of(row, request.membership.organisation_slug),
        "problem": "",
        "cron": row.cron,
        "next_runs": next_runs(row, now),
        "zone": row.time_zone,
        "is_real_time": row.interval_minutes is not None,
    }


def _wanted(request: OrganisationRequest, sent: QueryDict, usual_name: str = "") -> Wanted:
    """What the form sends. Raises BadTiming where a time or an interval is no number."""
    cron, interval = _timing(sent)
    format, destination = sent.get("format", ""), sent.get("destination", "")
    is_bucket = destination == Destination.BUCKET
    people = {
        UUID(name.removeprefix("tell.")): when
        for name, when in texts_of(sent).items()
        if name.startswith("tell.") and when and _is_id(name.removeprefix("tell."))
    }
    return Wanted(
        name=sent.get("name", "").strip() or usual_name,
        format=format,
        cron=cron,
        interval_minutes=interval,
        time_zone=sent.get("time_zone", ""),
        options=given_options(format, texts_of(sent)),
        only_new=sent.get("only_new") == "yes",
        destination=destination,
        bucket=sent.get("bucket", "") if is_bucket else "",
        folder=sent.get("folder", "") if is_bucket else "",
        people=people,
    )


def _timing(sent: QueryDict) -> tuple[str, int | None]:
    shape = sent.get("shape", "")
    if shape == "cron":
        return sent.get("cron", ""), None
    try:
        if shape == "interval":
            return "", round(float(sent.get("hours", "").replace(",", ".")) * _HOUR)
        hour, minute = map(int, sent.get("at", "").split(":")[:2])
        days = tuple(sorted(int(day) for day in sent.getlist("days")))
        fields = Fields(shape, f"{hour:02}:{minute:02}", days, int(sent.get("day") or 1))  # type: ignore[arg-type]
        if shape == "weekly" and not days:
            raise BadTiming("Choose at least one day of the week.")
        return cron_of(fields), None
    except (ValueError, OverflowError):
        what = "the number of hours, as in 6" if shape == "interval" else "the time of the day, as in 06:00"
        raise BadTiming(f"Give {what}.") from None


def _usual(sent: QueryDict) -> QueryDict:
    """The form of a new schedule: what came along, and for the rest what is usual."""
    usual = QueryDict(mutable=True)
    usual.update({"shape": "weekly", "at": "06:00", "days": "1", "day": "1", "hours": "6", "time_zone": "UTC"})
    usual.update({"destination": Destination.KEPT.value, "cron": "0 6 * * 1"})
    for name in sent:
        usual.setlist(name, sent.getlist(name))
    return usual


def _fields_of(row: ExportSchedule) -> QueryDict:
    """The form of a schedule as it is stored."""
    fields = fields_of(row.timing)
    sent = _usual(QueryDict())
    sent.setlist("days", [str(day) for day in fields.days])
    hours = fields.minutes / _HOUR
    for name, value in {
        **sent_options(row.format, row.options),
        "name": row.name,
        "shape": fields.shape,
        "at": fields.at,
        "day": str(fields.day),
        "hours": f"{hours:g}",
        "cron": row.cron or sent["cron"],
        "time_zone": row.time_zone,
        "format": row.format,
        "only_new": "yes" if row.only_new else "",
        "destination": row.destination,
        "bucket": row.bucket,
        "folder": row.folder,
        **{f"tell.{one['person']}": one["when"] for one in row.recipients},
    }.items():
        sent[name] = value
    return sent


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
