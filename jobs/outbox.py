"""Events go up through here: written in the transaction in which something happened, delivered to subscribers after it.

A subscriber may be called twice and must be safe to run twice. One delivery takes the events in the order of their
creation; two at once, or an error that is tried again later, can change it. So an event carries ids, and the
subscriber reads the rows as they are. It writes rows, often a job, and leaves all that is slow to that.
"""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

import structlog
from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from jobs import notifier
from jobs.models import Job, OutboxEvent
from jobs.row_text import describe_error
from tenancy.actor import Actor, acting, current, on_commit
from tenancy.prepared import insert

log = structlog.get_logger(__name__)

Subscriber = Callable[[OutboxEvent], None]

JOB_FINISHED = "job.finished"

_KEPT = timedelta(days=7)

_PAUSE_SECONDS = 1.0
_ORGANISATIONS_KEPT = 10_000

# When the last notification of this process for an organisation arrives, on its own clock.
_arrives_at: dict[UUID | None, float] = {}

_subscribers: dict[str, list[Subscriber]] = {}


def subscribe(topic: str, subscriber: Subscriber) -> None:
    """Called in AppConfig.ready() by apps above the one that publishes."""
    _subscribers.setdefault(topic, []).append(subscriber)


def unsubscribe(topic: str, subscriber: Subscriber) -> None:
    _subscribers[topic].remove(subscriber)


def publish(topic: str, **payload: Any) -> OutboxEvent:
    """Write an event of the active organisation; `payload` is JSON: ids, not contents."""
    event = OutboxEvent(topic=topic, payload=payload)
    insert(event)
    actor = current()
    transaction.on_commit(lambda: _notify(actor))
    return event


def publish_after(event: OutboxEvent, topic: str, **payload: Any) -> None:
    """Publish what follows from an event, for a subscriber: once, however often that is called."""
    following = OutboxEvent(pk=uuid5(event.pk, topic), topic=topic, payload=payload)
    if insert(following, ignore_conflicts=True):
        actor = current()
        transaction.on_commit(lambda: _notify(actor))


def publish_finished(job: Job) -> None:
    """Say that the job is done, failed or cancelled: payload `job` (id), `kind` and `state`."""
    publish(JOB_FINISHED, job=str(job.pk), kind=job.kind, state=job.state)


def deliver(actor: Actor) -> int:
    """Call the subscribers of the waiting events of the actor's organisation; returns how many were delivered.

    Call it outside every transaction: each event is taken in one and delivered in another, so that an event whose
    subscriber takes the worker down is counted all the same. What the task's time does not suffice for is
    notified of again.
    """
    ends = time.monotonic() + settings.JOBS_TASK_BUDGET_SECONDS
    delivered = 0
    while event := _take(actor):
        with acting(actor):
            delivered += _call_subscribers(event)
        if time.monotonic() >= ends:
            with acting(actor):
                on_commit(_notify_now)
            break
    return delivered


def purge(actor: Actor) -> int:
    """Delete what was delivered a week ago; returns how many. What could not be delivered stays."""
    with acting(actor):
        deleted, _ = OutboxEvent.objects.filter(delivered_at__lt=timezone.now() - _KEPT).delete()
    return deleted


def _take(actor: Actor) -> OutboxEvent | None:
    """The oldest waiting event, counted and hidden for a while from other deliveries."""
    now = timezone.now()
    with acting(actor):
        # SKIP LOCKED, so that two deliveries share the events instead of taking turns.
        waiting = OutboxEvent.objects.waiting(now).select_for_update(skip_locked=True, of=("self",))
        event = waiting.order_by("created_at", "pk").first()
        if event is not None:
            # Committed before any subscriber is called: one that takes the worker down is counted, and comes later.
            event.attempts += 1
            event.retry_at = now + timedelta(seconds=5 * 2**event.attempts)
            event.save(update_fields=["attempts", "retry_at"])
    return event


def _call_subscribers(event: OutboxEvent) -> bool:
    """One subscriber's error keeps the event waiting, and keeps no other subscriber from it."""
    errors = []
    for subscriber in _subscribers.get(event.topic, ()):
        try:
            with transaction.atomic():
                subscriber(event)
        except SoftTimeLimitExceeded:
            # The task's time is over, which is no fault of this subscriber.
            raise
        except Exception as error:
            # Any error is the subscriber's: the event stays, with its error.
            log.exception("outbox.subscriber_failed", topic=event.topic, event_id=str(event.pk))
            errors.append(describe_error(error))
    event.error = "\n".join(errors)
    event.delivered_at = None if errors else timezone.now()
    event.save(update_fields=["delivered_at", "error"])
    if errors and event.attempts >= OutboxEvent.ATTEMPTS_ALLOWED:
        log.error("outbox.given_up", topic=event.topic, event_id=str(event.pk))
    return not errors


def _notify(actor: Actor) -> None:
    """Notify at once after a second without events, else so that a second lies between two messages. What is committed
    before a message arrives needs none of its own, and a message costs more than the event."""
    organisation, now = actor.organisation, time.monotonic()
    arrives_at = _arrives_at.get(organisation, -_PAUSE_SECONDS)
    if now < arrives_at:
        return
    wait = max(0.0, arrives_at + _PAUSE_SECONDS - now)
    with acting(actor):
        is_sent = _notify_now(**({"countdown": wait} if wait else {}))
    if is_sent:
        if len(_arrives_at) >= _ORGANISATIONS_KEPT:
            _arrives_at.clear()
        _arrives_at[organisation] = now + wait


def _notify_now(**options: Any) -> bool:
    return notifier.notify(notifier.DELIVER_EVENTS, (), **options)
