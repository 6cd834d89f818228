"""`dpo`: preferences between two runs of one task, or between a wrong step and its correction."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from exports.formats.notes import Note, Notes, note_line
from exports.formats.options import RowOptions
from exports.formats.records import Record, json_text
from exports.formats.training import Rewards, StepText, TrainingFormat, readable, step_text
from traces.runs import AgentRun
from traces.tasks import task_of

_TEXTS_KEPT = 16


class DpoOptions(RowOptions):
    step_text: StepText = "short"
    """a step as its message and calls, or in full with the results and the hidden thought"""
    pairs: Literal["traces", "corrections"] = "traces"
    """two runs of one task, or a wrong step and the correction that was written for it"""
    min_score_gap: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """the least difference of two runs' cumulative scores; equal scores never make a pair"""
    prompt_style: Literal["text", "messages"] = "text"
    """the prompt as text, or as a list of messages, as current preference trainers demand"""

    @model_validator(mode="after")
    def _gap_is_between_traces(self) -> "DpoOptions":
        if self.pairs == "corrections" and self.min_score_gap:
            raise PydanticCustomError(
                "no_gap", "min_score_gap is for pairs of traces: a correction has no score. Leave one of the two out."
            )
        return self


@dataclass(frozen=True)
class _Judged:
    """One annotation of one run: who says which score."""

    trace: tuple[str, int]
    annotator: str
    score: Decimal
    is_final: bool
    note: Note


