"""Inviting many to a project: addresses, a table, one link for a class; and what becomes of each link."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core import mail
from django.core.exceptions import ValidationError
from django.db import connections
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts.actions.invitations import (
    AlreadyMember,
    InvitationOver,
    ProjectGrant,
    TakenOff,
    accept_invitation,
    accept_with_new_account,
    invite,
    offer_behind,
    revoke_invitation,
)
from accounts.actions.members import put_on_project, take_off_project
from accounts.actions.projects import publish_configuration
from accounts.invitation_links import InvitationToken
from accounts.inviting import Unreadable, already_in, from_csv, pasted, with_names
from accounts.models import AuditEvent, Invitation, Membership, Project, ProjectMember, User
from assignments.actions.claiming import Reason
from assignments.actions.releasing import BatchFacts, release_batch, withdraw_batch
from assignments.actions.steering import let_imports_wait
from assignments.models import Batch, BatchPerson
from assignments.pool.selecting import Selection
from tenancy.actor import acting_in
from tenancy.roles import ProjectRole, Role
from tenancy.sentences import as_text
from tests.assignments.conftest import YAML, Queue
from tests.tenants import Tenants

PAGE = "/o/acme/p/parser/people/invite/"
SOURCE = YAML.format(target=1, max_open=1)
LINK = re.compile(r"http://[^\"\s]+/join/([0-9a-f]{32}\.[A-Za-z0-9_-]{32})/")


def manager(tenants: Tenants, source: str = "task_name: Review\n") -> Client:
    """A browser of bob, who manages Acme's project and nothing else."""
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=source)
        bob = Membership.objects.get(user=tenants.bob)
        Membership.objects.filter(pk=bob.pk).update(role=Role.MEMBER)
        put_on_project(project=tenants.acme_project, membership=bob, role=ProjectRole.MANAGER)
    client = Client()
    client.force_login(tenants.bob)
    return client


def form(**more: str) -> dict[str, str]:
    return {"way": "addresses", "role": "annotator", "beginning": "reviewer_", "days": "14", **more}


def class_link(tenants: Tenants, places: int = 3) -> InvitationToken:
    with acting_in(tenants.acme, tenants.alice):
        return invite(
            email="",
            role=Role.MEMBER,
            annotator_name="student_",
            by_owner=True,
            projects=[ProjectGrant(tenants.acme_project)],
            places=places,
        )[1]


def join(token: InvitationToken, number: int) -> User:
    return accept_with_new_account(
        token=token, name="", password="a quiet place 77", email=f"student{number}@example.org"
    )


def test_addresses_are_read_as_people_write_them_and_wrong_ones_by_their_line() -> None:
    guests = pasted(
        "olivia@lab.example\nPeggy P. <Peggy@lab.example>; rupert@lab.example\n\ntrent@lab.example\n"
        "victor.lab.example\nolivia@lab.example",
        ProjectRole.ANNOTATOR,
    )
    assert [guest.email for guest in guests if not guest.problem] == [
        "olivia@lab.example", "peggy@lab.example", "rupert@lab.example", "trent@lab.example",
    ]  # fmt: skip
    assert [(guest.line, guest.problem) for guest in guests if guest.problem] == [
        (5, "has no @"), (6, "stands here twice"),
    ]  # fmt: skip


def test_a_table_has_a_name_and_a_role_for_each_and_says_what_is_wrong_at_its_line() -> None:
    guests = from_csv(
        "\ufeffAddress,Name,Role\r\na@lab.example,P-01,viewer\nb@lab.example,,\nc@lab.example,P 3,\n"
        "d@lab.example,P-04,gardener\ne@lab.example,p-01,\n",
        ProjectRole.ANNOTATOR,
    )
    assert [(guest.email, guest.name, guest.role.value) for guest in guests if not guest.problem] == [
        ("a@lab.example", "P-01", "viewer"), ("b@lab.example", "", "annotator"),
    ]  # fmt: skip
    assert [(guest.line, guest.problem.partition(":")[0]) for guest in guests if guest.problem] == [
        (4, "has the name 'P 3'"),
        (5, "has the role 'gardener'"),
        (6, "has the name p-01, which stands here twice"),
    ]
    with pytest.raises(Unreadable, match="first line names the columns"):
        from_csv("a@lab.example\n", ProjectRole.ANNOTATOR)
    with pytest.raises(Unreadable, match="'phone' is none of them"):
        from_csv("address,phone\na@lab.example,1\n", ProjectRole.ANNOTATOR)


