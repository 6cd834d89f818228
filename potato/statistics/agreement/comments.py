"""How far annotators agree on where to comment, and what the comments that match say.

F1 = 2 * matched / (comments of one + comments of the other): it needs no count of the lines that nobody commented,
which kappa would (Hripcsak and Rothschild, Journal of the American Medical Informatics Association 12 (2005) 296).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from potato.schemes.comparisons import PlacedComment
from potato.schemes.matching import TOLERANCE, match_comments
from potato.statistics.agreement.choices import Judged
from potato.statistics.agreement.estimates import estimate, share
from potato.statistics.agreement.figures import SAMPLES, Basis, Estimate

ByAnnotator = Mapping[Any, Sequence[PlacedComment]]
"""The comments of each annotator on one trace; an annotator who made none has an empty sequence."""


def comment_agreement(
    traces: Mapping[Any, ByAnnotator], tolerance: int = TOLERANCE, *, samples: int = SAMPLES, seed: int = 0
) -> Estimate:
    """F1, 0 to 1, of where annotators commented, over all pairs of annotators of each trace.

    A pair of whom neither commented says nothing and is left out. `units` and `pairs` both count pairs of annotators.
    """
    rows, pairs = [], 0
    for annotators in traces.values():
        matched = total = 0
        for first, second in combinations(annotators.values(), 2):
            if first or second:
                pairs += 1
                matched += 2 * len(match_comments(first, second, tolerance))
                total += len(first) + len(second)
        if total:
            rows.append((matched, total))
    sums = np.array(rows, dtype=np.float64).reshape(-1, 2)
    return estimate(sums, share, Basis(len(rows), pairs, pairs), "", samples=samples, seed=seed)


def matched_values(traces: Mapping[Any, ByAnnotator], attribute: str, tolerance: int = TOLERANCE) -> Iterator[Judged]:
    """What the two annotators of each match chose for `attribute` (`category` or `severity`), for a coefficient.

    Matches of which one comment has none are left out.
    """
    for trace, annotators in traces.items():
        for (annotator, first), (other, second) in combinations(annotators.items(), 2):
            for match in match_comments(first, second, tolerance):
                chosen = getattr(first[match.first], attribute), getattr(second[match.second], attribute)
                if None not in chosen:
                    unit = annotator, other, match.first
                    yield Judged(trace, unit, annotator, chosen[0])
                    yield Judged(trace, unit, other, chosen[1])
