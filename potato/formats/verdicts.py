"""`code_review_verdicts`: how often each verdict was given, in all, by agent model and by annotator; the summaries."""

import json
from collections import Counter
from typing import Any, cast

from potato.formats.options import SelectionOptions
from potato.formats.registry import Format
from potato.records.sources import Project, Record, Source, TraceFacts, json_text, part_of
from potato.schemes.review.configuration import VerdictScheme
from potato.wording import UNKNOWN

TYPE = "code_review_verdict"
TIE = "tie"


class Verdicts(Format):
    """Counts with their shares of 1. Under the majority a trace counts once, with the verdict that most annotators
    gave, or as a tie; there is then no distribution by annotator, and the summaries are those of all."""

    name = "code_review_verdicts"
    label = "Distribution of verdicts, with the summaries"
    suffix = ".json"
    media_type = "application/json"
    options = SelectionOptions
    needs = frozenset({"agent_model"})
    annotation_types = frozenset({TYPE})

    def start(self) -> dict[str, Any]:
        return {"rows": 0, "summaries": 0, "all": {}, "by_agent_model": {}, "by_annotator": {}}

    def write(self, record: Record, facts: TraceFacts) -> bytes:
        verdict = self._verdict(record)
        if verdict is None:
            return b""
        decision, summary = verdict
        model = facts.agent_model or UNKNOWN
        self.state["rows"] += 1
        if self.resolve != "majority":
            _count(self.state["all"], decision)
            _count(self.state["by_agent_model"].setdefault(model, {}), decision)
            _count(self.state["by_annotator"].setdefault(record.annotator, {}), decision)
        if summary is None:
            return b""
        row = {
            "id": record.id,
            **({"trace_version": record.trace_version} if record.trace_version > 1 else {}),
            "annotator": record.annotator,
            "timestamp": record.timestamp,
            "agent_model": model,
            "decision": decision,
            "summary": summary,
        }
        separator = ",\n    " if self.state["summaries"] else "\n    "
        self.state["summaries"] += 1
        return (separator + json_text(row)).encode("ascii")

    def finish(self, source: Source) -> None:
        if self.resolve != "majority":
            return
        for record, decisions in source.by_trace(self._decision):
            decision = _majority(decisions)
            (facts,) = source.facts([(record, ())], self.needs)
            _count(self.state["all"], decision)
            _count(self.state["by_agent_model"].setdefault(facts.agent_model or UNKNOWN, {}), decision)

    def head(self) -> bytes:
        options = _options(self.project)
        by_annotator = self.state["by_annotator"]
        summed = {
            "total": sum(self.state["all"].values()),
            "distribution": _distribution(self.state["all"], options),
            "by_agent_model": _by(self.state["by_agent_model"], options),
            "by_annotator": None if self.resolve == "majority" else _by(by_annotator, options),
        }
        text = json.dumps(summed, ensure_ascii=True, indent=2)
        return text.removesuffix("\n}").encode("ascii") + b',\n  "summaries": ['

    def tail(self) -> bytes:
        return b"\n  ]\n}\n" if self.state["summaries"] else b"]\n}\n"

    def nothing(self) -> str:
        return "The export selects nothing: no annotation has a verdict. Nothing was written."

    def _decision(self, record: Record) -> str | None:
        verdict = self._verdict(record)
        return None if verdict is None else verdict[0]

    def _verdict(self, record: Record) -> tuple[str, str | None] | None:
        part = part_of(record, self.project.scheme(record, TYPE), dict, "an object with a decision")
        if part is None or not isinstance(decision := part.get("decision"), str):
            return None
        summary = part.get("summary")
        return decision, summary if isinstance(summary, str) else None


def _count(counts: dict[str, int], decision: str) -> None:
    counts[decision] = counts.get(decision, 0) + 1


def _majority(decisions: list[str]) -> str:
    (first, most), *others = Counter(decisions).most_common()
    return TIE if others and others[0][1] == most else first


def _options(project: Project) -> list[str]:
    """Every verdict that could be chosen, the newest configuration's first."""
    schemes = (cast(VerdictScheme, scheme) for scheme in project.schemes(TYPE))
    return list(dict.fromkeys(option.value for scheme in schemes for option in scheme.verdict.options))


def _distribution(counts: dict[str, int], options: list[str]) -> dict[str, dict[str, Any]]:
    total = sum(counts.values())
    decisions = dict.fromkeys([*options, *sorted(counts)])
    return {
        decision: {"count": counts.get(decision, 0), "share": counts.get(decision, 0) / total if total else None}
        for decision in decisions
    }


def _by(groups: dict[str, dict[str, int]], options: list[str]) -> dict[str, Any]:
    return {
        name: {"total": sum(counts.values()), "distribution": _distribution(counts, options)}
        for name, counts in sorted(groups.items())
    }
