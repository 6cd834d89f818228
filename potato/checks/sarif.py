"""SARIF 2.x: what static analysers, linters and security scanners write.

Field notes (the OASIS standard, 2.1.0)
- `runs[]` of one tool each: `tool.driver.name`, `rules[]` with `id`, `defaultConfiguration.level` and
  `messageStrings`; `results[]` with `ruleId` or `ruleIndex` or `rule.id`, `level`, `kind`, `message.text`, or
  `message.id` with `arguments` that stand for {0}, {1}.
- A result's level is its own, else its rule's, else warning. Of another `kind` than fail it says that something is
  well, or nothing; `none` is no level. What is suppressed, or absent from this baseline, is not shown.
- `locations[].physicalLocation`: `artifactLocation.uri`, a URI, relative to `uriBaseId`, or `index` into
  `run.artifacts`; `region` with `startLine` and `endLine` from 1.
- The run may be named: `automationDetails.id`, and `properties` with `trace_id`, `instance_id` or `task_id`.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from potato.checks.model import BOUNDS, Finding, Level, Report, ReportBounds, UnreadableReport, kept_findings
from potato.checks.values import line_number, listed, member, path_of, words

_LEVELS: dict[str, Level] = {"error": "error", "warning": "warning", "note": "note"}
_WELL = frozenset({"pass", "notApplicable", "informational"})
_PLACES = 20


def is_sarif(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("runs"), list)
        and (isinstance(value.get("version"), str) or "sarif" in words(value.get("$schema")).lower())
        and all(isinstance(member(run, "tool", "driver"), dict) for run in value["runs"][:3])
    )


def read_sarif(value: dict[str, Any], bounds: ReportBounds = BOUNDS) -> list[Report]:
    """A report for each run. Raises UnreadableReport where there is none."""
    reports = [_report(run, bounds) for run in listed(value.get("runs"))[: bounds.reports] if isinstance(run, dict)]
    if not reports:
        raise UnreadableReport("no_runs", "The SARIF file has no run of a tool: nothing to show.")
    return reports


def _report(run: dict[str, Any], bounds: ReportBounds) -> Report:
    left_out: Counter[str] = Counter()
    rules = _Rules(run)
    tool = words(member(run, "tool", "driver", "name"), 200) or "SARIF"
    found = [
        finding
        for result in listed(run.get("results"))
        for finding in _findings(result, rules, run, tool, left_out, bounds)
    ]
    stated = (
        member(run, "properties", "trace_id"),
        member(run, "properties", "instance_id"),
        member(run, "properties", "task_id"),
        words(member(run, "automationDetails", "id")).rstrip("/"),
    )
    return Report(
        "sarif",
        tool,
        ids=tuple(id for value in stated if (id := words(value, 300).strip())),
        model=words(member(run, "properties", "model"), 300),
        findings=kept_findings(found, left_out, bounds),
        left_out=left_out,
    )


class _Rules:
    """The rules of a tool, and of its extensions, by id and by place."""

    def __init__(self, run: dict[str, Any]) -> None:
        driver = member(run, "tool", "driver", "rules")
        self._listed = [rule if isinstance(rule, dict) else {} for rule in listed(driver)]
        self._by_id = {rule["id"]: rule for rule in self._listed if isinstance(rule.get("id"), str)}
        for extension in listed(member(run, "tool", "extensions")):
            for rule in listed(member(extension, "rules")):
                if isinstance(rule, dict) and isinstance(rule.get("id"), str):
                    self._by_id.setdefault(rule["id"], rule)

    def of(self, result: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The rule's id, and what is known of it."""
        id = words(result.get("ruleId"), 200) or words(member(result, "rule", "id"), 200)
        place = result.get("ruleIndex", member(result, "rule", "index"))
        if not id and isinstance(place, int) and not isinstance(place, bool) and 0 <= place < len(self._listed):
            return words(self._listed[place].get("id"), 200), self._listed[place]
        # "CA2101/a" is of the rule CA2101.
        return id, self._by_id.get(id) or self._by_id.get(id.partition("/")[0], {})


def _findings(
    result: Any, rules: _Rules, run: dict[str, Any], tool: str, left_out: Counter[str], bounds: ReportBounds
) -> Iterator[Finding]:
    if not isinstance(result, dict):
        left_out["result that is no object"] += 1
        return
    kind = words(result.get("kind")) or "fail"
    if kind in _WELL:
        left_out["result that is no fault"] += 1
        return
    if result.get("suppressions") and not _is_rejected(result["suppressions"]):
        left_out["suppressed result"] += 1
        return
    if result.get("baselineState") == "absent":
        left_out["result that is gone"] += 1
        return
    id, rule = rules.of(result)
    level = words(result.get("level")) or words(member(rule, "defaultConfiguration", "level")) or "warning"
    if level not in _LEVELS:
        left_out["result without a level"] += 1
        return
    message = _message(result.get("message"), rule) or words(member(rule, "shortDescription", "text"))
    places = 0
    for location in listed(result.get("locations"))[:_PLACES]:
        path = _path(member(location, "physicalLocation", "artifactLocation"), run)
        if not path:
            continue
        region = member(location, "physicalLocation", "region")
        line = line_number(member(region, "startLine"))
        end = line_number(member(region, "endLine"))
        places += 1
        yield Finding(
            path,
            message or id or "No message",
            line,
            end if line is not None and end is not None and end >= line else line,
            _LEVELS[level],
            id,
            tool,
        )
    if not places:
        left_out["result without a file"] += 1


def _is_rejected(suppressions: Any) -> bool:
    return all(member(each, "status") == "rejected" for each in listed(suppressions))


def _message(message: Any, rule: dict[str, Any]) -> str:
    text = words(member(message, "text")) or words(member(message, "markdown"))
    if not text:
        text = words(member(rule, "messageStrings", words(member(message, "id")), "text"))
    for place, argument in enumerate(listed(member(message, "arguments"))[:20]):
        text = words(text.replace(f"{{{place}}}", words(argument, 500)))
    return text.strip()


def _path(artifact: Any, run: dict[str, Any]) -> str:
    if path := path_of(member(artifact, "uri")):
        return path
    place, artifacts = member(artifact, "index"), listed(run.get("artifacts"))
    if isinstance(place, int) and not isinstance(place, bool) and 0 <= place < len(artifacts):
        return path_of(member(artifacts[place], "location", "uri"))
    return ""
