"""How far a project's annotators follow suggestions, out of the database, for its report of agreement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from accounts.models import Project
from assignments.filtering import filtered
from assignments.models import Kind, Submission, Suggestion, SuggestionExposure
from potato.configuration import SchemeConfiguration
from potato.records.filters import Filters
from potato.statistics.agreement.bounds import FEW_PAIRS
from potato.statistics.agreement.compared import Settings
from tenancy.snapshots import Snapshot
from traces.models.bodies import unpack

_COLUMNS = (
    "assignment__trace_id",
    "assignment__kind",
    "assignment__exposures__suggestion_id",
    "assignment__exposures__is_shown",
    "packed",
)


def stored_anchoring(
    project: Project,
    snapshot: Snapshot,
    schemes: Sequence[SchemeConfiguration],
    settings: Settings,
    filters: Filters,
) -> dict[str, Any] | None:
    """The part `suggestions` of a report's figures; None where no annotation that counts was drawn for one."""
    exposures = SuggestionExposure.objects.filter(organisation=project.organisation_id, assignment__project=project)
    if not exposures.exists():
        return None
    from agreement.stored import counted_rows
    from potato.statistics.agreement.anchoring import Anchoring, Exposed

    @lru_cache(maxsize=1_000)
    def suggestion(pk: UUID) -> Any:
        return Suggestion.objects.get(organisation=project.organisation_id, pk=pk).result

    anchoring = Anchoring(schemes, settings)
    drawn = Submission.objects.for_project(project).filter(assignment__exposures__isnull=False)
    for trace, kind, pk, is_shown, packed in counted_rows(
        project, snapshot, filtered(drawn, project, filters), _COLUMNS
    ):
        if kind == Kind.NORMAL:
            anchoring.add(Exposed(trace, is_shown, suggestion(pk), unpack(packed)))
    return None if anchoring.is_empty else anchoring.as_json()


@dataclass(frozen=True)
class ActsRow:
    """What annotators did with what was suggested under a scheme, and the share that they accepted or edited."""

    scheme: str
    accepted: int
    edited: int
    rejected: int
    unanswered: int
    share: str


@dataclass(frozen=True)
class AnchoringRow:
    """How often annotators say what was suggested, where they saw it and where they did not. `basis` is of both."""

    title: str
    shown: str
    hidden: str
    difference: str
    basis: str


@dataclass(frozen=True)
class AnchoringSection:
    shown: int
    hidden: int
    has_few: bool
    acts: tuple[ActsRow, ...]
    compared: tuple[AnchoringRow, ...]


def anchoring_section(figures: Mapping[str, Any]) -> AnchoringSection | None:
    """What a report's page says of suggestions; None where it has none."""
    part = figures.get("suggestions")
    if part is None:
        return None
    acts = tuple(
        ActsRow(
            row["scheme"],
            **{action: row[action] for action in ("accepted", "edited", "rejected", "unanswered")},
            share=_in_per_cent(row["acceptance"]),
        )
        for row in part["acts"]
    )
    compared = tuple(
        AnchoringRow(
            row["title"],
            _in_per_cent(row["shown"]),
            _in_per_cent(row["hidden"]),
            _in_points(row["difference"]),
            f"{row['shown']['pairs']:,} shown, {row['hidden']['pairs']:,} hidden",
        )
        for row in part["compared"]
    )
    return AnchoringSection(part["shown"], part["hidden"], part["has_few"], acts, compared)


def _in_per_cent(estimate: Mapping[str, Any]) -> str:
    if estimate["value"] is None:
        return "none yet"
    if estimate["low"] is None:
        return f"{estimate['value']:.0%}"
    return f"{estimate['value']:.0%} ({estimate['low']:.0%} to {estimate['high']:.0%})"


def _in_points(estimate: Mapping[str, Any]) -> str:
    if estimate["value"] is None:
        return "not known"
    if estimate["pairs"] < FEW_PAIRS:
        return "too few"
    points = f"{100 * estimate['value']:+.0f} points"
    if estimate["low"] is None:
        return points
    return f"{points} ({100 * estimate['low']:+.0f} to {100 * estimate['high']:+.0f})"
