"""Which file of a change a report means: checkers name files from the root of the repository, or of a machine."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def files_meant(named: Iterable[str], paths: Iterable[str]) -> dict[str, str]:
    """Of each path that a report names the one of these that it means: the same one, else the longest with which it
    ends. A path that means none is left out; a name alone means no file in a folder."""
    known = set(paths)
    meant: dict[str, str] = {}
    for name in set(named):
        parts = name.split("/")
        ends = ("/".join(parts[at:]) for at in range(len(parts)))
        found = next((end for end in ends if end in known), "")
        if found:
            meant[name] = found
    return meant


def findings_by_file(reports: Iterable[Mapping[str, Any]], paths: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """The findings of stored reports by the file of the change that each is about, under its path there."""
    findings = [finding for report in reports for finding in report["findings"]]
    meant = files_meant((finding["path"] for finding in findings), paths)
    by_file: dict[str, list[dict[str, Any]]] = {}
    for finding in findings:
        if path := meant.get(finding["path"]):
            by_file.setdefault(path, []).append({**finding, "path": path})
    return by_file


def findings_within(findings: Iterable[Mapping[str, Any]], start: int, end: int) -> list[Mapping[str, Any]]:
    """Those that are about one of these lines of the file as the run left it."""
    return [
        finding
        for finding in findings
        if (line := finding.get("line")) is not None and line <= end and finding.get("end_line", line) >= start
    ]
