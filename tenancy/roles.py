"""The one table of roles and rights. Pages, admin, API and exports all read it; nothing else names a role.

A role in the organisation gives its rights in all projects, but for an annotator's, which are given in the projects
that are open to all annotators. A role in a project gives its rights there alone, on top of the other.
"""

from enum import StrEnum

from django.db.models import TextChoices


class Role(TextChoices):
    """What a person is in one organisation. An owner is an admin who may also make and remove owners."""

    OWNER = "owner", "Owner"
    ADMIN = "admin", "Admin"
    MANAGER = "manager", "Manager of all projects"
    VIEWER = "viewer", "Viewer of all projects"
    ANNOTATOR = "annotator", "Annotator"
    MEMBER = "member", "Member of single projects"
    SERVICE = "service", "Service account"


ROLES_OF_PEOPLE = [(role.value, role.label) for role in Role if role != Role.SERVICE]
"""For forms: nobody becomes a service account, which has no login."""


class ProjectRole(TextChoices):
    """What a person is in one project."""

    MANAGER = "manager", "Manager"
    ANNOTATOR = "annotator", "Annotator"
    VIEWER = "viewer", "Viewer"
    ADJUDICATOR = "adjudicator", "Adjudicator"


class TokenScope(TextChoices):
    """What an API token may be used for, at most: of its member's rights it carries those of its scopes."""

    READ = "read", "Read"
    ANNOTATE = "annotate", "Annotate"
    IMPORT = "import", "Import"
    EXPORT = "export", "Export"
    MANAGE = "manage", "Manage projects"
    ADMIN = "admin", "Administer the organisation"


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
    REVIEW_ANNOTATIONS = "review annotations"
    ADJUDICATE = "settle what annotators disagree about"
    MANAGE_PROJECTS = "manage projects"
    MAKE_PROJECTS = "make projects"
    MANAGE_MEMBERS = "manage the members of projects"
    EXPORT = "export annotations"
    MANAGE_SOURCES = "manage automated sources"
    MANAGE_TOKENS = "manage API tokens"
    MANAGE_WEBHOOKS = "manage the webhooks of projects"
    MANAGE_ALL_WEBHOOKS = "manage all webhooks of the organisation"


PROJECT_RIGHTS: dict[ProjectRole, frozenset[Right]] = {
    ProjectRole.ANNOTATOR: frozenset({Right.ANNOTATE}),
    ProjectRole.VIEWER: frozenset({Right.SEE_TRACES, Right.SEE_ANNOTATIONS}),
    ProjectRole.ADJUDICATOR: frozenset({Right.SEE_TRACES, Right.SEE_ANNOTATIONS, Right.ADJUDICATE}),
    ProjectRole.MANAGER: frozenset(
        {
            Right.ANNOTATE,
            Right.SEE_TRACES,
            Right.SEE_ANNOTATIONS,
            Right.REVIEW_ANNOTATIONS,
            Right.ADJUDICATE,
            Right.MANAGE_PROJECTS,
            Right.MANAGE_MEMBERS,
            Right.CONFIGURE_PROJECTS,
            Right.IMPORT_TRACES,
            Right.EXPORT,
            Right.MANAGE_SOURCES,
            Right.MANAGE_WEBHOOKS,
        }
    ),
}
"""What each role gives in the project that it is of."""

_MEMBER = frozenset({Right.SEE_ORGANISATION})
_MANAGER = _MEMBER | PROJECT_RIGHTS[ProjectRole.MANAGER] | {Right.MAKE_PROJECTS}
_ADMIN = _MANAGER | {
    Right.USE_ADMIN,
    Right.MANAGE_PEOPLE,
    Right.SEE_JOBS,
    Right.CANCEL_JOBS,
    Right.SEE_AUDIT,
    Right.MANAGE_TOKENS,
    Right.MANAGE_ALL_WEBHOOKS,
}
_OWNER = _ADMIN | {Right.MANAGE_OWNERS}

RIGHTS: dict[Role, frozenset[Right]] = {
    Role.OWNER: _OWNER,
    Role.ADMIN: _ADMIN,
    Role.MANAGER: _MANAGER,
    Role.VIEWER: _MEMBER | PROJECT_RIGHTS[ProjectRole.VIEWER],
    Role.ANNOTATOR: _MEMBER,
    Role.MEMBER: _MEMBER,
    Role.SERVICE: _MEMBER,
}
"""What each role gives in the organisation and in all its projects."""

