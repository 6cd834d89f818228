"""The places on a trace, the claims on them, and what was submitted."""

from assignments.models.claims import OPEN, Assignment, AssignmentState, Draft, Kind
from assignments.models.queue import Desk, TracePlaces
from assignments.models.submissions import Submission, Withdrawal

__all__ = [
    "OPEN",
    "Assignment",
    "AssignmentState",
    "Desk",
    "Draft",
    "Kind",
    "Submission",
    "TracePlaces",
    "Withdrawal",
]
