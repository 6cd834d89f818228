"""Reads members of JSON that may be of any type, and paths and lines that may be anything."""

import posixpath
import re
from typing import Any
from urllib.parse import unquote, urlsplit

from potato.checks.model import BOUNDS, short

_MOST = 2**31 - 1
_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")


def member(value: Any, *keys: str) -> Any:
    """What stands behind the keys, one in another; None where something on the way is no object."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def words(value: Any, length: int = BOUNDS.text) -> str:
    """A text, cut; "" for what is none."""
    return short(value, length) if isinstance(value, str) else ""


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def line_number(value: Any) -> int | None:
    """A line from 1 on, also written as text or with a fraction of nothing; None for everything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 11:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and 1 <= value <= _MOST else None


def seconds(value: Any) -> float | None:
    """A time in seconds, also written as "1,234.5"."""
    if isinstance(value, str):
        try:
            value = float(value.replace(",", ""))
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Comparing refuses what is no number and what is without end.
    return round(float(value), 3) if 0 <= value < 1e9 else None


def path_of(address: Any) -> str:
    """The path that a report names, without what leads out of a repository: the scheme and the host of an address, a
    drive, leading slashes and points. It only ever is compared with paths of the change, and names no file of a
    machine."""
    text = words(address, BOUNDS.path)
    if text.startswith("file:"):
        text = unquote(urlsplit(text).path) if "\0" not in text else ""
    elif "%" in text:
        text = unquote(text)
    text = _DRIVE.sub("/", text).replace("\\", "/")
    if not text.strip("/."):
        return ""
    normal = posixpath.normpath(text)
    while normal.startswith(("../", "/")):
        normal = normal.removeprefix("../").lstrip("/")
    return "" if normal in (".", "..") else normal