OPEN_RIGHTS: dict[Role, frozenset[Right]] = {Role.ANNOTATOR: PROJECT_RIGHTS[ProjectRole.ANNOTATOR]}
"""What each role gives in the projects that are open to all annotators, on top."""

SCOPED = PROJECT_RIGHTS[ProjectRole.MANAGER] | _MEMBER
"""Rights that an API token keeps that is limited to projects; the others are of the whole organisation."""


SCOPE_RIGHTS: dict[TokenScope, frozenset[Right]] = {
    TokenScope.ANNOTATE: frozenset({Right.ANNOTATE, Right.ADJUDICATE}),
    TokenScope.IMPORT: frozenset({Right.IMPORT_TRACES, Right.MANAGE_SOURCES}),
    TokenScope.EXPORT: frozenset({Right.EXPORT}),
    TokenScope.MANAGE: frozenset(
        {
            Right.REVIEW_ANNOTATIONS,
            Right.MANAGE_PROJECTS,
            Right.MAKE_PROJECTS,
            Right.CONFIGURE_PROJECTS,
            Right.MANAGE_MEMBERS,
            Right.MANAGE_WEBHOOKS,
        }
    ),
    TokenScope.ADMIN: frozenset(
        {
            Right.USE_ADMIN,
            Right.MANAGE_PEOPLE,
            Right.MANAGE_OWNERS,
            Right.SEE_JOBS,
            Right.CANCEL_JOBS,
            Right.SEE_AUDIT,
            Right.MANAGE_TOKENS,
            Right.MANAGE_ALL_WEBHOOKS,
        }
    ),
}
"""Under which rights a token of the scope reads and changes."""

READ_BY_SCOPE = frozenset(Right) - SCOPE_RIGHTS[TokenScope.EXPORT] - SCOPE_RIGHTS[TokenScope.ADMIN]
"""Under which rights a token of the scope `read` reads: all but files of exports and the organisation's own affairs."""


def scopes_for(right: Right, *, is_change: bool) -> frozenset[TokenScope]:
    """The scopes of which one is enough for what asks for the right."""
    scopes = {scope for scope, rights in SCOPE_RIGHTS.items() if right in rights}
    if not is_change and right in READ_BY_SCOPE:
        scopes.add(TokenScope.READ)
    return frozenset(scopes)


# By the roles as columns have them: `Role.values` makes a list each time, and each request asks several times.
_RIGHTS_BY_NAME = {role.value: rights for role, rights in RIGHTS.items()}
_OPEN_RIGHTS_BY_NAME = {role.value: rights for role, rights in OPEN_RIGHTS.items()}
_NO_RIGHTS = frozenset[Right]()


def role_rights(role: str) -> frozenset[Right]:
    """What a membership of this role may in all projects; an unknown role gives nothing."""
    return _RIGHTS_BY_NAME.get(role, _NO_RIGHTS)


def open_role_rights(role: str) -> frozenset[Right]:
    """What it may on top in projects that are open to all annotators."""
    return _OPEN_RIGHTS_BY_NAME.get(role, _NO_RIGHTS)


def role_has(role: str, right: Right) -> bool:
    """Whether a membership of this role carries the right in all projects."""
    return right in role_rights(role)


def roles_with(right: Right) -> list[Role]:
    """The roles that carry the right in all projects."""
    return [role for role, rights in RIGHTS.items() if right in rights]


def project_roles_with(right: Right) -> list[ProjectRole]:
    """The roles that carry the right in the project that they are of."""
    return [role for role, rights in PROJECT_RIGHTS.items() if right in rights]


def project_role_rights(role: str, *, may_export: bool) -> frozenset[Right]:
    """The rights of a role in its project; a viewer exports where that was given, and nobody else but managers."""
    rights = PROJECT_RIGHTS.get(ProjectRole(role), frozenset()) if role in ProjectRole.values else frozenset()
    return rights | {Right.EXPORT} if may_export and role == ProjectRole.VIEWER else rights
