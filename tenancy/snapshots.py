"""What a moment had seen: for work in several transactions that must read the same rows in each of them.

A time cannot tell: a row that was stamped earlier may be committed later. PostgreSQL's transaction numbers can.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self
from uuid import UUID

from django.db import connection, models
from django.db.models import F, Func, Q, Value
from django.utils import timezone

# Ids hold the time of their row's creation. Requests and parts of jobs end within five minutes, so that a row made
# this long ago is committed or will never be. Its number is not asked, which after a restore is another server's.
_CERTAIN = timedelta(minutes=10)


class TransactionIdField(models.Field[int, int]):
    """PostgreSQL's xid8: the transaction that wrote the row, which a snapshot can be asked about."""

    def db_type(self, connection: Any) -> str:
        return "xid8"

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> int | None:
        return None if value is None else int(value)


def transaction_id() -> TransactionIdField:
    """The field of a row that is added and never changed; the database fills it."""
    return TransactionIdField(
        editable=False, db_default=Func(function="pg_current_xact_id", output_field=TransactionIdField())
    )


@dataclass(frozen=True)
class Snapshot:
    """The transactions that were committed at a moment, as PostgreSQL writes them, and the moment."""

    committed: str
    at: datetime

    @classmethod
    def now(cls) -> Self:
        with connection.cursor() as cursor:
            # Written down as text, because no transaction may stay open for the hours of an export: it would hold back
            # VACUUM in every table, and end with the first server that restarts.
            cursor.execute("SELECT pg_current_snapshot()::text")
            (committed,) = cursor.fetchone()
        return cls(committed, timezone.now())

    @classmethod
    def from_json(cls, value: Mapping[str, str]) -> Self:
        return cls(value["committed"], datetime.fromisoformat(value["at"]))

    def as_json(self) -> dict[str, str]:
        return {"committed": self.committed, "at": self.at.isoformat()}

    def saw(self) -> Q:
        """The rows that were there: of a model with a version 7 UUID as its key, and a `transaction_id()`."""
        # Not `xid < xmax`: of the transactions below it, those that were still running are not visible.
        seen = Func(
            F("transaction"),
            Value(self.committed),
            function="pg_visible_in_snapshot",
            template="%(function)s(%(expressions)s::pg_snapshot)",
            output_field=models.BooleanField(),
        )
        # Nearly all rows are older: the comparison decides them, and the function is asked for the last minutes' alone.
        return Q(pk__lt=_first_id_at(self.at - _CERTAIN)) | Q(seen)


def _first_id_at(at: datetime) -> UUID:
    # The layout of RFC 9562: 48 bits of milliseconds, then the version 7 and the variant, and nothing random.
    milliseconds = int(at.timestamp() * 1000)
    return UUID(int=milliseconds << 80 | 7 << 76 | 2 << 62)
