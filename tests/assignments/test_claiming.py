"""Who is given which trace, and what is said where there is none."""

import pytest

from accounts.models import Project, User
from assignments.actions.claiming import Reason, resume
from assignments.actions.expiring import expire_leases
from assignments.actions.quotas import follow_configuration, open_quotas
from assignments.actions.working import heartbeat, release, save_draft, skip
from assignments.errors import LeaseEnded, NotOpen, TakenOver, TooManyOpen
from assignments.models import Assignment, AssignmentState, TraceQuota
from tenancy.actor import Actor
from tenancy.models import new_id
from tests.assignments.conftest import Queue, annotators, submit


def test_two_annotators_are_given_different_traces_the_oldest_first(queue: Queue) -> None:
    alice, bob = queue.claimed(queue.tenants.alice), queue.claimed(queue.tenants.bob)
    assert [alice.trace.external_id, bob.trace.external_id] == ["trace-00000", "trace-00001"]
    assert queue.quota(alice) == (1, 0)
    assert alice.version.number == 1


def test_an_annotator_who_comes_back_goes_on_with_the_open_trace(queue: Queue) -> None:
    first = queue.claimed(queue.tenants.bob)
    queue.end_lease(first)
    again = queue.claimed(queue.tenants.bob)
    assert (again.pk, again.fencing_token) == (first.pk, first.fencing_token)
    assert again.lease_until is not None
    assert again.lease_until > again.since
    assert queue.quota(first) == (1, 0)


def test_as_many_traces_are_open_as_the_project_allows(queue: Queue) -> None:
    queue.publish(max_open=2)
    first = queue.claimed(queue.tenants.bob)
    second = queue.claimed(queue.tenants.bob, another=True)
    assert first.trace_id != second.trace_id
    with pytest.raises(TooManyOpen):
        queue.claimed(queue.tenants.bob, another=True)
    assert queue.claimed(queue.tenants.bob).pk == first.pk


def test_nobody_is_given_a_trace_again_that_they_submitted_or_skipped(queue: Queue) -> None:
    queue.publish(target=3)
    submitted = queue.claimed(queue.tenants.bob)
    submit(submitted)
    skipped = queue.claimed(queue.tenants.bob)
    skip(assignment=skipped, fencing_token=skipped.fencing_token, reason="I wrote this code")
    third = queue.claimed(queue.tenants.bob)
    submit(third)
    assert len({submitted.trace_id, skipped.trace_id, third.trace_id}) == 3
    assert queue.nothing(queue.tenants.bob).reason == Reason.YOURS_ARE_DONE
    assert queue.claimed(queue.tenants.alice).trace_id == submitted.trace_id


@pytest.mark.parametrize("way", ["expired", "released"])
def test_an_expired_or_released_trace_comes_back_with_its_draft(queue: Queue, way: str) -> None:
    first = queue.claimed(queue.tenants.bob)
    save_draft(assignment=first, fencing_token=first.fencing_token, revision=0, content={"summary": "half a thought"})
    if way == "expired":
        queue.expire(first)
    else:
        release(assignment=first, fencing_token=first.fencing_token)
    assert queue.quota(first) == (0, 0)
    for _ in range(2):
        submit(queue.claimed(queue.tenants.bob))
    again = queue.claimed(queue.tenants.bob)
    assert again.pk == first.pk
    assert again.fencing_token == first.fencing_token + 1
    draft = again.draft()
    assert draft is not None
    assert draft.content == {"summary": "half a thought"}


def test_a_claim_keeps_the_configuration_of_its_draft_and_takes_the_newest_without_one(queue: Queue) -> None:
    drafted, untouched = queue.claimed(queue.tenants.bob), queue.claimed(queue.tenants.alice)
    save_draft(assignment=drafted, fencing_token=drafted.fencing_token, revision=0, content={})
    queue.publish(target=1, max_open=2)
    for assignment in (drafted, untouched):
        queue.expire(assignment)
    assert [resume(assignment=row).version.number for row in (drafted, untouched)] == [1, 1]
    for assignment in (drafted, untouched):
        assignment.refresh_from_db()
        queue.expire(assignment)
    for person in (queue.tenants.bob, queue.tenants.alice):
        claim_the_own_again(queue, person)
    found = {row.pk: row.version.number for row in Assignment.objects.open()}
    assert found[drafted.pk] == 1
    assert found[untouched.pk] == 2


def claim_the_own_again(queue: Queue, person: User) -> None:
    own = Assignment.objects.of(person).earliest("pk").pk
    while (claimed := queue.claimed(person)).pk != own:
        release(assignment=claimed, fencing_token=claimed.fencing_token)


def test_an_unpublished_project_gives_nothing_out(queue: Queue) -> None:
    other = Project.objects.create(slug="other", name="Other")
    assert Queue(queue.tenants, other).nothing(queue.tenants.bob).reason == Reason.NOT_PUBLISHED


def test_a_project_without_traces_says_so(queue: Queue) -> None:
    other = Queue(queue.tenants, Project.objects.create(slug="other", name="Other"))
    other.publish()
    assert other.nothing(queue.tenants.bob).reason == Reason.NO_TRACES


def test_a_project_that_is_done_says_so(queue: Queue) -> None:
    for _ in range(3):
        submit(queue.claimed(queue.tenants.bob))
    for person in (queue.tenants.bob, queue.tenants.alice):
        assert queue.nothing(person).reason == Reason.ALL_DONE


