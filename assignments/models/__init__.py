"""What is released, the slots on a trace, the claims on them, what was submitted, and what was decided of it."""

from assignments.models.batches import (
    Batch,
    BatchPerson,
    BatchPosition,
    BatchState,
    Order,
    Priority,
    Reservation,
    StandingRule,
    Steering,
    SteeringAct,
)
from assignments.models.claims import OPEN, Assignment, AssignmentState, Draft, Kind
from assignments.models.notes import Note
from assignments.models.questions import Question, QuestionAnswer
from assignments.models.queue import QueuePosition, TraceQuota, Withheld
from assignments.models.reviewing import Correction, NoteAnswer, ReviewHold
from assignments.models.submissions import Decision, Outcome, Submission, Withdrawal
from assignments.models.suggestions import Suggestion, SuggestionExposure

__all__ = [
    "OPEN",
    "Assignment",
    "AssignmentState",
    "Batch",
    "BatchPerson",
    "BatchPosition",
    "BatchState",
    "Correction",
    "Decision",
    "Draft",
    "Kind",
    "Note",
    "NoteAnswer",
    "Order",
    "Outcome",
    "Priority",
    "Question",
    "QuestionAnswer",
    "QueuePosition",
    "Reservation",
    "ReviewHold",
    "StandingRule",
    "Steering",
    "SteeringAct",
    "Submission",
    "Suggestion",
    "SuggestionExposure",
    "TraceQuota",
    "Withdrawal",
    "Withheld",
]
