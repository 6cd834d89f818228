"""Pages about organisations and their projects: the person's home, and an organisation's front page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.models import Membership, Project
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires, signed_in
from tenancy.roles import Right


@signed_in
def home(request: HttpRequest) -> HttpResponse:
    """The organisations that the person belongs to; the database shows the person's own memberships alone."""
    memberships = (
        Membership.objects.filter(user=request.user)  # type: ignore[misc]  # signed in, so not anonymous
        .active()
        .select_related("organisation")
        .order_by("organisation__name")
    )
    return render(request, "home.html", {"memberships": memberships})


@requires(Right.SEE_ORGANISATION)
def organisation(request: OrganisationRequest) -> HttpResponse:
    """The organisation's projects, those that the member may see."""
    projects = Project.objects.visible_to(request.membership).with_newest_version()
    return render(
        request,
        "organisation.html",
        {"projects": projects, "may_configure": allowed(request, Right.CONFIGURE_PROJECTS)},
    )
