"""Have a database and a broker for development or tests, and say where they are in the environment.

Addresses that are given are used. What is missing is started from the machine's programs or the wheels', kept
running while any process of this checkout uses it, and stopped by the last one.
"""

import atexit
import os
import sys
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import cast, get_args

import psycopg

from potato_site.devservices import external_database, servers
from potato_site.devservices.addresses import broker_url, database_url
from potato_site.devservices.binaries import Choice, find_postgres, find_valkey
from potato_site.devservices.errors import ServiceError
from potato_site.devservices.interruptions import held_back
from potato_site.devservices.lease import Lease
from potato_site.devservices.locations import Locations, Purpose, find_locations
from potato_site.devservices.servers import Broker, Cluster
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
                for sockets in sorted(self.locations.sockets.iterdir()):
                    servers.stop(sockets)


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
    choice = cast(Choice, environ.get("POTATO_SERVERS") or "auto")
    if choice not in get_args(Choice):
        raise ServiceError(f"POTATO_SERVERS is {choice!r}; it must be one of {', '.join(get_args(Choice))}.")
    locations = locations or find_locations(purpose)
    if environ.get("DATABASE_URL"):
        external_database.complete(environ, locations, report)
    elif environ.get("DATABASE_OWNER_URL"):
        raise ServiceError(
            "DATABASE_OWNER_URL is set and DATABASE_URL is not. Set both, or neither for an embedded server."
        )
    services = Services(locations, None, None, report)
    addresses: dict[str, str] = {}
    if not environ.get("DATABASE_URL"):
        locations.make()
        services.cluster = Cluster(find_postgres(choice, locations), locations)
        parameters = {"host": str(services.cluster.sockets), "port": str(servers.PORT)}
        addresses["DATABASE_URL"] = database_url(roles.APP_ROLE, roles.DATABASE, None, parameters)
        addresses["DATABASE_OWNER_URL"] = database_url(roles.OWNER_ROLE, roles.DATABASE, None, parameters)
    if not environ.get("BROKER_URL"):
        locations.make()
        services.broker = Broker(find_valkey(choice, locations), locations)
        addresses["BROKER_URL"] = broker_url(services.broker.socket)
    if addresses:
        # Before the first one runs: the second may fail to start.
        atexit.register(services.leave)
        services.start()
        environ.update(addresses, **{OURS: " ".join(addresses)})
    return services


def _provision(cluster: Cluster) -> None:
    administrator = f"host='{cluster.sockets}' port={servers.PORT} user={servers.SUPERUSER} dbname=postgres"
    try:
        roles.provision(administrator, development=True)
    except psycopg.OperationalError as error:
        raise ServiceError(
            f"{cluster.binaries} runs but does not answer: {str(error).strip()}\nIts log is {cluster.log}."
        ) from error
