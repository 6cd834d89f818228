"""Which slot a person is given next: a walk along an index, in the first batch that has something for the person.

Batches come by priority, then the one that is due first, then the older one. Within a batch those come first that the
person has passed and that came free again, as they did; then the batch's ranks from where the person is. Both go
forwards only: whatever is free and lies before is the person's own, or was being moved by somebody else at that moment;
where the walk finds nothing `locked_anywhere` and `first_anywhere` look at everything again.

Pause, priority and people stand in the batch, not in the rows that are walked; what a trace alone decides (withheld,
reserved, no slot left) stands in its row, and such rows are not in the index. So a claim asks twice: where the person
is in the batches that are open, and for the next row of one of them, however many batches and rows there are.

Statements of SQL, because the ORM locks no part of a query alone, and short ones: planning them is most of their time.
"""

from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from assignments.models import TraceQuota
from tenancy.models import new_id
from tenancy.statements import executed

# A slot that comes free in a transaction that goes on for long bears an earlier time than others that were seen.
_LATE = timedelta(seconds=30)
# No rank is as high: whoever is there has gone through the batch, and is given only what comes back.
_AT_THE_END = 2**62

_NEEDED = frozenset(
    (
        "id",
        "organisation_id",
        "trace_id",
        "project_id",
        "target",
        "active",
        "done",
        "batch_id",
        "is_released",
        "rank",
        "returned_at",
    )
)
# In the order of the model's fields, in which its rows are made.
_COLUMNS = [field.attname for field in TraceQuota._meta.concrete_fields if field.attname in _NEEDED]
_QUOTA = ", ".join(f"q.{column}" for column in _COLUMNS)

# A subquery for each row, which uses the unique key: as NOT EXISTS it would be joined, and without statistics row by
# row, although only the first slots are wanted. Who settles a trace, or corrects an annotation of it, has read what
# others said; who has done it as gold or practice is not given it again.
_OWN = """
(SELECT a.id FROM assignments_assignment a
  WHERE a.organisation_id = q.organisation_id AND a.trace_id = q.trace_id AND a.user_id = %(user)s
    AND (a.kind IN ('adjudication', 'correction') OR a.kind IN ('normal', 'gold', 'practice') {which}) LIMIT 1) IS NULL
"""
_NOT_MINE = _OWN.format(which="")
_NOT_TAKEN = _OWN.format(which="AND (a.state IN ('claimed', 'submitted', 'skipped', 'voided') OR a.not_before > now())")
_FREE = "q.is_released AND NOT q.is_reserved AND q.active < q.target - q.done"
_LOCKED = "FOR NO KEY UPDATE OF q SKIP LOCKED"

_OPEN = """
  FROM assignments_batch b
  LEFT JOIN assignments_batchposition p
    ON p.organisation_id = b.organisation_id AND p.batch_id = b.id AND p.user_id = %(user)s
 WHERE b.organisation_id = %(organisation)s AND b.project_id = %(project)s AND b.state = 'open'
   AND NOT EXISTS (
     SELECT FROM assignments_steering s
      WHERE s.organisation_id = %(organisation)s AND s.project_id = %(project)s AND s.paused_at IS NOT NULL)
"""
_IS_MINE = """
(NOT b.is_restricted OR EXISTS (
  SELECT FROM assignments_batchperson n
   WHERE n.organisation_id = b.organisation_id AND n.batch_id = b.id AND n.user_id = %(user)s))
"""
_RESERVED = """
SELECT r.trace_id FROM assignments_reservation r
 WHERE r.organisation_id = %(organisation)s AND r.project_id = %(project)s AND r.user_id = %(user)s
"""
_DUE = """
SELECT o.trace_id FROM assignments_assignment o
 WHERE o.organisation_id = %(organisation)s AND o.project_id = %(project)s AND o.user_id = %(user)s
   AND o.kind = 'normal' AND o.state = 'released' AND o.not_before <= now()
"""
# Whether the person has passed something that came back since: whose it is, is asked of the few rows later.
_HAS_BACK = f"""
EXISTS (SELECT FROM assignments_tracequota q
  WHERE q.organisation_id = %(organisation)s AND q.batch_id = b.id AND {_FREE} AND q.returned_at >= p.returned_at)
"""
_BATCHES = f"""
SELECT b.id, b."order" = 'random', b.last_rank, {_IS_MINE}, p.start, p.position, p.is_wrapped, p.returned_at,
  {_HAS_BACK}, EXISTS ({_RESERVED}), EXISTS ({_DUE})
{_OPEN}
 ORDER BY b.priority DESC, b.deadline NULLS LAST, b.number
"""

