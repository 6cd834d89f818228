"""The site's WSGI application, with samples of where its time goes: for `BENCH_PROFILE=1 make bench` alone.

A sample is taken after each two milliseconds of processor time, so that the code runs nearly as fast as without.
Each web process writes .local/bench/profile-<process>.json when it ends; `python -m bench.profile_note` reads them.
"""

import atexit
import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

from bench.releases import FOLDER
from potato_site.wsgi import application as site

EVERY = 0.002

_own: Counter[str] = Counter()
_within: Counter[str] = Counter()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    try:
        return site(environ, start_response)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _sample(number: int, interrupted: FrameType | None) -> None:
    """Count the function that was at work, and those that had called it."""
    if interrupted is None:
        return
    _own[_name(interrupted)] += 1
    seen = set()
    at: FrameType | None = interrupted
    while at is not None and at.f_code is not application.__code__:
        seen.add(_name(at))
        at = at.f_back
    _within.update(seen)


def _name(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_code.co_qualname}"


def _write() -> None:
    if _own:
        path = FOLDER / f"profile-{os.getpid()}.json"
        path.write_text(json.dumps({"own": _own, "within": _within}))


# Imported by each web process in its main thread.
signal.signal(signal.SIGPROF, _sample)
atexit.register(_write)
