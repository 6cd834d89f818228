"""The site's WSGI application, with samples of where its time goes: for `BENCH_PROFILE=1 make bench` alone.

A sample is taken after each two milliseconds of processor time, so that the code runs nearly as fast as without.
Each web process writes .local/bench/profile-<process>.json when it ends; `python -m bench.profile_note` reads them.
"""

import atexit
import json
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

from bench.releases import FOLDER
from potato_site.wsgi import application as site

EVERY = 0.002

_busy: set[int] = set()
_own: Counter[str] = Counter()
_within: Counter[str] = Counter()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    _begin()
    thread = threading.get_ident()
    _busy.add(thread)
    try:
        return site(environ, start_response)
    finally:
        _busy.discard(thread)


def _begin() -> None:
    if signal.getitimer(signal.ITIMER_PROF)[0]:
        return
    # The handler was set by the main thread; a timer does not survive the fork that made this process.
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)


def _sample(number: int, interrupted: FrameType | None) -> None:
    """Count the functions of every request that is under way; requests that wait for each other share the sample."""
    for thread, frame in sys._current_frames().items():
        if thread not in _busy:
            continue
        _own[_name(frame)] += 1
        seen = set()
        at: FrameType | None = frame
        while at is not None and at.f_code is not application.__code__:
            seen.add(_name(at))
            at = at.f_back
        _within.update(seen)


def _name(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_code.co_qualname}"


def _write() -> None:
    signal.setitimer(signal.ITIMER_PROF, 0)
    if _own:
        path = FOLDER / f"profile-{os.getpid()}.json"
        path.write_text(json.dumps({"own": _own, "within": _within}))


# Imported by each web process in its main thread.
signal.signal(signal.SIGPROF, _sample)
atexit.register(_write)
