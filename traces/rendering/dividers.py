"""What stands between two steps where something happened to the conversation: an icon and a sentence."""

from dataclasses import dataclass

from potato.runs.model import Divider


@dataclass(frozen=True, slots=True)
class ShownDivider:
    """`icon` is a name of the sprite."""

    icon: str
    sentence: str


_SHOWN: dict[Divider, ShownDivider] = {
    "compacted": ShownDivider("minimize-2", "Context was compacted here: from here on the agent had a summary"),
    "plan_accepted": ShownDivider("list-checks", "Plan accepted, context cleared"),
    "restarted": ShownDivider("rotate-ccw", "The conversation begins anew here, without what stands before"),
    "interrupted": ShownDivider("hand", "The user interrupted the agent here"),
}


def shown_dividers(names: str) -> list[ShownDivider]:
    """The dividers that a step's row names; a name of a later version is left out."""
    known = {str(name): shown for name, shown in _SHOWN.items()}
    return [known[name] for name in names.split() if name in known]