def test_a_manager_previews_then_invites_and_gets_a_link_each_this_once(tenants: Tenants) -> None:
    client = manager(tenants)
    sent = form(addresses="a@lab.example, b@lab.example\nnobody", do="preview")
    page = client.post(PAGE, sent)
    text = page.content.decode()
    assert "<b>2 addresses</b> are ready to be invited." in text
    assert "Line 2, " in text
    assert "reviewer_02" in text
    assert not LINK.search(text)
    with acting_in(tenants.acme):
        assert not Invitation.objects.exists()
    answer = client.post(PAGE, {**sent, "do": "invite"})
    tokens = list(dict.fromkeys(LINK.findall(answer.content.decode())))
    assert len(tokens) == 2
    assert "Line 2, nobody, was left out" in answer.content.decode()
    assert answer["Cache-Control"] == "private, no-store"
    with acting_in(tenants.acme):
        made = list(Invitation.objects.order_by("email"))
        assert [(one.email, one.role, one.annotator_name) for one in made] == [
            ("a@lab.example", "member", "reviewer_01"), ("b@lab.example", "member", "reviewer_02"),
        ]  # fmt: skip
        assert all(timedelta(days=13, hours=23) < one.expires_at - one.created_at < timedelta(days=15) for one in made)
    token = InvitationToken.read(tokens[0])
    assert token is not None
    offer = offer_behind(token, reader=None)
    assert offer is not None
    assert offer.projects == (f"{tenants.acme_project.name}, annotator",)
    user = accept_with_new_account(token=token, name="A", password="a quiet place 77")
    with acting_in(tenants.acme):
        place = ProjectMember.objects.get(membership__user=user)
        assert (place.project, place.role, place.membership.role) == (tenants.acme_project, "annotator", "member")
        assert place.membership.joined_by == made[0]
    again = client.post(PAGE, form(addresses="a@lab.example b@lab.example\nb@lab.example", do="preview"))
    assert "is invited already" in again.content.decode()


def test_who_is_in_the_project_is_already_here_and_an_account_elsewhere_makes_no_difference(tenants: Tenants) -> None:
    manager(tenants)
    with acting_in(tenants.acme, tenants.alice):
        guests = already_in(
            tenants.acme_project,
            pasted("bob@example.org charlie@example.org".replace(" ", "\n"), ProjectRole.ANNOTATOR),
        )
    assert [guest.problem for guest in guests] == ["is already here", ""]


def test_names_are_given_in_turn_past_those_that_somebody_has(tenants: Tenants) -> None:
    with acting_in(tenants.acme, tenants.alice):
        Membership.objects.filter(user=tenants.bob).update(annotator_name="P02")
        guests = with_names(pasted("a@x.org\nb@x.org", ProjectRole.ANNOTATOR), "p")
    assert [guest.name for guest in guests] == ["p01", "p03"]


def test_mail_carries_each_link_to_its_address_where_the_site_can_send(tenants: Tenants, settings: Settings) -> None:
    client = manager(tenants)
    settings.EMAIL_HOST = "mail.example.org"
    client.post(PAGE, form(addresses="a@lab.example\nb@lab.example", do="invite", note="Read the guidelines first."))
    assert [message.to for message in mail.outbox] == [["a@lab.example"], ["b@lab.example"]]
    assert len({LINK.search(message.body).group(1) for message in mail.outbox}) == 2  # type: ignore[union-attr, arg-type]
    assert all("Read the guidelines first." in str(message.body) for message in mail.outbox)


