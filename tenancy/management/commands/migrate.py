"""`migrate` as the owner of the tables, followed by the grants of the two other roles."""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
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
            self._grant(connection, plan_only=options["plan"])
        finally:
            connection.close()
            connection.settings_dict.clear()
            connection.settings_dict.update(before)

    def _grant(self, connection: BaseDatabaseWrapper, *, plan_only: bool) -> None:
        if plan_only:
            return
        with connection.cursor() as cursor:
            cursor.execute(
                _grants(
                    web=settings.DATABASE_APP_ROLE,
                    platform=settings.DATABASE_PLATFORM_ROLE,
                    existing=set(connection.introspection.table_names(cursor)),
                )
            )


def _grants(*, web: str, platform: str, existing: set[str]) -> sql.Composed:
    """Rows for both roles, the schema for neither; what is append-only loses UPDATE and DELETE again.

    The platform's own trail is written through unscoped() alone, and read by nobody but the owner. `existing` are
    the tables that are there: migrating to an earlier state leaves some models without one.
    """
    names = {"web": sql.Identifier(web), "platform": sql.Identifier(platform)}
    both = sql.SQL("{web}, {platform}").format(**names)
    statements = [
        sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(both),
        sql.SQL("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {}").format(both),
        sql.SQL("REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM {}").format(both),
    ]
    for table in existing.intersection(append_only_tables()):
        statements.append(sql.SQL("REVOKE UPDATE, DELETE ON {} FROM {}").format(sql.Identifier(table), both))
    for table in existing.intersection(platform_tables()):
        statements.append(sql.SQL("REVOKE ALL ON {} FROM {}").format(sql.Identifier(table), both))
        statements.append(sql.SQL("GRANT INSERT ON {} TO {}").format(sql.Identifier(table), names["platform"]))
    return sql.SQL("; ").join(statements)


def append_only_tables() -> list[str]:
    """Tables whose rows no role of the running site may change: by their policy, or as `insert_only = True` says."""
    return [
        model._meta.db_table
        for model in apps.get_models()
        if getattr(model, "insert_only", False)
        or any(isinstance(c, TenantPolicy) and c.append_only for c in model._meta.constraints)
    ]


def platform_tables() -> list[str]:
    """Tables that are no organisation's: their model says `platform_only = True`."""
    return [model._meta.db_table for model in apps.get_models() if getattr(model, "platform_only", False)]
