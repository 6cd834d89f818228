"""What the routes of imports answer and take."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from potato.api.base import Body


class ImportFacts(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)


class Import(ImportFacts):
    """One import: how far it is, and what came of it so far."""

    id: UUID
    project: str
    name: str
    state: str
    """`queued`, `running`, `done`, `failed`, `cancelled` or `undone`."""
    files: int
    files_done: int | None
    """Of an import of several files that is being read."""
    format: str
    """What was asked for."""
    chosen: str
    """What was read, and `reason` why."""
    reason: str
    imported: int
    versions: int
    """Those of the imported that are newer versions of a trace."""
    known: int
    errors: int
    stated: int
    """Texts of tasks; `matched` and `unmatched` count those with and without a trace, `joined` traces that got one."""
    matched: int
    unmatched: int
    joined: int
    reports: int
    """Reports of tests and checkers; of those `reports_joined` found their run, and `reports_waiting` wait for one."""
    reports_joined: int
    reports_waiting: int
    error: str
    requested_at: datetime
    can_undo: bool
    can_try_again: bool


class Imports(BaseModel):
    next: str | None
    previous: str | None
    results: list[Import]


class ImportsStarted(BaseModel):
    """One import, and one more for each ZIP that came beside other files."""

    imports: list[Import]


class ImportedFileFacts(ImportFacts):
    """One file of an import."""

    name: str
    chosen: str
    reason: str
    imported: int
    versions: int
    known: int
    errors: int
    stated: int
    reports: int
    is_over: bool


class ImportedFiles(BaseModel):
    next: str | None
    previous: str | None
    results: list[ImportedFileFacts]


class Unread(ImportFacts):
    """What could not be read, or a remark on what came in."""

    file: str
    """The file within an import of several, else empty."""
    place: int
    """The line or record, from 1; 0 for a remark."""
    code: str
    sentence: str


class Problems(BaseModel):
    next: str | None
    previous: str | None
    results: list[Unread]


class UnmatchedTexts(BaseModel):
    """Ids of task texts that no trace of the project has; they are kept for later imports."""

    ids: list[str]


class NewUpload(Body):
    """An upload that comes in parts."""

    size: int
    """In bytes."""
    name: str = ""
    """The file's name, of a single file."""
    type: str = ""
    """`multipart/form-data; boundary=...` where the bytes are a whole form; empty for a single file."""


class UploadState(ImportFacts):
    """How far an upload is."""

    upload: str
    """Its name: for the header `Upload`, and for the field `upload` of the import."""
    received: int
    """So many bytes are here."""
    most: int
    """A part may have so many."""


class UndoPreview(ImportFacts):
    """What the undo of an import takes away."""

    traces: int
    texts: int
    reports: int
    reopened: int
    """Older versions that are given out again."""
    in_the_way: list[str]
    """Why it cannot be undone, a sentence each; empty where it can."""


class Again(Body):
    format: str = ""
    """Another format than before; nothing for the same."""
