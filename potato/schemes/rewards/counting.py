"""What lists and figures say of process rewards: a result in a few words, and what of it is counted. Pure.

It decides nothing about results, and reads those of earlier configurations too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from potato.schemes.distributions import Chosen, Distribution, with_unknown
from potato.schemes.rewards.configuration import ProcessRewardScheme
from potato.schemes.rewards.judgements import THRESHOLD
from potato.schemes.unjudged import KEY, STEP, TITLE, unjudged_steps
from potato.wording import counted

LABEL, CATEGORY, FIRST_ERROR = "label", "error_category", "first_error"
FOUND, NONE_FOUND = "found", "none"


def words_for(result: Mapping[str, Any]) -> str | None:
    """Such as "First error at step 4", "All 8 steps correct" or "7 of 8 steps rated, score 2.75"."""
    labels = result.get("labels")
    if labels is None:
        return None
    if not labels:
        return "No step to judge"
    if result.get("mode") == "first_error":
        step = result.get("first_error_step")
        return f"All {counted(len(labels), 'step')} correct" if step is None else f"First error at step {step}"
    rated = sum(label is not None for label in labels)
    return f"{rated} of {counted(len(labels), 'step')} rated, score {result.get('cumulative_score') or 0:g}"


def extract_choices(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The label and the error category of each step, what cannot be judged, and whether there is a first error."""
    for detail in (result.get("step_details") or {}).values():
        yield from ((key, detail[key]) for key in (LABEL, CATEGORY) if detail.get(key))
    yield from ((KEY, STEP) for _ in unjudged_steps(result))
    scores = [label for label in result.get("labels") or () if isinstance(label, int | float)]
    if scores:
        yield FIRST_ERROR, FOUND if min(scores) <= THRESHOLD else NONE_FOUND


def build_distributions(counts: Mapping[str, Mapping[str, int]], scheme: ProcessRewardScheme) -> Iterator[Distribution]:
    """Of labels and error categories where steps are rated one by one, and of annotations with a first error."""
    labels, categories, errors = (counts.get(question, {}) for question in (LABEL, CATEGORY, FIRST_ERROR))
    if scheme.mode == "per_step":
        offered = (
            Chosen(label.value, label.display, labels.get(label.value, 0), is_coloured=True)
            for label in scheme.per_step.labels
        )
        yield Distribution("Steps by label", "step", with_unknown(offered, labels))
        named = scheme.per_step.error_categories.offered
        if named or categories:
            kinds = (Chosen(name, name, categories.get(name, 0)) for name in named)
            yield Distribution("Errors by category", "step", with_unknown(kinds, categories))
    if unjudged := counts.get(KEY):
        yield Distribution(TITLE, "step", with_unknown((Chosen(STEP, "Steps", unjudged.get(STEP, 0)),), unjudged))
    numbers = (
        Chosen(FOUND, "With a first error", errors.get(FOUND, 0)),
        Chosen(NONE_FOUND, "All steps correct", errors.get(NONE_FOUND, 0)),
    )
    yield Distribution("First errors", "annotation", with_unknown(numbers, errors))
