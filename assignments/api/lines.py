"""The exact text of lines of a trace's file, as a suggestion starts from it, for whoever may see the trace."""

import re

from rest_framework.exceptions import NotFound, ParseError
from rest_framework.request import Request

from potato.api import shapes
from potato.runs.changes.places import SIDES
from traces.evidence.judged_files import judged_file
from traces.models import Trace

_LINE = re.compile(r"[0-9]{1,9}", re.ASCII)


def exact_lines(request: Request, trace: Trace) -> shapes.Lines:
    """The lines that the request names with file, side, start and end.

    Raises ParseError, and NotFound where the trace does not show them.
    """
    file = judged_file(trace, _required_parameter(request, "file"))
    if file is None:
        raise NotFound("The trace has no file of this path.", code="unknown_file")
    side = _required_parameter(request, "side")
    if side not in SIDES:
        raise ParseError("side must be new or old.", code="invalid_request")
    start, end = _line(request, "start"), _line(request, "end")
    text = file.text(side, start, end)
    if text is None:
        raise NotFound(f"The {side} side of this file does not show all of these lines.", code="unknown_line")
    numbered = file.lines(side)
    lines = [numbered[number] for number in range(start, end + 1)]
    return shapes.Lines(text=text, lines=lines, numbering=file.numbering)


def _required_parameter(request: Request, name: str) -> str:
    if name not in request.query_params:
        raise ParseError("Ask with file, side, start and end.", code="invalid_request")
    return request.query_params[name]


def _line(request: Request, name: str) -> int:
    text = _required_parameter(request, name)
    if not _LINE.fullmatch(text):
        raise ParseError(f"{name} must be the number of a line.", code="invalid_request")
    return int(text)
