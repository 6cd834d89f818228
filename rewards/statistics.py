"""Where agents first go wrong, and how far annotators agree on it: the numbers of process reward annotations.

Pure functions over records. A mean of nothing is nan, never 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan
from typing import Any, TypedDict

from rewards.configuration import MODES

THRESHOLD = 0.0
"""A step is correct when its score is above this, as in the `prm` export."""


class ProcessRewardStats(TypedDict, total=False):
    """What `process_reward_stats` counts; `error_categories` is there only where steps were rated one by one."""

    total_traces: int
    total_annotations: int
    all_correct_count: int
    all_correct_pct: float
    avg_first_error_step: float
    avg_correct_prefix_length: float
    error_by_position: dict[int, int]
    error_categories: dict[str, int]
    multi_annotator: bool
    first_error_exact_agreement: float
    first_error_near_agreement: float


@dataclass(frozen=True)
class Judgement:
    """One annotator's rewards for one trace. `labels` are scores, None where a step was not rated."""

    trace: tuple[str, int]
    annotator: str
    labels: tuple[float | None, ...]
    mode: str
    categories: tuple[str, ...]
    facts: Mapping[str, Any]

    @property
    def first_error(self) -> int | None:
        """The first step that is not correct; None where no error was found."""
        return next((at for at, label in enumerate(self.labels) if label is not None and label <= THRESHOLD), None)

    @property
    def correct_prefix(self) -> int:
        """How many steps come before the first error; all of them where there is none."""
        return len(self.labels) if self.first_error is None else self.first_error


def judgements(annotations: Iterable[Mapping[str, Any]]) -> list[Judgement]:
    """The process rewards among the records, whatever their scheme is called; of each annotator the last of a trace."""
    found: dict[tuple[tuple[str, int], str], Judgement] = {}
    for record in annotations:
        for part in record["annotations"].values():
            if isinstance(part, Mapping) and part.get("mode") in MODES and isinstance(part.get("labels"), list):
                one = _judgement(record, part)
                found.pop((one.trace, one.annotator), None)
                found[one.trace, one.annotator] = one
    return list(found.values())


def process_reward_stats(annotations: Iterable[Mapping[str, Any]]) -> ProcessRewardStats:
    """The statistics of process reward annotations.

    `annotations` are records as `load_annotations` gives them. `total_traces` counts distinct traces,
    `all_correct_count` those in which no annotation found an error, and `all_correct_pct` their share from 0 to 100.
    `avg_first_error_step` and `error_by_position` (first errors by step index) run over the annotations that found an
    error; `avg_correct_prefix_length` over all, a trace without an error counting its whole length. Agreement, from 0
    to 1, is the share of pairs of annotators that name the same first error (exact) or two next to each other (near),
    averaged within a trace first, then over traces; "no error" agrees with "no error" alone. `multi_annotator` says
    whether any trace has two annotators. A mean over nothing is nan.
    """
    found = judgements(annotations)
    by_trace: dict[tuple[str, int], list[Judgement]] = defaultdict(list)
    for one in found:
        by_trace[one.trace].append(one)
    errors = [one.first_error for one in found if one.first_error is not None]
    correct = sum(all(one.first_error is None for one in same) for same in by_trace.values())
    several = [same for same in by_trace.values() if len(same) > 1]
    stats: ProcessRewardStats = {
        "total_traces": len(by_trace),
        "total_annotations": len(found),
        "all_correct_count": correct,
        "all_correct_pct": 100 * correct / len(by_trace) if by_trace else nan,
        "avg_first_error_step": _mean(errors),
        "avg_correct_prefix_length": _mean([one.correct_prefix for one in found]),
        "error_by_position": dict(sorted(Counter(errors).items())),
        "multi_annotator": bool(several),
        "first_error_exact_agreement": _mean([_agreement(same, 0) for same in several]),
        "first_error_near_agreement": _mean([_agreement(same, 1) for same in several]),
    }
    if any(one.mode == "per_step" for one in found):
        categories = Counter(category for one in found for category in one.categories)
        stats["error_categories"] = dict(categories.most_common())
    return stats


def _judgement(record: Mapping[str, Any], part: Mapping[str, Any]) -> Judgement:
    details = part.get("step_details") or {}
    return Judgement(
        trace=(record["id"], record.get("trace_version", 1)),
        annotator=record.get("annotator", ""),
        labels=tuple(part["labels"]),
        mode=part["mode"],
        categories=tuple(detail["error_category"] for detail in details.values() if detail.get("error_category")),
        facts={**(record.get("trace") or {}), "annotator": record.get("annotator", "")},
    )


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else nan


def _agreement(same_trace: Sequence[Judgement], distance: int) -> float:
    """The share of the pairs whose first errors are at most so many steps apart."""
    pairs = list(combinations([one.first_error for one in same_trace], 2))
    return _mean([_agree(first, second, distance) for first, second in pairs])


def _agree(first: int | None, second: int | None, distance: int) -> bool:
    if first is None or second is None:
        return first is second
    return abs(first - second) <= distance