class Dpo(TrainingFormat):
    """Each row has `prompt` (the task), `chosen` and `rejected` (a message of the assistant for each step). Beside
    them stand `margin`, both cumulative scores, both trace ids, the task's id and who judged.

    Both runs have one `task_id`, and the chosen one has the strictly higher cumulative score: the sum of its steps'
    scores. Both judgements are one annotator's, and an adjudicated judgement takes the place of the annotator's own;
    where both runs are adjudicated there is that one pair alone. Ties, pairs under the gap and runs that pair with
    none are left out, and counted.

    With `--pairs corrections` the prompt is the task and the steps before, `chosen` the correction and `rejected` the
    step that it corrects; such a file has no pairs of traces."""

    name = "dpo"
    label = "Preferences between runs of one task, or between steps and their corrections"
    options = DpoOptions

    @property
    def gathers(self) -> bool:
        return bool(self.chosen.pairs == "traces")

    def write_rewards(self, record: Record, rewards: Rewards, run: AgentRun) -> bytes:
        if not task_of(run):
            return self.leave_out("without_task")
        if not run.steps:
            return self.leave_out("without_steps")
        if not self.gathers:
            return self._corrections(record, rewards, run)
        if not rewards.is_rated:
            return self.leave_out("without_rated_step")
        head = [[record.id, record.trace_version], record.annotator, record.kind, str(rewards.total)]
        return note_line(task_of(run), head, [readable(run.task), self._messages(run)])

    def gathered(self, notes: Notes) -> Iterator[bytes]:
        for task, same in notes:
            yield from self._pairs_of(task, same, notes)

    def remarks(self) -> list[str]:
        if self.chosen.prompt_style == "messages":
            return []
        return ["Current preference trainers want the prompt as messages: --prompt-style messages writes it so."]

    def nothing(self) -> str:
        if not self.gathers:
            return "The export selects nothing: no annotation has a correction. Nothing was written."
        return (
            "The export selects nothing: no two traces of one task have different scores by one annotator"
            f"{' with that gap' if self.chosen.min_score_gap else ''}. Nothing was written."
        )

    def _messages(self, run: AgentRun, end: int | None = None) -> list[dict[str, str]]:
        return [_said(step_text(step, self.chosen.step_text)) for step in run.steps[:end]]

    def _prompt(self, task: str, before: Sequence[dict[str, str]] = ()) -> Any:
        """The task, and what was done before, as messages or as paragraphs."""
        if self.chosen.prompt_style == "messages":
            return [{"role": "user", "content": task}, *before]
        return "\n\n".join([task, *(message["content"] for message in before)])

    def _corrections(self, record: Record, rewards: Rewards, run: AgentRun) -> bytes:
        rows = []
        for at, correction in rewards.corrections.items():
            if at >= len(run.steps):
                self.leave_out("without_step")
                continue
            row = {
                "prompt": self._prompt(readable(run.task), self._messages(run, at)),
                "chosen": [_said(readable(correction))],
                "rejected": [_said(step_text(run.steps[at], self.chosen.step_text))],
                "trace_id": readable(record.id),
                **({"trace_version": record.trace_version} if record.trace_version > 1 else {}),
                "step": at,
                "task_id": readable(task_of(run)),
                "annotator": readable(record.annotator),
            }
            rows.append(f"{json_text(row)}\n")
        self.state["rows"] += len(rows)
        return "".join(rows).encode("ascii")

    def _pairs_of(self, task: str, same: Sequence[Note], notes: Notes) -> Iterator[bytes]:
        paired: set[tuple[str, int]] = set()
        judged = [_judged(note) for note in same]
        texts = _Texts(notes)
        for first, second in _candidates(judged):
            paired |= {first.trace, second.trace}
            if first.score == second.score:
                self.leave_out("ties")
                continue
            chosen, rejected = sorted((first, second), key=lambda one: -one.score)
            if chosen.score - rejected.score < Decimal(str(self.chosen.min_score_gap)):
                self.leave_out("under_the_gap")
                continue
            yield self._row(task, chosen, rejected, texts)
        if alone := {one.trace for one in judged} - paired:
            self.leave_out("without_partner", len(alone))

    def _row(self, task: str, chosen: _Judged, rejected: _Judged, texts: "_Texts") -> bytes:
        self.state["rows"] += 1
        prompt, better = texts.of(chosen.note)
        _, worse = texts.of(rejected.note)
        row: dict[str, Any] = {
            "prompt": self._prompt(prompt),
            "chosen": better,
            "rejected": worse,
            "margin": float(chosen.score - rejected.score),
        }
        for side, one in (("chosen", chosen), ("rejected", rejected)):
            row[f"{side}_score"] = float(one.score)
            row[f"{side}_trace_id"] = readable(one.trace[0])
            if one.trace[1] > 1:
                row[f"{side}_trace_version"] = one.trace[1]
            row[f"{side}_annotator"] = readable(one.annotator)
        row["task_id"] = readable(task)
        return f"{json_text(row)}\n".encode("ascii")


def _judged(note: Note) -> _Judged:
    (trace, version), annotator, kind, score = note.head
    return _Judged((trace, version), annotator, Decimal(score), kind == "adjudication", note)


class _Texts:
    """Prompts and messages of the runs that were used last."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._kept: dict[int, Any] = {}

    def of(self, note: Note) -> Any:
        found = self._kept.pop(note.place, None) or self._notes.body(note)
        self._kept[note.place] = found
        if len(self._kept) > _TEXTS_KEPT:
            del self._kept[next(iter(self._kept))]
        return found


def _candidates(judged: Sequence[_Judged]) -> Iterator[tuple[_Judged, _Judged]]:
    """The two judgements of each pair of one task's runs: both adjudicated, else both by one annotator, whose own
    gives way to an adjudicated one. Of several by one person for one run the last counts."""
    final: dict[tuple[str, int], _Judged] = {}
    people: dict[str, dict[tuple[str, int], _Judged]] = {}
    for one in judged:
        people.setdefault(one.annotator, {})[one.trace] = one
        if one.is_final:
            final[one.trace] = one
    yield from combinations(final.values(), 2)
    for own in people.values():
        for first, second in combinations(own, 2):
            if not (first in final and second in final):
                yield final.get(first, own[first]), final.get(second, own[second])


def _said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}
