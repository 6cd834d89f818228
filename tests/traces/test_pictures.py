"""Pictures that anybody may have made: what is shown is made anew, and what is none of them is refused in words."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from tests.traces.web_runs import HOSTILE, drawn
from traces.pictures import LONGEST_SIDE, NoPicture, packed, small_of


def pixels(data: bytes) -> bytes:
    return Image.open(io.BytesIO(data)).convert("RGB").tobytes()


@pytest.mark.parametrize("format", ["PNG", "WEBP", "JPEG"])
def test_a_picture_is_packed_as_it_looks_with_a_small_one_beside_it(format: str) -> None:
    data = drawn(640, 400, format=format)
    made = packed(data)

    assert (made.width, made.height) == (640, 400)
    assert made.whole[:4] == made.small[:4] == b"RIFF"
    assert pixels(made.whole) == pixels(data)
    assert Image.open(io.BytesIO(made.small)).size == (160, 100)


def test_what_a_file_says_beside_its_pixels_is_left_out() -> None:
    told = PngImagePlugin.PngInfo()
    told.add_text("Comment", "taken at home")
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    for data in (drawn(pnginfo=told, exif=exif), drawn(format="JPEG", exif=exif), drawn(format="WEBP", exif=exif)):
        assert b"taken at home" in data
        made = packed(data)
        assert b"taken at home" not in made.whole + made.small
        assert not Image.open(io.BytesIO(made.whole)).getexif()


def test_the_same_picture_is_packed_to_the_same_bytes() -> None:
    assert packed(drawn()) == packed(drawn())


def test_a_very_long_page_is_made_smaller_and_keeps_the_size_it_came_with() -> None:
    made = packed(drawn(200, 12_000))
    assert (made.width, made.height) == (200, 12_000)
    assert max(Image.open(io.BytesIO(made.whole)).size) == LONGEST_SIDE


def test_of_a_long_page_the_head_is_what_the_small_picture_shows() -> None:
    small = Image.open(io.BytesIO(packed(drawn(320, 3_000, "#aa0000")).small)).convert("RGB")
    red, green, _ = small.getpixel((80, 5))  # type: ignore[misc]
    assert small.size == (160, 120)
    assert red > 120 > green


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_picture_is_refused_in_words(name: str) -> None:
    with pytest.raises(NoPicture, match=r"^it (is|has) "):
        packed(HOSTILE[name])


@given(st.binary(max_size=200), st.integers(0, 2_000))
@settings(max_examples=150, deadline=None)
def test_no_bytes_do_more_than_to_be_refused(junk: bytes, at: int) -> None:
    data = drawn(64, 48)
    try:
        packed(data[:at] + junk + data[at + len(junk) :])
    except NoPicture:
        return


def test_only_what_was_packed_here_is_taken_as_it_is() -> None:
    made = packed(drawn())
    assert small_of(made.whole).whole == made.whole
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    for data in (drawn(), drawn(format="WEBP", exif=exif)):
        with pytest.raises(NoPicture):
            small_of(data)
