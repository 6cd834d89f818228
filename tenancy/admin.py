"""What every admin class of ours does: rights from the one table of roles, and history from the one audit trail."""

from typing import Any, ClassVar, TypeVar
from urllib.parse import urlencode

from django import forms
from django.contrib.admin import ModelAdmin
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.contrib.messages import error
from django.core.exceptions import BadRequest, ValidationError
from django.db import DataError, models
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from tenancy.errors import Refused
from tenancy.permissions import allowed
from tenancy.roles import Right

TenantRow = TypeVar("TenantRow", bound=models.Model)

_LOOKUPS = {"", "exact", "id__exact", "isnull", "in", "gte", "lt", "year", "month", "day"}


class OrganisationModelForm(forms.ModelForm[TenantRow]):
    """Checks what is unique in the organisation too, although no form shows the organisation."""

    def _get_validation_exclusions(self) -> set[str]:
        return super()._get_validation_exclusions() - {"organisation"}  # type: ignore[misc,no-any-return]


class OrganisationModelAdmin(ModelAdmin[TenantRow]):
    """An admin class whose rows are the organisation's, by row-level security, and whose rights are the role's.

    A right that is None is nobody's. Saving goes through the actions of the app, which write the audit trail;
    Django's own log of changes, one table for all organisations, stays empty.
    """

    view_right: ClassVar[Right | None] = None
    add_right: ClassVar[Right | None] = None
    change_right: ClassVar[Right | None] = None
    delete_right: ClassVar[Right | None] = None
    form = OrganisationModelForm  # type: ignore[assignment]  # of any Row; the stubs ask for this one

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: TenantRow | None = None) -> bool:
        return _allowed(request, self.view_right) or self.has_change_permission(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return _allowed(request, self.add_right)

    def has_change_permission(self, request: HttpRequest, obj: TenantRow | None = None) -> bool:
        return _allowed(request, self.change_right)

    def has_delete_permission(self, request: HttpRequest, obj: TenantRow | None = None) -> bool:
        return _allowed(request, self.delete_right)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """What our filters ask, and nothing cleverer: no patterns, and no way along a relation."""
        how = lookup.partition("__")[2]
        return how in _LOOKUPS and super().lookup_allowed(lookup, value, request)

    def formfield_for_dbfield(self, db_field: "models.Field[Any, Any]", request: HttpRequest, **kwargs: Any) -> Any:
        """Without Django's own signs beside a choice, which open windows: each kind of row has its list."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        widget = getattr(field, "widget", None)
        if isinstance(widget, RelatedFieldWidgetWrapper):
            widget.can_add_related = widget.can_change_related = False
            widget.can_delete_related = widget.can_view_related = False
        return field

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """A query or a choice that no page of ours makes is a bad request, not an error of the site."""
        if any("\0" in value for values in (request.GET, request.POST) for value in values.values()):
            raise BadRequest("The request contains a NUL character.")
        try:
            return super().changelist_view(request, extra_context)
        except (ValidationError, DataError, OverflowError):
            raise BadRequest("The request names rows in a way that no page does.") from None

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """What an action refuses is said on the page from which it was asked; what the site itself lacks (500 and
        above) is no answer to that page, and the middleware above says it.
        """
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except Refused as refusal:
            if refusal.status >= 500:
                raise
            error(request, refusal.sentence)
            return HttpResponseRedirect(request.get_full_path())

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        query = urlencode({"target_id": object_id})
        return HttpResponseRedirect(f"{reverse('audit-trail')}?{query}")

    def log_addition(self, request: HttpRequest, obj: TenantRow, message: Any) -> Any:
        """Nothing: the action wrote it down."""

    def log_change(self, request: HttpRequest, obj: TenantRow, message: Any) -> Any:
        """Nothing: the action wrote it down."""

    def log_deletions(self, request: HttpRequest, queryset: models.QuerySet[TenantRow]) -> Any:
        """Nothing: the action wrote it down."""


def _allowed(request: HttpRequest, right: Right | None) -> bool:
    return right is not None and allowed(request, right)
