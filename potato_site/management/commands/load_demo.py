"""Loads the demo organisation. Repeating it changes nothing."""

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

PASSWORD = "potato-demo"  # noqa: S105  (a demo on this machine, which production refuses)
PEOPLE = (
    ("owner", Role.OWNER, "owner_01"),
    ("admin", Role.ADMIN, "admin_01"),
    ("manager", Role.MANAGER, "manager_01"),
    ("annotator", Role.ANNOTATOR, "reviewer_01"),
    ("annotator2", Role.ANNOTATOR, "reviewer_02"),
)
CONFIGURATION = Path(__file__).resolve().parent.parent.parent / "demo" / "code-review.yaml"


class Command(BaseCommand):
    help = "Load a demo organisation with people and a published project, and print the logins."

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("The demo's passwords are known to everybody: it is not loaded in production.")
        with transaction.atomic():
            self._load()
        for username, role, _ in PEOPLE:
            self.stdout.write(f"  {username:<12}{PASSWORD:<14}{role.label}")

    def _load(self) -> None:
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
