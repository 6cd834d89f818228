"""The tab Traces: all traces of a project by state, and what is done to many of them at once."""

from collections import Counter
from typing import Any
from urllib.parse import urlencode
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
from accounts.models import Project, User
from accounts.models.members import members_with
from accounts.models.projects import visible_project
from assignments.actions.held_tasks import give_back_tasks, held_tasks, reassign_tasks
from assignments.actions.outcomes import Outcome
from assignments.actions.steering import let_imports_wait, project_pause
from assignments.actions.withholding import (
    UNDO,
    end_offers,
    give_out_again,
    offer_to,
    prioritise,
    tag_traces,
    undo,
    untag_traces,
    want_more,
    withhold,
)
from assignments.models import Priority, SteeringAct, Withheld
from assignments.pool.filters import PoolFilters, people_named
from assignments.pool.listing import ORDERS, TRACES_ON_A_PAGE, PoolList
from assignments.pool.people import people_to_choose
from assignments.pool.states import STATES, imports_wait
from potato.wording import listed
from tenancy.errors import Refused
from tenancy.ids import read_id, read_number
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import Right
from traces.models import Trace

CHIPS = (
    "model", "agent", "repo", "converter", "size", "usage", "batch", "tag", "imported", "file", "judged", "marks",
    "checks", "agreement", "held", "offered",
)  # fmt: skip
_DIALOGS = {
    "offer": "offer",
    "priority": "priority",
    "tag": "tag",
    "untag": "tag",
    "more": "more",
    "give-back": "held",
    "reassign": "held",
    Withheld.EXCLUDED: "exclude",
}
"""The dialogs of the page by what is asked for in them."""


@requires(Right.SEE_TRACES, to_change=Right.MANAGE_PROJECTS)
@require_http_methods(["GET", "HEAD", "POST"])
def trace_list(request: OrganisationRequest, project: str) -> HttpResponse:
    """The project's traces, each in exactly one state, narrowed by the filters of the address.

    POST is what the bulk bar sends: an `act`, and traces by their ids or, with `all`, by the filter and the number
    seen. What is refused is shown with the same ticks and texts. With `from` the page of that one trace sends it, and
    it leads back there.
    """
    chosen = visible_project(request.membership, project)
    if request.method != "POST":
        return _page(request, chosen)
    filters = requested_filters(request.GET)
    act = request.POST.get("act", "")
    one = _sent_from(request, chosen)
    if one is not None:
        return _steer_one(request, chosen, act, one)
    try:
        traces = _chosen_traces(request, chosen, filters)
        if act == "release":
            return _to_release(request, chosen, filters, traces)
        outcome = _carry_out(request, chosen, act, traces, filters)
    except Refused as refused:
        return _page(request, chosen, problem=refused.sentence, refused_in=_DIALOGS.get(act, ""))
    say(request, outcome.sentence, outcome.act)
    return HttpResponseRedirect(request.get_full_path())


def _sent_from(request: OrganisationRequest, project: Project) -> Trace | None:
    """The trace whose page sends the form; None for the list."""
    key = read_id(request.POST.get("from", ""))
    return None if key is None else get_object_or_404(Trace, project=project, pk=key)


def _steer_one(request: OrganisationRequest, project: Project, act: str, trace: Trace) -> HttpResponse:
    if act == "release":
        return HttpResponseRedirect(f"{reverse('release-batch', args=[project.slug])}?id={trace.pk}")
    try:
        outcome = _carry_out(request, project, act, [trace.pk], PoolFilters())
    except Refused as refused:
        messages.error(request, refused.sentence)
    else:
        say(request, outcome.sentence, outcome.act, trace=trace.pk)
    return redirect(_trace_url(trace))


def _trace_url(trace: Trace) -> str:
    return reverse("trace" if trace.files_count else "trace-steps", args=[trace.project.slug, trace.pk])


