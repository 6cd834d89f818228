"""Organisations and who belongs to them."""

import secrets

from django.db import transaction
from django.utils import timezone

from accounts.actions.storing import store_checked
from accounts.held_work import give_back_held
from accounts.models import ApiToken, Invitation, Membership, Organisation, Project, User
from accounts.models.members import members_with
from accounts.sessions import end_sessions
from tenancy import audit
from tenancy.actor import acting_in, current
from tenancy.errors import Refused
from tenancy.models import new_id
from tenancy.roles import Right, Role


class LastOwner(Refused):
    code = "last_owner"


class NotAPerson(Refused):
    code = "not_a_person"


class PersonErased(Refused):
    """Nobody is behind the membership any more."""

    code = "person_erased"


class NotForAdmins(Refused):
    code = "owner_needed"
    status = 403


def create_organisation(*, slug: str, name: str) -> Organisation:
    """Store an organisation without members. Raises ValidationError for a slug that is taken or malformed."""
    organisation = Organisation(slug=slug, name=name)
    with transaction.atomic():
        store_checked(organisation)
        with acting_in(organisation):
            audit.record("organisation.created", organisation)
    return organisation


def add_member(*, user: User, role: Role, annotator_name: str, joined_by: Invitation | None = None) -> Membership:
    """Make the person a member of the active organisation. Raises ValidationError for a name that is taken."""
    membership = Membership(user=user, role=role, annotator_name=annotator_name, joined_by=joined_by)
    with transaction.atomic():
        store_checked(membership)
        audit.record("membership.added", membership, role=role)
    return membership


def add_service_account(*, name: str) -> Membership:
    """A member without a login, as whom API tokens act and automated sources answer. It sees the projects that it is
    put on. Raises ValidationError for a name that is taken."""
    with transaction.atomic():
        user = User(username=f"service-{new_id().hex}", name=name[:120])
        user.set_unusable_password()
        user.save(force_insert=True)
        return add_member(user=user, role=Role.SERVICE, annotator_name=name)


def change_member(
    *,
    membership: Membership,
    role: Role,
    annotator_name: str,
    is_active: bool,
    by_owner: bool,
    because: str = "",
    joined_by: Invitation | None = None,
) -> Membership:
    """Change what a member is, and what the member's annotations are signed with from now on.

    Only an owner makes, changes or ends an owner (NotForAdmins), and the last active owner stays one (LastOwner); a
    service account stays one, and nobody becomes one (NotAPerson).
    When the membership ends, the tasks that the person holds are others' at once; `released` says how many. `because`
    stands in the audit trail and on the page that the person then sees.
    """
    with transaction.atomic():
        # One change of owners at a time, so that two owners cannot remove each other.
        owners = list(Membership.objects.owners().active().select_for_update().values_list("pk", flat=True))
        before = Membership.objects.get(pk=membership.pk)
        if Role.OWNER in (before.role, role) and not by_owner:
            raise NotForAdmins("Only an owner makes, changes or ends the membership of an owner. Ask one to do this.")
        if (before.role == Role.SERVICE) != (role == Role.SERVICE):
            raise NotAPerson(
                "A service account has no login, and a person has one: neither becomes the other. Make another one."
            )
        if owners == [membership.pk] and not (role == Role.OWNER and is_active):
            raise LastOwner("This is the organisation's last owner. Make another member an owner first.")
        if is_active and membership.user.erased_at is not None:
            raise PersonErased(f"The person behind {before} was erased. Who comes back is invited as somebody new.")
        membership.role, membership.annotator_name, membership.is_active = role, annotator_name, is_active
        if before.is_active and not is_active:
            membership.ended_at, membership.ended_because = timezone.now(), because[:200]
            membership.ended_by = _acting_name()
        elif is_active and not before.is_active:
            membership.ended_at, membership.ended_because, membership.ended_by = None, "", ""
        if joined_by is not None:
            membership.joined_by = joined_by
        store_checked(membership)
        changed = {
            field: [str(getattr(before, field)), str(getattr(membership, field))]
            for field in ("role", "annotator_name", "is_active")
            if getattr(before, field) != getattr(membership, field)
        }
        if before.is_active and not is_active:
            end_sessions(membership.user)
            # Switched on again, the member needs new ones: whoever had these may have kept them.
            ended = ApiToken.objects.filter(membership=membership, revoked_at=None).update(revoked_at=timezone.now())
            membership.released = give_back_held(membership.user)
            changed["released"] = [str(membership.released)]
            if ended:
                changed["tokens"] = [str(ended)]
            if because:
                changed["because"] = [because[:200]]
        elif before.role != role and (released := _give_back_what_the_role_may_not_hold(membership)):
            membership.released = released
            changed["released"] = [str(released)]
        if changed:
            audit.record("membership.changed", membership, **changed)
    return membership


def _give_back_what_the_role_may_not_hold(membership: Membership) -> int:
    """Of projects in which the member annotates no more; returns how many tasks that were."""
    return sum(
        give_back_held(membership.user, project)
        for project in Project.objects.defer("draft")
        if not members_with(Right.ANNOTATE, project).filter(pk=membership.pk).exists()
    )


def _acting_name() -> str:
    """The annotator name of who acts, as the person whose membership ends may read it."""
    name = Membership.objects.filter(user=current().user).values_list("annotator_name", flat=True).first()
    return name or ""


def new_password() -> str:
    """A password for a person to whom it is shown once: 96 bits, and easy to type."""
    return "-".join(secrets.token_hex(3) for _ in range(4))
