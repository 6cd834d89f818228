"""Expected failures: each a class with a code, a sentence for people, and the HTTP status of an answer."""

from typing import Any

from django.db import DataError


class Refused(Exception):  # noqa: N818  (it is an answer, not an error)
    """An action that cannot be done now. The sentence says what, where and what to do.

    `retry_after` is in how many seconds it may be worth to try again, where that can be said.
    """

    code = "refused"
    status = 409
    retry_after: int | None = None

    def __init__(self, sentence: str, *, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        if retry_after is not None:
            self.retry_after = retry_after

    def facts(self) -> dict[str, Any]:
        """What programs are told beside the code and the sentence."""
        return {}


class Frozen(Refused):
    """The organisation is frozen: it can be read and exported, and nothing new comes in."""

    code = "organisation_frozen"
    status = 423
    SENTENCE = (
        "This organisation is being closed: it can be read and exported, and nothing new is kept. Its owners can stop "
        "that: People, Retention, Close the organisation."
    )
    SQLSTATE = "PO423"
    """What the database raises, in the function that accounts.0007 makes."""

    def __init__(self) -> None:
        super().__init__(self.SENTENCE)


class KeyReused(Refused):
    """Another request came under this Idempotency-Key before."""

    code = "idempotency_key_reused"
    status = 422


class HoldsNul(Refused):
    """A text of the request, or its address, has the one character that PostgreSQL keeps in no text."""

    code = "nul_in_text"
    status = 400
    SENTENCE = "A text of this request, or its address, has the character U+0000 (NUL). Nothing was kept: leave it out."

    def __init__(self) -> None:
        super().__init__(self.SENTENCE)


_UNTRANSLATABLE_CHARACTER = "22P05"


def refuses_nul(error: BaseException) -> bool:
    """Whether the database, or what speaks with it, refused a text for a NUL in it."""
    if not isinstance(error, DataError):
        return False
    # Within JSON it is written out, and PostgreSQL says that it "cannot be converted to text".
    return "NUL (0x00)" in str(error) or getattr(error.__cause__, "sqlstate", None) == _UNTRANSLATABLE_CHARACTER


def frozen_by(error: BaseException) -> bool:
    """Whether the database refused a write because the organisation is frozen."""
    return getattr(error.__cause__, "sqlstate", None) == Frozen.SQLSTATE
