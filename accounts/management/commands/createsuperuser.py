"""Refuses Django's command of this name: nobody stands above the organisations."""

from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.core.management.base import CommandError


class Command(createsuperuser.Command):
    help = "Refused: there are no superusers. add_member gives an organisation its first owner."
    requires_migrations_checks = False
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        raise CommandError(
            "Potato has no superusers: people have roles in organisations. Make the first owner with: "
            "manage.py add_member ORGANISATION USERNAME --email ADDRESS --role owner"
        )
