"""The addresses that the settings read, written for servers behind Unix sockets and behind TCP alike."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlencode


def database_url(role: str, database: str, password: str | None, parameters: Mapping[str, str]) -> str:
    """An address that libpq and the settings read alike; `parameters` are libpq's, the host among them.

    A host that is a socket's folder stands in the query: with capital letters it would not survive elsewhere.
    """
    query = dict(parameters)
    login = quote(role, safe="") + (f":{quote(password, safe='')}" if password else "")
    place = ""
    if "/" not in query.get("host", "/"):
        place = query.pop("host") + (f":{query.pop('port')}" if "port" in query else "")
    address = f"postgresql://{login}@{place}/{quote(database, safe='')}"
    return f"{address}?{urlencode(query, quote_via=quote, safe='/')}" if query else address


def broker_url(socket: Path) -> str:
    """Celery's address of a Redis or Valkey behind a Unix socket."""
    return f"redis+socket://{quote(str(socket))}"
