"""The tab Traces: all traces of a project by state, and what is done to many of them at once."""

from collections import Counter
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_POST

from accounts.live_parts import part_answer
from accounts.models import Project
from accounts.models.members import members_with
from accounts.models.projects import visible_project
from assignments.actions.steering import let_imports_wait, project_pause
from assignments.actions.withholding import Outcome, give_out_again, offer_to, prioritise, tag_traces, undo, withhold
from assignments.models import Priority, SteeringAct, Withheld
from assignments.pool.filters import PoolFilters
from assignments.pool.listing import ORDERS, TRACES_ON_A_PAGE, PoolList
from assignments.pool.states import STATES, imports_wait
from potato.wording import listed
from tenancy.errors import Refused
from tenancy.ids import read_number
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import Right, Role
from traces.models import Trace

CHIPS = (
    "model", "agent", "repo", "converter", "size", "usage", "batch", "tag", "imported", "file", "judged", "marks",
    "agreement",
)  # fmt: skip


_DIALOGS = {"offer": "offer", "priority": "priority", "tag": "tag", Withheld.EXCLUDED: "exclude"}
"""The dialogs of the page by what is asked for in them."""


@requires(Right.SEE_TRACES, to_change=Right.MANAGE_PROJECTS)
@require_http_methods(["GET", "HEAD", "POST"])
def trace_list(request: OrganisationRequest, project: str) -> HttpResponse:
    """The project's traces, each in exactly one state, narrowed by the filters of the address.

    POST is what the bulk bar sends: an `act`, and traces by their ids or, with `all`, by the filter and the number
    seen. What is refused is shown with the same ticks and texts.
    """
    chosen = visible_project(request.membership, project)
    if request.method != "POST":
        return _page(request, chosen)
    filters = asked_filters(request.GET)
    act = request.POST.get("act", "")
    try:
        traces = _chosen_traces(request, chosen, filters)
        if act == "release":
            return _to_release(request, chosen, filters, traces)
        outcome = _carry_out(request, chosen, act, traces)
    except Refused as refused:
        return _page(request, chosen, problem=refused.sentence, refused_in=_DIALOGS.get(act, ""))
    say(request, outcome.sentence, outcome.act)
    return HttpResponseRedirect(request.get_full_path())


def _page(request: OrganisationRequest, chosen: Project, *, problem: str = "", refused_in: str = "") -> HttpResponse:
    """`problem` says why what was asked for in the dialog `refused_in`, or in the bar alone, was refused."""
    filters = asked_filters(request.GET)
    pool_list = PoolList(chosen, filters)
    sort = request.GET.get("sort", "newest")
    may_steer = allowed(request, Right.MANAGE_PROJECTS, chosen)
    if request.GET.get("part") == "rows":
        rows = pool_list.rows(pool_list.ordered(sort)[:TRACES_ON_A_PAGE])
        now = {"project": chosen, "rows": rows, "may_steer": may_steer, "ticked": ()}
        return part_answer(request, render_to_string("assignments/partials/trace_rows.html", now, request))
    tabs = pool_list.states()
    page = Paginator(pool_list.ordered(sort), TRACES_ON_A_PAGE).get_page(request.GET.get("page"))
    query = filters.query_string()
    base = f"{query}&sort={sort}" if query and sort in ORDERS else query or (f"sort={sort}" if sort in ORDERS else "")
    context = {
        "project": chosen,
        "filters": filters,
        "query": query,
        "tabs": tabs,
        "all_traces": tabs[0].count,
        "in_pool": next((tab.count for tab in tabs if tab.name == "pool"), 0),
        "chips": pool_list.chips(CHIPS),
        "is_narrowed": bool(filters.data()),
        "page": page,
        "page_base": f"?{base}&" if base else "?",
        "rows_url": f"?{base}&part=rows" if base else "?part=rows",
        "rows": pool_list.rows(page.object_list),
        "orders": [(name, label) for name, (label, _) in ORDERS.items()],
        "sort": sort,
        "may_steer": may_steer,
        "may_import": allowed(request, Right.IMPORT_TRACES, chosen),
        "imports_wait": imports_wait(chosen),
        "pause": project_pause(chosen),
        "priorities": [(str(value), label) for value, label in reversed(Priority.choices)],
        "people": people_to_choose(chosen) if may_steer else [],
        "problem": problem,
        "refused_in": refused_in,
        "ticked": set(request.POST.getlist("trace")),
        "is_all_ticked": "all" in request.POST,
        "typed": _typed(request.POST),
    }
    return render(request, "assignments/traces.html", context, status=422 if problem else 200)


def _typed(form: QueryDict) -> dict[str, Any]:
    """What stands in the dialogs: what was typed, else the usual values."""
    return {
        "days": form.get("days", "7"),
        "priority": form.get("priority", str(Priority.NORMAL)),
        "tag": form.get("new_tag", ""),
        "reason": form.get("reason", ""),
        "people": set(form.getlist("person")),
    }


@requires(Right.MANAGE_PROJECTS)
@require_POST
def undo_steering(request: OrganisationRequest, project: str, act_id: UUID) -> HttpResponse:
    """Take back what was done a moment ago."""
    chosen = visible_project(request.membership, project)
    act = get_object_or_404(SteeringAct, pk=act_id, project=chosen)
    try:
        messages.success(request, undo(act=act))
    except Refused as refused:
        messages.error(request, refused.sentence)
    return redirect("batches" if act.verb.startswith("batch") else "traces", project=chosen.slug)


