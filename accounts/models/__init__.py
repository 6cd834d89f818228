"""Who there is, what they belong to, and what their projects are set up to be."""

from accounts.models.audit import AuditEvent, PlatformEvent
from accounts.models.idempotency import IdempotencyKey
from accounts.models.invitations import Invitation, InvitationProject
from accounts.models.members import ProjectMember
from accounts.models.organisations import Membership, Organisation
from accounts.models.people import User
from accounts.models.projects import ConfigurationVersion, Project
from accounts.models.sessions import Session
from accounts.models.tokens import ApiToken, TokenProject

__all__ = [
    "ApiToken",
    "AuditEvent",
    "ConfigurationVersion",
    "IdempotencyKey",
    "Invitation",
    "InvitationProject",
    "Membership",
    "Organisation",
    "PlatformEvent",
    "Project",
    "ProjectMember",
    "Session",
    "TokenProject",
    "User",
]
