"""What process rewards say of each step, and of the whole run, as pages show it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from potato.schemes.opinions import Choice, Opinion
from potato.schemes.rewards.configuration import ProcessRewardScheme
from potato.schemes.rewards.judgements import first_error_in
from potato.schemes.unjudged import KEY, TITLE, unjudged_steps


def opinions_in(result: Mapping[str, Any], scheme: ProcessRewardScheme) -> Iterator[Opinion]:
    """The score and the first error of the whole, then what is said of each step, in their order."""
    labels = result.get("labels") or ()
    error = first_error_in(labels)
    if result.get("mode") != "first_error":
        yield Opinion("Score", number=result.get("cumulative_score") or 0, part="cumulative_score")
    if labels:
        where = Choice("none", "None") if error is None else Choice(str(error), f"Step {error}")
        yield Opinion("First error", (where,), is_unsure=bool(result.get("unsure")), part="first_error")
    by_step = _states(result, scheme, error) if result.get("mode") == "first_error" else _details(result, scheme, error)
    yield from by_step
    for index, reason in unjudged_steps(result).items():
        yield Opinion(TITLE, (Choice(KEY, TITLE),), text=reason, step=index, part=KEY)


def _details(result: Mapping[str, Any], scheme: ProcessRewardScheme, error: int | None) -> Iterator[Opinion]:
    """Of per-step mode."""
    known = {label.value: label.display for label in scheme.per_step.labels}
    labels = result.get("labels") or ()
    for index, detail in sorted((int(at), detail) for at, detail in (result.get("step_details") or {}).items()):
        value, category = detail.get("label"), detail.get("error_category")
        choices = [Choice(value, known.get(value, value), is_coloured=value in known)] if value else []
        yield Opinion(
            "Label",
            (*choices, *([Choice(category, category)] if category else [])),
            number=labels[index] if index < len(labels) else None,
            text=detail.get("notes") or "",
            step=index,
            correction=detail.get("correction") or "",
            is_unsure=bool(detail.get("unsure")),
            is_first_error=index == error,
        )


def _states(result: Mapping[str, Any], scheme: ProcessRewardScheme, error: int | None) -> Iterator[Opinion]:
    """Of first-error mode: what the one mark says of every step."""
    words = scheme.first_error.labels
    neutral, unjudged = {*(result.get("neutral_steps") or ())}, unjudged_steps(result)
    for index in range(len(result.get("labels") or ())):
        if index in unjudged:
            continue
        if error is None:
            chosen = Choice("correct", words.all_correct, is_coloured=True)
        elif index < error:
            chosen = Choice("correct", words.correct, is_coloured=True)
        elif index == error:
            chosen = Choice("first_error", words.first_error, is_coloured=True)
        else:
            chosen = Choice("downstream", words.downstream, is_coloured=True)
        yield Opinion(
            "Mark",
            (chosen, *([Choice("neutral", "Neutral")] if index in neutral else [])),
            step=index,
            correction=(result.get("correction") or "") if index == error else "",
            is_first_error=index == error,
        )
