"""The site for one's own runs: that of the checkout where the library lies in one, else the one that the wheel carries,
unpacked once into a folder of the person's own with an environment of its own.

What a site needs would stand beside the packages of whoever installed the library, under names like `exports`, and in
versions that are not theirs.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import potato
from potato.commands.terminal import Failure

CARRIED = Path(potato.__file__).parent / "site.zip"
DATA = ".local"
"""What a site keeps in its folder beside its databases: it stays when a newer one is unpacked there."""


@dataclass(frozen=True)
class OwnSite:
    """Where a site's manage.py lies, and the Python that it runs with."""

    folder: Path
    python: Path

    @property
    def manage(self) -> Path:
        return self.folder / "manage.py"


def own_site(say: Callable[[str], None]) -> OwnSite:
    """The site, made ready where it is not: unpacked, with the packages that it needs, by the hashes that it names.

    The first time this asks a package index, as pip is configured to. Raises Failure where the wheel carries no site,
    and for what pip says. What was interrupted is done again.
    """
    checkout = Path(potato.__file__).resolve().parents[1]
    if (checkout / "manage.py").is_file():
        return OwnSite(checkout, Path(sys.executable))
    if not CARRIED.is_file() or sys.platform == "win32":
        raise Failure(
            "This installation of the library carries no site for this machine. Take a checkout of Potato on Linux or "
            "macOS, run `make install` in it, and there `.venv/bin/potato review FILE`."
        )
    folder = _data_home() / "potato-review" / "site"
    site = OwnSite(folder, folder / ".venv/bin/python")
    wanted = hashlib.sha256(CARRIED.read_bytes() + sys.version.encode()).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        ready = folder / ".ready"
        if not (ready.is_file() and ready.read_text(encoding="utf-8") == wanted and site.python.exists()):
            say(f"making the site ready in {folder}; the first time this takes a minute or two")
            ready.unlink(missing_ok=True)
            _unpack(folder)
            _install(site)
            ready.write_text(wanted, encoding="utf-8")
    return site


def _data_home() -> Path:
    """As the XDG base directory specification has it."""
    given = os.environ.get("XDG_DATA_HOME", "")
    return Path(given) if os.path.isabs(given) else Path.home() / ".local/share"


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else makes the folder's site ready meanwhile."""
    import fcntl  # Not on Windows, where everything else of the library works.

    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _unpack(folder: Path) -> None:
    for old in folder.iterdir():
        if old.name in (DATA, ".lock"):
            continue
        if old.is_dir():
            shutil.rmtree(old)
        else:
            old.unlink()
    with zipfile.ZipFile(CARRIED) as packed:
        packed.extractall(folder)


def _install(site: OwnSite) -> None:
    try:
        venv.create(site.folder / ".venv", with_pip=True)
    except (subprocess.CalledProcessError, OSError) as error:
        raise Failure(
            f"No virtual environment could be made in {site.folder}: {error}. On Debian: apt-get install python3-venv"
        ) from None
    pip = [str(site.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "--require-hashes", "-r", "requirements/embedded.txt"], site)
    _run([*pip, "--no-deps", "--no-build-isolation", "-e", "."], site)


def _run(command: list[str], site: OwnSite) -> None:
    done = subprocess.run(command, cwd=site.folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"The site's packages could not be installed:\n{done.stderr.strip() or done.stdout.strip()}")
