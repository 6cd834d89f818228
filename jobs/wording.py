"""What an error says, in a form that a row can hold."""

LONGEST = 2000


def told(error: BaseException) -> str:
    """The error's kind and words, at most LONGEST characters, without what PostgreSQL refuses in a text.

    NUL and halves of surrogate pairs come with the material that people annotate; they become U+FFFD.
    """
    words = str(error)
    sentence = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return storable(sentence)


def storable(text: str) -> str:
    """The text as PostgreSQL takes it, cut to LONGEST characters."""
    whole = "".join("\ufffd" if sign == "\0" or "\ud800" <= sign <= "\udfff" else sign for sign in text[:LONGEST])
    return whole if len(text) <= LONGEST else whole[:-1] + "…"
