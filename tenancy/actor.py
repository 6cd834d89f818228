"""Who acts, and in which organisation: one context variable in Python, three settings in PostgreSQL.

The database never trusts the context variable. It serves the default of `organisation` fields, the headers of
background tasks and callbacks that run after commit.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

import structlog
from django.conf import settings
from django.db import connection, models, transaction

from tenancy import audit, limits
from tenancy.roles import SCOPED, Right, TokenScope, open_role_rights, project_role_rights, role_rights, scopes_for
from tenancy.statements import executed

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Actor:
    """The organisation that may be written, the organisations that may be read, and the person.

    Where `readable` is None, reading fails closed; a person of no organisation has an empty tuple, and an empty result.
    `name` is what the person is called, empty where who entered did not know it.
    """

    organisation: UUID | None = None
    readable: tuple[UUID, ...] | None = None
    user: UUID | None = None
    name: str = field(default="", compare=False)


class Scope(Protocol):
    """A project, as far as rights depend on it."""

    pk: UUID
    open_to_annotators: bool


@dataclass(frozen=True)
class ActiveMembership:
    """A person's place in the organisation that a request has entered, as the database answered it.

    `rights_by_project` has the rights that the person was given in single projects, and none for a project that they
    were taken off. A token may be `limited_to` projects; then nothing else of the organisation exists for it. `scopes`
    are those of the token, and None for a session.
    """

    id: UUID
    organisation_id: UUID
    organisation_slug: str
    organisation_name: str
    role: str
    annotator_name: str
    rights_by_project: Mapping[UUID, frozenset[Right]] = field(default_factory=dict)
    limited_to: frozenset[UUID] | None = None
    scopes: frozenset[TokenScope] | None = None
    token: UUID | None = None
    """The id of the API token, None for a session."""
    projects: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Those that this request has looked up, by their slugs."""

    @property
    def everywhere(self) -> frozenset[Right]:
        """The rights that hold in all projects, or in all that the token is limited to."""
        rights = role_rights(self.role)
        return rights if self.limited_to is None else rights & SCOPED

    @property
    def where_open(self) -> frozenset[Right]:
        """The rights on top in projects that are open to all annotators."""
        return open_role_rights(self.role)

    def may(self, right: Right) -> bool:
        """Whether the right holds in the organisation, or in any project of it."""
        if right in self.everywhere or right in self.where_open:
            return True
        return any(right in rights for project, rights in self.rights_by_project.items() if self._reaches(project))

    def may_in(self, right: Right, project: Scope) -> bool:
        """Whether the right holds in this project."""
        if not self._reaches(project.pk):
            return False
        if right in self.everywhere:
            return True
        place = self.rights_by_project.get(project.pk)
        return right in (place if place is not None else self.where_open if project.open_to_annotators else ())

    def in_scope(self, right: Right, *, is_change: bool = False) -> bool:
        """Whether a token was made for what the right opens; a session was made for everything."""
        return self.scopes is None or bool(self.scopes & scopes_for(right, is_change=is_change))

    def wields(self, right: Right, *, is_change: bool = False) -> bool:
        """Whether the right holds everywhere and is in scope: for what a route does beyond what it asks for."""
        return right in self.everywhere and self.in_scope(right, is_change=is_change)

    def sees(self, project: Scope) -> bool:
        """Whether the project exists for this membership: it gives a right there that is of projects."""
        return any(self.may_in(right, project) for right in (Right.SEE_TRACES, Right.ANNOTATE))

    def _reaches(self, project: UUID) -> bool:
        return self.limited_to is None or project in self.limited_to


NOBODY = Actor()
_actor: ContextVar[Actor] = ContextVar("actor", default=NOBODY)


def current() -> Actor:
    """The actor of this thread or task; NOBODY outside every block."""
    return _actor.get()


def active_organisation() -> UUID | None:
    """Default of every tenant row's `organisation`, so that no form or serializer has to fill it."""
    return _actor.get().organisation


@contextmanager
def acting(actor: Actor) -> Iterator[Actor]:
    """Act as this actor, in one transaction, until the block ends. Blocks nest."""
    before, nested = _actor.get(), connection.in_atomic_block
    token = _actor.set(actor)
    try:
        with transaction.atomic():
            _send(actor)
            yield actor
            if nested and not connection.needs_rollback:
                # A savepoint's release keeps what set_config(..., true) did; only commit and rollback undo it.
                _send(before)
    finally:
        _actor.reset(token)


def acting_in(
    organisation: models.Model | UUID | str, user: models.Model | UUID | str | None = None
) -> AbstractContextManager[Actor]:
    """Read and write the rows of one organisation: `with acting_in(organisation): ...`."""
    organisation_id = _id(organisation)
    return acting(Actor(organisation_id, (organisation_id,), None if user is None else _id(user)))


