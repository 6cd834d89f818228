"""Events go up through here: written in the transaction in which something happened, told to subscribers after it.

A subscriber may be told twice and must be safe to run twice; it is told in the order of the events' creation.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import structlog
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from jobs.models import OutboxEvent
from tenancy.actor import on_commit

log = structlog.get_logger(__name__)

Subscriber = Callable[[OutboxEvent], None]

ATTEMPTS_ALLOWED = 10
_KEPT = timedelta(days=7)
_BATCH = 100

_subscribers: dict[str, list[Subscriber]] = {}


def subscribe(topic: str, subscriber: Subscriber) -> None:
    """Called in AppConfig.ready() by rooms above the one that publishes."""
    _subscribers.setdefault(topic, []).append(subscriber)


def unsubscribe(topic: str, subscriber: Subscriber) -> None:
    _subscribers[topic].remove(subscriber)


def publish(topic: str, **payload: Any) -> OutboxEvent:
    """Write an event of the active organisation; `payload` is JSON: ids, not contents."""
    event = OutboxEvent.objects.create(topic=topic, payload=payload)
    on_commit(_ring)
    return event


def deliver() -> int:
    """Tell subscribers of the active organisation's waiting events; returns how many were delivered.

    One subscriber's error keeps its event waiting for the next sweep, and no other event from being told.
    """
    waiting = OutboxEvent.objects.filter(delivered_at__isnull=True, attempts__lt=ATTEMPTS_ALLOWED)
    delivered = 0
    for event in waiting.select_for_update(skip_locked=True).order_by("created_at", "pk")[:_BATCH]:
        delivered += _deliver_one(event)
    OutboxEvent.objects.filter(delivered_at__lt=timezone.now() - _KEPT).delete()
    return delivered


def _deliver_one(event: OutboxEvent) -> bool:
    event.attempts += 1
    try:
        with transaction.atomic():
            for subscriber in _subscribers.get(event.topic, ()):
                subscriber(event)
    except Exception as error:
        # Any error is the subscriber's: the event stays, with what was said.
        log.exception("outbox.subscriber_failed", topic=event.topic, event=str(event.pk))
        event.error = f"{type(error).__name__}: {error}"
    else:
        event.delivered_at = timezone.now()
        event.error = ""
    event.save(update_fields=["attempts", "delivered_at", "error"])
    return event.delivered_at is not None


def _ring() -> None:
    from jobs.tasks import deliver_events  # The task delivers, and delivering may publish.

    try:
        deliver_events.delay()
    except OperationalError as error:
        log.warning("outbox.bell_unreachable", error=str(error))
