"""Erases a person in place: what names them goes, what they made stays, under their annotator name or a pseudonym.

An organisation erases what it holds itself; the account is the person's, and everywhere at once.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from allauth.account.models import EmailAddress
from django.contrib.admin.models import LogEntry
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.actions.organisations import NotAPerson, change_member
from accounts.held_work import count_held
from accounts.models import ApiToken, AuditEvent, IdempotencyKey, Invitation, Membership, Session, User
from accounts.sessions import live_sessions
from assignments.models import AssignmentState, Draft, Reservation, Submission
from exports import storage
from exports.models import Export
from jobs.models import Schedule
from leaving.models import PersonalCopy
from leaving.scrubbing import ERASED, scrub
from tenancy import audit
from tenancy.actor import acting_in, active_organisation, current, on_commit, removing, unscoped
from tenancy.catalogue import references
from tenancy.errors import Refused
from tenancy.models import new_id
from tenancy.roles import Role


class ErasedAlready(Refused):
    code = "erased_already"


class StillOwner(Refused):
    """Somebody has to own each organisation."""

    code = "still_owner"


@dataclass(frozen=True)
class Consequences:
    """What erasing would do in the active organisation, as numbers."""

    annotations: int
    held: int
    drafts: int
    sessions: int
    tokens: int
    invitations: int
    files: int
    """Exports with the annotator name, which go where a pseudonym is chosen."""


def consequences(membership: Membership) -> Consequences:
    """What `erase_member` would do."""
    user = membership.user
    return Consequences(
        annotations=Submission.objects.not_withdrawn().filter(assignment__user=user).count(),
        held=count_held(user),
        drafts=_unsubmitted_drafts(user).count(),
        sessions=live_sessions(user).count(),
        tokens=ApiToken.objects.filter(membership=membership).count(),
        invitations=_their_invitations(user).count(),
        files=_exports_with(user).count(),
    )


def erase_member(*, membership: Membership, keeps_name: bool, by_owner: bool) -> Membership:
    """End the membership and take out of the active organisation whatever names the person: the account stays theirs,
    and nothing here points to it any more.

    With `keeps_name` the annotator name stays with what they made; without, a pseudonym takes its place, in stored
    figures as well, and exported files with the old one are removed. Held tasks go back at once. Raises NotAPerson for
    a service account, ErasedAlready, LastOwner and NotForAdmins.
    """
    user = membership.user
    if membership.role == Role.SERVICE:
        raise NotAPerson("A service account is no person. Switch it off instead.")
    if user.erased_at is not None:
        raise ErasedAlready(f"{membership} is erased already.")
    with transaction.atomic():
        _end(membership, by_owner=by_owner)
        new_name = _erase_here(membership, keeps_name=keeps_name, words=_naming_words(user))
        nobody = User(username=f"erased-{new_id().hex}", is_active=False, erased_at=timezone.now())
        nobody.set_unusable_password()
        nobody.save(force_insert=True)
        _point_elsewhere(user, nobody)
        _note(membership, keeps_name=keeps_name)
    membership.user, membership.annotator_name = nobody, new_name
    return membership


def erase_account(*, user: User, keeps_name: bool) -> int:
    """Erase the person everywhere: in every organisation as `erase_member` does, and the account itself. Returns in
    how many organisations.

    The row of the account stays, without a name, an address or a password, because annotations and audit trails point
    to it. Raises ErasedAlready, and StillOwner for the last owner of an organisation.
    """
    if user.erased_at is not None:
        raise ErasedAlready("This account is erased already.")
    words = _naming_words(user)
    with transaction.atomic():
        organisations = _their_organisations(user)
        for organisation, _ in organisations:
            with acting_in(organisation, current().user):
                _demand_other_owner(user)
        for organisation, is_member in organisations:
            with acting_in(organisation, current().user):
                membership = Membership.objects.filter(user=user).select_related("user").first() if is_member else None
                if membership is None:
                    _remove_invitations(user)
                    _forget_answers(organisation)
                    with removing(f"person {user.pk} is erased in organisation {organisation}"):
                        scrub(organisation, dict.fromkeys(words, ERASED))
                    continue
                _end(membership, by_owner=True)
                _erase_here(membership, keeps_name=keeps_name, words=words)
                _note(membership, keeps_name=keeps_name)
        _empty_account(user)
    return len(organisations)


def pseudonym() -> str:
    """An annotator name that says nothing of anybody."""
    return f"annotator_{secrets.token_hex(5)}"


def _end(membership: Membership, *, by_owner: bool) -> None:
    if membership.is_active:
        change_member(
            membership=membership,
            role=Role(membership.role),
            annotator_name=membership.annotator_name,
            is_active=False,
            by_owner=by_owner,
        )
    elif membership.role == Role.OWNER and not by_owner:
        # Nothing is ended, but the row is an owner's all the same.
        change_member(
            membership=membership,
            role=Role(membership.role),
            annotator_name=membership.annotator_name,
            is_active=False,
            by_owner=False,
        )


def _erase_here(membership: Membership, *, keeps_name: bool, words: list[str]) -> str:
    """Everything of the active organisation but the row of the account; returns the annotator name from now on."""
    user, organisation = membership.user, cast(UUID, membership.organisation_id)
    old_name, new_name = membership.annotator_name, membership.annotator_name if keeps_name else pseudonym()
    files = list(_exports_with(user)) if not keeps_name else []
    copies = list(PersonalCopy.objects.filter(membership=membership))
    folders = [row.folder for row in files] + [copy.folder for copy in copies]
    about = {user.pk, membership.pk, *ApiToken.objects.filter(membership=membership).values_list("pk", flat=True)}
    about.update(_their_invitations(user).values_list("pk", flat=True))
    _remove_invitations(user)
    _forget_answers(organisation)
    with removing(f"person {user.pk} is erased in organisation {organisation}"):
        # What stays visible under a name that is kept is no secret any more.
        kept = {new_name.lower()}
        changes = {word: ERASED for word in words if word.lower() not in kept}
        if not keeps_name:
            changes[old_name] = new_name
        _unsubmitted_drafts(user).delete()
        Reservation.objects.filter(organisation=organisation, user=user).update(until=timezone.now())
        tokens = ApiToken.objects.filter(organisation=organisation, membership=membership)
        tokens.delete()
        PersonalCopy.objects.filter(pk__in=[copy.pk for copy in copies]).delete()
        Export.objects.filter(pk__in=[row.pk for row in files]).update(removed_at=timezone.now(), parts=[])
        events = AuditEvent.objects.filter(organisation=organisation)
        events.filter(person=user).update(person_name="")
        events.filter(target_id__in=about).update(target_label="")
        Membership.objects.filter(pk=membership.pk).update(annotator_name=new_name, ended_because="")
        _leave_lists_of_recipients(user, organisation)
        scrub(organisation, changes)
    for folder in folders:
        on_commit(lambda folder=folder: storage.remove_folder(folder))  # type: ignore[misc]  # its own folder each
    return new_name


def _note(membership: Membership, *, keeps_name: bool) -> None:
    """That it happened, by whom and to which row; no name."""
    audit.record("person.erased", None, membership=str(membership.pk), name="kept" if keeps_name else "replaced")


def _empty_account(user: User) -> None:
    Session.objects.filter(account=user).delete()
    EmailAddress.objects.filter(user=user).delete()
    LogEntry.objects.filter(user=user).delete()
    user.username, user.email, user.name = f"erased-{user.pk.hex}", "", ""
    user.is_active, user.last_login, user.erased_at = False, None, timezone.now()
    user.set_unusable_password()
    user.save()


def _naming_words(user: User) -> list[str]:
    """What names the person in a text; longer ones first, for an address has the user name in it."""
    return sorted(filter(None, {user.email, user.username, user.name}), key=len, reverse=True)


def _unsubmitted_drafts(user: User) -> "QuerySet[Draft]":
    rows = Draft.objects.filter(assignment__organisation=active_organisation(), assignment__user=user)
    return rows.exclude(assignment__state=AssignmentState.SUBMITTED)


def _exports_with(user: User) -> "QuerySet[Export]":
    """Kept files of projects in which the person has annotated, by their annotator name."""
    projects = Submission.objects.filter(organisation=active_organisation(), assignment__user=user).values("project")
    rows = Export.objects.filter(organisation=active_organisation(), removed_at=None, ready_at__isnull=False)
    # Without has_key a row that says nothing of pseudonyms would be neither the one nor the other.
    named = Q(options__has_key="pseudonyms") & Q(options__pseudonyms="yes")
    return rows.filter(project__in=projects).exclude(pk__in=rows.filter(named).values("pk"))


def _their_invitations(user: User) -> "QuerySet[Invitation]":
    """Those that the person accepted, and open ones to their address where no other account claims it."""
    theirs = Q(accepted_by=user)
    if user.email and not User.objects.filter(email__iexact=user.email).exclude(pk=user.pk).exists():
        theirs |= Q(email__iexact=user.email)
    return Invitation.objects.filter(theirs, organisation=active_organisation()).exclude(email="")


def _remove_invitations(user: User) -> None:
    rows = list(_their_invitations(user))
    Invitation.objects.filter(organisation=active_organisation(), created_by=user, accepted_at=None).update(
        revoked_at=timezone.now()
    )
    with removing(f"invitations of person {user.pk} in organisation {active_organisation()}"):
        Membership.objects.filter(joined_by__in=rows).update(joined_by=None)
        Invitation.objects.filter(pk__in=[row.pk for row in rows]).delete()


def _forget_answers(organisation: UUID) -> None:
    """What programs were answered within a day may name anybody, and is packed."""
    IdempotencyKey.objects.filter(organisation=organisation).delete()


def _leave_lists_of_recipients(user: User, organisation: UUID) -> None:
    for kind in _schedules():
        for schedule in kind.objects.filter(organisation=organisation, recipients__contains=[{"person": str(user.pk)}]):
            schedule.recipients = [entry for entry in schedule.recipients if entry.get("person") != str(user.pk)]
            schedule.save(update_fields=["recipients"])


def _schedules() -> Iterable[type[Schedule]]:
    return Schedule.__subclasses__()


def _point_elsewhere(user: User, nobody: User) -> None:
    """Whatever points to the account in the active organisation points to nobody's from now on."""
    organisation = active_organisation()
    with (
        removing(f"person {user.pk} becomes {nobody.pk} in organisation {organisation}"),
        connection.cursor() as cursor,
    ):
        for reference in references():
            if reference.target != User._meta.db_table or not _is_of_organisations(reference.table):
                continue
            table, column = (connection.ops.quote_name(name) for name in (reference.table, reference.column))
            cursor.execute(
                f"UPDATE {table} SET {column} = %s WHERE organisation_id = %s AND {column} = %s",  # noqa: S608
                [nobody.pk, organisation, user.pk],
            )


def _is_of_organisations(table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_attribute WHERE attrelid = %s::regclass AND attname = 'organisation_id'", [table]
        )
        return cursor.fetchone() is not None


def _their_organisations(user: User) -> list[tuple[UUID, bool]]:
    """Where the person is or was a member, and where they are invited, each with which of the two it is."""
    with unscoped(f"organisations that hold something of person {user.pk}"):
        members = set(Membership.objects.filter(user=user).values_list("organisation", flat=True))
        invited = set(Invitation.objects.filter(accepted_by=user).values_list("organisation", flat=True))
        if user.email and not User.objects.filter(email__iexact=user.email).exclude(pk=user.pk).exists():
            invited.update(Invitation.objects.filter(email__iexact=user.email).values_list("organisation", flat=True))
    return [(organisation, organisation in members) for organisation in sorted(members | invited)]


def _demand_other_owner(user: User) -> None:
    owners = Membership.objects.owners().active().select_related("organisation")
    rows = list(owners.filter(organisation=active_organisation()))
    if len(rows) == 1 and rows[0].user_id == user.pk:
        raise StillOwner(
            f"You are the last owner of {rows[0].organisation.name}. Make another member an owner first, or close the "
            "organisation."
        )
