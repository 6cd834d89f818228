"""What of a project can be exported, and how far its last exports are."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.configuration import ProjectConfiguration
from accounts.models import Project
from exports.formats.registry import formats
from exports.models import Export
from jobs.models import OPEN_STATES
from traces.sources import in_words

EXPORTS_SHOWN = 8
_TONES = {"Ready": "added", "Failed": "bad", "Cancelled": "neutral", "Removed": "neutral"}


@dataclass(frozen=True)
class Choice:
    """A format that the project's schemes can fill. `is_open` says that one such export is on its way."""

    name: str
    label: str
    is_open: bool


@dataclass(frozen=True)
class Row:
    """One export. `total` is None while it is not known; `error` is a sentence."""

    id: UUID
    format: str
    state: str
    tone: str
    is_open: bool
    progress: int
    total: int | None
    rows: int
    size: str
    sha256: str
    error: str
    at: datetime
    expires_at: datetime | None
    is_ready: bool
    file_name: str


def last_exports(project: Project) -> list[Row]:
    """The newest EXPORTS_SHOWN exports of the project, with one query."""
    rows = Export.objects.for_project(project).select_related("job", "project").defer("parts", "manifest")
    return [_row(export) for export in rows.order_by("-requested_at")[:EXPORTS_SHOWN]]


def choices_for(configuration: ProjectConfiguration, last: Iterable[Row]) -> list[Choice]:
    """The formats that are made from schemes of the configuration, or from any."""
    types = {scheme.annotation_type for scheme in configuration.annotation_schemes}
    on_their_way = {row.format for row in last if row.is_open}
    return [
        Choice(name, format.label, name in on_their_way)
        for name, format in formats().items()
        if not format.annotation_types or format.annotation_types & types
    ]


def _row(export: Export) -> Row:
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
        rows=export.rows,
        size=in_words(export.bytes),
        sha256=export.sha256,
        error=job.error if job and not is_open else "",
        at=export.requested_at,
        expires_at=export.expires_at,
        is_ready=export.is_ready,
        file_name=export.file_name,
    )
