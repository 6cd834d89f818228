"""Imports of a project as people read of them: how far each is, what came of it, and what they can do about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum, Window
from django.db.models.functions import Left, RowNumber
from django.urls import reverse

from accounts.models import Membership, Project
from jobs.models import JobState
from potato.checks.reading import NAMES as REPORT_NAMES
from potato.runs.converters.registry import trace_converters
from potato.runs.run_files import in_words
from potato.wording import counted
from traces import uses
from traces.actions import can_try_again
from traces.importing.check_reports import waiting_reports
from traces.importing.task_texts import texts_without_trace
from traces.listing import first_line
from traces.models import CheckReport, ImportedFile, ImportedMember, ImportProblem, Trace
from traces.uses import Whereabouts

IMPORTS_SHOWN = 25
PROBLEMS_IN_A_ROW = 5
PROBLEMS_SHOWN = 100
MEMBERS_SHOWN = 100
TRACES_SHOWN = 20
TEXTS_SHOWN = 50
_COUNTS = ("imported", "versions", "known", "errors", "stated", "reports")
_ICONS = {
    "queued": ("hourglass", ""),
    "running": ("loader-circle", ""),
    "done": ("circle-check", "ok-t"),
    "doubtful": ("triangle-alert", "warn-t"),
    "failed": ("circle-x", "bad-t"),
    "cancelled": ("circle-slash", ""),
    "undone": ("undo-2", ""),
}
_REMARK = Q(place=ImportProblem.WHOLE_FILE)


@dataclass(frozen=True)
class Progress:
    """How far an import is: `value` of `total` files or records; `total` None where it is not known."""

    value: int
    total: int | None
    words: str
    now: str


@dataclass(frozen=True)
class ImportRow:
    """One import in a list. `state` is a key of the icons; `title` what it is called, `name` its file where that is
    another; `joined` counts traces that were given a text of a task, `unmatched` texts that no trace is joined by."""

    id: UUID
    title: str
    name: str
    state: str
    icon: str
    tone: str
    state_words: str
    size: str
    files: int
    by: str
    at: datetime
    took: str
    is_open: bool
    is_ending: bool
    progress: Progress | None
    imported: int
    versions: int
    known: int
    errors: int
    stated: int
    matched: int
    unmatched: int
    joined: int
    reports: int
    reports_joined: int
    reports_waiting: int
    error: str
    problems: tuple[ImportProblem, ...]
    remarks: int
    can_undo: bool
    can_try_again: bool
    undone: str
    chosen: str
    reason: str

    @property
    def files_words(self) -> str:
        """How many files it has, where its name does not say it."""
        return "" if self.files == 1 or self.title.endswith(" files") else counted(self.files, "file")

    @property
    def icon_classes(self) -> str:
        return f"i {self.tone}"

    @property
    def is_empty(self) -> bool:
        return not (self.imported or self.known or self.stated or self.reports or self.errors)

    @property
    def announcement(self) -> str:
        """What a screen reader is told when it is over."""
        if self.state == "failed":
            return f"{self.title}: failed."
        unread = f", {self.errors:,} could not be read" if self.errors else ""
        return f"{self.title}: {counted(self.imported, 'trace')} came in, {self.known:,} known already{unread}."


@dataclass(frozen=True)
class Arrival:
    """A trace that an import brought."""

    id: UUID
    title: str
    external_id: str
    version: int
    steps: int
    files: int
    failed_steps: int
    badged_files: int
    agent_model: str


@dataclass(frozen=True)
class ImportPage:
    """One import with all that is known of it. `chosen` are the formats that were read, and how many files in each."""

    row: ImportRow
    members: Sequence[ImportedMember]
    members_further: int
    problems: Sequence[ImportProblem]
    problems_in_all: int
    remarks: Sequence[ImportProblem]
    arrivals: Sequence[Arrival]
    with_failed_steps: int
    with_badged_files: int
    whereabouts: Sequence[Whereabouts]
    unmatched: Sequence[str]
    waiting: Sequence[CheckReport]
    chosen: Sequence[tuple[str, int]]


def project_imports(project: Project) -> "QuerySet[ImportedFile]":
    """The project's imports, the newest first."""
    rows = ImportedFile.objects.filter(organisation=project.organisation_id, project=project)
    return rows.select_related("job", "project").order_by("-added_at", "-pk")


