"""What the routes of people, tokens and the caller answer."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

Role = Literal["owner", "admin", "manager", "viewer", "annotator", "member", "service"]
"""What a person is in an organisation."""
ProjectRole = Literal["manager", "annotator", "viewer", "adjudicator"]
"""What a person is in a project."""
TokenScope = Literal["read", "annotate", "import", "export", "manage", "admin"]
Pace = Literal["slow", "normal", "fast"]


class CallersOrganisation(BaseModel):
    slug: str
    name: str


class CallersProject(BaseModel):
    """A project that the caller sees, with what they may there."""

    slug: str
    name: str
    rights: list[str]


class CallersToken(BaseModel):
    """The token of this request."""

    id: UUID
    name: str
    scopes: list[TokenScope]
    pace: Pace
    expires_at: datetime | None
    is_limited: bool


class Caller(BaseModel):
    """The person or service account as whom the request acts."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    name: str
    """What annotations of theirs are signed with."""
    role: Role
    is_service_account: bool
    organisation: CallersOrganisation
    rights: list[str]
    """Those that hold in the organisation or in all its projects."""
    projects: list[CallersProject]
    token: CallersToken | None
    """Null for a session. A token may use of the rights what its scopes name."""


class Member(BaseModel):
    """A member or a service account of the organisation."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    name: str
    """The annotator name, which annotations are signed with."""
    person: str
    email: str
    """Empty for a service account."""
    role: Role
    is_active: bool
    member_since: datetime
    ended_at: datetime | None
    ended_by: str
    ended_because: str


class ChangedMember(Member):
    released: int
    """How many held tasks went back to the queue with the change."""


class Members(BaseModel):
    next: str | None
    previous: str | None
    results: list[Member]


class Token(BaseModel):
    """An API token. `text` is what programs send: it is there in the answer to making it, and never again."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    id: UUID
    name: str
    acts_as: str
    """An annotator name."""
    scopes: list[TokenScope]
    projects: list[str] | None
    """Those that it is limited to; null for all that its member sees."""
    pace: Pace
    is_active: bool
    """Neither revoked nor expired, and neither its member nor who made it has lost the right to it."""
    made_by: str
    made_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    """Exact to a minute."""
    revoked_at: datetime | None
    text: str | None


class Tokens(BaseModel):
    next: str | None
    previous: str | None
    results: list[Token]


class ProjectPerson(BaseModel):
    """Somebody of a project. `role` is what they are there, in words; `place` is their own place in it, null where
    their role in the organisation brings them there, or where they left. `median_seconds` is at work on a task, or from
    claim to submission where no page gave a sign of work; `elapsed_seconds` is always from claim to submission.
    `agreement` is with all others by the newest report. While `paused_at` is set they are given nothing new;
    `annotation_limit` and `annotation_share` are what a manager limits them to, null for no limit."""

    name: str
    role: str
    place: ProjectRole | None
    may_export: bool
    left_at: datetime | None
    last_seen_at: datetime | None
    done: int
    done_this_week: int
    held: int
    median_seconds: int | None
    elapsed_seconds: int | None
    agreement: float | None
    agreement_pairs: int | None
    paused_at: datetime | None
    pause_reason: str
    annotation_limit: int | None
    annotation_share: float | None


class ProjectPeople(BaseModel):
    """`left` were taken off, or belong to the organisation no more."""

    people: list[ProjectPerson]
    left: list[ProjectPerson]


class ProjectRoleOfPerson(BaseModel):
    name: str
    role: ProjectRole
    may_export: bool


class Released(BaseModel):
    """How many held tasks went back to the queue. Their drafts are kept."""

    released: int


class ProjectInvitation(BaseModel):
    """An open invitation to a project. `email` is empty for a link for many, whose `name` is what the given names begin
    with. `link` is there in the answer to making it, and never again."""

    id: UUID
    email: str
    name: str
    places: int
    taken: int
    batch: int | None
    expires_at: datetime
    link: str | None


class ProjectInvitations(BaseModel):
    results: list[ProjectInvitation]
