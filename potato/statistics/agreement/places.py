"""Takes in placed comments, and says how far annotators agree on where to comment, and on what they call it there.

Two annotators of a trace are matched once; everything else adds up what their matching found.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np

from potato.schemes.comparisons import Measure, PlaceComparison, PlacedComment
from potato.schemes.matching import by_side, match_sides
from potato.statistics.agreement.annotator_pairs import examples
from potato.statistics.agreement.choices import Choices, Codes, Gatherer
from potato.statistics.agreement.compared import Answered, Compared, Settings
from potato.statistics.agreement.estimates import estimate, share
from potato.statistics.agreement.figures import Basis, Estimate
from potato.statistics.agreement.groups import TraceFacts, measured_groups, parts_by_name
from potato.statistics.agreement.measures import confusion_matrix, measured

Comments: TypeAlias = tuple[PlacedComment, ...]


class Places:
    """Answers that are any number of places."""

    def __init__(self, scheme: str, comparison: PlaceComparison, settings: Settings) -> None:
        self._scheme, self._comparison, self._settings = scheme, comparison, settings
        self._traces: dict[Hashable, dict[str, Comments]] = {}
        self._texts: dict[str | None, str | None] = {}
        self._numbers: dict[Hashable, int] = {}
        self._facts = TraceFacts()

    def add(self, answered: Answered) -> None:
        comments = tuple(map(self._of_shared_texts, self._comparison.read(answered.result)))
        self._traces.setdefault(answered.trace, {})[answered.annotator] = comments
        self._facts.add(self._numbers.setdefault(answered.trace, len(self._numbers)), answered)

    def _of_shared_texts(self, comment: PlacedComment) -> PlacedComment:
        """The comment with texts that are in memory once, however many comments have them."""
        file, side, category, severity = (
            self._texts.setdefault(text, text)
            for text in (comment.file, comment.side, comment.category, comment.severity)
        )
        return PlacedComment(file or "", side or "", comment.first, comment.last, category, severity)

    def compared(self) -> Compared:
        matched = _Matched(self._traces, self._settings.tolerance, tuple(self._comparison.scales))

        def f1(rows: Codes) -> Estimate:
            return matched.f1(rows, self._settings)

        everything = np.arange(len(matched.traces))
        figures = {"f1": f1(everything)}
        chosen = {
            attribute: matched.gatherers[attribute].choices(scale)
            for attribute, scale in self._comparison.scales.items()
        }
        for attribute, choices in chosen.items():
            level: Measure = "alpha_ordinal" if attribute == "severity" else "alpha_nominal"
            figures[f"{attribute}_{level}"] = measured(level, choices, self._settings)
        by_people = self._by_people(matched, f1)
        kinds = (
            *self._facts.parts(matched.traces),
            ("file", {str(path): rows for path, rows in parts_by_name(matched.files).items()}),
        )
        by_kind = {kind: measured_groups(members, matched.totals, f1) for kind, members in kinds}
        categories = chosen.get("category", Choices.gather([]))
        return Compared(
            self._scheme,
            self._comparison.name,
            self._comparison.title,
            figures,
            unit="comments",
            main="f1",
            pairs=by_people[0],
            rest=by_people[1],
            pairs_main=by_people[0],
            rest_main=by_people[1],
            by_category=self._by_category(matched),
            groups={kind: groups for kind, (groups, _) in by_kind.items()},
            groups_left_out={kind: more for kind, (_, more) in by_kind.items() if more},
            values=categories.values,
            confusion=confusion_matrix(categories),
            examples={
                (categories.values[first], categories.values[other]): named
                for (first, other), named in examples(categories, matched.named_traces).items()
            },
        )

    def _by_people(
        self, matched: _Matched, f1: Callable[[Codes], Estimate]
    ) -> tuple[dict[tuple[str, str], Estimate], dict[str, Estimate]]:
        """F1 of each two annotators who met, and of each with everybody else."""
        of_pair = {pair: np.array(rows, dtype=np.int64) for pair, rows in sorted(matched.rows_of_pair.items())}
        pairs = {pair: f1(rows) for pair, rows in of_pair.items()}
        names = sorted({name for named in self._traces.values() for name in named})
        rest = {}
        for name in names:
            own = [of_pair[pair] for pair in matched.rows_of_pair if name in pair]
            rest[name] = f1(np.concatenate(own) if own else np.zeros(0, dtype=np.int64))
        return pairs, rest

    def _by_category(self, matched: _Matched) -> dict[str, Estimate]:
        """For each category the share of its comments that the other annotator of a pair made too."""
        scale = self._comparison.scales.get("category", ())
        known = [category for category in scale if category in matched.categories]
        by_pair = {}
        for category in (*known, *sorted(matched.categories.keys() - {*known})):
            sums = np.array([*matched.categories[category].values()], dtype=np.float64)
            basis = Basis(len(sums), int(sums[:, 1].sum()), int(sums[:, 1].sum()))
            settings = self._settings
            by_pair[category] = estimate(sums, share, basis, "", samples=settings.samples, seed=settings.seed)
        return by_pair


class _Matched:
    """Every two annotators of a trace matched with each other: a row for each file that one of them commented on.

    `traces`, `pairs`, `matched`, `totals` and `files` are as long as there are rows: the trace, which pair it is,
    twice the matches, the comments of both, and the path. Ten annotators of a trace are 45 pairs, so rows are
    numbers in arrays.
    """

    def __init__(
        self, traces: Mapping[Hashable, Mapping[str, Comments]], tolerance: int, attributes: tuple[str, ...]
    ) -> None:
        self.gatherers = {attribute: Gatherer() for attribute in attributes}
        self.rows_of_pair: defaultdict[tuple[str, str], array[int]] = defaultdict(lambda: array("q"))
        self.categories: defaultdict[str, dict[int, list[int]]] = defaultdict(dict)
        self.files: list[str] = []
        self.named_traces: list[Hashable] = []
        rows = array("q")
        pair_number = 0
        for trace, (key, named) in enumerate(traces.items()):
            people = {name: (comments, by_side(comments), _by_file(comments)) for name, comments in named.items()}
            for pair in combinations(sorted(named), 2):
                of_pair = self.rows_of_pair[pair]
                (first, own, of_own), (second, others, of_others) = people[pair[0]], people[pair[1]]
                matches = match_sides(first, second, own, others, tolerance)
                both = _by_file([first[match.first] for match in matches])
                for file in sorted({*of_own, *of_others}):
                    of_pair.append(len(self.files))
                    number = of_own.get(file, 0) + of_others.get(file, 0)
                    rows.extend((trace, pair_number, 2 * both.get(file, 0), number))
                    self.files.append(file)
                pair_number += 1
                for match in matches:
                    for category in (first[match.first].category, second[match.second].category):
                        if category is not None:
                            self._category_counts(category, trace)[0] += 1
                for attribute, gatherer in self.gatherers.items():
                    for match in matches:
                        chosen = getattr(first[match.first], attribute), getattr(second[match.second], attribute)
                        if None not in chosen:
                            for name, value in zip(pair, chosen, strict=True):
                                gatherer.add(key, name, [((*pair, match.first), value)])
            for comments in named.values() if len(named) > 1 else ():
                for comment in comments:
                    if comment.category is not None:
                        # Each comment stands in the pair with every other annotator.
                        self._category_counts(comment.category, trace)[1] += len(named) - 1
        if categories := self.gatherers.get("category"):
            self.named_traces = [*categories.traces]
        table = np.frombuffer(rows, dtype=np.int64).reshape(-1, 4)
        self.traces, self.pairs, self.matched, self.totals = table.T

    def f1(self, rows: Codes, settings: Settings) -> Estimate:
        """F1 over these rows."""
        traces, numbers = np.unique(self.traces[rows], return_inverse=True)
        columns = [np.bincount(numbers.reshape(-1), weights=values[rows]) for values in (self.matched, self.totals)]
        sums = np.column_stack(columns).astype(np.float64)
        pairs = len(np.unique(self.pairs[rows]))
        basis = Basis(len(traces), pairs, pairs)
        return estimate(sums, share, basis, "", samples=settings.samples, seed=settings.seed)

    def _category_counts(self, category: str, trace: int) -> list[int]:
        """How many comments of that category were matched in the pairs of the trace, and how many there are."""
        return self.categories[category].setdefault(trace, [0, 0])


def _by_file(comments: Sequence[PlacedComment]) -> dict[str, int]:
    """How many there are in each file."""
    return Counter(comment.file for comment in comments) if comments else {}
