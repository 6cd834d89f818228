"""What the routes of imports of answers and annotations take and answer."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from potato.api.base import Body


class ForeignFile(Body):
    """A file of another tool: its name, with its folder where that says who annotated, and its JSON. Of a file of lines
    `content` is the list of their values."""

    name: str = Field(min_length=1, max_length=1000)
    content: Any


class NewAnnotationImport(Body):
    """Annotations that were made in another tool. `tool` is potato_2, label_studio, github, langfuse or docent, or
    auto, which finds it. All of it is about `trace` where that is given; else it says itself which traces it is about.
    `names` has, for names of questions there, the scheme here or `scheme.part`, `values` for values there those here.
    `version` is that of the sources that are made of its authors."""

    name: str = Field("", max_length=300)
    tool: str = "auto"
    files: list[ForeignFile]
    trace: str = ""
    id_key: str = ""
    names: dict[str, str] = {}
    values: dict[str, str] = {}
    version: str = "1"


class NotPlaced(BaseModel):
    """What was refused or left out: where it stands, and why, with what to do."""

    place: str
    sentence: str


class AnnotationImport(BaseModel):
    """An import of annotations of another tool. `refused` counts annotations, `left_out` parts of others; `problems`
    are the first hundred of both."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    id: UUID
    project: str
    name: str
    state: str
    """`queued`, `running`, `done`, `failed` or `cancelled`."""
    error: str
    taken: int
    known: int
    """Those that came before, and change nothing."""
    refused: int
    left_out: int
    problems: list[NotPlaced]
    sources: list[UUID]
    """Those of whom annotations were taken or known."""


class SourceName(Body):
    """What a source is called: a name and a version, and its model and kind (llm_judge, process_reward_model,
    automated_reviewer, person_elsewhere or other)."""

    name: str
    version: str
    model: str = ""
    kind: str = ""


class AnswersRequest(Body):
    """Records as an export has them, each with its `source` or with the one that is named beside them."""

    answers: list[dict[str, Any]]
    source: SourceName | None = None


class UnreadAnswer(BaseModel):
    """A record that was not taken, or of one with an `origin` a part that was left out: its place in the request, from
    1, the field, and what to do."""

    place: int
    field: str
    sentence: str


class AnswersTaken(BaseModel):
    taken: int
    known: int
    refused: list[UnreadAnswer]
    sources: list[UUID]


class Source(BaseModel):
    """A source, how many traces it has answered, and when it was compared with people last."""

    id: UUID
    project: str
    name: str
    model: str
    version: str
    kind: str
    answers: int
    added_at: datetime


class Sources(BaseModel):
    next: str | None
    previous: str | None
    results: list[Source]


class Origin(BaseModel):
    """Where an annotation that was made in another tool comes from: the tool, the file, its id there and its author."""

    tool: str
    file: str = ""
    id: str = ""
    author: str = ""


class MarkedSource(BaseModel):
    name: str
    model: str
    version: str
    kind: str


class SourceRecord(BaseModel):
    """What a source said of a trace, as people's records are, and marked with its source. It has no annotator. `origin`
    is null for what was never in another tool."""

    id: str
    trace_version: int
    timestamp: str | None
    source: MarkedSource
    origin: Origin | None
    annotations: dict[str, Any]


class SourceRecords(BaseModel):
    next: str | None
    previous: str | None
    results: list[SourceRecord]


class ComparisonRequest(Body):
    """How people's consensus is made (dawid_skene, one_coin or majority), and how probable it must be to count.
    `beside` is the id of another source of the project: `figures.two` then has the figures of both on what both
    answered, with the interval of their difference."""

    method: str = "dawid_skene"
    sure: float = 0.8
    beside: str | None = None


class Report(BaseModel):
    """How a source stands beside people. `figures` are empty until it is computed; `error` says why it was not."""

    id: UUID
    source: UUID
    state: str
    error: str
    options: dict[str, Any]
    answers: int
    annotations: int
    requested_at: datetime
    computed_at: datetime | None
    figures: dict[str, Any]


class Reports(BaseModel):
    next: str | None
    previous: str | None
    results: list[Report]


class SendRequest(Body):
    """The ids of the traces of which one annotator more is wanted, as `figures` name them."""

    traces: list[str]


class Sent(BaseModel):
    traces: int
