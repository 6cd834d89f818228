"""Icons that a configuration names are drawn in place; those of our own pages come from the sprite."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from django.apps import apps
from django.conf import settings
from django.template import Context, Template

from potato.schemes.icons import icon_names, icon_shapes
from potato.schemes.review.configuration import KNOWN_CATEGORIES, KNOWN_OPTIONS, Preset

SHAPES = {"path", "circle", "ellipse", "line", "polygon", "polyline", "rect"}
SPRITE = (Path(settings.BASE_DIR) / "static/icons/sprite.svg").read_text()


def drawn(icon: str | None) -> str:
    return Template("{% load interface %}{% configured_icon icon %}").render(Context({"icon": icon}))


@pytest.mark.parametrize("look", [*KNOWN_CATEGORIES.values(), *KNOWN_OPTIONS.values()], ids=lambda look: look.display)
def test_the_documented_icons_are_drawn_also_by_their_former_names(
    look: Preset,
) -> None:
    svg = ElementTree.fromstring(drawn(look.icon))  # noqa: S314 - our own
    assert svg.get("aria-hidden") == "true"
    assert len(svg) > 0


def test_no_icon_draws_nothing() -> None:
    assert drawn(None) == ""


def test_every_name_has_a_shape_of_plain_svg_without_style_script_or_address() -> None:
    assert len(icon_names()) > 2000
    for name, shape in icon_shapes().items():
        elements = re.findall(r"<([a-z]+)((?: [a-z0-9]+=\"[\w .,#-]*\")+)/>", shape)
        assert "".join(f"<{tag}{attributes}/>" for tag, attributes in elements) == shape, name
        assert {tag for tag, _ in elements} <= {"path", "circle", "ellipse", "line", "polygon", "polyline", "rect"}, (
            name
        )


def test_an_icon_looks_the_same_from_the_sprite_and_in_place() -> None:
    ours = dict(re.findall(r'<symbol id="i-([a-z0-9-]+)" viewBox="0 0 24 24">(.*?)</symbol>', SPRITE))
    shared = ours.keys() & icon_shapes().keys()
    assert len(shared) > 150
    assert {name for name in shared if ours[name] != icon_shapes()[name]} == set()


def test_every_icon_that_our_pages_and_their_code_name_is_in_the_sprite() -> None:
    """A name that the sprite lacks draws nothing, and nobody is told."""
    base = Path(settings.BASE_DIR)
    ways = (r'\{% icon "([a-z0-9-]+)"', r'\bWhy\(\s*"([a-z0-9-]+)"', r'\bicon[=:]\s*"([a-z][a-z0-9-]*)"')
    folders = [Path(config.path) for config in apps.get_app_configs()]
    own = [folder for folder in folders if folder.parent == base]
    files = [*base.glob("templates/**/*.html"), *(file for folder in own for file in folder.glob("**/*.py"))]
    named = {
        (name, str(file.relative_to(base)))
        for file in files
        for way in ways
        for name in re.findall(way, file.read_text())
    }
    assert len(named) > 100
    symbols = set(re.findall(r'id="i-([a-z0-9-]+)"', SPRITE))
    assert {(name, file) for name, file in named if name not in symbols} == set()
