"""The repositories that are attached to a project: listed, attached and removed."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models.projects import visible_project
from potato.repositories.model import repository_name
from potato.wording import counted
from tenancy.errors import Refused
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import Right
from traces.attaching import BOUNDS, CannotAttach, attach_repository, remove_repository
from traces.models import Repository, Trace

_NAMES_OFFERED = 100


@requires(Right.SEE_TRACES, to_change=Right.IMPORT_TRACES)
@require_http_methods(["GET", "HEAD", "POST"])
def repositories(request: OrganisationRequest, project: str) -> HttpResponse:
    """The list, with the form of one more; POST attaches."""
    chosen = visible_project(request.membership, project)
    refusal = ""
    if request.method == "POST":
        try:
            upload = request.FILES.get("file")
            if upload is None:
                raise CannotAttach("Choose the file: a git bundle, or an archive of the repository's files.")
            attached = attach_repository(
                project=chosen,
                name=request.POST.get("name", ""),
                file=upload,
                commit=request.POST.get("commit", ""),
                clone_url=request.POST.get("clone_url", "").strip(),
            )
        except Refused as refused:
            refusal = refused.sentence
        else:
            commits = counted(attached.commits_count, "commit")
            messages.success(request, f"{attached.file_name} is attached to {attached.name}: {commits}.")
            return redirect("repositories", project=chosen.slug)
    context = {
        "project": chosen,
        "repositories": Repository.objects.filter(project=chosen).select_related("added_by").defer("objects_held"),
        "names": _names(chosen.pk),
        "refusal": refusal,
        "asked": request.POST,
        "most_bytes": BOUNDS.file_bytes,
        "may_attach": allowed(request, Right.IMPORT_TRACES, chosen),
    }
    return render(request, "traces/repositories.html", context, status=400 if refusal else 200)


@requires(Right.IMPORT_TRACES)
@require_POST
def remove(request: OrganisationRequest, project: str, repository_id: UUID) -> HttpResponse:
    """Take an attached file away."""
    chosen = visible_project(request.membership, project)
    repository = get_object_or_404(Repository.objects.filter(project=chosen), pk=repository_id)
    try:
        remove_repository(repository=repository)
    except Refused as refused:
        messages.error(request, refused.sentence)
    else:
        messages.success(request, f"{repository.file_name} of {repository.name} is removed.")
    return redirect("repositories", project=chosen.slug)


def _names(project: UUID) -> list[str]:
    """What the project's runs call their repositories, for the form."""
    rows = Trace.objects.filter(project=project).exclude(repo="").exclude(base_commit="").values_list("repo", flat=True)
    return sorted({repository_name(repo) for repo in rows.distinct()[:_NAMES_OFFERED]} - {""})
