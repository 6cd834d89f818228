"""The colours that a configuration gives to what is chosen, as a style sheet. Pure.

Elements name them as `data-c="<scheme>.<value>"`: two schemes, or a scheme and the site, may have one value in common.
"""

import re
from collections.abc import Iterator

from assignments.readable_colours import distinct_tones
from potato.configuration import ProjectConfiguration
from potato.schemes.registry import SchemeConfiguration, scheme_types

_COLOUR = re.compile(r"#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def scheme_colours_sheet(configuration: ProjectConfiguration) -> str:
    """A rule for each value: the colour, and its tones for words and for marks in both themes. What a scheme type says
    that is no name or no colour is left out."""
    return "".join(rule for scheme in configuration.annotation_schemes for rule in _rules(scheme))


def _rules(scheme: SchemeConfiguration) -> Iterator[str]:
    """The values of one scheme, which stand beside each other and are told apart."""
    given = scheme_types()[scheme.annotation_type].colours(scheme).items()
    colours = {value: colour for value, colour in given if _NAME.fullmatch(value) and _COLOUR.fullmatch(colour)}
    for (value, colour), tones in zip(colours.items(), distinct_tones(tuple(colours.values())), strict=True):
        text = f"light-dark({tones.light_text},{tones.dark_text})"
        mark = f"light-dark({tones.light_mark},{tones.dark_mark})"
        yield f'[data-c="{scheme.name}.{value}"]{{--c:{colour};--c-text:{text};--c-mark:{mark}}}\n'
