"""Which of the comparisons of a source with people says most of it. Pure."""

from collections.abc import Callable, Iterable
from typing import TypeVar

_Comparison = TypeVar("_Comparison")


def most_informative(
    candidates: Iterable[_Comparison], facts: Callable[[_Comparison], tuple[int, bool, str]]
) -> _Comparison | None:
    """One with rates before one without, and one of whole traces before one of their parts; else the first. None where
    nothing was answered. `facts` says how much was answered, whether there are rates, and the unit."""

    def rank(candidate: _Comparison) -> tuple[bool, bool]:
        _, has_rates, unit = facts(candidate)
        return not has_rates, unit != "traces"

    return min((candidate for candidate in candidates if facts(candidate)[0]), key=rank, default=None)
