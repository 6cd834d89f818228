"""What the formats for training share: how a step reads as text, and what a record says of each step.

No tokenizer takes lone surrogates: they become U+FFFD in these texts, and only here.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from potato.formats.options import ConsensusOptions
from potato.formats.registry import Format
from potato.records.sources import Project, Record, RecordsError, TraceFacts, json_text, scheme_annotation
from potato.runs.model import AgentRun, Step
from potato.schemes.rewards.judgements import THRESHOLD, decided
from potato.schemes.unjudged import unjudged_steps

TYPE = "process_reward"
_LARGEST = 1e15
StepText: TypeAlias = Literal["short", "full"]


class StepOptions(ConsensusOptions):
    """Which annotations leave, and what of their steps."""

    step_text: StepText = "short"
    """a step as its message and calls, or in full with the results and the hidden thought"""


@dataclass(frozen=True)
class Rewards:
    """What an annotation says of each step: its score, None where it is not rated; which steps are neutral or cannot
    be judged, so that nothing is learned from them; and the better acts that were written, by step."""

    mode: str
    scores: tuple[float | None, ...]
    neutral: frozenset[int]
    corrections: Mapping[int, str]
    categories: Mapping[int, str] = field(default_factory=dict)
    """The error category that was given to a step, whether its score makes it wrong or not."""

    def categorised_right(self, threshold: float = THRESHOLD) -> int:
        """How many steps are right by their score although an error category was given to them."""
        steps = self.decided(threshold)
        return sum(at < len(steps) and steps[at] == 1 for at in self.categories)

    @property
    def is_rated(self) -> bool:
        return self.rated > 0

    @property
    def rated(self) -> int:
        """How many steps are rated. One that is worth 0 is."""
        return sum(score is not None for score in self.scores)

    @property
    def total(self) -> Decimal:
        """The cumulative score: the sum of the scores as the decimals that they are written as."""
        return sum((Decimal(str(score)) for score in self.scores if score is not None), Decimal(0))

    def decided(self, threshold: float = THRESHOLD) -> list[int | None]:
        """Each step as 1 or -1; None where nothing is to be learned from it, as it is not rated or neutral."""
        return [None if at in self.neutral else decided(score, threshold) for at, score in enumerate(self.scores)]

    def first_error(self, threshold: float = THRESHOLD) -> int | None:
        """The first wrong step; None where no error was found."""
        steps = self.decided(threshold)
        return steps.index(-1) if -1 in steps else None

    def found_no_error(self, threshold: float = THRESHOLD) -> bool:
        return self.first_error(threshold) is None


class TrainingFormat(Format):
    """A format that writes what one annotation says of the steps of a run."""

    suffix = ".jsonl"
    media_type = "application/jsonl"
    needs = frozenset({"run"})
    needs_traces = True
    annotation_types = frozenset({TYPE})

    def write(self, record: Record, facts: TraceFacts) -> bytes:
        rewards, run = process_rewards(record, self.project), facts.run
        if rewards is None:
            return b""
        if run is None:
            return self.leave_out("without_trace")
        if len(rewards.scores) != len(run.steps):
            raise RecordsError(
                f"The record {json_text(record.id)} by {json_text(record.annotator)} rates {len(rewards.scores)} "
                f"steps, but its trace has {len(run.steps)}. Export the traces with the annotations they belong to."
            )
        return self.write_rewards(record, rewards, run, facts)

    def write_rewards(self, record: Record, rewards: Rewards, run: AgentRun, facts: TraceFacts) -> bytes:
        """The record's rows, as `write`. The rewards are those of the run's steps."""
        raise NotImplementedError


def process_rewards(record: Record, project: Project) -> Rewards | None:
    """The record's process rewards, None where it has none. Raises RecordsError for what no such annotation is."""
    part = scheme_annotation(record, project.scheme(record, TYPE), dict, "an object of process rewards")
    if part is None:
        return None
    labels = part.get("labels")
    if not isinstance(labels, list) or not all(label is None or _is_number(label) for label in labels):
        name, annotator = json_text(record.id), json_text(record.annotator)
        raise RecordsError(
            f"The labels of the process rewards of {name} by {annotator} must be a list of numbers or null."
        )
    neutral = part.get("neutral_steps")
    return Rewards(
        mode=str(part.get("mode", "")),
        scores=tuple(None if label is None else float(label) for label in labels),
        neutral=frozenset(at for at in (neutral if isinstance(neutral, list) else ()) if isinstance(at, int))
        | unjudged_steps(part).keys(),
        corrections=_corrections(part),
        categories=_categories(part),
    )


def step_text(step: Step, how: StepText) -> str:
    """The message, then each call as name(arguments as JSON), a line each; in full the thought stands before, and
    each call's result after it. Where there is nothing of all that, the text is empty."""
    parts = [step.thought] if how == "full" and step.thought else []
    parts += [step.message] if step.message else []
    for call in step.calls:
        parts.append(f"{call.name}({json.dumps(call.arguments, ensure_ascii=False)})")
        if how == "full" and call.result:
            parts.append(call.result)
    return readable("\n".join(parts))


def readable(text: str) -> str:
    """The text as trainers can read it."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _categories(part: Mapping[str, Any]) -> dict[int, str]:
    texts = {}
    for index, detail in _details(part):
        category = detail.get("error_category")
        if isinstance(category, str) and category:
            texts[index] = category
    return dict(sorted(texts.items()))


def _details(part: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    details = part.get("step_details")
    for index, detail in (details if isinstance(details, dict) else {}).items():
        if isinstance(detail, dict) and index.isascii() and index.isdigit() and len(index) < 10:
            yield int(index), detail


def _corrections(part: Mapping[str, Any]) -> dict[int, str]:
    texts: dict[int, str] = {}
    at, written = part.get("first_error_step"), part.get("correction")
    if isinstance(at, int) and at >= 0 and isinstance(written, str) and written.strip():
        texts[at] = written
    for index, detail in _details(part):
        text = detail.get("correction")
        if isinstance(text, str) and text.strip():
            texts[index] = text
    return dict(sorted(texts.items()))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST
