"""`migrate` as the owner of the tables, followed by the grants of the two other roles."""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from psycopg import sql

from tenancy.constraints import TenantPolicy


class Command(migrate.Command):
    """Django's own command, on a connection of the owner role; the web role may not change the schema."""

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        before = dict(connection.settings_dict)
        if not settings.DATABASE_OWNER:
            raise CommandError(
                "DATABASE_OWNER_URL is not set: migrate needs the role that owns the tables. "
                "See `manage.py provision_database`."
            )
        connection.close()
        connection.settings_dict.update({**settings.DATABASE_OWNER, "NAME": before["NAME"], "MIGRATING": True})
        try:
            super().handle(*args, **options)
            with connection.cursor() as cursor:
                cursor.execute(_grants(web=settings.DATABASE_APP_ROLE, platform=settings.DATABASE_PLATFORM_ROLE))
        finally:
            connection.close()
            connection.settings_dict.clear()
            connection.settings_dict.update(before)


def _grants(*, web: str, platform: str) -> sql.Composed:
    """Rows for both roles, the schema for neither; what is append-only loses UPDATE and DELETE again.

    The platform's own trail is written through unscoped() alone, and read by nobody but the owner.
    """
    names = {"web": sql.Identifier(web), "platform": sql.Identifier(platform)}
    both = sql.SQL("{web}, {platform}").format(**names)
    statements = [
        sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(both),
        sql.SQL("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {}").format(both),
        sql.SQL("REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM {}").format(both),
    ]
    for table in append_only_tables():
        statements.append(sql.SQL("REVOKE UPDATE, DELETE ON {} FROM {}").format(sql.Identifier(table), both))
    for table in platform_tables():
        statements.append(sql.SQL("REVOKE ALL ON {} FROM {}").format(sql.Identifier(table), both))
        statements.append(sql.SQL("GRANT INSERT ON {} TO {}").format(sql.Identifier(table), names["platform"]))
    return sql.SQL("; ").join(statements)


def append_only_tables() -> list[str]:
    """Tables whose rows no role of the running site may change."""
    return [
        model._meta.db_table
        for model in apps.get_models()
        if any(isinstance(c, TenantPolicy) and c.append_only for c in model._meta.constraints)
    ]


def platform_tables() -> list[str]:
    """Tables that are no organisation's: their model says `platform_only = True`."""
    return [model._meta.db_table for model in apps.get_models() if getattr(model, "platform_only", False)]
