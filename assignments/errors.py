"""What an action on assignments refuses, and why. The page keeps what was not taken."""

from typing import Any
from uuid import UUID

from potato.schemes.answers import Gap
from tenancy.errors import Refused


class LeaseEnded(Refused):
    """The slot went back to the queue. The draft is kept, and a submission is still taken."""

    code = "lease_ended"


class TakenOver(Refused):
    """The work goes on elsewhere, under a newer fencing token."""

    code = "taken_over"


class NotOpen(Refused):
    """The assignment was submitted, skipped or released already."""

    code = "not_open"


class TooManyOpen(Refused):
    code = "too_many_open"


class Paused(Refused):
    """Somebody paused the project, the batch or the person: what is held may be finished, nothing new is taken."""

    code = "paused"


class PoolChanged(Refused):
    """What waits in the pool is not what the preview showed."""

    code = "pool_changed"


class NothingChosen(Refused):
    code = "nothing_chosen"
    status = 422


class BadNote(Refused):
    code = "bad_note"
    status = 422


class UnknownPeople(Refused):
    code = "unknown_people"
    status = 422


class MembershipEnded(Refused):
    """Somebody ended the person's membership in the meantime."""

    code = "membership_ended"
    status = 403


class ReasonNeeded(Refused):
    code = "reason_needed"
    status = 422


class DraftConflict(Refused):
    """The draft was saved since that revision; `content` and `revision` are what is stored."""

    code = "draft_conflict"

    def __init__(self, *, revision: int, content: Any) -> None:
        super().__init__(
            f"This draft was saved elsewhere meanwhile and is at revision {revision} now. Compare the two, and save "
            "again what you want to keep."
        )
        self.revision = revision
        self.content = content

    def facts(self) -> dict[str, Any]:
        return {"revision": self.revision, "content": self.content}


class MalformedDraft(Refused):
    """The answers of a draft have keys or types that no annotation has; `gaps` are all of them."""

    code = "malformed"
    status = 422

    def __init__(self, gaps: tuple[Gap, ...]) -> None:
        super().__init__("The draft was not saved: its answers do not have the form that the project asks for.")
        self.gaps = gaps

    def facts(self) -> dict[str, Any]:
        return {"gaps": self.gaps}


class TooLateToWithdraw(Refused):
    code = "too_late_to_withdraw"


class WasWithdrawn(Refused):
    """The submission under this idempotency key was taken back since."""

    code = "was_withdrawn"


class OwnWork(Refused):
    """Nobody decides of their own annotation."""

    code = "own_work"
    status = 403


class NotDecidable(Refused):
    """The annotation was withdrawn, replaced or voided, or cannot be decided so."""

    code = "not_decidable"


class DecidedMeanwhile(Refused):
    """Somebody else decided of the annotation since the reviewer looked at it."""

    code = "decided_meanwhile"


class TooLateToUndo(Refused):
    code = "too_late_to_undo"


class BadReviewNote(Refused):
    code = "bad_review_note"
    status = 422


class WasReviewed(Refused):
    """A reviewer decided of the submission, so that its annotator cannot take it back any more."""

    code = "was_reviewed"


class NotesLeft(Refused):
    """Of a returned annotation: the annotator has not said to each note what became of it."""

    code = "notes_left"
    status = 422

    def __init__(self, decision: UUID, notes: list[int], sentence: str) -> None:
        super().__init__(sentence)
        self.decision = decision
        self.notes = notes

    def facts(self) -> dict[str, Any]:
        return {"decision": str(self.decision), "notes": self.notes}


class BadQuestion(Refused):
    """A question of an annotator, or the answer to it, that is not taken."""

    code = "bad_question"
    status = 422


class BadAnswer(Refused):
    code = "bad_answer"
    status = 422