@requires(Right.MANAGE_PROJECTS)
@require_POST
def wait_in_pool(request: OrganisationRequest, project: str) -> HttpResponse:
    """Whether later imports wait in the pool (`wait`), or are released at once."""
    chosen = visible_project(request.membership, project)
    wait = request.POST.get("wait") == "1"
    let_imports_wait(project=chosen, wait=wait)
    messages.success(
        request,
        "Later imports wait in the pool until somebody releases them."
        if wait
        else "Later imports are released at once.",
    )
    return redirect("batches" if request.POST.get("from") == "batches" else "traces", project=chosen.slug)


def asked_filters(query: QueryDict) -> PoolFilters:
    return PoolFilters.asked(dict(query.lists()))


def people_to_choose(project: Project) -> list[tuple[str, str]]:
    """Who annotates in the project, by id as a form has it, with the names under which they do."""
    members = members_with(Right.ANNOTATE, project).exclude(role=Role.SERVICE).order_by("annotator_name")
    return [(str(user), name) for user, name in members.values_list("user", "annotator_name")]


def chosen_people(values: list[str]) -> list[UUID]:
    """The people that a form names; raises Refused for what is no id."""
    try:
        return [UUID(value) for value in dict.fromkeys(values)]
    except ValueError as error:
        raise Refused("Choose people from the list.") from error


def say(request: OrganisationRequest, sentence: str, act: SteeringAct | None) -> None:
    """The sentence as a message, with a button that undoes what was done."""
    if act is None:
        messages.success(request, sentence)
        return
    url = reverse("undo-steering", args=[act.project.slug, act.pk])
    button = format_html(
        '<button class="btn btn--s" type="submit" form="undo" formaction="{}" data-undo="30">Undo</button>', url
    )
    messages.success(request, format_html("{} {}", sentence, button))


def _chosen_traces(request: OrganisationRequest, project: Project, filters: PoolFilters) -> list[UUID]:
    if "all" in request.POST:
        ids = PoolList(project, filters).ids()
        seen = request.POST.get("seen", "")
        if seen != str(len(ids)):
            raise Refused(f"The list changed: you saw {seen or 'no'} traces, now there are {len(ids):,}. Choose again.")
        return ids
    try:
        asked = [UUID(value) for value in request.POST.getlist("trace")]
    except ValueError as error:
        raise Refused("Choose traces from the list.") from error
    if not asked:
        raise Refused("Tick one or more traces first.")
    return list(Trace.objects.filter(project=project, pk__in=asked).values_list("pk", flat=True))


def _carry_out(request: OrganisationRequest, project: Project, act: str, traces: list[UUID]) -> Outcome:
    form = request.POST
    if act == "tag":
        return tag_traces(project=project, traces=traces, tag=form.get("new_tag", ""))
    if act == "priority":
        value = form.get("priority", "")
        return prioritise(
            project=project, traces=traces, priority=int(value) if value in map(str, Priority.values) else 0
        )
    if act == "offer":
        number = read_number(form.get("days", ""), 4) or 0
        people = chosen_people(form.getlist("person"))
        return offer_to(project=project, traces=traces, people=people, days=number)
    if act == "give-out":
        return give_out_again(project=project, traces=traces)
    if act in Withheld.values and act not in (Withheld.SUPERSEDED, Withheld.KNOWN_ANSWER):
        return withhold(project=project, traces=traces, why=Withheld(act), reason=form.get("reason", ""))
    raise Refused("Choose what to do with the traces.")


def _to_release(
    request: OrganisationRequest, project: Project, filters: PoolFilters, traces: list[UUID]
) -> HttpResponse:
    """To the page of a release, with the filter or the ids that were ticked; what waits in no pool is named. Raises
    Refused where nothing does."""
    is_all = "all" in request.POST
    if is_all:
        states = PoolList(project, filters).chosen()
    else:
        states = PoolList(project, PoolFilters(versions="all")).chosen().filter(pk__in=traces)
    numbers = Counter(dict(states.order_by().values_list("state").annotate(number=Count("pk"))))
    waiting = numbers.pop("pool", 0)
    others = [f"{number:,} {STATES[state].lower()}" for state, number in sorted(numbers.items())]
    if not waiting:
        are = f" ({listed(others, 'and')})" if others else ""
        raise Refused(f"None of the chosen traces waits in the pool{are}, and only those that do can be released.")
    if others:
        number = f"{waiting:,} of the {waiting + numbers.total():,} chosen traces"
        wait = "waits" if waiting == 1 else "wait"
        messages.info(request, f"{number} {wait} in the pool and can be released. Left out: {listed(others, 'and')}.")
    query = QueryDict(mutable=True)
    if is_all:
        for name, value in filters.without("state").pairs():
            query.appendlist(name, value)
    else:
        query.setlist("id", [str(trace) for trace in states.filter(state="pool").values_list("pk", flat=True)])
    return HttpResponseRedirect(f"{reverse('release-batch', args=[project.slug])}?{query.urlencode()}")
