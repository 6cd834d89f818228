"""What the routes of attached repositories answer."""

from datetime import datetime
from uuid import UUID

from potato.api.base import Shape


class AttachedRepository(Shape):
    """A git bundle or an archive that is attached to a repository's name in a project."""

    id: UUID
    name: str
    """As runs are compared with it: `owner/name`, in small letters."""
    clone_url: str
    file_name: str
    kind: str
    """`bundle` or `archive`."""
    size: int
    sha256: str
    commits: int
    left_out: int
    """Files that are binary or over 1 MB, and so not kept."""
    added_at: datetime


class BaseEntry(Shape):
    """A name in a folder."""

    path: str
    kind: str
    """`folder`, `file`, `link` or `submodule`; links are never followed."""


class BasePlace(Shape):
    """A line that says what was searched for; `line` is 0 where the path does."""

    path: str
    line: int
    text: str


class BaseFiles(Shape):
    """What was asked for of the files that a run began from: a folder, a file or what was found."""

    repository: str
    commit: str
    path: str
    entries: list[BaseEntry] | None = None
    """Of a folder."""
    text: str | None = None
    """Of a file; also null where the file is binary or over 1 MB, which `is_kept` says."""
    is_kept: bool = True
    found: list[BasePlace] | None = None
    """Of a search."""
    is_cut: bool = False
    """Whether the search found more than it tells, or did not look at everything."""


class AttachedRepositories(Shape):
    next: str | None
    previous: str | None
    results: list[AttachedRepository]
