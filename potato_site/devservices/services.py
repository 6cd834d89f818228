"""Have a database and a broker for development or tests, and say where they are in the environment.

Addresses that are given are used. What is missing is started from the machine's programs or the wheels', kept
running while any process of this checkout uses it, and stopped by the last one.
"""

import atexit
import os
import sys
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import get_args

import psycopg

from potato_site.devservices import given, postgres, valkey
from potato_site.devservices.addresses import broker_url, database_url
from potato_site.devservices.binaries import Choice, find_postgres, find_valkey
from potato_site.devservices.errors import ServiceError
from potato_site.devservices.interruptions import held_back
from potato_site.devservices.lease import Lease
from potato_site.devservices.locations import Locations, Purpose, find_locations
from potato_site.devservices.postgres import Cluster
from potato_site.devservices.valkey import Broker
from tenancy import provision as roles

# Names which of the addresses in the environment are ours, so that a child process takes a lease of its own.
OURS = "POTATO_DEVSERVICES"


def _say(sentence: str) -> None:
    print(f"potato: {sentence}", file=sys.stderr)


@dataclass
class Services:
    """The embedded servers this process uses; `cluster` or `broker` is None where an address was given."""

    locations: Locations
    cluster: Cluster | None
    broker: Broker | None
    report: Callable[[str], None]
    lease: Lease = field(init=False)

    def __post_init__(self) -> None:
        self.lease = Lease(self.locations.home)

    def start(self) -> None:
        """Have every server running, whether it was never started, stopped or crashed; repeatable."""
        if not (self.cluster or self.broker):
            return
        with self.lease.alone():
            self.lease.take()
            for server in (self.cluster, self.broker):
                if server and server.start():
                    self.report(f"started {server.binaries}, data in {server.data}")
            if self.cluster:
                _provision(self.cluster)

    def start_crashed(self) -> None:
        """Start again whichever server ended by itself; cheap enough to be asked every few seconds."""
        if not all(server.is_running() for server in (self.cluster, self.broker) if server):
            self.start()

    @held_back()
    def leave(self) -> None:
        """Stop using the servers; the last user stops all that run here, also those of an earlier choice."""
        atexit.unregister(self.leave)
        if not self.locations.home.exists():
            # Somebody removed the data; there is nothing left to find the servers by.
            return
        with self.lease.alone():
            if self.lease.give_back():
                for folder in sorted(self.locations.sockets.iterdir()):
                    if folder.name.startswith("postgresql-"):
                        postgres.stop(self.locations.home / folder.name, folder)
                    else:
                        valkey.stop(folder)


@held_back()
def ensure(
    purpose: Purpose,
    *,
    locations: Locations | None = None,
    environ: MutableMapping[str, str] = os.environ,
    report: Callable[[str], None] = _say,
) -> Services:
    """Set DATABASE_URL (application role), DATABASE_OWNER_URL and BROKER_URL where they are not set already.

    Starts what is needed and leaves at the end of the process. A DATABASE_URL that is an administrator's is
    replaced by the application role's on the same server, for children too. Signals wait until it is done.
    Raises ServiceError.
    """
    for name in environ.pop(OURS, "").split():
        environ.pop(name, None)
    choice = _choice(environ)
    locations = locations or find_locations(purpose)
    if environ.get("DATABASE_URL"):
        given.complete(environ, locations, report)
    elif environ.get("DATABASE_OWNER_URL"):
        raise ServiceError(
            "DATABASE_OWNER_URL is set and DATABASE_URL is not. Set both, or neither for an embedded server."
        )
    needs_database, needs_broker = not environ.get("DATABASE_URL"), not environ.get("BROKER_URL")
    if needs_database or needs_broker:
        locations.make()
    services = Services(
        locations,
        Cluster(find_postgres(choice, locations), locations) if needs_database else None,
        Broker(find_valkey(choice, locations), locations) if needs_broker else None,
        report,
    )
    if services.cluster or services.broker:
        # Before the first one runs: the second may fail to start.
        atexit.register(services.leave)
    services.start()
    ours: list[str] = []
    if services.cluster:
        environ["DATABASE_URL"] = _embedded_url(services.cluster, roles.APP_ROLE)
        environ["DATABASE_OWNER_URL"] = _embedded_url(services.cluster, roles.OWNER_ROLE)
        ours += ["DATABASE_URL", "DATABASE_OWNER_URL"]
    if services.broker:
        environ["BROKER_URL"] = broker_url(services.broker.socket)
        ours.append("BROKER_URL")
    if ours:
        environ[OURS] = " ".join(ours)
    return services


def _choice(environ: MutableMapping[str, str]) -> Choice:
    asked = environ.get("POTATO_SERVERS") or "auto"
    for choice in get_args(Choice):
        if asked == choice:
            return choice  # type: ignore[no-any-return]
    raise ServiceError(f"POTATO_SERVERS is {asked!r}; it must be one of {', '.join(get_args(Choice))}.")


def _embedded_url(cluster: Cluster, role: str) -> str:
    return database_url(role, roles.DATABASE, None, {"host": str(cluster.sockets), "port": str(postgres.PORT)})


def _provision(cluster: Cluster) -> None:
    try:
        roles.provision(
            f"host='{cluster.sockets}' port={postgres.PORT} user={postgres.SUPERUSER} dbname=postgres",
            database=roles.DATABASE,
            app_role=roles.APP_ROLE,
            owner_role=roles.OWNER_ROLE,
            platform_role=roles.PLATFORM_ROLE,
            app_password=None,
            owner_password=None,
            development=True,
        )
    except psycopg.OperationalError as error:
        raise ServiceError(
            f"{cluster.binaries} runs but does not answer: {str(error).strip()}\nIts log is {cluster.log}."
        ) from error
