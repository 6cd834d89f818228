"""Which trace formats a configuration may name, and which of them this installation can read."""

from __future__ import annotations

from functools import cache
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic.config import JsonDict
from pydantic_core import PydanticKnownError

from potato.entry_points import TRACE_CONVERTERS, installed
from potato.runs.converters.detection import AUTOMATIC

# Legal whether or not a converter is installed, so that a configuration can move between installations.
NAMED_FORMATS = (
    "claude_code",
    "codex",
    "openhands",
    "atif",
    "inspect",
    "otel_genai",
    "gemini_cli",
    "langfuse",
    "swebench",
    "patch",
    "native",
    "react",
    "swe_agent",
    "mini_swe_agent",
    "openai",
    "dataset_rows",
    "pull_request",
    "git_bundle",
    "aider",
    "webarena",
    "webvoyager",
)


@cache
def installed_converters() -> frozenset[str]:
    """The formats that this installation can read. Found once a process: looking takes longer than a whole check."""
    return frozenset(installed(TRACE_CONVERTERS))


def allowed_converters() -> tuple[str, ...]:
    """What `trace_converter` may say: `auto`, the named formats, and every other installed one."""
    return (AUTOMATIC, *NAMED_FORMATS, *sorted(installed_converters() - {AUTOMATIC, *NAMED_FORMATS}))


def _allowed(name: str) -> str:
    if name not in allowed_converters():
        raise PydanticKnownError("enum", {"expected": ", ".join(allowed_converters())})
    return name


def _list_allowed(schema: JsonDict) -> None:
    schema["enum"] = list(allowed_converters())


TraceConverter = Annotated[str, AfterValidator(_allowed), Field(json_schema_extra=_list_allowed)]
