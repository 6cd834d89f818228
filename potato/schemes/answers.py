"""What a scheme type says of an annotator's answers: a gap for each thing that keeps them from being submitted.

Answers are JSON from an untrusted client: their texts may hold NUL and lone surrogates and come out unchanged, so they
are read here, key by key, and not by a validation library, which replaces such characters in keys.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from potato.validation.problems import Path
from potato.wording import listed, shortened


@dataclass(frozen=True, slots=True)
class TaskLocation:
    """Where on the task page a gap is filled; what does not apply is None."""

    file: str | None = None
    side: str | None = None
    line: int | None = None
    comment_id: str | None = None
    dimension: str | None = None


NOWHERE = TaskLocation()


@dataclass(frozen=True, slots=True)
class Gap:
    """One reason for which answers cannot be submitted.

    `path` leads to it in the answers, `code` names the broken rule for programs, and `sentence` is for people, with no
    character that hides. `kind`: something has still to be added ("missing"), or what is there is not allowed
    ("refused"), which the task page never sends.
    """

    path: Path
    code: str
    sentence: str
    kind: Literal["missing", "refused"]
    place: TaskLocation = NOWHERE

    def below(self, *path: str | int) -> Gap:
        return replace(self, path=(*path, *self.path))


def missing(path: Path, code: str, sentence: str, place: TaskLocation = NOWHERE) -> Gap:
    return Gap(path, code, sentence, "missing", place)


def refused(path: Path, code: str, sentence: str, place: TaskLocation = NOWHERE) -> Gap:
    return Gap(path, code, sentence, "refused", place)


class Incomplete(Exception):  # noqa: N818  (an answer to the annotator)
    """Answers were to become a result and have gaps; `gaps` are all of them."""

    code = "incomplete"

    def __init__(self, gaps: tuple[Gap, ...]) -> None:
        super().__init__(" ".join(gap.sentence for gap in gaps))
        self.gaps = gaps


class Answers:
    """One JSON object of answers, read key by key. Null is a key left out, and so is what has the wrong type; that
    leaves a gap in `gaps`, as does a key that is not among `keys`."""

    def __init__(self, value: object, noun: str, keys: Collection[str]) -> None:
        self.gaps: list[Gap] = []
        self._noun = noun
        self._members: Mapping[Any, Any] = {}
        if not isinstance(value, Mapping):
            self.gaps.append(refused((), "not_an_object", f"{_capital(noun)} must be an object of keys and values."))
            return
        self._members = value
        for key in value:
            if key not in keys:
                sentence = f"{shown(key)} is not a key of {noun}. Its keys are {listed(keys, 'and')}."
                self.gaps.append(refused((key,), "unknown_key", sentence))

    def text(self, key: str) -> str | None:
        value = self._members.get(key)
        if value is None or isinstance(value, str):
            return value
        self._wrong(key, "text")
        return None

    def number(self, key: str) -> int | None:
        """A whole number. 4.0 and true are none."""
        value = self._members.get(key)
        if value is None or is_whole(value):
            return value
        self._wrong(key, "a whole number")
        return None

    def real(self, key: str) -> int | float | None:
        """A number. true is none."""
        value = self._members.get(key)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return value
        self._wrong(key, "a number")
        return None

    def switch(self, key: str) -> bool | None:
        value = self._members.get(key)
        if value is None or isinstance(value, bool):
            return value
        self._wrong(key, "true or false")
        return None

    def values(self, key: str) -> list[Any] | None:
        """A list of anything."""
        value = self._members.get(key)
        if value is None or isinstance(value, list):
            return value
        self._wrong(key, "a list")
        return None

    def numbers(self, key: str) -> list[int] | None:
        """A list of whole numbers."""
        value = self._members.get(key)
        if value is None or (isinstance(value, list) and all(is_whole(entry) for entry in value)):
            return value
        self._wrong(key, "a list of whole numbers")
        return None

    def texts(self, key: str) -> list[str] | None:
        value = self._members.get(key)
        if value is None or (isinstance(value, list) and all(isinstance(entry, str) for entry in value)):
            return value
        self._wrong(key, "a list of texts")
        return None

    def object(self, key: str) -> Mapping[Any, Any] | None:
        value = self._members.get(key)
        if value is None or isinstance(value, Mapping):
            return value
        self._wrong(key, "an object of keys and values")
        return None

    def _wrong(self, key: str, expected: str) -> None:
        self.gaps.append(refused((key,), "wrong_type", f"{key} of {self._noun} must be {expected}."))


def is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def shown(value: object) -> str:
    """A key or text as a part of a sentence: short, and with hidden characters as their code points."""
    text = value if isinstance(value, str) else type(value).__name__
    if not text.strip():
        return "An empty text"
    return "".join(character if character.isprintable() else f"U+{ord(character):04X}" for character in shortened(text))


def _capital(noun: str) -> str:
    return noun[:1].upper() + noun[1:]