def import_rows(files: Sequence[ImportedFile], *, counts_alone: bool = False) -> list[ImportRow]:
    """The imports as a list shows them, with few queries for all. `counts_alone`: for programs, without the names, the
    titles and the first problems that people read."""
    keys = [file.pk for file in files]
    sums = {
        row["file"]: row
        for row in ImportedMember.objects.filter(file__in=keys)
        .order_by()
        .values("file")
        .annotate(number=Count("pk"), **{name: Sum(name) for name in _COUNTS})
    }
    traces = dict(
        Trace.objects.filter(file__in=keys).order_by().values("file").annotate(n=Count("pk")).values_list("file", "n")
    )
    if counts_alone:
        return [_row(file, sums.get(file.pk), traces.get(file.pk, 0), 0, {}, "", []) for file in files]
    remarks = dict(
        ImportProblem.objects.filter(_REMARK, file__in=keys)
        .order_by()
        .values("file")
        .annotate(n=Count("pk"))
        .values_list("file", "n")
    )
    people = {user for file in files for user in (file.added_by_id, file.undone_by_id) if user}
    names = dict(Membership.objects.filter(user__in=people).values_list("user", "annotator_name"))
    singles = [file.pk for file in files if traces.get(file.pk) == 1]
    tasks = dict(Trace.objects.filter(file__in=singles).annotate(start=Left("task", 400)).values_list("file", "start"))
    problems = _first_problems(keys)
    return [
        _row(
            file,
            sums.get(file.pk),
            traces.get(file.pk, 0),
            remarks.get(file.pk, 0),
            names,
            tasks.get(file.pk, ""),
            problems.get(file.pk, []),
        )
        for file in files
    ]


def _first_problems(files: Sequence[UUID]) -> dict[UUID, list[ImportProblem]]:
    """Of each import the first records that could not be read. One query."""
    place = Window(RowNumber(), partition_by="file", order_by=("place", "pk"))
    rows = ImportProblem.objects.filter(file__in=files).exclude(_REMARK).annotate(turn=place)
    first: dict[UUID, list[ImportProblem]] = {}
    for problem in rows.filter(turn__lte=PROBLEMS_IN_A_ROW).order_by("file", "place", "pk"):
        first.setdefault(problem.file_id, []).append(problem)
    return first


def import_page(file: ImportedFile) -> ImportPage:
    """One import as its page shows it."""
    (row,) = import_rows([file])
    members = file.members.order_by("is_over", "-errors", "number")
    problems = ImportProblem.objects.filter(file=file)
    errors = problems.exclude(_REMARK).order_by("member", "place", "pk")
    own = Trace.objects.filter(organisation=file.organisation_id, file=file)
    counts = own.aggregate(
        failed=Count("pk", filter=Q(error_steps__gt=0)), badged=Count("pk", filter=Q(badged_files__gt=0))
    )
    return ImportPage(
        row=row,
        members=list(members[:MEMBERS_SHOWN]),
        members_further=max(0, file.members.count() - MEMBERS_SHOWN),
        problems=list(errors[:PROBLEMS_SHOWN]),
        problems_in_all=errors.count(),
        remarks=list(problems.filter(_REMARK)[:PROBLEMS_SHOWN]),
        arrivals=[_arrival(trace) for trace in own.annotate(start=Left("task", 400)).order_by("pk")[:TRACES_SHOWN]],
        with_failed_steps=counts["failed"],
        with_badged_files=counts["badged"],
        whereabouts=uses.whereabouts(file.pk),
        unmatched=texts_without_trace(file)[:TEXTS_SHOWN] if row.stated and not row.is_open else (),
        waiting=waiting_reports(file) if row.reports and not row.is_open else (),
        chosen=_chosen_formats(file),
    )


def _chosen_formats(file: ImportedFile) -> list[tuple[str, int]]:
    """The formats of its files as people call them, the most frequent first."""
    rows = file.members.exclude(chosen="").order_by().values("chosen").annotate(number=Count("pk"))
    labels = dict(format_choices())
    labels |= {kind: name.removeprefix("a ") for kind, name in REPORT_NAMES.items()}
    return [(labels.get(row["chosen"], row["chosen"]), row["number"]) for row in rows.order_by("-number", "chosen")]


def format_choices() -> list[tuple[str, str]]:
    """The formats that a person may name."""
    return [(name, converter.label) for name, converter in sorted(trace_converters().items())]


