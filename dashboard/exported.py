"""What of a project can be exported, and how far its last exports are."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.db.models import F

from accounts.models import Project
from exports.models import Export, annotation_types_of
from jobs.models import OPEN_STATES
from potato.formats.options import known_options, values_of
from potato.formats.registry import Format, formats, formats_for
from potato.formats.writing import left_out_in_words
from potato.runs.sources import in_words

EXPORTS_SHOWN = 8
_IN_SIGHT = frozenset({"min_score_gap"})
_TONES = {"Ready": "added", "Failed": "bad", "Cancelled": "neutral", "Removed": "neutral"}


@dataclass(frozen=True)
class ChosenOption:
    """An option of a format as a field. `values` are what it takes, the usual one first; empty for a text or, with
    `is_number`, a number. `shown` is what stands in it. `is_in_sight` says that it stands beside the button, and not
    behind "Options"."""

    field: str
    label: str
    description: str
    values: list[str]
    is_number: bool
    usual: str
    shown: str
    is_in_sight: bool


@dataclass(frozen=True)
class Choice:
    """A format that the project's schemes can fill. `is_open` says that one such export is on its way."""

    name: str
    label: str
    is_open: bool
    options: list[ChosenOption]

    @property
    def is_filled(self) -> bool:
        """Whether something other than the usual stands in a field behind "Options"."""
        return any(option.shown not in ("", option.usual, *option.values[:1]) for option in self.behind)

    @property
    def in_sight(self) -> list[ChosenOption]:
        return [option for option in self.options if option.is_in_sight]

    @property
    def behind(self) -> list[ChosenOption]:
        return [option for option in self.options if not option.is_in_sight]


@dataclass(frozen=True)
class Row:
    """One export. `total` is None while it is not known, and `counted` says what is counted; `error` is a sentence, and
    `told` are those that a person should know of the file."""

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


def last_exports(project: Project) -> list[Row]:
    """The newest EXPORTS_SHOWN exports of the project, with one query."""
    rows = Export.objects.for_project(project).select_related("job", "project").defer("parts", "manifest")
    rows = rows.annotate(left_out=F("manifest__left_out"), remarks=F("manifest__remarks"))
    return [_row(export) for export in rows.order_by("-requested_at")[:EXPORTS_SHOWN]]


def choices_for(project: Project, last: Iterable[Row], sent: Mapping[str, str] = MappingProxyType({})) -> list[Choice]:
    """The formats that the project's schemes can fill, those of earlier versions too; in their fields what was `sent`.

    One query.
    """
    on_their_way = {row.format for row in last if row.is_open}
    return [
        Choice(name, format.label, name in on_their_way, list(_options(format, sent)))
        for name, format in formats_for(annotation_types_of([project])).items()
    ]


def given_options(format: str, sent: Mapping[str, str]) -> dict[str, str]:
    """What the form of the project's page says of that format's options, empty fields left out."""
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
            values=values_of(format.options, name),
            is_number=isinstance(option.default, float),
            usual=usual,
            shown=sent.get(field, usual),
            is_in_sight=name in _IN_SIGHT,
        )


def _row(export: Any) -> Row:
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
    )


def _is_archive(format: str) -> bool:
    """Whether traces are in the file; an export may be of a format that is not installed any more."""
    return format in formats() and formats()[format].is_archive
