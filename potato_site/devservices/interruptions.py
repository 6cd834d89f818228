"""Signals that end a process wait while it starts or stops servers: nobody could put half a start away."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def held_back() -> Iterator[None]:
    """The first signal that arrives inside takes effect afterwards; one that is ignored stays ignored."""
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread is ever interrupted by a signal.
        yield
        return
    # Not a mask of signals: the servers would inherit it, and Valkey would never get what is to stop it.
    arrived: list[int] = []
    before = {number: signal.getsignal(number) for number in ENDINGS}
    caught = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for number in caught:
        signal.signal(number, lambda number, _: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in caught.items():
            signal.signal(number, handler)
        if arrived:
            signal.raise_signal(arrived[0])
