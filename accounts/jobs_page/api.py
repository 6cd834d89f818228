"""The API of background work: what waits, runs and is over, and ending it."""

from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import InvalidRequest
from accounts.api.pages import cursor_page
from accounts.api.parameters import CURSOR
from accounts.api.views import ApiView
from jobs.actions import cancel_job
from jobs.models import Job, JobState
from jobs.sentences import as_text, job_subjects
from potato.api.jobs import (
    JobFacts,
    JobsPage,
)
from tenancy.roles import Right

_FACTS = (
    "id", "kind", "queue", "state", "progress", "total", "attempts", "error", "created_at", "started_at", "finished_at",
)  # fmt: skip


class _JobsView(ApiView):
    right = Right.SEE_JOBS

    def rows(self) -> Any:
        return Job.objects.filter(organisation=self.membership.organisation_id).select_related("created_by")

    def job(self) -> Job:
        job: Job = get_object_or_404(self.rows(), pk=self.kwargs["job_id"])
        return job

    def shown(self, jobs: list[Job]) -> list[JobFacts]:
        subjects = job_subjects(self.request._request, jobs)
        return [
            JobFacts(
                **{name: getattr(job, name) for name in _FACTS},
                is_cancelling=job.is_cancelling,
                sentence=as_text(job, subjects.get(job.pk)),
                asked_by=str(job.created_by) if job.created_by else None,
            )
            for job in jobs
        ]


class JobsView(_JobsView):
    @extend_schema(
        parameters=[
            CURSOR,
            OpenApiParameter("state", str, many=True, enum=JobState.values, description="Any of those that are named."),
            OpenApiParameter("kind", str, many=True, description="As in `kind` of an answer."),
        ],
        responses=JobsPage,
    )
    def get(self, request: Request) -> Response:
        """The organisation's background work, the oldest first."""
        rows = self.rows()
        if states := request.query_params.getlist("state"):
            if unknown := sorted(set(states) - set(JobState.values)):
                states_there_are = ", ".join(JobState.values)
                raise InvalidRequest.at("state", f"state cannot be {unknown[0]!r}. It is one of {states_there_are}.")
            rows = rows.filter(state__in=states)
        if kinds := request.query_params.getlist("kind"):
            rows = rows.filter(kind__in=kinds)
        following, previous, page = cursor_page(rows, request)
        return Response(JobsPage(next=following, previous=previous, results=self.shown(page)))


class JobView(_JobsView):
    @extend_schema(responses=JobFacts)
    def get(self, request: Request, job_id: UUID) -> Response:
        """One job."""
        return Response(self.shown([self.job()])[0])


class CancelJobView(_JobsView):
    right = Right.CANCEL_JOBS

    @extend_schema(request=None, responses=JobFacts)
    def post(self, request: Request, job_id: UUID) -> Response:
        """End a waiting job now, and a running one after its present part. 409 `job_is_over` for a finished one."""
        cancel_job(job=self.job())
        return Response(self.shown([self.job()])[0])


urlpatterns = [
    path("jobs/", JobsView.as_view(), name="api-jobs"),
    path("jobs/<uuid:job_id>/", JobView.as_view(), name="api-job"),
    path("jobs/<uuid:job_id>/cancel/", CancelJobView.as_view(), name="api-job-cancel"),
]