def test_where_others_hold_what_is_left_the_end_of_the_next_lease_is_told(queue: Queue) -> None:
    held = [queue.claimed(person) for person in annotators(3)]
    answer = queue.nothing(queue.tenants.bob)
    assert answer.reason == Reason.WITH_OTHERS
    assert answer.again_at == min(row.lease_until for row in held if row.lease_until)
    queue.expire(held[1])
    assert queue.claimed(queue.tenants.bob).trace_id == held[1].trace_id


def test_traces_that_are_imported_later_join_the_queue(queue: Queue) -> None:
    for _ in range(3):
        submit(queue.claimed(queue.tenants.bob))
    assert queue.nothing(queue.tenants.bob).reason == Reason.ALL_DONE
    (late,) = queue.add_traces(1, "late")
    assert queue.claimed(queue.tenants.bob).trace_id == late.pk


def test_a_trace_that_is_older_than_the_queue_s_newest_is_given_out_too(queue: Queue) -> None:
    """Its import began before another's, and ended behind it."""
    early = new_id()
    queue.add_traces(1, prefix="late")
    while open_quotas(project=queue.project):
        pass
    queue.add_traces(1, prefix="early", ids=[early])
    for _ in range(4):
        submit(queue.claimed(queue.tenants.bob))
    assert queue.claimed(queue.tenants.bob).trace_id == early


def test_a_project_that_wants_more_annotators_gives_its_traces_out_again(queue: Queue) -> None:
    for _ in range(3):
        submit(queue.claimed(queue.tenants.bob))
    queue.publish(target=2)
    assert follow_configuration(project=queue.project) == 3
    assert queue.nothing(queue.tenants.bob).reason == Reason.YOURS_ARE_DONE
    submit(queue.claimed(queue.tenants.alice))


def test_a_project_that_wants_fewer_takes_nobodys_place_away(queue: Queue) -> None:
    queue.publish(target=3)
    open_quotas(project=queue.project)
    holders = annotators(3)
    held = [queue.claimed(person) for person in holders]
    assert len({row.trace_id for row in held}) == 1
    queue.publish(target=1)
    follow_configuration(project=queue.project)
    submit(held[0])
    submit(held[1])
    assert queue.quota(held[0]) == (1, 2)
    queue.expire(held[2])
    assert queue.claimed(queue.tenants.bob).trace_id != held[0].trace_id, "what came free is not given out again"
    assert submit(held[2]).is_surplus


def test_a_heartbeat_prolongs_the_lease_until_the_sweep_has_come_by(queue: Queue) -> None:
    held = queue.claimed(queue.tenants.bob)
    queue.end_lease(held)
    heartbeat(assignment=held, fencing_token=held.fencing_token)
    assert expire_leases(Actor(queue.tenants.acme.pk, (queue.tenants.acme.pk,))) == 0
    queue.expire(held)
    with pytest.raises(LeaseEnded):
        heartbeat(assignment=held, fencing_token=held.fencing_token)
    with pytest.raises(LeaseEnded):
        release(assignment=held, fencing_token=held.fencing_token)


def test_who_takes_over_in_another_tab_leaves_the_first_one_unable_to_write(queue: Queue) -> None:
    first = queue.claimed(queue.tenants.bob)
    second = resume(assignment=first)
    assert second.pk == first.pk
    old = first.fencing_token
    for write in (
        lambda: heartbeat(assignment=first, fencing_token=old),
        lambda: save_draft(assignment=first, fencing_token=old, revision=0, content={}),
        lambda: skip(assignment=first, fencing_token=old, reason="no"),
        lambda: release(assignment=first, fencing_token=old),
    ):
        with pytest.raises(TakenOver):
            write()
    save_draft(assignment=second, fencing_token=second.fencing_token, revision=0, content={"kept": True})
    assert queue.quota(first) == (1, 0)


def test_a_trace_whose_lease_ended_is_resumed_while_a_place_is_free(queue: Queue) -> None:
    held = queue.claimed(queue.tenants.bob)
    queue.expire(held)
    assert resume(assignment=held).state == AssignmentState.CLAIMED
    assert queue.quota(held) == (1, 0)
    held.refresh_from_db()
    queue.expire(held)
    assert queue.claimed(queue.tenants.alice).trace_id == held.trace_id
    with pytest.raises(LeaseEnded):
        resume(assignment=held)


def test_nobody_has_more_open_than_the_project_allows_by_resuming(queue: Queue) -> None:
    queue.publish(max_open=2)
    ended = queue.claimed(queue.tenants.bob)
    queue.expire(ended)
    first, second = (queue.claimed(queue.tenants.bob, another=True) for _ in range(2))
    with pytest.raises(TooManyOpen):
        resume(assignment=ended)
    ended.refresh_from_db()
    assert ended.state == AssignmentState.EXPIRED
    assert queue.quota(ended) == (0, 0)
    assert resume(assignment=first).is_open, "what is open counts itself no second time"
    submit(second)
    assert resume(assignment=ended).is_open


def test_what_is_over_is_not_resumed(queue: Queue) -> None:
    held = queue.claimed(queue.tenants.bob)
    submit(held)
    with pytest.raises(NotOpen):
        resume(assignment=held)


def test_the_sweep_takes_back_only_what_has_ended(queue: Queue) -> None:
    ended, going_on = queue.claimed(queue.tenants.bob), queue.claimed(queue.tenants.alice)
    queue.expire(ended)
    going_on.refresh_from_db()
    assert going_on.is_open
    assert TraceQuota.objects.filter(active=1).count() == 1
