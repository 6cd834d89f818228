"""A large difference that really happened: two releases of a package of PyPI, fetched once into .local/bench."""

import subprocess
import sys
import zipfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / ".local" / "bench"
PACKAGE, OLD, NEW = "Django", "4.2", "5.2"


def difference() -> bytes:
    """The git diff from the old release to the new one: about 60,000 lines in 520 files."""
    patch = FOLDER / f"{PACKAGE}-{OLD}-{NEW}.patch"
    if not patch.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        old, new = _unpacked(OLD), _unpacked(NEW)
        found = subprocess.run(
            ["git", "diff", "--no-index", "--no-color", old.name, new.name],
            cwd=FOLDER,
            capture_output=True,
            check=False,
        )
        patch.write_bytes(found.stdout)
    return patch.read_bytes()


def _unpacked(version: str) -> Path:
    folder = FOLDER / version
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(FOLDER)]
        subprocess.run([*command, f"{PACKAGE}=={version}"], check=True)
        (wheel,) = FOLDER.glob(f"{PACKAGE}-{version}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            code = [name for name in archive.namelist() if "/locale/" not in name and ".dist-info/" not in name]
            archive.extractall(folder, code)
    return folder
