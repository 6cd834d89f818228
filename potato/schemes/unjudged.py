"""What an annotator cannot judge, and why: a step, a file, or the whole trace.

It is no gap and no rating: what cannot be judged is not missing, and says nothing of how good it is. The key stands in
a result only where it was used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from potato.schemes.answers import Answers, Gap, TaskLocation, missing, refused, shown

KEY = "cannot_judge"
"""Of a result's steps, of a file's ratings, and of the annotations of a whole trace."""
TITLE = "Cannot judge"
LONGEST_REASON = 500

WHOLE, STEP, FILE = "trace", "step", "file"
"""What cannot be judged: a whole trace, or a unit of a scheme's result as its type counts choices."""

_INDEX = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)


def reason_gaps(reason: str, subject: str, place: TaskLocation | None = None) -> Iterator[Gap]:
    """What is wrong with the reason why `subject`, such as "step 3", cannot be judged."""
    where = place or TaskLocation()
    if not reason.strip():
        yield missing((KEY,), "no_reason", f"Say why {subject} cannot be judged.", where)
    elif len(reason) > LONGEST_REASON:
        sentence = (
            f"The reason why {subject} cannot be judged has at most {LONGEST_REASON} characters, not {len(reason)}."
        )
        yield refused((KEY,), "reason_too_long", sentence, where)


class UnjudgedSteps:
    """The reasons of answers by the index of the step, and what of them could not be read as `gaps`."""

    def __init__(self, fields: Answers) -> None:
        self.gaps: list[Gap] = []
        self.reasons: dict[int, str] = {}
        for index, reason in (fields.object(KEY) or {}).items():
            if not (isinstance(index, str) and _INDEX.fullmatch(index)):
                sentence = f"{shown(index)} is not the index of a step. Steps are named 0, 1, 2 and so on."
                self.gaps.append(refused((KEY, index), "not_an_index", sentence))
            elif isinstance(reason, str):
                self.reasons[int(index)] = reason
            elif reason is not None:
                sentence = f"Step {index}: {KEY} must be the reason, in words."
                self.gaps.append(refused((KEY, index), "wrong_type", sentence))

    def find_gaps(self, steps: int, judged: Iterable[int]) -> Iterator[Gap]:
        """What keeps them from being submitted with a trace of so many steps, of which these are judged."""
        also_judged = {*judged}
        for index, reason in sorted(self.reasons.items()):
            path = (KEY, str(index))
            if index >= steps:
                sentence = f"This trace has no step {index}. Its steps are 0 to {steps - 1}."
                yield refused(path, "unknown_step", sentence)
                continue
            for gap in reason_gaps(reason, f"step {index}"):
                yield Gap(path, gap.code, gap.sentence, gap.kind)
            if index in also_judged:
                sentence = f"Step {index}: either judge it or say why it cannot be judged, not both."
                yield refused(path, "judged_and_not", sentence)

    @property
    def as_result(self) -> dict[str, str]:
        return {str(index): reason for index, reason in sorted(self.reasons.items())}


def unjudged_steps(result: Mapping[str, Any]) -> dict[int, str]:
    """The reasons of a result by the index of the step; what is no index and reason is left out."""
    reasons = result.get(KEY)
    return {
        int(index): reason
        for index, reason in (reasons.items() if isinstance(reasons, Mapping) else ())
        if isinstance(index, str) and _INDEX.fullmatch(index) and isinstance(reason, str)
    }
