"""What every admin class of ours does: rights from the one table, and decisions in the one audit trail."""

from typing import Any, ClassVar, TypeVar

from django.contrib.admin import ModelAdmin
from django.db import models
from django.http import HttpRequest

from tenancy import audit
from tenancy.permissions import allowed
from tenancy.roles import Right

Row = TypeVar("Row", bound=models.Model)


class OrganisationModelAdmin(ModelAdmin[Row]):
    """An admin class whose rows are the organisation's, by row-level security, and whose rights are the role's.

    A right that is None is nobody's. Django's own log of changes is not written: it is one table for all
    organisations; changes go to the audit trail, and the history page reads them there.
    """

    view_right: ClassVar[Right | None] = None
    add_right: ClassVar[Right | None] = None
    change_right: ClassVar[Right | None] = None
    delete_right: ClassVar[Right | None] = None

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        return self._allowed(request, self.view_right) or self.has_change_permission(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._allowed(request, self.add_right)

    def has_change_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        return self._allowed(request, self.change_right)

    def has_delete_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        return self._allowed(request, self.delete_right)

    def log_addition(self, request: HttpRequest, obj: Row, message: Any) -> Any:
        return audit.record(f"{self._noun}.added", obj)

    def log_change(self, request: HttpRequest, obj: Row, message: Any) -> Any:
        fields = [
            name for part in message if isinstance(part, dict) for name in part.get("changed", {}).get("fields", ())
        ]
        return audit.record(f"{self._noun}.changed", obj, fields=fields)

    def log_deletions(self, request: HttpRequest, queryset: models.QuerySet[Row]) -> Any:
        for row in queryset:
            audit.record(f"{self._noun}.deleted", row)

    @property
    def _noun(self) -> str:
        return str(self.opts.verbose_name).replace(" ", "-")

    @staticmethod
    def _allowed(request: HttpRequest, right: Right | None) -> bool:
        return right is not None and allowed(request, right)
