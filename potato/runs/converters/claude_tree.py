"""Which lines of a session belong to the conversation as it went on, and which to branches that the person left.

Field notes
- `parentUuid` makes a tree. A person who goes back and asks again starts a branch beside the one that they left. The
  results of parallel calls, and what the program writes beside, make branches that nobody left.
- A session's file may have several roots: a compact_boundary has no parent but a `logicalParentUuid`, which may lead
  anywhere, even in a circle; accepting a plan with "clear context", or /clear, begins anew without any parent; so do
  lines of hooks when a session is resumed. All of them go on where the file stood.
- Files exist without any links: their order is the order.

No line is lost: what is not left behind is live, whatever its links say.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from potato.runs.converters.fields import name
from potato.runs.model import JSON

_NO_BEGINNING = "beginning of the session is not in the file"
_MOST_ROUNDS = 40
_MOST_CIRCLES = 200
"""A file with more of them has no links to speak of: its order is the order."""


@dataclass(slots=True)
class Line:
    """A line of the main conversation. `event` is None for one that only links others.

    `is_agent`: the agent said something in it, and not the program in its name. `is_by_person`: a person said or did
    something in it. `restarts`: as a root it begins the conversation anew.
    """

    key: str
    parent: str
    event: dict[str, JSON] | None
    message_id: str = ""
    is_agent: bool = False
    is_by_person: bool = False
    is_boundary: bool = False
    restarts: bool = False
    order: int = 0


@dataclass(slots=True)
class Live:
    """Keys of the live lines; the live roots that begin anew; and, by key, the branch of each line left behind."""

    keys: set[str]
    restarts: set[str] = field(default_factory=set)
    left: dict[str, int] = field(default_factory=dict)


def live_lines(lines: list[Line], repairs: Counter[str]) -> Live:
    """The live lines of a conversation; what had to be mended is counted in `repairs`."""
    position = {line.key: index for index, line in enumerate(lines)}
    if not any(line.parent in position and not line.is_boundary for line in lines):
        if sum(line.event is not None for line in lines) > 1 and any(
            "parentUuid" in (line.event or ()) for line in lines
        ):
            repairs["lines without links: read in their order"] += 1
        if lines and lines[0].parent and not lines[0].is_boundary:
            repairs[_NO_BEGINNING] += 1
        return Live({line.key for line in lines})
    tree = _Tree(lines, position)
    tree.cut_circles(repairs)
    live = tree.live()
    tree.count_joined(live, repairs)
    return Live(
        {lines[index].key for index in live},
        tree.restarts(live),
        {lines[index].key: tree.top(index, live) for index in range(len(lines)) if index not in live},
    )


class _Tree:
    """Parents by index: every line but the first has one."""

    def __init__(self, lines: list[Line], position: dict[str, int]) -> None:
        self._lines = lines
        self._parents: list[int] = []
        self._joined: set[int] = set()
        self._missing: set[int] = set()
        self._tip = len(lines) - 1
        for index, line in enumerate(lines):
            known = position.get(line.parent, index) if line.parent and not line.is_boundary else index
            if known != index:
                self._parents.append(known)
                continue
            self._joined.add(index)
            if line.parent and line.parent not in position and not line.is_boundary:
                self._missing.add(index)
            self._parents.append(index - 1)

    def cut_circles(self, repairs: Counter[str]) -> None:
        """Join the first line of each circle to the line before it."""
        done: set[int] = set()
        for start in range(len(self._lines)):
            path: dict[int, None] = {}
            index = start
            while index >= 0 and index not in done:
                if index in path:
                    circle = list(path)[list(path).index(index) :]
                    first = min(circle)
                    self._parents[first] = first - 1
                    self._joined.add(first)
                    repairs["links that go in a circle"] += 1
                    if repairs["links that go in a circle"] > _MOST_CIRCLES:
                        self._parents = list(range(-1, len(self._lines) - 1))
                        return
                    # From here on as before, with one link that leads back less.
                    path, index = {}, start
                    continue
                path[index] = None
                index = self._parents[index]
            done.update(path)

    def live(self) -> set[int]:
        """The branch of the agent's last message, and every other one that nobody left."""
        by_agent = [index for index, line in enumerate(self._lines) if line.is_agent]
        spoken = by_agent or [index for index, line in enumerate(self._lines) if line.event is not None]
        live: set[int] = set()
        follows: dict[int, int] = {}
        self._tip = spoken[-1] if spoken else len(self._lines) - 1
        self._add_chain(self._tip, live, follows)
        self._add_parts(live)
        for _ in range(_MOST_ROUNDS):
            branches = self._branches(live)
            kept = [top for top, members in branches.items() if not self._is_left(top, members, live, follows)]
            if not kept:
                return live
            for top in kept:
                self._add_chain(branches[top][-1], live, follows)
            self._add_parts(live)
        return set(range(len(self._lines)))

    def top(self, index: int, live: set[int]) -> int:
        """The first line of the branch that this line is in."""
        while self._parents[index] >= 0 and self._parents[index] not in live:
            index = self._parents[index]
        return index

    def restarts(self, live: set[int]) -> set[str]:
        """Live roots that begin the conversation anew; none where so many lines are roots that it means nothing."""
        spoken = [index for index in live if self._lines[index].event is not None]
        roots = [
            index
            for index in self._joined & live
            if index and not self._lines[index].parent and not self._lines[index].is_boundary
        ]
        if sum(self._lines[index].event is not None for index in roots) * 4 > len(spoken) + 3:
            return set()
        return {self._lines[index].key for index in roots if self._lines[index].restarts}

    def count_joined(self, live: set[int], repairs: Counter[str]) -> None:
        for index in sorted(self._missing & live):
            what = "missing line: joined to the line before" if index else _NO_BEGINNING
            repairs[what] += 1

    def _add_chain(self, index: int, live: set[int], follows: dict[int, int]) -> None:
        while index >= 0 and index not in live:
            live.add(index)
            parent = self._parents[index]
            follows.setdefault(parent, index)
            index = parent

    def _add_parts(self, live: set[int]) -> None:
        """Other pieces of live messages, and results of live calls, wherever they hang."""
        messages = {self._lines[index].message_id for index in live if self._lines[index].is_agent} - {""}
        live.update(index for index, line in enumerate(self._lines) if line.is_agent and line.message_id in messages)
        calls = {call for index in live for call in block_ids(self._lines[index].event, "tool_use", "id")}
        live.update(
            index
            for index, line in enumerate(self._lines)
            if not calls.isdisjoint(block_ids(line.event, "tool_result", "tool_use_id"))
        )

    def _branches(self, live: set[int]) -> dict[int, list[int]]:
        """Spoken lines that are not live, by the first line of their branch."""
        tops: dict[int, int] = {}
        branches: dict[int, list[int]] = {}
        for index, line in enumerate(self._lines):
            if index in live:
                continue
            path = []
            at = index
            while at not in tops and self._parents[at] >= 0 and self._parents[at] not in live:
                path.append(at)
                at = self._parents[at]
            tops.update(dict.fromkeys([*path, at], tops.get(at, at)))
            if line.event is not None:
                branches.setdefault(tops[at], []).append(index)
        return branches

    def _is_left(self, top: int, members: list[int], live: set[int], follows: dict[int, int]) -> bool:
        """Whether the person went back to where the branch begins: there they, or the agent, began otherwise."""
        if top in self._joined or members[0] > self._tip:
            # What was asked behind the last answer left nothing, since nothing came of it.
            return False
        fork = self._parents[top]
        other = follows.get(fork, -1)
        while other >= 0 and self._lines[other].event is None:
            other = follows.get(other, -1)
        if other < 0:
            return False
        left, stayed = self._lines[members[0]], self._lines[other]
        if left.is_by_person and stayed.is_by_person:
            return True
        while fork >= 0 and self._lines[fork].event is None:
            fork = self._parents[fork]
        follows_person = fork >= 0 and self._lines[fork].is_by_person
        return follows_person and left.is_agent and stayed.is_agent and left.message_id != stayed.message_id


def block_ids(event: dict[str, JSON] | None, kind: str, key: str) -> Iterable[str]:
    """The ids in the blocks of this kind."""
    message = event.get("message") if event is not None else None
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else ()
    return {name(block, key) for block in blocks if isinstance(block, dict) and block.get("type") == kind} - {""}
