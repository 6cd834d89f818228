"""What of a project can be exported, and how far its exports are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.db.models import F, Q
from django.http import QueryDict
from django.utils import timezone

from accounts.models import Membership, Project
from exports.models import Export, ExportSchedule, published_annotation_types
from jobs.models import OPEN_STATES, JobState
from potato.formats.archive import Archive
from potato.formats.options import accepted_values, known_options
from potato.formats.registry import Format, formats, formats_for
from potato.formats.writing import left_out_in_words
from potato.runs.run_files import in_words
from potato.wording import listed

EXPORTS_SHOWN = 25
ON_THE_PROJECTS_PAGE = 3
FILTERS = {"": "All", "hand": "By hand", "schedule": "By schedule", "failed": "Failed"}
_TONES = {"Ready": "added", "Failed": "bad", "Cancelled": "neutral", "Removed": "neutral"}


@dataclass(frozen=True)
class ChosenOption:
    """An option of a format as a field. `values` are what it takes, the usual one first; empty for a text or, with
    `is_number`, a number. `shown` is what stands in it."""

    field: str
    label: str
    description: str
    values: list[str]
    is_number: bool
    shown: str


@dataclass(frozen=True)
class Choice:
    """A format. `why_not` says why the project cannot fill it, empty where it can."""

    name: str
    label: str
    why_not: str
    is_chosen: bool
    options: list[ChosenOption]


@dataclass(frozen=True)
class Row:
    """One export. `total` is None while it is not known, and `counted` says what is counted; `error` is a sentence, and
    `told` are those that a person should know of the file. `content` says what is in it, `by` who asked, and `kind` the
    file's suffix in capitals. `can_repeat` says that one like it can be asked for again."""

    id: UUID
    format: str
    state: str
    tone: str
    is_open: bool
    progress: int
    total: int | None
    counted: str
    rows: int
    size: str
    sha256: str
    error: str
    told: list[str]
    at: datetime
    expires_at: datetime | None
    is_ready: bool
    file_name: str
    content: str
    by: str
    left: str
    kind: str
    is_removed: bool
    can_cancel: bool
    can_repeat: bool


def last_exports(project: Project, number: int = EXPORTS_SHOWN, show: str = "", before: str = "") -> list[Row]:
    """The newest exports of the project, with two queries: those of a filter of FILTERS, older than one of that id."""
    rows = chosen_exports(project, show).select_related("job", "project", "schedule").defer("parts", "manifest")
    if before:
        rows = rows.filter(pk__lt=before)
    rows = rows.annotate(left_out=F("manifest__left_out"), remarks=F("manifest__remarks"))
    exports = list(rows.order_by("-pk")[:number])
    people = Membership.objects.filter(user__in={export.requested_by_id for export in exports})
    names = dict(people.values_list("user", "annotator_name"))
    return [_row(export, names) for export in exports]


def next_schedules(project: Project, number: int) -> list[ExportSchedule]:
    """The schedules of the project that make the next files, the first one first."""
    rows = ExportSchedule.objects.not_deleted().filter(organisation=project.organisation_id, project=project)
    return list(rows.filter(next_at__isnull=False, paused_at__isnull=True).order_by("next_at")[:number])


def chosen_exports(project: Project, show: str) -> Any:
    """The exports of that filter; all for one that does not exist."""
    rows = Export.objects.for_project(project)
    match show:
        case "hand":
            return rows.filter(schedule__isnull=True)
        case "schedule":
            return rows.filter(schedule__isnull=False)
        case "failed":
            return rows.filter(Q(job__state=JobState.FAILED), ready_at__isnull=True)
    return rows


def choices_for(project: Project, chosen: str = "", sent: Mapping[str, str] = MappingProxyType({})) -> list[Choice]:
    """Every format, those first that the project's schemes can fill, of earlier versions too; in their fields what was
    `sent`. One query. Without a choice it is the archive, which has everything and comes first."""
    fillable = sorted(formats_for(published_annotation_types([project])), key=lambda name: (name != Archive.name, name))
    first = chosen if chosen in fillable else next(iter(fillable), "")
    names = [*fillable, *(name for name in formats() if name not in fillable)]
    return [
        Choice(
            name,
            formats()[name].label,
            "" if name in fillable else _why_not(formats()[name]),
            name == first,
            list(_options(formats()[name], sent)) if name in fillable else [],
        )
        for name in names
    ]


