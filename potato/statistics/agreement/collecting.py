"""Takes answers in one after another and keeps of them what agreement needs: choices for units, or placed comments.

Nothing of an answer stays but that, so that a million labels of steps fit into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeAlias

import numpy as np

from potato.schemes.comparisons import (
    Comparison,
    FirstErrorComparison,
    Measure,
    PlaceComparison,
    ValueComparison,
)
from potato.statistics.agreement.annotator_pairs import (
    NO_ERROR,
    AnnotatorPairs,
    distances,
    examples,
    examples_apart,
    near,
    without_error,
)
from potato.statistics.agreement.choices import Choices, Codes, Gatherer
from potato.statistics.agreement.compared import NEAR, WITHIN, Answered, Compared, Reliability, Settings
from potato.statistics.agreement.consensus import dawid_skene
from potato.statistics.agreement.figures import Estimate
from potato.statistics.agreement.groups import Members, TraceFacts, measured_groups, parts_by_name
from potato.statistics.agreement.measures import confusion_matrix, measured
from potato.statistics.agreement.places import Places

MOST_CELLS = 50_000
"""Of the tables of all annotators together, so that a report stays small."""

Measuring: TypeAlias = Callable[[Choices], Estimate]


class _Chosen:
    """Answers that are values for units; what is said of all of them alike."""

    def __init__(self) -> None:
        self._gatherer = Gatherer()
        self._facts = TraceFacts()

    def _take(self, answered: Answered, chosen: Iterable[tuple[Hashable, Hashable]]) -> None:
        self._gatherer.answer(answered.trace, answered.annotator, chosen)
        self._facts.add(self._gatherer.traces[answered.trace], answered)

    def _by_people(self, choices: Choices, share: Measuring, main: Measuring) -> dict[str, Any]:
        pairs = AnnotatorPairs.among(choices)
        by_pair = {(first, other): pairs.as_choices(kept) for first, other, kept in pairs.by_annotators()}
        rest = {
            str(name): pairs.as_choices(pairs.of_annotator(number))
            for name, number in sorted((str(name), number) for number, name in enumerate(choices.names))
        }
        return {
            "pairs": {pair: share(own) for pair, own in by_pair.items()},
            "rest": {name: share(own) for name, own in rest.items()},
            "pairs_main": {pair: main(own) for pair, own in by_pair.items()},
            "rest_main": {name: main(own) for name, own in rest.items()},
        }

    def _by_group(self, choices: Choices, main: Measuring, files: Members | None = None) -> dict[str, Any]:
        judged = np.bincount(choices.units, minlength=len(choices.trace_of_unit))
        pairs = judged * (judged - 1) // 2

        def of_units(units: Codes) -> Estimate:
            return main(_part(choices, units))

        kinds = (*self._facts.parts(choices.trace_of_unit), *([("file", files)] if files else []))
        measured = {kind: measured_groups(members, pairs, of_units) for kind, members in kinds}
        return {
            "groups": {kind: groups for kind, (groups, _) in measured.items()},
            "groups_left_out": {kind: more for kind, (_, more) in measured.items() if more},
        }


class Values(_Chosen):
    """Answers that have a value for each unit."""

    def __init__(self, scheme: str, comparison: ValueComparison, settings: Settings) -> None:
        super().__init__()
        self._scheme, self._comparison, self._settings = scheme, comparison, settings

    def add(self, answered: Answered) -> None:
        self._take(answered, self._comparison.read(answered.result))

    def compared(self) -> Compared:
        comparison = self._comparison
        choices = self._gatherer.choices(comparison.scale)
        main = comparison.measures[0]
        units = self._gatherer.units()
        positions = parts_by_name(units) if comparison.by_position else {}
        files = {str(name): own for name, own in parts_by_name(units).items()} if comparison.by_file else None
        steps = {int(str(position)): _part(choices, own) for position, own in positions.items()}
        return Compared(
            self._scheme,
            comparison.name,
            comparison.title,
            {measure: self._measure(measure, choices) for measure in comparison.measures},
            unit=comparison.unit,
            main=main,
            **self._by_people(choices, self._share, self._main),
            **self._by_group(choices, self._main, files),
            by_position={position: self._share(own) for position, own in sorted(steps.items())},
            by_position_main={position: self._main(own) for position, own in sorted(steps.items())},
            values=choices.values,
            confusion=confusion_matrix(choices),
            reliability=_reliability(choices) if main == "alpha_nominal" else None,
            examples={
                (choices.values[first], choices.values[other]): traces
                for (first, other), traces in examples(choices, [*self._gatherer.traces]).items()
            },
        )

    def _main(self, choices: Choices) -> Estimate:
        return self._measure(self._comparison.measures[0], choices)

    def _share(self, choices: Choices) -> Estimate:
        return self._measure("percent", choices)

    def _measure(self, measure: Measure, choices: Choices) -> Estimate:
        return measured(measure, choices, self._settings)


class FirstErrors(_Chosen):
    """Answers that have one first error, or none."""

    def __init__(self, scheme: str, comparison: FirstErrorComparison, settings: Settings) -> None:
        super().__init__()
        self._scheme, self._comparison, self._settings = scheme, comparison, settings

    def add(self, answered: Answered) -> None:
        step = self._comparison.read(answered.result)
        self._take(answered, [("", NO_ERROR if step is None else step)])

    def compared(self) -> Compared:
        choices = self._gatherer.choices()
        return Compared(
            self._scheme,
            self._comparison.name,
            self._comparison.title,
            {
                "same": self._within(choices, 0),
                "near": self._within(choices, NEAR),
                "within": self._within(choices, WITHIN),
                "found_alpha_nominal": measured("alpha_nominal", _has_error(choices), self._settings),
            },
            unit="traces",
            main="same",
            **self._by_people(choices, self._same, self._same),
            **self._by_group(choices, self._same),
            distances=distances(choices),
            without_error=without_error(choices),
            examples={(steps,): traces for steps, traces in examples_apart(choices, [*self._gatherer.traces]).items()},
        )

    def _same(self, choices: Choices) -> Estimate:
        return self._within(choices, 0)

    def _within(self, choices: Choices, steps: int) -> Estimate:
        return near(choices, steps, samples=self._settings.samples, seed=self._settings.seed)


Collector: TypeAlias = Values | FirstErrors | Places


def collector(scheme: str, comparison: Comparison, settings: Settings) -> Collector:
    """What takes in the answers of one comparison, and says at the end how far they agree."""
    if isinstance(comparison, ValueComparison):
        return Values(scheme, comparison, settings)
    if isinstance(comparison, PlaceComparison):
        return Places(scheme, comparison, settings)
    return FirstErrors(scheme, comparison, settings)


def _part(choices: Choices, units: Codes) -> Choices:
    kept = np.zeros(len(choices.trace_of_unit), dtype=np.bool_)
    kept[units] = True
    return choices.of_units(kept)


def _reliability(choices: Choices) -> Reliability | None:
    """None where there is nothing to weigh, and where the tables of all annotators would be too long to keep."""
    size, people = len(choices.values), len(choices.names)
    if size < 2 or people < 2 or size * size * people > MOST_CELLS:
        return None
    fit = dawid_skene(choices)
    if fit.confusions is None or not fit.overlaps:
        return None
    tables = [tuple(map(tuple, table)) for table in np.round(fit.confusions, 4).tolist()]
    return Reliability(
        tuple(np.round(fit.priors, 4).tolist()),
        {
            str(name): tuple(map(tuple, table))
            for name, table in sorted(zip(map(str, choices.names), tables, strict=True))
        },
        fit.doubts,
    )


def _has_error(choices: Choices) -> Choices:
    """First errors as whether there is one."""
    is_error = np.array([value != NO_ERROR for value in choices.values], dtype=np.int64)
    codes = is_error[choices.codes] if len(is_error) else choices.codes
    return Choices(
        values=("none", "found"),
        names=choices.names,
        units=choices.units,
        annotators=choices.annotators,
        codes=codes,
        trace_of_unit=choices.trace_of_unit,
        traces=choices.traces,
    )
