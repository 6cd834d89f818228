"""What a result says of the parts of its trace, in the words of its configuration, as pages lay it side by side.

Scheme types declare it; it decides nothing, and reads results of earlier configurations too.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from potato.schemes.comparisons import PlacedComment


@dataclass(frozen=True, slots=True)
class Choice:
    """A chosen value in words. `icon` is a Lucide name, `is_coloured` says that the palette knows the value."""

    value: str
    words: str
    icon: str | None = None
    is_coloured: bool = False


@dataclass(frozen=True, slots=True)
class Opinion:
    """One thing that a result says about `step`, about the lines of `place`, about `file`, else about the whole run.

    `title` is the question ("Verdict"), `choices` and `number` (a rating, a score) are the answer, and `text` what was
    written beside it. `replacement` is the code proposed for the lines of `place`, "" where they should go.
    `correction` is what the agent should have done. `key` names a comment, `part` the question for programs where its
    scheme asks several. `is_first_error` marks the first wrong step.
    """

    title: str
    choices: tuple[Choice, ...] = ()
    number: float | None = None
    text: str = ""
    file: str | None = None
    place: PlacedComment | None = None
    step: int | None = None
    replacement: str | None = None
    correction: str = ""
    key: str = ""
    is_unsure: bool = False
    is_first_error: bool = False
    part: str = ""

    @property
    def is_comment(self) -> bool:
        """Whether it is one of any number of comments, and no answer to a question that all are asked."""
        return bool(self.key)

    @property
    def is_of_the_whole(self) -> bool:
        """Whether it is said of the whole run, and not of a part."""
        return self.file is None and self.place is None and self.step is None

    @property
    def answer(self) -> Hashable:
        """What two opinions on one part have in common where they are the same; words beside it are never the same."""
        return tuple(choice.value for choice in self.choices), self.number
