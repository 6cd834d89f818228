"""Invitations: offered by an admin, accepted by whoever holds the link, revoked, or renewed with another link.

A link carries the id of its organisation, which confines every look-up to that organisation's rows; the hash of its
secret proves the rest. So an anonymous request never bypasses row-level security: it reads one row by its hash, and
changes rows only after that row has been found acceptable and locked.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.actions.organisations import NotForAdmins, add_member, change_member
from accounts.actions.people import create_account
from accounts.invitation_links import InvitationToken
from accounts.models import Invitation, Membership, Organisation, User
from accounts.models.invitations import LASTS
from accounts.models.organisations import MembershipQuerySet
from tenancy import audit
from tenancy.actor import Actor, acting, acting_in, current
from tenancy.errors import Refused
from tenancy.roles import Role


class InvitationOver(Refused):
    code = "invitation_over"
    status = 404


class InvitationChanged(Refused):
    code = "invitation_changed"


class CannotJoin(Refused):
    """The invitation is good, and this account cannot use it; another one may."""


class AlreadyMember(CannotJoin):
    code = "already_member"


class AnnotatorNameTaken(CannotJoin):
    code = "annotator_name_taken"


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
    reader_belongs: bool
    """Whether the person who reads it is a member already."""


def invite(*, email: str, role: Role, annotator_name: str, by_owner: bool) -> tuple[Invitation, InvitationToken]:
    """Offer a membership of the active organisation. The token is in no row: whoever asked has to show it now.

    Raises ValidationError for who is a member or invited already and for names that are taken here, and NotForAdmins
    where somebody else than an owner offers to make one. Accounts outside the organisation make no difference.
    """
    _only_owners_make_owners(role, by_owner=by_owner)
    user_id, organisation_id = _acting_member()
    token = InvitationToken.new(organisation_id)
    invitation = Invitation(
        email=email,
        role=role,
        annotator_name=annotator_name,
        created_by_id=user_id,
        secret_sha256=token.digest,
        expires_at=timezone.now() + LASTS,
    )
    invitation.full_clean()
    try:
        with transaction.atomic():
            invitation.save(force_insert=True)
            audit.record("invitation.made", invitation, role=role, annotator_name=annotator_name)
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
        locked.secret_sha256, locked.created_by_id, locked.expires_at = token.digest, user_id, timezone.now() + LASTS
        locked.save(update_fields=["secret_sha256", "created_by", "expires_at"])
        audit.record("invitation.renewed", locked)
    return locked, token


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
        return Offer(
            token=token,
            organisation_name=invitation.organisation.name,
            organisation_slug=invitation.organisation.slug,
            email=invitation.email,
            role=Role(invitation.role),
            annotator_name=invitation.annotator_name,
            inviter=str(invitation.created_by),
            expires_at=invitation.expires_at,
            reader_belongs=reader is not None and _memberships(token, reader).active().exists(),
        )


def organisation_joined_by(token: InvitationToken, *, user: User) -> Organisation | None:
    """The organisation, where the person used this very link and is a member since; else None."""
    with acting(Actor(readable=(token.organisation_id,))):
        used = Invitation.objects.filter(
            organisation=token.organisation_id, secret_sha256=token.digest, accepted_by=user
        )
        membership = _memberships(token, user).active().select_related("organisation").first()
        return membership.organisation if membership is not None and used.exists() else None


def accept_invitation(*, token: InvitationToken, user: User) -> Membership:
    """Make the person a member by the link, which is used up.

    A former member is one again, with the invitation's role and annotator name. Raises InvitationOver, AlreadyMember
    or AnnotatorNameTaken, and then nothing is used up.
    """
    with acting_in(token.organisation_id, user):
        return _join(_claimed(token), user)


def accept_with_new_account(*, token: InvitationToken, name: str, password: str) -> User:
    """Make an account that claims the invitation's address, and a member of it. Raises as `accept_invitation` does,
    and then there is no account either.
    """
    with acting_in(token.organisation_id):
        invitation = _claimed(token)
        user = create_account(email=invitation.email, name=name, password=password)
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
    if membership is not None and membership.is_active:
        raise AlreadyMember(f"The account {user.username} belongs to this organisation already.")
    role, name = Role(invitation.role), invitation.annotator_name
    try:
        with transaction.atomic():
            if membership is None:
                membership = add_member(user=user, role=role, annotator_name=name)
            else:
                # The right to make an owner was the inviter's, and is one of the conditions of `acceptable`.
                membership = change_member(
                    membership=membership, role=role, annotator_name=name, is_active=True, by_owner=True
                )
    except (ValidationError, IntegrityError):
        raise AnnotatorNameTaken(
            f"The annotator name {name} belongs to somebody else in this organisation. If you were a member before, "
            "sign in with the account that you had. Otherwise ask for an invitation with another name."
        ) from None
    invitation.accepted_at, invitation.accepted_by = timezone.now(), user
    invitation.save(update_fields=["accepted_at", "accepted_by"])
    audit.record("invitation.accepted", invitation, membership=str(membership.pk))
    return membership


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
