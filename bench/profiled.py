"""The site's WSGI application with a profile of all requests, for `BENCH_PROFILE=1 make bench` alone.

Each web process writes its figures to .local/bench/profile-<process>.pstats when it ends; `bench.profile_note` reads
them. Profiling slows functions that are called often, so it says where time goes, and not how much.
"""

import atexit
import cProfile
import os
import threading
from collections.abc import Callable, Iterable
from typing import Any

from bench.releases import FOLDER
from potato_site.wsgi import application as site

_profiles: list[cProfile.Profile] = []
_own = threading.local()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if not hasattr(_own, "profile"):
        _own.profile = cProfile.Profile(time_of_thread)
        _profiles.append(_own.profile)
    _own.profile.enable()
    try:
        return site(environ, start_response)
    finally:
        _own.profile.disable()


def time_of_thread() -> float:
    import time

    return time.thread_time()


def _write() -> None:
    import pstats

    used = [profile for profile in _profiles if profile.getstats()]
    if used:
        stats = pstats.Stats(used[0])
        for profile in used[1:]:
            stats.add(profile)
        stats.dump_stats(FOLDER / f"profile-{os.getpid()}.pstats")


atexit.register(_write)
