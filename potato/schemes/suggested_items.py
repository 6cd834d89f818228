"""The items of a suggestion over all schemes of a project, and what a submission made of each. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from potato.schemes.answers import Gap, refused, shown
from potato.schemes.registry import SchemeConfiguration, scheme_types
from potato.schemes.suggested import KEY, Suggested, acts_in, item_id


def suggested_items(
    suggestion: Mapping[str, Any], schemes: Sequence[SchemeConfiguration]
) -> Iterator[tuple[SchemeConfiguration, str, Suggested]]:
    """The items of a suggestion with their schemes and ids, in the order of the configuration."""
    for scheme in schemes:
        part = suggestion.get(scheme.name)
        kind = scheme_types()[scheme.annotation_type]
        if part is None or kind.malformed(part):
            continue
        for item in kind.suggested(part, scheme):
            yield scheme, item_id(scheme.name, item.key), item


def unknown_acts(
    suggestion: Mapping[str, Any], schemes: Sequence[SchemeConfiguration], answers: object
) -> Iterator[Gap]:
    """The acts on what was not suggested, or not shown."""
    known = {name for _, name, _ in suggested_items(suggestion, schemes)}
    for name in acts_in(answers):
        if name not in known:
            sentence = f"{shown(name)} is no suggestion of this task. Leave it out."
            yield refused((KEY, "items"), "unknown_suggestion", sentence)


def outcomes(
    suggestion: Mapping[str, Any],
    schemes: Sequence[SchemeConfiguration],
    answers: object,
    result: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """What came of each item, by what the annotator did and what their result says at its place.

    Only what the suggestion says is compared: what the annotator adds beside it is no change. An item that was accepted
    and is not in the result any more counts as rejected.
    """
    acts = acts_in(answers)
    given: dict[str, Mapping[str, Any]] = {}
    for scheme in schemes:
        part = result.get(scheme.name)
        if part is not None:
            kind = scheme_types()[scheme.annotation_type]
            given |= {item_id(scheme.name, item.key): item.value for item in kind.suggested(part, scheme)}
    return [
        {"id": name, **_outcome(scheme.name, name, item, acts.get(name), given)}
        for scheme, name, item in suggested_items(suggestion, schemes)
    ]


def _outcome(
    scheme: str, name: str, item: Suggested, act: tuple[str, str | None] | None, given: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    action, part = act or ("unanswered", None)
    if action in ("unanswered", "rejected"):
        return {"action": action}
    kept = given.get(item_id(scheme, part) if part else name)
    if kept is None:
        return {"action": "rejected"}
    changed = [key for key, value in item.value.items() if kept.get(key) != value]
    became = {"part": part} if part else {}
    return {"action": "edited", **became, "changed": changed} if changed else {"action": "accepted", **became}
