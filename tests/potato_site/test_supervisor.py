"""The supervisor of `manage.py run`, with small programs of its own: ready, restarted, ended, and never orphaned."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from potato_site.devservices.processes import is_alive
from potato_site.supervisor import SupervisorError, port_from_environment
from tests.potato_site.developers import CHECKOUT

PROGRAM = """
import http.server, sys
from pathlib import Path
from potato_site import supervisor as site
from potato_site.supervisor import Program, Supervisor, SupervisorError

port, logs, web, slow = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], "import signal, time; " \\
    "signal.signal(signal.SIGTERM, signal.SIG_IGN) if {stubborn} else None; time.sleep(600)"
site.END_SECONDS = 2.0
site.READY_SECONDS = float(sys.argv[5])
programs = [
    Program("web", [sys.executable, "-c", web, str(port)]),
    Program("worker", [sys.executable, "-c", slow.format(stubborn=sys.argv[4])]),
]
supervisor = Supervisor(programs, port=port, logs=logs, say=lambda sentence: print(sentence, flush=True))
def announce():
    print("READY", *[program.process.pid for program in programs], flush=True)
try:
    supervisor.run(announce=announce, heal=lambda: None)
except SupervisorError as error:
    sys.exit(str(error))
print("put away", flush=True)
"""
WEB = """
import http.server, sys
class Healthy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Healthy).serve_forever()
"""
UNREADY = """
import http.server, sys
class Alone(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503 if self.path == "/readyz" else 200)
        self.end_headers()
        self.wfile.write(b'{"database": true, "broker": false}')
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Alone).serve_forever()
"""
BROKEN = "raise SystemExit('no module named potatoes')"

Supervise = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def supervise(port: int, tmp_path: Path) -> Iterator[Supervise]:
    begun: list[subprocess.Popen[str]] = []

    def begin(web: str = WEB, stubborn: bool = False, patience: float = 60) -> "subprocess.Popen[str]":
        begun.append(
            subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(port), str(tmp_path), web, str(stubborn), str(patience)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=CHECKOUT,
                start_new_session=True,
            )
        )
        return begun[-1]

    yield begin
    for process in begun:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=30)


def children(supervisor: "subprocess.Popen[str]") -> list[int]:
    """Process ids of the programs, once the site is ready."""
    line = line_of(supervisor)
    assert line.startswith("READY"), line
    return [int(word) for word in line.split()[1:]]


def line_of(supervisor: "subprocess.Popen[str]") -> str:
    assert supervisor.stdout
    return supervisor.stdout.readline()


def all_gone(pids: list[int], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while any(is_alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(is_alive(pid) for pid in pids)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_whole_process_group_ends_everything(supervise: Supervise, number: signal.Signals) -> None:
    supervisor = supervise()
    pids = children(supervisor)
    os.killpg(supervisor.pid, number)
    assert line_of(supervisor) == "put away\n"
    assert supervisor.wait(timeout=20) == 0
    assert all_gone(pids, 0)


def test_a_program_that_dies_is_named_and_started_again(supervise: Supervise) -> None:
    supervisor = supervise()
    worker = children(supervisor)[1]
    os.kill(worker, signal.SIGKILL)
    assert line_of(supervisor).startswith("worker was ended by SIGKILL; starting it again in 1 s")


def test_a_program_that_does_not_end_is_killed(supervise: Supervise) -> None:
    supervisor = supervise(stubborn=True)
    pids = children(supervisor)
    supervisor.terminate()
    assert line_of(supervisor).startswith("worker did not end in 2 s")
    assert supervisor.wait(timeout=20) == 0
    assert all_gone(pids, 0)


def test_a_killed_supervisor_leaves_no_orphans(supervise: Supervise) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux tells a process that its parent was killed")
    supervisor = supervise()
    pids = children(supervisor)
    supervisor.kill()
    assert all_gone(pids, 10)


def test_a_site_that_cannot_start_says_why_and_ends(supervise: Supervise, tmp_path: Path) -> None:
    supervisor = supervise(web=BROKEN)
    _, error_output = supervisor.communicate(timeout=60)
    assert supervisor.returncode == 1
    assert "no module named potatoes" in error_output
    assert str(tmp_path / "web.log") in error_output


def test_a_site_that_cannot_reach_its_broker_is_not_ready(supervise: Supervise) -> None:
    output, error_output = supervise(web=UNREADY, patience=5).communicate(timeout=60)
    assert "READY" not in output
    assert '/readyz answers 503: {"database": true, "broker": false}' in error_output


def test_a_port_that_is_taken_is_refused_with_another_to_try(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        monkeypatch.setenv("PORT", str(number))
        with pytest.raises(SupervisorError, match=rf"127.0.0.1:{number} can't be used: Address already in use"):
            port_from_environment()


@pytest.mark.parametrize("given", ["http", "0", "65536", "-1", "²", "٣٣٣٣", "8" * 5000])
def test_a_port_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("PORT", given)
    with pytest.raises(SupervisorError, match=f"PORT is '{given}'; it must be a number from 1 to 65535"):
        port_from_environment()
