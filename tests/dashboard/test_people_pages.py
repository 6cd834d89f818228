"""The tab People and a person's page, as forms without JavaScript: what people did, and how their work is steered."""

import re
from csv import DictReader
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client

from accounts.models import AuditEvent, Membership, ProjectMember
from assignments.actions.claiming import Reason
from assignments.actions.working import heartbeat, save_draft
from assignments.models import Assignment, Batch, BatchPerson, QueuePosition
from tenancy.actor import acting_in
from tenancy.roles import Role
from tests.assignments.conftest import Queue, submit
from tests.dashboard.reviews import deliver
from tests.tenants import Tenants

PEOPLE = "/o/acme/p/parser/people/"
BEGIN = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def manager(tenants: Tenants, client: Client) -> Client:
    client.force_login(tenants.mallory)
    return client


@pytest.fixture
def held(tenants: Tenants) -> tuple[Queue, Assignment]:
    """Bob has annotated one trace, 3 minutes at work within the 40 that he held it, and holds another with a draft."""
    with acting_in(tenants.acme, tenants.bob):
        queue = Queue(tenants, tenants.acme_project)
        queue.publish(target=2)
        queue.add_traces(6, each=lambda at: {"task": "Mend the parser\nIt drops lines." if at == 1 else ""})
        with time_machine.travel(BEGIN, tick=False) as clock:
            first = queue.claimed(tenants.bob)
            for _ in range(6):
                clock.shift(timedelta(seconds=30))
                heartbeat(assignment=first, fencing_token=first.fencing_token)
            clock.shift(timedelta(minutes=25))
            heartbeat(assignment=first, fencing_token=first.fencing_token)
            clock.shift(timedelta(minutes=12))
            submit(first)
        task = queue.claimed(tenants.bob)
        save_draft(assignment=task, fencing_token=task.fencing_token, revision=0, content={"page": {"viewed": ["a"]}})
    deliver(queue)
    return queue, task


def change(client: Client, **form: object) -> str:
    return client.post(f"{PEOPLE}bob/change/", form, follow=True).content.decode()


def test_who_may_not_invite_reads_of_no_invitation_where_nobody_works_yet(queue: Queue, client: Client) -> None:
    tenants = queue.tenants
    Membership.objects.filter(user=tenants.bob).update(role=Role.VIEWER)
    Membership.objects.exclude(user__in=[tenants.bob, tenants.mallory]).update(is_active=False)
    client.force_login(tenants.bob)
    page = client.get(PEOPLE).content.decode()
    assert "Nobody works here yet" in page
    assert "/people/invite/" not in page
    client.force_login(tenants.mallory)
    assert "/people/invite/" in client.get(PEOPLE).content.decode()


def test_a_persons_page_shows_what_they_did_and_hold(held: tuple[Queue, Assignment], manager: Client) -> None:
    page = manager.get(f"{PEOPLE}bob/").content.decode()
    assert "1 submitted, 0 skipped" in page
    assert "Approve" in page
    assert "trace-00001" in page
    assert "Reassign" in page


def test_the_time_at_work_stands_before_the_time_that_passed(held: tuple[Queue, Assignment], manager: Client) -> None:
    page = manager.get(PEOPLE).content.decode()
    assert re.search(r'title="40 min from claim to submission">3 min<', page)
    listed = manager.get("/o/acme/p/parser/annotations/").content.decode()
    assert 'title="At work; 40 min from the claim to the submission">3 min<' in listed


def test_a_person_is_paused_with_a_reason_from_their_page_and_goes_on(
    held: tuple[Queue, Assignment], manager: Client
) -> None:
    queue, task = held
    page = change(manager, do="pause", reason="Read the guidelines <first>")
    assert "bob is given no new tasks here" in page
    assert "They read: “Read the guidelines &lt;first&gt;”" in page
    assert "Paused" in manager.get(PEOPLE).content.decode()
    bob = Client()
    bob.force_login(queue.tenants.bob)
    home = bob.get("/o/acme/").content.decode()
    assert "You are paused here" in home
    assert "The manager wrote: “Read the guidelines &lt;first&gt;”" in home
    with acting_in(queue.tenants.acme, queue.tenants.bob):
        submit(task)
        assert queue.nothing(queue.tenants.bob).reason == Reason.YOU_ARE_PAUSED
    assert "Read the guidelines &lt;first&gt;" in bob.post("/o/acme/p/parser/next/").content.decode()
    assert "bob is given tasks again." in change(manager, do="resume")
    with acting_in(queue.tenants.acme, queue.tenants.bob):
        queue.claimed(queue.tenants.bob)
        assert {"person.paused", "person.resumed"} <= set(AuditEvent.objects.values_list("verb", flat=True))


