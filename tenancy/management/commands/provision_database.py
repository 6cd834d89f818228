"""Make the production database and its roles, as the server's administrator, before the first `migrate`."""

import os
from typing import Any

import psycopg
from django.core.management.base import BaseCommand, CommandError
from psycopg import conninfo

from tenancy.provision import PLATFORM_ROLE, ProvisionError, provision


class Command(BaseCommand):
    help = (
        "Creates the database and the application's, the owner's and the platform's roles where they are "
        "missing, and sets the passwords of the addresses. Repeatable. Reads DATABASE_ADMIN_URL (a "
        "superuser), DATABASE_URL (the application), DATABASE_OWNER_URL (who migrates) and "
        "DATABASE_PLATFORM_ROLE (potato_platform unless set)."
    )
    # There may be no database yet that a check could ask.
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        app = _address("DATABASE_URL", "the application's role, with its password and the database")
        owner = _address("DATABASE_OWNER_URL", "the role that owns the database and migrates it")
        _address("DATABASE_ADMIN_URL", "an administrator of the server, used by this command alone")
        if owner["dbname"] != app["dbname"]:
            raise CommandError(
                f"DATABASE_URL names the database {app['dbname']} and DATABASE_OWNER_URL {owner['dbname']}; "
                "they have to name the same one."
            )
        try:
            done = provision(
                _read("DATABASE_ADMIN_URL"),
                database=app["dbname"],
                app_role=app["user"],
                owner_role=owner["user"],
                platform_role=os.environ.get("DATABASE_PLATFORM_ROLE") or PLATFORM_ROLE,
                app_password=app.get("password"),
                owner_password=owner.get("password"),
                development=False,
            )
        except (ProvisionError, psycopg.Error) as error:
            raise CommandError(f"The database is not provisioned: {str(error).strip()}") from error
        for sentence in done or ["nothing was missing"]:
            self.stdout.write(sentence)


def _read(name: str) -> str:
    """The variable, or the content of the file that NAME_FILE names, like the settings read it."""
    path = os.environ.get(f"{name}_FILE")
    if path:
        with open(path) as file:
            return file.read().strip()
    return os.environ.get(name, "").strip()


def _address(name: str, meaning: str) -> dict[str, str]:
    url = _read(name)
    if not url:
        raise CommandError(f"{name} (or {name}_FILE) is not set: the address of {meaning}.")
    try:
        parts = {key: str(value) for key, value in conninfo.conninfo_to_dict(url).items()}
    except psycopg.ProgrammingError as error:
        raise CommandError(
            f"{name} is not an address PostgreSQL understands: {str(error).strip()}. "
            "It looks like postgresql://user:password@host:5432/potato"
        ) from error
    for part, word in (("user", "role"), ("dbname", "database")):
        if part not in parts:
            raise CommandError(f"{name} names no {word}. It looks like postgresql://user:password@host:5432/potato")
    return parts
