"""`archive`: everything of a project that the other formats are made from, as a folder or a ZIP."""

from potato.formats.options import SourceOptions
from potato.formats.registry import Format
from potato.records.sources import Record, TraceFacts


class Archive(Format):
    """The rows are the records, with the configuration version, the kind of assignment and the number of the batch in
    which the trace was beside them. Answers of
    automated sources are among them where they were chosen, with `source` in the place of `annotator`; whoever reads
    the archive leaves them out unless they are chosen again."""

    name = "archive"
    label = "Everything: annotations, traces and configurations (folder or ZIP)"
    suffix = ".zip"
    media_type = "application/zip"
    options = SourceOptions
    is_archive = True
    lines = "archived"

    def write(self, record: Record, facts: TraceFacts) -> bytes:
        self.state["rows"] += 1
        return record.archived_text.encode("ascii") + b"\n"
