"""Loads the demo organisation with its project and traces. Repeating it changes nothing."""

import hashlib
from pathlib import Path
from typing import Any

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
CONFIGURATION = DEMO / "code-review.yaml"
# In the order in which a newcomer meets them.
TRACES = (
    "coding-traces.jsonl",
    "structured-turns.jsonl",
    "claude-code-session.jsonl",
    "close-response-bodies.patch",
)


class Command(BaseCommand):
    help = "Load a demo organisation with people, a published project and traces, and print the logins."

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("The demo's passwords are known to everybody: it is not loaded in production.")
        with transaction.atomic():
            organisation, project = self._load()
        for name in TRACES:
            self._import(organisation, project, DEMO / "traces" / name)
        for username, role, _ in PEOPLE:
            self.stdout.write(f"  {username:<12}{PASSWORD:<14}{role.label}")

    def _import(self, organisation: Organisation, project: Project, path: Path) -> None:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        with acting_in(organisation):
            if Trace.objects.filter(project=project, file__sha256=digest).exists():
                return
        import_now(organisation=organisation, project=project, path=path)

    def _load(self) -> tuple[Organisation, Project]:
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
            project = Project.objects.filter(slug="agent-code-review").first()
            if project is None:
                project = create_project(slug="agent-code-review", name="Coding Agent Code Review")
                publish_configuration(
                    project=project, source=CONFIGURATION.read_text(encoding="utf-8"), where="command"
                )
        return organisation, project
