"""The one place where text becomes HTML that a page takes as it is. It makes no HTML itself."""


class SafeHtml(str):
    """HTML made by this package out of escaped text. Templates print it as it is (`__html__`)."""

    # Not django.utils.safestring.SafeString, as this package knows no Django. What is added to it gives a plain str,
    # which templates escape.
    __slots__ = ()

    def __html__(self) -> "SafeHtml":
        return self


def trusted(html: str) -> SafeHtml:
    """Mark HTML as safe. Only for what this package has just built, or has built before and comes out of storage."""
    return SafeHtml(html)
