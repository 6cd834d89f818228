"""Reports of agreement on schedule: what a run computes, and what people decide about such a schedule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import Project
from accounts.schedules.recipients import checked_recipients
from agreement.actions import checked_settings, request_report
from agreement.computing import ComputeAgreement
from agreement.models import AgreementReport, AgreementSchedule, Compares, Reason, Source, SourceAnswer, SourceReport
from agreement.since_report import has_changed_after
from agreement.sources.comparing import request_comparison
from jobs.models import Job, JobState, OutboxEvent, RunState, ScheduleRun
from jobs.schedules.definitions import BadSchedule, ScheduleTimes, demand_room, locked, read_name
from jobs.schedules.kinds import NothingToDo, Outcome, job_outcome
from jobs.timing import Timing
from jobs.timing_words import sentence
from potato.wording import counted
from tenancy import audit
from tenancy.actor import current
from tenancy.roles import Right

NIGHTLY = "Every night"
NIGHT = "0 2 * * *"


@dataclass(frozen=True)
class Definition(ScheduleTimes):
    """What a person wants of a schedule, as it came in; `sources` are the ids of those that are compared if chosen."""

    name: str
    settings: Mapping[str, int] = field(default_factory=dict, kw_only=True)
    compares: str = field(default=Compares.NONE, kw_only=True)
    sources: Sequence[UUID] = field(default=(), kw_only=True)


@dataclass(frozen=True)
class Checked:
    """What of it can be stored."""

    timing: Timing
    fields: dict[str, Any]


class ScheduledReports:
    """The kind of schedule that computes agreement. A run is a report and then one comparison for each source, as far
    as anything came in since the last ones."""

    name = "agreement"
    label = "Scheduled report of agreement"
    right = Right.SEE_ANNOTATIONS
    route = "agreement-schedule"
    model = AgreementSchedule

    def start(self, schedule: AgreementSchedule, run: ScheduleRun) -> Job:
        waiting = [str(source.pk) for source in compared_sources(schedule) if has_news(source)]
        run.result = {"waiting": waiting, "comparisons": [], "problems": []}
        if is_old(schedule):
            report = request_report(
                project=schedule.project, reason=Reason.SCHEDULE, settings=schedule.settings, schedule=schedule
            )
            run.result["report"] = str(report.pk)
            return report.job  # type: ignore[return-value]  # request_report() has just set it
        job = _next_comparison(run)
        if job is None:
            raise NothingToDo("Nothing came in since the last report.")
        return job

    def after(self, schedule: AgreementSchedule, run: ScheduleRun, job: Job) -> Job | Outcome:
        over = job_outcome(job)
        if job.kind == ComputeAgreement.name and job.state != JobState.DONE:
            return over
        if job.state != JobState.DONE:
            compared = SourceReport.objects.filter(pk=run.result["comparisons"][-1]).select_related("source").get()
            run.result["problems"] = [*run.result["problems"], f"{compared.source}: {over.error}"]
        following = _next_comparison(run)
        if following is not None:
            return following
        problems = " ".join(run.result["problems"])
        return Outcome(RunState.FAILED if problems else RunState.DONE, problems, _figures(run))


def is_old(schedule: AgreementSchedule) -> bool:
    """Whether the newest report with these settings lacks annotations, or is of another configuration."""
    reports = AgreementReport.objects.for_project(schedule.project).whole().finished()
    newest = reports.filter(settings=schedule.settings).defer("figures").order_by("-computed_at", "-pk").first()
    if newest is None:
        return has_changed_after(schedule.project, schedule.project.created_at)
    version = schedule.project.newest_version()
    if newest.version_number != (version.number if version else None):
        return True
    return has_changed_after(schedule.project, newest.seen_until)


def has_news(source: Source) -> bool:
    """Whether the source or people answered since it was compared last."""
    newest = SourceReport.objects.of(source).computed().first()
    if newest is None:
        return SourceAnswer.objects.of(source).exists()
    then = datetime.fromisoformat(newest.snapshot["at"])
    return SourceAnswer.objects.of(source).filter(added_at__gt=then).exists() or (
        newest.answers > 0 and has_changed_after(source.project, then)
    )


def compared_sources(schedule: AgreementSchedule) -> list[Source]:
    """Those that a run compares, by name."""
    sources = Source.objects.for_project(schedule.project).select_related("project")
    match schedule.compares:
        case Compares.ALL:
            return list(sources)
        case Compares.CHOSEN:
            return list(sources.filter(pk__in=schedule.sources))
    return []


def make_schedule(*, project: Project, definition: Definition) -> AgreementSchedule:
    """Store a schedule of the project, whose first run is at its next time.

    Raises BadTiming, UnfitSettings, BadSchedule or TooManySchedules, each with what is wrong.
    """
    now = timezone.now()
    demand_room(AgreementSchedule, project.pk)
    checked = check_definition(project=project, definition=definition, starts_at=now)
    with transaction.atomic():
        schedule = AgreementSchedule(project=project, created_by_id=current().user, **checked.fields)
        schedule.set_timing(checked.timing, now)
        schedule.save()
        audit.record("schedule.made", schedule, project=project.slug, **_facts(schedule))
    return schedule


def change_schedule(*, schedule: AgreementSchedule, definition: Definition, seen: str = "") -> AgreementSchedule:
    """Change it as a whole; raises as make_schedule() does, and ChangedMeanwhile where `seen` is not its tag."""
    now = timezone.now()
    checked = check_definition(project=schedule.project, definition=definition, starts_at=now)
    with transaction.atomic():
        schedule = locked(schedule, seen)
        for name, value in checked.fields.items():
            setattr(schedule, name, value)
        schedule.change_timing(checked.timing, now)
        schedule.save()
        audit.record("schedule.changed", schedule, **_facts(schedule))
    return schedule


def check_definition(*, project: Project, definition: Definition, starts_at: datetime) -> Checked:
    """What can be stored of it. Raises as make_schedule() does."""
    name, timing = read_name(definition.name), definition.timing(starts_at)
    settings = checked_settings(definition.settings)
    if definition.compares not in Compares.values:
        raise BadSchedule(f"Sources to compare are one of {', '.join(Compares.values)}.")
    if definition.sources and definition.compares != Compares.CHOSEN:
        raise BadSchedule("Sources are named where they are chosen, and only there. Leave them out.")
    if definition.compares == Compares.CHOSEN and not definition.sources:
        raise BadSchedule("Choose at least one source, or compare people alone.")
    own = set(Source.objects.for_project(project).filter(pk__in=definition.sources).values_list("pk", flat=True))
    if strangers := [str(source) for source in definition.sources if source not in own]:
        raise BadSchedule(f"{', '.join(strangers)}: this project has no such source. Leave it out.")
    return Checked(
        timing,
        {
            "name": name,
            "settings": settings,
            "compares": definition.compares,
            "sources": sorted(map(str, own)),
            "recipients": checked_recipients(project, definition.people, Right.SEE_ANNOTATIONS),
        },
    )


def schedule_nightly(event: OutboxEvent) -> None:
    """Subscriber of configuration.published: with its first configuration a project gets the nightly schedule."""
    if event.payload["number"] != 1:
        return
    with transaction.atomic():
        # The event may come twice, also at once; a nightly schedule that somebody removed is still in the table.
        project = Project.objects.select_for_update(of=("self",)).defer("draft").get(pk=event.payload["project"])
        if not AgreementSchedule.objects.filter(project=project, name=NIGHTLY).exists():
            make_schedule(project=project, definition=Definition(NIGHTLY, cron=NIGHT, compares=Compares.ALL))


def schedule_sentence(schedule: AgreementSchedule) -> str:
    """What it does and when: "Every day at 02:00 UTC, agreement of people, and every source beside them."."""
    when = sentence(schedule.timing)
    return f"{when[:1].upper()}{when[1:]}, {what_in_words(schedule)}."


def what_in_words(schedule: AgreementSchedule) -> str:
    match schedule.compares:
        case Compares.ALL:
            return "agreement of people, and every source beside them"
        case Compares.CHOSEN:
            return f"agreement of people, and {counted(len(schedule.sources), 'source')} beside them"
    return "agreement of people"


def _next_comparison(run: ScheduleRun) -> Job | None:
    """The job of the next source; None where none is left."""
    while run.result["waiting"]:
        name, *run.result["waiting"] = run.result["waiting"]
        source = Source.objects.filter(pk=name).first()
        if source is not None:
            report = request_comparison(source=source)
            run.result["comparisons"] = [*run.result["comparisons"], str(report.pk)]
            return report.job
    return None


def _figures(run: ScheduleRun) -> dict[str, Any]:
    """What the history says of the run."""
    report = AgreementReport.objects.filter(pk=run.result.get("report")).defer("figures").first()
    counts = {"annotations": report.annotations, "shared_traces": report.shared_traces} if report else {}
    return {**counts, "compared": len(run.result["comparisons"]) - len(run.result["problems"])}


def _facts(schedule: AgreementSchedule) -> dict[str, Any]:
    return {
        "name": schedule.name,
        "when": sentence(schedule.timing),
        "settings": schedule.settings,
        "compares": schedule.compares,
        "sources": schedule.sources,
        "people": len(schedule.recipients),
    }
