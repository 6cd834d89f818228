"""What an error says, in a form that a row can hold."""

import re

LONGEST = 2000
_REFUSED = re.compile("[\0\ud800-\udfff]")


def describe_error(error: BaseException) -> str:
    """The error's kind and words, at most LONGEST characters, without what PostgreSQL refuses in a text.

    NUL and halves of surrogate pairs come with the material that people annotate; they become U+FFFD.
    """
    words = str(error)
    sentence = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return storable(sentence)


def storable(text: str, longest: int = LONGEST) -> str:
    """The text as PostgreSQL takes it, cut to `longest` characters."""
    whole = _REFUSED.sub("\ufffd", text[:longest])
    return whole if len(text) <= longest else whole[:-1] + "…"
