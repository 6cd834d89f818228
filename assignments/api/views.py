"""The routes of an annotator's work. Each parses, calls one action or queryset, and answers; other people's
assignments do not exist here."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import read
from accounts.api.idempotency import key_of
from accounts.api.views import ApiView
from accounts.models import Project
from assignments.actions.claiming import NothingToDo, claim_next, resume
from assignments.actions.submitting import submit, withdraw
from assignments.actions.working import heartbeat, release, save_draft, skip
from assignments.api.lines import exact_lines
from assignments.api.pages import cursor_page
from assignments.api.parameters import CURSOR, IDEMPOTENCY_KEY, LINES, MINE, SURPLUS
from assignments.api.serializers import (
    annotations,
    assignment_draft,
    assignment_in_detail,
    assignment_summaries,
    assignment_summary,
    nothing_to_do,
)
from assignments.models import Assignment, Submission
from assignments.models.submissions import UNDO, SubmissionQuerySet
from assignments.own_assignment import own_assignment
from assignments.progress import project_progress
from assignments.submission_records import annotator_names, submission_record
from potato.api import shapes
from tenancy.roles import Right, TokenScope

LARGEST_ANNOTATION = 2_000_000
_NOT_IN_RECORDS = ("assignment__trace__task", "assignment__trace__report", "assignment__trace__tags")


class AnnotatorView(ApiView):
    right = Right.ANNOTATE

    def own_assignment(self) -> Assignment:
        """The caller's assignment that the address names, whatever became of it, in a project where they annotate."""
        assignment = own_assignment(self.person, self.kwargs["assignment_id"])
        if not self.membership.may_in(self.required_right, assignment.project):
            raise Http404
        return assignment


class ProjectsView(AnnotatorView):
    right = Right.SEE_ORGANISATION
    read_with = frozenset(TokenScope)

    @extend_schema(responses=shapes.Projects)
    def get(self, request: Request) -> Response:
        """The published projects of the organisation, and how far they are."""
        rows = list(Project.objects.visible_to(self.membership).published().with_newest_version())
        progress = project_progress(rows, self.person)
        projects = [
            shapes.Project(
                slug=row.slug,
                name=row.name,
                task_name=row.newest_task_name or "",
                progress=shapes.Progress.model_validate(progress[row.pk], from_attributes=True),
            )
            for row in rows
            if row.pk in progress
        ]
        return Response(shapes.Projects(results=projects))


class NextView(AnnotatorView):
    @extend_schema(request=shapes.Next, responses=shapes.Claim)
    def post(self, request: Request, project: str) -> Response:
        """Claim a trace: the one that is open, else the next free one; with `another`, one more."""
        body = read(shapes.Next, request)
        given = claim_next(project=self.project(), user=self.person, another=body.another)
        if isinstance(given, NothingToDo):
            return Response(shapes.Claim(assignment=None, nothing=nothing_to_do(given)))
        return Response(shapes.Claim(assignment=assignment_summary(given.pk), nothing=None))


class SubmissionsView(AnnotatorView):
    """What lists submissions of a project."""

    right = Right.SEE_ORGANISATION

    def rows(self, request: Request, chosen: Project) -> SubmissionQuerySet:
        """Those of the project that the caller sees, as `surplus` and `mine` of the address say."""
        rows = Submission.objects.for_project(chosen).visible_to(self.membership, self.person)
        if _is_on(request, "mine"):
            rows = rows.of(self.person)
        if self.membership.may_in(Right.SEE_ANNOTATIONS, chosen):
            return rows.with_surplus() if _is_on(request, "surplus") else rows.counted()
        return rows.submitted_by_person(with_surplus=_is_on(request, "surplus"))


class AnnotationsView(SubmissionsView):
    @extend_schema(parameters=[CURSOR, SURPLUS, MINE], responses=shapes.Annotations)
    def get(self, request: Request, project: str) -> Response:
        """Submitted annotations, the oldest first: everybody's for who may see them, else the caller's own.

        Those that count; with `surplus=1` also those that came when the trace had all the annotations it
        needs. `mine=1` leaves out everybody else's.
        """
        rows = self.rows(request, self.project()).select_related("assignment__trace").defer(*_NOT_IN_RECORDS)
        following, previous, submissions = cursor_page(rows, request)
        return Response(shapes.Annotations(next=following, previous=previous, results=annotations(submissions)))


class AssignmentsView(AnnotatorView):
    @extend_schema(responses=shapes.Assignments)
    def get(self, request: Request) -> Response:
        """The caller's claimed assignments in all projects, the oldest first."""
        own = self.reachable(Assignment.objects.of(self.person).open())
        return Response(shapes.Assignments(results=assignment_summaries(own)))


class AssignmentView(AnnotatorView):
    @extend_schema(responses=shapes.AssignmentInDetail)
    def get(self, request: Request, assignment_id: UUID) -> Response:
        """One assignment with its draft, its files and the pinned schemes."""
        return Response(assignment_in_detail(self.own_assignment().pk))


