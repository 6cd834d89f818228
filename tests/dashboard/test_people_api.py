"""A project's people and invitations in the API: listed, put on, taken off, invited."""

from typing import Any

import pytest
from django.test import Client

from accounts.actions.invitations import offer_behind
from accounts.invitation_links import InvitationToken
from accounts.models import AuditEvent, Invitation, Membership, ProjectMember
from assignments.actions.steering import limit_person, pause_person
from assignments.models import Assignment, AssignmentState
from dashboard.actions import take_everything_in
from tenancy.actor import current
from tenancy.roles import Role
from tests.assignments.conftest import Queue, queue, submit

__all__ = ["queue"]  # A fixture.

API = "/o/acme/api/v1/projects/parser/"


class Caller:
    def __init__(self, client: Client) -> None:
        self._client = client

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        more = {} if body is None else {"data": body, "content_type": "application/json"}
        answer = getattr(self._client, method)(f"{API}{path}", **more)
        return answer.status_code, answer.json() if answer.content else None


@pytest.fixture
def mallory(queue: Queue, client: Client) -> Caller:
    client.force_login(queue.tenants.mallory)
    return Caller(client)


def test_people_are_listed_with_what_they_do(queue: Queue, mallory: Caller) -> None:
    submit(queue.claimed(queue.tenants.bob))
    queue.claimed(queue.tenants.bob)
    take_everything_in(current())
    status, answer = mallory.ask("get", "people/")
    assert status == 200
    (bob,) = [one for one in answer["people"] if one["name"] == "bob"]
    assert (bob["role"], bob["place"], bob["held"], bob["agreement"]) == ("Annotator", None, 1, None)
    assert bob["last_seen_at"] is not None
    assert (bob["paused_at"], bob["annotation_limit"], bob["annotation_share"]) == (None, None, None)
    assert 0 <= bob["elapsed_seconds"] == bob["median_seconds"] < 60
    assert answer["left"] == []


def test_who_is_paused_and_limited_stands_in_the_list(queue: Queue, mallory: Caller) -> None:
    queue.claimed(queue.tenants.bob)
    pause_person(project=queue.project, user=queue.tenants.bob, reason="Come and see me.")
    limit_person(project=queue.project, user=queue.tenants.bob, limit=40, share=0.25)
    _, answer = mallory.ask("get", "people/")
    (bob,) = [one for one in answer["people"] if one["name"] == "bob"]
    assert bob["paused_at"] is not None
    assert bob["pause_reason"] == "Come and see me."
    assert (bob["annotation_limit"], bob["annotation_share"]) == (40, 0.25)


def test_a_place_is_given_changed_and_ended_and_held_tasks_go_back(queue: Queue, mallory: Caller) -> None:
    held = queue.claimed(queue.tenants.bob)
    assert mallory.ask("put", "people/bob/", {"role": "annotator"}) == (
        200,
        {"name": "bob", "role": "annotator", "may_export": False},
    )
    assert mallory.ask("post", "people/bob/give-back/") == (200, {"released": 1})
    assert AuditEvent.objects.get(verb="assignments.given_back").detail == {"project": "parser", "released": 1}
    again = queue.claimed(queue.tenants.bob)
    assert mallory.ask("delete", "people/bob/") == (200, {"released": 1})
    assert Assignment.objects.get(pk=again.pk).state == AssignmentState.RELEASED
    assert held.user_id == queue.tenants.bob.pk
    _, answer = mallory.ask("get", "people/")
    assert [one["name"] for one in answer["left"]] == ["bob"]
    assert mallory.ask("delete", "people/bob/")[0] == 404
    status, answer = mallory.ask("delete", "people/dora/")
    assert (status, answer["code"]) == (409, "everywhere_by_role")
    assert mallory.ask("put", "people/nobody/", {"role": "annotator"})[0] == 404
    assert mallory.ask("put", "people/bob/", {"role": "gardener"})[0] == 400


def test_people_are_invited_by_address_and_by_a_link_for_many(queue: Queue, mallory: Caller) -> None:
    status, answer = mallory.ask("post", "invitations/", {"addresses": ["a@x.org", "b@x.org"], "beginning": "P"})
    assert status == 201
    assert [(one["email"], one["name"]) for one in answer["results"]] == [("a@x.org", "P01"), ("b@x.org", "P02")]
    token = InvitationToken.read(answer["results"][0]["link"].rstrip("/").rpartition("/")[2])
    assert token is not None
    assert offer_behind(token, reader=None) is not None
    status, answer = mallory.ask("post", "invitations/", {"places": 30, "beginning": "student_"})
    assert (status, answer["results"][0]["places"]) == (201, 30)
    _, listed = mallory.ask("get", "invitations/")
    assert [one["link"] for one in listed["results"]] == [None, None, None]
    for body, words in (
        ({}, "either addresses"),
        ({"addresses": ["a@x.org"]}, "invited already"),
        ({"addresses": ["c@x.org", "nobody"]}, "has no @"),
        ({"places": 3, "role": "manager"}, "makes no managers"),
    ):
        status, answer = mallory.ask("post", "invitations/", body)
        assert status == 400
        assert words in str(answer)
    assert Invitation.objects.count() == 3


def test_an_invitation_is_revoked_by_who_manages_all_that_it_is_of(queue: Queue, mallory: Caller) -> None:
    _, answer = mallory.ask("post", "invitations/", {"addresses": ["a@x.org"]})
    Membership.objects.filter(user=queue.tenants.mallory).update(role=Role.MEMBER)
    assert mallory.ask("delete", f"invitations/{answer['results'][0]['id']}/")[0] == 404
    Membership.objects.filter(user=queue.tenants.mallory).update(role=Role.MANAGER)
    assert mallory.ask("delete", f"invitations/{answer['results'][0]['id']}/")[0] == 204
    assert not Invitation.objects.open().exists()
    assert not ProjectMember.objects.exists()
