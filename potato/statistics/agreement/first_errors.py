"""Agreement on the first wrong step: the same step, or one nearby; "no error" agrees with "no error" alone.

No coefficient is taken over the labels that follow from a first error: they are one decision, copied to every step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from potato.schemes.comparisons import same_error
from potato.statistics.agreement.estimates import estimate, share
from potato.statistics.agreement.figures import SAMPLES, Basis, Estimate

FirstErrors = Mapping[Any, Iterable[int | None]]
"""For each trace the first error that each annotator named; None where one found no error."""


def first_error_agreement(traces: FirstErrors, within: int = 0, *, samples: int = SAMPLES, seed: int = 0) -> Estimate:
    """The share, 0 to 1, of pairs of annotators whose first errors are at most `within` steps apart.

    Averaged over the pairs of a trace first, then over the traces with two annotators or more.
    """
    rows, pairs_counted = [], 0
    for errors in traces.values():
        pairs = list(combinations(errors, 2))
        if pairs:
            pairs_counted += len(pairs)
            rows.append((sum(same_error(first, second, within) for first, second in pairs) / len(pairs), 1.0))
    sums = np.array(rows, dtype=np.float64).reshape(-1, 2)
    basis = Basis(len(rows), len(rows), pairs_counted)
    return estimate(sums, share, basis, "", samples=samples, seed=seed)


def first_error_distances(traces: FirstErrors) -> dict[int | None, int]:
    """How many pairs of annotators are how many steps apart; None counts pairs of which one alone found no error."""
    distances: Counter[int | None] = Counter()
    for errors in traces.values():
        for first, second in combinations(errors, 2):
            if first is None or second is None:
                distances[0 if first is second else None] += 1
            else:
                distances[abs(first - second)] += 1
    return dict(sorted(distances.items(), key=lambda item: (item[0] is None, item[0] or 0)))
