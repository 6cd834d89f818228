"""Organisations' own administration: projects and their configuration, people, the audit trail."""

from django.contrib.admin import AdminSite

from accounts.admin.audit import AuditEventAdmin
from accounts.admin.people import MembershipAdmin
from accounts.admin.projects import ProjectAdmin
from accounts.models import AuditEvent, Membership, Project


def register(site: AdminSite) -> None:
    site.register(Project, ProjectAdmin)
    site.register(Membership, MembershipAdmin)
    site.register(AuditEvent, AuditEventAdmin)
