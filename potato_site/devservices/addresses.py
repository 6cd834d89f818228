"""The addresses that the settings read, written for servers behind Unix sockets and behind TCP alike."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlencode


def database_url(role: str, database: str, password: str | None, parameters: Mapping[str, str]) -> str:
    """`postgresql://role:password@/database?host=...`: any parameter of libpq, the host too, is in the query.

    The host stands in the query because a folder with capital letters does not survive in a URL's host.
    """
    login = quote(role, safe="") + (f":{quote(password, safe='')}" if password else "")
    return (
        f"postgresql://{login}@/{quote(database, safe='')}?{urlencode(parameters, quote_via=quote, safe='/')}"
    )


def broker_url(socket: Path) -> str:
    """Celery's address of a Redis or Valkey behind a Unix socket."""
    return f"redis+socket://{quote(str(socket))}"
