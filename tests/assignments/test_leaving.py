"""Who leaves the organisation holds nothing any more, at once; the drafts are kept."""

from django.test import Client

from accounts.actions.organisations import change_member
from accounts.models import AuditEvent, Membership, User
from assignments.actions.working import save_draft
from assignments.models import Assignment, AssignmentState
from dashboard.figures import people_of, status_of
from tenancy.actor import acting_in
from tenancy.roles import Role
from tests.assignments.conftest import Queue, hand_in


def set_active(queue: Queue, user: User, is_active: bool) -> Membership:
    membership = Membership.objects.get(organisation=queue.tenants.acme, user=user)
    return change_member(
        membership=membership,
        role=Role(membership.role),
        annotator_name=membership.annotator_name,
        is_active=is_active,
        by_owner=True,
    )


def test_what_somebody_held_is_others_at_once_and_counted_nowhere(queue: Queue) -> None:
    queue.publish(max_open=2)
    bob, mallory = queue.tenants.bob, queue.tenants.mallory
    done = hand_in(queue.claimed(bob)).assignment
    first, second = queue.claimed(bob), queue.claimed(bob, another=True)
    queue.nothing(mallory)
    assert (people_of(queue.project).open, status_of(queue.project, 1).held) == (2, 2)
    membership = set_active(queue, bob, False)
    assert membership.released == 2
    assert (people_of(queue.project).open, status_of(queue.project, 1).held) == (0, 0)
    assert queue.claimed(mallory).trace_id in (first.trace_id, second.trace_id)
    done.refresh_from_db()
    assert done.state == AssignmentState.SUBMITTED
    assert AuditEvent.objects.get(verb="membership.changed").detail["released"] == ["2"]


def test_the_drafts_are_kept_and_coming_back_brings_no_task_back(queue: Queue) -> None:
    bob = queue.tenants.bob
    held = queue.claimed(bob)
    save_draft(assignment=held, fencing_token=held.fencing_token, revision=0, content={"answers": {}})
    set_active(queue, bob, False)
    set_active(queue, bob, True)
    row = Assignment.objects.get(pk=held.pk)
    assert (row.state, row.lease_until) == (AssignmentState.RELEASED, None)
    assert queue.quota(held) == (0, 0)
    draft = row.draft()
    assert draft is not None
    assert draft.content == {"answers": {}}
    assert people_of(queue.project).open == 0


def test_what_is_held_in_another_organisation_stays(queue: Queue) -> None:
    bob = queue.tenants.bob
    with acting_in(queue.tenants.birch, queue.tenants.charlie):
        Membership.objects.create(user=bob, annotator_name="bob")
        other = Queue(queue.tenants, queue.tenants.birch_project)
        other.publish()
        other.add_traces(1)
        held = other.claimed(bob)
    queue.claimed(bob)
    assert set_active(queue, bob, False).released == 1
    with acting_in(queue.tenants.birch):
        assert Assignment.objects.get(pk=held.pk).is_open


def test_the_page_says_how_many_tasks_went_back(queue: Queue, client: Client) -> None:
    queue.claimed(queue.tenants.bob)
    membership = Membership.objects.get(organisation=queue.tenants.acme, user=queue.tenants.bob)
    client.force_login(queue.tenants.dora)
    page = f"/o/acme/admin/accounts/membership/{membership.pk}/change/"
    assert "go back to the queue" in client.get(page).content.decode()
    answer = client.post(page, {"role": "annotator", "annotator_name": "bob"}, follow=True)
    assert "1 task that bob held went back to the queue. The drafts are kept." in answer.content.decode()
