"""Names files that Potato knows by sight and that are no runs, so that a refusal says what they are."""

from potato.runs.converters.outline import Outline

_BY_KEYS = (
    ({"checkpoint_id", "session_id", "strategy"}, "what Entire keeps of a checkpoint beside the session's own file"),
    ({"sessionId", "messageId", "type", "message"}, "Gemini CLI's list of what people typed (logs.json)"),
    ({"display", "timestamp", "project"}, "Claude Code's list of what people typed (history.jsonl)"),
    ({"session_id", "ts", "text"}, "Codex's list of what people typed (history.jsonl)"),
    ({"sha", "filename", "status", "changes"}, "the list of files of a pull request without the pull request itself"),
    ({"iid", "project_id", "web_url"}, "a merge request of GitLab; its diff can be imported as a patch"),
    ({"resourceMetrics"}, "metrics of OpenTelemetry"),
    ({"resource_metrics"}, "metrics of OpenTelemetry"),
)


def foreign_kind(outline: Outline) -> str:
    """What the file is, as in "a JSON schema"; "" for one that nobody knows by sight."""
    if outline.layout == "text":
        return ""
    records = [record for record in outline.records() if isinstance(record, dict)]
    if any({"$defs", "$schema"} & record.keys() for record in records):
        return "a JSON schema"
    return next((what for keys, what in _BY_KEYS if any(record.keys() >= keys for record in records)), "")
