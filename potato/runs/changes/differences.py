"""Which lines of two texts are the same ones: lines that stand once in both are matched first, the gaps between them
by the shortest edit. Work is bounded; what is left when the bound is reached counts as wholly different.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

STEPS = 4_000_000
"""Elementary steps for one pair of texts; about two seconds at the worst."""

_VISIT = 3
"""What a line costs when a gap is searched for lines that stand once."""

_DEPTH = 1_000
"""The longest edit searched for in one gap: the memory for it grows with the square."""


@dataclass(frozen=True, slots=True)
class Same:
    """`length` equal lines, from these places on (from 0)."""

    old: int
    new: int
    length: int


@dataclass(frozen=True, slots=True)
class SameLines:
    """The equal runs in order, none touching the next on both sides; whether the bound cut the work short, and how many
    elementary steps it took."""

    blocks: list[Same]
    is_cut_short: bool
    steps: int


def same_lines(old: Sequence[str], new: Sequence[str], steps: int = STEPS) -> SameLines:
    """Which lines of the two texts are the same ones, found in about so many elementary steps at most."""
    names: dict[str, int] = {}
    left = [names.setdefault(line, len(names)) for line in old]
    right = [names.setdefault(line, len(names)) for line in new]
    search = _Search(left, right, steps)
    search.run()
    return SameLines(_joined(search.blocks), search.cut_short, steps - search.left)


class _Search:
    def __init__(self, old: list[int], new: list[int], steps: int) -> None:
        self.old, self.new, self.left = old, new, steps
        self.blocks: list[Same] = []
        self.cut_short = False

    def run(self) -> None:
        gaps = [(0, len(self.old), 0, len(self.new))]
        while gaps:
            old_from, old_to, new_from, new_to = gaps.pop()
            old_from, old_to, new_from, new_to = self._trimmed(old_from, old_to, new_from, new_to)
            if old_from == old_to or new_from == new_to:
                continue
            if self.left <= 0:
                self.cut_short = True
                continue
            self.left -= _VISIT * (old_to - old_from + new_to - new_from)
            anchors = self._anchors(old_from, old_to, new_from, new_to)
            if not anchors:
                self._shortest(old_from, old_to, new_from, new_to)
                continue
            for old_at, new_at in anchors:
                gaps.append((old_from, old_at, new_from, new_at))
                old_from, new_from = old_at, new_at
            gaps.append((old_from, old_to, new_from, new_to))

    def _trimmed(self, old_from: int, old_to: int, new_from: int, new_to: int) -> tuple[int, int, int, int]:
        """The gap without the equal lines at both ends, which are kept as found."""
        old, new = self.old, self.new
        begin = 0
        length = min(old_to - old_from, new_to - new_from)
        while begin < length and old[old_from + begin] == new[new_from + begin]:
            begin += 1
        end = 0
        while end < length - begin and old[old_to - end - 1] == new[new_to - end - 1]:
            end += 1
        if begin:
            self.blocks.append(Same(old_from, new_from, begin))
        if end:
            self.blocks.append(Same(old_to - end, new_to - end, end))
        return old_from + begin, old_to - end, new_from + begin, new_to - end

    def _anchors(self, old_from: int, old_to: int, new_from: int, new_to: int) -> list[tuple[int, int]]:
        """Places of lines that stand once in both, the longest list that rises on both sides."""
        old_counts = Counter(self.old[old_from:old_to])
        new_counts = Counter(self.new[new_from:new_to])
        new_positions = {self.new[at]: at for at in range(new_from, new_to) if new_counts[self.new[at]] == 1}
        pairs = [
            (at, new_positions[self.old[at]])
            for at in range(old_from, old_to)
            if old_counts[self.old[at]] == 1 and self.old[at] in new_positions
        ]
        tops: list[int] = []
        top_pairs: list[int] = []
        before: list[int] = []
        for number, (_, new_at) in enumerate(pairs):
            pile = bisect_left(tops, new_at)
            before.append(top_pairs[pile - 1] if pile else -1)
            if pile == len(tops):
                tops.append(new_at)
                top_pairs.append(number)
            else:
                tops[pile], top_pairs[pile] = new_at, number
        chain: list[tuple[int, int]] = []
        number = top_pairs[-1] if top_pairs else -1
        while number >= 0:
            chain.append(pairs[number])
            number = before[number]
        chain.reverse()
        return chain

    def _shortest(self, old_from: int, old_to: int, new_from: int, new_to: int) -> None:
        """The shortest edit of a gap (Myers 1986), unless it is longer than the bounds allow."""
        old, new = self.old, self.new
        if not set(old[old_from:old_to]) & set(new[new_from:new_to]):
            return
        old_count, new_count = old_to - old_from, new_to - new_from
        furthest = {1: 0}
        rounds: list[dict[int, int]] = []
        for depth in range(min(old_count + new_count, _DEPTH) + 1):
            rounds.append(furthest.copy())
            for diagonal in range(-depth, depth + 1, 2):
                down = diagonal == -depth or (diagonal != depth and furthest[diagonal - 1] < furthest[diagonal + 1])
                x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
                y = x - diagonal
                start = x
                while x < old_count and y < new_count and old[old_from + x] == new[new_from + y]:
                    x, y = x + 1, y + 1
                furthest[diagonal] = x
                self.left -= 1 + x - start
                if x >= old_count and y >= new_count:
                    self._walk_back(rounds, old_from, new_from, old_count, new_count)
                    return
            if self.left <= 0:
                break
        self.cut_short = True

    def _walk_back(
        self, rounds: list[dict[int, int]], old_from: int, new_from: int, old_count: int, new_count: int
    ) -> None:
        x, y = old_count, new_count
        for depth in range(len(rounds) - 1, -1, -1):
            furthest = rounds[depth]
            diagonal = x - y
            down = diagonal == -depth or (
                diagonal != depth and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
            )
            previous = diagonal + 1 if down else diagonal - 1
            before_x = furthest[previous] if depth else 0
            before_y = before_x - previous if depth else 0
            first_x = before_x if down or not depth else before_x + 1
            if x > first_x:
                self.blocks.append(Same(old_from + first_x, new_from + first_x - diagonal, x - first_x))
            x, y = before_x, before_y


def _joined(blocks: list[Same]) -> list[Same]:
    joined: list[Same] = []
    for same in sorted(blocks, key=lambda block: (block.old, block.new)):
        last = joined[-1] if joined else None
        if last and last.old + last.length == same.old and last.new + last.length == same.new:
            joined[-1] = Same(last.old, last.new, last.length + same.length)
        else:
            joined.append(same)
    return joined
