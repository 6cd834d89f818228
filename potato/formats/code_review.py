"""`code_review`: every annotation as the documented record, a line of JSON each."""

from potato.formats.options import RecordOptions
from potato.formats.registry import Format
from potato.records.sources import Record, TraceFacts


class CodeReview(Format):
    """`annotations` has a part for each scheme, under the scheme's name, as it was submitted. `timestamp` is the
    submission in UTC, `active_seconds` how long its annotator was at work, where that is known, and `corrected_by` the
    reviewer whose revision it is, where it is one. `via` is `token` where a program submitted it with a token of the
    annotator's, and left out otherwise. `trace_version` stands beside `id` where the trace has had other content
    before. The answer of an automated source has `source` in the place of `annotator`: its name, model, version and
    kind."""

    name = "code_review"
    label = "Complete reviews, one record a line"
    suffix = ".jsonl"
    media_type = "application/jsonl"
    options = RecordOptions
    annotation_types = frozenset({"code_review_comments", "code_review_file_ratings", "code_review_verdict"})
    lines = "text"

    def write(self, record: Record, facts: TraceFacts) -> bytes:
        self.state["rows"] += 1
        return record.text.encode("ascii") + b"\n"
