"""What the routes of background work answer."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

JobState = Literal["queued", "running", "done", "failed", "cancelled"]


class JobFacts(BaseModel):
    """One piece of background work. `sentence` is what people read."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    id: UUID
    kind: str
    queue: str
    state: JobState
    is_cancelling: bool
    """It ends after its present part."""
    sentence: str
    progress: int
    total: int | None
    attempts: int
    error: str
    asked_by: str | None
    """Null for what the system began itself."""
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class JobsPage(BaseModel):
    next: str | None
    previous: str | None
    results: list[JobFacts]
