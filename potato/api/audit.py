"""What the route of the audit trail answers."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel


class TrailDecision(BaseModel):
    """`sentence` is what people read, `verb` and `detail` what programs do; `person` is null for the system."""

    id: UUID
    at: datetime
    person: str | None
    verb: str
    sentence: str
    target_type: str | None
    target_id: UUID | None
    target: str | None
    detail: Any
    request_id: str | None


class TrailPage(BaseModel):
    """`next` is the `before` of the next page, null on the last one."""

    results: list[TrailDecision]
    next: UUID | None
