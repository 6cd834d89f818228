"""A task that is over: submitted, skipped, given back or out of time."""

from datetime import timedelta

from django.test import Client
from django.utils import timezone

from assignments.actions.expiring import expire_leases
from assignments.actions.working import release, skip
from assignments.models import Assignment
from tenancy.actor import Actor, acting_in
from tests.assignments.opening import DEFAULTS, GUIDELINES, claimed, data_of, path_of, publish, small, submit_verdict
from tests.pages import text_of
from tests.tenants import Tenants


def test_a_submitted_and_a_skipped_task_say_so_and_lead_on(tenants: Tenants, bob: Client) -> None:
    publish(tenants)
    small(tenants)
    small(tenants, external_id="another")
    first = claimed(tenants)
    with acting_in(tenants.acme, tenants.bob):
        submit_verdict(first)
    page = text_of(bob.get(path_of(first)))
    assert "You submitted this task" in page
    assert 'action="/o/acme/p/parser/next/"' in page
    assert "Claim it again" not in page
    assert "task-data" not in page
    second = claimed(tenants)
    with acting_in(tenants.acme, tenants.bob):
        skip(assignment=second, fencing_token=1, reason="<b>No idea</b>")
    page = text_of(bob.get(path_of(second, "steps/")))
    assert "You skipped this task" in page
    assert "&lt;b&gt;No idea" in page


def test_a_task_whose_time_ended_is_claimed_again_or_opened_late(tenants: Tenants, bob: Client) -> None:
    publish(tenants, DEFAULTS + GUIDELINES)
    small(tenants)
    assignment = claimed(tenants)
    with acting_in(tenants.acme, tenants.bob):
        Assignment.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert expire_leases(Actor(tenants.acme.pk, (tenants.acme.pk,))) == 1
    page = text_of(bob.get(path_of(assignment)))
    assert "Your time for this task ended" in page
    late = text_of(bob.get(path_of(assignment), {"late": "1"}))
    assert data_of(late)["assignment"] == data_of(late)["assignment"] | {"state": "expired", "lease_until": None}
    assert data_of(late)["urls"]["steps"].endswith("/steps/?late=1")
    assert 'href="?late=1&amp;view=split"' in late
    assert 'name="late" value="1"' in text_of(bob.get(path_of(assignment, "steps/"), {"late": "1"}))
    assert bob.post(path_of(assignment, "resume/")).status_code == 302
    again = data_of(text_of(bob.get(path_of(assignment))))["assignment"]
    assert (again["state"], again["lease_token"]) == ("claimed", 2)


def test_a_task_that_was_given_back_is_claimed_again_unless_others_have_its_places(
    tenants: Tenants, bob: Client
) -> None:
    publish(tenants)
    small(tenants)
    assignment = claimed(tenants)
    with acting_in(tenants.acme, tenants.bob):
        release(assignment=assignment, fencing_token=1)
    assert "You gave this task back" in text_of(bob.get(path_of(assignment)))
    assert "You gave this task back" in text_of(bob.get(path_of(assignment), {"late": "1"}))
    claimed(tenants, tenants.mallory)
    page = text_of(bob.post(path_of(assignment, "resume/"), follow=True))
    assert "others have taken its places" in page
    assert "You gave this task back" in page
