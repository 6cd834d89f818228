"""`dpo`: preferences between two runs of one task, or between a wrong step and its correction."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from potato.formats.consensus import is_weighted, remarks_on
from potato.formats.notes import Note, Notes, note_line
from potato.formats.options import WEIGHTED, ConsensusOptions, can_be_computed, not_majority
from potato.formats.step_consensus import JudgedRun, StepPosteriors, expected_first_error, labels, step_consensus
from potato.formats.training import Rewards, StepText, TrainingFormat, readable, step_text
from potato.records.sources import Record, Resolve, TraceFacts, json_text
from potato.runs.model import AgentRun
from potato.runs.tasks import resolve_task_id
from potato.wording import UNKNOWN

_TEXTS_KEPT = 16
_Run: TypeAlias = tuple[str, int]
Pairing: TypeAlias = Literal["within", "across", "consensus"]


class DpoOptions(ConsensusOptions):
    resolve: Annotated[Resolve, AfterValidator(not_majority), AfterValidator(can_be_computed)] = "all"
    """all annotations, those of adjudicators, the latest of each trace, what annotators say of each step weighted by
    how reliable each one shows to be (consensus), or how probable each answer is then (soft)"""
    step_text: StepText = "short"
    """a step as its message and calls, or in full with the results and the hidden thought"""
    pairs: Literal["traces", "within", "corrections"] = "traces"
    """two runs of one task, such pairs by one annotator alone (within), or a wrong step and the correction that was
    written for it"""
    score: Literal["sum", "mean"] = "sum"
    """where steps were rated one by one: the sum of a run's scores, or their mean, which does not grow with its
    length; a first error is scored by its place, whatever stands here"""
    min_score_gap: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """the least difference of two runs' scores; equal scores never make a pair"""
    prompt_style: Literal["text", "messages"] = "text"
    """the prompt as text, or as a list of messages, as current preference trainers demand"""

    @model_validator(mode="after")
    def _scores_are_of_traces(self) -> "DpoOptions":
        if self.resolve in WEIGHTED and self.pairs != "traces":
            raise PydanticCustomError(
                "of_one_annotator",
                "pairs {pairs} is of single annotators, and resolve {resolve} is of all together. "
                "Leave one of the two out.",
                {"pairs": self.pairs, "resolve": self.resolve},
            )
        if self.pairs != "corrections":
            return self
        for name, is_chosen in (("min_score_gap", bool(self.min_score_gap)), ("score", self.score != "sum")):
            if is_chosen:
                raise PydanticCustomError(
                    "no_score",
                    "{name} is for pairs of traces: a correction has no score. Leave one of the two out.",
                    {"name": name},
                )
        return self


@dataclass(frozen=True)
class _Judged:
    """One annotation of one run, or several of them together: who says which score."""

    trace: _Run
    annotators: tuple[str, ...]
    mode: str
    score: Fraction
    steps: int
    is_final: bool
    note: Note


@dataclass(frozen=True)
class _Candidate:
    """Two runs that may be compared."""

    first: _Judged
    second: _Judged
    pairing: Pairing

    @property
    def is_of_one_scale(self) -> bool:
        return self.first.mode == self.second.mode


