"""What a program asks as a reviewer: the queue, and decisions about annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from potato.api.reviewing import DecisionShape, DecisionsOfOne, ReviewQueue, Taken
from potato.api.shapes import AssignmentInDetail, Submission
from potato.client.operations import OfProject, operation, stream
from potato.client.steps import Steps, Stream, ask, get, pages, path, send

OutcomeName = Literal["accepted", "returned", "corrected", "voided", "undecided"]


class ReviewQueueOperations(OfProject):
    """Nobody reviews their own work."""

    @operation
    def review_queue(self) -> Steps[ReviewQueue]:
        """What the caller may review, the first to come first, each with why."""
        return ask(get(self._path("review")), ReviewQueue)

    @operation
    def take_to_review(self) -> Steps[UUID | None]:
        """Hold the next annotation of the queue, so that no other reviewer is given it meanwhile; None where none
        waits."""
        taken = yield from ask(send("POST", self._path("review")), Taken)
        return taken.submission

    @stream
    def decisions(self, *, outcome: OutcomeName | None = None) -> Stream[DecisionShape]:
        """All decisions of the project's reviewers, the oldest first; those that take another back, too."""
        return pages(self._path("decisions"), DecisionShape, outcome=outcome)


class DecisionOperations:
    """Of a client: about one annotation, which its id names."""

    @operation
    def decisions_of(self, submission: Submission | UUID) -> Steps[list[DecisionShape]]:
        """What was decided of it, the oldest first: the last one is in force."""
        found = yield from ask(get(_of(submission, "decisions")), DecisionsOfOne)
        return found.results

    @operation
    def accept(self, submission: Submission | UUID, *, seen: int | None = None) -> Steps[DecisionShape]:
        """`seen`, the number of decisions that the caller knows of, raises Conflict where there are others; so of all
        decisions."""
        return _decide(submission, "accepted", seen)

    @operation
    def return_to_annotator(
        self,
        submission: Submission | UUID,
        notes: Sequence[Mapping[str, Any]],
        *,
        until: datetime | None = None,
        seen: int | None = None,
    ) -> Steps[DecisionShape]:
        """Open the task again for its person, with its answers and these notes: each a `text`, and the `path`, `side`
        and `line` or the `step` that it is about."""
        return _decide(submission, "returned", seen, notes, until)

    @operation
    def void(self, submission: Submission | UUID, reason: str, *, seen: int | None = None) -> Steps[DecisionShape]:
        """It counts no more, and the trace is given to somebody else."""
        return _decide(submission, "voided", seen, [{"text": reason}])

    @operation
    def correct(self, submission: Submission | UUID) -> Steps[AssignmentInDetail]:
        """Open it as the caller's own assignment, with its answers as the draft. What is submitted under it counts in
        its place; both are kept."""
        return ask(send("POST", _of(submission, "correct")), AssignmentInDetail)

    @operation
    def undo_decision(self, decision: DecisionShape | UUID) -> Steps[DecisionShape]:
        """Take one's own decision back, within ten minutes: what was decided before is in force again."""
        one = decision if isinstance(decision, UUID) else decision.id
        return ask(send("POST", path("decisions", one, "undo")), DecisionShape)


def _of(submission: Submission | UUID, *parts: object) -> str:
    return path("submissions", submission if isinstance(submission, UUID) else submission.submission, *parts)


def _decide(
    submission: Submission | UUID,
    outcome: OutcomeName,
    seen: int | None,
    notes: Sequence[Mapping[str, Any]] = (),
    until: datetime | None = None,
) -> Steps[DecisionShape]:
    body = {
        "outcome": outcome,
        "notes": [dict(note) for note in notes],
        "until": until.isoformat() if until else None,
        "seen": seen,
    }
    return ask(send("POST", _of(submission, "decisions"), body), DecisionShape)
