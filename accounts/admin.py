"""Organisations' own administration: projects and their configuration, people, the audit trail."""

from django.contrib.admin import AdminSite

from accounts.models import AuditEvent, Membership, Project
from tenancy.admin import OrganisationModelAdmin
from tenancy.roles import Right


class ProjectAdmin(OrganisationModelAdmin[Project]):
    view_right = add_right = change_right = Right.CONFIGURE_PROJECTS
    list_display = ["name", "slug", "created_at"]
    search_fields = ["name", "slug"]
    fields = ["name", "slug"]


class MembershipAdmin(OrganisationModelAdmin[Membership]):
    view_right = change_right = Right.MANAGE_PEOPLE
    list_display = ["annotator_name", "user", "role", "is_active"]
    list_filter = ["role", "is_active"]
    search_fields = ["annotator_name", "user__username", "user__email"]
    list_select_related = ["user"]
    fields = ["user", "role", "annotator_name", "is_active"]
    readonly_fields = ["user"]


class AuditEventAdmin(OrganisationModelAdmin[AuditEvent]):
    view_right = Right.SEE_AUDIT
    list_display = ["at", "person_name", "verb", "target_type", "target_label"]
    list_filter = ["verb", "target_type"]
    search_fields = ["person_name", "verb", "target_label"]
    date_hierarchy = "at"
    exclude = ["organisation"]


def register(site: AdminSite) -> None:
    site.register(Project, ProjectAdmin)
    site.register(Membership, MembershipAdmin)
    site.register(AuditEvent, AuditEventAdmin)
