"""What a submission is worth by the expected annotation, as its pinned configuration has it."""

from dataclasses import dataclass
from typing import Any

from accounts.models import ConfigurationVersion, Project
from assignments.models import Assignment
from gold.models import ExpectedAnnotation
from potato.configuration import UnreadablePinError
from potato.configuration.project import Gold
from potato.schemes.gold import AnnotationScore, GoldError, score_annotation
from potato.schemes.scoring import ScoredPart, Tolerance


@dataclass(frozen=True)
class Scored:
    """A score from 0 to 1 with its parts as JSON."""

    score: float
    parts: list[dict[str, Any]]


def gold_rules(project: Project) -> Gold | None:
    """What the newest version says of gold; None where it says nothing."""
    versions = ConfigurationVersion.objects.filter(project=project).order_by("-number")
    block = versions.values_list("configuration__gold", flat=True).first()
    return Gold.model_validate(block) if block else None


def score_of_result(
    expected: ExpectedAnnotation, assignment: Assignment, result: dict[str, Any], rules: Gold | None
) -> Scored | None:
    """How near the result comes; None, with the reason written at the expected annotation, where that cannot be
    said."""
    asked = rules or Gold()
    tolerance = Tolerance(asked.line_tolerance, asked.step_tolerance, asked.rating_tolerance)
    try:
        schemes = assignment.configuration().annotation_schemes
        score = score_annotation(expected.annotations, result, schemes, tolerance)
    except (GoldError, UnreadablePinError) as error:
        ExpectedAnnotation.objects.filter(pk=expected.pk).update(problem=str(error)[:500])
        return None
    return Scored(score.score, parts_as_json(score))


def parts_as_json(score: AnnotationScore) -> list[dict[str, Any]]:
    """The parts of all schemes, as rows keep them."""
    return [_as_json(name, part) for name, scheme in score.schemes.items() for part in scheme.parts]


def _as_json(scheme: str, part: ScoredPart) -> dict[str, Any]:
    return {
        "scheme": scheme,
        "title": part.title,
        "outcome": part.outcome,
        "points": part.points,
        "sentence": part.sentence,
        "unit": part.unit if isinstance(part.unit, str | int) else str(part.unit),
        "expected": _value(part.expected),
        "given": _value(part.given),
        "expected_at": part.expected_at,
        "given_at": part.given_at,
    }


def _value(value: Any) -> Any:
    """A place as an object, any other value as it is."""
    if hasattr(value, "first") and hasattr(value, "last"):
        return {name: getattr(value, name) for name in ("file", "side", "first", "last", "category")}
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
