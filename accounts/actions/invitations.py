"""Invitations: offered by an admin, accepted by whoever holds the link, revoked, or renewed with another link.

A link carries the id of its organisation, which confines every look-up to that organisation's rows; the hash of its
secret proves the rest. So an anonymous request never bypasses row-level security: it reads one row by its hash, and
changes rows only after that row has been found acceptable and locked.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import count
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from accounts.actions.members import put_on_project
from accounts.actions.organisations import NotForAdmins, add_member, change_member
from accounts.actions.people import create_account
from accounts.invitation_links import InvitationToken
from accounts.invited_batches import batches_to_name, is_named, name_in_batch
from accounts.models import Invitation, InvitationProject, Membership, Organisation, Project, ProjectMember, User
from accounts.models.invitations import LASTS
from accounts.models.organisations import MembershipQuerySet
from tenancy import audit
from tenancy.actor import Actor, acting, acting_in, current
from tenancy.errors import Refused
from tenancy.roles import ProjectRole, Right, Role, project_roles_with
from tenancy.statements import executed


class InvitationOver(Refused):
    code = "invitation_over"
    status = 404


class InvitationChanged(Refused):
    code = "invitation_changed"


class BadNumber(Refused):
    code = "bad_number"
    status = 400


class CannotBeNamed(Refused):
    """The invitation names a batch in which nobody can be named, or not as what they join."""

    code = "cannot_be_named"
    status = 422


class CannotJoin(Refused):
    """The invitation is good, and this account cannot use it; another one may."""


class AlreadyMember(CannotJoin):
    code = "already_member"


class TakenOff(CannotJoin):
    code = "taken_off"


class AnnotatorNameTaken(CannotJoin):
    code = "annotator_name_taken"


class Ending(StrEnum):
    """Why a link of many opens nothing more."""

    FULL = "full"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True)
class Offer:
    """What an acceptable invitation says to whoever holds its link."""

    token: InvitationToken
    organisation_name: str
    organisation_slug: str
    email: str
    role: Role
    annotator_name: str
    inviter: str
    expires_at: datetime
    projects: tuple[str, ...]
    """Each with what whoever joins is there, as in "Coding Agent Review, annotator, named in the batch Spring"."""
    places: int
    taken: int
    reader_belongs: bool
    """Whether the person who reads it is a member already, of all that it is of."""


@dataclass(frozen=True)
class ProjectGrant:
    """What whoever joins is in a project, and the number of the batch in which they are named, if any."""

    project: Project
    role: ProjectRole = ProjectRole.ANNOTATOR
    may_export: bool = False
    batch: int | None = None


def invite(
    *,
    email: str,
    role: Role,
    annotator_name: str,
    by_owner: bool,
    projects: Collection[ProjectGrant] = (),
    places: int = 1,
    lasts: timedelta = LASTS,
) -> tuple[Invitation, InvitationToken]:
    """Offer a membership of the active organisation, and of these projects. The token is in no row: whoever asked has
    to show it now.

    Without an address the link is for as many people as it has `places`, and `annotator_name` is what the names begin
    with that they are given in turn.

    An address may be invited to several projects. Invitations of the address to nothing else than this one is of, by
    which nobody could join any more, because they expired or their maker may invite no longer, are revoked.

    Raises ValidationError for who is a member or invited already and for names that are taken here, and NotForAdmins
    where somebody else than an owner offers to make one, and CannotBeNamed for a batch in which they cannot be.
    Accounts outside the organisation make no difference.
    """
    for place in projects:
        _demand_batch(place)
    _only_owners_make_owners(role, by_owner=by_owner)
    user_id, organisation_id = _acting_member()
    token = InvitationToken.new(organisation_id)
    invitation = Invitation(
        email=email,
        role=role,
        annotator_name=annotator_name,
        created_by_id=user_id,
        secret_sha256=token.digest,
        expires_at=timezone.now() + lasts,
        places=places,
    )
    invitation.brings = [place.project for place in projects]
    try:
        with transaction.atomic():
            # One after another: projects and names of two invitations are compared before either is there.
            executed("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"invitations of {organisation_id}"])
            if email.strip():
                _end_useless(email.strip().lower(), invitation.brings)
            # The database checks its constraints itself; asking for each one before took half the time.
            invitation.full_clean(validate_constraints=False)
            invitation.save(force_insert=True)
            for place in projects:
                InvitationProject.objects.create(
                    invitation=invitation,
                    project=place.project,
                    role=place.role,
                    may_export=place.may_export,
                    batch_number=place.batch,
                )
            audit.record(
                "invitation.made",
                invitation,
                role=role,
                annotator_name=annotator_name,
                **({"projects": [place.project.slug for place in projects]} if projects else {}),
                **({"places": places} if places > 1 else {}),
            )
    except IntegrityError:
        raise InvitationChanged(
            "Somebody else has just invited this address, or given this annotator name away. Look at the list."
        ) from None
    return invitation, token


def renew_invitation(*, invitation: Invitation, by_owner: bool) -> tuple[Invitation, InvitationToken]:
    """Make another link, in the name of the acting person, which lasts from now on; the old one stops working at once.

    Raises InvitationChanged where it was accepted or revoked meanwhile, and NotForAdmins as `invite` does.
    """
    user_id, organisation_id = _acting_member()
    token = InvitationToken.new(organisation_id)
    with transaction.atomic():
        locked = _locked(invitation, by_owner=by_owner)
        lasts = max(LASTS, locked.expires_at - locked.created_at)
        locked.secret_sha256, locked.created_by_id, locked.expires_at = token.digest, user_id, timezone.now() + lasts
        locked.save(update_fields=["secret_sha256", "created_by", "expires_at"])
        audit.record("invitation.renewed", locked)
    return locked, token


def more_places(*, invitation: Invitation, number: int, most: int) -> Invitation:
    """Let so many people more join by a link of many, which has at most `most` places. Raises InvitationChanged, and
    BadNumber."""
    with transaction.atomic():
        locked = _locked(invitation, by_owner=False)
        if locked.email or number < 1 or locked.places + number > most:
            raise BadNumber(f"Add at least one place, and at most {most - locked.places:,}.")
        locked.places += number
        locked.save(update_fields=["places"])
        audit.record("invitation.enlarged", locked, places=locked.places)
    return locked


def revoke_invitation(*, invitation: Invitation, by_owner: bool) -> Invitation:
    """Make the link useless. Raises as `renew_invitation` does."""
    with transaction.atomic():
        locked = _locked(invitation, by_owner=by_owner)
        locked.revoked_at = timezone.now()
        locked.save(update_fields=["revoked_at"])
        audit.record("invitation.revoked", locked)
    return locked


def offer_behind(token: InvitationToken, *, reader: User | None) -> Offer | None:
    """What the link offers to the reader, who may be signed in; None where it is unknown, expired, revoked, used, or
    its maker may invite no more.

    Reads in the organisation that the link names, and writes nowhere.
    """
    with acting(Actor(readable=(token.organisation_id,))):
        invitation = (
            Invitation.objects.acceptable(timezone.now())
            .filter(organisation=token.organisation_id, secret_sha256=token.digest)
            .select_related("organisation", "created_by")
            .first()
        )
        if invitation is None:
            return None
        belonging = _memberships(token, reader).active().first() if reader is not None else None
        return Offer(
            token=token,
            organisation_name=invitation.organisation.name,
            organisation_slug=invitation.organisation.slug,
            email=invitation.email,
            role=Role(invitation.role),
            annotator_name=invitation.annotator_name,
            inviter=str(invitation.created_by),
            expires_at=invitation.expires_at,
            projects=tuple(
                f"{place.project.name}, {place.get_role_display().lower()}{_in_batch(place)}"
                for place in invitation.projects.select_related("project").order_by("project__name")
            ),
            places=invitation.places,
            taken=invitation.taken,
            reader_belongs=belonging is not None and not _offers_more(invitation, belonging),
        )


def organisation_joined_by(token: InvitationToken, *, user: User) -> Organisation | None:
    """The organisation, where the person used this very link and is a member since; else None."""
    with acting(Actor(readable=(token.organisation_id,))):
        behind = Invitation.objects.filter(organisation=token.organisation_id, secret_sha256=token.digest)
        used = behind.filter(Q(accepted_by=user) | Q(joined__user=user))
        membership = _memberships(token, user).active().select_related("organisation").first()
        return membership.organisation if membership is not None and used.exists() else None


def why_ended(token: InvitationToken) -> Ending | None:
    """Why a link of many that was good once opens nothing more; None for every other one. An invitation of one person
    tells nobody what became of it."""
    with acting(Actor(readable=(token.organisation_id,))):
        behind = Invitation.objects.filter(organisation=token.organisation_id, secret_sha256=token.digest, email="")
        row = behind.with_backing().first()
        if row is None:
            return None
        if row.revoked_at or not row.is_backed:
            return Ending.REVOKED
        if row.taken >= row.places:
            return Ending.FULL
        return Ending.EXPIRED if row.expires_at <= timezone.now() else None


def accept_invitation(*, token: InvitationToken, user: User) -> Membership:
    """Make the person a member by the link, which is used up.

    A former member is one again, with the invitation's role and annotator name. Raises InvitationOver, AlreadyMember
    or AnnotatorNameTaken, and then nothing is used up.
    """
    with acting_in(token.organisation_id, user):
        return _join(_claimed(token), user)


def accept_with_new_account(*, token: InvitationToken, name: str, password: str, email: str = "") -> User:
    """Make an account that claims the invitation's address, and a member of it; `email` is the address where the
    invitation is for many and has none. Raises as `accept_invitation` does, and then there is no account either.
    """
    with acting_in(token.organisation_id):
        invitation = _claimed(token)
        user = create_account(email=invitation.email or email, name=name, password=password)
        with acting_in(token.organisation_id, user):
            _join(invitation, user)
    return user


def _claimed(token: InvitationToken) -> Invitation:
    """The acceptable invitation, locked: of two who accept at once, the second finds it used (InvitationOver)."""
    invitation = (
        Invitation.objects.acceptable(timezone.now())
        .filter(organisation=token.organisation_id, secret_sha256=token.digest)
        .select_for_update(of=("self",))
        .first()
    )
    if invitation is None:
        raise InvitationOver("This invitation was used, renewed or revoked meanwhile. Ask for another one.")
    return invitation


def _join(invitation: Invitation, user: User) -> Membership:
    membership = Membership.objects.filter(organisation=invitation.organisation_id, user=user).first()
    if membership is not None and membership.is_active and not _offers_more(invitation, membership):
        raise AlreadyMember(f"The account {user.username} belongs to this organisation already.")
    ended = ProjectMember.objects.filter(project__in=invitation.projects.values("project"), membership=membership)
    if membership is not None and ended.filter(left_at__gt=invitation.created_at).exists():
        raise TakenOff(
            f"The account {user.username} was taken off the project after this link was made. Ask a manager of the "
            "project for another one."
        )
    role, name = Role(invitation.role), invitation.annotator_name
    if not invitation.email:
        # Who comes back keeps the name that their annotations carry.
        name = membership.annotator_name if membership else _next_name(name)
    try:
        with transaction.atomic():
            if membership is not None and membership.is_active:
                # What they are in the organisation stays, or becomes more: the link brings them into its projects.
                if _raises(invitation, membership):
                    membership = change_member(
                        membership=membership,
                        role=role,
                        annotator_name=membership.annotator_name,
                        is_active=True,
                        by_owner=True,
                    )
            elif membership is None:
                membership = add_member(user=user, role=role, annotator_name=name, joined_by=invitation)
            else:
                # The right to make an owner was the inviter's, and is one of the conditions of `acceptable`.
                membership = change_member(
                    membership=membership,
                    role=role,
                    annotator_name=name,
                    is_active=True,
                    by_owner=True,
                    joined_by=invitation,
                )
            _put_on_projects(invitation, membership)
    except (ValidationError, IntegrityError):
        raise AnnotatorNameTaken(
            f"The annotator name {name} belongs to somebody else in this organisation. If you were a member before, "
            "sign in with the account that you had. Otherwise ask for an invitation with another name."
        ) from None
    # The row is locked: of two who join at once the second counts after the first.
    invitation.taken += 1
    if invitation.taken >= invitation.places:
        invitation.accepted_at, invitation.accepted_by = timezone.now(), user
    invitation.save(update_fields=["taken", "accepted_at", "accepted_by"])
    audit.record("invitation.accepted", invitation, membership=str(membership.pk))
    return membership


def _offers_more(invitation: Invitation, membership: Membership) -> bool:
    """Whether a member of the organisation joins projects by it where they are not yet, is named in a batch, or becomes
    of the whole organisation, who is of single projects until now."""
    if _raises(invitation, membership):
        return True
    here = _projects_of(membership)
    return any(
        place.project_id not in here or _names_in_batch(place, membership, here[place.project_id])
        for place in invitation.projects.select_related("project")
    )


def _raises(invitation: Invitation, membership: Membership) -> bool:
    """Whether somebody who works on single projects becomes more in the organisation by it."""
    return membership.role == Role.MEMBER and invitation.role not in (Role.MEMBER, Role.SERVICE)


def _projects_of(membership: Membership) -> dict[UUID, str]:
    """The projects that the person is put on, with what they are there."""
    rows = ProjectMember.objects.filter(membership=membership, left_at=None)
    return dict(rows.values_list("project", "role"))


def _names_in_batch(place: InvitationProject, membership: Membership, role: str) -> bool:
    """Whether who is of the project with this role is to be named in a batch, and is not yet."""
    return (
        place.batch_number is not None
        and role in project_roles_with(Right.ANNOTATE)
        and not is_named(place.project, place.batch_number, membership.user)
    )


def _in_batch(place: InvitationProject) -> str:
    """The batch in which whoever joins is named, in words; empty for none, and for one that is over."""
    names = dict(batches_to_name(place.project)) if place.batch_number is not None else {}
    return f", named in the batch {names[place.batch_number]}" if place.batch_number in names else ""


def _end_useless(email: str, projects: Collection[Project]) -> None:
    """Revoke what is open for the address to these projects alone, or to the organisation where there is none, and
    could not be joined by. What is of other projects, too, their managers may renew."""
    rows = list(
        Invitation.objects.open().select_for_update(of=("self",)).filter(email=email).prefetch_related("projects")
    )
    working = set(Invitation.objects.acceptable(timezone.now()).filter(email=email).values_list("pk", flat=True))
    these = {project.pk for project in projects}
    for row in rows:
        named = {place.project_id for place in row.projects.all()}
        if row.pk not in working and named <= these and bool(named) == bool(these):
            row.revoked_at = timezone.now()
            row.save(update_fields=["revoked_at"])
            audit.record("invitation.revoked", row)


def _demand_batch(place: ProjectGrant) -> None:
    if place.batch is None:
        return
    if place.role not in project_roles_with(Right.ANNOTATE):
        raise CannotBeNamed(f"A {place.role.label.lower()} takes no tasks, so they are named in no batch.")
    if place.batch not in dict(batches_to_name(place.project)):
        raise CannotBeNamed(f"The project has no batch {place.batch} in which people can be named. Choose another one.")


def _put_on_projects(invitation: Invitation, membership: Membership) -> None:
    """Who is of a project already stays what they are there."""
    here = _projects_of(membership)
    for place in invitation.projects.select_related("project"):
        role = here.get(place.project_id)
        if role is None:
            role = place.role
            put_on_project(
                project=place.project,
                membership=membership,
                role=ProjectRole(role),
                may_export=place.may_export,
            )
        if place.batch_number is not None and _names_in_batch(place, membership, role):
            name_in_batch(place.project, place.batch_number, membership.user)


def _next_name(beginning: str) -> str:
    """The beginning with the next number that nobody has. The invitation is locked, and no other one that is open
    begins like it."""
    taken = {
        name.lower()
        for name in Membership.objects.filter(annotator_name__istartswith=beginning).values_list(
            "annotator_name", flat=True
        )
    }
    return next(name for number in count(1) if (name := f"{beginning}{number:02}").lower() not in taken)


def _memberships(token: InvitationToken, user: User) -> MembershipQuerySet:
    return Membership.objects.filter(organisation=token.organisation_id, user=user)


def _locked(invitation: Invitation, *, by_owner: bool) -> Invitation:
    locked = Invitation.objects.open().select_for_update().filter(pk=invitation.pk).first()
    if locked is None:
        raise InvitationChanged(f"The invitation of {invitation.email} was accepted or revoked meanwhile.")
    _only_owners_make_owners(Role(locked.role), by_owner=by_owner)
    return locked


def _only_owners_make_owners(role: Role, *, by_owner: bool) -> None:
    if role == Role.OWNER and not by_owner:
        raise NotForAdmins("Only an owner invites an owner, or ends such an invitation. Ask one to do this.")


def _acting_member() -> tuple[UUID, UUID]:
    actor = current()
    if actor.user is None or actor.organisation is None:
        raise RuntimeError("an invitation is made by a person in an organisation: open acting_in(organisation, user)")
    return actor.user, actor.organisation
