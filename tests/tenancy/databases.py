"""Connecting differently for a while: as the web role itself, through a pool, to a scratch database."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from psycopg.conninfo import conninfo_to_dict


def web_role_address() -> dict[str, str]:
    """Where the web role connects, in Django's words, but to the database of the tests."""
    found = conninfo_to_dict(os.environ["DATABASE_URL"])
    address = {name.upper(): str(found.get(name, "")) for name in ("user", "password", "host", "port")}
    return {**address, "NAME": str(connection.settings_dict["NAME"])}


@contextmanager
def connected(**changes: Any) -> Iterator[None]:
    """New connections of every thread are made with these settings inside the block."""
    connection.close()
    before = dict(connection.settings_dict)
    connection.settings_dict.update(changes)
    try:
        yield
    finally:
        connection.close()
        if connection.settings_dict["OPTIONS"].get("pool"):
            connection.close_pool()  # type: ignore[attr-defined]  # the stubs know no backend's own methods
        connection.settings_dict.clear()
        connection.settings_dict.update(before)
