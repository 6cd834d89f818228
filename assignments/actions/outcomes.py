"""What a bulk action of managers answers, and what is kept of it so that it can be undone."""

from dataclasses import dataclass
from typing import Any

from accounts.models import Project
from assignments.models import SteeringAct
from tenancy.actor import current

_LONGEST_SENTENCE = 500


@dataclass(frozen=True)
class Outcome:
    """What a bulk action did, in one sentence, and the act by which it can be undone."""

    done: int
    sentence: str
    act: SteeringAct | None = None


def keep_act(project: Project, verb: str, sentence: str, before: Any) -> SteeringAct:
    """Keep what whoever acts did just now, with what the verb's undo reads: `before`, of which JSON can be made."""
    act = SteeringAct(project=project, verb=verb, sentence=sentence[:_LONGEST_SENTENCE], done_by_id=current().user)
    act.before = before
    act.save()
    return act