def test_a_manager_of_one_project_invites_to_no_other_and_as_nothing_else(tenants: Tenants) -> None:
    client = manager(tenants)
    with acting_in(tenants.acme, tenants.alice):
        other = Project.objects.create(slug="other", name="Other")
        invitation, token = invite(
            email="a@lab.example", role=Role.MEMBER, annotator_name="a", by_owner=True, projects=[ProjectGrant(other)]
        )
        whole, _ = invite(email="b@lab.example", role=Role.ADMIN, annotator_name="b", by_owner=True)
        both, _ = invite(
            email="c@lab.example",
            role=Role.MEMBER,
            annotator_name="c",
            by_owner=True,
            projects=[ProjectGrant(other), ProjectGrant(tenants.acme_project)],
        )
    assert client.get("/o/acme/p/other/people/invite/").status_code == 404
    for row in (invitation, whole, both):
        assert client.post(f"{PAGE}{row.pk}/", {"do": "revoke"}).status_code == 404
    assert offer_behind(token, reader=None) is not None


def other_invitation(tenants: Tenants) -> tuple[Invitation, InvitationToken]:
    """Of a@lab.example, to another project."""
    with acting_in(tenants.acme, tenants.alice):
        other = Project.objects.create(slug="other", name="Secret study")
        return invite(
            email="a@lab.example", role=Role.MEMBER, annotator_name="a", by_owner=True, projects=[ProjectGrant(other)]
        )


@pytest.mark.parametrize("is_expired", [True, False])
def test_a_link_by_which_nobody_could_join_is_not_in_the_way_of_another_project(
    tenants: Tenants, is_expired: bool
) -> None:
    client = manager(tenants)
    earlier, _ = other_invitation(tenants)
    with acting_in(tenants.acme, tenants.alice):
        if is_expired:
            Invitation.objects.filter(pk=earlier.pk).update(expires_at=timezone.now())
        else:
            Invitation.objects.filter(pk=earlier.pk).update(created_by=tenants.bob)
    table = "address,name\na@lab.example,a\n"
    preview = client.post(PAGE, form(way="csv", table=table, do="preview")).content.decode()
    assert "invited already" not in preview
    answer = client.post(PAGE, form(way="csv", table=table, do="invite"))
    (link,) = LINK.findall(answer.content.decode())
    token = InvitationToken.read(link)
    assert token is not None
    assert offer_behind(token, reader=None) is not None
    with acting_in(tenants.acme, tenants.alice):
        # Of another project: its managers may renew it.
        earlier.refresh_from_db()
        assert earlier.revoked_at is None
        Invitation.objects.filter(projects__project=tenants.acme_project).update(expires_at=timezone.now())
    assert client.post(PAGE, form(way="csv", table=table, do="invite")).status_code == 200
    assert offer_behind(token, reader=None) is None
    with acting_in(tenants.acme, tenants.alice):
        assert Invitation.objects.open().filter(projects__project=tenants.acme_project).count() == 1
        assert "revoked the invitation of a@lab.example" in as_text(
            AuditEvent.objects.filter(verb="invitation.revoked").get()
        )


def test_an_address_is_invited_to_several_projects_and_each_link_joins_its_own(tenants: Tenants) -> None:
    client = manager(tenants)
    _, elsewhere = other_invitation(tenants)
    # The same name for the same person, as two tables of one lab say it.
    table = form(way="csv", table="address,name\na@lab.example,a\nb@lab.example,b\n")
    page = client.post(PAGE, {**table, "do": "preview"}).content.decode()
    assert "<b>2 addresses</b> are ready to be invited." in page
    assert "Secret study" not in page
    here, _ = (
        InvitationToken.read(link)
        for link in dict.fromkeys(LINK.findall(client.post(PAGE, {**table, "do": "invite"}).content.decode()))
    )
    assert here is not None
    again = client.post(PAGE, form(addresses="a@lab.example", do="preview")).content.decode()
    assert "is invited already: make a new link under Open invitations" in again
    with acting_in(tenants.acme, tenants.alice):
        everywhere = invite(email="a@lab.example", role=Role.ANNOTATOR, annotator_name="a-too", by_owner=True)[1]
        with pytest.raises(ValidationError, match="There is an open invitation for this address to this project"):
            invite(
                email="a@lab.example",
                role=Role.MEMBER,
                annotator_name="a",
                by_owner=True,
                projects=[ProjectGrant(tenants.acme_project)],
            )
        with pytest.raises(ValidationError, match="Another open invitation has this annotator name"):
            invite(email="c@lab.example", role=Role.MEMBER, annotator_name="A", by_owner=True)
    user = accept_with_new_account(token=here, name="A", password="a quiet place 77")
    assert accept_invitation(token=elsewhere, user=user).role == Role.MEMBER
    with acting_in(tenants.acme):
        places = ProjectMember.objects.filter(membership__user=user).order_by("project__slug")
        assert list(places.values_list("project__slug", "role")) == [("other", "annotator"), ("parser", "annotator")]
    became = accept_invitation(token=everywhere, user=user)
    assert (became.role, became.annotator_name) == (Role.ANNOTATOR, "a")
    with acting_in(tenants.acme):
        assert not Invitation.objects.open().filter(email="a@lab.example").exists()


