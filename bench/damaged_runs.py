"""Reads damaged copies of real files for minutes on end, format by format: `python -m bench.damaged_runs FOLDER...`.

Every file of the folders counts as a file of the format that it is read as. Each copy is damaged by its own seed, so
that what is told can be read again. What was done is kept in a file (`--state`), and goes on there: the script may be
ended or stopped at any time. A copy that raises what is no answer, or takes longer than 10 seconds a megabyte, is named
with its seed. All seconds are processor time, so that a stopped process and a busy machine tell the same.
"""

import argparse
import json
import random
import signal
import time
import traceback
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from potato.runs.converters.reading import Chosen, read_file
from potato.runs.model import ReadingOptions
from potato.runs.run_files import source_at
from potato.runs.unpacking import is_zstandard
from tests.potato.runs.damaged_files import damaged, read_without_error, retyped

SECONDS_A_MEGABYTE = 10.0
LARGEST = 4 * 2**20
"""Larger files are left out: of them a minute has few copies."""
_KEPT = 20


@dataclass
class Read:
    """What came of a format's copies. `slowest` is in seconds a megabyte, of copies of 100 kB and more."""

    seconds: float = 0.0
    copies: int = 0
    bytes: int = 0
    runs: int = 0
    slowest: float = 0.0
    longest: float = 0.0
    next_seed: int = 1
    faults: list[dict[str, Any]] = field(default_factory=list)


class TooLong(Exception):  # noqa: N818  (what an alarm raises)
    """A copy took longer than it may."""


def real_files(folders: list[Path]) -> dict[str, list[Path]]:
    """The files of the folders by the format that they are read as, with at least one run."""
    by_format: defaultdict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        for path in sorted(each for each in folder.rglob("*") if each.is_file() and each.stat().st_size <= LARGEST):
            if path.read_bytes()[:4] == b"PK\x03\x04" or is_zstandard(path.read_bytes()[:4]):
                continue
            entries = read_file(source_at(path), ReadingOptions())
            first = next(entries, None)
            if isinstance(first, Chosen):
                by_format[first.format].append(path)
    return dict(by_format)


def copies_of(data: bytes, seed: int) -> Iterator[bytes]:
    """Damaged copies of a file: one in three of a file of JSON has members that are gone or of other types."""
    yield from damaged(data, seed, 4)
    try:
        text = data.decode()
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        is_lines = len(lines) > 1
        value: Any = lines if is_lines else json.loads(text)
    except ValueError:
        try:
            value, is_lines = json.loads(data), False
        except ValueError:
            return
    for changed in retyped(value, seed, 2):
        parts = changed if is_lines and isinstance(changed, list) else [changed]
        yield "\n".join(json.dumps(part) for part in parts).encode()


def read_for(seconds: float, files: list[Path], name: str, done: Read) -> None:
    """Read damaged copies of the files until so many seconds are over."""
    ends = done.seconds + seconds
    while done.seconds < ends:
        seed = done.next_seed
        done.next_seed += 1
        path = random.Random(seed).choice(files)  # noqa: S311  (not for secrets)
        for number, copy in enumerate(copies_of(path.read_bytes(), seed)):
            begin = time.process_time()
            allowed = 10 + SECONDS_A_MEGABYTE * len(copy) / 2**20
            signal.setitimer(signal.ITIMER_PROF, allowed)
            try:
                done.runs += len(read_without_error(copy, path.name, name))
            except Exception:  # whatever it is, it is told
                fault = {"file": str(path), "seed": seed, "copy": number, "what": traceback.format_exc(limit=-4)}
                if len(done.faults) < _KEPT:
                    done.faults.append(fault)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            took = time.process_time() - begin
            done.seconds += took
            done.copies += 1
            done.bytes += len(copy)
            done.longest = max(done.longest, took)
            if len(copy) >= 100_000:
                done.slowest = max(done.slowest, took / (len(copy) / 2**20))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--minutes", type=float, default=10, help="for each format, what was done before included")
    parser.add_argument("--state", type=Path, default=Path("damaged-runs.json"))
    parser.add_argument("--format", action="append", help="only these")
    flags = parser.parse_args()
    state = json.loads(flags.state.read_text()) if flags.state.exists() else {}
    by_format = real_files(flags.folders)

    def too_long(number: int, frame: FrameType | None) -> None:
        raise TooLong

    signal.signal(signal.SIGPROF, too_long)
    wanted = [name for name in sorted(by_format) if not flags.format or name in flags.format]
    # A minute at a time of what was read least, so that what is ended early has read as much of each.
    while left := [name for name in wanted if Read(**state.get(name, {})).seconds < flags.minutes * 60]:
        name = min(left, key=lambda name: Read(**state.get(name, {})).seconds)
        done = Read(**state.get(name, {}))
        read_for(min(60.0, flags.minutes * 60 - done.seconds), by_format[name], name, done)
        state[name] = asdict(done)
        flags.state.write_text(json.dumps(state, indent=1))
    for name, row in sorted(state.items()):
        print(
            f"{name}: {row['seconds'] / 60:.1f} minutes, {row['copies']:,} copies of {len(by_format.get(name, []))} "
            f"files, {row['bytes'] / 2**20:,.0f} MiB, {row['runs']:,} runs, at most {row['slowest']:.2f} s a megabyte, "
            f"{len(row['faults'])} faults"
        )


if __name__ == "__main__":
    main()
