"""Events reach the apps above: after commit, at least once, and whatever one subscriber does."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from billiard.exceptions import SoftTimeLimitExceeded
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuditEvent
from jobs import outbox
from jobs.models import OutboxEvent
from tenancy import audit
from tenancy.actor import Actor, acting, current
from tests.jobs.conftest import Notifications
from tests.tenants import Tenants

TOPIC = "tests.happened"
DELIVER = "jobs.tasks.deliver_events"
Subscribe = Callable[[outbox.Subscriber], outbox.Subscriber]


@pytest.fixture
def subscribe() -> Iterator[Subscribe]:
    subscribers = []

    def add(subscriber: outbox.Subscriber) -> outbox.Subscriber:
        outbox.subscribe(TOPIC, subscriber)
        subscribers.append(subscriber)
        return subscriber

    yield add
    for subscriber in subscribers:
        outbox.unsubscribe(TOPIC, subscriber)


def publish(actor: Actor, *numbers: int) -> list[OutboxEvent]:
    with acting(actor):
        return [outbox.publish(TOPIC, number=number) for number in numbers]


def row(actor: Actor, event: OutboxEvent) -> OutboxEvent:
    with acting(actor):
        return OutboxEvent.objects.get(pk=event.pk)


def let_the_pause_pass(actor: Actor) -> None:
    with acting(actor):
        OutboxEvent.objects.update(retry_at=timezone.now())


def test_an_event_is_rung_for_after_commit(in_acme: Actor, notifications: Notifications) -> None:
    with acting(in_acme):
        outbox.publish(TOPIC)
        assert notifications.organisations(DELIVER) == []
    assert notifications.organisations(DELIVER) == [in_acme.organisation]


def test_an_event_that_was_rolled_back_never_happened(
    in_acme: Actor, notifications: Notifications, subscribe: Subscribe
) -> None:
    heard: list[OutboxEvent] = []
    subscribe(heard.append)
    with acting(in_acme):
        outbox.publish(TOPIC)
        transaction.set_rollback(True)
    assert outbox.deliver(in_acme) == 0
    assert (heard, notifications.organisations(DELIVER)) == ([], [])


def test_events_are_told_in_their_order_to_every_subscriber(in_acme: Actor, subscribe: Subscribe) -> None:
    heard: list[tuple[str, int]] = []
    subscribe(lambda event: heard.append(("first", event.payload["number"])))
    subscribe(lambda event: heard.append(("second", event.payload["number"])))
    publish(in_acme, 1, 2)
    publish(in_acme, 3)
    assert outbox.deliver(in_acme) == 3
    assert heard == [(who, number) for number in (1, 2, 3) for who in ("first", "second")]
    assert outbox.deliver(in_acme) == 0


def test_an_event_without_subscribers_is_delivered(in_acme: Actor) -> None:
    (event,) = publish(in_acme, 1)
    assert outbox.deliver(in_acme) == 1
    assert row(in_acme, event).delivered_at


def test_a_subscriber_acts_as_the_one_who_delivers(in_acme: Actor, subscribe: Subscribe) -> None:
    actors: list[Actor] = []
    subscribe(lambda event: actors.append(current()))
    publish(in_acme, 1)
    outbox.deliver(in_acme)
    assert actors == [in_acme]


def test_events_of_other_organisations_are_not_told(
    in_acme: Actor, committed_tenants: Tenants, subscribe: Subscribe
) -> None:
    heard: list[OutboxEvent] = []
    subscribe(heard.append)
    publish(in_acme, 1)
    in_birch = Actor(committed_tenants.birch.pk, (committed_tenants.birch.pk,))
    assert outbox.deliver(in_birch) == 0
    assert heard == []


def test_a_subscribers_error_stops_no_other_subscriber_and_no_other_event(in_acme: Actor, subscribe: Subscribe) -> None:
    heard: list[int] = []

    def fail_at_one(event: OutboxEvent) -> None:
        audit.record("tests.half-done", event)
        if event.payload["number"] == 1:
            raise ValueError("no\0thing")

    subscribe(fail_at_one)
    subscribe(lambda event: heard.append(event.payload["number"]))
    first, second = publish(in_acme, 1, 2)
    assert outbox.deliver(in_acme) == 1
    assert heard == [1, 2]
    assert (row(in_acme, first).delivered_at, row(in_acme, first).error) == (None, "ValueError: no\ufffdthing")
    assert row(in_acme, second).delivered_at
    with acting(in_acme):
        assert [event.target_id for event in AuditEvent.objects.filter(verb="tests.half-done")] == [second.pk]


def test_an_event_that_failed_is_told_again_after_a_growing_pause(in_acme: Actor, subscribe: Subscribe) -> None:
    failures = [ValueError("busy"), ValueError("busy")]

    def fail_twice(event: OutboxEvent) -> None:
        if failures:
            raise failures.pop()

    subscribe(fail_twice)
    (event,) = publish(in_acme, 1)
    pauses = []
    for _ in range(2):
        let_the_pause_pass(in_acme)
        assert outbox.deliver(in_acme) == 0
        assert outbox.deliver(in_acme) == 0, "not within the pause"
        pauses.append((row(in_acme, event).retry_at - timezone.now()) / timedelta(seconds=1))
    assert pauses == [pytest.approx(10, abs=5), pytest.approx(20, abs=5)]
    let_the_pause_pass(in_acme)
    assert outbox.deliver(in_acme) == 1
    assert (row(in_acme, event).attempts, row(in_acme, event).error) == (3, "")


def test_an_event_that_nobody_can_take_is_given_up_and_kept(in_acme: Actor, subscribe: Subscribe) -> None:
    def fail(event: OutboxEvent) -> None:
        raise ValueError("never")

    subscribe(fail)
    (event,) = publish(in_acme, 1)
    for _ in range(OutboxEvent.ATTEMPTS_ALLOWED + 2):
        let_the_pause_pass(in_acme)
        outbox.deliver(in_acme)
    assert row(in_acme, event).attempts == OutboxEvent.ATTEMPTS_ALLOWED
    assert outbox.purge(in_acme) == 0
    assert row(in_acme, event).error == "ValueError: never"


def test_an_event_whose_subscriber_takes_the_worker_down_is_counted(in_acme: Actor, subscribe: Subscribe) -> None:
    def hang(event: OutboxEvent) -> None:
        raise SoftTimeLimitExceeded

    subscribe(hang)
    (event,) = publish(in_acme, 1)
    with pytest.raises(SoftTimeLimitExceeded):
        outbox.deliver(in_acme)
    assert row(in_acme, event).attempts == 1
    assert row(in_acme, event).retry_at > timezone.now()


def test_what_the_tasks_time_does_not_suffice_for_is_rung_for_again(
    in_acme: Actor, notifications: Notifications, settings: Settings
) -> None:
    settings.JOBS_TASK_BUDGET_SECONDS = 0
    publish(in_acme, 1, 2)
    assert len(notifications.organisations(DELIVER)) == 2
    assert outbox.deliver(in_acme) == 1
    assert len(notifications.organisations(DELIVER)) == 3
    assert outbox.deliver(in_acme) == 1


def test_an_event_that_a_subscriber_publishes_is_told_too(in_acme: Actor, subscribe: Subscribe) -> None:
    heard: list[int] = []

    def count_down(event: OutboxEvent) -> None:
        heard.append(event.payload["number"])
        if event.payload["number"]:
            outbox.publish(TOPIC, number=event.payload["number"] - 1)

    subscribe(count_down)
    publish(in_acme, 2)
    assert outbox.deliver(in_acme) == 3
    assert heard == [2, 1, 0]


def test_the_broker_may_be_gone(in_acme: Actor, dead_broker: None) -> None:
    (event,) = publish(in_acme, 1)
    assert row(in_acme, event).delivered_at is None
    assert outbox.deliver(in_acme) == 1


def test_delivered_events_are_kept_for_a_week(in_acme: Actor) -> None:
    old, young = publish(in_acme, 1, 2)
    outbox.deliver(in_acme)
    with acting(in_acme):
        OutboxEvent.objects.filter(pk=old.pk).update(delivered_at=timezone.now() - timedelta(days=7, seconds=1))
        OutboxEvent.objects.filter(pk=young.pk).update(delivered_at=timezone.now() - timedelta(days=6, hours=23))
    assert outbox.purge(in_acme) == 1
    with acting(in_acme):
        assert OutboxEvent.objects.get() == young


def test_many_events_of_a_moment_ring_twice_and_are_all_told(
    in_acme: Actor, notifications: Notifications, subscribe: Subscribe
) -> None:
    heard: list[int] = []
    subscribe(lambda event: heard.append(event.payload["number"]))
    for number in range(10):
        publish(in_acme, number)
    first, second = notifications.times(DELIVER)
    assert first is None
    assert second is not None
    assert outbox.deliver(in_acme) == 10
    assert heard == list(range(10))