def test_a_manager_of_one_project_is_proposed_no_names_of_others(tenants: Tenants) -> None:
    client = manager(tenants)
    _, elsewhere = other_invitation(tenants)
    user = accept_with_new_account(token=elsewhere, name="A", password="a quiet place 77")
    assert '<option value="a">' not in client.get(PAGE).content.decode()
    with acting_in(tenants.acme, tenants.alice):
        somebody = Membership.objects.get(user=user)
        put_on_project(project=tenants.acme_project, membership=somebody, role=ProjectRole.VIEWER)
        take_off_project(project=tenants.acme_project, membership=somebody)
    assert '<option value="a">' in client.get(PAGE).content.decode()
    client.force_login(tenants.alice)
    assert '<option value="alice">' in client.get(PAGE).content.decode()


def test_a_manager_s_links_end_with_their_place(tenants: Tenants) -> None:
    client = manager(tenants)
    answer = client.post(PAGE, form(addresses="a@lab.example", do="invite"))
    token = InvitationToken.read(LINK.findall(answer.content.decode())[0])
    assert token is not None
    assert offer_behind(token, reader=None) is not None
    with acting_in(tenants.acme, tenants.alice):
        take_off_project(project=tenants.acme_project, membership=Membership.objects.get(user=tenants.bob))
    assert offer_behind(token, reader=None) is None


def test_a_link_for_many_gives_names_in_turn_and_says_when_it_is_full(tenants: Tenants, client: Client) -> None:
    token = class_link(tenants)
    assert "0 of 3 places are taken" in client.get(f"/join/{token}/").content.decode()
    users = [join(token, number) for number in range(3)]
    with acting_in(tenants.acme):
        names = Membership.objects.filter(user__in=users).order_by("annotator_name")
        assert list(names.values_list("annotator_name", flat=True)) == ["student_01", "student_02", "student_03"]
        assert ProjectMember.objects.filter(membership__user__in=users).count() == 3
    with pytest.raises(InvitationOver):
        join(token, 4)
    page = client.get(f"/join/{token}/")
    assert page.status_code == 410
    assert "All places of this link are taken" in page.content.decode()
    client.force_login(users[0])
    assert client.get(f"/join/{token}/")["Location"] == "/o/acme/"


def test_more_places_open_a_full_link_only_while_it_is_open(tenants: Tenants) -> None:
    client, token = manager(tenants), class_link(tenants, places=2)
    join(token, 1)
    with acting_in(tenants.acme):
        row = Invitation.objects.get()
    client.post(f"{PAGE}{row.pk}/", {"do": "more", "number": "2"})
    for number in (2, 3, 4):
        join(token, number)
    with acting_in(tenants.acme):
        row.refresh_from_db()
        assert (row.taken, row.places) == (4, 4)
        assert AuditEvent.objects.filter(verb="invitation.accepted").count() == 4
    answer = client.post(f"{PAGE}{row.pk}/", {"do": "more", "number": "2"})
    assert answer.status_code == 404


def test_a_revoked_and_an_ended_link_have_their_pages(tenants: Tenants, client: Client) -> None:
    token = class_link(tenants)
    with acting_in(tenants.acme, tenants.alice):
        row = Invitation.objects.get()
        Invitation.objects.update(expires_at=row.created_at)
    page = client.get(f"/join/{token}/")
    assert (page.status_code, "This link has ended" in page.content.decode()) == (410, True)
    with acting_in(tenants.acme, tenants.alice):
        revoke_invitation(invitation=row, by_owner=True)
    page = client.get(f"/join/{token}/")
    assert (page.status_code, "This link was revoked" in page.content.decode()) == (410, True)


