"""Loads the demo organisation with its projects and traces. Repeating it changes nothing."""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts.actions.organisations import add_member, create_organisation
from accounts.actions.projects import create_project, publish_configuration
from accounts.models import Membership, Organisation, Project, User
from tenancy.actor import acting_in
from tenancy.roles import Role
from traces.actions import import_now
from traces.models import Trace

PASSWORD = "potato-demo"  # noqa: S105  (a demo on this machine, which production refuses)
PEOPLE = (
    ("owner", Role.OWNER, "owner_01"),
    ("admin", Role.ADMIN, "admin_01"),
    ("manager", Role.MANAGER, "manager_01"),
    ("annotator", Role.ANNOTATOR, "reviewer_01"),
    ("annotator2", Role.ANNOTATOR, "reviewer_02"),
)
DEMO = Path(__file__).resolve().parent.parent.parent / "demo"


class DemoProject(NamedTuple):
    """A project by its slug: its name, its configuration, and the files of its traces, both below the demo's folder."""

    slug: str
    name: str
    configuration: str
    traces: tuple[str, ...]


# In the order in which a newcomer meets them.
PROJECTS = (
    DemoProject(
        "agent-code-review",
        "Coding Agent Code Review",
        "code-review.yaml",
        (
            "traces/coding-traces.jsonl",
            "traces/structured-turns.jsonl",
            "traces/claude-code-session.jsonl",
            "traces/close-response-bodies.patch",
        ),
    ),
    DemoProject(
        "process-rewards",
        "Process Rewards, Per Step",
        "process-rewards.yaml",
        ("process-rewards/agent-runs.jsonl",),
    ),
    DemoProject(
        "first-errors",
        "Process Rewards, First Error",
        "first-errors.yaml",
        ("process-rewards/agent-runs.jsonl",),
    ),
    DemoProject("web-agents", "Web Agents, Per Step", "web-agents.yaml", ("web-agent/lamp-shop.jsonl",)),
)


class Command(BaseCommand):
    help = "Load a demo organisation with people, published projects and traces, and print the logins."

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("The demo's passwords are known to everybody: it is not loaded in production.")
        with transaction.atomic():
            organisation = self._load()
            projects = {one: self._project(organisation, one) for one in PROJECTS}
        for one, project in projects.items():
            for name in one.traces:
                self._import(organisation, project, DEMO / name)
        for username, role, _ in PEOPLE:
            self.stdout.write(f"  {username:<12}{PASSWORD:<14}{role.label}")

    def _import(self, organisation: Organisation, project: Project, path: Path) -> None:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        with acting_in(organisation):
            if Trace.objects.filter(project=project, file__sha256=digest).exists():
                return
        import_now(organisation=organisation, project=project, path=path)

    def _load(self) -> Organisation:
        organisation = Organisation.objects.filter(slug="demo").first()
        if organisation is None:
            organisation = create_organisation(slug="demo", name="Demo Research")
        with acting_in(organisation):
            for username, role, annotator_name in PEOPLE:
                user = User.objects.filter(username=username).first()
                if user is None:
                    email = f"{username}@demo.invalid"
                    user = User.objects.create_user(username, email=email, name=annotator_name, password=PASSWORD)
                if not Membership.objects.filter(user=user).exists():
                    add_member(user=user, role=role, annotator_name=annotator_name)
        return organisation

    def _project(self, organisation: Organisation, one: DemoProject) -> Project:
        with acting_in(organisation):
            project = Project.objects.filter(slug=one.slug).first()
            if project is None:
                project = create_project(slug=one.slug, name=one.name)
                source = (DEMO / one.configuration).read_text(encoding="utf-8")
                publish_configuration(project=project, source=source, where="command")
        return project
