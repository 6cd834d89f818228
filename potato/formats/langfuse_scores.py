"""`langfuse_scores`: what annotators said as scores that Langfuse takes, a request body a line."""

from collections import Counter
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from potato.formats.options import RecordOptions
from potato.formats.registry import Format
from potato.formats.scores import Score, author_of, scores_in
from potato.formats.training import readable
from potato.records.sources import Record, TraceFacts, json_text
from potato.wording import UNKNOWN


class LangfuseScores(Format):
    """Each line is the body of `POST /api/public/scores`. `traceId` is the trace's id, which for traces that came from
    Langfuse is Langfuse's own. `name` is the scheme, with the question behind a point where it has several; a choice is
    a CATEGORICAL score, a number a NUMERIC one, and `comment` what was written beside it. A comment on lines is a score
    of its category. `metadata` says who annotated and when, which `step` (from 0), `file` and lines are meant, and what
    else was said: the score of a label, a suggestion, a correction.

    `id` is made of the record and of what the score is about, so that sending a file twice, or a corrected annotation,
    replaces the scores instead of adding some. Not in the file: the observation that a step was, which a trace does not
    keep, and annotations that say nothing, which are counted."""

    name = "langfuse_scores"
    label = "Scores for Langfuse, one request a line"
    suffix = ".jsonl"
    media_type = "application/jsonl"
    options = RecordOptions

    def write(self, record: Record, facts: TraceFacts) -> bytes:
        rows, seen = [], Counter[str]()
        for score in scores_in(record, self.project):
            what = json_text([score.name, *(score.about.get(key) for key in ("step", "file", "comment_id"))])
            seen[what] += 1
            rows.append(_body(record, score, f"{what}:{seen[what]}"))
        if not rows:
            return self.leave_out("without_scores")
        self.state["rows"] += len(rows)
        return "".join(f"{json_text(row)}\n" for row in rows).encode("ascii")

    def nothing(self) -> str:
        return "The export selects nothing: no annotation has anything to score. Nothing was written."


def _body(record: Record, score: Score, what: str) -> dict[str, Any]:
    author = author_of(record)
    place = json_text([record.id, record.trace_version, author, record.kind, what])
    metadata = {
        **author,
        **({"timestamp": record.timestamp} if record.timestamp != UNKNOWN else {}),
        **({"kind": record.kind} if record.kind != "normal" else {}),
        "trace_version": record.trace_version,
        **score.about,
        **({"score": score.number} if score.label is not None and score.number is not None else {}),
        **({"origin": dict(record.origin)} if record.origin else {}),
    }
    return {
        "id": str(uuid5(NAMESPACE_URL, f"potato-score:{place}")),
        "traceId": readable(record.id),
        "name": readable(score.name),
        "value": readable(score.label) if score.label is not None else score.number,
        "dataType": "CATEGORICAL" if score.label is not None else "NUMERIC",
        **({"comment": readable(score.text)} if score.text else {}),
        "metadata": {key: readable(value) if isinstance(value, str) else value for key, value in metadata.items()},
    }
