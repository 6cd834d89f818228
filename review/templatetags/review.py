"""How the words of a configuration stand in the forms of code review. No data is read here."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

_DASH = " -- "


@register.filter
def with_head(label: str) -> SafeString:
    """A label as it was configured, with the part before its dash in bold: `Broken -- introduces bugs`."""
    head, dash, rest = label.partition(_DASH)
    return format_html("<b>{}</b>{}{}", head, dash, rest)
