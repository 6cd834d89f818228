"""Invitations in the admin: invite, the link that is shown once, and the open ones to renew or revoke.

The rules live in accounts.actions.invitations; these views parse, call one action and answer.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.admin import display
from django.contrib.messages import error, success
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from accounts.actions.invitations import invite, renew_invitation, revoke_invitation
from accounts.admin.people import OffersRoles
from accounts.invitation_links import InvitationToken
from accounts.models import Invitation
from accounts.models.invitations import LASTS
from accounts.reader_zone import moment_text
from tenancy.admin import OrganisationModelAdmin
from tenancy.errors import Refused
from tenancy.permissions import allowed, demand
from tenancy.roles import Right, Role
from tenancy.urls import global_reverse


class InvitationAdmin(OffersRoles, OrganisationModelAdmin[Invitation]):
    view_right = add_right = Right.MANAGE_PEOPLE
    list_display = ["email", "role", "annotator_name", "inviter", "present_state"]
    list_display_links = None
    search_fields = ["email", "annotator_name"]
    list_select_related = ["created_by"]
    readonly_fields = ["inviter", "created_at", "present_state"]
    change_form_template = "admin/accounts/invitation/change_form.html"

    def get_queryset(self, request: HttpRequest) -> Any:
        """The open ones. What became of the others stands in the list of people and in the audit trail."""
        return Invitation.objects.open().with_backing()

    def get_fields(self, request: HttpRequest, obj: Invitation | None = None) -> Any:
        asked = ["email", "role", "annotator_name"]
        return [*asked, "inviter", "created_at", "present_state"] if obj else asked

    def get_list_display(self, request: HttpRequest) -> Any:
        by_owner = allowed(request, Right.MANAGE_OWNERS)

        @display(description="what to do")
        def buttons(invitation: Invitation) -> SafeString | str:
            return _buttons(invitation) if by_owner or invitation.role != Role.OWNER else "an owner can end it"

        return [*super().get_list_display(request), buttons]

    @display(description="invited by", ordering="created_by__username")
    def inviter(self, invitation: Invitation) -> str:
        return str(invitation.created_by)

    @display(description="state", ordering="expires_at")
    def present_state(self, invitation: Any) -> str:
        if invitation.expires_at <= timezone.now():
            return f"expired on {moment_text(invitation.expires_at)}"
        if not invitation.is_backed:
            return "closed: who invited may not do so any more"
        return f"open until {moment_text(invitation.expires_at)}"

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().add_view(request, form_url, {"title": "Invite a person", **(extra_context or {})})

    def save_model(
        self, request: HttpRequest, obj: Invitation, form: forms.ModelForm[Invitation], change: bool
    ) -> None:
        invitation, token = invite(
            email=obj.email, role=Role(obj.role), annotator_name=obj.annotator_name, by_owner=_by_owner(request)
        )
        obj.pk, obj.expires_at = invitation.pk, invitation.expires_at
        request.invitation_token = token  # type: ignore[attr-defined]  # for response_add, in this very request

    def response_add(self, request: HttpRequest, obj: Invitation, post_url_continue: str | None = None) -> HttpResponse:
        """The link, this once: no redirect could carry it, and no row holds it."""
        return self._link_page(request, obj, request.invitation_token)  # type: ignore[attr-defined]

    def get_urls(self) -> list[URLPattern]:
        def route(pattern: str, view: Callable[..., HttpResponse], name: str) -> URLPattern:
            return path(pattern, self.admin_site.admin_view(require_POST(view)), name=f"accounts_invitation_{name}")

        return [
            route("<uuid:object_id>/renew/", self.renew_view, "renew"),
            route("<uuid:object_id>/revoke/", self.revoke_view, "revoke"),
            *super().get_urls(),
        ]

    def renew_view(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        try:
            invitation, token = renew_invitation(
                invitation=self._invitation(request, object_id), by_owner=_by_owner(request)
            )
        except Refused as refusal:
            error(request, refusal.sentence)
            return _list()
        return self._link_page(request, invitation, token)

    def revoke_view(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        try:
            invitation = revoke_invitation(invitation=self._invitation(request, object_id), by_owner=_by_owner(request))
        except Refused as refusal:
            error(request, refusal.sentence)
        else:
            success(request, f"The invitation of {invitation} is revoked: its link no longer works.")
        return _list()

    def _invitation(self, request: HttpRequest, object_id: UUID) -> Invitation:
        demand(request, Right.MANAGE_PEOPLE)
        invitation: Invitation = get_object_or_404(Invitation, pk=object_id)
        return invitation

    def _link_page(self, request: HttpRequest, invitation: Invitation, token: InvitationToken) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "The link",
            "invitation": invitation,
            "link": request.build_absolute_uri(global_reverse("join", token=str(token))),
            "days": LASTS.days,
        }
        return TemplateResponse(request, "admin/accounts/invitation/link.html", context)


def _by_owner(request: HttpRequest) -> bool:
    return allowed(request, Right.MANAGE_OWNERS)


def _list() -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("admin:accounts_invitation_changelist"))


def _buttons(invitation: Invitation) -> SafeString:
    """They send the form of the list, which holds the token against forgery, to another address."""
    return format_html(
        '<button class="btn btn--s" formaction="{}" aria-label="New link for {}">New link</button> '
        '<button class="btn btn--s" formaction="{}" aria-label="Revoke the invitation of {}">Revoke</button>',
        reverse("admin:accounts_invitation_renew", args=[invitation.pk]),
        str(invitation),
        reverse("admin:accounts_invitation_revoke", args=[invitation.pk]),
        str(invitation),
    )
