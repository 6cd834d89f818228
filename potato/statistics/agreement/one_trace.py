"""How far two annotations of one trace say the same: for a page that shows them, not for a report.

A coefficient needs many traces. On one trace there is only the share of what both judged that they judged the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any, TypeAlias

from potato.configuration import ProjectConfiguration
from potato.schemes.comparisons import Comparison, FirstErrorComparison, PlaceComparison, PlacedComment, same_error
from potato.schemes.matching import TOLERANCE, Sides, by_side, match_sides
from potato.schemes.registry import scheme_types

_LOOKED_AT = 12
_Places: TypeAlias = tuple[Sequence[PlacedComment], Sides]


def sameness(
    first: Mapping[str, Any], second: Mapping[str, Any], configuration: ProjectConfiguration, tolerance: int = TOLERANCE
) -> float | None:
    """From 0 to 1: the mean, over all that the configuration lets people agree on, of the share of units that both
    judged the same; of comments their F1. None where both judged nothing in common.

    `first` and `second` are the `annotations` of two records. What a scheme type cannot read is left out.
    """
    return sameness_of_pairs((first, second), configuration, tolerance)[0, 1]


def sameness_of_pairs(
    annotations: Sequence[Mapping[str, Any]], configuration: ProjectConfiguration, tolerance: int = TOLERANCE
) -> dict[tuple[int, int], float | None]:
    """The `sameness` of each two annotations of one trace, by their positions.

    Each is read once, however many pairs it is in: for ten annotators in a seventh of the time of pair by pair.
    """
    shares: dict[tuple[int, int], list[float]] = {pair: [] for pair in combinations(range(len(annotations)), 2)}
    for scheme in configuration.annotation_schemes:
        kind = scheme_types()[scheme.annotation_type]
        parts = {
            position: part
            for position, annotation in enumerate(annotations)
            if (part := annotation.get(scheme.name)) is not None and not kind.malformed(part)
        }
        for comparison in kind.comparisons(scheme) if len(parts) > 1 else ():
            share = _share(comparison, tolerance)
            answers = {position: _read(comparison, part) for position, part in parts.items()}
            for first, second in combinations(answers, 2):
                if (value := share(answers[first], answers[second])) is not None:
                    shares[first, second].append(value)
    return {pair: fmean(values) if values else None for pair, values in shares.items()}


def differ_most(
    annotations: Sequence[Mapping[str, Any]], configuration: ProjectConfiguration, number: int = 3
) -> tuple[int, ...]:
    """Which `number` of these annotations of one trace say the least alike, by their positions, in their order. Of
    more than twelve only the first twelve are looked at."""
    if len(annotations) <= number:
        return tuple(range(len(annotations)))
    pairs = sameness_of_pairs(annotations[:_LOOKED_AT], configuration)
    alike = {pair: 1.0 if share is None else share for pair, share in pairs.items()}
    looked_at = range(min(len(annotations), _LOOKED_AT))
    return min(combinations(looked_at, number), key=lambda chosen: sum(alike[pair] for pair in combinations(chosen, 2)))


def _read(comparison: Comparison, part: Any) -> Any:
    """What the comparison compares of an annotation's part."""
    if isinstance(comparison, PlaceComparison):
        comments = tuple(comparison.read(part))
        return comments, by_side(comments)
    return comparison.read(part) if isinstance(comparison, FirstErrorComparison) else dict(comparison.read(part))


def _share(comparison: Comparison, tolerance: int) -> Callable[[Any, Any], float | None]:
    """How far two that were read are the same; None where they judged nothing in common."""
    if isinstance(comparison, PlaceComparison):
        return lambda own, others: _share_of_places(own, others, tolerance)
    return _same_error if isinstance(comparison, FirstErrorComparison) else _share_of_values


def _share_of_places(own: _Places, others: _Places, tolerance: int) -> float | None:
    if not own[0] and not others[0]:
        return None
    matches = match_sides(own[0], others[0], own[1], others[1], tolerance)
    return 2 * len(matches) / (len(own[0]) + len(others[0]))


def _same_error(first: int | None, second: int | None) -> float:
    return float(same_error(first, second))


def _share_of_values(judged: Mapping[Any, Any], values: Mapping[Any, Any]) -> float | None:
    same = [judged[unit] == values[unit] for unit in judged.keys() & values.keys()]
    return fmean(same) if same else None
