"""Who there is, what they belong to, and what their projects are set up to be."""

from accounts.models.audit import AuditEvent, PlatformEvent
from accounts.models.invitations import Invitation
from accounts.models.organisations import Membership, Organisation
from accounts.models.people import User
from accounts.models.projects import ConfigurationVersion, Project
from accounts.models.tokens import ApiToken

__all__ = [
    "ApiToken",
    "AuditEvent",
    "ConfigurationVersion",
    "Invitation",
    "Membership",
    "Organisation",
    "PlatformEvent",
    "Project",
    "User",
]
