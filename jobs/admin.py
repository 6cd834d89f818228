"""Jobs in the admin: what runs, how far it is, what went wrong, and cancel."""

from django.contrib.admin import AdminSite, action, display
from django.contrib.messages import success, warning
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs.actions import JobIsOver, cancel_job
from jobs.models import Job
from tenancy.admin import OrganisationModelAdmin
from tenancy.permissions import allowed
from tenancy.roles import Right


class JobAdmin(OrganisationModelAdmin[Job]):
    view_right = Right.SEE_JOBS
    list_display = ["kind", "state", "how_far", "attempts", "created_by", "created_at", "finished_at"]
    list_filter = ["state", "kind"]
    search_fields = ["kind", "error"]
    list_select_related = ["created_by"]
    date_hierarchy = "created_at"
    actions = ["cancel"]
    exclude = ["organisation"]

    @display(description="progress")
    def how_far(self, job: Job) -> str:
        return f"{job.progress} of {job.total}" if job.total is not None else str(job.progress)

    def has_cancel_permission(self, request: HttpRequest) -> bool:
        return allowed(request, Right.CANCEL_JOBS)

    @action(description="Cancel the selected jobs", permissions=["cancel"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        for job in queryset:
            try:
                cancel_job(job=job)
            except JobIsOver as refusal:
                warning(request, f"{job.kind}: {refusal.sentence}")
            else:
                success(request, f"{job.kind}: {'ended' if not job.is_open else 'ends after its present part'}.")


def register(site: AdminSite) -> None:
    site.register(Job, JobAdmin)
