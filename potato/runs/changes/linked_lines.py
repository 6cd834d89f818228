"""Lines of a trace's files with the steps that wrote them, as judgements point at lines."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from potato.runs.changes.model import FileChange, LineLink, Side

MOST_LINKS = 5_000
"""Stretches of lines that are kept for a file; lines behind them have no link."""

LinkedLines: TypeAlias = Mapping[str, Sequence[LineLink]]
"""The links of each file by its path. Lines have the numbers by which comments name them."""


def linked_lines(changes: Iterable[FileChange]) -> LinkedLines:
    """The links of all files that have some. A path that several changes name has none: their numbers may repeat."""
    by_path: dict[str, Sequence[LineLink]] = {}
    for change in changes:
        by_path[change.path] = () if change.path in by_path else change.links[:MOST_LINKS]
    return {path: links for path, links in by_path.items() if links}


def links_within(links: Iterable[LineLink], side: Side, first: int, last: int) -> Iterator[LineLink]:
    """What is known of the lines from the first to the last, both included, on that side."""
    for link in links:
        if link.side == side and link.first <= last and link.last >= first:
            yield replace(link, first=max(link.first, first), last=min(link.last, last))


def lines_of_steps(files: LinkedLines, steps: int) -> list[list[tuple[str, LineLink]]]:
    """For each of so many steps the lines of the final change that it wrote or removed last, each with its path."""
    lines: list[list[tuple[str, LineLink]]] = [[] for _ in range(steps)]
    for path, links in files.items():
        for link in links:
            if link.steps[0] < steps:
                lines[link.steps[0]].append((path, link))
    return lines