_IN_BATCH = f"q.organisation_id = %(organisation)s AND q.batch_id = %(batch)s AND {_FREE}"


def _way(condition: str, column: str) -> str:
    """One way through a batch: its first row that nobody else moves, and the first value of the column there is."""
    rows = (
        f"FROM assignments_tracequota q WHERE {_IN_BATCH} AND {condition} AND {_NOT_MINE} ORDER BY q.{column} LIMIT 1"
    )
    return f"SELECT {_QUOTA}, (SELECT q.{column} {rows}) {rows} {_LOCKED}"


_BACK = _way(
    "q.returned_at >= %(returned_at)s AND (q.rank >= %(start)s OR %(is_wrapped)s)"
    " AND (q.rank < %(position)s OR %(is_wrapped)s AND q.rank >= %(start)s)",
    "returned_at",
)
_IS_AHEAD = "q.rank >= %(position)s AND (NOT %(is_wrapped)s OR q.rank < %(start)s)"
_AHEAD = _way(_IS_AHEAD, "rank")
_FROM_THE_BEGIN = _way("q.rank < %(start)s", "rank")

_BY_NAME = f"""
SELECT {_QUOTA} FROM ({{traces}}) r JOIN assignments_tracequota q
    ON q.organisation_id = %(organisation)s AND q.trace_id = r.trace_id
 WHERE q.is_released AND q.active < q.target - q.done AND q.batch_id = ANY (%(batches)s) AND {_NOT_TAKEN}
 LIMIT 1 {{lock}}
"""  # noqa: S608
_ANYWHERE = f"""
SELECT {_QUOTA} FROM assignments_tracequota q WHERE {_IN_BATCH} AND {_NOT_TAKEN} ORDER BY q.rank LIMIT 1 {{lock}}
"""  # noqa: S608
_ANY_AHEAD = f"""
SELECT q.id FROM assignments_tracequota q WHERE {_IN_BATCH} AND {_IS_AHEAD} AND {_NOT_MINE} ORDER BY q.rank LIMIT 1
"""  # noqa: S608

_GO_ON = """
INSERT INTO assignments_batchposition
  (id, organisation_id, batch_id, user_id, start, position, is_wrapped, returned_at)
VALUES (%(id)s, %(organisation)s, %(batch)s, %(user)s, %(start)s, %(position)s, %(is_wrapped)s, %(returned_at)s)
ON CONFLICT (organisation_id, batch_id, user_id) DO UPDATE
   SET position = excluded.position, is_wrapped = excluded.is_wrapped, returned_at = excluded.returned_at
"""


class Walker(NamedTuple):
    """Who looks for a slot, and in which project."""

    organisation: UUID | None
    project: UUID
    user: UUID


class _OpenBatch(NamedTuple):
    """An open batch, and where the person is in it."""

    batch: UUID
    is_mine: bool
    start: int
    position: int
    is_wrapped: bool
    returned_at: datetime
    has_back: bool

    @property
    def is_at_the_end(self) -> bool:
        return self.position >= _AT_THE_END


class _OpenBatches(NamedTuple):
    """The open batches of a project, in their turn. `is_offered` says that traces are reserved for the person, `is_due`
    that the person put one off until now."""

    places: list[_OpenBatch]
    is_offered: bool
    is_due: bool


def take_next(walker: Walker) -> TraceQuota | None:
    """Lock the next free slots for the person that nobody else is moving, and go there."""
    places = _places(walker)
    facts = walker._asdict()
    quota = _by_name(facts, places, _LOCKED)
    if quota is not None:
        return quota
    for place in places.places:
        if place.is_mine and (quota := _walk(facts, place)) is not None:
            return quota
    return None