class Dpo(TrainingFormat):
    """Each row has `prompt` (the task), `chosen` and `rejected` (a message of the assistant for each step). Beside
    them stand `margin`, both scores, both trace ids, the task's id, who judged, and `pairing`.

    Both runs have one `task_id`, and the chosen one has the strictly higher score. Where steps were rated one by one
    the score is the cumulative one, the sum of the rated steps' scores; `--score mean` takes their mean. Where the
    first error was marked it is 1 for a run without an error, else the share of its steps before the error: so a right
    run is above every wrong one however long they are, two right ones tie, and of two wrong ones the one that went
    wrong later is the better one. Scores of the two modes are never compared.

    Two runs that one annotator judged both are compared within that annotator, a row for each such annotator
    (`pairing` is "within"); an adjudicated judgement takes the place of the annotator's own, and where both runs are
    adjudicated there is that one pair alone. Two runs that nobody judged both are compared by the means over their
    annotators (`pairing` is "across"; `chosen_annotator` is null where the mean is of several, whom
    `chosen_annotators` names). `--pairs within` leaves those out. The manifest's `counts` says how many rows are of
    each kind, and in how many of those with rated steps the longer run has over one and a half times the steps of the
    shorter one: a sum may prefer it for its length alone. Ties, pairs under the gap and runs that pair with none are
    left out, and counted.

    With `--resolve consensus` the steps of each run are judged by all its annotators together, weighed by how reliable
    each one shows to be, and the score is that of these steps: 1 for right, -1 for wrong, 0 where both are equally
    probable. With `--resolve soft` each step counts with the chance that it is right minus the chance that it is wrong,
    and a first error with its expected place. There is one pair for two runs then (`pairing` is "consensus").

    With `--pairs corrections` the prompt is the task and the steps before, `chosen` the correction and `rejected` the
    step that it corrects; such a file has no pairs of traces."""

    name = "dpo"
    label = "Preferences between runs of one task, or between steps and their corrections"
    options = DpoOptions

    @property
    def gathers(self) -> bool:
        return bool(self.chosen.pairs != "corrections")

    def write_rewards(self, record: Record, rewards: Rewards, run: AgentRun, facts: TraceFacts) -> bytes:
        if not resolve_task_id(run):
            return self.leave_out("without_task")
        if not run.steps:
            return self.leave_out("without_steps")
        if not self.gathers:
            return self._corrections(record, rewards, run)
        if not rewards.is_rated:
            return self.leave_out("without_rated_step")
        score = str(self._score(rewards))
        head = [[record.id, record.trace_version], record.annotator, record.kind, rewards.mode, score, len(run.steps)]
        if is_weighted(self):
            head.append(rewards.decided())
        return note_line(resolve_task_id(run), head, [readable(run.task), self._messages(run)])

    def gathered(self, notes: Notes) -> Iterator[bytes]:
        weighed = None
        if is_weighted(self):
            every = (_as_run(own) for _, same in notes for own in _by_run(same))
            weighed = step_consensus(self, every, self.chosen.weighting)
        for task, same in notes:
            if weighed is None:
                judged = [_judged(note) for note in same]
                yield from self._run_pairs(task, judged, _candidates(judged), notes)
            else:
                judged = [judgement for own in _by_run(same) if (judgement := self._weighed(own, weighed)) is not None]
                pairs = (_Candidate(first, other, "consensus") for first, other in _of_other_runs(judged))
                yield from self._run_pairs(task, judged, pairs, notes)

    def remarks(self) -> list[str]:
        remarks = remarks_on(self.consensus)
        if uneven := self.counts.get("uneven_lengths", 0):
            advice = " A sum may prefer the longer run for its length alone: --score mean compares means of steps."
            remarks.append(
                f"In {uneven:,} of {self.rows:,} pairs the longer run has over one and a half times the steps of the "
                f"shorter one.{advice if self.chosen.score == 'sum' else ''}"
            )
        if across := self.counts.get("pairs_across", 0):
            remarks.append(
                f"{across:,} of {self.rows:,} pairs compare the means of different annotators, because nobody judged "
                "both runs: --pairs within leaves them out."
            )
        if self.chosen.prompt_style != "messages":
            remarks.append(
                "Current preference trainers want the prompt as messages: --prompt-style messages writes it so."
            )
        return remarks

    def nothing(self) -> str:
        if not self.gathers:
            return "The export selects nothing: no annotation has a correction. Nothing was written."
        return (
            "The export selects nothing: no two traces of one task have different scores"
            f"{' by one annotator' if self.chosen.pairs == 'within' else ''}"
            f"{' with that gap' if self.chosen.min_score_gap else ''}. Nothing was written."
        )

    def _score(self, rewards: Rewards) -> Fraction:
        """What the annotation says the whole run is worth. It rates a step at least."""
        if rewards.mode == "first_error":
            at = rewards.first_error()
            return Fraction(1) if at is None else Fraction(at, len(rewards.scores))
        total = Fraction(rewards.total)
        return total / rewards.rated if self.chosen.score == "mean" else total

    def _weighed(self, notes: Sequence[Note], weighed: StepPosteriors) -> _Judged | None:
        """What all annotators of a run together say it is worth; None where they say nothing of any step."""
        right = weighed.of(_as_run(notes))
        steps = labels(right)
        if set(right) == {None}:
            self.leave_out("without_rated_step")
            return None
        first = _judged(notes[0])
        is_soft = self.resolve == "soft"
        if first.mode == "first_error":
            share = expected_first_error(right) if is_soft else _error_at(steps)
        else:
            worth = [
                2 * share - 1 if is_soft else label or 0
                for share, label in zip(right, steps, strict=True)
                if share is not None
            ]
            share = sum(worth) / (len(worth) if self.chosen.score == "mean" else 1)
        names = tuple(dict.fromkeys(note.head[1] for note in notes))
        return replace(first, annotators=names, score=Fraction(str(round(share, 6))))

    def _messages(self, run: AgentRun, end: int | None = None) -> list[dict[str, str]]:
        return [_message(step_text(step, self.chosen.step_text)) for step in run.steps[:end]]

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
                "chosen": [_message(readable(correction))],
                "rejected": [_message(step_text(run.steps[at], self.chosen.step_text))],
                "trace_id": readable(record.id),
                **({"trace_version": record.trace_version} if record.trace_version > 1 else {}),
                "step": at,
                "task_id": readable(resolve_task_id(run)),
                "annotator": readable(record.annotator),
            }
            rows.append(f"{json_text(row)}\n")
        self.state["rows"] += len(rows)
        return "".join(rows).encode("ascii")

    def _run_pairs(
        self, task: str, judged: Sequence[_Judged], candidates: Iterable[_Candidate], notes: Notes
    ) -> Iterator[bytes]:
        paired: set[_Run] = set()
        texts = _Texts(notes)
        for candidate in candidates:
            if candidate.pairing == "across" and self.chosen.pairs == "within":
                self.leave_out("across_annotators")
                continue
            paired |= {candidate.first.trace, candidate.second.trace}
            if not candidate.is_of_one_scale:
                self.leave_out("of_two_modes")
                continue
            if candidate.first.score == candidate.second.score:
                self.leave_out("ties")
                continue
            chosen, rejected = sorted((candidate.first, candidate.second), key=lambda run: -run.score)
            if chosen.score - rejected.score < Fraction(str(self.chosen.min_score_gap)):
                self.leave_out("under_the_gap")
                continue
            self.count(f"pairs_{candidate.pairing}")
            if chosen.mode == "per_step" and _are_uneven(chosen.steps, rejected.steps):
                self.count("uneven_lengths")
            yield self._row(task, chosen, rejected, candidate.pairing, texts)
        if alone := {judgement.trace for judgement in judged} - paired:
            self.leave_out("without_partner", len(alone))

    def _row(self, task: str, chosen: _Judged, rejected: _Judged, pairing: Pairing, texts: "_Texts") -> bytes:
        self.state["rows"] += 1
        prompt, better = texts.of(chosen.note)
        _, worse = texts.of(rejected.note)
        row: dict[str, Any] = {
            "prompt": self._prompt(prompt),
            "chosen": better,
            "rejected": worse,
            "margin": float(chosen.score - rejected.score),
        }
        for side, run in (("chosen", chosen), ("rejected", rejected)):
            names = [readable(name) for name in run.annotators]
            row[f"{side}_score"] = float(run.score)
            row[f"{side}_trace_id"] = readable(run.trace[0])
            if run.trace[1] > 1:
                row[f"{side}_trace_version"] = run.trace[1]
            row[f"{side}_annotator"] = names[0] if len(names) == 1 else None
            row[f"{side}_annotators"] = names
        row["pairing"] = pairing
        row["task_id"] = readable(task)
        return f"{json_text(row)}\n".encode("ascii")


