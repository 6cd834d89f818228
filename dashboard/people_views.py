"""The tab People: who works on the project, one person, and what a manager does about them."""

from typing import Any
from uuid import UUID

from defusedcsv import csv
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, Max
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts.live_parts import live_context, part_answer
from accounts.models import Membership, Project
from accounts.models.members import members_with
from accounts.models.projects import visible_project
from assignments.actions.held_tasks import give_back_tasks
from assignments.actions.leaving import held_by
from assignments.actions.outcomes import Outcome
from assignments.actions.quotas import newest_rules
from assignments.actions.steering import project_pause
from assignments.actions.steering_people import (
    give_role,
    limit_people,
    pause_people,
    resume_people,
    take_people_off,
)
from assignments.history import TASK_START, trace_title
from assignments.listing import as_listed, submission_rows
from assignments.models import Assignment, AssignmentState, Batch, BatchPerson, Submission
from assignments.pool.filters import offers_now
from assignments.submission_records import annotator_names
from assignments.views.pool import say
from dashboard.people import SORTS, PeopleOfProject, Person, held_longest, people_of_project, sorted_people
from dashboard.people_filters import PeopleFilters, PeopleList
from dashboard.steering_people import STEERING, limits_of, name_in_batches, reassign_one
from tenancy.errors import Refused
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import ProjectRole, Right, Role

PEOPLE_ON_A_PAGE = 50
HISTORY = 10
_ROLES = {role.value: role for role in ProjectRole}


@requires(Right.SEE_ANNOTATIONS, to_change=Right.MANAGE_MEMBERS)
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: OrganisationRequest, project: str) -> HttpResponse:
    """Members, or with `show=left` those who were taken off; with `format=csv` as a table.

    POST does something to the people that are ticked: `do` is give_back, take_off, a role, pause, resume, limit or
    batches.
    """
    chosen = visible_project(request.membership, project)
    everybody = people_of_project(chosen)
    if request.method == "POST":
        return _act(request, chosen, everybody.present + everybody.left)
    filters = PeopleFilters.of(request.GET)
    listed = PeopleList(chosen, everybody.left if filters.show == "left" else everybody.present, filters)
    people = sorted_people(listed.chosen(), filters.sort)
    if request.GET.get("format") == "csv":
        return _table(chosen, people)
    page = Paginator(people, PEOPLE_ON_A_PAGE).get_page(request.GET.get("page"))
    query = filters.query_string()
    may_manage = allowed(request, Right.MANAGE_MEMBERS, chosen)
    if request.GET.get("part") == "rows":
        now = {"project": chosen, "page": page, "show": filters.show, "may_manage": may_manage}
        return part_answer(request, render_to_string("dashboard/partials/people_rows.html", now, request))
    figures = _figures(chosen, everybody)
    if request.GET.get("part") == "figures":
        return part_answer(request, figures)
    context = {
        **live_context(figures),
        "project": chosen,
        "everybody": everybody,
        "page": page,
        "page_base": f"?{query}&" if query else "?",
        "rows_url": f"?{query}&part=rows" if query else "?part=rows",
        "table_url": f"?{query}&format=csv" if query else "?format=csv",
        "filters": filters,
        "chips": listed.chips(),
        "batches": listed.batches,
        "show": filters.show,
        "sort": filters.sort,
        "sorts": {key: f"?{filters.query_string(sort=key)}" for key in SORTS},
        "pause": project_pause(chosen),
        "now": timezone.now(),
        "may_manage": may_manage,
        "may_steer": allowed(request, Right.MANAGE_PROJECTS, chosen),
        "project_roles": ProjectRole.choices,
    }
    return render(request, "dashboard/people.html", context)


def _table(project: Project, people: list[Person]) -> HttpResponse:
    """The list as a table, without names and addresses: of annotator names alone."""
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="people-{project.slug}.csv"'
    writer = csv.writer(answer)
    writer.writerow(_COLUMNS)
    for one in people:
        median = one.work.median if one.work else None
        agreement = one.agreement
        writer.writerow(
            [
                one.name,
                one.role,
                one.seen_at.isoformat(timespec="seconds") if one.seen_at else "",
                one.done,
                one.this_week,
                round(median.total_seconds()) if median else "",
                round(one.elapsed.total_seconds()) if one.elapsed else "",
                f"{agreement.value:.3f}" if agreement else "",
                agreement.pairs if agreement else "",
                one.held,
                "yes" if one.is_paused else "",
            ]
        )
    return answer


