"""What the life of a task should be, in plain Python: each act that the site acknowledged is done again here, and must
have been possible. It knows nothing of the site's tables and shares none of its code.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

OPEN, SUBMITTED, SKIPPED = "claimed", "submitted", "skipped"
EXPIRED, RELEASED, VOIDED = "expired", "released", "voided"
OUT = ("returned", "voided")


@dataclass
class ModelSubmission:
    pk: UUID
    number: int
    key: str
    result: Any
    is_surplus: bool
    is_withdrawn: bool = False
    corrects: "ModelSubmission | None" = None
    outcomes: list[str] = field(default_factory=list)
    """Of all decisions, the newest last; taken back, "undecided" or what was in force before."""

    @property
    def outcome(self) -> str:
        return self.outcomes[-1] if self.outcomes else "undecided"


@dataclass
class ModelTask:
    """An assignment of an annotator, ordinary or with a known answer."""

    pk: UUID
    trace: UUID
    user: UUID
    is_gold: bool
    state: str = ""
    token: int = 0
    draft: Any = None
    revision: int = 0
    submissions: list[ModelSubmission] = field(default_factory=list)

    @property
    def standing(self) -> list[ModelSubmission]:
        return [row for row in self.submissions if not row.is_withdrawn]

    @property
    def counted(self) -> ModelSubmission | None:
        """What exports and figures have of it."""
        rows = self.standing
        counts = rows and not self.is_gold and not rows[-1].is_surplus and rows[-1].outcome not in OUT
        return rows[-1] if counts else None


@dataclass
class ModelTrace:
    """`wanted` annotations; `slots` grows where a voided one counts again beside the one that took its place."""

    wanted: int
    slots: int
    active: int = 0
    done: int = 0
    is_out: bool = False
    """Out of the queue: its answer is known, or it was excluded."""
    is_known: bool = False
    """Its answer is known, and it is given to people to see how they work."""
    adjudications: list["ModelAdjudication"] = field(default_factory=list)

    @property
    def in_force(self) -> "ModelAdjudication | None":
        """The adjudication that is authoritative: of each adjudicator the newest, and no two of them."""
        newest = {row.user: row for row in self.adjudications if not row.is_withdrawn}
        valid = [row for row in newest.values() if row.void_by is None]
        assert len(valid) < 2, "two adjudications are in force"
        return valid[0] if valid else None

    @property
    def is_free(self) -> bool:
        return not self.is_out and self.active + self.done < self.wanted

    def move(self, active: int, done: int) -> None:
        self.active += active
        self.done += done
        assert min(self.active, self.done) >= 0, "fewer than none"
        assert self.active + self.done <= self.slots, "more live and done than slots"


@dataclass
class ModelAdjudication:
    """`void_by` is the one in whose favour it gave way, or "review"; None where it is valid."""

    pk: UUID
    user: UUID
    result: Any
    void_by: UUID | str | None = None
    is_withdrawn: bool = False


@dataclass(frozen=True)
class Act:
    """What was acknowledged. `tick` is its place among all acts that touch the same rows: it was taken while the act's
    transaction still held their locks."""

    tick: int
    name: str
    facts: dict[str, Any]


class Model:
    def __init__(self, traces: list[UUID], wanted: int) -> None:
        self.traces = {trace: ModelTrace(wanted, wanted) for trace in traces}
        self.tasks: dict[UUID, ModelTask] = {}
        self.submissions: dict[UUID, tuple[ModelTask, ModelSubmission]] = {}
        self.adjudications: dict[UUID, tuple[UUID, ModelAdjudication]] = {}
        """With the trace of each."""
        self.paused: set[UUID] = set()
        self.done: Counter[str] = Counter()
        self.history: defaultdict[UUID, list[Any]] = defaultdict(list)

    def replay(self, act: Act) -> None:
        """Raises AssertionError, with what happened to the same rows before."""
        ids = {value for value in act.facts.values() if isinstance(value, UUID)}
        ids |= {self.submissions[pk][0].pk for pk in ids if pk in self.submissions}
        ids |= {self.adjudications[pk][0] for pk in ids if pk in self.adjudications}
        try:
            getattr(self, f"_{act.name}")(**act.facts)
        except AssertionError as error:
            before = "\n".join(sorted({one for pk in ids for one in self.history[pk]})[-25:])
            raise AssertionError(f"{act.name} {act.facts}: {error}\nafter\n{before}") from error
        for pk in ids:
            self.history[pk].append(f"{act.tick:>8} {act.name} {act.facts}")
        self.done[act.name] += 1

    def counted(self) -> dict[UUID, Any]:
        """Each annotation that counts, by its submission."""
        rows = (task.counted for task in self.tasks.values())
        return {row.pk: row.result for row in rows if row is not None}

    def in_force(self) -> dict[UUID, Any]:
        """Of each trace that is settled what is authoritative, by its submission."""
        settled = (trace.in_force for trace in self.traces.values())
        return {row.pk: row.result for row in settled if row is not None}

    def may_have(self, user: UUID) -> list[UUID]:
        """The traces that a claim of the person has to find."""
        over = self._had_by(user)
        return [pk for pk, trace in self.traces.items() if trace.is_free and pk not in over]

    def _had_by(self, user: UUID) -> set[UUID]:
        """What the person holds or has done, as gold, too."""
        states = (OPEN, SUBMITTED, SKIPPED, VOIDED)
        return {task.trace for task in self.tasks.values() if task.user == user and task.state in states}

    def _claim(self, *, pk: UUID, trace: UUID, user: UUID, is_gold: bool, token: int) -> None:
        task = self.tasks.setdefault(pk, ModelTask(pk, trace, user, is_gold))
        assert (task.trace, task.user, task.is_gold) == (trace, user, is_gold)
        if task.state == OPEN:
            assert task.token == token, "what is held is given again, and no other"
            return
        assert task.state in ("", EXPIRED, RELEASED) or (is_gold and task.state == VOIDED), (
            f"given again though {task.state}"
        )
        assert user not in self.paused, "given to somebody who is paused"
        if is_gold:
            assert self.traces[trace].is_known, "given as gold, and it is none"
        else:
            assert self.traces[trace].is_free, "given though no slot is free"
            assert trace not in self._had_by(user), "given again to who has done it as gold"
        assert token == task.token + 1
        self._open(task)

    def _resume(self, *, pk: UUID, token: int) -> None:
        task = self.tasks[pk]
        assert token == task.token + 1
        if task.state == OPEN:
            task.token = token
            return
        assert task.state in (EXPIRED, RELEASED)
        assert task.user not in self.paused
        assert task.is_gold or self.traces[task.trace].is_free
        self._open(task)

    def _open(self, task: ModelTask) -> None:
        task.state, task.token = OPEN, task.token + 1
        self._move(task, 1, 0)

    def _save(self, *, pk: UUID, token: int, revision: int, content: Any, is_late: bool) -> None:
        task = self.tasks[pk]
        assert token == task.token or is_late, "a page that was left behind has written"
        assert revision == task.revision + 1, "what somebody else had saved was written over"
        task.draft, task.revision = content, revision

    def _submit(self, *, pk: UUID, token: int, key: str, submission: UUID, result: Any, is_surplus: bool) -> None:
        task = self.tasks[pk]
        if (known := next((row for row in task.submissions if row.key == key), None)) is not None:
            assert known.pk == submission, "a repetition made a second annotation"
            return
        assert task.state in (OPEN, EXPIRED, RELEASED)
        assert token == task.token
        is_open = task.state == OPEN
        late = not task.is_gold and not is_open and not self.traces[task.trace].is_free
        assert is_surplus == late, "it counts if a slot is free, and is one too many else"
        self._move(task, -1 if is_open else 0, 0 if late else 1)
        task.state = SUBMITTED
        self._add(task, ModelSubmission(submission, len(task.submissions) + 1, key, result, is_surplus))

    def _skip(self, *, pk: UUID, token: int) -> None:
        task = self.tasks[pk]
        assert task.state in (OPEN, EXPIRED)
        assert token == task.token
        self._give_up(task, SKIPPED)

    def _release(self, *, pk: UUID, token: int) -> None:
        task = self.tasks[pk]
        assert task.state == OPEN
        assert token == task.token
        self._give_up(task, RELEASED)

    def _expire(self, *, tasks: list[UUID]) -> None:
        for pk in tasks:
            if pk in self.tasks:
                assert self.tasks[pk].state == OPEN, "what is held by nobody cannot end"
                self._give_up(self.tasks[pk], EXPIRED)

    def _give_up(self, task: ModelTask, state: str) -> None:
        if task.state == OPEN:
            self._move(task, -1, 0)
        task.state = state

    def _withdraw(self, *, submission: UUID) -> None:
        task, row = self.submissions[submission]
        if row.is_withdrawn:
            return
        assert not row.outcomes, "a decision was made of it"
        assert row.corrects is None, "it is a reviewer's"
        assert task.standing[-1] is row
        assert task.state == SUBMITTED
        row.is_withdrawn = True
        task.state = EXPIRED if row.is_surplus else OPEN
        if not row.is_surplus:
            self._move(task, 1, -1)

    def _accept(self, *, submission: UUID) -> None:
        task, row = self._decidable(submission)
        self._close_return(task, row)
        row.outcomes.append("accepted")

    def _give_back(self, *, submission: UUID, revision: int) -> None:
        task, row = self._decidable(submission)
        assert row.outcome != "returned"
        assert not row.is_surplus
        task.state = OPEN
        task.token += 1
        self._move(task, 1, -1)
        before = task.draft if isinstance(task.draft, dict) else {}
        task.draft, task.revision = {**before, "answers": row.result}, task.revision + 1
        assert task.revision == revision
        row.outcomes.append("returned")

    def _void(self, *, submission: UUID) -> None:
        if submission in self.adjudications:
            self._in_force(submission).void_by = "review"
            return
        task, row = self._decidable(submission)
        self._close_return(task, row)
        task.state = VOIDED
        if not row.is_surplus:
            self._move(task, 0, -1)
        row.outcomes.append("voided")

    def _correct(self, *, submission: UUID, correction: UUID, key: str, result: Any) -> None:
        task, row = self._decidable(submission)
        self._close_return(task, row)
        row.outcomes.append("corrected")
        new = ModelSubmission(correction, len(task.submissions) + 1, key, result, row.is_surplus, corrects=row)
        self._add(task, new)

    def _undo(self, *, submission: UUID) -> None:
        if submission in self.adjudications:
            trace, adjudication = self.adjudications[submission]
            adjudication.void_by = None
            assert self.traces[trace].in_force is adjudication
            return
        task, row = self.submissions[submission]
        last = row.outcomes[-1]
        if last == "corrected":
            correction = task.standing[-1]
            assert correction.corrects is row
            assert not correction.outcomes
            correction.is_withdrawn = True
        assert task.standing[-1] is row
        if last == "returned":
            assert task.state == OPEN
            self._close_return(task, row)
        if last == "voided":
            assert task.state == VOIDED
            task.state = SUBMITTED
            if not row.is_surplus and not task.is_gold:
                slots = self.traces[task.trace]
                slots.slots = max(slots.slots, slots.active + slots.done + 1)
                slots.move(0, 1)
        before = row.outcomes[-2] if len(row.outcomes) > 1 else "undecided"
        row.outcomes.append("undecided" if before == "returned" else before)

    def _close_return(self, task: ModelTask, row: ModelSubmission) -> None:
        if row.outcome == "returned":
            assert task.state == OPEN
            task.state, task.token = SUBMITTED, task.token + 1
            self._move(task, -1, 1)

    def _decidable(self, submission: UUID) -> tuple[ModelTask, ModelSubmission]:
        task, row = self.submissions[submission]
        assert task.standing[-1] is row, "only the newest is decided of"
        assert row.outcome != "voided"
        assert task.state == (OPEN if row.outcome == "returned" else SUBMITTED)
        return task, row

    def _settle(self, *, trace: UUID, submission: UUID, user: UUID, result: Any) -> None:
        row = self.traces[trace]
        before = row.in_force
        if before is not None and before.user != user:
            before.void_by = submission
        adjudication = ModelAdjudication(submission, user, result)
        row.adjudications.append(adjudication)
        self.adjudications[submission] = (trace, adjudication)
        assert row.in_force is adjudication, "the newest stands"

    def _unsettle(self, *, submission: UUID) -> None:
        if self.adjudications[submission][1].is_withdrawn:
            # Two requests at once: taking it back twice is taking it back once.
            return
        self._in_force(submission).is_withdrawn = True
        trace = self.traces[self.adjudications[submission][0]]
        for row in trace.adjudications:
            if row.void_by == submission:
                row.void_by = None
        assert trace.in_force is None or trace.in_force.pk != submission

    def _in_force(self, submission: UUID) -> ModelAdjudication:
        trace, adjudication = self.adjudications[submission]
        assert self.traces[trace].in_force is adjudication, "another one is in force"
        return adjudication

    def _pause(self, *, user: UUID) -> None:
        self.paused.add(user)

    def _go_on(self, *, user: UUID) -> None:
        self.paused.discard(user)

    def _expect(self, *, trace: UUID) -> None:
        row = self.traces[trace]
        assert not row.is_known
        row.is_known = row.is_out = True

    def _retire(self, *, trace: UUID) -> None:
        self.traces[trace].is_known = False

    def _withhold(self, *, traces: list[UUID]) -> None:
        for trace in traces:
            assert not self.traces[trace].is_known
            self.traces[trace].is_out = True

    def _give_out(self, *, traces: list[UUID]) -> None:
        for trace in traces:
            assert not self.traces[trace].is_known, "a known answer would be met twice"
            self.traces[trace].is_out = False

    def _add(self, task: ModelTask, row: ModelSubmission) -> None:
        task.submissions.append(row)
        self.submissions[row.pk] = (task, row)

    def _move(self, task: ModelTask, active: int, done: int) -> None:
        if not task.is_gold:
            self.traces[task.trace].move(active, done)
