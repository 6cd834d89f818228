"""The scheme type of process reward annotation, in both of its modes.

Pure: no Django and no database, so that the site and the offline commands read the same type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from potato.runs.changes.places import Evidence
from potato.runs.contents import TraceContents
from potato.schemes.answers import Gap
from potato.schemes.breaking_changes import BreakingChange, removed
from potato.schemes.comparisons import Comparison
from potato.schemes.distributions import Distribution
from potato.schemes.known_faults import KnownFault
from potato.schemes.opinions import Opinion
from potato.schemes.parts import Part
from potato.schemes.registry import SchemeType, Target
from potato.schemes.rewards import comparing, counting, first_error, opinions, parts, per_step, scoring, statements
from potato.schemes.rewards.configuration import ProcessRewardScheme
from potato.schemes.scoring import GoldScore, Tolerance
from potato.schemes.statements import Statement, Unplaced
from potato.schemes.suggested import Suggested


class ProcessReward(SchemeType):
    annotation_type = "process_reward"
    target: ClassVar[Target] = "agentic_steps"
    configuration = ProcessRewardScheme
    template = "rewards/process_reward.html"
    module = "js/rewards/process-reward.js"
    style = "css/rewards.css"
    keys_template = "rewards/keys.html"
    activity = "Process rewards"
    icon = "footprints"
    assumed_entry = {"name": "process_reward", "annotation_type": "process_reward", "mode": "first_error"}
    examples = (
        {"mode": "first_error", "first_error_step": None, "total_steps": 2, "labels": [1, 1]},
        {
            "mode": "first_error",
            "first_error_step": 1,
            "total_steps": 2,
            "labels": [1, -1],
            "label_origin": ["given", "given"],
            "correction": "Run the tests again.",
        },
    )

    @classmethod
    def colours(cls, scheme: ProcessRewardScheme) -> Mapping[str, str]:
        """Of first-error mode those of its four states, which are correct, first_error, downstream and unmarked."""
        if scheme.mode == "per_step":
            return {label.value: label.color for label in scheme.per_step.labels}
        block = scheme.first_error
        return {
            "correct": block.correct_color,
            "first_error": block.error_color,
            "downstream": block.downstream_color,
            "unmarked": block.unmarked_color,
        }

    @classmethod
    def settings(cls, scheme: ProcessRewardScheme) -> Mapping[str, Any]:
        """The block of its mode, with the keys in effect, and what both modes share."""
        return {
            "mode": scheme.mode,
            scheme.mode: getattr(scheme, scheme.mode).model_dump(mode="json"),
            "categorised": list(scheme.per_step.categorised) if scheme.mode == "per_step" else [],
            "keys": scheme.keys,
            "reveal": scheme.reveal,
            "allow_neutral": scheme.allow_neutral,
            "ask_correction": scheme.ask_correction,
            "allow_unsure": scheme.allow_unsure,
        }

    @classmethod
    def hides_later_steps(cls, scheme: ProcessRewardScheme) -> bool:
        return scheme.reveal == "progressive"

    @classmethod
    def keys_are_off(cls, scheme: ProcessRewardScheme) -> bool:
        return not scheme.keyboard_shortcuts.enabled

    @classmethod
    def keys(cls, scheme: ProcessRewardScheme) -> Mapping[str, str]:
        return scheme.keys

    @classmethod
    def shows_titles_alone(cls, scheme: ProcessRewardScheme) -> bool:
        return scheme.shows_titles_alone

    @classmethod
    def breaking_changes(cls, old: ProcessRewardScheme, new: ProcessRewardScheme) -> Iterator[BreakingChange]:
        if old.mode != new.mode:
            yield BreakingChange(
                ("mode",), "mode_changed", f"The mode of {old.name} changes from {old.mode} to {new.mode}."
            )
            return
        if old.mode == "first_error":
            return
        before, after = old.per_step, new.per_step
        scores = {label.value: label.score for label in after.labels}
        yield from removed("label", ("per_step", "labels"), (label.value for label in before.labels), scores, old.name)
        for label in before.labels:
            if scores.get(label.value, label.score) != label.score:
                yield BreakingChange(
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
    def cannot_judge(cls, scheme: ProcessRewardScheme, contents: TraceContents) -> str | None:
        return None if contents.steps else "the trace has no steps"

    @classmethod
    def malformed(cls, answers: object) -> tuple[Gap, ...]:
        """Of either mode: which one it is, the configuration says, and a draft is kept before it is asked."""
        if isinstance(answers, Mapping) and "step_details" in answers:
            return per_step.malformed(answers)
        by_mode = first_error.malformed(answers), per_step.malformed(answers)
        return min(by_mode, key=len)

    @classmethod
    def missing(cls, answers: object, scheme: ProcessRewardScheme, evidence: Evidence) -> tuple[Gap, ...]:
        if scheme.mode == "first_error":
            return first_error.find_gaps(answers, scheme, evidence.steps)
        return per_step.find_gaps(answers, scheme, evidence.steps)

    @classmethod
    def result(
        cls, answers: object, scheme: ProcessRewardScheme, evidence: Evidence, submitted_at: datetime
    ) -> first_error.FirstError | per_step.PerStep:
        if scheme.mode == "first_error":
            return first_error.build_result(answers, scheme, evidence.steps)
        return per_step.build_result(answers, scheme, evidence.steps)

    @classmethod
    def without_demands(cls, scheme: ProcessRewardScheme) -> ProcessRewardScheme:
        return scheme.model_copy(update={"per_step": scheme.per_step.model_copy(update={"require_all_steps": False})})

    @classmethod
    def answers_from(
        cls, said: Sequence[Statement], scheme: ProcessRewardScheme
    ) -> tuple[dict[str, Any], list[Unplaced]]:
        return statements.rewards_from(said, scheme)

    @classmethod
    def summary(cls, result: Mapping[str, Any], scheme: ProcessRewardScheme) -> str | None:
        return counting.words_for(result)

    @classmethod
    def opinions(cls, result: Mapping[str, Any], scheme: ProcessRewardScheme) -> Iterator[Opinion]:
        return opinions.opinions_in(result, scheme)

    @classmethod
    def parts(cls, result: Mapping[str, Any], scheme: ProcessRewardScheme) -> Iterator[Part]:
        return parts.parts_in(result, scheme)

    @classmethod
    def join(cls, values: Mapping[str, Mapping[str, Any]], scheme: ProcessRewardScheme) -> dict[str, Any] | None:
        return parts.joined(values, scheme)

    @classmethod
    def choices(cls, result: Mapping[str, Any], scheme: ProcessRewardScheme) -> Iterator[tuple[str, str]]:
        return counting.extract_choices(result)

    @classmethod
    def distributions(
        cls, counts: Mapping[str, Mapping[str, int]], scheme: ProcessRewardScheme
    ) -> Iterator[Distribution]:
        return counting.build_distributions(counts, scheme)

    @classmethod
    def comparisons(cls, scheme: ProcessRewardScheme) -> Iterator[Comparison]:
        return comparing.mode_comparisons(scheme)

    @classmethod
    def suggestion(
        cls, answers: Any, scheme: ProcessRewardScheme, evidence: Evidence, suggested_at: datetime
    ) -> tuple[Any, tuple[Gap, ...]]:
        """Some steps may be labelled and others not."""
        value, gaps = super().suggestion(answers, scheme, evidence, suggested_at)
        if scheme.mode == "per_step" and not gaps:
            value = per_step.build_result(answers, scheme, evidence.steps)
        return value, gaps

    @classmethod
    def suggested(cls, result: Mapping[str, Any], scheme: ProcessRewardScheme) -> Iterator[Suggested]:
        return parts.suggested_in(result, scheme)

    @classmethod
    def gold_answers(cls, fault: KnownFault, scheme: ProcessRewardScheme) -> dict[str, Any] | None:
        """The step is the first error; in per-step mode it has the worst label, and every other step the best one."""
        if fault.step is None:
            return None
        if scheme.mode == "first_error":
            return {"first_error_step": fault.step}
        by_score = sorted(scheme.per_step.labels, key=lambda label: label.score)
        labels = {at: by_score[0 if at == fault.step else -1].value for at in range(fault.steps)}
        return {"step_details": {str(at): {"label": label} for at, label in labels.items()}}

    @classmethod
    def gold_score(
        cls,
        expected: Mapping[str, Any],
        given: Mapping[str, Any] | None,
        scheme: ProcessRewardScheme,
        tolerance: Tolerance,
    ) -> GoldScore | None:
        """In per-step mode by the scores of the labels; in first-error mode by the first error."""
        if scheme.mode == "per_step":
            return scoring.score_labels(expected, given, scheme)
        return super().gold_score(expected, given, scheme, tolerance)
