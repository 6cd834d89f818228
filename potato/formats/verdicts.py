"""`code_review_verdicts`: how often each verdict was given, in all, by agent model and by annotator; the summaries."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from sys import intern
from typing import Any, TypeAlias, cast

from potato.formats.consensus import Crowd, is_weighted, most_probable, remarks_on, weigh
from potato.formats.options import ConsensusOptions
from potato.formats.registry import Format
from potato.records.sources import Project, Record, RecordSource, TraceFacts, json_text, scheme_annotation
from potato.schemes.review.configuration import VerdictScheme
from potato.wording import UNKNOWN

TYPE = "code_review_verdict"
TIE = "tie"
_Named: TypeAlias = tuple[str, int, str, int]
"""A trace's id and version, its agent model, and how many annotators gave a verdict."""


class Verdicts(Format):
    """Counts with their shares of 1. Under the majority a trace counts once, with the verdict that most annotators
    gave, or as a tie; there is then no distribution by annotator, and the summaries are those of all. Under consensus
    a trace counts once with what annotators say, weighed by how reliable each one shows to be. With `--resolve soft` it
    counts for each verdict with how probable that one is, so that counts have decimals, and `traces` has these
    `posteriors` of each trace."""

    name = "code_review_verdicts"
    label = "Distribution of verdicts, with the summaries"
    suffix = ".json"
    media_type = "application/json"
    options = ConsensusOptions
    needs = frozenset({"agent_model"})
    annotation_types = frozenset({TYPE})

    def start(self) -> dict[str, Any]:
        self._soft: tuple[list[_Named], Sequence[Mapping[str, float]]] | None = None
        return {"rows": 0, "summaries": 0, "all": {}, "by_agent_model": {}, "by_annotator": {}}

    def write(self, record: Record, facts: TraceFacts) -> bytes:
        verdict = self._verdict(record)
        if verdict is None:
            return b""
        decision, summary = verdict
        model = facts.agent_model or UNKNOWN
        self.state["rows"] += 1
        if not self._counts_traces:
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

    @property
    def _counts_traces(self) -> bool:
        return self.resolve == "majority" or is_weighted(self)

    def remarks(self) -> list[str]:
        return remarks_on(self.consensus)

    def finish(self, source: RecordSource) -> None:
        if is_weighted(self):
            self._weigh(source)
        if self.resolve != "majority":
            return
        for record, decisions in source.by_trace(self._decision):
            decision = _majority(decisions)
            (facts,) = source.facts([(record, ())], self.needs)
            _count(self.state["all"], decision)
            _count(self.state["by_agent_model"].setdefault(facts.agent_model or UNKNOWN, {}), decision)

    def _weigh(self, source: RecordSource) -> None:
        """Count each trace by the consensus of its annotators. What is kept of a trace is its name and model."""
        crowd = Crowd(_options(self.project))
        traces: list[_Named] = []
        for record, decisions in source.by_trace(self._named_decision):
            crowd.next_trace()
            crowd.add(decisions)
            (facts,) = source.facts([(record, ())], self.needs)
            traces.append((record.id, record.trace_version, intern(facts.agent_model or UNKNOWN), len(decisions)))
        weighed = weigh(self, crowd, self.chosen.weighting)
        for (_, _, model, _), posteriors in zip(traces, weighed, strict=True):
            of_model = self.state["by_agent_model"].setdefault(model, {})
            if self.resolve == "soft":
                for decision, probable in posteriors.items():
                    _count(self.state["all"], decision, probable)
                    _count(of_model, decision, probable)
            else:
                decision = most_probable(posteriors) or TIE
                _count(self.state["all"], decision)
                _count(of_model, decision)
        if self.resolve == "soft":
            self._soft = traces, weighed

    def head(self) -> bytes:
        options = _options(self.project)
        by_annotator = self.state["by_annotator"]
        summed = {
            "total": _total(self.state["all"]),
            "distribution": _distribution(self.state["all"], options),
            "by_agent_model": _by(self.state["by_agent_model"], options),
            "by_annotator": None if self._counts_traces else _by(by_annotator, options),
        }
        text = json.dumps(summed, ensure_ascii=True, indent=2)
        return text.removesuffix("\n}").encode("ascii") + b',\n  "summaries": ['

    def tail(self) -> bytes:
        end = b"\n  ]" if self.state["summaries"] else b"]"
        if self._soft is None:
            return end + b"\n}\n"
        rows = ",\n    ".join(map(json_text, _soft_rows(*self._soft)))
        return end + f',\n  "traces": [\n    {rows}\n  ]\n}}\n'.encode("ascii")

    def nothing(self) -> str:
        return "The export selects nothing: no annotation has a verdict. Nothing was written."

    def _decision(self, record: Record) -> str | None:
        verdict = self._verdict(record)
        return None if verdict is None else verdict[0]

    def _named_decision(self, record: Record) -> tuple[str, str] | None:
        decision = self._decision(record)
        return None if decision is None else (record.annotator, decision)

    def _verdict(self, record: Record) -> tuple[str, str | None] | None:
        part = scheme_annotation(record, self.project.scheme(record, TYPE), dict, "an object with a decision")
        if part is None or not isinstance(decision := part.get("decision"), str):
            return None
        summary = part.get("summary")
        return decision, summary if isinstance(summary, str) else None


def _soft_rows(traces: Sequence[_Named], weighed: Sequence[Mapping[str, float]]) -> Iterator[dict[str, Any]]:
    for (name, version, model, annotators), posteriors in zip(traces, weighed, strict=True):
        yield {
            "id": name,
            **({"trace_version": version} if version > 1 else {}),
            "agent_model": model,
            "annotators": annotators,
            "decision": most_probable(posteriors),
            "posteriors": posteriors,
        }


def _count(counts: dict[str, Any], decision: str, many: float = 1) -> None:
    counts[decision] = round(counts.get(decision, 0) + many, 6)


def _total(counts: dict[str, Any]) -> Any:
    return round(sum(counts.values()), 6)


def _majority(decisions: list[str]) -> str:
    (first, most), *others = Counter(decisions).most_common()
    return TIE if others and others[0][1] == most else first


def _options(project: Project) -> list[str]:
    """Every verdict that could be chosen, the newest configuration's first."""
    schemes = (cast(VerdictScheme, scheme) for scheme in project.schemes(TYPE))
    return list(dict.fromkeys(option.value for scheme in schemes for option in scheme.verdict.options))


def _distribution(counts: dict[str, int], options: list[str]) -> dict[str, dict[str, Any]]:
    total = _total(counts)
    decisions = dict.fromkeys([*options, *sorted(counts)])
    return {
        decision: {"count": counts.get(decision, 0), "share": counts.get(decision, 0) / total if total else None}
        for decision in decisions
    }


def _by(groups: dict[str, dict[str, int]], options: list[str]) -> dict[str, Any]:
    return {
        name: {"total": _total(counts), "distribution": _distribution(counts, options)}
        for name, counts in sorted(groups.items())
    }