def test_a_person_is_limited_from_their_page(held: tuple[Queue, Assignment], manager: Client) -> None:
    queue, task = held
    page = change(manager, do="limit", limit="2", share="50")
    assert "bob is limited to 2 annotations and 50% of all annotations here." in page
    assert "at most 2 annotations, 50% of all" in manager.get(PEOPLE).content.decode()
    with acting_in(queue.tenants.acme, queue.tenants.bob):
        submit(task)
        assert queue.nothing(queue.tenants.bob).reason == Reason.LIMIT_REACHED
    for wrong, words in (
        ({"limit": "many"}, "whole number"),
        ({"share": "x"}, "per cent"),
        ({"share": "101"}, "100 per"),
    ):
        refused = change(manager, do="limit", **wrong)
        assert words in refused.split('id="limit-error"')[1].split("</span>")[0]
        for name, value in wrong.items():
            assert f'name="{name}" value="{value}" aria' in refused.replace('inputmode="numeric" ', "")
    assert "bob is limited here as the project limits everybody." in change(manager, do="limit", limit="", share="")
    with acting_in(queue.tenants.acme):
        position = QueuePosition.objects.get(user=queue.tenants.bob)
        assert (position.annotation_limit, position.annotation_share) == (None, None)


@pytest.mark.parametrize("keeps", [True, False])
def test_a_held_task_is_reassigned_from_the_persons_page(
    held: tuple[Queue, Assignment], manager: Client, keeps: bool
) -> None:
    queue, task = held
    form = {"do": "reassign", "task": task.pk, "to": "dora", **({"keep_draft": "1"} if keeps else {})}
    page = change(manager, **form)
    assert f"“Mend the parser” is with dora now, {'with the draft.' if keeps else 'without the draft'}" in page
    with acting_in(queue.tenants.acme):
        row = Assignment.objects.open().get()
        assert (row.user, row.trace_id) == (queue.tenants.dora, task.trace_id)
        draft = row.draft()
        assert (draft.content if draft else None) == ({"page": {"viewed": ["a"]}} if keeps else None)
    assert "holds this task no more" in change(manager, **form)


def test_a_task_goes_to_nobody_who_does_not_annotate_here(held: tuple[Queue, Assignment], manager: Client) -> None:
    _, task = held
    assert "from the list" in change(manager, do="reassign", task=task.pk, to="charlie")
    assert manager.post(f"{PEOPLE}bob/change/", {"do": "reassign", "task": "no id"}).status_code == 404


def test_many_are_paused_at_once_from_the_list(held: tuple[Queue, Assignment], manager: Client) -> None:
    queue, _ = held
    ids = re.findall(r'name="who" value="([^"]+)"', manager.get(PEOPLE).content.decode())
    assert ids
    done = manager.post(PEOPLE, {"who": ids, "do": "pause", "reason": "A break"}, follow=True).content.decode()
    assert "given no new tasks here" in done
    with acting_in(queue.tenants.acme):
        assert QueuePosition.objects.filter(paused_at__isnull=False, pause_reason="A break").count() == len(ids)


