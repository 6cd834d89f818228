"""Whom an admin may invite, what is kept of it, and when a link is worth nothing."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.db.utils import ProgrammingError
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from time_machine import TimeMachineFixture

from accounts.actions.invitations import (
    InvitationChanged,
    InvitationOver,
    accept_invitation,
    invite,
    offer_behind,
    renew_invitation,
    revoke_invitation,
)
from accounts.actions.organisations import NotForAdmins, change_member
from accounts.invitation_links import InvitationToken
from accounts.models import AuditEvent, Invitation, Membership, User
from tenancy.actor import acting_in
from tenancy.roles import Role
from tests.accounts.invited import address, link_for, membership_of, open_invitations, shown
from tests.tenants import Tenants

ADD = "/o/acme/admin/accounts/invitation/add/"
LIST = "/o/acme/admin/accounts/invitation/"


def asked(email: str = "rosa@example.org", role: str = "annotator", name: str = "rosa") -> dict[str, str]:
    return {"email": email, "role": role, "annotator_name": name}


def end_membership(tenants: Tenants, user: User, *, role: Role, name: str) -> None:
    with acting_in(tenants.acme, tenants.alice):
        change_member(
            membership=Membership.objects.get(user=user), role=role, annotator_name=name, is_active=False, by_owner=True
        )


def test_the_link_is_shown_once_and_only_its_hash_is_kept(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.dora)
    answer = client.post(ADD, asked(email="Rosa@Example.ORG"))
    assert answer.status_code == 200
    (invitation,) = open_invitations(tenants.acme)
    link = answer.context["link"]
    token = InvitationToken.read(link.rstrip("/").rpartition("/")[2])
    assert token is not None
    assert link == f"http://testserver{address(token)}"
    assert f'value="{link}"' in answer.content.decode()
    assert "7 days" in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert (invitation.email, invitation.created_by, invitation.secret_sha256) == (
        "rosa@example.org",
        tenants.dora,
        token.digest,
    )
    assert abs(invitation.expires_at - timezone.now() - timedelta(days=7)) < timedelta(minutes=1)
    with acting_in(tenants.acme):
        (event,) = AuditEvent.objects.filter(verb="invitation.made")
        kept = [list(row) for row in (*Invitation.objects.values_list(), *AuditEvent.objects.values_list())]
    assert (event.person, event.target_label) == (tenants.dora, "rosa@example.org")
    assert token.secret not in str(kept)
    for page in (LIST, f"{LIST}{invitation.pk}/change/", "/o/acme/admin/accounts/membership/"):
        assert token.secret not in client.get(page).content.decode()


def test_the_admin_is_answered_the_same_whether_the_address_has_an_account(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.dora)
    stranger = client.post(ADD, asked("charlie@example.org", name="one"))
    with acting_in(tenants.acme, tenants.dora):
        revoke_invitation(invitation=Invitation.objects.open().get(), by_owner=False)
    nobody = client.post(ADD, asked("nobody@example.org", name="one"))
    assert stranger.status_code == nobody.status_code == 200
    assert shown(stranger) == shown(nobody)


def test_who_is_a_member_here_or_invited_already_is_said_at_the_field(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.dora)
    assert "This person is a member already." in client.post(ADD, asked("BOB@example.org")).content.decode()
    link_for(tenants)
    answer = client.post(ADD, asked(name="other"))
    assert "There is an open invitation for this address." in answer.content.decode()
    assert "email" in answer.context["adminform"].form.errors
    assert len(open_invitations(tenants.acme)) == 1


def test_an_annotator_name_is_taken_by_a_member_or_an_open_invitation_of_this_organisation_alone(
    tenants: Tenants, client: Client
) -> None:
    client.force_login(tenants.dora)
    answer = client.post(ADD, asked(name="BOB"))
    assert answer.context["adminform"].form.errors["annotator_name"] == ["Another member has this annotator name."]
    link_for(tenants)
    answer = client.post(ADD, asked("ruth@example.org", name="Rosa"))
    assert answer.context["adminform"].form.errors["annotator_name"] == [
        "Another open invitation has this annotator name."
    ]
    # Charlie is an annotator name of Birch.
    assert "link" in client.post(ADD, asked("ruth@example.org", name="charlie")).context


def test_what_two_admins_ask_at_once_is_decided_by_the_database(tenants: Tenants) -> None:
    link_for(tenants)
    fields = {"created_by": tenants.alice, "expires_at": timezone.now()}
    with acting_in(tenants.acme, tenants.alice):
        for row in (
            {"email": "rosa@example.org", "annotator_name": "other"},
            {"email": "ruth@example.org", "annotator_name": "ROSA"},
            {"email": "Ruth@example.org", "annotator_name": "ruth"},
            {"email": "ruth@example.org", "annotator_name": "ruth", "role": "gardener"},
            {"email": "ruth@example.org", "annotator_name": "ruth", "accepted_at": timezone.now()},
        ):
            with pytest.raises(IntegrityError), transaction.atomic():
                Invitation.objects.create(secret_sha256="1" * 64, **fields, **row)


def test_only_an_owner_invites_an_owner(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.dora)
    assert 'value="owner"' not in client.get(ADD).content.decode()
    client.post(ADD, asked(role="owner"))
    assert open_invitations(tenants.acme) == []
    with acting_in(tenants.acme, tenants.dora), pytest.raises(NotForAdmins):
        invite(email="rosa@example.org", role=Role.OWNER, annotator_name="rosa", by_owner=False)
    client.force_login(tenants.alice)
    assert client.post(ADD, asked(role="owner")).status_code == 200
    (invitation,) = open_invitations(tenants.acme)
    assert invitation.role == Role.OWNER
    client.force_login(tenants.dora)
    for verb in ("renew", "revoke"):
        page = client.post(f"{LIST}{invitation.pk}/{verb}/", follow=True).content.decode()
        assert "Only an owner invites an owner" in page
        assert f"{invitation.pk}/{verb}/" not in page
    assert open_invitations(tenants.acme)[0].secret_sha256 == invitation.secret_sha256


def test_a_renewed_link_is_another_one_and_lasts_from_then_on(
    tenants: Tenants, client: Client, time_machine: TimeMachineFixture
) -> None:
    time_machine.move_to("2030-05-01 12:00:00+00:00", tick=False)
    old = link_for(tenants)
    time_machine.shift(timedelta(days=8))
    client.force_login(tenants.dora)
    assert "expired on 8 May 2030" in client.get(LIST).content.decode()
    assert offer_behind(old, reader=None) is None
    (invitation,) = open_invitations(tenants.acme)
    new = InvitationToken.read(client.post(f"{LIST}{invitation.pk}/renew/").context["link"][-66:-1])
    assert new is not None
    assert offer_behind(old, reader=None) is None
    offer = offer_behind(new, reader=None)
    assert offer is not None
    assert (offer.inviter, offer.expires_at) == ("Dora", timezone.now() + timedelta(days=7))
    with acting_in(tenants.acme):
        assert AuditEvent.objects.filter(verb="invitation.renewed", person=tenants.dora).count() == 1


def test_a_link_ends_after_seven_days_to_the_second(tenants: Tenants, time_machine: TimeMachineFixture) -> None:
    time_machine.move_to("2030-05-01 12:00:00+00:00", tick=False)
    token = link_for(tenants)
    time_machine.shift(timedelta(days=7, seconds=-1))
    assert offer_behind(token, reader=None) is not None
    time_machine.shift(1)
    assert offer_behind(token, reader=None) is None
    with pytest.raises(InvitationOver):
        accept_invitation(token=token, user=tenants.charlie)


def test_a_revoked_link_opens_nothing_and_is_not_renewed(tenants: Tenants, client: Client) -> None:
    token = link_for(tenants)
    (invitation,) = open_invitations(tenants.acme)
    client.force_login(tenants.dora)
    page = client.post(f"{LIST}{invitation.pk}/revoke/", follow=True).content.decode()
    assert "The invitation of rosa@example.org is revoked" in page
    assert "No open invitations" in page
    with pytest.raises(InvitationOver):
        accept_invitation(token=token, user=tenants.charlie)
    for end in (renew_invitation, revoke_invitation):
        with acting_in(tenants.acme, tenants.dora), pytest.raises(InvitationChanged):
            end(invitation=invitation, by_owner=False)
    page = client.post(f"{LIST}{invitation.pk}/renew/", follow=True).content.decode()
    assert "was accepted or revoked meanwhile" in page
    # The address and the annotator name are free again.
    link_for(tenants)


@pytest.mark.parametrize(("role", "is_active"), [(Role.ADMIN, False), (Role.MANAGER, True)])
def test_no_link_outlives_the_rights_of_who_made_it(
    tenants: Tenants, client: Client, role: Role, is_active: bool
) -> None:
    with acting_in(tenants.acme, tenants.dora):
        _, token = invite(email="x@example.org", role=Role.ADMIN, annotator_name="x", by_owner=False)
    with acting_in(tenants.acme, tenants.alice):
        change_member(
            membership=Membership.objects.get(user=tenants.dora),
            role=role,
            annotator_name="dora",
            is_active=is_active,
            by_owner=True,
        )
    assert offer_behind(token, reader=None) is None
    with pytest.raises(InvitationOver):
        accept_invitation(token=token, user=tenants.dora)
    client.force_login(tenants.alice)
    assert "who invited may not do so any more" in client.get(LIST).content.decode()
    (invitation,) = open_invitations(tenants.acme)
    with acting_in(tenants.acme, tenants.alice):
        _, renewed = renew_invitation(invitation=invitation, by_owner=True)
    assert offer_behind(renewed, reader=None) is not None


def test_an_owner_who_became_an_admin_makes_no_owner_by_an_old_link(tenants: Tenants) -> None:
    token = link_for(tenants, role=Role.OWNER)
    with acting_in(tenants.acme, tenants.alice):
        for user, role in ((tenants.dora, Role.OWNER), (tenants.alice, Role.ADMIN)):
            change_member(
                membership=Membership.objects.get(user=user),
                role=role,
                annotator_name=user.username,
                is_active=True,
                by_owner=True,
            )
    assert offer_behind(token, reader=None) is None


def test_a_former_member_comes_back_as_what_the_invitation_says(tenants: Tenants) -> None:
    end_membership(tenants, tenants.bob, role=Role.ANNOTATOR, name="bob")
    before = membership_of(tenants.acme, tenants.bob)
    token = link_for(tenants, "bob@example.org", role=Role.MANAGER, name="bob")
    accept_invitation(token=token, user=tenants.bob)
    after = membership_of(tenants.acme, tenants.bob)
    assert before is not None
    assert after is not None
    assert (after.pk, after.is_active, after.role, after.annotator_name) == (before.pk, True, Role.MANAGER, "bob")


def test_the_annotator_name_of_a_former_member_goes_to_nobody_else(tenants: Tenants) -> None:
    end_membership(tenants, tenants.bob, role=Role.ANNOTATOR, name="bob")
    with pytest.raises(ValidationError, match="Another member has this annotator name"):
        link_for(tenants, "rosa@example.org", name="bob")


def test_a_link_of_one_organisation_is_none_in_another(tenants: Tenants) -> None:
    token = link_for(tenants)
    assert offer_behind(InvitationToken(tenants.birch.pk, token.secret), reader=tenants.charlie) is None
    with pytest.raises(InvitationOver):
        accept_invitation(token=InvitationToken(tenants.birch.pk, token.secret), user=tenants.alice)
    with acting_in(tenants.birch, tenants.charlie):
        assert list(Invitation.objects.all()) == []
    with pytest.raises(ProgrammingError, match="no organisation is active"), transaction.atomic():
        list(Invitation.objects.all())


def test_reading_a_link_leaves_no_organisation_behind(tenants: Tenants) -> None:
    offer_behind(link_for(tenants), reader=tenants.charlie)
    with pytest.raises(ProgrammingError, match="no organisation is active"), transaction.atomic():
        list(Invitation.objects.all())


def test_the_list_asks_the_same_number_of_queries_however_long_it_is(
    tenants: Tenants, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(tenants.dora)
    link_for(tenants)
    with CaptureQueriesContext(connection) as few:
        client.get(LIST)
    for number in range(5):
        link_for(tenants, f"person{number}@example.org", name=f"person{number}")
    with django_assert_num_queries(len(few)):
        client.get(LIST)
