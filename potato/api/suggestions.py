"""What the routes of model-made suggestions answer and take."""

from typing import Any

from pydantic import BaseModel

from potato.api.base import Body


class SuggestedItem(BaseModel):
    """One thing that a model suggests. `words` and `number` are what it says, `text` what it wrote beside it. `value`
    is laid over the scheme's answers at the path `at` by who accepts it; "-" stands for one more entry of a list.
    Without file and step it is about the whole run."""

    id: str
    scheme: str
    title: str
    words: list[str]
    number: float | None
    text: str
    replacement: str | None
    at: list[str]
    value: dict[str, Any]
    file: str | None
    side: str | None
    line_start: int | None
    line_end: int | None
    step: int | None


class TaskSuggestions(BaseModel):
    """What a model suggests for one's own task; nothing where there is nothing, or where it is kept from this task."""

    items: list[SuggestedItem]


class Suggestion(BaseModel):
    """What a model suggests of a trace, with the annotators to whom it was shown and those from whom it was kept."""

    id: str
    trace_version: int
    model: str
    model_version: str
    provenance: dict[str, str]
    annotations: dict[str, Any]
    shown_to: list[str]
    hidden_from: list[str]


class Suggestions(BaseModel):
    next: str | None
    previous: str | None
    results: list[Suggestion]


class SuggestionsRequest(Body):
    """Records with the trace's `id`, `model`, `model_version` and `annotations` by scheme, as a submission has them but
    for what an annotator has to add; `provenance` is an object of texts."""

    suggestions: list[dict[str, Any]]


class UnreadSuggestion(BaseModel):
    """A record that was not taken: its place in the request, from 1, the field, and what to do."""

    place: int
    field: str
    sentence: str


class SuggestionsTaken(BaseModel):
    taken: int
    known: int
    refused: list[UnreadSuggestion]
