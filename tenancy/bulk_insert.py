"""Many new rows in one statement, as imports write them: the ORM takes several times as long to make and bind them.

The rows travel as one JSON text, so that the statement is the same for any number of them, and PostgreSQL makes rows
of it. Row-level security, constraints and defaults of the database hold as for every other INSERT.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection, models

from tenancy.actor import active_organisation
from tenancy.models import TenantModel
from tenancy.statements import executed

ROWS_A_STATEMENT = 2_000
BYTES_A_STATEMENT = 4_000_000
"""Of binary columns, each of which is in memory several times while a statement is made and sent."""


def insert_many(model: type[TenantModel], rows: Iterable[Mapping[str, Any]], *, ignore_conflicts: bool = False) -> None:
    """Store new rows of the active organisation, each with its values by the names of columns; all have the same ones.

    Every column needs a value, but for the organisation and those that the database fills; what Django gives by default
    the caller gives. With `ignore_conflicts` rows that break a unique constraint are left out instead of refused.
    """
    for some in _shares(rows):
        sql = _sql(model, tuple(some[0]), ignore_conflicts)
        executed(sql, [active_organisation(), _encoder.encode(some)])


def _shares(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """The rows in shares of one statement each."""
    share: list[Mapping[str, Any]] = []
    size = 0
    for row in rows:
        own = sum(len(value) for value in row.values() if isinstance(value, bytes))
        if share and (len(share) == ROWS_A_STATEMENT or size + own > BYTES_A_STATEMENT):
            yield share
            share, size = [], 0
        share.append(row)
        size += own
    if share:
        yield share


@cache
def _sql(model: type[TenantModel], names: tuple[str, ...], ignore_conflicts: bool) -> str:
    quote = connection.ops.quote_name
    fields = {field.column: field for field in model._meta.local_concrete_fields}
    columns = [quote(name) for name in names]
    values = [
        f"decode({quote(name)}, 'base64')" if isinstance(fields[name], models.BinaryField) else quote(name)
        for name in names
    ]
    types = ", ".join(f"{quote(name)} {_type(fields[name])}" for name in names)
    # All names are those of the model's own table and columns.
    into = f"INSERT INTO {quote(model._meta.db_table)} (organisation_id, {', '.join(columns)})"
    select = f"SELECT %s, {', '.join(values)} FROM json_to_recordset(%s) AS given({types})"  # noqa: S608
    return f"{into} {select}{' ON CONFLICT DO NOTHING' if ignore_conflicts else ''}"


def _type(field: "models.Field[Any, Any]") -> str:
    if isinstance(field, models.BinaryField):
        return "text"
    # Of a text that is too long PostgreSQL would keep the beginning, where it casts it to the column's type.
    return "text" if isinstance(field, models.CharField) else str(field.rel_db_type(connection))


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"A row cannot hold {value!r}.")


_encoder = json.JSONEncoder(separators=(",", ":"), check_circular=False, default=_plain)
