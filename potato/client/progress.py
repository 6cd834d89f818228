"""How far something is, told while it goes on: by rich or tqdm where they are installed, or by one's own function."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeAlias

Report: TypeAlias = Callable[[str, int, int | None], None]
"""`report(what, done, total)`; the total is None while nobody knows it."""


def silent(what: str, done: int, total: int | None) -> None:
    """Tell nobody."""


def bars() -> Report:
    """A bar on a terminal for each thing that goes on, by rich or else tqdm; silence without either, or elsewhere."""
    if not sys.stderr.isatty():
        return silent
    if find_spec("rich"):
        return _RichBars()
    if find_spec("tqdm"):
        return _TqdmBars()
    return silent


class _RichBars:
    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._console, self._new = Console(stderr=True), Progress
        self._shown: tuple[str, Any, Any] | None = None

    def __call__(self, what: str, done: int, total: int | None) -> None:
        if self._shown is None or self._shown[0] != what:
            self._end()
            progress = self._new(console=self._console, transient=True)
            progress.start()
            self._shown = what, progress, progress.add_task(what, total=total)
        _, progress, task = self._shown
        progress.update(task, completed=done, total=total)
        if total is not None and done >= total:
            self._end()

    def _end(self) -> None:
        if self._shown is not None:
            self._shown[1].stop()
            self._shown = None


class _TqdmBars:
    def __init__(self) -> None:
        from tqdm import tqdm

        self._new: Any = tqdm
        self._shown: tuple[str, Any] | None = None

    def __call__(self, what: str, done: int, total: int | None) -> None:
        if self._shown is None or self._shown[0] != what:
            self._end()
            self._shown = what, self._new(desc=what, total=total, leave=False)
        bar = self._shown[1]
        bar.total = total
        bar.update(done - bar.n)
        if total is not None and done >= total:
            self._end()

    def _end(self) -> None:
        if self._shown is not None:
            self._shown[1].close()
            self._shown = None
