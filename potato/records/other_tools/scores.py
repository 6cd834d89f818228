"""Scores of Langfuse, and labels, judgements and scores of Docent.

Field notes
- Langfuse, GET /api/public/scores and /v2/scores: {data: [{id, traceId, observationId, name, value, stringValue,
  dataType: NUMERIC|CATEGORICAL|BOOLEAN|TEXT, source: API|EVAL|ANNOTATION, authorUserId, comment, metadata,
  timestamp}], meta}; the bodies of POST /api/public/scores have the same names and no source. A score of a session has
  no traceId.
- `metadata` may say which step (`step`, from 0), file (`file`) or lines a score is about: then it is no score of the
  whole trace. An observation alone names no step.
- Docent: labels {agent_run_id, label_set_id, label_value: {key: value, explanation}}, results of a judge {agent_run_id,
  rubric_id, rubric_version, output: {label, explanation}}, and runs {id, metadata: {scores: {name: value}}}.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from potato.records.other_tools.github import COMMENTS
from potato.records.other_tools.model import Author, Found, Place, Reading, Said, Unplaced

_EXPLANATIONS = ("explanation", "reasoning", "comment")


class LangfuseScores:
    """Scores as Langfuse answers or takes them."""

    name: ClassVar[str] = "langfuse"
    label: ClassVar[str] = "Langfuse scores (API, JSONL)"

    @staticmethod
    def recognises(value: Any) -> bool:
        return any(_is_score(entry) for entry in _entries(value)[:20])

    @staticmethod
    def read(places: Sequence[Place], reading: Reading) -> Iterator[Found | Unplaced]:
        for place in places:
            for at, score in enumerate(_entries(place.value), 1):
                where = f"{place.name}, score {score.get('id', at) if isinstance(score, Mapping) else at}"
                yield _score(score, where, reading) if _is_score(score) else Unplaced(where, "It is no score.")


class Docent:
    """Labels, results of judges, and scores of runs."""

    name: ClassVar[str] = "docent"
    label: ClassVar[str] = "Docent labels, judge results and run scores (JSON, JSONL)"

    @staticmethod
    def recognises(value: Any) -> bool:
        return any(_docent(entry) is not None for entry in _entries(value)[:20])

    @staticmethod
    def read(places: Sequence[Place], reading: Reading) -> Iterator[Found | Unplaced]:
        for place in places:
            for at, entry in enumerate(_entries(place.value), 1):
                where = f"{place.name}, entry {at}"
                found = _docent(entry)
                if found is None:
                    yield Unplaced(where, "It is neither a label, a judge's result nor a run with scores.")
                    continue
                trace, answers, author, kind = found
                trace = reading.trace or trace
                text = next((str(answers[key]) for key in _EXPLANATIONS if answers.get(key)), "")
                said = tuple(
                    Said(value, name=str(name), text=text, place=f"{where}, {name}")
                    for name, value in answers.items()
                    if name not in _EXPLANATIONS
                )
                if not trace:
                    yield Unplaced(where, "It names no run.")
                elif said:
                    made = str(entry.get("created_at") or "")
                    yield Found(where, trace, author, said, str(entry.get("id") or ""), made, kind)


def _score(score: Mapping[str, Any], where: str, reading: Reading) -> Found | Unplaced:
    trace = reading.trace or str(score.get("traceId") or score.get("trace_id") or "")
    if not trace:
        return Unplaced(where, "It is of a session or a data set, and of no trace.")
    metadata = score.get("metadata") if isinstance(score.get("metadata"), Mapping) else {}
    about: Mapping[str, Any] = metadata or {}
    step, file = about.get("step"), about.get("file")
    if score.get("observationId") and not isinstance(step, int) and file is None:
        reason = f"It is about the observation {score['observationId']}, of which nothing says which step it is."
        return Unplaced(where, f"{reason} Write the step, from 0, as step into the score's metadata.")
    text = str(score.get("comment") or "")
    value = score.get("stringValue") if score.get("stringValue") is not None else score.get("value")
    name = str(score.get("name") or "")
    if isinstance(about.get("line_start"), int):
        said = Said({**about, "comment": text or str(value)}, name=name, annotation_type=COMMENTS, place=where)
    else:
        said = Said(
            value,
            name=name,
            part=str(about.get("part") or ""),
            step=step if isinstance(step, int) else None,
            file=file if isinstance(file, str) else None,
            text=text,
            place=where,
        )
    more = [
        Said(about[key], name=name, part=key, step=said.step, place=where)
        for key in ("error_category", "correction")
        if said.step is not None and isinstance(about.get(key), str)
    ]
    made = str(score.get("timestamp") or score.get("createdAt") or about.get("timestamp") or "")
    version = about.get("trace_version")
    author, kind = _scorer(score, about)
    known = version if isinstance(version, int) and not isinstance(version, bool) else None
    return Found(where, trace, author, (said, *more), str(score.get("id") or ""), made, kind, known)


def _scorer(score: Mapping[str, Any], metadata: Mapping[str, Any]) -> tuple[str, Author]:
    """Who gave it: people annotate, evaluators judge, and through the API anybody may have."""
    source = score.get("source")
    if isinstance(metadata.get("annotator"), str):
        return metadata["annotator"], "person_elsewhere"
    if source == "ANNOTATION":
        return str(score.get("authorUserId") or "unknown"), "person_elsewhere"
    return str(score.get("name")), "llm_judge" if source == "EVAL" else "other"


def _docent(entry: Any) -> tuple[str, Mapping[str, Any], str, Author] | None:
    """The run, what was said of it, who did, and what they are."""
    if not isinstance(entry, Mapping):
        return None
    run = entry.get("agent_run_id")
    if isinstance(run, str) and isinstance(entry.get("label_value"), Mapping):
        author = entry.get("user_email") or entry.get("user_id") or f"label set {entry.get('label_set_id', '')}"
        return run, entry["label_value"], str(author).strip(), "person_elsewhere"
    if isinstance(run, str) and isinstance(entry.get("output"), Mapping):
        version = f" version {entry['rubric_version']}" if entry.get("rubric_version") else ""
        return run, entry["output"], f"rubric {entry.get('rubric_id', '')}{version}".strip(), "llm_judge"
    metadata = entry.get("metadata")
    scores = metadata.get("scores") if isinstance(metadata, Mapping) else None
    if isinstance(scores, Mapping) and isinstance(entry.get("id"), str):
        return entry["id"], scores, "scores of runs", "other"
    return None


def _is_score(entry: Any) -> bool:
    return (
        isinstance(entry, Mapping)
        and "name" in entry
        and bool({"value", "stringValue"} & entry.keys())
        and bool({"traceId", "trace_id", "sessionId", "observationId"} & entry.keys())
    )


def _entries(value: Any) -> list[Any]:
    if isinstance(value, Mapping) and isinstance(value.get("data"), list):
        return list(value["data"])
    return value if isinstance(value, list) else [value]
