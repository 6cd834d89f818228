"""The tab People: who works on the project, one person, and what a manager does about them."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

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

from accounts.actions.members import put_on_project, take_off_project
from accounts.live_parts import live_context, part_answer
from accounts.models import Membership, Project
from accounts.models.members import members_with
from accounts.models.projects import visible_project
from assignments.actions.held_tasks import give_back_tasks, held_tasks
from assignments.actions.leaving import held_by, release_held
from assignments.actions.outcomes import Outcome
from assignments.actions.quotas import newest_rules
from assignments.actions.steering_people import limit_people, pause_people, resume_people, take_people_off
from assignments.history import TASK_START, trace_title
from assignments.listing import as_listed, submission_rows
from assignments.models import Assignment, AssignmentState, Submission
from assignments.pool.filters import offers_now
from assignments.views.pool import say
from dashboard.people import SHOWS, SORTS, PeopleOfProject, Person, held_longest, people_of_project, sorted_people
from dashboard.steering_people import ACTS, limits_of, steer
from potato.wording import counted
from tenancy import audit
from tenancy.errors import Refused
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import ProjectRole, Right, Role

PEOPLE_ON_A_PAGE = 50
HISTORY = 10
_ROLES = {role.value: role for role in ProjectRole}
_AT_ONCE = ("pause", "resume", "limit", "give_back", "take_off")


@requires(Right.SEE_ANNOTATIONS, to_change=Right.MANAGE_MEMBERS)
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: OrganisationRequest, project: str) -> HttpResponse:
    """Members, or with `show=left` those who were taken off. POST does something to the people that are ticked: `do` is
    give_back, take_off, a role, pause, resume or limit."""
    chosen = visible_project(request.membership, project)
    everybody = people_of_project(chosen)
    if request.method == "POST":
        return _act(request, chosen, everybody.present + everybody.left)
    show = request.GET.get("show", "members")
    show = show if show in SHOWS else "members"
    by = request.GET.get("sort", "done")
    by = by if by in SORTS else "done"
    name, role = request.GET.get("name", "").strip(), request.GET.get("role", "")
    listed = [
        person
        for person in sorted_people(everybody.left if show == "left" else everybody.present, by)
        if name.lower() in person.name.lower() and role in ("", person.role)
    ]
    page = Paginator(listed, PEOPLE_ON_A_PAGE).get_page(request.GET.get("page"))
    kept = {"show": show if show != "members" else "", "name": name, "role": role, "sort": by if by != "done" else ""}
    query = {key: value for key, value in kept.items() if value}
    may_manage = allowed(request, Right.MANAGE_MEMBERS, chosen)
    if request.GET.get("part") == "rows":
        now = {"project": chosen, "page": page, "show": show, "may_manage": may_manage}
        return part_answer(request, render_to_string("dashboard/partials/people_rows.html", now, request))
    figures = _figures(chosen, everybody)
    if request.GET.get("part") == "figures":
        return part_answer(request, figures)
    context = {
        **live_context(figures),
        "project": chosen,
        "everybody": everybody,
        "page": page,
        "page_base": f"?{urlencode(query)}&" if query else "?",
        "rows_url": f"?{urlencode({**query, 'part': 'rows'})}",
        "show": show,
        "name": name,
        "role": role,
        "roles": sorted({person.role for person in (everybody.left if show == "left" else everybody.present)}),
        "sort": by,
        "sorts": {key: f"?{urlencode({**query, 'sort': key})}" for key in SORTS},
        "narrows": bool(name or role),
        "now": timezone.now(),
        "may_manage": may_manage,
        "may_steer": allowed(request, Right.MANAGE_PROJECTS, chosen),
        "project_roles": ProjectRole.choices,
    }
    return render(request, "dashboard/people.html", context)


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
    """What one person does on the project."""
    chosen = visible_project(request.membership, project)
    everybody = people_of_project(chosen)
    return _person_page(request, chosen, everybody, _named(everybody.present + everybody.left, name))


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
    context = {
        "project": chosen,
        "person": one,
        "is_here": one in everybody.present,
        "may_manage": allowed(request, Right.MANAGE_MEMBERS, chosen),
        "may_steer": allowed(request, Right.MANAGE_PROJECTS, chosen),
        "annotating": _annotating(chosen, besides=one.name),
        "rules": newest_rules(chosen),
        "version": newest.number if (newest := chosen.newest_version()) else None,
        "sees_names": allowed(request, Right.MANAGE_PEOPLE),
        "place_this_week": of_week.index(one) + 1 if one.this_week else None,
        "people_this_week": sum(other.this_week > 0 for other in of_week),
        "others": sorted(other.agreement.value for other in others if other.agreement),
        "held": _held(chosen, one),
        "offered": _offered(chosen, one),
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


@requires(Right.MANAGE_MEMBERS)
@require_POST
def change_person(request: OrganisationRequest, project: str, name: str) -> HttpResponse:
    """`do` is give_back (with `task`, that one alone), take_off, a role, pause, resume, limit, or reassign (with
    `task`)."""
    chosen = visible_project(request.membership, project)
    everybody = people_of_project(chosen)
    one = _named(everybody.present + everybody.left, name)
    try:
        messages.success(request, _done(request, chosen, one.membership, request.POST.get("do", "")))
    except Refused as refused:
        if request.POST.get("do") == "limit":
            return _person_page(request, chosen, everybody, one, limit_problem=refused.sentence)
        messages.error(request, refused.sentence)
    return redirect("person", project=chosen.slug, name=one.name)


def _act(request: OrganisationRequest, project: Project, everybody: list[Person]) -> HttpResponse:
    """To each of those that are ticked, as one act with one undo; a role is given to each by itself. What is refused
    for one does not stop the others."""
    ticked, do = set(request.POST.getlist("who")), request.POST.get("do", "")
    chosen = [one for one in everybody if str(one.membership.pk) in ticked]
    if not chosen:
        messages.error(request, "Tick at least one person, then choose what to do.")
    elif do == "take_off" and "confirmed" not in request.POST:
        return render(
            request, "dashboard/take_off.html", {"project": project, "chosen": chosen, **_consequence(chosen)}
        )
    elif do in _AT_ONCE:
        try:
            outcome = _done_at_once(request, project, [one.membership for one in chosen], do)
        except Refused as refused:
            messages.error(request, refused.sentence)
        else:
            say(request, outcome.sentence, outcome.act)
    else:
        done: list[str] = []
        for one in chosen:
            try:
                done.append(_done(request, project, one.membership, do))
            except Refused as refused:
                messages.error(request, refused.sentence)
        if len(done) > 3:
            done = [f"{len(done)} people: done. The first: {done[0]}"]
        for sentence in done:
            messages.success(request, sentence)
    return redirect("people", project=project.slug)


def _done_at_once(request: OrganisationRequest, project: Project, people: list[Membership], do: str) -> Outcome:
    """Do one of _AT_ONCE to all of them. Raises Refused."""
    if do == "take_off":
        return take_people_off(project=project, people=people)
    if do == "give_back":
        tasks = held_tasks(project, people=[one.user_id for one in people])
        return give_back_tasks(project=project, tasks=tasks)
    if not allowed(request, Right.MANAGE_PROJECTS, project):
        raise PermissionDenied
    if do == "pause":
        return pause_people(project=project, people=people, reason=request.POST.get("reason", ""))
    if do == "resume":
        return resume_people(project=project, people=people)
    limit, share = limits_of(request.POST)
    return limit_people(project=project, people=people, limit=limit, share=share)


def _consequence(chosen: list[Person]) -> dict[str, int]:
    return {"held": sum(one.held for one in chosen), "annotations": sum(one.done for one in chosen)}


def _done(request: OrganisationRequest, project: Project, membership: Membership, do: str) -> str:
    """Do it, and answer what was done in a sentence. Raises Refused, and Http404 for what is none of these."""
    name = membership.annotator_name
    if do in ACTS:
        if not allowed(request, Right.MANAGE_PROJECTS, project):
            raise PermissionDenied
        return steer(project, membership, do, request.POST)
    if do == "give_back":
        number = release_held(user=membership.user, project=project, only=_task(request))
        if number:
            audit.record("assignments.given_back", membership, project=project.slug, released=number)
        return (
            f"{_tasks(number)} of {name} went back to the queue. Drafts are kept." if number else f"{name} holds none."
        )
    if do == "take_off":
        number = take_off_project(project=project, membership=membership)
        back = f" {_tasks(number)} went back to the queue." if number else ""
        return f"{name} no longer works on this project.{back} Annotations stay, and count."
    if do not in _ROLES:
        raise Http404
    may_export = "may_export" in request.POST
    put_on_project(project=project, membership=membership, role=_ROLES[do], may_export=may_export)
    exports = ", and may export it" if may_export and _ROLES[do] == ProjectRole.VIEWER else ""
    return f"{name} is {_ROLES[do].label.lower()} of this project now{exports}."


def _task(request: OrganisationRequest) -> UUID | None:
    """The one assignment that the form names, if it names one."""
    text = request.POST.get("task", "")
    try:
        return UUID(text) if text else None
    except ValueError:
        raise Http404 from None


def _tasks(number: int) -> str:
    return counted(number, "task")


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
