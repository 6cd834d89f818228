"""What was found in traces that nobody should read, and clearing them."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.models.projects import visible_project
from assignments.actions.clearing_secrets import clear_secrets
from assignments.secrets_found import numbers_by_state, secrets_in, shown
from tenancy.errors import Refused
from tenancy.ids import read_id
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import Right
from traces.models import SecretsState

ROWS_ON_A_PAGE = 50


@requires(Right.IMPORT_TRACES)
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def secret_list(request: OrganisationRequest, project: str) -> HttpResponse:
    """Traces in which keys or personal data were found. POST: clear those that were ticked, or `all` that are held."""
    chosen = visible_project(request.membership, project)
    if request.method == "POST":
        act = request.POST.get("act", "")
        named = [id for value in request.POST.getlist("trace") if (id := read_id(value))]
        held = secrets_in(chosen, SecretsState.HELD).order_by("trace").values_list("trace", flat=True)
        traces = list(held) if "all" in request.POST else named
        try:
            if act not in ("replace", "keep"):
                raise Refused("Choose whether to replace what was found, or to keep it.")
            if not traces:
                raise Refused("Tick the traces that are meant.")
            cleared = clear_secrets(project=chosen, traces=traces, act="replace" if act == "replace" else "keep")
            tell = messages.warning if cleared.problems else messages.success
            tell(request, cleared.sentence)
        except Refused as refused:
            messages.error(request, refused.sentence)
        return HttpResponseRedirect(reverse("secrets", args=[chosen.slug]))
    numbers = numbers_by_state(chosen)
    state = request.GET.get("state", "")
    rows = secrets_in(chosen, state).order_by("state", "-found_at", "trace")
    page = Paginator(rows, ROWS_ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "project": chosen,
        "rows": shown(page.object_list),  # type: ignore[arg-type]  # a slice of the rows above
        "page": page,
        "state": state if state in SecretsState.values else "",
        "states": [(value, label, numbers[value]) for value, label in SecretsState.choices if value in numbers],
        "held": numbers.get(SecretsState.HELD, 0),
        "total": sum(numbers.values()),
        "may_clear": allowed(request, Right.IMPORT_TRACES, chosen),
    }
    return render(request, "assignments/secrets.html", context)
