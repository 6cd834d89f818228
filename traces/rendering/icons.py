"""The few icons that fragments carry, drawn in place: a stored fragment must not name a file that a release renames.

Shapes are Lucide's, as in static/icons/sprite.svg (ISC licence: static/icons/LICENSE-lucide.txt); a test compares.
"""

from html import escape

from potato.schemes.icons import icon_shapes
from traces.rendering.safe import SafeHtml, trusted

SHAPES = {
    "ban": ('<circle cx="12" cy="12" r="10"/><path d="M4.929 4.929 19.07 19.071"/>'),
    "bot": (
        '<path d="M12 8V4H8"/>'
        '<rect width="16" height="12" x="4" y="8" rx="2"/>'
        '<path d="M2 14h2"/>'
        '<path d="M20 14h2"/>'
        '<path d="M15 13v2"/>'
        '<path d="M9 13v2"/>'
    ),
    "brain": (
        '<path d="M12 18V5"/>'
        '<path d="M15 13a4.17 4.17 0 01-3-4 4.17 4.17 0 01-3 4"/>'
        '<path d="M17.707 6.294A3 3 0 1012 5a3 3 0 10-5.707 1.294"/>'
        '<path d="M17.996 5.125a4 4 0 012.526 5.77"/>'
        '<path d="M18 18a4 4 0 002-7.465"/>'
        '<path d="M19.967 17.482a4 4 0 11-7.967.517 4 4 0 11-7.967-.517"/>'
        '<path d="M6 18a4 4 0 01-2-7.465"/>'
        '<path d="M6.004 5.125a4 4 0 00-2.526 5.77"/>'
    ),
    "camera": (
        '<path d="M13.997 4a2 2 0 0 1 1.76 1.05l.486.9A2 2 0 0 0 18.003 7H20a2 2 0 0 1 2 2v9a2 2 0 0 1-2 '
        '2H4a2 2 0 0 1-2-2V9a2 2 0 0 1 2-2h1.997a2 2 0 0 0 1.759-1.048l.489-.904A2 2 0 0 1 10.004 4z"/>'
        '<circle cx="12" cy="13" r="3"/>'
    ),
    "chevron-down": '<path d="m6 9 6 6 6-6"/>',
    "eye": (
        '<path d="M2.062 12.348a1 1 0 0 1 0-.696 10.75 10.75 0 0 1 19.876 0 1 1 0 0 1 0 .696 10.75 10.75 0 0 '
        '1-19.876 0"/>'
        '<circle cx="12" cy="12" r="3"/>'
    ),
    "eye-off": (
        '<path d="M10.733 5.076a10.744 10.744 0 0 1 11.205 6.575 1 1 0 0 1 0 .696 10.747 10.747 0 0 1-1.444 '
        '2.49"/>'
        '<path d="M14.084 14.158a3 3 0 0 1-4.242-4.242"/>'
        '<path d="M17.479 17.499a10.75 10.75 0 0 1-15.417-5.151 1 1 0 0 1 0-.696 10.75 10.75 0 0 1 '
        '4.446-5.143"/>'
        '<path d="m2 2 20 20"/>'
    ),
    "file-text": (
        '<path d="M6 22a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2h8a2.4 2.4 0 0 1 1.704.706l3.588 3.588A2.4 2.4 0 0 1 20 '
        '8v12a2 2 0 0 1-2 2z"/>'
        '<path d="M14 2v5a1 1 0 0 0 1 1h5"/>'
        '<path d="M10 9H8"/>'
        '<path d="M16 13H8"/>'
        '<path d="M16 17H8"/>'
    ),
    "globe": (
        '<circle cx="12" cy="12" r="10"/>'
        '<path d="M12 2a14.5 14.5 0 0 0 0 20 14.5 14.5 0 0 0 0-20"/>'
        '<path d="M2 12h20"/>'
    ),
    "info": '<circle cx="12" cy="12" r="10"/><path d="M12 16v-4"/><path d="M12 8h.01"/>',
    "message-square": (
        '<path d="M22 17a2 2 0 0 1-2 2H6.828a2 2 0 0 0-1.414.586l-2.202 2.202A.71.71 0 0 1 2 21.286V5a2 2 0 '
        '0 1 2-2h16a2 2 0 0 1 2 2z"/>'
    ),
    "terminal": '<path d="M12 19h8"/><path d="m4 17 6-6-6-6"/>',
    "triangle-alert": (
        '<path d="m21.73 18-8-14a2 2 0 0 0-3.48 0l-8 14A2 2 0 0 0 4 21h16a2 2 0 0 0 1.73-3"/>'
        '<path d="M12 9v4"/>'
        '<path d="M12 17h.01"/>'
    ),
    "unfold-vertical": (
        '<path d="M12 22v-6"/>'
        '<path d="M12 8V2"/>'
        '<path d="M4 12H2"/>'
        '<path d="M10 12H8"/>'
        '<path d="M16 12h-2"/>'
        '<path d="M22 12h-2"/>'
        '<path d="m15 19-3 3-3-3"/>'
        '<path d="m15 5-3-3-3 3"/>'
    ),
    "user": '<path d="M19 21v-2a4 4 0 0 0-4-4H9a4 4 0 0 0-4 4v2"/><circle cx="12" cy="7" r="4"/>',
    "wrench": (
        '<path d="M14.7 6.3a1 1 0 0 0 0 1.4l1.6 1.6a1 1 0 0 0 1.4 0l3.106-3.105c.32-.322.863-.22.983.218a6 6 '
        "0 0 1-8.259 7.057l-7.91 7.91a1 1 0 0 1-2.999-3l7.91-7.91a6 6 0 0 1 "
        '7.057-8.259c.438.12.54.662.219.984z"/>'
    ),
}


def icon(name: str) -> str:
    """A decorative icon, hidden from assistive technology."""
    return f'<svg class="i" viewBox="0 0 24 24" aria-hidden="true">{SHAPES[name]}</svg>'


def drawn_shape(name: str, classes: str) -> SafeHtml:
    """A decorative icon drawn in place, by any Lucide name that a configuration may use. Raises KeyError for others."""
    shape = icon_shapes()[name]
    return trusted(f'<svg class="{escape(classes)}" viewBox="0 0 24 24" aria-hidden="true">{shape}</svg>')