def test_an_invitation_of_one_person_says_nothing_of_how_it_ended(tenants: Tenants, client: Client) -> None:
    with acting_in(tenants.acme, tenants.alice):
        row, token = invite(email="a@lab.example", role=Role.ANNOTATOR, annotator_name="a", by_owner=True)
        revoke_invitation(invitation=row, by_owner=True)
    assert client.get(f"/join/{token}/").status_code == 404


def test_a_member_of_the_organisation_joins_a_project_and_stays_what_they_are(tenants: Tenants) -> None:
    token = class_link(tenants)
    membership = accept_invitation(token=token, user=tenants.dora)
    assert (membership.role, membership.annotator_name) == ("admin", "dora")
    with acting_in(tenants.acme):
        assert ProjectMember.objects.filter(membership=membership, project=tenants.acme_project).exists()


def test_who_was_taken_off_does_not_come_back_by_the_same_link(tenants: Tenants) -> None:
    token = class_link(tenants)
    user = join(token, 1)
    with acting_in(tenants.acme, tenants.alice):
        take_off_project(project=tenants.acme_project, membership=Membership.objects.get(user=user))
    with pytest.raises(TakenOff, match="taken off the project"):
        accept_invitation(token=token, user=user)


def test_ten_who_join_at_once_by_a_link_of_four_are_four(committed_tenants: Tenants) -> None:
    token = class_link(committed_tenants, places=4)

    def come(number: int) -> bool:
        try:
            join(token, number)
        except InvitationOver:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(10) as pool:
        assert sum(pool.map(come, range(10))) == 4
    with acting_in(committed_tenants.acme):
        names = Membership.objects.filter(annotator_name__startswith="student_").values_list(
            "annotator_name", flat=True
        )
        assert sorted(names) == [f"student_0{number}" for number in range(1, 5)]
    assert User.objects.filter(email__startswith="student").count() == 4


def test_what_was_typed_stays_where_a_member_or_more_places_are_refused(tenants: Tenants) -> None:
    client = manager(tenants)
    class_link(tenants)
    refused = client.post(f"{PAGE}add/", {"name": "nobody-here", "role": "viewer", "may_export": "1"})
    assert refused.status_code == 422
    page = refused.content.decode()
    assert 'value="nobody-here" aria-invalid="true"' in page
    assert '<option value="viewer" selected>' in page
    assert 'name="may_export" value="1" checked' in page
    assert f'href="{PAGE}?way=link"' in page
    with acting_in(tenants.acme):
        row = Invitation.objects.get()
    refused = client.post(f"{PAGE}{row.pk}/", {"do": "more", "number": "5000"})
    assert refused.status_code == 422
    page = refused.content.decode()
    assert 'name="number" value="5000"' in page
    assert "Add at least one place, and at most 997." in page


