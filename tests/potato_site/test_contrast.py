"""What charts are drawn in can be seen on their cards, in both themes: WCAG asks for 3:1."""

import re

import pytest
from django.conf import settings

from assignments.readable_colours import contrast

CSS = settings.BASE_DIR / "static" / "css"
TOKENS = (CSS / "tokens.css").read_text(encoding="utf-8")
PAIR = re.compile(r"--([\w-]+):\s*light-dark\((#\w+), (#\w+)\)")
COLOURS = {name: (light, dark) for name, light, dark in PAIR.findall(TOKENS)}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_bars_lines_and_progress_stand_out_from_their_cards(theme: int) -> None:
    for name in ("viz-1", "viz-1s", "viz-2", "viz-3", "viz-4", "accent", "ok", "bad", "line-control"):
        assert contrast(COLOURS[name][theme], COLOURS["surface"][theme]) >= 3, name
    assert contrast(COLOURS["viz-1"][theme], COLOURS["viz-1s"][theme]) >= 1.6, "two series side by side"


def test_no_chart_is_drawn_in_a_mixture_that_nobody_measured() -> None:
    charts = (CSS / "charts.css").read_text(encoding="utf-8")
    assert not re.findall(r"(?:fill|stroke|--c):[^;]*color-mix", charts)
