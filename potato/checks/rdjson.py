"""rdjson and rdjsonl, the Diagnostic Format of reviewdog.

Field notes (reviewdog's proto/rdf)
- rdjson is a DiagnosticResult: `source` {name, url}, `severity`, `diagnostics[]`. rdjsonl has a Diagnostic a line.
- A Diagnostic: `message`, `location` {path, range {start {line, column}, end}}, `severity`, `source`, `code` {value,
  url}, `suggestions`, `original_output`. A location without a range is about the whole file, a range without an end
  about its first line; the end is exclusive by its column, and a range that ends at column 1 ends on the line before.
- `severity` is ERROR, WARNING, INFO or UNKNOWN_SEVERITY, or its number; of one that says none the result's counts.
- Keys may be written as protobuf's JSON does: originalOutput. Suggestions are not shown: they are no comments.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from potato.checks.model import BOUNDS, Finding, Level, Report, ReportBounds, kept_findings
from potato.checks.values import line_number, listed, member, path_of, words

_SEVERITIES: dict[Any, Level] = {
    "ERROR": "error", "WARNING": "warning", "INFO": "note", 1: "error", 2: "warning", 3: "note",
}  # fmt: skip


def is_result(value: Any) -> bool:
    """Whether a document is a DiagnosticResult."""
    if not isinstance(value, dict) or not isinstance(value.get("diagnostics"), list):
        return False
    return all(is_diagnostic(each) for each in value["diagnostics"][:3])


def is_diagnostic(value: Any) -> bool:
    """Whether a line is a Diagnostic."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("message"), str)
        and isinstance(member(value, "location", "path"), str)
    )


def read_rdjson(value: dict[str, Any], bounds: ReportBounds = BOUNDS) -> Report:
    """The report of a document."""
    return _report(listed(value.get("diagnostics")), value, bounds)


def read_rdjsonl(values: Sequence[Any], bounds: ReportBounds = BOUNDS) -> Report:
    """The report of lines."""
    return _report(values, {}, bounds)


def _report(diagnostics: Sequence[Any], result: dict[str, Any], bounds: ReportBounds) -> Report:
    left_out: Counter[str] = Counter()
    tool = words(member(result, "source", "name"), 200)
    severity = result.get("severity")
    found: list[Finding] = []
    for diagnostic in diagnostics:
        finding = _finding(diagnostic, tool, severity)
        if finding is None:
            left_out["diagnostic without a message or a file"] += 1
        else:
            found.append(finding)
    tools = Counter(finding.tool for finding in found if finding.tool)
    name = tool or (tools.most_common(1)[0][0] if tools else "reviewdog")
    return Report("rdjson", name, findings=kept_findings(found, left_out, bounds), left_out=left_out)


def _finding(value: Any, tool: str, severity: Any) -> Finding | None:
    path = path_of(member(value, "location", "path"))
    message = words(member(value, "message")).strip()
    if not path or not message:
        return None
    span = member(value, "location", "range")
    line = line_number(member(span, "start", "line"))
    end = line_number(member(span, "end", "line"))
    if line is not None and end is not None and end > line and member(span, "end", "column") == 1:
        end -= 1
    code = member(value, "code", "value")
    return Finding(
        path,
        message,
        line,
        end if line is not None and end is not None and end >= line else line,
        _level(value.get("severity")) or _level(severity) or "warning",
        words(code, 200) or (str(code) if isinstance(code, int) else ""),
        words(member(value, "source", "name"), 200) or tool,
    )


def _level(severity: Any) -> Level | None:
    return _SEVERITIES.get(severity) if isinstance(severity, str | int) and not isinstance(severity, bool) else None
