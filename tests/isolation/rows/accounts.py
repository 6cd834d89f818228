"""What makes a row of each tenant table of accounts."""

import hashlib
from datetime import timedelta

from django.utils import timezone

from accounts.invitation_links import InvitationToken
from accounts.models import (
    ApiToken,
    AuditEvent,
    ConfigurationVersion,
    IdempotencyKey,
    Invitation,
    InvitationProject,
    Membership,
    Project,
    ProjectMember,
    TokenProject,
    User,
)
from potato.configuration import check_configuration
from tests.isolation.rows.fixtures import Factories, Fixtures

CONFIGURATION = """task_name: {mark}
annotation_schemes:
  - annotation_type: code_review_verdict
    name: verdict
    description: Is the change of {mark} good?
"""


def _membership(fixtures: Fixtures) -> Membership:
    user = User.objects.create_user(fixtures.mark, email=f"{fixtures.mark}@example.org", name=fixtures.mark)
    return Membership.objects.create(user=user, annotator_name=fixtures.mark)


def token_of(fixtures: Fixtures) -> InvitationToken:
    """What stands in the link of the fixtures's invitation."""
    return InvitationToken(fixtures.organisation.pk, "s" * 32)


def _invitation(fixtures: Fixtures) -> Invitation:
    return Invitation.objects.create(
        email=f"invited-{fixtures.mark}@example.org",
        annotator_name=f"invited-{fixtures.mark}",
        secret_sha256=token_of(fixtures).digest,
        created_by=fixtures.person,
        expires_at=timezone.now() + timedelta(days=7),
    )


def _project(fixtures: Fixtures) -> Project:
    return Project.objects.create(
        slug=fixtures.mark, name=fixtures.mark, draft=CONFIGURATION.format(mark=fixtures.mark)
    )


def _version(fixtures: Fixtures) -> ConfigurationVersion:
    checked = check_configuration(CONFIGURATION.format(mark=fixtures.mark))
    assert checked.configuration is not None, checked.problems
    return ConfigurationVersion.objects.create(
        project=fixtures.rows["accounts.Project"],
        number=1,
        source=CONFIGURATION.format(mark=fixtures.mark),
        configuration=checked.configuration.model_dump(mode="json"),
        note=fixtures.mark,
        published_by=fixtures.person,
    )


def _audit_event(fixtures: Fixtures) -> AuditEvent:
    return AuditEvent.objects.create(verb="project.created", target_label=fixtures.mark, detail={"mark": fixtures.mark})


def _api_token(fixtures: Fixtures) -> ApiToken:
    return ApiToken.objects.create(
        name=fixtures.mark,
        membership=fixtures.rows["accounts.Membership"],
        prefix="0" * 12,
        secret_sha256="0" * 64,
        created_by=fixtures.person,
    )


def _project_member(fixtures: Fixtures) -> ProjectMember:
    return ProjectMember.objects.create(
        project=fixtures.rows["accounts.Project"],
        membership=fixtures.rows["accounts.Membership"],
        added_by=fixtures.person,
    )


def _invitation_project(fixtures: Fixtures) -> InvitationProject:
    return InvitationProject.objects.create(
        invitation=fixtures.rows["accounts.Invitation"], project=fixtures.rows["accounts.Project"]
    )


def _token_project(fixtures: Fixtures) -> TokenProject:
    return TokenProject.objects.create(
        token=fixtures.rows["accounts.ApiToken"], project=fixtures.rows["accounts.Project"]
    )


def _idempotency_key(fixtures: Fixtures) -> IdempotencyKey:
    return IdempotencyKey.objects.create(
        digest=hashlib.sha256(fixtures.mark.encode()).hexdigest(),
        request_sha256="0" * 64,
        location=f"/api/v1/{fixtures.mark}/",
    )


FACTORIES: Factories = {
    "accounts.Membership": _membership,
    "accounts.Invitation": _invitation,
    "accounts.Project": _project,
    "accounts.ConfigurationVersion": _version,
    "accounts.AuditEvent": _audit_event,
    "accounts.ApiToken": _api_token,
    "accounts.ProjectMember": _project_member,
    "accounts.InvitationProject": _invitation_project,
    "accounts.TokenProject": _token_project,
    "accounts.IdempotencyKey": _idempotency_key,
}
