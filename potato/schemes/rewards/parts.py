"""The parts of process rewards that are settled one by one: the first error, or the label of each step. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from potato.schemes.opinions import Choice, Opinion
from potato.schemes.parts import Field, Offer, Part
from potato.schemes.rewards.configuration import ProcessRewardScheme
from potato.schemes.rewards.judgements import decided
from potato.schemes.rewards.opinions import opinions_in
from potato.schemes.suggested import Suggested

FIRST_ERROR = "first_error"
_SAID = ("first_error_step", "correction")
_OF_JUDGEMENT = ("first_error_step", "neutral_steps", "correction", "unsure")


def parts_in(result: Mapping[str, Any], scheme: ProcessRewardScheme) -> Iterator[Part]:
    if result.get("mode", scheme.mode) != scheme.mode:
        # Of a version of another mode: nothing in it answers what is asked now.
        return
    if scheme.mode == "first_error":
        yield from _judgement(result, scheme)
    else:
        yield from _labels(result, scheme)


def suggested_in(result: Mapping[str, Any], scheme: ProcessRewardScheme) -> Iterator[Suggested]:
    """The first error, or the label of each step."""
    for part in parts_in(result, scheme):
        opinion = part.opinions[0] if part.opinions else None
        step = part.steps[0] if part.steps else None
        if scheme.mode == "first_error":
            none = step is None
            value = {"all_correct": True} if none else {key: part.value[key] for key in _SAID if key in part.value}
            yield Suggested(part.key, part.title, value, (), opinion, step=step)
        else:
            yield Suggested(part.key, part.title, part.value, ("step_details", part.key), opinion, step=step)


def joined(values: Mapping[str, Mapping[str, Any]], scheme: ProcessRewardScheme) -> dict[str, Any] | None:
    if scheme.mode == "first_error":
        return _joined_judgement(values.get(FIRST_ERROR))
    details = {int(key): dict(value) for key, value in values.items() if key.isdecimal()}
    wrong = [at for at, detail in sorted(details.items()) if _is_wrong(detail.get("label"), scheme)]
    answers: dict[str, Any] = {}
    for at, detail in sorted(details.items()):
        # What others wrote at a step that is not the first wrong one any more has no place there.
        left_out = {"correction"} if wrong[:1] != [at] else set()
        if detail.get("label") not in scheme.per_step.categorised:
            left_out.add("error_category")
        answers[str(at)] = {
            key: entry for key, entry in detail.items() if key not in left_out and entry not in (None, "")
        }
    return {"step_details": answers}


def _judgement(result: Mapping[str, Any], scheme: ProcessRewardScheme) -> Iterator[Part]:
    steps, error = len(result.get("labels") or ()), result.get("first_error_step")
    words = scheme.first_error.labels
    nowhere = [Offer(None, Choice("none", words.all_correct))] if scheme.first_error.allow_no_error else []
    offers = (*nowhere, *(Offer(at, Choice(str(at), f"Step {at}")) for at in range(steps)))
    corrections = [Field("correction", "What the agent should have done")] if scheme.ask_correction else []
    value = {key: result[key] for key in _OF_JUDGEMENT if key in result}
    chosen = Choice("none", words.all_correct) if error is None else Choice(str(error), f"Step {error}")
    opinion = Opinion(
        "First error", (chosen,), correction=result.get("correction") or "", is_unsure=bool(result.get("unsure"))
    )
    yield Part(
        FIRST_ERROR,
        "First error",
        {"first_error_step": error, **value},
        error,
        (opinion,),
        (Field("first_error_step", "First error", offers, is_required=True), *corrections),
        decides=("none",) if error is None else error,
        steps=() if error is None else (error,),
    )


def _joined_judgement(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if value is None:
        return None
    kept = {key: entry for key, entry in value.items() if entry not in (None, "") and key != "neutral_steps"}
    error = value.get("first_error_step")
    neutral = value.get("neutral_steps")
    if isinstance(neutral, list) and (before := [at for at in neutral if error is None or at < error]):
        kept["neutral_steps"] = before
    if error is None:
        kept.pop("correction", None)
        kept["all_correct"] = True
    return kept


def _labels(result: Mapping[str, Any], scheme: ProcessRewardScheme) -> Iterator[Part]:
    block = scheme.per_step
    details = result.get("step_details") or {}
    opinions = {opinion.step: opinion for opinion in opinions_in(result, scheme) if opinion.step is not None}
    labelled = tuple(Offer(row.value, Choice(row.value, row.display, None, True)) for row in block.labels)
    categories = tuple(Offer(name, Choice(name, name)) for name in block.error_categories.offered)
    fields = (
        Field("label", "Label", labelled, is_required=True),
        *([Field("error_category", "Error category", categories)] if categories else []),
        *([Field("notes", "Note")] if block.allow_notes else []),
        *([Field("correction", "What the agent should have done")] if scheme.ask_correction else []),
    )
    labels = result.get("labels") or ()
    for key, detail in sorted(details.items(), key=lambda item: int(item[0])):
        at = int(key)
        yield Part(
            key,
            f"Step {at}",
            detail,
            (detail.get("label"), detail.get("error_category")),
            (opinions[at],) if at in opinions else (),
            fields,
            decides=decided(labels[at]) if at < len(labels) else None,
            steps=(at,),
            is_optional=not block.require_all_steps,
            compared=("labels", detail.get("label")),
        )


def _is_wrong(label: object, scheme: ProcessRewardScheme) -> bool:
    known = {row.value: row.score for row in scheme.per_step.labels}
    return isinstance(label, str) and label in known and known[label] <= 0
