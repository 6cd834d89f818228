"""Whether a trace on which annotators disagree is to be judged by one more of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from potato.configuration.project import ProjectConfiguration
from potato.schemes.matching import TOLERANCE
from potato.statistics.agreement.one_trace import sameness_of_pairs
from potato.wording import counted


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many annotators a trace is to have, the agreement of those who judged it (None where there are no two, or
    they judged nothing in common), and why."""

    annotators: int
    agreement: float | None
    sentence: str


def wanted_annotators(
    annotations: Sequence[Mapping[str, Any]],
    configuration: ProjectConfiguration,
    *,
    annotators: int,
    below: float,
    up_to: int,
    tolerance: int = TOLERANCE,
) -> Wanted:
    """How many annotators a trace is to have that has so many now, of whom these have submitted.

    One more where all of them have submitted and the mean sameness of their pairs is under `below`, up to `up_to`. It
    is asked again after each submission, so that one comes at a time. A number over `up_to` stays as it is.
    The order of the annotations makes no difference. Raises ValueError for a bound that is none.
    """
    if not 0 <= below <= 1:
        raise ValueError(f"below must be from 0 to 1, not {below}.")
    if min(annotators, up_to) < 1:
        raise ValueError(f"A trace has one annotator at least, not {min(annotators, up_to)}.")
    pairs = sameness_of_pairs(annotations, configuration, tolerance)
    shares = [share for share in pairs.values() if share is not None]
    agreement = fmean(shares) if shares else None
    if len(annotations) < annotators:
        missing = counted(annotators - len(annotations), "annotation")
        return Wanted(annotators, agreement, f"{missing} of {annotators} still to come.")
    if agreement is None:
        return Wanted(annotators, None, "There are no two annotations that judged the same.")
    figure = f"The {len(annotations)} annotations agree by {agreement:.2f}"
    if agreement >= below:
        return Wanted(annotators, agreement, f"{figure}, which is enough.")
    if annotators >= up_to:
        return Wanted(annotators, agreement, f"{figure}, under {below:.2f}, and the trace has its {up_to} annotators.")
    return Wanted(annotators + 1, agreement, f"{figure}, under {below:.2f}: one more annotator is asked.")
