"""Statements that are sent as they are, without what Django's own cursor does around each one."""

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections


def executed(sql: str, values: Sequence[Any] | Mapping[str, Any] = (), *, is_binary: bool = False) -> Any:
    """The cursor of a statement that was carried out, with its rows: as `connection.cursor()` and `execute` give it, in
    the same connection and transaction and with the same errors.

    Values travel beside the statement, so that PostgreSQL plans one that comes often once a connection, where
    connections are our own (`prepare_threshold` in the settings). Django's cursor is asked where somebody listens, as
    tests do that count statements. `is_binary` asks for the answer in PostgreSQL's binary format.
    """
    database = connections[DEFAULT_DB_ALIAS]
    if database.execute_wrappers or database.force_debug_cursor:
        cursor = database.cursor()
        cursor.execute(sql, values)
        return cursor
    database.close_if_health_check_failed()
    database.ensure_connection()
    database.validate_no_broken_transaction()
    with database.wrap_database_errors:
        return psycopg.Cursor(database.connection).execute(sql, values, binary=is_binary)
