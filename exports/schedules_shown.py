"""How a project's schedules of exports look on its pages: in sentences, with their last runs and the next ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.models import Membership, Project
from exports.models import Export, ExportSchedule
from exports.scheduling import what_of, where_of
from jobs.models import RunState, ScheduleRun
from jobs.timing_words import clocks_note, local, sentence, until
from potato.runs.sources import in_words
from potato.wording import counted

RUNS_MARKED = 10
RUNS_SHOWN = 20
_MARKS = {RunState.DONE: "is-done", RunState.FAILED: "is-failed", RunState.STARTED: "is-running"}


@dataclass(frozen=True)
class Mark:
    """One of the last runs as a small bar, with what it says as text."""

    style: str
    words: str


@dataclass(frozen=True)
class ShownSchedule:
    """A row of the list. `when` is its title, `what` and `where` follow; `then` is when it runs next, or why not."""

    id: UUID
    name: str
    when: str
    format: str
    what: str
    where: str
    marks: list[Mark]
    then: str
    has_failed: bool
    is_paused: bool


@dataclass(frozen=True)
class ShownRun:
    """A run in the history. `at` is its fire time on the schedule's clocks, `words` what came of it; `export` is the
    id of a file that can be downloaded, None where there is none."""

    id: UUID
    at: str
    state: str
    is_done: bool
    is_failed: bool
    is_open: bool
    words: str
    export: UUID | None
    file_name: str
    kind: str


def schedules_of(project: Project, organisation: str, now: datetime) -> list[ShownSchedule]:
    """The project's schedules, the oldest first, with two queries."""
    schedules: list[ExportSchedule] = list(ExportSchedule.objects.kept().filter(project=project))
    runs: dict[UUID, list[ScheduleRun]] = {}
    for run in ScheduleRun.objects.newest_of([schedule.pk for schedule in schedules], RUNS_MARKED):
        runs.setdefault(run.schedule, []).append(run)
    return [_shown(schedule, runs.get(schedule.pk, []), organisation, now) for schedule in schedules]


def history_of(schedule: ExportSchedule) -> list[ShownRun]:
    """Its last runs, the newest first."""
    runs = list(ScheduleRun.objects.of(schedule)[:RUNS_SHOWN])
    ids = [run.result["export"] for run in runs if "export" in run.result]
    ready = {str(one.pk): one for one in Export.objects.ready().filter(pk__in=ids).select_related("project")}
    return [_run(run, schedule.time_zone, ready.get(run.result.get("export", ""))) for run in runs]


def next_runs(schedule: ExportSchedule, now: datetime) -> list[tuple[str, str]]:
    """Its next three times and, where the clocks change within a year, the first time after that; each with words."""
    return times_in_words(
        schedule.timing.following(now, 4), _first_after_change(schedule, now), schedule.time_zone, now
    )


def times_in_words(
    times: Sequence[datetime], changed: datetime | None, zone: str, now: datetime
) -> list[tuple[str, str]]:
    """Four times at most: where `changed`, the first after a change of the clocks, comes later it is the fourth."""
    shown = list(times)
    if changed is not None and changed not in shown:
        shown = [*shown[:3], changed]
    notes = clocks_note(shown, zone)
    return [(local(time, zone), notes.get(time) or until(time, now)) for time in shown]


def possible_recipients(schedule: ExportSchedule | None, members: Sequence[Membership]) -> list[dict[str, Any]]:
    chosen = {one["person"]: one["when"] for one in schedule.recipients} if schedule else {}
    return [{"member": member, "when": chosen.get(str(member.user_id), "")} for member in members]


def _first_after_change(schedule: ExportSchedule, now: datetime) -> datetime | None:
    """The first time within some months that stands behind a change of the clocks; looked for among few times."""
    if schedule.interval_minutes is not None:
        return None
    times = schedule.timing.following(now, 260)
    return next(iter(clocks_note(times, schedule.time_zone)), None)


def _shown(schedule: ExportSchedule, runs: list[ScheduleRun], organisation: str, now: datetime) -> ShownSchedule:
    when = sentence(schedule.timing)
    ended = [run for run in runs if run.state != RunState.STARTED]
    has_failed = bool(ended) and ended[0].state == RunState.FAILED
    if schedule.paused_at is not None:
        then = f"paused since {local(schedule.paused_at, schedule.time_zone)}"
    elif schedule.next_at is None:
        then = "no time to come"
    else:
        then = until(schedule.next_at, now) + (", last one failed" if has_failed else "")
    return ShownSchedule(
        id=schedule.pk,
        name=schedule.name,
        when=f"{when[:1].upper()}{when[1:]}",
        format=schedule.format,
        what=what_of(schedule),
        where=where_of(schedule, organisation),
        marks=[_mark(run, schedule.time_zone) for run in reversed(runs)],
        then=then if runs else f"{then}, has not run yet",
        has_failed=has_failed,
        is_paused=schedule.is_paused,
    )


def _mark(run: ScheduleRun, zone: str) -> Mark:
    state = RunState(run.state)
    return Mark(_MARKS.get(state, "is-empty"), f"{local(run.fire_time, zone)}: {state.label.lower()}")


def _run(run: ScheduleRun, zone: str, ready: Export | None) -> ShownRun:
    words = run.error
    if run.state == RunState.DONE:
        words = f"{counted(run.result['rows'], 'row')}, {in_words(run.result['bytes'])}"
        if run.finished_at is not None:
            words += f", took {counted(max(1, round((run.finished_at - run.started_at).total_seconds())), 'second')}"
        if "address" in run.result:
            words += f", to {run.result['address']}"
    if run.missed:
        words += f"; {counted(run.missed, 'missed time')} before it became this run"
    return ShownRun(
        id=run.pk,
        at=local(run.fire_time, zone) + (", run now" if run.is_by_hand else ""),
        state=RunState(run.state).label,
        is_done=run.state == RunState.DONE,
        is_failed=run.state == RunState.FAILED,
        is_open=run.is_open,
        words=words,
        export=ready.pk if ready else None,
        file_name=ready.file_name if ready else "",
        kind=ready.file_name.rpartition(".")[2].upper() if ready else "",
    )
