"""What an agent saw before a native step: the page's address, its screenshot, and the point or element it acted on."""

import base64
import binascii
import math
import re
from typing import Any

from potato.runs.converters.native_members import WrongShape, json_type_name, text_member
from potato.runs.exact_json import page_record, screenshot_record
from potato.runs.model import JSON, Screenshot, Step

PAGE_MEMBERS = frozenset({"url", "screenshot", "click", "box"})
SCREENSHOT_MEMBERS = frozenset({"name", "data", "sha256", "width", "height", "problem"})
_DATA_URL = re.compile(r"data:image/[\w.+-]{1,40};base64,", re.IGNORECASE)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SIDE = 100_000


def is_data_url(text: str) -> bool:
    return _DATA_URL.match(text) is not None


def picture_bytes(text: str) -> bytes:
    """The bytes of a data URL or of plain base64; what is none gives bytes that are no picture."""
    encoded = _DATA_URL.sub("", text, count=1)
    try:
        return base64.b64decode(encoded, validate=False) or b"\0"
    except (binascii.Error, ValueError):
        return b"\0"


def read_page(value: dict[str, JSON], place: str) -> dict[str, Any]:
    """The members of a Step about the page. Raises WrongShape."""
    return {
        "url": text_member(value, "url", f"{place}.url"),
        "screenshot": read_screenshot(value.get("screenshot"), f"{place}.screenshot"),
        "click": _numbers(value.get("click"), ("x", "y"), f"{place}.click"),
        "box": _numbers(value.get("box"), ("x", "y", "width", "height"), f"{place}.box"),
    }


def page_as_native(step: Step) -> dict[str, JSON]:
    """The members of a native step about the page; a picture that is not stored yet stands in it as a data URL."""
    record = page_record(step)
    if step.screenshot is not None:
        record["screenshot"] = screenshot_as_native(step.screenshot)
    return record


def screenshot_as_native(screenshot: Screenshot) -> dict[str, JSON]:
    data = {"data": data_url(screenshot.data)} if screenshot.data else {}
    return screenshot_record(screenshot) | data


def data_url(data: bytes, media_type: str = "image/webp") -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


def read_screenshot(value: JSON, place: str) -> Screenshot | None:
    """A text is the name of a file beside the trace, or a data URL. Raises WrongShape."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        if is_data_url(value):
            return Screenshot(name="screenshot in the trace", data=picture_bytes(value))
        return Screenshot(name=value)
    if not isinstance(value, dict):
        raise WrongShape(f"{place} must be a text or an object, got {json_type_name(value)}.")
    name, data, sha256, problem = (
        text_member(value, key, f"{place}.{key}") for key in ("name", "data", "sha256", "problem")
    )
    if not (name or data or sha256):
        raise WrongShape(f"{place} must have a name, the name of a file beside the trace, or data, a data URL.")
    if sha256 and not _SHA256.fullmatch(sha256):
        raise WrongShape(f"{place}.sha256 must have 64 digits from 0 to f.")
    return Screenshot(
        name=name or "screenshot in the trace",
        data=picture_bytes(data) if data else b"",
        sha256=sha256,
        width=_side(value, "width", place),
        height=_side(value, "height", place),
        problem=problem[:300],
    )


def _side(value: dict[str, JSON], key: str, place: str) -> int:
    side = value.get(key, 0)
    if isinstance(side, bool) or not isinstance(side, int) or not 0 <= side <= _SIDE:
        raise WrongShape(f"{place}.{key} must be a number of pixels up to {_SIDE:,}, got {side!r:.40}.")
    return side


def _numbers(value: JSON, names: tuple[str, ...], place: str) -> tuple[float, ...] | None:
    """Numbers as an object with these names, or as a list in their order."""
    if value is None:
        return None
    listed = [value.get(name) for name in names] if isinstance(value, dict) else value
    if isinstance(listed, list) and len(listed) == len(names) and all(map(_is_length, listed)):
        return tuple(listed)
    raise WrongShape(f"{place} must be an object of the numbers {', '.join(names)}, in pixels of the screenshot.")


def _is_length(value: JSON) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and abs(value) <= _SIDE
