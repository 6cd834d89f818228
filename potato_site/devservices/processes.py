"""Running a server's programs, finding which process listens on a socket, and ending it.

A pid file can outlive its process; the kernel's answer about a socket can't. So only it says who runs.
"""

import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from pwd import struct_passwd

from potato_site.devservices.errors import ServiceError


def run(command: Sequence[str | Path], *, user: struct_passwd | None, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, as `user`, with none of the caller's environment; no exit code raises.

    It has a session of its own: a terminal's Ctrl-C reaches the caller alone.
    """
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    return subprocess.run(
        [str(part) for part in command],
        user=user.pw_uid if user else None,
        group=user.pw_gid if user else None,
        extra_groups=[] if user else None,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )


def listener(address: Path) -> int | None:
    """Process id of the server that listens on a Unix socket, or None where none does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(10)
        try:
            client.connect(str(address))
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        if sys.platform == "linux":
            credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            return int(struct.unpack("3i", credentials)[0])
        # macOS: SOL_LOCAL and LOCAL_PEERPID, which the socket module doesn't name.
        return int(struct.unpack("i", client.getsockopt(0, 2, struct.calcsize("i")))[0])


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be collected by its parent doesn't."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return sys.platform != "linux"
    return state not in "ZX"


def works_in(pid: int, folder: Path) -> bool:
    """Whether a living process is the PostgreSQL server of the data folder `folder`."""
    if not is_alive(pid):
        return False
    if sys.platform == "linux":
        try:
            return Path(f"/proc/{pid}/cwd").readlink() == folder.resolve()
        except OSError:
            return False
    command = subprocess.run(
        ["ps", "-o", "command=", "-p", str(pid)],  # noqa: S607 - macOS has it on every PATH
        capture_output=True,
        text=True,
        check=False,
    )
    return str(folder) in command.stdout


def end(pid: int, steps: Sequence[tuple[signal.Signals, float]]) -> None:
    """Send each signal in turn and wait so many seconds after it, until the process is gone."""
    for step, seconds in steps:
        try:
            os.kill(pid, step)
        except ProcessLookupError:
            return
        if wait_until(lambda: not is_alive(pid), seconds):
            return
    raise ServiceError(f"process {pid} does not end, not even when killed. Look at it with: ps -fp {pid}")


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Ask `condition` until it holds, for at most `seconds`; answers whether it held."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
