"""Virtual environments that hold some requirements and nothing else, and checkouts that can be built without a trace.

Making an environment needs a package index once; it is kept in `.local/environments` until its requirements change.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from django.conf import settings

from tests.missing import missing

ROOT = Path(settings.BASE_DIR)
KEPT = ROOT / ".local/environments"
NOT_SERVED = ("tests", "bench", "docs", "node_modules", "build")


def environment_with(name: str, *requirements: str) -> Path:
    """The Python of the environment of that name, made where it is missing or has other requirements.

    `requirements` are arguments of `pip install`. A path among them counts by what the file holds.
    """
    contents = [Path(one).read_bytes() if Path(one).is_file() else one.encode() for one in requirements]
    key = hashlib.sha256(b"\0".join([*contents, sys.version.encode()])).hexdigest()[:16]
    folder = KEPT / name / key
    python = folder / "bin/python"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            for old in folder.parent.iterdir():
                if old.is_dir():
                    shutil.rmtree(old)
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            install = ["install", "--quiet", "--disable-pip-version-check", *requirements]
            done = subprocess.run([python, "-m", "pip", *install], capture_output=True, text=True, check=False)
            if done.returncode:
                missing(f"The environment {name} cannot be made here: {done.stderr.strip().splitlines()[-1]}")
            (folder / "complete").touch()
    return python


def checkout_without_tests(folder: Path) -> Path:
    """A copy in which building leaves nothing in the checkout itself."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_SERVED, ".*", "__pycache__", "*.egg-info"))
    return folder
