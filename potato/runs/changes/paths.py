"""Which file a path of a trace means. Nothing here touches a file system: paths are names for display and identity."""

import posixpath
import re
from collections.abc import Set

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def identity(path: str, folder: str) -> str:
    """The path relative to the run's folder, without `.` and `..`; outside the folder it stays absolute."""
    path, folder = _slashed(path), _slashed(folder)
    if folder and not _is_absolute(path):
        path = posixpath.join(folder, path)
    path = _normal(path)
    if folder:
        inside = _normal(folder).rstrip("/") + "/"
        if path.startswith(inside):
            return path[len(inside) :]
    return path


def ending(path: str, names: Set[str]) -> str | None:
    """The one name with which an absolute path ends, or None."""
    if not _is_absolute(path):
        return None
    parts = path.split("/")
    ends = {"/".join(parts[start:]) for start in range(1, len(parts))} & names
    return ends.pop() if len(ends) == 1 else None


def _slashed(path: str) -> str:
    return path.replace("\\", "/") if _DRIVE.match(path) else path


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or _DRIVE.match(path) is not None


def _normal(path: str) -> str:
    normal = posixpath.normpath(path)
    return normal[1:] if normal.startswith("//") else normal
