"""What the routes of traces answer."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class ListedTrace(BaseModel):
    """A trace of the project, in exactly one state."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    id: UUID
    external_id: str
    version: int
    title: str
    repo: str
    agent_model: str
    agent: str
    """The agent program, as SWE-agent is one; empty where it is not known."""
    cost_usd: float | None
    """What the run cost in US dollars, as its trace says."""
    input_tokens: int | None
    """What its models read in all steps together, caches included; null where no step says it."""
    output_tokens: int | None
    seconds: float | None
    state: str
    withheld: str
    """`held_back`, `excluded`, `retired` or `superseded`; empty where it is not withheld."""
    why: str
    """What was written about that, or what keeps it from being judged."""
    annotators: list[str]
    """Who holds it or has annotated it."""
    free: int
    """How many may still take it."""
    agreement: float | None
    tags: list[str]
    priority: str
    """In words, empty for the normal one."""
    batch: int | None
    """The number of its batch; null in the pool."""
    target: int
    """How many annotations of it are wanted."""
    done: int
    extra: int
    """How many of these are wanted beyond what its batch or the configuration says."""
    held_by: list[str]
    """Who holds it now."""
    offered_to: list[str]
    """Who is given it before all others, until `offered_until`."""
    offered_until: datetime | None
    steps: int
    files: int
    added: int
    removed: int
    failed_steps: int


class ListedTraces(BaseModel):
    next: str | None
    previous: str | None
    results: list[ListedTrace]


class WholeTrace(ListedTrace):
    task: str
    task_id: str
    instance_id: str
    converter: str
    base_commit: str
    started_at: str
    imported_at: datetime
    content_sha256: str
    versions: list[int]
    """All versions of this id that the project has."""
    tests_outcome: str
    """What the last tests said that the agent ran: `passed`, `failed`, `error`, or empty where nothing tells it."""
    report: dict[str, Any]
    """What the import repaired, left out or did not know."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class ListedStep(BaseModel):
    """A ratable act of the agent. `index` counts from 0."""

    index: int
    title: str
    detail: str
    kind: str
    is_error: bool
    is_noise: bool
    model: str
    """The model that wrote the step, where it is another than the trace's."""
    agent: str
    """The agent that acted, where it is another than the trace's."""
    usage: dict[str, int | float]
    """`input_tokens`, `output_tokens`, `cached_tokens` and `seconds`, as far as the trace says them."""
    sha256: str


class ListedSteps(BaseModel):
    next: str | None
    previous: str | None
    results: list[ListedStep]


class ListedFile(BaseModel):
    """A file that the agent touched. `touched_by` are the indexes of steps."""

    index: int
    path: str
    old_path: str
    operation: str
    is_binary: bool
    added: int
    removed: int
    touched_by: list[int]
    sha256: str


class ListedFiles(BaseModel):
    next: str | None
    previous: str | None
    results: list[ListedFile]
