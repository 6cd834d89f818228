"""Names files that Potato knows by sight and that are no runs, so that a refusal says what they are."""

from potato.runs.converters.outline import Outline

_ENTIRE = frozenset({"checkpoint_id", "session_id", "strategy"})


def foreign_kind(outline: Outline) -> str:
    """What the file is, as in "a JSON schema"; "" for one that nobody knows by sight."""
    if outline.layout == "text":
        return ""
    records = [record for record in outline.records() if isinstance(record, dict)]
    if any({"$defs", "$schema"} & record.keys() for record in records):
        return "a JSON schema"
    if any(record.keys() >= _ENTIRE for record in records):
        return "what Entire keeps of a checkpoint beside the session's own file"
    return ""
