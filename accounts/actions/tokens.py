"""API tokens: made, revoked, and exchanged for the organisation and the membership that they stand for."""

import secrets
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.actions.organisations import NotForAdmins
from accounts.models import ApiToken, Membership, Project, TokenProject, User
from accounts.models.tokens import Pace, TokenText
from tenancy import audit
from tenancy.actor import NOBODY, ActiveMembership, Actor, current, enter, enter_organisation
from tenancy.errors import Refused
from tenancy.prepared import prepared
from tenancy.roles import Role, TokenScope

# Each use is not a write.
_USE_IS_NOTED_EVERY = timedelta(minutes=1)


class MembershipEnded(Refused):
    code = "membership_ended"


class NoScope(Refused):
    code = "no_scope"
    status = 400


class ExpiresTooLate(Refused):
    """A token that another token makes ends with it at the latest."""

    code = "expires_too_late"
    status = 403


class ExpiredAlready(Refused):
    code = "expired_already"
    status = 400


class ScopeNeeded(Refused):
    """A token gives no scope to another one that it has not itself."""

    code = "scope_needed"
    status = 403


def make_token(
    *,
    membership: Membership,
    name: str,
    by_owner: bool,
    projects: Collection[Project] | None = None,
    scopes: Collection[str] = tuple(TokenScope),
    expires_at: datetime | None = None,
    pace: Pace = Pace.NORMAL,
    by_token: UUID | None = None,
) -> tuple[ApiToken, TokenText]:
    """A token that acts as the membership, and its text, which nobody can be told again. With `projects` it is limited
    to them: nothing else of the organisation exists for it. `by_token` is the token that asks for it, if one does: it
    hands on none of the scopes that it has not, and no day beyond its own last one.

    Raises NotForAdmins for an owner's membership unless an owner makes it, MembershipEnded for a former member's,
    NoScope, ExpiredAlready, ScopeNeeded, ExpiresTooLate, and ValidationError without a name, or with too long a one.
    """
    if membership.role == Role.OWNER and not by_owner:
        raise NotForAdmins("Only an owner makes a token that acts as an owner. Choose another member, or ask one.")
    if not membership.is_active:
        raise MembershipEnded(f"The membership of {membership.annotator_name} has ended. Choose an active member.")
    if not scopes:
        raise NoScope("Say what the token is for: it needs one scope or more.")
    if expires_at is not None and expires_at <= timezone.now():
        raise ExpiredAlready("The token would have expired already. Choose a later time.")
    if by_token is not None:
        _demand_within(ApiToken.objects.get(pk=by_token), scopes, expires_at)
    actor = current()
    if actor.organisation is None or actor.user is None:
        raise RuntimeError("A token is made by a person in an organisation: open acting_in(organisation, user).")
    text = TokenText.new(actor.organisation)
    token = ApiToken(
        name=name,
        membership=membership,
        prefix=text.prefix,
        secret_sha256=text.digest,
        created_by_id=actor.user,
        is_limited=projects is not None,
        scopes=[scope for scope in TokenScope.values if scope in scopes],
        expires_at=expires_at,
        pace=pace,
    )
    token.full_clean()
    with transaction.atomic():
        token.save()
        for project in projects or ():
            TokenProject.objects.create(token=token, project=project)
        limits: dict[str, Any] = {} if projects is None else {"projects": [project.slug for project in projects]}
        if len(token.scopes) < len(TokenScope):
            limits["scopes"] = token.scopes
        if expires_at is not None:
            limits["expires"] = expires_at.isoformat(timespec="minutes")
        audit.record("token.made", token, prefix=token.prefix, acts_as=membership.annotator_name, **limits)
    return token, text


def _demand_within(maker: ApiToken, scopes: Collection[str], expires_at: datetime | None) -> None:
    if surplus := sorted(set(scopes) - set(maker.scopes)):
        raise ScopeNeeded(f"This token has not the scope {surplus[0]}, and gives it to no other one.")
    if maker.expires_at is not None and (expires_at is None or expires_at > maker.expires_at):
        raise ExpiresTooLate(
            f"This token expires at {maker.expires_at:%Y-%m-%d %H:%M} UTC, and makes none that lasts longer."
        )


def revoke_token(*, token: ApiToken) -> ApiToken:
    """End the token, at once and for good. Revoking twice is revoking once."""
    with transaction.atomic():
        if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
            audit.record("token.revoked", token, prefix=token.prefix)
        token.refresh_from_db(fields=["revoked_at"])
    return token


class EnteredByToken(NamedTuple):
    """Whom a token acts as, with what it narrows, and how fast it may ask."""

    user: User
    membership: ActiveMembership
    pace: Pace


def enter_by_token(given: str) -> EnteredByToken | None:
    """Become the person whom the token acts as, in its organisation, for the rest of the open transaction.

    None, and nobody, for every token that is not active, whatever the reason. The organisation that the text names
    confines the look-up; the secret proves it.
    """
    text = TokenText.read(given)
    if text is None:
        return None
    enter(Actor(text.organisation_id, (text.organisation_id,)))
    now = timezone.now()
    token = _active_token.first(text.organisation_id, text.prefix, now)
    if token is None or not secrets.compare_digest(token.secret_sha256, text.digest):
        enter(NOBODY)
        return None
    user = token.membership.user
    membership = enter_organisation(user, token.organisation.slug)
    if membership is None:
        return None
    if token.last_used_at is None or now - token.last_used_at > _USE_IS_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    structlog.contextvars.bind_contextvars(
        user=str(user.pk), organisation=membership.organisation_slug, token=token.prefix
    )
    named = None
    if token.is_limited:
        # By the mark and not by the rows: a token whose projects are gone sees nothing, not everything.
        named = frozenset(TokenProject.objects.filter(token=token).values_list("project", flat=True))
    scopes = frozenset(map(TokenScope, token.scopes))
    return EnteredByToken(user, replace(membership, limited_to=named, scopes=scopes, token=token.pk), Pace(token.pace))


@prepared
def _active_token(organisation: UUID, prefix: str, now: datetime) -> "QuerySet[ApiToken]":
    """Asked before everything that a program asks: `whoami/` took 17 ms of processor, and takes 8 (`bench_lists`)."""
    rows = ApiToken.objects.active(now).filter(organisation=organisation, prefix=prefix)
    return rows.select_related("membership__user", "organisation")