def _page(request: OrganisationRequest, chosen: Project, *, problem: str = "", refused_in: str = "") -> HttpResponse:
    """`problem` says why what was asked for in the dialog `refused_in`, or in the bar alone, was refused."""
    filters = requested_filters(request.GET)
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
        "chips": pool_list.chips(CHIPS, page.paginator.count),
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
        "more": form.get("more", "1"),
        "to": form.get("to", ""),
        "keep_draft": "keep_draft" in form,
        "reason": form.get("reason", ""),
        "people": set(form.getlist("person")),
    }


@requires(Right.MANAGE_PROJECTS)
@require_POST
def undo_steering(request: OrganisationRequest, project: str, act_id: UUID) -> HttpResponse:
    """Take back what was done a moment ago, and go back to the page of the `trace` or `person` of the address, or to
    the list that it was done in: `to=people`, else that of what was changed."""
    chosen = visible_project(request.membership, project)
    act = get_object_or_404(SteeringAct, pk=act_id, project=chosen)
    try:
        messages.success(request, undo(act=act))
    except Refused as refused:
        messages.error(request, refused.sentence)
    of = read_id(request.GET.get("trace", ""))
    trace = Trace.objects.filter(project=chosen, pk=of).first() if of else None
    if trace is not None:
        return redirect(_trace_url(trace))
    if name := request.GET.get("person", ""):
        return redirect("person", project=chosen.slug, name=name)
    where = {"batch": "batches", "batches": "batches", "rule": "batches", "people": "people"}
    to = "people" if request.GET.get("to") == "people" else where.get(act.verb.partition(".")[0], "traces")
    return redirect(to, project=chosen.slug)


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


def requested_filters(query: QueryDict) -> PoolFilters:
    return PoolFilters.asked(dict(query.lists()))


def chosen_people(values: list[str]) -> list[UUID]:
    """The people that a form names; raises Refused for what is no id."""
    try:
        return [UUID(value) for value in dict.fromkeys(values)]
    except ValueError as error:
        raise Refused("Choose people from the list.") from error


def say(request: OrganisationRequest, sentence: str, act: SteeringAct | None, **back: object) -> None:
    """The sentence as a message, with a button that undoes what was done. The button leads `back`, as undo_steering
    says."""
    if act is None:
        messages.success(request, sentence)
        return
    url = reverse("undo-steering", args=[act.project.slug, act.pk]) + (f"?{urlencode(back)}" if back else "")
    button = format_html(
        '<button class="btn btn--s" type="submit" form="undo" formaction="{}" data-undo-seconds="{}">Undo</button>',
        url,
        UNDO.seconds,
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


def _carry_out(
    request: OrganisationRequest, project: Project, act: str, traces: list[UUID], filters: PoolFilters
) -> Outcome:
    form = request.POST
    if act == "tag":
        return tag_traces(project=project, traces=traces, tag=form.get("new_tag", ""))
    if act == "untag":
        return untag_traces(project=project, traces=traces, tag=form.get("new_tag", ""))
    if act == "more":
        return want_more(project=project, traces=traces, more=_signed(form.get("more", "")))
    if act == "end-offer":
        return end_offers(project=project, traces=traces)
    if act in ("give-back", "reassign"):
        # Of a list that was asked for what some people hold, what others hold of the same traces stays.
        people = list(people_named(filters.held).values_list("user", flat=True)) if filters.held else None
        tasks = held_tasks(project, traces=traces, people=people)
        if act == "give-back":
            return give_back_tasks(project=project, tasks=tasks)
        return reassign_tasks(
            project=project,
            tasks=tasks,
            user=annotator_to(project, form.get("to", "")),
            keep_draft="keep_draft" in form,
        )
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


def _signed(text: str) -> int:
    """A small whole number, which may be below zero; 0 for what is none."""
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    number = read_number(text.removeprefix("-"), 3) or 0
    return -number if text.startswith("-") else number


def annotator_to(project: Project, name: str) -> User:
    """Who annotates in the project under the name. Raises Refused where nobody does."""
    person = members_with(Right.ANNOTATE, project).filter(annotator_name=name).select_related("user").first()
    if person is None:
        raise Refused("Choose who goes on with the tasks from the list.")
    return person.user


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
