"""What a model suggests of a trace, item by item, and what an annotator did with each item. Pure.

A suggestion has a part for each scheme, as answers have. Annotators' acts stand in their answers under `suggestions`,
and in a result with the model and what came of each item; the key is in a result only where something was shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from potato.schemes.answers import Answers, Gap, refused, shown
from potato.schemes.comparisons import PlacedComment
from potato.schemes.opinions import Opinion

KEY = "suggestions"
"""Of answers, and of the annotations of a record."""
MOST_ITEMS = 10_000

Act: TypeAlias = Literal["accepted", "rejected"]
Action: TypeAlias = Literal["accepted", "edited", "rejected", "unanswered"]
ACTIONS: tuple[Action, ...] = get_args(Action)
"""`accepted` items are in the result as they were suggested, `edited` ones with a changed value; `unanswered` ones were
shown, and nothing was done with them."""

_KEYS = ("model", "version", "items")
_ITEM_KEYS = ("id", "action", "part", "changed")


@dataclass(frozen=True, slots=True)
class Suggested:
    """One thing that a result says, as a model may suggest it.

    `value` goes into the answers at the path `at` when it is accepted: it is laid over what is there, or is one more
    entry of a list where the path is "-". `key` names it among the items of its scheme. `place`, `file` and `step` say
    what it is about; none of them: the whole run.
    """

    key: str
    title: str
    value: Mapping[str, Any]
    at: tuple[str, ...] = ()
    opinion: Opinion | None = None
    place: PlacedComment | None = None
    file: str | None = None
    step: int | None = None


def item_id(scheme: str, key: str) -> str:
    """How an item is called among all items of a suggestion."""
    return f"{scheme}/{key}"


def act_gaps(value: object) -> Iterator[Gap]:
    """What of an annotator's acts cannot be kept."""
    if value is None:
        return
    fields = Answers(value, KEY, _KEYS)
    entries = fields.values("items") or []
    yield from fields.gaps
    if len(entries) > MOST_ITEMS:
        yield refused(("items",), "too_many", f"{KEY} may have {MOST_ITEMS:,} items, not {len(entries):,}.")
        return
    for index, entry in enumerate(entries):
        item = Answers(entry, "a suggested item", _ITEM_KEYS)
        name, action = item.text("id"), item.text("action")
        item.text("part"), item.texts("changed")
        yield from (gap.below("items", index) for gap in item.gaps)
        if item.gaps:
            continue
        if not name:
            yield refused(("items", index, "id"), "no_id", "An item of suggestions needs its id.")
        if action not in ACTIONS:
            sentence = f"{shown(action)} is no action. Say accepted, edited, rejected or unanswered."
            yield refused(("items", index, "action"), "unknown_action", sentence)


def acts_in(answers: object) -> dict[str, tuple[str, str | None]]:
    """The acts of answers without gaps, by the item's id: the action, and the part that an accepted one became."""
    part = answers.get(KEY) if isinstance(answers, Mapping) else None
    items = part.get("items") if isinstance(part, Mapping) else None
    return {item["id"]: (item["action"], item.get("part")) for item in items or ()}