def _judged(note: Note) -> _Judged:
    (trace, version), annotator, kind, mode, score, steps = note.head[:6]
    return _Judged((trace, version), (annotator,), mode, Fraction(score), steps, kind == "adjudication", note)


def _by_run(notes: Sequence[Note]) -> list[list[Note]]:
    """The notes of each run, those of each mode by themselves."""
    runs: dict[tuple[str, int, str], list[Note]] = {}
    for note in notes:
        (trace, version), mode = note.head[0], note.head[3]
        runs.setdefault((trace, version, mode), []).append(note)
    return list(runs.values())


def _as_run(notes: Sequence[Note]) -> JudgedRun:
    return JudgedRun(notes[0].head[3], [(note.head[1], note.head[6]) for note in notes])


def _of_other_runs(judged: Sequence[_Judged]) -> Iterator[tuple[_Judged, _Judged]]:
    """Every two judgements of two runs; of those in one mode where there are any."""
    by_run: dict[_Run, list[_Judged]] = {}
    for judgement in judged:
        by_run.setdefault(judgement.trace, []).append(judgement)
    for first, second in combinations(by_run.values(), 2):
        same_mode = [(left, other) for left in first for other in second if left.mode == other.mode]
        yield from same_mode or [(first[0], second[0])]


def _error_at(labels: Sequence[int | None]) -> float:
    """The share of steps before the first wrong one, 1 for none."""
    return labels.index(-1) / len(labels) if -1 in labels else 1.0


