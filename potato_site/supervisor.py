"""Keeps the programs of a running site alive in development: starts them, starts them again, ends them all.

Not for production, where systemd or a container platform does this. Knows nothing of Django.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

HOST = "127.0.0.1"
READY_SECONDS = 120.0
END_SECONDS = 8.0
LONGEST_PAUSE_SECONDS = 30.0
STABLE_SECONDS = 60.0
HEAL_SECONDS = 5.0
LARGEST_LOG_BYTES = 5_000_000
DIE_WITH_PARENT = Path(__file__).with_name("die_with_parent.py")


class SupervisorError(Exception):
    """The site can't be started; says why and what to do."""


def port_from_environment() -> int:
    """PORT, 8000 unless set. Raises SupervisorError unless it is a free port of this machine."""
    given = os.environ.get("PORT") or "8000"
    if not re.fullmatch("[0-9]{1,5}", given) or not 0 < int(given) < 65536:
        raise SupervisorError(f"PORT is {given!r}; it must be a number from 1 to 65535.")
    port = int(given)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise SupervisorError(
                f"{HOST}:{port} can't be used: {error.strerror}. Is Potato running already? "
                f"End what uses it, or choose another port: PORT={port + 1 if port < 65535 else 8000} make run"
            ) from error
    return port


@dataclass
class Program:
    """One program that has to run. Its output goes to `<logs>/<name>.log`."""

    name: str
    command: Sequence[str]
    log: Path = field(init=False)
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    failures: int = 0
    start_again: float = 0.0

    def start(self) -> None:
        with self.log.open("ab") as log:
            # A session of its own: the terminal's Ctrl-C reaches the supervisor alone, which ends the rest in order.
            self.process = subprocess.Popen(
                [sys.executable, str(DIE_WITH_PARENT), str(os.getpid()), *self.command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        self.started = time.monotonic()

    def signal_group(self, number: signal.Signals) -> None:
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


class Supervisor:
    """Runs `programs` until SIGINT, SIGTERM or SIGHUP, unless it is ignored. The first one is the web server."""

    def __init__(self, programs: Sequence[Program], *, port: int, logs: Path, say: Callable[[str], None]) -> None:
        self.programs = programs
        self.address = f"http://{HOST}:{port}"
        self.say = say
        self._stopping = False
        logs.mkdir(parents=True, exist_ok=True)
        for program in programs:
            program.log = logs / f"{program.name}.log"
            if program.log.exists() and program.log.stat().st_size > LARGEST_LOG_BYTES:
                program.log.replace(program.log.with_suffix(".log.1"))

    def run(self, *, announce: Callable[[], None], heal: Callable[[], None]) -> None:
        """Start all, `announce` when the site is ready, `heal` every few seconds; return when told to stop.

        Ends everything it started, also when it raises. After it returns this process ignores the signals,
        so that nothing interrupts what is still to be put away.
        """
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # nohup's SIGHUP, for one, stays ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._stop)
        try:
            for program in self.programs:
                program.start()
            if self._wait_until_ready():
                announce()
            healed = time.monotonic()
            while not self._stopping:
                self._keep_running()
                if time.monotonic() - healed > HEAL_SECONDS:
                    heal()
                    healed = time.monotonic()
                time.sleep(0.2)
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            self._end()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopping = True

    def _wait_until_ready(self) -> bool:
        """Whether the site reaches its database and broker; False when it was told to stop before."""
        web = self.programs[0]
        deadline = time.monotonic() + READY_SECONDS
        while not self._stopping:
            problem = self._problem()
            if problem is None:
                return True
            self._keep_running()
            if web.failures > 2 or time.monotonic() > deadline:
                tail = web.log.read_text(errors="replace").splitlines()[-15:]
                raise SupervisorError("\n".join([f"{self.address}/readyz {problem}. The end of {web.log}:", *tail]))
            time.sleep(0.1)
        return False

    def _problem(self) -> str | None:
        """What is wrong with the site's answer, None when it is ready."""
        try:
            with urllib.request.urlopen(f"{self.address}/readyz", timeout=10):  # noqa: S310 - http, ours
                return None
        except urllib.error.HTTPError as error:
            return f"answers {error.code}: {error.read(500).decode(errors='replace').strip()}"
        except OSError:
            return "does not answer"

    def _keep_running(self) -> None:
        now = time.monotonic()
        for program in self.programs:
            if program.process is None:
                if now >= program.start_again:
                    program.start()
                continue
            code = program.process.poll()
            if code is None:
                continue
            program.signal_group(signal.SIGKILL)
            program.failures = 1 if now - program.started > STABLE_SECONDS else program.failures + 1
            pause = min(2.0 ** (program.failures - 1), LONGEST_PAUSE_SECONDS)
            program.process, program.start_again = None, now + pause
            ended = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
            self.say(f"{program.name} {ended}; starting it again in {pause:.0f} s (see {program.log})")

    def _end(self) -> None:
        running = [program for program in self.programs if program.process]
        for program in running:
            if program.process:
                program.process.terminate()
        deadline = time.monotonic() + END_SECONDS
        for program in running:
            if program.process:
                try:
                    program.process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    self.say(f"{program.name} did not end in {END_SECONDS:.0f} s and is killed")
                # What the program started and left behind is in its group.
                program.signal_group(signal.SIGKILL)
                program.process.wait()
