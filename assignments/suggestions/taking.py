"""Takes what models suggest of traces: records with the trace's id, the model and its answers, checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.models import Project
from assignments.machine_records import (
    CannotTake,
    answered_schemes,
    as_refusal,
    newest_configuration,
    record_object,
    trace_of,
)
from assignments.models import Suggestion
from jobs.row_text import storable
from potato.configuration import ProjectConfiguration
from potato.runs.exact_json import json_sha256
from potato.schemes.registry import scheme_types
from tenancy import audit
from tenancy.actor import current
from tenancy.errors import Refused
from traces.evidence.judged_files import read_evidence
from traces.models import Trace
from traces.models.bodies import pack

KEYS = ("id", "trace_version", "model", "model_version", "provenance", "annotations", "shown_to", "hidden_from")
AT_ONCE = 1_000
_LONGEST = 200
_MOST_FACTS = 20


class NoSuggestions(Refused):
    code = "no_suggestions"
    status = 400


@dataclass
class TakenSuggestions:
    """What became of some records. `problems` are place, field and sentence of those that were refused."""

    taken: int = 0
    known: int = 0
    problems: list[tuple[int, str, str]] = field(default_factory=list)


def take_suggestions(*, project: Project, records: Sequence[Any]) -> TakenSuggestions:
    """Take some records; a place counts them from 1. The same again is known; a record that cannot be taken keeps no
    other one out. What is taken is shown with tasks that are claimed from now on.

    Raises NoSuggestions for none or more than AT_ONCE, and NoConfiguration.
    """
    if not 0 < len(records) <= AT_ONCE:
        raise NoSuggestions(f"Send from 1 to {AT_ONCE:,} records in a request, not {len(records):,}.")
    taken = TakenSuggestions()
    with transaction.atomic():
        version, configuration = newest_configuration(project)
        for place, value in enumerate(records, 1):
            try:
                record = record_object(value, KEYS, "id, model, model_version and annotations")
                model, model_version = _name(record, "model"), _name(record, "model_version")
                facts = _provenance(record.get("provenance"))
                trace = trace_of(record, project)
                given = record.get("annotations")
                digest = json_sha256(given)
                known = Suggestion.objects.filter(
                    organisation=project.organisation_id, trace=trace, model=model, model_version=model_version
                ).first()
                if known is not None:
                    _demand_same(known, digest, trace)
                    taken.known += 1
                    continue
                kept = _checked(given, answered_schemes(given, configuration), trace)
            except CannotTake as refusal:
                taken.problems.append((place, refusal.field, refusal.sentence))
                continue
            Suggestion.objects.create(
                project=project,
                trace=trace,
                configuration=version,
                model=model,
                model_version=model_version,
                provenance=facts,
                packed=pack(kept),
                given_sha256=digest,
                added_by_id=current().user,
            )
            taken.taken += 1
        if taken.taken:
            audit.record("suggestions.imported", project, taken=taken.taken, refused=len(taken.problems))
    return taken


def _demand_same(known: Suggestion, digest: str, trace: Trace) -> None:
    if known.given_sha256 != digest:
        raise CannotTake(
            "annotations",
            f"{known.model} {known.model_version} has suggested something else for {trace} already, and suggestions "
            "never change. Import these under another model_version.",
        )


def _checked(given: Any, configuration: ProjectConfiguration, trace: Trace) -> dict[str, Any]:
    """The answers as they are kept. Raises CannotTake with the first fault."""
    evidence, now = read_evidence(trace), timezone.now()
    kept: dict[str, Any] = {}
    for scheme in configuration.annotation_schemes:
        kind = scheme_types()[scheme.annotation_type]
        if reason := kind.cannot_judge(scheme, evidence.contents):
            raise CannotTake(f"annotations.{scheme.name}", f"{scheme.name}: {reason}, so nothing can be suggested.")
        answers = given[scheme.name]
        kept[scheme.name], gaps = kind.suggestion(answers, kind.adapt_to_evidence(scheme, evidence), evidence, now)
        if gaps:
            raise as_refusal(tuple(gap.below(scheme.name) for gap in gaps))
        if not any(True for _ in kind.suggested(kept[scheme.name], scheme)):
            raise CannotTake(
                f"annotations.{scheme.name}",
                f"Nothing is suggested under {scheme.name} that could be shown. Leave it out, or say something.",
            )
    return kept


def _name(record: Mapping[str, Any], key: str) -> str:
    text = record.get(key)
    if not isinstance(text, str) or not text.strip():
        raise CannotTake(key, f"{key} is missing: say which model suggests, and its version.")
    if len(text) > _LONGEST:
        raise CannotTake(key, f"{key} may have {_LONGEST} characters, not {len(text)}.")
    return storable(text.strip())


def _provenance(value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for text in value.values()):
        raise CannotTake("provenance", 'provenance must be an object of texts, as in {"prompt": "review-3"}.')
    if len(value) > _MOST_FACTS or any(len(text) > _LONGEST for pair in value.items() for text in pair):
        raise CannotTake("provenance", f"provenance may have {_MOST_FACTS} texts of {_LONGEST} characters.")
    return {storable(key): storable(text) for key, text in value.items()}
