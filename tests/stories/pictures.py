"""Pictures of pages for people who look at them: POTATO_PICTURES names the folder, and without it none is taken."""

import os

from tests.stories.accessibility import END_TRANSITIONS
from tests.stories.conftest import Reader

SIZES = ((1440, "light"), (1440, "dark"), (390, "light"), (390, "dark"))


def shoot(reader: Reader, name: str) -> None:
    """The whole page in both themes, on a wide screen and on a phone."""
    folder = os.environ.get("POTATO_PICTURES")
    if not folder:
        return
    page = reader.page
    before = page.viewport_size
    for width, theme in SIZES:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]  # one of two words
        page.evaluate(END_TRANSITIONS)
        page.screenshot(path=f"{folder}/{name}-{width}-{theme}.png", full_page=True)
    page.emulate_media(color_scheme="light")
    if before:
        page.set_viewport_size(before)