class HeartbeatView(AnnotatorView):
    @extend_schema(request=shapes.LeaseToken, responses=shapes.Lease)
    def post(self, request: Request, assignment_id: UUID) -> Response:
        """Keep the trace for another lease."""
        assignment = self.own_assignment()
        kept = heartbeat(assignment=assignment, fencing_token=read(shapes.LeaseToken, request).lease_token)
        return Response(shapes.Lease(lease_until=kept.lease_until, lease_token=kept.fencing_token, now=timezone.now()))


class ResumeView(AnnotatorView):
    @extend_schema(request=None, responses=shapes.AssignmentInDetail)
    def post(self, request: Request, assignment_id: UUID) -> Response:
        """Go on here: take over from another page, or claim a trace again whose lease ended."""
        return Response(assignment_in_detail(resume(assignment=self.own_assignment()).pk))


class DraftView(AnnotatorView):
    largest_body = LARGEST_ANNOTATION

    @extend_schema(responses=shapes.Draft)
    def get(self, request: Request, assignment_id: UUID) -> Response:
        """The draft as it was saved last."""
        return Response(assignment_draft(self.own_assignment()))

    @extend_schema(request=shapes.Save, responses=shapes.Saved)
    def put(self, request: Request, assignment_id: UUID) -> Response:
        """Save the draft, if nobody saved it since `revision`."""
        assignment = self.own_assignment()
        body = read(shapes.Save, request)
        saved = save_draft(
            assignment=assignment, fencing_token=body.lease_token, revision=body.revision, content=body.content
        )
        return Response(
            shapes.Saved(revision=saved.revision, saved_at=saved.saved_at, lease_until=assignment.lease_until)
        )


class LinesView(AnnotatorView):
    @extend_schema(parameters=LINES, responses=shapes.Lines)
    def get(self, request: Request, assignment_id: UUID) -> Response:
        """The exact text of lines of a file, as a suggestion starts from it."""
        return Response(exact_lines(request, self.own_assignment().trace))


class SubmitView(AnnotatorView):
    largest_body = LARGEST_ANNOTATION
    minds_its_key = True

    @extend_schema(parameters=[IDEMPOTENCY_KEY], request=shapes.Submit, responses={201: shapes.Submitted})
    def post(self, request: Request, assignment_id: UUID) -> Response:
        """Submit the annotation. The same request again is answered the same."""
        assignment = self.own_assignment()
        body = read(shapes.Submit, request)
        submission = submit(
            assignment=assignment,
            fencing_token=body.lease_token,
            key=key_of(request, what="annotation"),
            annotations=body.annotations,
            via_token=self.acts_for_a_person,
        )
        name = self.membership.annotator_name
        if assignment.is_correction:
            # It stands in the annotator's assignment; what takes it back is the undo of the decision.
            annotator = submission.assignment.user_id
            name = annotator_names([annotator]).get(annotator, "")
        else:
            submission.assignment = assignment
        answer = shapes.Submitted(
            submission=submission.pk,
            record=submission_record(submission, name),
            surplus=submission.is_surplus,
            undo_until=submission.submitted_at + (timedelta() if assignment.is_correction else UNDO),
        )
        return Response(answer, status=201)


class SkipView(AnnotatorView):
    @extend_schema(request=shapes.Skip, responses=shapes.State)
    def post(self, request: Request, assignment_id: UUID) -> Response:
        """Give the trace up for good, with a reason."""
        assignment = self.own_assignment()
        body = read(shapes.Skip, request)
        return Response(_state(skip(assignment=assignment, fencing_token=body.lease_token, reason=body.reason)))


class ReleaseView(AnnotatorView):
    @extend_schema(request=shapes.LeaseToken, responses=shapes.State)
    def post(self, request: Request, assignment_id: UUID) -> Response:
        """Put the trace back into the queue."""
        assignment = self.own_assignment()
        return Response(
            _state(release(assignment=assignment, fencing_token=read(shapes.LeaseToken, request).lease_token))
        )


class WithdrawView(AnnotatorView):
    @extend_schema(request=None, responses=shapes.AssignmentInDetail)
    def post(self, request: Request, submission_id: UUID) -> Response:
        """Take a submission back, within seconds: the assignment is open again, with its draft."""
        own = self.reachable(
            Submission.objects.of(self.person).select_related("assignment__project", "assignment__user")
        )
        return Response(assignment_in_detail(withdraw(submission=get_object_or_404(own, pk=submission_id)).pk))


def _is_on(request: Request, name: str) -> bool:
    """Whether the address says name=1; whatever else it says is refused."""
    value = request.query_params.get(name, "0")
    if value not in ("0", "1"):
        raise ParseError(f"{name} must be 0 or 1.", code="invalid_request")
    return value == "1"


def _state(assignment: Assignment) -> Any:
    return shapes.State.model_validate({"state": assignment.state})
