"""The slots on a trace, the claims on them, and what was submitted."""

from assignments.models.claims import OPEN, Assignment, AssignmentState, Draft, Kind
from assignments.models.queue import QueuePosition, TraceQuota
from assignments.models.submissions import Submission, Withdrawal

__all__ = [
    "OPEN",
    "Assignment",
    "AssignmentState",
    "Draft",
    "Kind",
    "QueuePosition",
    "Submission",
    "TraceQuota",
    "Withdrawal",
]
