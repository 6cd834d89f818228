"""The colours that a configuration gives to what is chosen, as a style sheet. Pure.

Elements name them as `data-c="<scheme>.<value>"`: two schemes, or a scheme and the site, may have one value in common.
"""

import re

from accounts.configuration import ProjectConfiguration
from accounts.configuration.registry import scheme_types

_COLOUR = re.compile(r"#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def palette(configuration: ProjectConfiguration) -> str:
    """A rule for each value. What a scheme type says that is no name or no colour is left out."""
    return "".join(
        f'[data-c="{scheme.name}.{value}"]{{--c:{colour}}}\n'
        for scheme in configuration.annotation_schemes
        for value, colour in scheme_types()[scheme.annotation_type].colours(scheme).items()
        if _NAME.fullmatch(value) and _COLOUR.fullmatch(colour)
    )
