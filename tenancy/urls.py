"""Links between an organisation's pages, whose script prefix names it, and the pages outside every organisation."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.urls import get_script_prefix, get_urlconf, reverse, set_script_prefix, set_urlconf


def global_reverse(name: str, **kwargs: Any) -> str:
    """The path of a page outside every organisation (login, home), from wherever this is called."""
    return _reverse_under(_root(), settings.ROOT_URLCONF, name, kwargs)


def organisation_reverse(slug: str, page: str, /, **kwargs: Any) -> str:
    """The path of a page of that organisation, from wherever this is called."""
    return _reverse_under(f"{_root()}o/{slug}/", settings.ORGANISATION_URLCONF, page, kwargs)


@contextmanager
def naming_organisation_pages() -> Iterator[None]:
    """Names of an organisation's pages are known within it, as where a program asks with a token from the root."""
    before = get_urlconf()
    set_urlconf(settings.ORGANISATION_URLCONF)
    try:
        yield
    finally:
        set_urlconf(before)


def _root() -> str:
    return get_script_prefix().partition("/o/")[0].rstrip("/") + "/"


def _reverse_under(prefix: str, urlconf: str, name: str, kwargs: dict[str, Any]) -> str:
    before = get_script_prefix()
    set_script_prefix(prefix)
    try:
        return reverse(name, urlconf=urlconf, kwargs=kwargs)
    finally:
        set_script_prefix(before)
