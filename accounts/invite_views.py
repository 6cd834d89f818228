"""The page on which a project's managers invite people, and what they do with invitations that are open."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts import mail
from accounts.actions.invitations import (
    BadNumber,
    CannotBeNamed,
    ProjectGrant,
    invite,
    more_places,
    renew_invitation,
    revoke_invitation,
)
from accounts.actions.members import open_to_annotators, put_on_project
from accounts.invitation_links import InvitationToken
from accounts.invited_batches import batches_to_name
from accounts.inviting import LONGEST, Guest, already_in, from_csv, pasted, with_names
from accounts.models import Invitation, Membership, Project, ProjectMember
from accounts.models.members import known_people
from accounts.models.projects import visible_project
from potato.wording import counted
from tenancy.errors import Refused
from tenancy.ids import read_number
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import ProjectRole, Right, Role, project_roles_with
from tenancy.urls import global_reverse

WAYS = ("addresses", "link", "csv")
DAYS = ((3, "in 3 days"), (7, "in 7 days"), (14, "in 14 days"), (30, "in 30 days"))
MOST_PLACES = 1_000


class InviteForm(forms.Form):
    """What is the same for all ways; each way has fields of its own, which are checked where they are read."""

    role = forms.ChoiceField(choices=ProjectRole.choices, initial=ProjectRole.ANNOTATOR)
    may_export = forms.BooleanField(label="A viewer may export", required=False)
    beginning = forms.CharField(
        label="Annotator names begin with",
        max_length=58,
        initial="annotator_",
        help_text="A number is added in turn. The name stands in every export, in place of name and address.",
    )
    days = forms.TypedChoiceField(label="Links end", choices=DAYS, coerce=int, initial=7)
    note = forms.CharField(
        label="A line of your own",
        max_length=500,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Stands in the mail.",
    )
    addresses = forms.CharField(
        required=False,
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 5, "autocomplete": "off", "spellcheck": "false"}),
        help_text="Separated by commas, semicolons or lines.",
    )
    table = forms.CharField(
        label="Or paste the table",
        required=False,
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        help_text="Columns: address, name (the annotator name) and role; the first line names them.",
    )
    batch = forms.TypedChoiceField(
        label="Named in the batch",
        required=False,
        coerce=int,
        empty_value=None,
        help_text="Whoever joins is named in it. From the first on it is for those who are named alone.",
    )
    places = forms.IntegerField(
        label="Places",
        min_value=1,
        max_value=MOST_PLACES,
        initial=12,
        help_text="Who comes after them reads that it is full.",
    )

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data)
        named = [(str(number), name) for number, name in batches_to_name(project)]
        self.fields["batch"].choices = [("", "None"), *named]  # type: ignore[attr-defined]  # the stubs see a Field


@requires(Right.MANAGE_MEMBERS)
@require_http_methods(["GET", "HEAD", "POST"])
def invite_people(request: OrganisationRequest, project: str) -> HttpResponse:
    """GET: the form, and the open invitations. POST: with `do=preview` what would be done, with `do=invite` done; the
    links are in the answer, this once."""
    chosen = visible_project(request.membership, project)
    asked = request.GET.get("way", "")
    way = request.POST.get("way", asked if asked in WAYS else WAYS[0])
    if way not in WAYS:
        raise Http404
    if request.method != "POST":
        return _page(request, chosen, way, InviteForm(chosen))
    form = InviteForm(chosen, _with_file(request))
    form.fields["addresses"].required = way == "addresses"
    if way != "link":
        form.fields["places"].required = False
    if not form.is_valid():
        return _page(request, chosen, way, form, status=400)
    try:
        if way == "link":
            return _link(request, chosen, form)
        guests = _guests(chosen, way, form)
        ready = with_names(guests, form.cleaned_data["beginning"])
        if request.POST.get("do") != "invite" or not ready:
            return _page(request, chosen, way, form, guests=guests, ready=ready, status=200 if ready else 400)
        return _invited(request, chosen, form, guests, ready)
    except CannotBeNamed as refused:
        form.add_error("batch", refused.sentence)
    except Refused as refused:
        form.add_error(None, refused.sentence)
    except ValidationError as error:
        form.add_error(None, " ".join(error.messages))
    return _page(request, chosen, way, form, status=400)


@requires(Right.MANAGE_MEMBERS)
@require_POST
def change_invitation(request: OrganisationRequest, project: str, invitation_id: UUID) -> HttpResponse:
    """`do` is renew (another link, shown in the answer), revoke, or more (places, of a link of many)."""
    chosen = visible_project(request.membership, project)
    rows = Invitation.objects.open().filter(projects__project=chosen, role=Role.MEMBER)
    invitation = get_object_or_404(rows, pk=invitation_id)
    # Of one that is of other projects, too, only those do this who manage all of them.
    others = [place.project for place in invitation.projects.select_related("project")]
    if not all(request.membership.may_in(Right.MANAGE_MEMBERS, other) for other in others):
        raise Http404
    try:
        match request.POST.get("do", ""):
            case "renew":
                renewed, token = renew_invitation(invitation=invitation, by_owner=False)
                return _links_page(request, chosen, [(renewed, token)], "")
            case "revoke":
                revoke_invitation(invitation=invitation, by_owner=False)
                messages.success(request, f"The link of {invitation} works no more.")
            case "more":
                return _more_places(request, chosen, invitation)
            case _:
                raise Http404
    except Refused as refused:
        messages.error(request, refused.sentence)
    return redirect("invite-people", project=chosen.slug)


@requires(Right.MANAGE_MEMBERS)
@require_POST
def add_here(request: OrganisationRequest, project: str) -> HttpResponse:
    """Put a member of the organisation, by the annotator name, on the project."""
    chosen = visible_project(request.membership, project)
    name, role = request.POST.get("name", "").strip(), request.POST.get("role", "")
    membership = Membership.objects.active().filter(annotator_name__iexact=name).first()
    may_export = "may_export" in request.POST
    if membership is None or role not in ProjectRole.values:
        problem = (
            f"Nobody here has the annotator name {name[:64]!r}." if membership is None else "Choose a role of the list."
        )
        adding = {"name": name, "role": role, "may_export": may_export, "problem": problem}
        return _page(request, chosen, WAYS[0], InviteForm(chosen), adding=adding, status=422)
    put_on_project(project=chosen, membership=membership, role=ProjectRole(role), may_export=may_export)
    messages.success(request, f"{membership} is {ProjectRole(role).label.lower()} of this project now.")
    return redirect("invite-people", project=chosen.slug)


@requires(Right.MANAGE_MEMBERS)
@require_POST
def open_project(request: OrganisationRequest, project: str) -> HttpResponse:
    """Let all annotators of the organisation work on the project (`open`), or its members alone."""
    chosen = visible_project(request.membership, project)
    is_open = bool(request.POST.get("open"))
    released = open_to_annotators(project=chosen, is_open=is_open)
    who = "Every annotator of the organisation works here now." if is_open else "Its members alone work here now."
    back = f" {counted(released, 'task')} of others went back to the queue." if released else ""
    messages.success(request, who + back)
    return redirect("people", project=chosen.slug)


def _more_places(request: OrganisationRequest, project: Project, invitation: Invitation) -> HttpResponse:
    text = request.POST.get("number", "").strip()
    try:
        changed = more_places(invitation=invitation, number=read_number(text, 8) or 0, most=MOST_PLACES)
    except BadNumber as refused:
        enlarging = {"link": invitation.pk, "number": text, "problem": refused.sentence}
        return _page(request, project, "link", InviteForm(project), enlarging=enlarging, status=422)
    messages.success(request, f"{changed.taken} of {changed.places} places are taken now.")
    return redirect("invite-people", project=project.slug)


def _with_file(request: OrganisationRequest) -> Any:
    """What the form sends, with the text of an uploaded table in the place of a pasted one."""
    values = request.POST.copy()
    file = request.FILES.get("file")
    if file is not None:
        values["table"] = file.read(LONGEST + 1).decode("utf-8", errors="replace")
    return values


def _guests(project: Project, way: str, form: InviteForm) -> list[Guest]:
    role = ProjectRole(form.cleaned_data["role"])
    given = form.cleaned_data["addresses"] if way == "addresses" else form.cleaned_data["table"]
    return already_in(project, (pasted if way == "addresses" else from_csv)(given, role))


def _invited(
    request: OrganisationRequest, project: Project, form: InviteForm, guests: list[Guest], ready: list[Guest]
) -> HttpResponse:
    values = form.cleaned_data
    # All or nobody: of a link that was made before a refusal nobody would ever read the secret.
    with transaction.atomic():
        made = [
            invite(
                email=guest.email,
                role=Role.MEMBER,
                annotator_name=guest.name,
                by_owner=False,
                projects=[ProjectGrant(project, guest.role, values["may_export"], _batch_for(guest, form))],
                lasts=timedelta(days=values["days"]),
            )
            for guest in ready
        ]
    left_out = [guest for guest in guests if guest.problem]
    return _links_page(request, project, made, values["note"], left_out)


def _batch_for(guest: Guest, form: InviteForm) -> int | None:
    """In a table some may annotate and others not: only the former are named."""
    batch: int | None = form.cleaned_data["batch"]
    return batch if guest.role in project_roles_with(Right.ANNOTATE) else None


def _link(request: OrganisationRequest, project: Project, form: InviteForm) -> HttpResponse:
    values = form.cleaned_data
    role = ProjectRole(values["role"])
    if role == ProjectRole.MANAGER:
        form.add_error("role", "A link for many makes no managers: whoever gets hold of it would be one.")
        return _page(request, project, "link", form, status=400)
    made = invite(
        email="",
        role=Role.MEMBER,
        annotator_name=values["beginning"],
        by_owner=False,
        projects=[ProjectGrant(project, role, values["may_export"], values["batch"])],
        places=values["places"],
        lasts=timedelta(days=values["days"]),
    )
    return _links_page(request, project, [made], "")


def _links_page(
    request: OrganisationRequest,
    project: Project,
    made: list[tuple[Invitation, InvitationToken]],
    note: str,
    left_out: list[Guest] | None = None,
) -> HttpResponse:
    """The links, this once: no row holds them. Mailed as well, where the site has a mail server."""
    links = [(row, request.build_absolute_uri(global_reverse("join", token=str(token)))) for row, token in made]
    addressed = [(row, link) for row, link in links if row.email]
    unsent = (
        mail.send_invitations(addressed, project, str(request.user), note)
        if addressed and mail.is_configured()
        else None
    )
    page = render(
        request,
        "accounts/invited.html",
        {
            "project": project,
            "links": links,
            "all_links": "\n".join(f"{row.email}\t{link}" for row, link in addressed),
            "left_out": left_out or [],
            "mailed": unsent is not None,
            "unsent": unsent or [],
        },
    )
    page["Cache-Control"] = "private, no-store"
    return page


def _page(
    request: OrganisationRequest,
    project: Project,
    way: str,
    form: InviteForm,
    *,
    guests: list[Guest] | None = None,
    ready: list[Guest] | None = None,
    adding: Mapping[str, Any] | None = None,
    enlarging: Mapping[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """`adding` is the form of who is here already, `enlarging` that of more places, where one was refused."""
    rows = Invitation.objects.open().with_backing().filter(projects__project=project)
    opened = list(rows.select_related("created_by").prefetch_related("projects").order_by("-created_at"))
    names = dict(batches_to_name(project))
    for invitation in opened:
        numbers = (place.batch_number for place in invitation.projects.all() if place.project_id == project.pk)
        invitation.batch_name = names.get(next(numbers, None) or 0, "")
    here = ProjectMember.objects.for_project(project).filter(left_at=None)
    others = known_people(request.membership).exclude(pk__in=here.values("membership"))
    form.fields["addresses"].required = way == "addresses"
    context = {
        "project": project,
        "way": way,
        "form": form,
        "guests": guests,
        "ready": ready or [],
        "problems": [guest for guest in guests or [] if guest.problem],
        "is_mailed": mail.is_configured(),
        "links": [one for one in opened if not one.email],
        "by_address": [one for one in opened if one.email],
        "now": timezone.now(),
        "others": others.order_by("annotator_name").values_list("annotator_name", flat=True)[:1_000],
        "project_roles": ProjectRole.choices,
        "adding": adding or {"name": "", "role": ProjectRole.ANNOTATOR, "may_export": False, "problem": ""},
        "enlarging": enlarging or {},
    }
    return render(request, "accounts/invite.html", context, status=status)