def _arrival(trace: Any) -> Arrival:
    return Arrival(
        trace.pk,
        first_line(trace.start) or trace.external_id,
        trace.external_id,
        trace.version,
        trace.steps_count,
        trace.files_count,
        trace.error_steps,
        trace.badged_files,
        trace.agent_model,
    )


def _row(
    file: ImportedFile,
    sums: Mapping[str, Any] | None,
    traces: int,
    remarks: int,
    names: Mapping[UUID, str],
    task: str,
    problems: Sequence[ImportProblem],
) -> ImportRow:
    job = file.job
    result: Mapping[str, Any] = job.result if job is not None else {}
    # An import of before there were rows of its files has its traces, and what its job says.
    earlier = {name: result.get(name, 0) for name in _COUNTS} | {"imported": traces}
    counts = {name: (sums[name] or 0) if sums else earlier[name] for name in _COUNTS}
    state = _state(file, counts, remarks)
    icon, tone = _ICONS[state]
    is_open = job is not None and job.is_open
    title = first_line(task) or file.name
    return ImportRow(
        id=file.pk,
        title=title,
        name=file.name if title != file.name else "",
        state=state,
        icon=icon,
        tone=tone,
        state_words=_state_words(file, state),
        size=in_words(file.size),
        files=(sums["number"] if sums and not is_open else (job.cursor or {}).get("members", 0) if job else 0) or 1,
        by=names.get(file.added_by_id, "") if file.added_by_id else "a command",
        at=file.added_at,
        took=_took(file),
        is_open=is_open,
        is_ending=job is not None and job.is_cancelling,
        progress=_progress(file) if is_open else None,
        **counts,
        matched=result.get("matched", 0),
        unmatched=result.get("unmatched", 0),
        joined=result.get("joined", 0),
        reports_joined=result.get("reports_joined", 0),
        reports_waiting=result.get("reports_waiting", 0),
        error=job.error if job is not None and state == "failed" else "",
        problems=() if is_open else tuple(problems),
        remarks=remarks,
        can_undo=file.undone_at is None and not is_open and bool(traces or counts["stated"] or counts["reports"]),
        can_try_again=can_try_again(file),
        undone=_undone(file, names),
        chosen=file.chosen,
        reason=file.reason,
    )


def _state(file: ImportedFile, counts: Mapping[str, int], remarks: int) -> str:
    if file.undone_at is not None:
        return "undone"
    if file.job is None or file.job.state == JobState.DONE:
        return "doubtful" if counts["errors"] else "done"
    return str(file.job.state)


def _state_words(file: ImportedFile, state: str) -> str:
    if file.job is not None and file.job.is_cancelling:
        return "Ends after its present part"
    words = {"doubtful": "Done, with errors", "done": "Done", "queued": "Waits", "running": "Being read"}
    return words.get(state, state.capitalize())


def _undone(file: ImportedFile, names: Mapping[UUID, str]) -> str:
    return names.get(file.undone_by_id, "") if file.undone_at and file.undone_by_id else ""


def _progress(file: ImportedFile) -> Progress:
    job = file.job
    cursor: Mapping[str, Any] = (job.cursor if job is not None else None) or {}
    members, seen = cursor.get("members", 0), cursor.get("seen", 0)
    if members > 1:
        number = min(cursor.get("member", 0), members)
        now = file.members.order_by("-number").values_list("name", flat=True).first() or ""
        return Progress(number, members, f"{number:,} of {members:,} files", now)
    if cursor.get("phase") in ("join", "end"):
        return Progress(seen, None, f"{counted(seen, 'record')} read, summing up", "")
    if not cursor:
        is_running = job is not None and job.state == JobState.RUNNING
        return Progress(0, None, "Its first part is being read" if is_running else "Waits for its turn", "")
    return Progress(seen, None, f"{counted(seen, 'record')} read", "")


def _took(file: ImportedFile) -> str:
    job = file.job
    if job is None or job.started_at is None or job.finished_at is None:
        return ""
    seconds = round((job.finished_at - job.started_at).total_seconds())
    if seconds < 60:
        return f"{seconds} s"
    return f"{seconds // 60} min {seconds % 60:02} s"


def page_address(file: ImportedFile) -> str:
    """Where the import's page is."""
    return reverse("import", args=[file.project.slug, file.pk])
