"""`prm`: each step of a trace with its label, a row an annotation, for training process reward models."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from potato.formats.consensus import is_weighted, remarks_on
from potato.formats.notes import Note, Notes, note_line
from potato.formats.step_consensus import JudgedRun, labels, step_consensus
from potato.formats.training import Rewards, StepOptions, TrainingFormat, readable, step_text
from potato.records.sources import Need, Record, TraceFacts, json_text
from potato.runs.changes.linked_lines import LinkedLines, lines_of_steps
from potato.runs.model import AgentRun
from potato.schemes.rewards.judgements import THRESHOLD

MASKED = -100
"""What trainers leave out of the loss."""


class PrmOptions(StepOptions):
    threshold: Annotated[float, Field(allow_inf_nan=False)] = THRESHOLD
    """a step whose score is above this is right, any other rated one is wrong"""
    lines: Literal["no", "yes"] = "no"
    """whether rows have step_lines: the lines of the final change that each step left"""


class Prm(TrainingFormat):
    """`steps` has the text and the label of each step: 1 for right, -1 for wrong, null for a step that was not rated
    or is neutral. Beside it stand the columns of stepwise supervision: `prompt` (the task), `completions` (the
    texts), `labels` (1, 0, and -100 for null, which trainers leave out of the loss) and `rewards` (the scores). A
    text is the step's message and then each call as name(arguments as JSON). `error_categories` stands in rows whose
    annotator gave a step one; a step with a category is right all the same where its score is above the threshold, and
    the manifest counts such steps.

    Under the majority a trace has one row: a step is what most of those say who rated it, null where they tie; its
    rewards are 1 and -1. Under consensus annotators are weighed by how reliable each one shows to be; the row is the
    same. With `--resolve soft` its rewards are from -1 to 1, the chance that a step is right minus the chance that it
    is wrong, and `probabilities` has the chance that it is right. Where first errors were marked, a step is right when
    no error came up to it. With `--lines yes` every row has `step_lines`, with a list for each step: the lines of the
    final change that it was the last to write, or on the old side to remove, each as file, side, line_start and
    line_end; it is null where no line of the trace is known to be a step's. `first_error_agent` names the agent that
    took the first wrong step, where the trace names agents. Traces without steps and annotations without a rated step
    are left out, and counted."""

    name = "prm"
    label = "Labelled steps for training process reward models, one trace a line"
    options = PrmOptions

    @property
    def needed(self) -> frozenset[Need]:
        return self.needs | {"links"} if self.chosen.lines == "yes" else self.needs

    @property
    def gathers(self) -> bool:
        return self.resolve == "majority" or is_weighted(self)

    def write_rewards(self, record: Record, rewards: Rewards, run: AgentRun, facts: TraceFacts) -> bytes:
        decided = rewards.decided(self.chosen.threshold)
        if not decided:
            return self.leave_out("without_steps")
        texts = [step_text(step, self.chosen.step_text) for step in run.steps]
        prompt = readable(run.task)
        if self.gathers:
            head = [rewards.mode, decided, record.annotator]
            return note_line(
                [record.id, record.trace_version], head, [prompt, texts, self._lines(run, facts), _agents(run)]
            )
        if set(decided) == {None}:
            return self.leave_out("without_rated_step")
        scores = [None if label is None else score for label, score in zip(decided, rewards.scores, strict=True)]
        about: dict[str, Any] = {"annotator": readable(record.annotator), "mode": rewards.mode}
        if rewards.categories:
            about["error_categories"] = [
                readable(rewards.categories[at]) if at in rewards.categories else None for at in range(len(decided))
            ]
            self.count("right_steps_with_error_category", rewards.categorised_right(self.chosen.threshold))
        about |= self._lines(run, facts) | _agent_named(_agents(run), decided)
        return self._row(record.id, record.trace_version, about, prompt, texts, decided, scores)

    def _lines(self, run: AgentRun, facts: TraceFacts) -> dict[str, Any]:
        """What the row says of lines."""
        if self.chosen.lines != "yes":
            return {}
        linked = facts.linked_lines
        return {"step_lines": _step_lines(linked, len(run.steps)) if linked else None}

    def gathered(self, notes: Notes) -> Iterator[bytes]:
        weighed = None
        if is_weighted(self):
            weighed = step_consensus(self, (_judged(same) for _, same in notes), self.chosen.weighting)
        for (trace, version), same in notes:
            about: dict[str, Any] = {"annotators": len(same), "mode": same[0].head[0]}
            if weighed is None:
                decided = _majority([note.head[1] for note in same])
                scores = [None if label is None else float(label) for label in decided]
            else:
                right = weighed.of(_judged(same))
                decided = labels(right)
                scores = [None if label is None else float(label) for label in decided]
                if self.resolve == "soft":
                    scores = [None if share is None else round(2 * share - 1, 6) for share in right]
                    about["probabilities"] = right
            if set(decided) == {None}:
                self.leave_out("without_rated_step")
                continue
            prompt, texts, lines, agents = notes.body(same[0])
            about |= lines | _agent_named(agents, decided)
            yield self._row(trace, version, about, prompt, texts, decided, scores)

    def remarks(self) -> list[str]:
        remarks = remarks_on(self.consensus)
        many = self.counts.get("right_steps_with_error_category", 0)
        if not many:
            return remarks
        return [
            *remarks,
            f"Steps that are right by their score although an error category was given to them: {many:,}. "
            "--threshold moves the border; error_categories has the categories.",
        ]

    def nothing(self) -> str:
        return "The export selects nothing: no annotation rates a step of a trace that is there. Nothing was written."

    def _row(
        self,
        trace: str,
        version: int,
        about: dict[str, Any],
        prompt: str,
        texts: Sequence[str],
        decided: Sequence[int | None],
        scores: Sequence[float | None],
    ) -> bytes:
        self.state["rows"] += 1
        row = {
            "trace_id": readable(trace),
            "steps": [{"content": text, "label": label} for text, label in zip(texts, decided, strict=True)],
            **({"trace_version": version} if version > 1 else {}),
            **about,
            "prompt": prompt,
            "completions": texts,
            "labels": [MASKED if label is None else int(label > 0) for label in decided],
            "rewards": scores,
        }
        return f"{json_text(row)}\n".encode("ascii")


def _agents(run: AgentRun) -> list[str]:
    """For each step who acted, "" where the trace does not say."""
    return [readable(step.agent or run.agent) for step in run.steps]


def _agent_named(agents: Sequence[str], decided: Sequence[int | None]) -> dict[str, str]:
    name = agents[list(decided).index(-1)] if -1 in decided else ""
    return {"first_error_agent": name} if name else {}


def _step_lines(linked: LinkedLines, steps: int) -> list[list[dict[str, Any]]]:
    return [
        [
            {"file": readable(path), "side": link.side, "line_start": link.first, "line_end": link.last}
            for path, link in lines
        ]
        for lines in lines_of_steps(linked, steps)
    ]


def _judged(notes: Sequence[Note]) -> JudgedRun:
    modes = {note.head[0] for note in notes}
    return JudgedRun(modes.pop() if len(modes) == 1 else "per_step", [(note.head[2], note.head[1]) for note in notes])


def _majority(ratings: Sequence[Sequence[int | None]]) -> list[int | None]:
    """Each step by the sign of most of those who rated it; None where they tie."""
    sums = [sum(label or 0 for label in step) for step in zip(*ratings, strict=True)]
    return [None if total == 0 else (1 if total > 0 else -1) for total in sums]
