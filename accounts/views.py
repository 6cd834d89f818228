"""The page outside every organisation: which ones a person belongs to."""

from dataclasses import dataclass
from typing import cast

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.models import Membership, Project, User
from tenancy.actor import acting_as
from tenancy.permissions import signed_in
from tenancy.urls import organisation_reverse


@dataclass(frozen=True)
class OrganisationEntry:
    """An organisation on the home page of one of its members."""

    name: str
    url: str
    role: str
    annotator_name: str
    projects: int


@signed_in
def home(request: HttpRequest) -> HttpResponse:
    """The organisations that the person belongs to, each with the number of its published projects. Who belongs to one
    alone is at its own home at once."""
    user = cast(User, request.user)
    with acting_as(user):
        memberships = list(
            Membership.objects.filter(user=user).active().select_related("organisation").order_by("organisation__name")
        )
        published = _published_projects() if len(memberships) > 1 else {}
    if len(memberships) == 1:
        return redirect(organisation_reverse(memberships[0].organisation.slug, "organisation"))
    entries = [
        OrganisationEntry(
            name=membership.organisation.name,
            url=organisation_reverse(membership.organisation.slug, "organisation"),
            role=membership.get_role_display(),
            annotator_name=membership.annotator_name,
            projects=published.get(membership.organisation_id, 0),
        )
        for membership in memberships
    ]
    return render(request, "home.html", {"organisations": entries})


def _published_projects() -> dict[object, int]:
    counts = Project.objects.published().values("organisation_id").annotate(projects=Count("pk"))
    return {row["organisation_id"]: row["projects"] for row in counts.order_by()}
