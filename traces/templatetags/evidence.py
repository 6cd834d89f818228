"""How texts of a run stand in templates: escaped, with what hides in them made visible. No data is read here."""

from django import template

from traces.rendering.safe import SafeHtml, trusted
from traces.rendering.visible import attribute, escaped

register = template.Library()


@register.filter
def visible(text: str) -> SafeHtml:
    """A text of a run as the content of an element."""
    return trusted(escaped(text))


@register.filter
def visible_in_attribute(text: str) -> SafeHtml:
    """A text of a run inside an attribute's double quotes, or in a page's title."""
    return trusted(attribute(text))
