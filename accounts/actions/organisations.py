"""Organisations and who belongs to them."""

import secrets

from django.db import transaction

from accounts.endings import give_everything_back
from accounts.models import Membership, Organisation, User
from tenancy import audit
from tenancy.actor import acting_in
from tenancy.errors import Refused
from tenancy.roles import Role


class LastOwner(Refused):
    code = "last_owner"


class NotForAdmins(Refused):
    code = "owner_needed"
    status = 403


def create_organisation(*, slug: str, name: str) -> Organisation:
    """Store an organisation without members. Raises ValidationError for a slug that is taken or malformed."""
    organisation = Organisation(slug=slug, name=name)
    organisation.full_clean()
    with transaction.atomic():
        organisation.save()
        with acting_in(organisation):
            audit.record("organisation.created", organisation)
    return organisation


def add_member(*, user: User, role: Role, annotator_name: str) -> Membership:
    """Make the person a member of the active organisation. Raises ValidationError for a name that is taken."""
    membership = Membership(user=user, role=role, annotator_name=annotator_name)
    membership.full_clean()
    with transaction.atomic():
        membership.save()
        audit.record("membership.added", membership, role=role)
    return membership


def change_member(
    *, membership: Membership, role: Role, annotator_name: str, is_active: bool, by_owner: bool
) -> Membership:
    """Change what a member is, and what the member's annotations are signed with from now on.

    Only an owner makes, changes or ends an owner (NotForAdmins), and the last active owner stays one (LastOwner).
    When the membership ends, the tasks that the person holds are others' at once; `released` says how many.
    """
    with transaction.atomic():
        # One change of owners at a time, so that two owners cannot remove each other.
        owners = list(Membership.objects.owners().active().select_for_update().values_list("pk", flat=True))
        before = Membership.objects.get(pk=membership.pk)
        if Role.OWNER in (before.role, role) and not by_owner:
            raise NotForAdmins("Only an owner makes, changes or ends the membership of an owner. Ask one to do this.")
        if owners == [membership.pk] and not (role == Role.OWNER and is_active):
            raise LastOwner("This is the organisation's last owner. Make another member an owner first.")
        membership.role, membership.annotator_name, membership.is_active = role, annotator_name, is_active
        membership.full_clean()
        membership.save()
        changed = {
            field: [str(getattr(before, field)), str(getattr(membership, field))]
            for field in ("role", "annotator_name", "is_active")
            if getattr(before, field) != getattr(membership, field)
        }
        if before.is_active and not is_active:
            membership.released = give_everything_back(membership.user)
            changed["released"] = [str(membership.released)]
        if changed:
            audit.record("membership.changed", membership, **changed)
    return membership


def new_password() -> str:
    """A password for a person to whom it is shown once: 96 bits, and easy to type."""
    return "-".join(secrets.token_hex(3) for _ in range(4))
