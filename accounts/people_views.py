"""The organisation's people, for admins: members and service accounts, what each may do where, and what ends that."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from accounts.actions.organisations import add_service_account, change_member
from accounts.actions.tokens import NoScope, make_token
from accounts.held_work import count_held
from accounts.models import ApiToken, Invitation, Membership, Project, ProjectMember
from accounts.models.tokens import Pace
from accounts.passwords import link_by_admin
from accounts.sessions import end_session, end_sessions, live_sessions
from accounts.token_terms import LASTS, PURPOSES, end_after, scope_labels
from potato.wording import counted
from tenancy import audit
from tenancy.errors import Refused
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, demand, requires
from tenancy.roles import ROLES_OF_PEOPLE, ProjectRole, Right, Role, TokenScope, role_has

ON_A_PAGE = 50
SHOWS = {"people": "People", "service": "Service accounts", "off": "Switched off"}


@dataclass(frozen=True)
class ShownMember:
    membership: Membership
    projects: str
    """As in "All projects", or "Manager of 2, annotator of 1"."""

    @property
    def initials(self) -> str:
        name = self.membership.user.name or self.membership.annotator_name
        return "".join(sign for sign in name if sign.isalnum())[:2].upper() or "?"


@requires(Right.MANAGE_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
def organisation_people(request: OrganisationRequest) -> HttpResponse:
    """Everybody of the organisation, a page at a time; `show` is one of SHOWS, `q` a part of a name or an address. POST
    makes a service account, a member without a login, by its `name`."""
    if request.method != "POST":
        return _people_page(request)
    name = request.POST.get("name", "")
    try:
        made = add_service_account(name=name.strip())
    except ValidationError as error:
        return _people_page(request, name=name, problem=" ".join(error.messages))
    messages.success(request, f"{made} is made. Put it on a project, then make a token for it.")
    return redirect("member", name=made.annotator_name)


def _people_page(request: OrganisationRequest, *, name: str = "", problem: str = "") -> HttpResponse:
    """`problem` says why no service account of that `name` was made."""
    show = request.GET.get("show", "people")
    show = "service" if problem else show if show in SHOWS else "people"
    text = request.GET.get("q", "").strip()[:100]
    rows = chosen_members(show, text)
    page = Paginator(rows.order_by("annotator_name"), ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "page_base": f"?show={show}&" if show != "people" else "?",
        "rows": with_projects(page.object_list),
        "show": show,
        "shows": [(key, title, _shown(key).count()) for key, title in SHOWS.items()],
        "q": text,
        "invitations": Invitation.objects.open().count(),
        "name": name,
        "problem": problem,
    }
    return render(request, "accounts/people.html", context, status=422 if problem else 200)


@requires(Right.MANAGE_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
def member(request: OrganisationRequest, name: str) -> HttpResponse:
    """One member. POST does something: `do` is role, password (a link, shown in the answer), sessions, off (which asks
    first), on, or token; and session, that one alone."""
    row = _member(name)
    if request.method != "POST":
        return _page(request, row)
    try:
        match request.POST.get("do", ""):
            case "role":
                _change(request, row, role=_role(request), is_active=row.is_active)
                messages.success(request, f"{row} is {row.get_role_display().lower()} now.{_went_back(row)}")
            case "sessions":
                _demand_reach(request, row)
                ended = end_sessions(row.user)
                audit.record("sessions.ended", row, number=ended)
                messages.success(request, f"{counted(ended, 'session')} of {row} ended.")
            case "session":
                _demand_reach(request, row)
                is_ended = end_session(row.user, request.POST.get("session", ""))
                if is_ended:
                    audit.record("sessions.ended", row, number=1)
                done = f"The session of {row} is ended." if is_ended else "That session had ended already."
                messages.success(request, done)
            case "password":
                _demand_reach(request, row)
                link = request.build_absolute_uri(link_by_admin(row))
                return _page(request, row, link=link)
            case "off" if "confirmed" not in request.POST:
                return _switch_off_page(request, row)
            case "off":
                because = request.POST.get("because", "").strip()
                _change(request, row, role=Role(row.role), is_active=False, because=because)
                messages.success(request, f"{row} is switched off.{_went_back(row)}")
            case "on":
                _change(request, row, role=Role(row.role), is_active=True)
                messages.success(request, f"{row} is switched on again. Ended sessions and tokens stay ended.")
            case "token":
                return _make_token(request, row)
            case _:
                raise Http404
    except Refused as refused:
        if "because" in request.POST:
            return _switch_off_page(request, row, because=request.POST["because"], problem=refused.sentence)
        messages.error(request, refused.sentence)
    return redirect("member", name=row.annotator_name)


def with_projects(rows: Iterable[Membership]) -> list[ShownMember]:
    """The members, each with their projects in words; one query more."""
    members = list(rows)
    roles: dict[UUID, Counter[str]] = defaultdict(Counter)
    for place in ProjectMember.objects.filter(membership__in=members, left_at=None):
        roles[place.membership_id][place.get_role_display()] += 1
    return [ShownMember(row, _in_words(row, roles[row.pk])) for row in members]


def _in_words(row: Membership, roles: Counter[str]) -> str:
    if role_has(row.role, Right.SEE_ANNOTATIONS):
        return "All projects"
    words = [f"{label.lower()} of {counted(number, 'project')}" for label, number in sorted(roles.items())]
    if row.role == Role.ANNOTATOR:
        words.insert(0, "annotator of all open projects")
    text = ", ".join(words)
    return text[:1].upper() + text[1:] if text else "None"


def chosen_members(show: str, text: str) -> Any:
    """The members that `show`, one of SHOWS, lets through, with the text in a name or an address."""
    rows = _shown(show)
    if not text:
        return rows
    return rows.filter(
        Q(annotator_name__icontains=text) | Q(user__name__icontains=text) | Q(user__email__icontains=text)
    )


def _shown(show: str) -> Any:
    rows = Membership.objects.select_related("user")
    if show == "off":
        return rows.filter(is_active=False)
    service = Q(role=Role.SERVICE)
    return rows.active().filter(service if show == "service" else ~service)


def _member(name: str) -> Membership:
    row: Membership = get_object_or_404(Membership.objects.select_related("user"), annotator_name=name)
    return row


def _page(
    request: OrganisationRequest, row: Membership, secret: str = "", link: str = "", no_token: str = ""
) -> HttpResponse:
    """`secret` and `link` are shown this once; `no_token` says why none was made, beside what was typed for it."""
    places = ProjectMember.objects.filter(membership=row, left_at=None).select_related("project")
    may = allowed(request, Right.MANAGE_OWNERS)
    roles = [choice for choice in ROLES_OF_PEOPLE if may or choice[0] != Role.OWNER]
    context = {
        "member": row,
        "is_service": row.role == Role.SERVICE,
        "places": places.order_by("project__name"),
        "shown": with_projects([row])[0],
        "may_change": _may_change(request, row),
        "may_make_tokens": allowed(request, Right.MANAGE_TOKENS),
        "roles": roles,
        "project_roles": ProjectRole.choices,
        "projects": Project.objects.exclude(members__in=places).defer("draft").order_by("name"),
        "sessions": list(live_sessions(row.user)),
        "tokens": [
            (token, scope_labels(token.scopes))
            for token in ApiToken.objects.active().filter(membership=row).prefetch_related("projects__project")
        ],
        "held": count_held(row.user),
        "secret": secret,
        "link": link,
        "no_token": no_token,
        "token_name": request.POST.get("name", "") if no_token else "",
        "ticked": request.POST.getlist("project") if no_token else [],
        "purposes": [(scope.value, scope.label, purpose) for scope, purpose in PURPOSES.items()],
        "scopes": request.POST.getlist("scope") if no_token else [TokenScope.READ.value],
        "lasts": LASTS.items(),
        "days": request.POST.get("days", "90"),
        "paces": Pace.choices,
        "pace": request.POST.get("pace", Pace.NORMAL.value),
    }
    page = render(request, "accounts/member.html", context, status=422 if no_token else 200)
    if secret or link:
        page["Cache-Control"] = "private, no-store"
    return page


def _switch_off_page(
    request: OrganisationRequest, row: Membership, *, because: str = "", problem: str = ""
) -> HttpResponse:
    """What switching the member off ends, before it is done; `problem` says why it was not."""
    context = {
        "member": row,
        "sessions": live_sessions(row.user).count(),
        "tokens": ApiToken.objects.active().filter(membership=row).count(),
        "held": count_held(row.user),
        "because": because,
        "problem": problem,
    }
    return render(request, "accounts/switch_off.html", context, status=422 if problem else 200)


def _change(request: OrganisationRequest, row: Membership, *, role: Role, is_active: bool, because: str = "") -> None:
    change_member(
        membership=row,
        role=role,
        annotator_name=row.annotator_name,
        is_active=is_active,
        by_owner=allowed(request, Right.MANAGE_OWNERS),
        because=because,
    )


def _make_token(request: OrganisationRequest, row: Membership) -> HttpResponse:
    """A token that acts as the member, limited to the projects that are ticked, if any are; shown in the answer."""
    demand(request, Right.MANAGE_TOKENS)
    ticked = request.POST.getlist("project")
    projects = list(Project.objects.filter(slug__in=ticked)) if ticked else None
    try:
        _, text = make_token(
            membership=row,
            name=request.POST.get("name", "").strip(),
            by_owner=allowed(request, Right.MANAGE_OWNERS),
            projects=projects,
            scopes=[scope for scope in TokenScope.values if scope in request.POST.getlist("scope")],
            expires_at=end_after(request.POST.get("days", "")),
            pace=Pace(pace) if (pace := request.POST.get("pace", "")) in Pace.values else Pace.NORMAL,
        )
    except ValidationError as error:
        return _page(request, row, no_token=" ".join(error.messages))
    except NoScope as refused:
        return _page(request, row, no_token=refused.sentence)
    return _page(request, row, secret=str(text))


def _role(request: OrganisationRequest) -> Role:
    try:
        return Role(request.POST.get("role", ""))
    except ValueError:
        raise Http404 from None


def _may_change(request: OrganisationRequest, row: Membership) -> bool:
    return row.role != Role.OWNER or allowed(request, Right.MANAGE_OWNERS)


def _demand_reach(request: OrganisationRequest, row: Membership) -> None:
    if not _may_change(request, row):
        demand(request, Right.MANAGE_OWNERS)


def _went_back(row: Membership) -> str:
    return f" {counted(row.released, 'held task')} went back to the queue." if row.released else ""
