"""Who uses the embedded servers: the first user starts them, the last one stops them.

Every process that uses them holds a shared lock on one file; the kernel drops it however the process ends.
Starting and stopping happen under an exclusive lock on another file, so they never overlap.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from potato_site.devservices.errors import ServiceError
from potato_site.devservices.processes import wait_until

PATIENCE_SECONDS = 180.0


class Lease:
    """This process's hold on the servers of one folder."""

    def __init__(self, folder: Path) -> None:
        self.in_use = folder / "in-use.lock"
        self.start_stop = folder / "start-stop.lock"
        self._held: int | None = None
        self._holder = 0

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else starts or stops the servers inside this block."""
        handle = _open(self.start_stop)
        try:
            if not wait_until(lambda: _lock(handle, fcntl.LOCK_EX), PATIENCE_SECONDS):
                raise ServiceError(
                    f"another process starts or stops the servers since {PATIENCE_SECONDS:.0f} s. "
                    f"Find it with: fuser {self.start_stop}"
                )
            yield
        finally:
            os.close(handle)

    def take(self) -> None:
        """Become a user of the servers, until `give_back` or the end of the process. Call it in `alone`."""
        # A forked child has its parent's lock, which lasts as long as either of them has it open.
        if self._held is None or self._holder != os.getpid():
            self._held = _open(self.in_use)
            self._holder = os.getpid()
        fcntl.flock(self._held, fcntl.LOCK_SH)

    def give_back(self) -> bool:
        """Stop being a user; answers whether this was the last one. Call it in `alone`.

        In a forked child it does nothing: the lock it inherited is its parent's.
        """
        if self._held is None or self._holder != os.getpid():
            return False
        # The shared lock becomes an exclusive one only where nobody else holds it.
        last = _lock(self._held, fcntl.LOCK_EX)
        os.close(self._held)
        self._held = None
        return last


def _open(path: Path) -> int:
    # 0600: whoever may open the file may also lock it, and make everybody wait.
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _lock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
