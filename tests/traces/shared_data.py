"""Real traces that lie beside the checkout on some machines: a test that wants one is skipped by name elsewhere."""

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def shared_file(name: str) -> Path:
    """The file of that name, relative to the folder of shared data; skips the test where it is absent."""
    path = SHARED_DATA / name
    if not path.exists():
        pytest.skip(f"no {name} in ../shared/data beside this checkout")
    return path


def shared_files(pattern: str) -> list[Path]:
    """The files that match, sorted; skips the test where there is none."""
    found = sorted(SHARED_DATA.glob(pattern))
    if not found:
        pytest.skip(f"no {pattern} in ../shared/data beside this checkout")
    return found
