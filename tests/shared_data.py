"""Real traces that lie beside the checkout: a test that wants one is skipped by name elsewhere, and fails in CI."""

from pathlib import Path

from tests.missing import missing

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def shared_file(name: str) -> Path:
    """The file of that name, relative to the folder of shared data; the test ends where it is absent."""
    path = SHARED_DATA / name
    if not path.exists():
        missing(f"no {name} in ../shared/data beside this checkout")
    return path


def shared_files(pattern: str) -> list[Path]:
    """The files that match, sorted; the test ends where there is none."""
    found = sorted(SHARED_DATA.glob(pattern))
    if not found:
        missing(f"no {pattern} in ../shared/data beside this checkout")
    return found
