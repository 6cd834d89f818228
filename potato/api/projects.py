"""What the routes of projects and their configurations answer."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class ProjectState(BaseModel):
    """`archived_at` is null for a project that is in the lists; `version` the newest published one, null for none."""

    slug: str
    name: str
    version: int | None
    archived_at: datetime | None
    open_to_annotators: bool
    created_at: datetime


class Fix(BaseModel):
    """What puts it right: what of the text, by its places from 0, becomes what."""

    label: str
    start: int
    end: int
    text: str


class ConfigurationProblem(BaseModel):
    """One thing that is wrong with a configuration, or has no effect here, and where."""

    line: int
    column: int
    severity: Literal["error", "warning"]
    message: str
    path: list[str | int]
    """From the top of the configuration, list entries counted from 0."""
    fix: Fix | None

    model_config = ConfigDict(use_attribute_docstrings=True)


class Loss(BaseModel):
    """What annotations that are there refer to, and the new configuration no longer has."""

    path: list[str | int]
    code: str
    sentence: str


class Checked(BaseModel):
    """All errors and warnings, in the order of the text."""

    is_publishable: bool
    problems: list[ConfigurationProblem]


class CheckedForProject(Checked):
    losses: list[Loss]
    """What publishing needs to be `confirmed` for."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class ShownDraft(BaseModel):
    source: str
    revision: int
    is_publishable: bool
    problems: list[ConfigurationProblem]


class Version(BaseModel):
    number: int
    note: str
    published_by: str | None
    published_at: datetime


class WholeVersion(Version):
    source: str
    """The YAML as it was written."""
    configuration: dict[str, Any]
    """What it means, with every default."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Published(WholeVersion):
    moved: int
    """How many held tasks moved to it."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Versions(BaseModel):
    next: str | None
    previous: str | None
    results: list[Version]
