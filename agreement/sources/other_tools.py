"""Annotations of other tools that come as JSON instead of as a file."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from django.core.files.base import ContentFile

from accounts.models import Project
from agreement.sources.actions import request_answers
from agreement.sources.of_tool import NoAnswers, OfTool
from agreement.sources.of_tool import checked_tool as checked_tool
from jobs.models import Job
from potato.records.archives import json_text


def request_documents(*, project: Project, name: str, files: Sequence[tuple[str, Any]], tool: OfTool) -> Job:
    """Ask for the import of documents of a tool, each with the name of its file. Raises NoAnswers for none, and for
    names that are the same or lead out of their folder, and what `request_answers` raises."""
    if not files:
        raise NoAnswers("There is no file. Send at least one, with its name and its content.")
    names = [str(PurePosixPath(file)) for file, _ in files]
    for file in names:
        if PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts:
            raise NoAnswers(f"{file!r} is no name of a file within a folder.")
    if len(set(names)) < len(names):
        raise NoAnswers("Two files have the same name.")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, (_, content) in zip(names, files, strict=True):
            named = file if file.endswith((".json", ".jsonl")) else f"{file}.json"
            archive.writestr(named, json_text(content))
    return request_answers(project=project, content=ContentFile(packed.getvalue(), name or names[0]), tool=tool)
