"""The tones of configured colours can be read and told apart, in both themes, whatever colours a project names."""

from itertools import combinations

import pytest

from assignments.readable_colours import (
    APART,
    DARK,
    LIGHT,
    MARK_CONTRAST,
    TEXT_CONTRAST,
    Tones,
    contrast,
    distance,
    distinct_tones,
)
from assignments.task_page.scheme_colours import scheme_colours_sheet
from potato.configuration import check_configuration
from potato.schemes.review.configuration import KNOWN_CATEGORIES
from potato.schemes.rewards.configuration import KNOWN_LABELS

CATEGORIES = tuple(look.color for look in KNOWN_CATEGORIES.values())
LABELS = tuple(look.color for look in KNOWN_LABELS.values())
HARD = ("#ff0", "#000", "#fff", "#f00", "#0f0", "#00f", "#777777", "#fe0000", "#e00000")


def tones_in(theme: str, use: str, tones: tuple[Tones, ...]) -> list[str]:
    return [getattr(tone, f"{theme}_{use}") for tone in tones]


@pytest.mark.parametrize("colours", [CATEGORIES, LABELS, HARD], ids=["categories", "labels", "hard"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_and_marks_have_their_contrast_on_every_ground(theme: str, colours: tuple[str, ...]) -> None:
    grounds = (LIGHT if theme == "light" else DARK).grounds
    for use, least in (("text", TEXT_CONTRAST), ("mark", MARK_CONTRAST)):
        for tone in tones_in(theme, use, distinct_tones(colours)):
            assert min(contrast(tone, ground) for ground in grounds) >= least, (use, tone)


@pytest.mark.parametrize("colours", [CATEGORIES, LABELS], ids=["categories", "labels"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_different_colours_stay_different(theme: str, colours: tuple[str, ...]) -> None:
    for use in ("text", "mark"):
        for one, other in combinations(tones_in(theme, use, distinct_tones(tuple(dict.fromkeys(colours)))), 2):
            assert distance(one, other) >= APART, (use, one, other)


def test_colours_that_hardly_differ_are_moved_apart_until_people_can_tell_them() -> None:
    """By the number that was found by looking: 0.085 of OKLab, and not by whatever the module says now."""
    near = ("#ef4444", "#f04848", "#ee4040")
    for theme in ("light", "dark"):
        for use in ("text", "mark"):
            pairs = combinations(tones_in(theme, use, distinct_tones(near)), 2)
            least = min(distance(one, other) for one, other in pairs)
            assert 0.085 <= least < 0.12, (theme, use, least)


def test_the_same_colour_twice_is_one_and_a_short_form_is_the_long_one() -> None:
    one, two, three = distinct_tones(("#ef4444", "#EF4444", "#22c55e"))
    assert one == two != three
    assert distinct_tones(("#f00",)) == distinct_tones(("#ff0000",))


def test_a_colour_that_can_be_read_already_stays_as_it_is() -> None:
    (tones,) = distinct_tones(("#1e40af",))
    assert (tones.light_text, tones.light_mark) == ("#1e40af", "#1e40af")


def test_contrast_and_distance_are_those_of_the_definitions() -> None:
    assert contrast("#000", "#fff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
    assert distance("#000", "#fff") == pytest.approx(1, abs=0.001)


def test_the_style_sheet_has_the_colour_and_its_tones() -> None:
    checked = check_configuration("task_name: X")
    assert checked.configuration is not None
    (rule,) = [line for line in scheme_colours_sheet(checked.configuration).splitlines() if '.bug"]' in line]
    bug = distinct_tones(CATEGORIES)[list(KNOWN_CATEGORIES).index("bug")]
    scheme = checked.configuration.annotation_schemes[0].name
    assert rule == (
        f'[data-c="{scheme}.bug"]{{--c:#ef4444;--c-text:light-dark({bug.light_text},{bug.dark_text});'
        f"--c-mark:light-dark({bug.light_mark},{bug.dark_mark})}}"
    )