class _Texts:
    """Prompts and messages of the runs that were used last."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._kept: dict[int, Any] = {}

    def of(self, note: Note) -> Any:
        body = self._kept.pop(note.place, None) or self._notes.body(note)
        self._kept[note.place] = body
        if len(self._kept) > _TEXTS_KEPT:
            del self._kept[next(iter(self._kept))]
        return body


def _candidates(judged: Sequence[_Judged]) -> Iterator[_Candidate]:
    """Every two runs of one task that can be compared: both adjudicated, else by each annotator who judged both,
    whose own judgement gives way to an adjudicated one, else by the means over their annotators. Of several judgements
    by one person for one run the last counts. Who is unknown may be somebody else each time."""
    final: dict[_Run, _Judged] = {}
    people: dict[_Run, dict[str, _Judged]] = {}
    for judgement in judged:
        people.setdefault(judgement.trace, {})[judgement.annotators[0]] = judgement
        if judgement.is_final:
            final[judgement.trace] = judgement
    means = {run: _means([final[run]] if run in final else list(own.values())) for run, own in people.items()}
    for one_run, other_run in combinations(people, 2):
        if one_run in final and other_run in final:
            first, second = final[one_run], final[other_run]
            yield _Candidate(first, second, "within" if first.annotators == second.annotators else "across")
            continue
        both = [person for person in people[one_run] if person in people[other_run] and person != UNKNOWN]
        for person in both:
            first = final.get(one_run, people[one_run][person])
            second = final.get(other_run, people[other_run][person])
            yield _Candidate(first, second, "within")
        if not both:
            of_one, of_other = means[one_run], means[other_run]
            modes = [mode for mode in of_one if mode in of_other]
            for mode in modes:
                yield _Candidate(of_one[mode], of_other[mode], "across")
            if not modes:
                yield _Candidate(next(iter(of_one.values())), next(iter(of_other.values())), "across")


def _means(same: Sequence[_Judged]) -> dict[str, _Judged]:
    """The judgements of one run together, those of each mode by themselves."""
    by_mode: dict[str, list[_Judged]] = {}
    for judgement in same:
        by_mode.setdefault(judgement.mode, []).append(judgement)
    return {
        mode: replace(
            own[0],
            annotators=tuple(name for judgement in own for name in judgement.annotators),
            score=sum((judgement.score for judgement in own), Fraction(0)) / len(own),
        )
        for mode, own in by_mode.items()
    }


def _are_uneven(steps: int, other: int) -> bool:
    """Whether the longer one has over one and a half times the steps of the shorter one."""
    return 2 * max(steps, other) > 3 * min(steps, other)


def _message(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}
