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


class AttachedRepositories(Shape):
    next: str | None
    previous: str | None
    results: list[AttachedRepository]
