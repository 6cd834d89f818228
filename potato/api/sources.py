"""What the routes of imports of answers and annotations take and answer."""

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