_COLUMNS = (
    "annotator", "role", "last_seen", "done", "done_in_seven_days", "median_active_seconds", "median_elapsed_seconds",
    "agreement", "agreement_pairs", "held", "paused",
)  # fmt: skip


def _figures(project: Project, everybody: PeopleOfProject) -> str:
    """What changes on the page while it is open."""
    people = everybody.present + everybody.left
    context = {
        "everybody": everybody,
        "week": sum(person.this_week for person in people),
        "held": sum(person.held for person in people),
        "longest": held_longest(project),
    }
    return render_to_string("dashboard/partials/people_figures.html", context)


@requires(Right.SEE_ANNOTATIONS)
@require_http_methods(["GET", "HEAD"])
def person(request: OrganisationRequest, project: str, name: str) -> HttpResponse:
    """What one person does on the project; with `part=held` what they hold now."""
    chosen = visible_project(request.membership, project)
    everybody = people_of_project(chosen)
    one = _named(everybody.present + everybody.left, name)
    if request.GET.get("part") == "held":
        return part_answer(request, _held_part(request, chosen, one))
    return _person_page(request, chosen, everybody, one)


def _person_page(
    request: OrganisationRequest, chosen: Project, everybody: PeopleOfProject, one: Person, *, limit_problem: str = ""
) -> HttpResponse:
    """`limit_problem` says why the limits that were sent are none; then these stand in their form."""
    user = one.membership.user
    own = Submission.objects.for_project(chosen).of(user).filter(is_check=False)
    skips = (
        Assignment.objects.for_project(chosen).by_annotators().of(user).filter(state=AssignmentState.SKIPPED).count()
    )
    of_week = sorted_people(everybody.present + everybody.left, "week")
    others = [other for other in everybody.present if other != one and other.agreement and not other.agreement.is_few]
    added_by = one.member.added_by_id if one.member else None
    batches = Batch.objects.for_project(chosen).filter(pk__in=BatchPerson.objects.filter(user=user).values("batch"))
    context = {
        **live_context(_held_part(request, chosen, one)),
        "project": chosen,
        "person": one,
        "is_here": one in everybody.present,
        "may_manage": allowed(request, Right.MANAGE_MEMBERS, chosen),
        "may_steer": allowed(request, Right.MANAGE_PROJECTS, chosen),
        "added_by": annotator_names([added_by]).get(added_by, "") if added_by else "",
        "named_in": list(batches.order_by("number")),
        "rules": newest_rules(chosen),
        "version": newest.number if (newest := chosen.newest_version()) else None,
        "sees_names": allowed(request, Right.MANAGE_PEOPLE),
        "place_this_week": of_week.index(one) + 1 if one.this_week else None,
        "people_this_week": sum(other.this_week > 0 for other in of_week),
        "others": sorted(other.agreement.value for other in others if other.agreement),
        "held": one.held,
        "rows": submission_rows(as_listed(own).order_by("-pk")[:HISTORY]),
        "submitted": own.count(),
        "skips": skips,
        "project_roles": ProjectRole.choices,
        "now": timezone.now(),
        "limit": request.POST.get("limit", "")
        if limit_problem
        else one.position.annotation_limit
        if one.position
        else None,
        "share": request.POST.get("share", "") if limit_problem else one.share_per_cent,
        "limit_problem": limit_problem,
    }
    return render(request, "dashboard/person.html", context, status=422 if limit_problem else 200)


def _held_part(request: OrganisationRequest, project: Project, one: Person) -> str:
    """What the person holds, and is offered, as it changes while the page is open."""
    context = {
        "project": project,
        "person": one,
        "held": _held(project, one),
        "offered": _offered(project, one),
        "annotating": _annotating(project, besides=one.name),
        "may_manage": allowed(request, Right.MANAGE_MEMBERS, project),
        "may_steer": allowed(request, Right.MANAGE_PROJECTS, project),
    }
    return render_to_string("dashboard/partials/person_held.html", context, request)


@requires(Right.MANAGE_MEMBERS)
@require_POST
def change_person(request: OrganisationRequest, project: str, name: str) -> HttpResponse:
    """`do` is give_back (with `task`, that one alone), take_off, a role, pause, resume, limit, or reassign (with
    `task`). Each can be taken back for a moment."""
    chosen = visible_project(request.membership, project)
    everybody = people_of_project(chosen)
    one = _named(everybody.present + everybody.left, name)
    do = request.POST.get("do", "")
    try:
        if do == "reassign":
            outcome = _reassigned(request, chosen, one.membership)
        else:
            outcome = _done(request, chosen, [one.membership], do, _task(request))
    except Refused as refused:
        if do == "limit":
            return _person_page(request, chosen, everybody, one, limit_problem=refused.sentence)
        messages.error(request, refused.sentence)
    else:
        say(request, outcome.sentence, outcome.act, person=one.name)
    return redirect("person", project=chosen.slug, name=one.name)


