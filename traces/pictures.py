"""Pictures that anybody may have made, made anew: decoded, checked, stripped of all but their pixels, packed as WebP.

Pure: it stores nothing. What is no PNG, JPEG or WebP picture within the bounds is refused with a sentence.
"""

import warnings
from dataclasses import dataclass
from io import BytesIO

from PIL import Image, UnidentifiedImageError

MEDIA_TYPE = "image/webp"
MOST_PIXELS = 40_000_000
LONGEST_SIDE = 8_192
"""A picture with a longer side is made smaller; WebP ends at 16,383."""
SMALL_WIDTH, SMALL_HEIGHT = 160, 120
_FORMATS = ("PNG", "JPEG", "WEBP")


class NoPicture(Exception):  # noqa: N818  (an answer to the person who imports)
    """Not a picture that can be shown; the sentence continues "NAME cannot be shown:"."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A picture as it is stored: whole and small, both WebP. `width` and `height` are those it came with."""

    width: int
    height: int
    whole: bytes
    small: bytes


def packed(data: bytes) -> Packed:
    """The picture, made anew. Raises NoPicture, and nothing else, for any bytes."""
    picture = _decoded(data)
    width, height = picture.size
    if max(width, height) > LONGEST_SIDE:
        picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    return Packed(width, height, _encoded(picture), _small(picture))


def small_of(whole: bytes) -> Packed:
    """A picture that was packed before, taken as it is. Raises NoPicture for anything else than WebP without more."""
    picture = _decoded(whole, ("WEBP",))
    if picture.info.keys() & {"exif", "icc_profile", "xmp"} or max(picture.size) > LONGEST_SIDE:
        raise NoPicture("it is no picture that Potato has packed")
    return Packed(*picture.size, whole, _small(picture))


def _decoded(data: bytes, formats: tuple[str, ...] = _FORMATS) -> Image.Image:
    """The first frame, as pixels alone. The size is looked at before a pixel is decoded."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            opened = Image.open(BytesIO(data), formats=formats)
        if opened.width * opened.height > MOST_PIXELS:
            raise NoPicture(f"it has {opened.width:,} by {opened.height:,} pixels, more than {MOST_PIXELS:,} in all")
        return opened.convert("RGBA" if opened.has_transparency_data else "RGB")
    except UnidentifiedImageError:
        raise NoPicture("it is no PNG, JPEG or WebP picture") from None
    except Image.DecompressionBombError:
        raise NoPicture(f"it has more than {MOST_PIXELS:,} pixels") from None
    except (OSError, ValueError, SyntaxError, EOFError, OverflowError, IndexError, TypeError) as error:
        # What Pillow's readers raise for files that are cut off or contradict themselves.
        raise NoPicture(f"it is damaged ({error})"[:200]) from None


def _small(picture: Image.Image) -> bytes:
    small = picture.copy()
    small.thumbnail((SMALL_WIDTH, SMALL_HEIGHT), reducing_gap=2.0)
    if picture.height > picture.width * 2:
        # Of a whole page only the head would tell anything at this size.
        head = picture.crop((0, 0, picture.width, picture.width * SMALL_HEIGHT // SMALL_WIDTH or 1))
        small = head.resize((SMALL_WIDTH, SMALL_HEIGHT), reducing_gap=2.0)
    return _webp(small, quality=70)


def _encoded(picture: Image.Image) -> bytes:
    """The smaller of two: pages compress best without loss, photographs with it."""
    lossless = _webp(picture, lossless=True, quality=50, method=2)
    if len(lossless) < picture.width * picture.height // 8:
        return lossless
    return min(lossless, _webp(picture, quality=90), key=len)


def _webp(picture: Image.Image, **options: int | bool) -> bytes:
    file = BytesIO()
    # Pixels alone: an image carries along what it was opened with.
    bare = Image.frombytes(picture.mode, picture.size, picture.tobytes())
    bare.save(file, "WEBP", **options)
    return file.getvalue()
