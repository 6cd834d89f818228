"""How often each value was chosen under a scheme, as pages and reports show it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Chosen:
    """One value and how often it was chosen. `icon` is a Lucide name, `is_coloured` says that the palette knows it."""

    value: str
    display: str
    count: int
    icon: str | None = None
    is_coloured: bool = False


@dataclass(frozen=True)
class Distribution:
    """The values of one question, in the order in which they are offered. `unit` is what was counted, in the singular.

    `has_scale` says that the values are numbers, whose mean means something.
    """

    title: str
    unit: str
    values: tuple[Chosen, ...]
    has_scale: bool = False
    total: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", sum(chosen.count for chosen in self.values))

    @property
    def mean(self) -> float | None:
        """Of the numbers of a scale; None where nothing was chosen yet, or where there is no scale."""
        if not self.has_scale or not self.total:
            return None
        return sum(int(chosen.value) * chosen.count for chosen in self.values) / self.total


def with_unknown(offered: Iterable[Chosen], counts: Mapping[str, int]) -> tuple[Chosen, ...]:
    """The offered values, then those that were chosen under an earlier configuration and are offered no more."""
    known = tuple(offered)
    names = {chosen.value for chosen in known}
    return (*known, *(Chosen(value, value, number) for value, number in sorted(counts.items()) if value not in names))
