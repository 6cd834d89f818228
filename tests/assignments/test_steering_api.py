"""Steering a campaign by programs and from a shell."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assignments.actions.claiming import Reason
from assignments.actions.quotas import open_quotas
from assignments.actions.steering import let_imports_wait
from assignments.models import Assignment, QueuePosition, TraceQuota, Withheld
from assignments.pool.progress import released_batches
from potato.statistics.samples import allocated, sample
from tenancy.actor import acting_in
from tests.assignments.conftest import Queue
from tests.tenants import Tenants

API = "/o/acme/api/v1/projects/parser/"


@pytest.fixture
def pool(tenants: Tenants) -> Queue:
    """Acme's project with thirty traces of two agents in the pool."""
    with acting_in(tenants.acme, tenants.alice):
        queue = Queue(tenants, tenants.acme_project)
        let_imports_wait(project=queue.project, wait=True)
        queue.publish()
        queue.add_traces(30, agents=("a", "a", "b"))
        open_quotas(project=queue.project)
    return queue


@pytest.fixture
def manager(tenants: Tenants, client: Client) -> Client:
    client.force_login(tenants.mallory)
    return client


def post(client: Client, path: str, body: Any) -> tuple[int, Any]:
    answer = client.post(f"{API}{path}", json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def test_a_program_releases_pauses_and_withdraws_a_batch(pool: Queue, manager: Client) -> None:
    body = {"name": "Sample", "take": "number", "number": 6, "stratum": "model", "seed": 4, "priority": "high"}
    status, batch = post(manager, "batches/", body)
    assert (status, batch["traces"], batch["state"], batch["priority"]) == (201, 6, "open", "high")
    assert batch["selection"] == {"take": "number", "number": 6, "stratum": "model", "seed": 4}
    assert post(manager, "batches/1/", {"state": "paused", "deadline": "2099-01-01"})[1]["state"] == "paused"
    with acting_in(pool.tenants.acme, pool.tenants.bob):
        assert pool.nothing(pool.tenants.bob).reason == Reason.PAUSED
        assert released_batches(pool.project)[0]["selection"]["seed"] == 4
    assert post(manager, "batches/1/", {"state": "withdrawn"})[1]["traces"] == 0
    assert manager.get(f"{API}batches/").json()["results"][0]["state"] == "withdrawn"


def test_what_a_release_cannot_be_asked_for_is_refused_by_name(pool: Queue, manager: Client) -> None:
    status, answer = post(manager, "batches/", {"name": "x", "filter": {"colour": "red"}})
    assert (status, answer["detail"]) == (400, "A release has no filter 'colour'.")
    assert post(manager, "batches/", {"name": "x", "filter": {"model": ["none"]}})[1]["code"] == "nothing_chosen"


def test_a_program_pauses_a_person_and_withholds_traces(pool: Queue, manager: Client) -> None:
    post(manager, "batches/", {"name": "All"})
    assert post(manager, "people/bob/steering/", {"paused": True}) == (200, {"paused": True})
    with acting_in(pool.tenants.acme, pool.tenants.bob):
        assert pool.nothing(pool.tenants.bob).reason == Reason.YOU_ARE_PAUSED
    post(manager, "people/bob/steering/", {"paused": False})
    done = post(manager, "traces/steer/", {"act": "exclude", "traces": ["trace-00000"], "reason": "Broken"})
    assert done[1].pop("act") is not None
    assert done == (200, {"done": 1, "sentence": "1 excluded."})
    with acting_in(pool.tenants.acme):
        assert TraceQuota.objects.get(withheld=Withheld.EXCLUDED).trace.external_id == "trace-00000"
    assert post(manager, "pause/", {"paused": True})[1]["paused"] is True


def test_a_batch_is_released_from_a_shell(pool: Queue) -> None:
    written = io.StringIO()
    call_command("release", project="acme/parser", name="Ten", share=50.0, stratum="model", seed=2, stdout=written)
    assert written.getvalue() == "Released 15 traces as batch 1, Ten.\n"
    with pytest.raises(CommandError, match="There is no filter 'colour=red'"):
        call_command("release", project="acme/parser", name="Ten", filter=["colour=red"])
    with pytest.raises(CommandError, match="No trace of the pool fits"):
        call_command("release", project="acme/parser", name="Ten", filter=["model=none"])


def test_strata_are_rounded_by_largest_remainders_and_ties_by_name() -> None:
    assert allocated({"b": 10, "a": 10, "c": 10}, 10) == {"b": 3, "a": 4, "c": 3}
    assert allocated({"x": 72, "y": 52, "z": 36}, 40) == {"x": 18, "y": 13, "z": 9}
    assert allocated({"x": 2}, 5) == {"x": 2}
    rows = [(number, f"t{number}", "ab"[number % 2]) for number in range(100)]
    assert sample(rows, 10, 1) == sample(rows[::-1], 10, 1)[::-1]


def test_a_program_edits_a_batch_wholly_or_not_at_all(pool: Queue, manager: Client) -> None:
    post(manager, "batches/", {"name": "All"})
    body = {"name": "Week 47", "order": "priority", "redundancy": 2, "people": ["bob"], "deadline": "2099-12-04"}
    status, batch = post(manager, "batches/1/", body)
    assert (status, batch["name"], batch["order"], batch["redundancy"]) == (200, "Week 47", "priority", 2)
    assert (batch["restricted"], batch["deadline"], batch["target"]) == (True, "2099-12-04", 60)
    assert post(manager, "batches/1/", {"name": "Other", "people": ["nobody"]})[0] == 404
    status, batch = post(manager, "batches/1/", {"redundancy": 0, "people": [], "deadline": ""})
    assert (batch["name"], batch["redundancy"], batch["restricted"], batch["deadline"]) == (
        "Week 47",
        None,
        False,
        None,
    )


def test_a_program_gives_traces_a_priority_and_offers_them_to_people(pool: Queue, manager: Client) -> None:
    post(manager, "batches/", {"name": "All", "order": "priority"})
    body: dict[str, Any] = {"act": "priority", "traces": ["trace-00007"], "priority": "urgent"}
    assert post(manager, "traces/steer/", body)[1]["sentence"] == "1 is urgent now."
    with acting_in(pool.tenants.acme, pool.tenants.bob):
        assert pool.claimed(pool.tenants.bob).trace.external_id == "trace-00007"
    offer = {"act": "offer", "filter": {"model": ["b"]}, "people": ["alice"], "days": 3}
    assert post(manager, "traces/steer/", offer)[1]["done"] == 10
    assert post(manager, "traces/steer/", {"act": "tag", "tag": "x"})[0] == 400
    assert post(manager, "traces/steer/", {"act": "tag", "tag": "x", "filter": {"colour": "red"}})[0] == 400


def test_a_program_reads_the_reason_of_a_pause_and_is_limited_to_a_share(pool: Queue, manager: Client) -> None:
    post(manager, "batches/", {"name": "All"})
    post(manager, "people/bob/steering/", {"paused": True, "reason": "Wait for the new guidelines"})
    bob = Client()
    bob.force_login(pool.tenants.bob)
    answer = post(bob, "next/", {})[1]["nothing"]
    assert answer["reason"] == "you_are_paused"
    assert "“Wait for the new guidelines”" in answer["sentence"]
    post(manager, "people/bob/steering/", {"paused": False, "limit": 5, "share": 0.01})
    post(manager, "people/bob/steering/", {"share": 0})
    with acting_in(pool.tenants.acme):
        position = QueuePosition.objects.get(user=pool.tenants.bob)
        assert (position.annotation_limit, position.annotation_share) == (5, None)


def test_a_program_reassigns_a_held_task(pool: Queue, manager: Client) -> None:
    post(manager, "batches/", {"name": "All"})
    with acting_in(pool.tenants.acme, pool.tenants.bob):
        held = pool.claimed(pool.tenants.bob)
    status, answer = post(manager, f"assignments/{held.pk}/reassign/", {"to": "dora"})
    assert (status, answer["annotator"]) == (200, "dora")
    with acting_in(pool.tenants.acme):
        held.refresh_from_db()
        assert held.state == "released"
        row = Assignment.objects.get(pk=answer["assignment"])
        assert (row.user, row.state, row.trace_id) == (pool.tenants.dora, "claimed", held.trace_id)
    assert post(manager, f"assignments/{held.pk}/reassign/", {"to": "alice"})[0] == 409


def test_a_program_steers_many_tasks_and_people_at_once_and_takes_it_back(pool: Queue, manager: Client) -> None:
    post(manager, "batches/", {"name": "All"})
    with acting_in(pool.tenants.acme, pool.tenants.bob):
        held = pool.claimed(pool.tenants.bob)
    listed = manager.get(f"{API}traces/?held=bob").json()["results"]
    assert [(one["id"], one["held_by"], one["batch"]) for one in listed] == [(str(held.trace_id), ["bob"], 1)]
    assert post(manager, "steering/tasks/", {"act": "give_back"})[1]["code"] == "invalid_request"
    body = {"act": "reassign", "people": ["bob"], "to": "dora"}
    status, moved = post(manager, "steering/tasks/", body)
    assert (status, moved["done"], moved["sentence"]) == (
        200,
        1,
        "“trace-00000” is with dora now, without the draft, which is kept for the case that it comes back.",
    )
    assert post(manager, "steering/tasks/", body)[0] == 409
    assert post(manager, f"steering/{moved['act']}/undo/", {})[1] == {"sentence": "Undone: 1 task is as before."}
    more = post(manager, "traces/steer/", {"act": "more_annotators", "filter": {"held": ["bob"]}, "more": 2})
    assert more[1]["sentence"] == "1 wants 2 more annotators."
    (one,) = manager.get(f"{API}traces/?held=bob").json()["results"]
    assert (one["target"], one["extra"], one["free"]) == (3, 2, 2)
    paused = post(manager, "steering/people/", {"act": "pause", "people": ["bob", "dora"], "reason": "A break"})
    assert paused[1]["done"] == 2
    off = post(manager, "steering/people/", {"act": "take_off", "people": ["bob"]})[1]
    assert manager.get(f"{API}traces/?held=bob").json()["results"] == []
    assert post(manager, f"steering/{off['act']}/undo/", {})[0] == 200
    assert len(manager.get(f"{API}traces/?held=bob").json()["results"]) == 1
    assert post(manager, "steering/people/", {"act": "take_off", "people": ["mallory"]})[0] == 409


def test_a_program_pauses_a_project_with_a_reason_and_reads_it(pool: Queue, manager: Client) -> None:
    status, answer = post(manager, "pause/", {"paused": True, "reason": "New guidelines come"})
    assert (status, answer["paused"], answer["reason"]) == (200, True, "New guidelines come")
    assert manager.get(f"{API}pause/").json() == answer
    assert post(manager, "pause/", {"paused": False}) == (200, {"paused": False, "since": None, "reason": ""})
