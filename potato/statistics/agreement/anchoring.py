"""How far annotators follow what a model suggests: acts on what was shown, and agreement with it shown and hidden.

From a random part of the tasks suggestions are kept, so that what annotators say of these is what they would have said
anyway. Where those who saw a suggestion agree with it more often, they followed it: that difference is anchoring.
Intervals resample traces, since annotators of one trace were shown the same suggestion.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from potato.configuration import SchemeConfiguration
from potato.schemes.comparisons import Comparison, FirstErrorComparison, PlaceComparison, ValueComparison, same_error
from potato.schemes.matching import match_comments
from potato.schemes.registry import scheme_types
from potato.schemes.suggested import ACTIONS, KEY
from potato.schemes.suggested_items import suggested_items
from potato.statistics.agreement.bounds import FEW_TRACES
from potato.statistics.agreement.choices import Floats
from potato.statistics.agreement.compared import Settings
from potato.statistics.agreement.estimates import estimate, ratio, share
from potato.statistics.agreement.figures import Basis, Estimate

_SHOWN, _HIDDEN = "shown", "hidden"
_NONE = {
    _SHOWN: "no annotation where a suggestion was shown",
    _HIDDEN: "no annotation where a suggestion was hidden",
    "difference": "annotations where suggestions were shown and where they were hidden are both needed",
}


@dataclass(frozen=True)
class Exposed:
    """An annotation of a trace with a suggestion: whether its annotator saw it, what was suggested, what was said."""

    trace: Hashable
    is_shown: bool
    suggestion: Mapping[str, Any]
    annotations: Mapping[str, Any]


class Anchoring:
    """Takes annotations one by one and keeps of them their counts alone."""

    def __init__(self, schemes: Sequence[SchemeConfiguration], settings: Settings) -> None:
        self._schemes = schemes
        self._settings = settings
        self._annotations: Counter[bool] = Counter()
        self._traces: dict[bool, set[Hashable]] = {True: set(), False: set()}
        self._acts: defaultdict[str, defaultdict[Hashable, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        # By comparison and trace: agreed and compared units where it was shown, then where it was hidden.
        self._sums: defaultdict[tuple[str, str], defaultdict[Hashable, list[float]]] = defaultdict(
            lambda: defaultdict(lambda: [0.0] * 4)
        )

    def add(self, exposed: Exposed) -> None:
        self._annotations[exposed.is_shown] += 1
        self._traces[exposed.is_shown].add(exposed.trace)
        if exposed.is_shown:
            self._count_acts(exposed)
        first = 0 if exposed.is_shown else 2
        for scheme, comparison in self._comparisons():
            kind = scheme_types()[scheme.annotation_type]
            said, given = exposed.suggestion.get(scheme.name), exposed.annotations.get(scheme.name)
            if said is None or given is None or kind.malformed(said) or kind.malformed(given):
                continue
            agreed, compared = _agreed(comparison, said, given, self._settings.tolerance)
            if compared:
                row = self._sums[scheme.name, comparison.name][exposed.trace]
                row[first] += agreed
                row[first + 1] += compared

    @property
    def is_empty(self) -> bool:
        return not self._annotations

    def as_json(self) -> dict[str, Any]:
        """`shown` and `hidden` count annotations; `has_few` says that one of the two has fewer traces than an interval
        can be trusted from. `acts` are of items that were shown, `compared` of what was said by whom."""
        return {
            "shown": self._annotations[True],
            "hidden": self._annotations[False],
            "has_few": min(len(traces) for traces in self._traces.values()) < FEW_TRACES,
            "acts": [self._acts_of(scheme) for scheme in self._schemes if scheme.name in self._acts],
            "compared": [
                self._compared(scheme, comparison)
                for scheme, comparison in self._comparisons()
                if (scheme.name, comparison.name) in self._sums
            ],
        }

    def _comparisons(self) -> Iterator[tuple[SchemeConfiguration, Comparison]]:
        for scheme in self._schemes:
            comparisons = list(scheme_types()[scheme.annotation_type].comparisons(scheme))
            # A model may have labelled some steps alone: its labels are compared then, and not what follows from them.
            has_labels = any(isinstance(one, ValueComparison) and one.by_position for one in comparisons)
            for one in comparisons:
                if not (has_labels and isinstance(one, FirstErrorComparison)):
                    yield scheme, one

    def _count_acts(self, exposed: Exposed) -> None:
        said = exposed.annotations.get(KEY)
        items = said.get("items") if isinstance(said, Mapping) else None
        acts = {item["id"]: item["action"] for item in items or ()}
        for scheme, name, _ in suggested_items(exposed.suggestion, self._schemes):
            self._acts[scheme.name][exposed.trace][acts.get(name, "unanswered")] += 1

    def _acts_of(self, scheme: SchemeConfiguration) -> dict[str, Any]:
        by_trace = self._acts[scheme.name]
        total = sum(by_trace.values(), Counter[str]())
        sums = np.array([[acts["accepted"] + acts["edited"], acts.total()] for acts in by_trace.values()], dtype=float)
        kind = scheme_types()[scheme.annotation_type]
        accepted = self._estimate(sums, share, total.total(), _NONE[_SHOWN])
        return {
            "scheme": scheme.name,
            "title": kind.activity or scheme.name,
            **{action: total[action] for action in ACTIONS},
            "acceptance": asdict(accepted),
        }

    def _compared(self, scheme: SchemeConfiguration, comparison: Comparison) -> dict[str, Any]:
        rows = np.array(list(self._sums[scheme.name, comparison.name].values()), dtype=float)
        shown, hidden = rows[:, :2], rows[:, 2:]
        counts = {_SHOWN: int(shown[:, 1].sum()), _HIDDEN: int(hidden[:, 1].sum())}
        return {
            "scheme": scheme.name,
            "name": comparison.name,
            "title": comparison.title,
            _SHOWN: asdict(self._estimate(shown, share, counts[_SHOWN], _NONE[_SHOWN])),
            _HIDDEN: asdict(self._estimate(hidden, share, counts[_HIDDEN], _NONE[_HIDDEN])),
            "difference": asdict(self._estimate(rows, _difference, min(counts.values()), _NONE["difference"])),
        }

    def _estimate(self, sums: Floats, figure: Callable[[Floats], Floats], pairs: int, why: str) -> Estimate:
        traces = int(sums.any(axis=1).sum())
        settings = self._settings
        return estimate(
            sums,
            figure,
            Basis(traces, pairs, pairs),
            why,
            samples=settings.samples,
            seed=settings.seed,
            without_pairs=why,
        )


def _difference(totals: Floats) -> Floats:
    return ratio(totals[:, 0], totals[:, 1]) - ratio(totals[:, 2], totals[:, 3])


def _agreed(comparison: Comparison, said: Any, given: Any, tolerance: int) -> tuple[int, int]:
    """How much of what is suggested the annotator says too, of how much: of suggested comments those at whose place
    they comment, of values those of units that both judge."""
    if isinstance(comparison, PlaceComparison):
        places = list(comparison.read(said))
        return len(match_comments(places, list(comparison.read(given)), tolerance)), len(places)
    if isinstance(comparison, FirstErrorComparison):
        return int(same_error(comparison.read(said), comparison.read(given))), 1
    own = dict(comparison.read(given))
    both = [own[unit] == value for unit, value in comparison.read(said) if unit in own]
    return sum(both), len(both)