@pytest.mark.parametrize("do", ["pause", "limit", "viewer", "take_off", "give_back", "reassign"])
def test_what_is_done_to_one_person_is_undone_from_their_page(
    held: tuple[Queue, Assignment], manager: Client, do: str
) -> None:
    queue, task = held
    bob = queue.tenants.bob
    forms: dict[str, dict[str, object]] = {
        "pause": {"reason": "A break"},
        "limit": {"limit": "1"},
        "reassign": {"task": task.pk, "to": "dora"},
    }
    page = change(manager, do=do, **forms.get(do, {}))
    (undo,) = re.findall(r'formaction="([^"]+)" data-undo-seconds', page)
    with acting_in(queue.tenants.acme):
        assert Assignment.objects.open().of(bob).exists() == (do in ("pause", "limit"))
    answer = manager.post(undo, follow=True)
    assert answer.redirect_chain[-1][0] == f"{PEOPLE}bob/"
    assert "is as before." in answer.content.decode()
    with acting_in(queue.tenants.acme, bob):
        assert Assignment.objects.open().get().pk == task.pk
        position = QueuePosition.objects.get(user=bob)
        assert (position.paused_at, position.annotation_limit) == (None, None)
        assert AuditEvent.objects.filter(verb="steering.undone").count() == 1
        submit(queue.claimed(bob))


def test_who_is_taken_back_or_put_on_a_closed_project_is_off_it_again_by_the_undo(
    held: tuple[Queue, Assignment], manager: Client
) -> None:
    queue, _ = held
    change(manager, do="take_off")
    page = change(manager, do="annotator")
    assert "bob is annotator of this project now." in page
    with acting_in(queue.tenants.acme, queue.tenants.bob):
        queue.claimed(queue.tenants.bob)
    manager.post(re.findall(r'formaction="([^"]+)" data-undo-seconds', page)[0])
    with acting_in(queue.tenants.acme):
        assert not Assignment.objects.open().exists()
        (row,) = ProjectMember.objects.filter(membership__user=queue.tenants.bob)
        assert row.left_at is not None


def test_a_role_is_given_from_the_list(held: tuple[Queue, Assignment], manager: Client) -> None:
    queue, _ = held
    with acting_in(queue.tenants.acme):
        bob = str(Membership.objects.get(user=queue.tenants.bob).pk)
    done = manager.post(PEOPLE, {"who": [bob], "do": "adjudicator"}, follow=True).content.decode()
    assert "bob is adjudicator of this project now." in done
    assert manager.post(PEOPLE, {"who": [bob], "do": "emperor"}).status_code == 404


@pytest.mark.usefixtures("held")
def test_people_are_narrowed_and_go_out_as_a_table(manager: Client) -> None:
    change(manager, do="pause", reason="")
    chips = re.findall(r'popovertarget="filter-(\w+)"', manager.get(PEOPLE).content.decode())
    assert "work" in chips
    assert "agreement" not in chips, "nobody has any, so there is nothing to choose"

    def table(query: str) -> list[dict[str, str]]:
        return list(DictReader(manager.get(f"{PEOPLE}?format=csv&{query}").content.decode().splitlines()))

    def names(query: str) -> list[str]:
        return [row["annotator"] for row in table(query)]

    everybody = names("")
    assert "bob" in everybody
    assert names("work=paused") == names("work=held") == names("name=BO") == ["bob"]
    assert "bob" not in names("seen=never")
    assert names("work=paused&seen=never") == []
    assert names("work=unknown") == everybody
    (row,) = table("name=bob")
    assert (row["done"], row["held"], row["paused"], row["median_active_seconds"]) == ("1", "1", "yes", "180")
    assert row["median_elapsed_seconds"] == "2400"


def test_people_are_named_in_batches_from_the_list(held: tuple[Queue, Assignment], manager: Client) -> None:
    queue, _ = held
    with acting_in(queue.tenants.acme, queue.tenants.alice):
        batch = Batch.objects.create(project=queue.project, number=9, name="Hard ones", is_restricted=True)
        bob = Membership.objects.get(user=queue.tenants.bob)
    page = manager.get(PEOPLE).content.decode()
    assert "Hard ones" in page
    nothing = manager.post(PEOPLE, {"who": [str(bob.pk)], "do": "batches"}, follow=True).content.decode()
    assert "Tick the batches" in nothing
    done = manager.post(PEOPLE, {"who": [str(bob.pk)], "do": "batches", "batch": ["9"]}, follow=True).content.decode()
    with acting_in(queue.tenants.acme):
        assert BatchPerson.objects.get(batch=batch).user == queue.tenants.bob
    manager.post(re.findall(r'formaction="([^"]+)" data-undo-seconds', done)[0])
    with acting_in(queue.tenants.acme):
        assert not BatchPerson.objects.filter(batch=batch).exists()
