"""An icon of the site's sprite as SVG, for templates and for code that writes HTML itself."""

from functools import lru_cache

from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

_SPRITE = "icons/sprite.svg"


# A task page has a hundred of them, of the few that our own pages name.
@lru_cache(maxsize=500)
def drawn_icon(name: str, classes: str = "i") -> SafeString:
    """Decorative: hidden from assistive technology, so the text beside it or the control's label has the meaning."""
    return format_html('<svg class="{}" aria-hidden="true"><use href="{}#i-{}"/></svg>', classes, static(_SPRITE), name)
