"""Closes an organisation: frozen first, its data offered, then removed in batches until nothing is left anywhere.

The row of the organisation goes last: as long as it is there, the removal goes on where it was stopped.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import cast
from uuid import UUID

import structlog
from django.conf import settings
from django.core.files.storage import Storage, default_storage, storages
from django.db import connection, transaction
from django.utils import timezone

from accounts.actions.organisations import NotForAdmins
from accounts.models import Membership, Organisation, Project, User
from assignments.models import Submission
from exports.exporting import ExportAnnotations
from exports.models import Destination, Export, ExportSchedule
from jobs.actions import cancel_job
from jobs.models import Job, Schedule
from leaving.copies import MakePersonalCopy
from leaving.searching import every_file
from tenancy import audit
from tenancy.actor import Actor, current, removing
from tenancy.catalogue import references_to
from tenancy.errors import Refused
from tenancy.removal import ROWS_AT_ONCE, counted_of_organisation, remove_all, remove_some_of_organisation
from tenancy.roles import Role
from traces.models import Trace

log = structlog.get_logger(__name__)

FOLDERS = ("imports", "exports", "personal")
"""Of the storages: below each an organisation has a folder with its id."""
GOES_ON = (ExportAnnotations.name, MakePersonalCopy.name)
_PAUSED = "The organisation is being closed."


class NotFrozen(Refused):
    """An organisation is frozen before it is removed, so that its people see it coming."""

    code = "not_frozen"


class SomethingLeft(Exception):  # noqa: N818  (a result, which an operator reads)
    """After a removal there is still something; says what."""


@dataclass(frozen=True)
class Extent:
    """What closing the organisation would remove."""

    projects: int
    traces: int
    annotations: int
    people: int
    files: int
    schedules: list[str]
    """Names of schedules that send files elsewhere: what they sent stays there."""


@dataclass(frozen=True)
class Removed:
    rows: int
    files: int


def extent() -> Extent:
    """Of the active organisation."""
    elsewhere = ExportSchedule.objects.not_deleted().exclude(destination=Destination.KEPT)
    return Extent(
        projects=Project.objects.count(),
        traces=Trace.objects.count(),
        annotations=Submission.objects.not_withdrawn().count(),
        people=Membership.objects.active().exclude(role=Role.SERVICE).count(),
        files=Export.objects.ready().count(),
        schedules=list(elsewhere.order_by("name").values_list("name", flat=True)),
    )


def freeze_organisation(*, organisation: Organisation, by_owner: bool, days: int | None = None) -> Organisation:
    """Let nothing new into the organisation, and remove it after so many days (ORGANISATION_REMOVAL_DAYS).

    It can still be read and exported. Work in the background ends, but for exports; schedules pause. Freezing twice is
    freezing once. Raises NotForAdmins.
    """
    if not by_owner:
        raise NotForAdmins("Only an owner closes the organisation.")
    days = settings.ORGANISATION_REMOVAL_DAYS if days is None else days
    with transaction.atomic():
        now = timezone.now()
        with removing(f"organisation {organisation.pk} is frozen by {current().user}"):
            changed = Organisation.objects.filter(pk=organisation.pk, frozen_at=None).update(
                frozen_at=now, frozen_by=current().user, removal_at=now + timedelta(days=days)
            )
            if changed:
                for kind in Schedule.__subclasses__():
                    rows = kind.objects.filter(organisation=organisation, paused_at=None)
                    rows.update(paused_at=now, paused_because=_PAUSED)
        if changed:
            for job in Job.objects.open().exclude(kind__in=GOES_ON):
                cancel_job(job=job, reason="the organisation is being closed")
            audit.record("organisation.frozen", organisation, days=days)
    organisation.refresh_from_db()
    return organisation


def thaw_organisation(*, organisation: Organisation, by_owner: bool) -> Organisation:
    """Take a freeze back while nothing is removed: everything is as it was, but for jobs that ended. Raises
    NotForAdmins."""
    if not by_owner:
        raise NotForAdmins("Only an owner opens the organisation again.")
    with transaction.atomic(), removing(f"organisation {organisation.pk} is opened again by {current().user}"):
        rows = Organisation.objects.filter(pk=organisation.pk, removal_at__gt=timezone.now())
        if rows.update(frozen_at=None, frozen_by=None, removal_at=None):
            for kind in Schedule.__subclasses__():
                paused = kind.objects.filter(organisation=organisation, paused_because=_PAUSED)
                paused.update(paused_at=None, paused_because="")
            audit.record("organisation.opened_again", organisation)
    organisation.refresh_from_db()
    return organisation


def remove_due(actor: Actor) -> bool:
    """What the sweep does: remove the actor's organisation if its days are over, for as long as a task may take;
    returns whether it is gone."""
    organisation = Organisation.objects.filter(
        pk=cast(UUID, actor.organisation), removal_at__lte=timezone.now()
    ).first()
    if organisation is None:
        return False
    ends = time.monotonic() + settings.JOBS_TASK_BUDGET_SECONDS
    return remove_organisation(organisation=organisation, goes_on=lambda: time.monotonic() < ends) is not None


def remove_organisation(
    *,
    organisation: Organisation,
    goes_on: Callable[[], bool] = lambda: True,
    said: Callable[[str], None] = lambda sentence: None,
    at_most: int = ROWS_AT_ONCE,
) -> Removed | None:
    """Remove everything of a frozen organisation, then itself; None where `goes_on` ended it before. Call it outside
    every transaction: each batch has its own, and a process that is killed loses one.

    Afterwards every table and folder was looked at: raises SomethingLeft where there is still something. Raises
    NotFrozen.
    """
    if organisation.frozen_at is None:
        raise NotFrozen(f"{organisation.slug} is not frozen. Freeze it first, and let its people take their data.")
    rows = files = 0
    about = f"organisation {organisation.pk}, frozen by {organisation.frozen_by}"
    while goes_on():
        with removing(f"rows of {about}"):
            removed = remove_some_of_organisation(organisation.pk, at_most=at_most)
        rows += removed
        if removed:
            said(f"{rows:,} rows removed")
            continue
        files = _remove_files(organisation.pk)
        if left := still_there(organisation.pk):
            raise SomethingLeft(f"Still there: {', '.join(left)}. Run it again.")
        with removing(f"{about}: removed, {rows} rows and {files} files in the last run"):
            _remove_accounts_of_nobody()
            remove_all(Organisation.objects.filter(pk=organisation.pk))
        log.info("leaving.organisation_removed", organisation=str(organisation.pk), rows=rows, files=files)
        return Removed(rows, files)
    return None


def still_there(organisation: UUID) -> list[str]:
    """What there is of the organisation, by table and by storage; nothing after a removal."""
    with removing(f"whether anything is left of organisation {organisation}"):
        tables = counted_of_organisation(organisation)
    files = {name for storage in _storages() for name in _organisation_files(storage, organisation)}
    return [*(f"{count} rows in {table}" for table, count in sorted(tables.items())), *sorted(files)]


def _remove_files(organisation: UUID) -> int:
    removed = 0
    for storage in _storages():
        for name in list(_organisation_files(storage, organisation)):
            storage.delete(name)
            removed += 1
        for folder in FOLDERS:
            _remove_folders(storage, f"{folder}/{organisation}")
    return removed


def _remove_folders(storage: Storage, folder: str) -> None:
    try:
        inner, _ = storage.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in inner:
        _remove_folders(storage, f"{folder}/{name}")
    storage.delete(folder)


def _organisation_files(storage: Storage, organisation: UUID) -> list[str]:
    return [name for folder in FOLDERS for name in every_file(storage, f"{folder}/{organisation}")]


def _storages() -> list[Storage]:
    return [default_storage, storages["exports"]]


def _remove_accounts_of_nobody() -> None:
    """Service accounts, and those that stood for erased people, to which nothing points any more."""
    pointing = [
        f"NOT EXISTS (SELECT FROM {connection.ops.quote_name(reference.table)} WHERE"
        f" {connection.ops.quote_name(reference.column)} = person.id)"
        for reference in references_to()[User._meta.db_table]
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM accounts_user person WHERE username ~ '^(service|erased)-[0-9a-f]{32}$' AND "  # noqa: S608
            + " AND ".join(pointing)
        )
