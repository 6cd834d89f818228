"""The one table of roles and rights. Pages, admin, API and exports all read it; nothing else names a role."""

from enum import StrEnum

from django.db.models import TextChoices


class Role(TextChoices):
    """What a person is in one organisation. An owner is an admin who may also make and remove owners."""

    OWNER = "owner", "Owner"
    ADMIN = "admin", "Admin"
    MANAGER = "manager", "Project manager"
    ANNOTATOR = "annotator", "Annotator"


class Right(StrEnum):
    """What a view, an admin class or an action asks for."""

    SEE_ORGANISATION = "see the organisation"
    USE_ADMIN = "use the admin"
    CONFIGURE_PROJECTS = "configure projects"
    MANAGE_PEOPLE = "manage people"
    MANAGE_OWNERS = "manage owners"
    SEE_JOBS = "see jobs"
    CANCEL_JOBS = "cancel jobs"
    SEE_AUDIT = "see the audit trail"
    SEE_TRACES = "see traces"
    IMPORT_TRACES = "import traces"
    ANNOTATE = "annotate"
    SEE_ANNOTATIONS = "see everybody's annotations"
    EXPORT = "export annotations"
    MANAGE_SOURCES = "manage automated sources"
    MANAGE_TOKENS = "manage API tokens"
    MANAGE_WEBHOOKS = "manage the webhooks of projects"
    MANAGE_ALL_WEBHOOKS = "manage all webhooks of the organisation"


_ANNOTATOR = frozenset({Right.SEE_ORGANISATION, Right.ANNOTATE})
_MANAGER = _ANNOTATOR | {
    Right.SEE_TRACES,
    Right.SEE_ANNOTATIONS,
    Right.EXPORT,
    Right.MANAGE_SOURCES,
    Right.MANAGE_WEBHOOKS,
}
_ADMIN = _MANAGER | {
    Right.USE_ADMIN,
    Right.CONFIGURE_PROJECTS,
    Right.MANAGE_PEOPLE,
    Right.SEE_JOBS,
    Right.CANCEL_JOBS,
    Right.SEE_AUDIT,
    Right.IMPORT_TRACES,
    Right.MANAGE_TOKENS,
    Right.MANAGE_ALL_WEBHOOKS,
}
_OWNER = _ADMIN | {Right.MANAGE_OWNERS}

RIGHTS: dict[Role, frozenset[Right]] = {
    Role.OWNER: _OWNER,
    Role.ADMIN: _ADMIN,
    Role.MANAGER: _MANAGER,
    Role.ANNOTATOR: _ANNOTATOR,
}


def role_has(role: str, right: Right) -> bool:
    """Whether a membership of this role carries the right; an unknown role carries none."""
    return right in RIGHTS.get(Role(role), frozenset()) if role in Role.values else False
