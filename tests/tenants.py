"""The people of the stories: alice owns Acme and bob annotates there; charlie owns Birch and is a stranger in Acme."""

from dataclasses import dataclass

from accounts.models import Membership, Organisation, Project, User
from tenancy.actor import acting_in
from tenancy.roles import Role

PASSWORD = "correct horse battery staple"


@dataclass(frozen=True)
class Tenants:
    acme: Organisation
    birch: Organisation
    alice: User
    bob: User
    charlie: User
    dora: User
    """An admin of Acme."""
    mallory: User
    """A project manager of Acme, and an annotator of Birch."""
    acme_project: Project
    birch_project: Project


def build_tenants() -> Tenants:
    alice, bob, charlie, dora, mallory = (
        User.objects.create_user(name, email=f"{name}@example.org", name=name.title(), password=PASSWORD)
        for name in ("alice", "bob", "charlie", "dora", "mallory")
    )
    acme = Organisation.objects.create(slug="acme", name="Acme Research")
    birch = Organisation.objects.create(slug="birch", name="Birch Labs")
    acme_project = _project_of(acme, {alice: Role.OWNER, dora: Role.ADMIN, mallory: Role.MANAGER, bob: Role.ANNOTATOR})
    birch_project = _project_of(birch, {charlie: Role.OWNER, mallory: Role.ANNOTATOR})
    return Tenants(acme, birch, alice, bob, charlie, dora, mallory, acme_project, birch_project)


def _project_of(organisation: Organisation, people: dict[User, Role]) -> Project:
    with acting_in(organisation):
        for user, role in people.items():
            Membership.objects.create(user=user, role=role, annotator_name=user.username)
        return Project.objects.create(slug="parser", name=f"Parser review of {organisation.name}")