def locked_anywhere(walker: Walker) -> TraceQuota | None:
    """Lock the first slots that are free for the person, wherever the person is in the batches."""
    return _anywhere(walker, _LOCKED)


def first_anywhere(walker: Walker) -> UUID | None:
    """The first slots that are free for the person as far as is committed, whoever is moving them."""
    quota = _anywhere(walker, "")
    return quota.pk if quota else None


def _places(walker: Walker) -> _OpenBatches:
    rows = executed(_BATCHES, walker._asdict()).fetchall()
    places = []
    for batch, is_random, last_rank, is_mine, start, position, is_wrapped, returned_at, has_back, *_ in rows:
        if start is None:
            # Where nobody else begins: two UUIDs are as good as thrown.
            start = 1 + (batch.int ^ walker.user.int) % 1_000_003 * 7919 % max(last_rank, 1) if is_random else 0
            position, is_wrapped, returned_at = start, False, timezone.now() - _LATE
        places.append(_OpenBatch(batch, is_mine, start, position, is_wrapped, returned_at, has_back))
    return _OpenBatches(places, bool(rows and rows[0][-2]), bool(rows and rows[0][-1]))


def _by_name(facts: dict[str, Any], places: _OpenBatches, lock: str) -> TraceQuota | None:
    """What is offered to the person, in any open batch; then what the person put off, where they may still take it."""
    mine = [place.batch for place in places.places if place.is_mine]
    anybodys = [place.batch for place in places.places]
    for is_there, traces, batches in ((places.is_offered, _RESERVED, anybodys), (places.is_due, _DUE, mine)):
        if is_there:
            row = executed(_BY_NAME.format(traces=traces, lock=lock), {**facts, "batches": batches}).fetchone()
            if row is not None:
                return _quota(row)
    return None


def _walk(facts: dict[str, Any], place: _OpenBatch) -> TraceQuota | None:
    facts = {**facts, **place._asdict()}
    if place.has_back and (row := executed(_BACK, facts).fetchone()):
        _go_on(facts, place, looked_at=row[-1])
        return _quota(row[:-1])
    if place.is_at_the_end:
        return None
    if row := executed(_AHEAD, facts).fetchone():
        _go_on(facts, place._replace(position=row[-1]))
        return _quota(row[:-1])
    # Locked by others, as the walk has passed them over.
    is_any_ahead = executed(_ANY_AHEAD, facts).fetchone() is not None
    if place.start and not place.is_wrapped and (row := executed(_FROM_THE_BEGIN, facts).fetchone()):
        # Where somebody is moving what lies ahead it may come free: then the person has not come round.
        _go_on(facts, place if is_any_ahead else place._replace(position=row[-1], is_wrapped=True))
        return _quota(row[:-1])
    if not is_any_ahead:
        _go_on(facts, place._replace(position=_AT_THE_END, is_wrapped=True))
    return None


def _go_on(facts: dict[str, Any], place: _OpenBatch, looked_at: datetime | None = None) -> None:
    """Write down where the person is: at the first slots that are free, also where somebody else is moving them."""
    now = timezone.now() - _LATE
    returned_at = min(looked_at or now, now)
    executed(_GO_ON, {**facts, **place._asdict(), "id": new_id(), "returned_at": returned_at})


def _anywhere(walker: Walker, lock: str) -> TraceQuota | None:
    places, facts = _places(walker), walker._asdict()
    quota = _by_name(facts, places, lock)
    for place in places.places:
        if quota is None and place.is_mine:
            row = executed(_ANYWHERE.format(lock=lock), {**facts, "batch": place.batch}).fetchone()
            quota = _quota(row) if row else None
    return quota


def _quota(row: tuple[Any, ...]) -> TraceQuota:
    quota: TraceQuota = TraceQuota.from_db(DEFAULT_DB_ALIAS, _COLUMNS, row)
    return quota
