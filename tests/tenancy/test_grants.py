"""What `migrate` leaves the running site's roles: rows, and nothing of the schema; of the trails, new rows alone."""

import os
from collections.abc import Iterator

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.isolation.catalogue import rows
from tests.tenancy.databases import connected
from tests.tenants import Tenants

REFUSED = [
    "TRUNCATE accounts_project",
    "TRUNCATE accounts_user",
    "CREATE TABLE ours (id int)",
    "CREATE VIEW ours AS SELECT 1",
    "CREATE FUNCTION ours() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE SCHEMA ours",
    "DROP TABLE jobs_job",
    "ALTER TABLE jobs_job DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE jobs_job NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE jobs_job DISABLE TRIGGER ALL",
    "DROP POLICY jobs_job_tenant ON jobs_job",
    "CREATE POLICY ours ON jobs_job USING (true)",
    "CREATE OR REPLACE FUNCTION app_organisation() RETURNS uuid LANGUAGE sql AS 'SELECT NULL::uuid'",
    "INSERT INTO django_migrations (app, name, applied) VALUES ('a', 'b', now())",
    "UPDATE django_migrations SET name = 'b'",
    "DELETE FROM django_migrations",
    "SELECT * FROM accounts_platformevent",
    "INSERT INTO accounts_platformevent (id, at, verb, reason) VALUES (gen_random_uuid(), now(), 'a', 'b')",
    "UPDATE accounts_platformevent SET reason = ''",
    "DELETE FROM accounts_platformevent",
    "UPDATE accounts_auditevent SET verb = ''",
    "DELETE FROM accounts_auditevent",
    "UPDATE accounts_configurationversion SET source = ''",
    "DELETE FROM accounts_configurationversion",
    "COPY accounts_project FROM STDIN",
    "COPY accounts_project TO PROGRAM 'cat'",
    "SET ROLE potato_owner",
    "SET SESSION AUTHORIZATION potato_owner",
    "GRANT potato_owner TO potato_app",
    "ALTER ROLE potato_app BYPASSRLS",
]


@pytest.fixture
def web_role(db: None) -> Iterator[psycopg.Connection]:
    """A connection that logged in as the web role: the tests' own logged in as the owner, and may go back to it."""
    address = make_conninfo(os.environ["DATABASE_URL"], dbname=str(connection.settings_dict["NAME"]))
    with psycopg.connect(address, autocommit=True) as found:
        yield found


@pytest.mark.parametrize("statement", REFUSED)
def test_the_web_role_is_refused(web_role: psycopg.Connection, statement: str) -> None:
    with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported)):
        web_role.execute(statement)


def test_the_web_role_cannot_switch_row_level_security_off(web_role: psycopg.Connection) -> None:
    web_role.execute("SET row_security = off")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        web_role.execute("SELECT * FROM accounts_project")


@pytest.mark.parametrize(
    "statement",
    [
        "TRUNCATE accounts_project",
        "UPDATE accounts_auditevent SET verb = ''",
        "DELETE FROM accounts_auditevent",
        "DELETE FROM accounts_configurationversion",
        "SELECT * FROM accounts_platformevent",
        "DELETE FROM accounts_platformevent",
        "DELETE FROM django_migrations",
        "CREATE TABLE ours (id int)",
        "DROP POLICY jobs_job_tenant ON jobs_job",
    ],
)
def test_the_platform_role_is_refused_too(web_role: psycopg.Connection, statement: str) -> None:
    web_role.execute("SET ROLE potato_platform")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        web_role.execute(statement)


def test_the_audit_trail_is_isolated_by_policies_and_not_by_rights_alone(tenants: Tenants) -> None:
    """With the rights given back by mistake, there is still no policy that lets a row be changed or removed."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE potato_owner")
        cursor.execute("GRANT UPDATE, DELETE ON accounts_auditevent TO potato_app")
        cursor.execute("SET LOCAL ROLE potato_app")
        cursor.execute(
            "SELECT set_config('app.organisation', %s, true), set_config('app.organisations', %s, true)",
            [str(tenants.acme.pk), f"{{{tenants.acme.pk}}}"],
        )
        cursor.execute(
            "INSERT INTO accounts_auditevent (id, organisation_id, at, person_name, verb, target_type, target_label,"
            " detail, request_id) VALUES (gen_random_uuid(), %s, now(), '', 'a.b', '', '', '{}', '')",
            [tenants.acme.pk],
        )
        cursor.execute("UPDATE accounts_auditevent SET verb = 'x.y'")
        assert cursor.rowcount == 0
        cursor.execute("DELETE FROM accounts_auditevent")
        assert cursor.rowcount == 0
        cursor.execute("SELECT verb FROM accounts_auditevent")
        assert cursor.fetchall() == [("a.b",)]


# --- The command itself, on a database of its own -----------------------------------------------------------------


@pytest.fixture
def empty_database(transactional_db: None) -> Iterator[str]:
    """A new database of the owner's, without a table."""
    name = f"{connection.settings_dict['NAME']}_empty"
    address = make_conninfo(os.environ["DATABASE_OWNER_URL"], dbname="postgres")
    with psycopg.connect(address, autocommit=True) as owner:
        owner.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
        owner.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            with connected(NAME=name):
                yield name
        finally:
            owner.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def rights(table: str) -> str:
    """The first letters of what the web role may do to it."""
    return "".join(
        privilege[0]
        for privilege in ("SELECT", "INSERT", "UPDATE", "DELETE")
        if rows(
            "SELECT 1 WHERE has_table_privilege('potato_app', %(table)s, %(right)s)",
            {"table": table, "right": privilege},
        )
    )


@pytest.mark.django_db(transaction=True)
def test_migrate_plans_and_stops_halfway_and_goes_on(empty_database: str) -> None:
    call_command("migrate", plan=True, verbosity=0)
    assert rows("SELECT 1 FROM pg_class WHERE relname = 'django_migrations'") == []
    call_command("migrate", "accounts", verbosity=0)
    assert rows("SELECT 1 FROM pg_class WHERE relname = 'jobs_job'") == []
    assert (rights("accounts_project"), rights("accounts_auditevent")) == ("SIUD", "SI")
    call_command("migrate", verbosity=0)
    assert (rights("jobs_job"), rights("accounts_platformevent"), rights("django_migrations")) == ("SIUD", "", "S")
    assert rights("webhooks_endpoint") == "SIUD"
    # Of an app that no other stands on: each migration that goes back takes half a second.
    call_command("migrate", "webhooks", "zero", verbosity=0)
    assert rows("SELECT 1 FROM pg_class WHERE relname = 'webhooks_endpoint'") == []