def _act(request: OrganisationRequest, project: Project, everybody: list[Person]) -> HttpResponse:
    """To each of those that are ticked, as one act with one undo. What is refused for one does not stop the others."""
    ticked, do = set(request.POST.getlist("who")), request.POST.get("do", "")
    chosen = [one for one in everybody if str(one.membership.pk) in ticked]
    if not chosen:
        messages.error(request, "Tick at least one person, then choose what to do.")
    elif do == "take_off" and "confirmed" not in request.POST:
        return render(
            request, "dashboard/take_off.html", {"project": project, "chosen": chosen, **_consequence(chosen)}
        )
    else:
        try:
            outcome = _done(request, project, [one.membership for one in chosen], do)
        except Refused as refused:
            messages.error(request, refused.sentence)
        else:
            say(request, outcome.sentence, outcome.act, to="people")
    return redirect("people", project=project.slug)


def _consequence(chosen: list[Person]) -> dict[str, int]:
    return {"held": sum(one.held for one in chosen), "annotations": sum(one.done for one in chosen)}


def _done(
    request: OrganisationRequest, project: Project, people: list[Membership], do: str, task: UUID | None = None
) -> Outcome:
    """Do it to all of them, or to the one task alone. Raises Refused, and Http404 for what is none of these."""
    form = request.POST
    if do == "take_off":
        return take_people_off(project=project, people=people)
    if do == "give_back":
        tasks = [row for one in people for row in held_by(one.user, project).select_related("project", "user", "trace")]
        return give_back_tasks(project=project, tasks=[row for row in tasks if task in (None, row.pk)])
    if do in _ROLES:
        return give_role(project=project, people=people, role=_ROLES[do], may_export="may_export" in form)
    if do not in STEERING:
        raise Http404
    if not allowed(request, Right.MANAGE_PROJECTS, project):
        raise PermissionDenied
    if do == "pause":
        return pause_people(project=project, people=people, reason=form.get("reason", ""))
    if do == "resume":
        return resume_people(project=project, people=people)
    if do == "batches":
        return name_in_batches(project, people, form)
    limit, share = limits_of(form)
    return limit_people(project=project, people=people, limit=limit, share=share)


def _reassigned(request: OrganisationRequest, project: Project, membership: Membership) -> Outcome:
    if not allowed(request, Right.MANAGE_PROJECTS, project):
        raise PermissionDenied
    return reassign_one(project, membership, _task(request), request.POST)


def _task(request: OrganisationRequest) -> UUID | None:
    """The one assignment that the form names, if it names one."""
    text = request.POST.get("task", "")
    try:
        return UUID(text) if text else None
    except ValueError:
        raise Http404 from None


def _named(everybody: list[Person], name: str) -> Person:
    for one in everybody:
        if one.name == name:
            return one
    raise Http404


def _annotating(project: Project, besides: str) -> list[str]:
    """Who else could be given a task here, by name."""
    members = members_with(Right.ANNOTATE, project).exclude(role=Role.SERVICE).exclude(annotator_name=besides)
    return list(members.order_by("annotator_name").values_list("annotator_name", flat=True))


def _offered(project: Project, one: Person) -> dict[str, Any]:
    """How many traces are offered to the person before all others, and until when the last of them."""
    counted_offers = offers_now().filter(project=project, user=one.membership.user)
    number: dict[str, Any] = counted_offers.aggregate(number=Count("pk"), until=Max("until"))
    return number


def _held(project: Project, one: Person) -> list[dict[str, Any]]:
    """The tasks that the person holds, the oldest first."""
    rows = held_by(one.membership.user, project).select_related("trace").prefetch_related("drafts")
    return [
        {
            "title": trace_title(row.trace.task[:TASK_START], row.trace.external_id),
            "trace": row.trace.external_id,
            "url": reverse("trace", args=[project.slug, row.trace_id]),
            "since": row.claimed_at or row.since,
            "until": row.lease_until,
            "id": row.pk,
            "saved_at": next((draft.saved_at for draft in row.drafts.all()), None),
        }
        for row in rows.order_by("claimed_at", "since")
    ]
