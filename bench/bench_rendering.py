"""How much processor time rendering takes, and how much less than another checkout's: BENCH_BEFORE=../before."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROUNDS = 3


def bench_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    before = os.environ.get("BENCH_BEFORE")
    checkouts = {"now": HERE.parent} | ({"before": Path(before).resolve()} if before else {})
    found: dict[str, list[dict[str, float]]] = {name: [] for name in checkouts}
    # In turn, so that both have the same share of what else the machine does.
    for _ in range(ROUNDS):
        for name, checkout in checkouts.items():
            found[name].append(rendered_in(checkout))
    seconds = {name: min(one["seconds"] for one in rounds) for name, rounds in found.items()}
    with capsys.disabled():
        print("\na trace of 12 files and 12 steps, in both layouts")
        for name, one in seconds.items():
            print(f"{name:7} {one * 1000:6.0f} ms of processor, {found[name][0]['bytes']:,.0f} bytes")
        if "before" in seconds:
            print(f"{seconds['before'] / seconds['now']:.2f} times the rate of before")


def rendered_in(checkout: Path) -> dict[str, float]:
    command = [sys.executable, str(HERE / "rendering.py")]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found