def test_a_program_invites_all_or_nobody_and_reads_whom_it_was_about(tenants: Tenants) -> None:
    client = manager(tenants)
    # The hundredth name is one sign too long.
    body = {"addresses": [f"a{number}@lab.example" for number in range(1, 101)], "beginning": "n" * 62}
    url = "/o/acme/api/v1/projects/parser/invitations/"
    answer = client.post(url, body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("Nobody is invited: a100@lab.example")
    with acting_in(tenants.acme):
        assert not Invitation.objects.exists()
        assert not AuditEvent.objects.filter(verb="invitation.made").exists()
    answer = client.post(url, {**body, "beginning": "n"}, content_type="application/json")
    assert len(answer.json()["results"]) == 100


def batches_of(tenants: Tenants) -> list[Batch]:
    """Acme's project with four traces: two in Spring, which is for everybody, and two in Autumn, which is over."""
    with acting_in(tenants.acme, tenants.alice):
        queue = Queue(tenants, tenants.acme_project)
        let_imports_wait(project=queue.project, wait=True)
        batches = []
        for name in ("Spring", "Autumn"):
            queue.add_traces(2, prefix=name)
            batches.append(release_batch(project=queue.project, selection=Selection(), facts=BatchFacts(name=name)))
        withdraw_batch(batch=batches[1])
    return batches


def test_who_joins_by_a_link_that_names_a_batch_is_named_in_it(tenants: Tenants) -> None:
    client, (spring, autumn) = manager(tenants, SOURCE), batches_of(tenants)
    page = client.get(f"{PAGE}?way=link").content.decode()
    assert f'<option value="{spring.number}">Spring</option>' in page
    assert "Autumn" not in page
    for wrong, words in (
        ({"batch": str(autumn.number)}, "Select a valid choice"),
        ({"batch": str(spring.number), "role": "viewer"}, "A viewer takes no tasks"),
    ):
        refused = client.post(PAGE, form(way="link", places="2", **wrong))
        assert refused.status_code == 400
        assert words in refused.content.decode().split('id="id_batch_error"')[1].split("</div>")[0]
    made = client.post(PAGE, form(way="link", places="2", batch=str(spring.number)))
    token = InvitationToken.read(LINK.findall(made.content.decode())[0])
    assert token is not None
    assert "<dt>Batch</dt><dd>Spring</dd>" in client.get(f"{PAGE}?way=link").content.decode()
    users = [join(token, number) for number in (1, 2)]
    with acting_in(tenants.acme, users[0]):
        spring.refresh_from_db()
        assert spring.is_restricted
        assert set(BatchPerson.objects.filter(batch=spring).values_list("user", flat=True)) == {one.pk for one in users}
        queue = Queue(tenants, tenants.acme_project)
        assert queue.claimed(users[0])
        assert queue.nothing(tenants.alice).reason == Reason.FOR_OTHERS
        event = AuditEvent.objects.filter(verb="batch.people").latest("at")
        assert "who may take tasks of the batch Spring" in as_text(event)
        assert as_text(event).endswith(": 2 people alone.")


def test_who_is_in_the_project_already_is_named_in_a_links_batch_and_keeps_the_role(tenants: Tenants) -> None:
    client, (spring, _) = manager(tenants, SOURCE), batches_of(tenants)
    made = client.post(PAGE, form(way="link", places="2", batch=str(spring.number)))
    token = InvitationToken.read(LINK.findall(made.content.decode())[0])
    assert token is not None
    offer = offer_behind(token, reader=tenants.bob)
    assert offer is not None
    assert not offer.reader_belongs
    assert offer.projects == (f"{tenants.acme_project.name}, annotator, named in the batch Spring",)
    with acting_in(tenants.acme):
        before = ProjectMember.objects.get(membership__user=tenants.bob).role
    accept_invitation(token=token, user=tenants.bob)
    with acting_in(tenants.acme):
        assert before == ProjectMember.objects.get(membership__user=tenants.bob).role == ProjectRole.MANAGER
        assert [row.user_id for row in BatchPerson.objects.filter(batch=spring)] == [tenants.bob.pk]
    with pytest.raises(AlreadyMember):
        accept_invitation(token=token, user=tenants.bob)


def test_who_joins_after_the_batch_is_over_joins_the_project_alone(tenants: Tenants) -> None:
    client, (spring, _) = manager(tenants, SOURCE), batches_of(tenants)
    url = "/o/acme/api/v1/projects/parser/invitations/"
    wrong = client.post(url, {"places": 2, "batch": 77}, content_type="application/json")
    assert (wrong.status_code, wrong.json()["code"]) == (422, "cannot_be_named")
    (row,) = client.post(url, {"places": 2, "batch": spring.number}, content_type="application/json").json()["results"]
    assert row["batch"] == spring.number
    assert [one["batch"] for one in client.get(url).json()["results"]] == [spring.number]
    with acting_in(tenants.acme, tenants.alice):
        withdraw_batch(batch=spring)
    token = InvitationToken.read(LINK.findall(row["link"])[0])
    assert token is not None
    user = join(token, 1)
    with acting_in(tenants.acme):
        assert ProjectMember.objects.filter(membership__user=user, project=tenants.acme_project).exists()
        assert not BatchPerson.objects.exists()
