"""The page of everything that a source answered: each answer in words, with the tool, file and author it comes from."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.models.projects import visible_project
from agreement.models import Source, SourceAnswer
from agreement.navigation import views_of_agreement
from assignments.summaries import ShownChoice, readable_configurations
from potato.configuration import ProjectConfiguration
from potato.records.annotations import opinions
from potato.records.other_tools.reading import TITLES
from potato.schemes.opinions import Opinion
from potato.wording import lines_in_words
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import Right
from traces.models import Trace
from traces.run_names import run_name

ON_A_PAGE = 25


@dataclass(frozen=True)
class AnswerCells:
    """One thing that an answer says: of what, the choices, the number, and the words beside it."""

    about: str
    title: str
    choices: tuple[ShownChoice, ...]
    number: str
    text: str
    suggestion: str | None


@dataclass(frozen=True)
class AnswerRow:
    """An answer with its trace. `origin` is where it comes from in a line, "" for what was never in another tool."""

    trace: Trace
    name: str
    answered_at: datetime | None
    origin: str
    rows: tuple[AnswerCells, ...]
    is_unreadable: bool


@requires(Right.SEE_ANNOTATIONS)
@require_safe
def answers(request: OrganisationRequest, project: str, source_id: UUID) -> HttpResponse:
    """What the source answered, the newest first."""
    chosen = visible_project(request.membership, project)
    source = get_object_or_404(Source.objects.for_project(chosen), pk=source_id)
    rows = SourceAnswer.objects.of(source).select_related("trace").order_by("-pk")
    page = Paginator(rows, ON_A_PAGE).get_page(request.GET.get("page"))
    configurations = readable_configurations({answer.version_id for answer in page})
    context = {
        "project": chosen,
        "source": source,
        "source_name": str(source),
        "views": views_of_agreement(chosen, "agreement-machines"),
        "version": chosen.newest_version(),
        "page": page,
        "page_base": "?",
        "rows": [_row(answer, configurations.get(answer.version_id)) for answer in page],
        "may_see_traces": allowed(request, Right.SEE_TRACES, chosen),
    }
    return render(request, "agreement/sources/answers.html", context)


def origin_in_words(origin: dict[str, str]) -> str:
    """As "GitHub, octo, review.json, 90"; "" for nothing."""
    tool = TITLES.get(origin.get("tool", ""), origin.get("tool", ""))
    return ", ".join(part for part in (tool, *(origin.get(key, "") for key in ("author", "file", "id"))) if part)


def _row(answer: SourceAnswer, configuration: ProjectConfiguration | None) -> AnswerRow:
    trace = answer.trace
    said = tuple(_answer_cells(answer.result, configuration)) if configuration is not None else ()
    return AnswerRow(
        trace,
        run_name(trace.task, trace.external_id),
        answer.answered_at,
        origin_in_words(answer.origin),
        said,
        configuration is None,
    )


def _answer_cells(result: Any, configuration: ProjectConfiguration) -> Iterator[AnswerCells]:
    for scheme, _, opinion in opinions(result, configuration):
        yield AnswerCells(
            _about(opinion),
            opinion.title,
            tuple(ShownChoice.of(choice, scheme.name) for choice in opinion.choices),
            "" if opinion.number is None else f"{opinion.number:g}",
            opinion.text,
            opinion.replacement,
        )


def _about(opinion: Opinion) -> str:
    if opinion.place is not None:
        place = opinion.place
        lines = lines_in_words(place.first, place.last)
        return f"{place.file}, {'old ' if place.side == 'old' else ''}{lines}"
    if opinion.file is not None:
        return opinion.file
    return "Whole run" if opinion.step is None else f"Step {opinion.step}"
