"""What goes in and out of these routes, as typed models. The models shape; they decide nothing."""

import json
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, PlainValidator, WithJsonSchema

from potato.api.base import Body, Shape

LARGEST_PAGE_STATE = 500_000

Whole = Annotated[int, Field(ge=0, lt=2**63)]


def _draft_content(content: Any) -> Any:
    if not isinstance(content, dict) or content.keys() - {"answers", "page"}:
        raise ValueError("must be an object with the keys answers and page.")
    if not isinstance(content.get("answers", {}), dict):
        raise ValueError("answers must be an object with a key for each scheme.")
    if len(json.dumps(content.get("page"))) > LARGEST_PAGE_STATE:
        raise ValueError(f"page must be at most {LARGEST_PAGE_STATE:,} characters of JSON.")
    return content


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise ValueError("must be text.")
    return given


# Texts pass as they came: a validation library would refuse lone surrogates.
Text = Annotated[Any, PlainValidator(_text), WithJsonSchema({"type": "string"})]
DraftContent = Annotated[
    Any,
    PlainValidator(_draft_content),
    WithJsonSchema(
        {
            "type": "object",
            "properties": {
                "answers": {"type": "object", "description": "The answers so far, by the names of the schemes."},
                "page": {"description": "What the page wants to find again; any JSON."},
            },
            "additionalProperties": False,
        }
    ),
]
Answers = Annotated[
    Any,
    WithJsonSchema({"type": "object", "description": "The answers, by the names of the project's schemes."}),
]
Record = Annotated[
    Any,
    WithJsonSchema(
        {
            "type": "object",
            "description": "One annotation as it leaves Potato, the same as in exports.",
            "properties": {
                "id": {"type": "string", "description": "The trace's own id."},
                "trace_version": {"type": "integer", "description": "Above 1 alone."},
                "annotator": {"type": "string"},
                "timestamp": {"type": "string", "format": "date-time"},
                "active_seconds": {"type": "integer", "description": "How long they were at work, where it is known."},
                "via": {"type": "string", "const": "token", "description": "A program submitted it for the annotator."},
                "corrected_by": {
                    "type": "string",
                    "description": "The reviewer whose revision it is, where it is one.",
                },
                "annotations": {"type": "object", "description": "The results, by the names of the schemes."},
            },
            "required": ["id", "annotator", "timestamp", "annotations"],
        }
    ),
]


# --- What comes in ---


class Next(Body):
    another: bool = False
    """A further trace beside those that are open."""


class LeaseToken(Body):
    lease_token: Whole


class Save(Body):
    lease_token: Whole
    revision: Whole
    """The revision that the draft was read at; 0 where none was saved."""
    content: DraftContent


class Submit(Body):
    lease_token: Whole
    annotations: Answers


class Skip(Body):
    lease_token: Whole
    reason: Text


# --- What goes out ---


class Progress(Shape):
    target: int
    """Annotations that the project needs in all."""
    done: int
    mine_done: int
    mine_open: int


class Project(Shape):
    slug: str
    name: str
    task_name: str
    progress: Progress


class Projects(Shape):
    results: list[Project]


class Trace(Shape):
    id: UUID
    external_id: str
    """The id that the trace came with; the `id` of its records."""
    version: int
    task: str


class Assignment(Shape):
    id: UUID
    project: str
    trace: Trace
    state: Literal["claimed", "submitted", "skipped", "expired", "released"]
    lease_token: int
    """Stands in every request that writes; an older one is refused."""
    lease_until: datetime | None
    """Null where the assignment is not claimed."""
    configuration_version: int


class Assignments(Shape):
    results: list[Assignment]


class Draft(Shape):
    revision: int
    content: Any
    """Exactly what was saved; null at revision 0."""
    saved_at: datetime | None


class File(Shape):
    index: int
    path: Text
    """As answers name the file."""
    operation: Literal["added", "modified", "deleted", "renamed", "copied", "unchanged"]
    added: int
    removed: int


class Scheme(Shape):
    name: str
    """The key of this scheme's answers and results."""
    annotation_type: str
    target: str
    description: str | None
    block: Any
    """The settings of the scheme, with every default filled in."""


class AssignmentInDetail(Assignment):
    lease_minutes: int
    """How long a sign of work keeps the trace."""
    deadline: date | None
    """When the batch of the trace is due; null where it has no deadline."""
    draft: Draft
    files: list[File]
    schemes: list[Scheme]


class Nothing(Shape):
    reason: str
    sentence: str
    again_at: datetime | None
    """When the next lease of another person may end."""


class Claim(Shape):
    """One of the two is null."""

    assignment: Assignment | None
    nothing: Nothing | None


class Lease(Shape):
    lease_until: datetime | None
    lease_token: int
    now: datetime
    """The server's clock."""


class Saved(Shape):
    revision: int
    saved_at: datetime
    lease_until: datetime | None


class Lines(Shape):
    text: str
    """The lines joined by line feeds."""
    lines: list[str]
    numbering: Literal["file", "excerpt"]
    """What line numbers of this file count: its lines, or those of the excerpt that is shown, where the trace does not
    say where in the file they stand. Comments on such lines carry `"numbering": "excerpt"`."""


class Submission(Shape):
    submission: UUID
    record: Record
    surplus: bool
    """It came late, when the trace had all the annotations it needs: kept, and counted nowhere."""


class SubmissionInDetail(Submission):
    withdrawn: bool
    """Its annotator took it back."""
    project: str
    trace: UUID
    """The trace's id in its address, as the comparison of a trace takes it."""
    configuration_version: int
    submitted_at: datetime
    elapsed_seconds: int | None
    """From the claim to the submission, pauses included; null where the claim is not known."""
    page: str
    """Where people read it."""


class NewNote(Body):
    text: str
    """What the next reader of the annotation should know; at most 4,000 characters."""


class Note(Shape):
    id: UUID
    text: str
    author: str
    """The annotator name of who wrote it; "" where nobody knows it any more."""
    written_at: datetime


class Notes(Shape):
    next: str | None
    previous: str | None
    results: list[Note]


class Submitted(Submission):
    undo_until: datetime


class State(Shape):
    state: Literal["skipped", "released"]


class Annotations(Shape):
    next: str | None
    previous: str | None
    results: list[Submission]


class ComparedPerson(Shape):
    """`submission` and `annotator` are null where names are hidden."""

    submission: UUID | None
    annotator: str | None
    surplus: bool
    configuration_version: int


class ComparedAnswer(Shape):
    """What one of those compared says of one thing; null instead of it where they say nothing."""

    values: list[str]
    """What was chosen, as records write it: a verdict; a category and a severity; a label and an error category."""
    number: float | None
    """A rating, or the score of a step."""
    text: str


class ComparedRow(Shape):
    title: str
    file: str | None
    step: int | None
    answers: list[ComparedAnswer | None]
    """In the order of `people`."""
    differs: bool
    spread: float | None
    """How far apart the numbers are."""


class ComparedLines(Shape):
    file: str
    side: Literal["new", "old"]
    line_start: int
    line_end: int
    comments: list[ComparedAnswer | None]
    """In the order of `people`."""
    differs: bool


class Comparison(Shape):
    people: list[ComparedPerson]
    """Those who annotated the trace, the first to submit first; for an annotator their own first, then in no order."""
    tolerance: int
    """Comments on the same side of a file mean the same place where at most so many lines lie between them."""
    rows: list[ComparedRow]
    """What is said of the whole run, then of files, then of steps."""
    places: list[ComparedLines]
