"""What a bulk action of managers answers."""

from dataclasses import dataclass

from assignments.models import SteeringAct


@dataclass(frozen=True)
class Outcome:
    """What a bulk action did, in one sentence, and the act by which it can be undone."""

    done: int
    sentence: str
    act: SteeringAct | None = None
