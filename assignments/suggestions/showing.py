"""Which suggestion an annotator sees with a task: drawn once, when the task is first opened, and kept.

Nothing here looks at why a task was given: one with a known answer has its suggestions drawn as any other.

Each page and each submission of a project that shows suggestions asks, also where none came in. By the ORM that took
11 of the 89 million instructions of an annotator's loop (`bench/bench_annotator_loop.py`), prepared it takes 0.5.
"""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.crypto import salted_hmac

from assignments.models import Assignment, Suggestion, SuggestionExposure
from assignments.models.claims import CLAIMED_KINDS
from assignments.suggestions.items import shown_item
from potato.api.suggestions import SuggestedItem
from potato.configuration import ProjectConfiguration
from potato.schemes.suggested_items import suggested_items
from tenancy.prepared import prepared

_SALT = "assignments.suggestions"
_ANY_TIME = datetime.max.replace(tzinfo=UTC)


def is_hidden(assignment: Assignment, share: float) -> bool:
    """Whether suggestions are kept from this assignment: the same each time, and nobody outside can tell it."""
    digest = salted_hmac(_SALT, str(assignment.pk), algorithm="sha256").digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def shown_suggestion(assignment: Assignment) -> Suggestion | None:
    """What this assignment's annotator was shown; None also where it was kept from them. Draws nothing."""
    exposure = _exposure(assignment)
    return exposure.suggestion if exposure is not None and exposure.is_shown else None


def draw_suggestion(assignment: Assignment, configuration: ProjectConfiguration) -> Suggestion | None:
    """What this assignment's annotator sees, drawn now where it was not drawn before.

    Nobody is shown what came in after they claimed the task or began to answer it. Without a query where the project
    shows no suggestions.
    """
    rules = configuration.suggestions
    if not rules.shown or assignment.kind not in CLAIMED_KINDS:
        return None
    newest = _newest_at.first(assignment.organisation_id, assignment.trace_id, assignment.claimed_at or _ANY_TIME)
    if newest is None:
        return None
    exposure = _exposure(assignment)
    if exposure is None and _is_untouched(assignment):
        drawn = SuggestionExposure(
            assignment=assignment,
            suggestion=newest,
            is_shown=not is_hidden(assignment, rules.hidden_share),
        )
        with transaction.atomic():
            SuggestionExposure.objects.bulk_create([drawn], ignore_conflicts=True)
        exposure = _exposure(assignment)
    return exposure.suggestion if exposure is not None and exposure.is_shown else None


def suggestions_for_page(assignment: Assignment, configuration: ProjectConfiguration) -> list[dict[str, Any]]:
    """What the task page and programs are told: the items of what is shown. It does not say which model they are of."""
    return [item.model_dump() for item in items_for(assignment, configuration)]


def items_for(assignment: Assignment, configuration: ProjectConfiguration) -> list[SuggestedItem]:
    suggestion = draw_suggestion(assignment, configuration)
    if suggestion is None:
        return []
    items = suggested_items(suggestion.result, configuration.annotation_schemes)
    return [shown_item(scheme.name, name, item) for scheme, name, item in items]


def _exposure(assignment: Assignment) -> SuggestionExposure | None:
    return _exposures.first(assignment.organisation_id, assignment.pk)


@prepared
def _exposures(organisation: UUID | None, assignment: UUID) -> "QuerySet[SuggestionExposure]":
    rows = SuggestionExposure.objects.filter(organisation=organisation, assignment=assignment)
    return rows.select_related("suggestion")


def _is_untouched(assignment: Assignment) -> bool:
    return assignment.draft() is None and not assignment.submissions.exists()


@prepared
def _newest_at(organisation: UUID | None, trace: UUID, at: datetime) -> "QuerySet[Suggestion]":
    """What had come in at that time."""
    suggestions = Suggestion.objects.filter(organisation=organisation, trace=trace, added_at__lte=at)
    return suggestions.order_by("-added_at", "-pk")[:1]
