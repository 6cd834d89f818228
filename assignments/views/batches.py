"""The tab Batches: how far each is, and how they are steered; and the page on which a batch is released."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.live_parts import part_answer
from accounts.models import Project
from accounts.models.projects import visible_project
from assignments.actions.changing_batches import (
    add_people,
    move_deadlines,
    pause_batches,
    prioritise_batches,
    release_drafts,
    request_one_more_annotation,
    resume_batches,
    withdraw_batches,
)
from assignments.actions.outcomes import Outcome
from assignments.actions.quotas import newest_rules, open_quotas
from assignments.actions.releasing import BatchFacts, release_batch
from assignments.actions.steering import pause_project, project_pause, resume_project
from assignments.forecast import daily_mean, forecast
from assignments.models import Batch, Order, Priority, StandingRule, TraceQuota
from assignments.pool.listing import PoolList
from assignments.pool.people import people_to_choose
from assignments.pool.progress import batch_rows, daily_annotations, median_time, skips
from assignments.pool.selecting import LARGEST_SEED, STRATA, TAKES, Sample, Selection, take_sample
from assignments.pool.states import imports_wait, project_traces
from assignments.views.pool import chosen_people, requested_filters, say
from assignments.wording import duration
from tenancy.errors import Refused
from tenancy.ids import read_id, read_number
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import Right

CHIPS = (
    "model", "agent", "repo", "converter", "size", "usage", "tag", "imported", "file", "judged", "marks", "agreement",
)  # fmt: skip
_LISTED = 100


_DIALOGS = {"people": "people", "deadline": "deadline", "withdraw": "withdraw"}
"""The dialogs of the page by what is asked for in them."""


@requires(Right.SEE_TRACES, to_change=Right.MANAGE_PROJECTS)
@require_http_methods(["GET", "HEAD", "POST"])
def batch_list(request: OrganisationRequest, project: str) -> HttpResponse:
    """The project's batches in their turn, its standing rules, and why tasks were skipped.

    POST is an `act` on those that are ticked, or on the one named by the button. What is refused is shown with the same
    ticks and texts.
    """
    chosen = visible_project(request.membership, project)
    if request.method != "POST":
        return _page(request, chosen)
    act, _, number = request.POST.get("act", "").partition(":")
    batch = read_number(request.POST.get("from", ""), 8)
    try:
        outcome = _steer(request, chosen, act, number)
    except Refused as refused:
        if batch is None:
            return _page(request, chosen, problem=refused.sentence, refused_in=_DIALOGS.get(act, ""))
        messages.error(request, refused.sentence)
    else:
        say(request, outcome.sentence, outcome.act)
    if batch is not None:
        return redirect("batch", project=chosen.slug, number=batch)
    return redirect("batches", project=chosen.slug)


def _page(request: OrganisationRequest, chosen: Project, *, problem: str = "", refused_in: str = "") -> HttpResponse:
    """`problem` says why what was asked for in the dialog `refused_in`, or in the bar alone, was refused."""
    days = daily_annotations(chosen)
    rows = batch_rows(chosen, days)
    shown = [row for row in rows if row.traces or not row.batch.is_standard]
    may_steer = allowed(request, Right.MANAGE_PROJECTS, chosen)
    listed = {"project": chosen, "rows": shown, "priorities": Priority.choices, "may_steer": may_steer}
    if request.GET.get("part") == "rows":
        part = render_to_string("assignments/partials/batch_rows.html", {**listed, "ticked": ()}, request)
        return part_answer(request, part)
    rules = StandingRule.objects.filter(project=chosen, ended_at__isnull=True).select_related("batch")
    pool = TraceQuota.objects.for_project(chosen).in_pool().count()
    released = sum(row.traces for row in rows)
    target, done = sum(row.target for row in rows), sum(row.done for row in rows)
    due = min((row for row in rows if row.batch.deadline and not row.is_complete), key=_deadline, default=None)
    context = {
        **listed,
        "late": [row for row in shown if row.is_late],
        "pool": pool,
        "released": released,
        "all_traces": project_traces(chosen).count(),
        "target": target,
        "done": done,
        "left": target - done,
        "held": sum(row.held for row in rows),
        "pace": daily_mean(days),
        "due": due,
        "rules": [(rule, Selection.from_data(rule.selection).description) for rule in rules],
        "imports_wait": imports_wait(chosen),
        "pause": project_pause(chosen),
        "skips": skips(chosen),
        "people": people_to_choose(chosen) if may_steer else [],
        "problem": problem,
        "refused_in": refused_in,
        "ticked": set(request.POST.getlist("batch")),
        "typed": {"deadline": request.POST.get("deadline", ""), "people": set(request.POST.getlist("person"))},
    }
    return render(request, "assignments/batches.html", context, status=422 if problem else 200)


@requires(Right.MANAGE_PROJECTS)
@require_POST
def pause_all(request: OrganisationRequest, project: str) -> HttpResponse:
    """Pause the project, with a `reason`, or let it go on (`resume`); `from` names the page that asks."""
    chosen = visible_project(request.membership, project)
    if "resume" in request.POST:
        resume_project(project=chosen)
        messages.success(request, "Tasks are given out again.")
    else:
        pause_project(project=chosen, reason=request.POST.get("reason", ""))
        messages.success(request, "The project is paused.")
    where = {"overview": "project", "people": "people"}.get(request.POST.get("from", ""), "batches")
    return redirect(where, project=chosen.slug)


@requires(Right.MANAGE_PROJECTS)
@require_http_methods(["GET", "HEAD", "POST"])
def release_page(request: OrganisationRequest, project: str) -> HttpResponse:
    """The form of a release beside what it would do. GET changes nothing, however the form is filled."""
    chosen = visible_project(request.membership, project)
    while open_quotas(project=chosen):
        pass
    query = request.POST if request.method == "POST" else request.GET
    selection, problem = requested_selection(query)
    if request.method == "POST" and not problem:
        try:
            return _release(request, chosen, selection)
        except Refused as refused:
            problem = refused.sentence
    context = {**_form(chosen, query, selection), **_preview(chosen, query, selection), "problem": problem}
    return render(request, "assignments/release.html", context, status=422 if request.method == "POST" else 200)


@requires(Right.MANAGE_PROJECTS)
@require_safe
def release_preview(request: OrganisationRequest, project: str) -> HttpResponse:
    """The right column alone, for a form as it is filled now."""
    chosen = visible_project(request.membership, project)
    selection, problem = requested_selection(request.GET)
    context = {"project": chosen, **_preview(chosen, request.GET, selection), "problem": problem}
    return render(request, "assignments/partials/release_preview.html", context)


def _release(request: OrganisationRequest, project: Project, selection: Selection) -> HttpResponse:
    form = request.POST
    seen, digest = form.get("seen", ""), form.get("digest", "")
    if not (seen.isascii() and seen.isdigit() and digest):
        raise Refused("Look at the preview first; then release what it shows.")
    is_draft = "draft" in form
    batch = release_batch(
        project=project,
        selection=selection,
        facts=_facts(form),
        seen=int(seen),
        digest=digest,
        is_draft=is_draft,
        is_rule="rule" in form,
    )
    number = TraceQuota.objects.filter(batch=batch).count()
    if is_draft:
        messages.success(request, f"“{batch.name}” is a draft of {number:,} traces. It gives nothing out yet.")
    else:
        messages.success(request, f"“{batch.name}” was released: {number:,} traces can be taken now.")
    return redirect("batches", project=project.slug)


def _facts(form: QueryDict) -> BatchFacts:
    redundancy = form.get("redundancy", "")
    priority = form.get("priority", str(Priority.NORMAL))
    order = form.get("order", Order.IMPORTED)
    if redundancy and not (redundancy.isascii() and redundancy.isdigit() and 1 <= int(redundancy[:4]) <= 100):
        raise Refused("Annotations a trace are a whole number from 1 to 100.")
    if priority not in map(str, Priority.values) or order not in Order.values:
        raise Refused("Choose priority and order from the form.")
    people = chosen_people(form.getlist("person")) if form.get("who") == "named" else []
    if form.get("who") == "named" and not people:
        raise Refused("Name who may take the tasks, or let everybody of the project.")
    return BatchFacts(
        name=form.get("name", "")[:200],
        redundancy=int(redundancy) if redundancy else None,
        priority=int(priority),
        order=order,
        deadline=read_date(form.get("deadline", "")),
        people=tuple(people),
    )


def read_date(text: str) -> date | None:
    """A deadline as a form sends it, None for none. Raises Refused for what is no date."""
    if not text.strip():
        return None
    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise Refused("Write the deadline as a date: 2026-12-04.") from error


def requested_selection(query: QueryDict) -> tuple[Selection, str]:
    """What the form asks for, and a sentence where a number cannot be read; then the usual value stands for it."""
    filters, problem = requested_filters(query).without("state", "batch"), ""
    take = query.get("take", "all")
    selection = Selection(filters=filters, take=take if take in TAKES else "all")
    number, problem = _number(query, "number", 1, 1_000_000, 20, "How many traces is a whole number from 1.")
    seed, wrong = _number(query, "seed", 0, LARGEST_SEED, 1, f"A seed is a whole number from 0 to {LARGEST_SEED}.")
    problem = problem or wrong
    try:
        share = float(query.get("share", "") or "25")
        if not 0 < share <= 100:
            raise ValueError
    except ValueError:
        share, problem = 25.0, problem or "A share is more than 0 and at most 100 per cent."
    stratum = query.get("stratum", "model")
    ids, without = ([value for value in query.getlist(name) if read_id(value)] for name in ("id", "without"))
    return replace(
        selection,
        number=number,
        share=share,
        seed=seed,
        stratum=stratum if stratum in STRATA else "",
        ids=tuple(ids),
        without=tuple(without),
    ), problem


def _number(query: QueryDict, name: str, least: int, most: int, usual: int, sentence: str) -> tuple[int, str]:
    text = query.get(name, "").strip() or str(usual)
    if text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most:
        return int(text), ""
    return usual, sentence


def _numbers(selection: Selection) -> tuple[tuple[str, str], ...]:
    return ("number", str(selection.number)), ("share", f"{selection.share:g}"), ("seed", str(selection.seed))


def _form(project: Project, query: QueryDict, selection: Selection) -> dict[str, Any]:
    rules = newest_rules(project)
    listed = PoolList(project, replace(selection.filters, state=("pool",)))
    chosen = set(query.getlist("person"))
    number = Batch.objects.for_project(project).count() + 1
    return {
        "project": project,
        "selection": selection,
        # As they were typed, also where they cannot be read.
        "typed": {name: query.get(name) or usual for name, usual in _numbers(selection)},
        "chips": listed.chips(CHIPS, listed.chosen().count()),
        "takes": TAKES.items(),
        "strata": [(value, label) for value, label in STRATA.items()],
        "name": query.get("name", f"Batch {number}"),
        "usual": rules[0].annotations_per_trace if rules else 1,
        "redundancy": query.get("redundancy", ""),
        "deadline": query.get("deadline", ""),
        "priority": query.get("priority", str(Priority.NORMAL)),
        "priorities": [(str(value), label) for value, label in reversed(Priority.choices)],
        "order": query.get("order", Order.IMPORTED),
        "orders": Order.choices,
        "who": query.get("who", "all"),
        "people": [(user, label, user in chosen) for user, label in people_to_choose(project)],
        "is_rule": "rule" in query,
        "imports_wait": imports_wait(project),
    }


def _preview(project: Project, query: QueryDict, selection: Selection) -> dict[str, Any]:
    sample = take_sample(project, selection)
    rules = newest_rules(project)
    each = read_number(query.get("redundancy", ""), 3) or (rules[0].annotations_per_trace if rules else 1)
    annotations = each * sample.count
    time = median_time(project)
    waiting = sum(row.target - row.done for row in batch_rows(project) if row.target > row.done)
    until = forecast(daily_annotations(project), waiting + annotations)
    deadline = _requested_deadline(query)
    return {
        "sample": sample,
        "taken": sample.count,
        "stratum_label": STRATA[selection.stratum].capitalize() if selection.stratum else "",
        "strata_rows": [(one, round(100 * one.taken / max(1, sample.count))) for one in sample.strata],
        "each": each,
        "annotations": annotations,
        "work": duration(time * annotations) if time and annotations else "",
        "median": duration(time) if time else "",
        "until": until,
        "is_tight": bool(until and deadline and until.may_end_after(deadline)),
        "asked_deadline": deadline,
        "newer": _newer_versions(project, sample),
        **_listed(project, sample, read_number(query.get("page", ""), 6) or 1),
        "selection": selection,
        "chosen_elsewhere": max(0, len(set(selection.ids)) - sample.matching) if selection.ids else 0,
    }


def _newer_versions(project: Project, sample: Sample) -> int:
    """How many of the traces that are taken are newer versions of others."""
    newer = project_traces(project).filter(version__gt=1)
    return newer.filter(pk__in=sample.chosen).count() if newer.exists() else 0


def _listed(project: Project, sample: Sample, page: int) -> dict[str, Any]:
    """One page of the traces that are taken, in the order of import."""
    pages = max(1, -(-sample.count // _LISTED))
    page = min(page, pages)
    traces = PoolList(project, requested_filters(QueryDict("versions=all")))
    rows = traces.ordered("oldest").filter(pk__in=sample.first(_LISTED, after=_LISTED * (page - 1)))
    return {
        "listed": traces.rows(rows),
        "listed_from": _LISTED * (page - 1) + 1,
        "listed_to": min(sample.count, _LISTED * page),
        "page_before": page - 1,
        "page_behind": page + 1 if page < pages else 0,
        "is_paged": page > 1,
    }


def _requested_deadline(query: QueryDict) -> date | None:
    try:
        return read_date(query.get("deadline", ""))
    except Refused:
        return None


def _deadline(row: Any) -> date:
    deadline: date = row.batch.deadline
    return deadline


def _batches(project: Project, numbers: list[str]) -> list[Batch]:
    asked = [number for text in numbers if (number := read_number(text, 8)) is not None]
    batches = list(
        Batch.objects.for_project(project).filter(number__in=asked).select_related("project").order_by("number")
    )
    if not batches:
        raise Refused("Tick one or more batches first.")
    return batches


def _steer(request: OrganisationRequest, project: Project, act: str, number: str) -> Outcome:
    """Do it to the batch of that number, without one to those that are ticked."""
    form = request.POST
    batches = _batches(project, [number] if number else form.getlist("batch"))
    simple: dict[str, Callable[..., Outcome]] = {
        "pause": pause_batches,
        "resume": resume_batches,
        "release": release_drafts,
        "withdraw": withdraw_batches,
    }
    if act in simple:
        return simple[act](batches=batches)
    if act == "priority":
        value = form.get(f"priority-{batches[0].number}", "")
        priority = int(value) if value in map(str, Priority.values) else 0
        return prioritise_batches(batches=batches, priority=priority)
    if act == "deadline":
        return move_deadlines(batches=batches, deadline=read_date(form.get("deadline", "")))
    if act == "more":
        return request_one_more_annotation(project=project, batches=batches)
    if act == "people":
        return add_people(batches=batches, people=chosen_people(form.getlist("person")))
    raise Refused("Choose what to do with the batches.")