@contextmanager
def acting_as(user: models.Model) -> Iterator[Actor]:
    """Read the rows of every organisation that the person belongs to, and write none."""
    with acting(Actor(user=user.pk)):
        with connection.cursor() as cursor:
            # Asked of the database, which knows who acts: a list that Python had kept could be of a former member.
            cursor.execute("SELECT * FROM my_organisations()")
            organisations = tuple(organisation for (organisation,) in cursor.fetchall())
        with acting(Actor(None, organisations, user.pk)) as actor:
            yield actor


@contextmanager
def unscoped(reason: str) -> Iterator[None]:
    """Bypass row-level security as the platform role, leaving the reason in the platform's own audit trail.

    The row is gone if the block fails, so the reason is logged as well. Raises ValueError without a reason.
    """
    if not reason.strip():
        raise ValueError("unscoped() needs a reason that a later reader understands")
    # Before the transaction: its rollback would take the row of the trail along.
    log.warning("tenancy.unscoped", reason=reason)
    with _as_platform():
        audit.record_unscoped(reason)
        yield


@contextmanager
def removing(reason: str) -> Iterator[None]:
    """As `unscoped`, and what is otherwise only added may be removed, or lose what names a person.

    The database lets the platform role do so here alone: a trigger refuses it elsewhere. A reason names rows by their
    ids, never by what is being removed.
    """
    with unscoped(reason):
        _send_settings({"app.removing": "on"})
        yield
        if not connection.needs_rollback:
            _send_settings({"app.removing": ""})


@contextmanager
def _as_platform() -> Iterator[None]:
    with transaction.atomic():
        # The same connection, not a second one of the platform's: it sees what this transaction has written.
        role = _current_role()
        _send_settings(limits.own())
        _set_role(settings.DATABASE_PLATFORM_ROLE)
        yield
        if not connection.needs_rollback:
            # A rollback undoes SET LOCAL by itself; a savepoint's release does not.
            _set_role(role)


def on_commit(callback: Callable[[], Any]) -> None:
    """Run the callback after commit, as the actor of this call (plain on_commit callbacks act as nobody)."""
    actor = current()

    def run() -> None:
        with acting(actor):
            callback()

    transaction.on_commit(run)


def enter(actor: Actor) -> None:
    """Become the actor for the rest of the open transaction. For entry points alone; other code says acting_in()."""
    if not connection.in_atomic_block:
        raise RuntimeError("enter() outside a transaction is lost at once: open one, or use acting_in()")
    _actor.set(actor)
    _send(actor)


def enter_organisation(user: models.Model, slug: str) -> ActiveMembership | None:
    """Enter the organisation of that slug if the person is an active member; one round trip.

    Returns None, and leaves no organisation active, for strangers and for slugs that do not exist alike.
    """
    row = executed("SELECT * FROM enter_organisation(%s, %s)", [user.pk, slug]).fetchone()
    membership_id, organisation_id, name, role, annotator_name, places = row
    if membership_id is None:
        # The function has emptied the settings already: what a view does next fails closed.
        _actor.set(Actor(user=user.pk))
        return None
    _actor.set(Actor(organisation_id, (organisation_id,), user.pk, str(user)))
    return ActiveMembership(
        membership_id,
        organisation_id,
        slug,
        name,
        role,
        annotator_name,
        # Where the person was taken off there is no right at all, not those of an open project either.
        {
            UUID(project): frozenset() if left else project_role_rights(project_role, may_export=may_export)
            for project, project_role, may_export, left in json.loads(places or "[]")
        },
    )


def restore(actor: Actor, *, send: bool) -> None:
    """Put an earlier actor back; `send` also tells the database, for a transaction that goes on (tests)."""
    _actor.set(actor)
    if send:
        _send(actor)


def _send(actor: Actor) -> None:
    readable = "" if actor.readable is None else f"{{{','.join(map(str, actor.readable))}}}"
    values = {
        "app.organisation": str(actor.organisation or ""),
        "app.organisations": readable,
        "app.user": str(actor.user or ""),
        **limits.own(),
    }
    _send_settings(values)


def _send_settings(values: Mapping[str, str]) -> None:
    if values:
        # true: for this transaction. A setting of the session would stay on the connection, and the next request that
        # gets it, from Django's pool or from PgBouncer, would act for the organisation of this one.
        calls = ", ".join(f"set_config('{name}', %s, true)" for name in values)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {calls}", list(values.values()))


def _current_role() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        (role,) = cursor.fetchone()
    return str(role)


def _set_role(role: str) -> None:
    with connection.cursor() as cursor:
        # LOCAL, as the settings: no connection may go back to a pool as the platform role.
        cursor.execute(f"SET LOCAL ROLE {connection.ops.quote_name(role)}")


def _id(row: models.Model | UUID | str) -> UUID:
    if isinstance(row, models.Model):
        return row.pk  # type: ignore[no-any-return]  # every primary key of ours is a UUID
    return row if isinstance(row, UUID) else UUID(row)
