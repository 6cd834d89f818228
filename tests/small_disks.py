"""A disk that is soon full, for stories of what happens then."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[Path]:
    """A disk of that size ("32k", "1m") at a new folder; the test is left out where none can be mounted."""
    if os.geteuid() != 0:
        pytest.skip("only root mounts a small disk")
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True)
    if done.returncode:
        pytest.skip(f"no small disk can be mounted: {done.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def enlarge(disk: Path, size: str) -> None:
    """Make room on a mounted disk."""
    subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)
