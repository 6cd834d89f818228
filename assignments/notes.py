"""The notes on annotations, as pages and the API show them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from assignments.models import Note, Submission
from assignments.submission_records import annotator_names


@dataclass(frozen=True)
class WrittenNote:
    """A note, and the name of its author in the organisation, "" where nobody knows it any more."""

    id: UUID
    text: str
    author: str
    written_at: datetime


def notes_of(submission: Submission) -> QuerySet[Note]:
    """The notes on a submission. The organisation is named, because it comes first in their index."""
    return Note.objects.filter(organisation=submission.organisation_id, submission=submission)


def written_notes(rows: Iterable[Note]) -> list[WrittenNote]:
    """These notes with their authors, in the same order."""
    notes = list(rows)
    names = annotator_names(row.written_by_id for row in notes if row.written_by_id)
    return [
        WrittenNote(row.pk, row.text, names.get(row.written_by_id, "") if row.written_by_id else "", row.written_at)
        for row in notes
    ]
