"""The scheme type of process reward annotation, in both of its modes.

Pure: no Django and no database, so that the site and the offline commands read the same type.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import ClassVar

from accounts.configuration.answers import Gap
from accounts.configuration.registry import SchemeType, Target
from accounts.configuration.stripping import Stripped, removed
from rewards import first_error, per_step
from rewards.configuration import ProcessRewardScheme
from traces.changes.places import Evidence


class ProcessReward(SchemeType):
    annotation_type = "process_reward"
    target: ClassVar[Target] = "agentic_steps"
    block = "per_step"
    configuration = ProcessRewardScheme

    @classmethod
    def stripped(cls, old: ProcessRewardScheme, new: ProcessRewardScheme) -> Iterator[Stripped]:
        if old.mode != new.mode:
            yield Stripped(("mode",), "mode_changed", f"The mode of {old.name} changes from {old.mode} to {new.mode}.")
            return
        if old.mode == "first_error":
            return
        before, after = old.per_step, new.per_step
        scores = {label.value: label.score for label in after.labels}
        yield from removed("label", ("per_step", "labels"), (label.value for label in before.labels), scores, old.name)
        for label in before.labels:
            if scores.get(label.value, label.score) != label.score:
                yield Stripped(
                    ("per_step", "labels", label.value, "score"),
                    "score_changed",
                    f"The score of {label.value} of {old.name} changes from {label.score} to {scores[label.value]}.",
                )
        yield from removed(
            "error category",
            ("per_step", "error_categories", "categories"),
            before.error_categories.offered,
            after.error_categories.offered,
            old.name,
        )

    @classmethod
    def malformed(cls, answers: object) -> tuple[Gap, ...]:
        """Of either mode: which one it is, the configuration says, and a draft is kept before it is asked."""
        by_mode = first_error.malformed(answers), per_step.malformed(answers)
        return min(by_mode, key=len)

    @classmethod
    def missing(cls, answers: object, scheme: ProcessRewardScheme, evidence: Evidence) -> tuple[Gap, ...]:
        if scheme.mode == "first_error":
            return first_error.missing_of(answers, scheme, evidence.steps)
        return per_step.missing_of(answers, scheme, evidence.steps)

    @classmethod
    def result(
        cls, answers: object, scheme: ProcessRewardScheme, evidence: Evidence, submitted_at: datetime
    ) -> first_error.FirstError | per_step.PerStep:
        if scheme.mode == "first_error":
            return first_error.result_of(answers, scheme, evidence.steps)
        return per_step.result_of(answers, scheme, evidence.steps)
