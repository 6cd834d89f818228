"""Reading what was submitted: one's own, or anybody's with the right to see annotations. All else does not exist."""

from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import read
from accounts.api.views import ApiView
from accounts.models.projects import visible_project
from assignments.actions.noting import write_note
from assignments.api.lines import exact_lines
from assignments.api.pages import cursor_page
from assignments.api.parameters import CURSOR, LINES
from assignments.comparing import Cell, compare
from assignments.models import Submission
from assignments.notes import WrittenNote, notes_of, written_notes
from assignments.readable import annotations_to_compare, readable, trace_in
from assignments.submission_records import annotator_names, elapsed, submission_record
from potato.api import shapes
from potato.configuration import ProjectConfiguration, UnreadablePinError
from potato.schemes.matching import TOLERANCE
from tenancy.roles import Right
from tenancy.urls import organisation_reverse
from traces.evidence.judged_files import exact_paths
from traces.models import TraceFile


class ReaderView(ApiView):
    right = Right.SEE_ORGANISATION

    def submission(self) -> Any:
        return get_object_or_404(readable(self.membership, self.person), pk=self.kwargs["submission_id"])


class SubmissionView(ReaderView):
    @extend_schema(responses=shapes.SubmissionInDetail)
    def get(self, request: Request, submission_id: UUID) -> Response:
        """One submitted annotation: one's own, or anybody's for who may see them."""
        submission = self.submission()
        assignment = submission.assignment
        took = elapsed(submission)
        return Response(
            shapes.SubmissionInDetail(
                submission=submission.pk,
                record=submission_record(submission, annotator_names([assignment.user_id])[assignment.user_id]),
                surplus=submission.is_surplus,
                withdrawn=submission.is_withdrawn,
                project=submission.project.slug,
                trace=assignment.trace_id,
                configuration_version=assignment.version.number,
                submitted_at=submission.submitted_at,
                elapsed_seconds=None if took is None else round(took.total_seconds()),
                page=organisation_reverse(
                    self.membership.organisation_slug,
                    "read-annotation",
                    project=submission.project.slug,
                    submission_id=submission.pk,
                ),
            )
        )


class ComparisonView(ApiView):
    right = Right.SEE_ORGANISATION

    @extend_schema(responses=shapes.Comparison)
    def get(self, request: Request, project: str, trace_id: UUID) -> Response:
        """What all who annotated a trace say of it, and where they differ.

        Of each person the newest annotation that was not taken back, surplus ones too; those whose configuration does
        not load any more are left out. An annotator may read it of a trace of their own where `visibility.
        others_after_submit` lets them: their own first, then those that count, without names and ids.
        """
        chosen = visible_project(self.membership, project)
        trace = trace_in(chosen, trace_id)
        submissions = [
            (submission, configuration)
            for submission in annotations_to_compare(self.membership, self.person, trace)
            if (configuration := _configuration(submission)) is not None
        ]
        sees_all = self.membership.may_in(Right.SEE_ANNOTATIONS, chosen)
        people = [row.assignment.user_id for row, _ in submissions]
        names = annotator_names(user for user in people if sees_all or user == self.person.pk)
        files = TraceFile.objects.filter(trace=trace).order_by("index")
        compared = compare(
            [(submission.result, configuration) for submission, configuration in submissions], exact_paths(files)
        )
        return Response(
            shapes.Comparison(
                people=[
                    shapes.ComparedPerson(
                        submission=submission.pk if submission.assignment.user_id in names else None,
                        annotator=names.get(submission.assignment.user_id),
                        surplus=submission.is_surplus,
                        configuration_version=submission.assignment.version.number,
                    )
                    for submission, _ in submissions
                ],
                tolerance=TOLERANCE,
                rows=[
                    shapes.ComparedRow(
                        title=row.title,
                        file=row.file,
                        step=row.step,
                        answers=[_answer(cell) for cell in row.cells],
                        differs=row.differs,
                        spread=row.spread,
                    )
                    for row in (*compared.whole, *compared.totals, *compared.ratings, *compared.steps)
                ],
                places=[
                    shapes.ComparedLines(
                        file=place.file,
                        side=place.side,
                        line_start=place.first,
                        line_end=place.last,
                        comments=[_answer(cell) for cell in place.cells],
                        differs=place.differs,
                    )
                    for place in compared.places
                ],
            )
        )


class NotesView(ApiView):
    right = Right.SEE_ANNOTATIONS
    right_to_change = Right.MANAGE_PROJECTS
    largest_body = 65_536

    def submission(self) -> Any:
        rows = self.reachable(readable(self.membership, self.person))
        return get_object_or_404(rows, pk=self.kwargs["submission_id"])

    @extend_schema(parameters=[CURSOR], responses=shapes.Notes)
    def get(self, request: Request, submission_id: UUID) -> Response:
        """What managers wrote about an annotation, the oldest first. Its annotator and exports do not have it."""
        following, previous, notes = cursor_page(notes_of(self.submission()), request)
        results = [_note(note) for note in written_notes(notes)]
        return Response(shapes.Notes(next=following, previous=previous, results=results))

    @extend_schema(request=shapes.NewNote, responses={201: shapes.Note})
    def post(self, request: Request, submission_id: UUID) -> Response:
        """Write a note about an annotation, for those who see everybody's."""
        submission = self.submission()
        note = write_note(submission=submission, text=read(shapes.NewNote, request).text, user=self.person)
        return Response(_note(*written_notes([note])), status=201)


class SubmissionLinesView(ReaderView):
    @extend_schema(parameters=LINES, responses=shapes.Lines)
    def get(self, request: Request, submission_id: UUID) -> Response:
        """The exact text of lines of a file, as a suggestion of this annotation replaces it."""
        return Response(exact_lines(request, self.submission().assignment.trace))


def _note(note: WrittenNote) -> shapes.Note:
    return shapes.Note(id=note.id, text=note.text, author=note.author, written_at=note.written_at)


def _configuration(submission: Submission) -> ProjectConfiguration | None:
    try:
        return submission.assignment.configuration()
    except UnreadablePinError:
        return None


def _answer(cell: Cell) -> shapes.ComparedAnswer | None:
    opinion = cell.opinion
    if opinion is None:
        return None
    return shapes.ComparedAnswer(
        values=[choice.value for choice in opinion.choices], number=opinion.number, text=opinion.text
    )
