"""Django's `{% static %}`, which keeps the addresses: a page has forty, and they change with a release alone."""

from functools import cache

from django import template
from django.templatetags import static as django_static
from django.utils.html import escape

register = template.Library()
register.tag("get_static_prefix", django_static.PrefixNode.handle_token)


@register.simple_tag
def static(path: str) -> str:
    """The address of a static file."""
    return _address(path)


@cache
def _address(path: str) -> str:
    return escape(django_static.static(path))