def _why_not(format: type[Format]) -> str:
    return f"Needs a scheme of the type {listed(sorted(format.annotation_types), 'or')}, and there is none here"


def sent_options(format: str, options: Mapping[str, Any]) -> dict[str, str]:
    """The stored options of a format as its fields would send them."""
    return {f"{format}.{name}": _as_text(value) for name, value in options.items()}


def _as_text(value: Any) -> str:
    """A value as its field has it: several with commas between."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def form_texts(sent: QueryDict) -> dict[str, str]:
    """What a form sent: of each field its last value."""
    return {name: value for name, value in sent.items() if isinstance(value, str)}


def given_options(format: str, sent: Mapping[str, str]) -> dict[str, str]:
    """What a form says of that format's options, empty fields left out."""
    if format not in formats():
        return {}
    return {name: value for name in formats()[format].options.model_fields if (value := sent.get(f"{format}.{name}"))}


def _options(format: type[Format], sent: Mapping[str, str]) -> Iterator[ChosenOption]:
    for name, option in known_options({format.name: format}).items():
        field = f"{format.name}.{name}"
        usual = f"{option.default:g}" if isinstance(option.default, float) else ""
        yield ChosenOption(
            field=field,
            label=name.replace("_", " ").capitalize(),
            description=option.description,
            values=accepted_values(format.options, name),
            is_number=isinstance(option.default, float),
            shown=sent.get(field, usual),
        )


def _row(export: Any, names: Mapping[UUID, str]) -> Row:
    job = export.job
    is_open = export.ready_at is None and (job is None or job.state in OPEN_STATES)
    return Row(
        id=export.pk,
        format=export.format,
        state=export.state,
        tone=_TONES.get(export.state, "modified"),
        is_open=is_open,
        progress=job.progress if job else 0,
        total=job.total if job else None,
        counted="annotations and traces" if _is_archive(export.format) else "annotations",
        rows=export.rows,
        size=in_words(export.bytes),
        sha256=export.sha256,
        error=job.error if job and not is_open else "",
        told=[*filter(None, [left_out_in_words(export.left_out or {})]), *(export.remarks or [])],
        at=export.requested_at,
        expires_at=export.expires_at,
        is_ready=export.is_ready,
        file_name=export.file_name,
        content=content_in_words(export.format, export.options, is_only_new=export.since is not None),
        by=f"by the schedule {export.schedule.name}" if export.schedule else names.get(export.requested_by_id, ""),
        left=_left(job) if job and is_open else "",
        kind=export.file_name.rpartition(".")[2].upper() if export.format in formats() else "File",
        is_removed=export.removed_at is not None,
        can_cancel=is_open and job is not None and not job.is_cancelling,
        can_repeat=not is_open and not export.is_ready and export.format in formats(),
    )


def content_in_words(format: str, options: Mapping[str, Any], *, is_only_new: bool) -> str:
    """What of the annotations is in a file, and each option that is not as usual."""
    ways = {
        "all": "every annotation",
        "latest": "the latest of each trace",
        "adjudicated": "as adjudicated",
        "majority": "what the majority says",
    }
    words = ["only what was new"] if is_only_new else []
    if "resolve" in options:
        words.append(ways.get(options["resolve"], str(options["resolve"])))
    known = formats()[format].options.model_fields if format in formats() else {}
    for name, value in options.items():
        if name != "resolve" and (name not in known or known[name].default != value):
            words.append(f"{name.replace('_', ' ')} {_as_text(value)}")
    return "; ".join(words) or "everything"


def _left(job: Any) -> str:
    """How long it will go on, at the pace until now; empty while that cannot be said."""
    if not (job.total and job.progress and job.started_at):
        return ""
    seconds = (timezone.now() - job.started_at).total_seconds() * (job.total - job.progress) / job.progress
    return f"about {round(seconds)} s left" if seconds < 90 else f"about {round(seconds / 60)} min left"


def _is_archive(format: str) -> bool:
    """Whether traces are in the file; an export may be of a format that is not installed any more."""
    return format in formats() and formats()[format].is_archive
