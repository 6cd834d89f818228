"""The pages of a project's agreement."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.models import Project
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right


@requires(Right.SEE_ANNOTATIONS)
@require_safe
def agreement_page(request: OrganisationRequest, project: str) -> HttpResponse:
    """How far the project's people agree."""
    found = get_object_or_404(Project.objects.visible_to(request.membership), slug=project)
    return render(request, "agreement/agreement.html", {"project": found})
