"""What was found in a project's traces, for its page and the API: kinds, places and numbers, never the secret."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet
from django.db.models.functions import Left

from accounts.models import Project
from potato.runs.secrets import hide, label_of
from traces.importing.screening import in_words
from traces.listing import first_line
from traces.models import SecretsState, TraceSecrets

PLACES_SHOWN = 3
_TASK_START = 300


@dataclass(frozen=True)
class ShownSecrets:
    """One trace with what was found in it. `places` are sentences' parts, as in "GitHub token: step 3, result of the
    call, line 2"."""

    trace: UUID
    external_id: str
    title: str
    state: str
    kinds: str
    numbers: dict[str, int]
    raw_places: list[dict[str, Any]]
    places: list[str]
    occurrences: int
    found_at: datetime

    @property
    def first_places(self) -> list[str]:
        return self.places[:PLACES_SHOWN]

    @property
    def other_places(self) -> list[str]:
        return self.places[PLACES_SHOWN:]

    @property
    def label(self) -> str:
        """The state in words."""
        return SecretsState(self.state).label

    @property
    def is_held(self) -> bool:
        return self.state == SecretsState.HELD


def secrets_in(project: Project, state: str = "") -> "QuerySet[TraceSecrets]":
    """The rows of the project's traces, those of one state where it is named."""
    rows = TraceSecrets.objects.filter(organisation=project.organisation_id, trace__project=project)
    return rows.filter(state=state) if state in SecretsState.values else rows


def numbers_by_state(project: Project) -> dict[str, int]:
    """How many traces there are of each state that occurs."""
    counts = secrets_in(project).order_by().values("state").annotate(number=Count("pk"))
    return {row["state"]: row["number"] for row in counts}


def shown(rows: "QuerySet[TraceSecrets]") -> list[ShownSecrets]:
    """The rows as they are shown; names of traces are without what was found in them."""
    facts = rows.annotate(start=Left("trace__task", _TASK_START)).values(
        "trace", "trace__external_id", "start", "state", "kinds", "places", "occurrences", "found_at"
    )
    return [
        ShownSecrets(
            trace=row["trace"],
            external_id=hide(row["trace__external_id"]),
            title=first_line(hide(row["start"])) or hide(row["trace__external_id"]),
            state=row["state"],
            kinds=in_words(row["kinds"]),
            numbers=row["kinds"],
            raw_places=row["places"],
            places=[place_in_words(place) for place in row["places"]],
            occurrences=row["occurrences"],
            found_at=row["found_at"],
        )
        for row in facts
    ]


def place_in_words(place: dict[str, Any]) -> str:
    """As in "e-mail address: src/app.py, added line 3". Steps count as pages show them, from 0."""
    parts = [place["file"]] if place["file"] else []
    if place["step"] is not None:
        parts.append(f"step {place['step']}")
    if place["part"] in ("added line", "removed line"):
        parts.append(f"{place['part']} {place['line']}")
    else:
        parts += [place["part"]] if place["part"] else []
        parts.append(f"line {place['line']}")
    return f"{label_of(place['kind'])}: {', '.join(parts)}"
