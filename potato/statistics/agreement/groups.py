"""Parts of what was judged: the traces of one agent model, tag, imported file, week or batch, and files by path."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from potato.statistics.agreement.choices import Codes
from potato.statistics.agreement.compared import GROUPS_KEPT, Answered, Group
from potato.statistics.agreement.figures import Estimate

Members: TypeAlias = Mapping[str, Codes]
"""The items of each part, by their numbers."""


class TraceFacts:
    """What traces have in common, by their numbers."""

    def __init__(self) -> None:
        self._members: dict[str, dict[str, list[int]]] = {"agent_model": {}, "tag": {}, "source_file": {}}
        self._weeks: dict[int, str] = {}
        self._batches: dict[str, dict[int, None]] = {}
        self._known: set[int] = set()

    def add(self, trace: int, answered: Answered) -> None:
        about = answered.about
        if about.week > self._weeks.get(trace, ""):
            # A trace belongs to the week in which it was answered last.
            self._weeks[trace] = about.week
        if about.batch:
            # One that was put elsewhere between two answers belongs to both batches.
            self._batches.setdefault(about.batch, {})[trace] = None
        if trace in self._known:
            return
        self._known.add(trace)
        names = {"agent_model": (about.agent_model,), "tag": about.tags, "source_file": (about.source_file,)}
        for kind, of_trace in names.items():
            for name in of_trace:
                self._members[kind].setdefault(name, []).append(trace)

    def parts(self, trace_of_item: Codes) -> Iterator[tuple[str, Members]]:
        """For each kind of part the items whose trace belongs to it; a kind that no trace says anything of has none."""
        order = np.argsort(trace_of_item, kind="stable")
        starts = np.searchsorted(trace_of_item[order], np.arange(len(self._known) + 1))
        weeks: dict[str, list[int]] = {}
        for trace, week in self._weeks.items():
            weeks.setdefault(week, []).append(trace)
        batches = {batch: [*traces] for batch, traces in self._batches.items()}
        for kind, members in (*self._members.items(), ("week", weeks), ("batch", batches)):
            if any(members):
                yield (
                    kind,
                    {
                        name: np.concatenate([order[starts[trace] : starts[trace + 1]] for trace in traces])
                        for name, traces in members.items()
                    },
                )


def parts_by_name(names: Sequence[Hashable]) -> dict[Hashable, Codes]:
    """The items of each name: of the same position, of the same path."""
    numbers: dict[Hashable, int] = {}
    of_item = np.fromiter((numbers.setdefault(name, len(numbers)) for name in names), np.int64, len(names))
    order = np.argsort(of_item, kind="stable")
    ends = np.cumsum(np.bincount(of_item, minlength=len(numbers)))
    return dict(zip(numbers, np.split(order, ends[:-1]), strict=True)) if numbers else {}


def measured_groups(
    members: Members, pairs_of_item: Codes, main: Callable[[Codes], Estimate]
) -> tuple[tuple[Group, ...], int]:
    """The main measure of the parts with the most pairs in the order of their names, and how many more have pairs."""
    sized = sorted(
        (-int(pairs_of_item[items].sum()), name) for name, items in members.items() if pairs_of_item[items].any()
    )
    kept = sorted(name for _, name in sized[:GROUPS_KEPT])
    return tuple(Group(name, main(members[name])) for name in kept), max(0, len(sized) - GROUPS_KEPT)
