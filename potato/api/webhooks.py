"""What the routes of webhooks take and answer."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel

from potato.api.base import Body


class WebhookRequest(Body):
    """Where to send which events; without a project of all of them, which needs an admin."""

    url: str
    events: list[str]
    project: str | None = None
    description: str = ""


class WebhookChange(Body):
    """What is to change; keys that are left out stay. `state` is `on` or `paused`."""

    url: str | None = None
    events: list[str] | None = None
    description: str | None = None
    state: str | None = None


class Webhook(BaseModel):
    """An endpoint. `secret` is there in the answer that makes or replaces it, and never again."""

    id: UUID
    url: str
    project: str | None
    events: list[str]
    description: str
    state: str
    state_because: str
    failures: int
    created_at: datetime
    secret: str | None = None


class Webhooks(BaseModel):
    results: list[Webhook]


class Attempt(BaseModel):
    at: datetime
    seconds: float
    status: int
    problem: str
    answer: str


class Delivery(BaseModel):
    """One event for one endpoint. `message` is its `webhook-id`, the same at each attempt."""

    id: UUID
    message: str
    type: str
    state: str
    body: str
    attempts: list[Attempt]
    next_attempt_at: datetime | None
    created_at: datetime


class Deliveries(BaseModel):
    """The newest first; `next` is the `before` of the following page."""

    results: list[Delivery]
    next: UUID | None
