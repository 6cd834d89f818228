"""Questions to PostgreSQL's catalogue about isolation. Each answers with one sentence for every gap that it finds."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import connection

Holes = list[str]

READ = "(organisation_id = ANY (( SELECT app_organisations() AS app_organisations)::uuid[]))"
READ_OR_NONE = "(organisation_id = ANY (( SELECT app_organisations_or_none() AS app_organisations_or_none)::uuid[]))"
WRITE = "(organisation_id = ( SELECT app_organisation() AS app_organisation))"
OWN = (
    "(({column} = (NULLIF(current_setting('app.user'::text, true), ''::text))::uuid)"
    " AND (COALESCE(current_setting('app.organisation'::text, true), ''::text) = ''::text))"
)

# A policy as the catalogue holds it: the command (r, a, w and d are SELECT, INSERT, UPDATE and DELETE, * is all),
# which rows may be touched, and which may be the result.
Policy = tuple[str, str | None, str | None]

DEFINERS = {
    "accounts_organisations_with_expired_keys()": "the sweep learns where idempotency keys are old: ids, and no more",
    "assignments_organisations_with_ended_leases()": "the sweep learns where leases ended: ids, and nothing else",
    "assignments_organisations_with_ended_reservations()": "the sweep learns where reservations are over: ids alone",
    "dashboard_organisations_to_walk()": "the sweep learns where tallies are to be looked over: ids, and nothing else",
    "rewards_organisations_with_old_statistics()": "the sweep learns where figures are old: ids, and nothing else",
    "agreement_agreementschedule_organisations_due(timestamp with time zone)": "the beat learns where one is due: ids",
    "exports_exportschedule_organisations_due(timestamp with time zone)": "the beat learns where one is due: ids",
    "exports_organisations_with_expired_files()": "the sweep learns where files are past their time: ids, and no more",
    "leaving_organisations_with_old_copies()": "the sweep learns where copies are past their time: ids, and no more",
    "leaving_organisations_with_something_over()": "the sweep learns where something is kept too long: ids, no more",
    "webhooks_organisations_with_due_deliveries()": "the sweep learns where something is to be sent: ids, and no more",
    "webhooks_organisations_with_expired_deliveries()": "the sweep learns where deliveries are old: ids, and no more",
    "traces_remove(uuid[])": "the undo of an import: traces that nothing refers to any more; a number",
    "traces_with_words(text[],uuid[],text,integer)": "which traces of the active organisation have words: ids alone",
    "traces_analyze()": "PostgreSQL counts the rows of four tables anew; answers nothing",
    "jobs_waiting_organisations(text[],text[],text[])": "a worker learns whose turn it is: ids, numbers and times",
    "jobs_take_turn(text[],text[],text[],integer,text,integer,integer,interval,text)": "whose turn it is: ids, no more",
    "jobs_turn_is_awaited(text[],text[],text[],integer,interval,uuid,boolean)": "whether another job waits: yes or no",
    "jobs_queues_with_work(interval)": "in which queues work waits: their names, and numbers",
    "jobs_organisations_with_work()": "the sweep learns which organisations have work: ids, and nothing else",
}


def rows(question: str, parameters: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(question, parameters)
        return list(cursor.fetchall())


def tenant_tables() -> list[str]:
    """Every table, partition and partitioned table with a column `organisation_id`, whatever made it."""
    return [
        name
        for (name,) in rows(
            "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
            " WHERE c.relkind IN ('r', 'p') AND c.relnamespace::regnamespace::text !~ '^(pg_|information_schema$)'"
            " AND a.attname = 'organisation_id' AND NOT a.attisdropped ORDER BY 1"
        )
    ]


def organisation_may_be_missing() -> Holes:
    return [
        f"{table}.organisation_id takes NULL, and such a row is nobody's"
        for (table,) in rows(
            "SELECT attrelid::regclass::text FROM pg_attribute WHERE attname = 'organisation_id' AND NOT attnotnull"
            " AND attrelid::regclass::text = ANY (%(tables)s)",
            {"tables": tenant_tables()},
        )
    ]


def unforced_tables() -> Holes:
    found = rows(
        "SELECT oid::regclass::text, relrowsecurity, relforcerowsecurity FROM pg_class"
        " WHERE oid::regclass::text = ANY (%(tables)s) ORDER BY 1",
        {"tables": tenant_tables()},
    )
    return [f"{table} has no row-level security" for table, enabled, _ in found if not enabled] + [
        f"{table} does not force row-level security on its owner" for table, _, forced in found if not forced
    ]


def wrong_policies(expected: Mapping[str, frozenset[Policy]]) -> Holes:
    """Tables whose policies, read back from the catalogue, are not exactly the expected ones, for every role."""
    found: dict[str, set[Policy]] = {table: set() for table in tenant_tables()}
    holes = []
    for table, name, command, permissive, everyone, read, write in rows(
        "SELECT polrelid::regclass::text, polname, polcmd, polpermissive, polroles = '{0}', pg_get_expr(polqual,"
        " polrelid), pg_get_expr(polwithcheck, polrelid) FROM pg_policy ORDER BY 1, 2"
    ):
        found.setdefault(table, set()).add((command, read, write))
        if not permissive or not everyone:
            holes.append(f"the policy {name} of {table} is not for everybody")
    for table, policies in sorted(found.items()):
        wanted = expected.get(table, frozenset())
        holes += [f"{table} has the policy {policy}, which nobody asked for" for policy in policies - wanted]
        holes += [f"{table} lacks the policy {policy}" for policy in wanted - policies]
    return holes


def excessive_grants(append_only: set[str]) -> Holes:
    """What the running site's two roles may do to tenant tables beyond reading and writing rows. The platform's removes
    what is only added, and what names a person there, where a trigger lets it."""
    holes = []
    for role in (settings.DATABASE_APP_ROLE, settings.DATABASE_PLATFORM_ROLE):
        for table in tenant_tables():
            is_web = role == settings.DATABASE_APP_ROLE
            forbidden = ["TRUNCATE", "REFERENCES", "TRIGGER"] + ["UPDATE"] * (table in append_only)
            forbidden += ["DELETE"] * (table in append_only and is_web)
            for privilege in forbidden:
                if rows(
                    "SELECT 1 WHERE has_table_privilege(%(role)s, %(table)s, %(privilege)s)",
                    {"role": role, "table": table, "privilege": privilege},
                ):
                    holes.append(f"{role} may {privilege} {table}")
            if (
                is_web
                and table in append_only
                and rows(
                    "SELECT 1 WHERE has_any_column_privilege(%(role)s, %(table)s, 'UPDATE')",
                    {"role": role, "table": table},
                )
            ):
                holes.append(f"{role} may UPDATE a column of {table}")
    return holes


def unguarded_tables(append_only: set[str]) -> Holes:
    """Tables whose rows are only added, and from which the platform role could remove some without saying so."""
    guarded = {
        name
        for (name,) in rows(
            "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'app_refuse_removal'"
            # Before, for each statement, on DELETE and UPDATE; and not switched off.
            " AND tgtype = 26 AND tgenabled = 'O'"
        )
    }
    return sorted(append_only - guarded)


def platform_changes() -> set[str]:
    """Columns of rows that are only added, which the platform role may change: they may name a person."""
    return {
        f"{table}.{column}"
        for table, column in rows(
            "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
            " WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0"
            " AND NOT a.attisdropped AND NOT has_table_privilege(%(role)s, c.oid, 'UPDATE')"
            " AND has_column_privilege(%(role)s, c.oid, a.attnum, 'UPDATE')",
            {"role": settings.DATABASE_PLATFORM_ROLE},
        )
    }


def roles_that_pass(role: str) -> Holes:
    """Why that role would not be held by row-level security, or could change the schema."""
    ((superuser, bypass, inherits, makes_roles, makes_databases, owns),) = rows(
        "SELECT rolsuper, rolbypassrls, rolinherit, rolcreaterole, rolcreatedb,"
        " EXISTS (SELECT FROM pg_class c WHERE c.relowner = r.oid)"
        " OR EXISTS (SELECT FROM pg_database d WHERE d.datdba = r.oid)"
        " OR EXISTS (SELECT FROM pg_proc f WHERE f.proowner = r.oid)"
        " FROM pg_roles r WHERE rolname = %(role)s",
        {"role": role},
    )
    facts = {
        "is a superuser": superuser,
        "bypasses row-level security": bypass,
        "inherits the rights of roles it belongs to": inherits,
        "may make roles": makes_roles,
        "may make databases": makes_databases,
        "owns tables, functions or a database": owns,
        "may make tables": rows(
            "SELECT 1 WHERE has_schema_privilege(%(role)s, 'public', 'CREATE')"
            " OR has_database_privilege(%(role)s, current_database(), 'CREATE')",
            {"role": role},
        ),
    }
    holes = [f"{role} {fact}" for fact, holds in facts.items() if holds]
    holes += [
        f"{role} uses the rights of {other} without saying so"
        for (other,) in rows(
            "SELECT rolname FROM pg_roles WHERE pg_has_role(%(role)s, oid, 'USAGE') AND rolname <> %(role)s",
            {"role": role},
        )
    ]
    holes += [
        f"{role} may become {other}"
        for (other,) in rows(
            "SELECT rolname FROM pg_roles WHERE pg_has_role(%(role)s, oid, 'MEMBER')"
            " AND rolname NOT IN (%(role)s, %(platform)s)",
            {"role": role, "platform": settings.DATABASE_PLATFORM_ROLE},
        )
    ]
    return holes


def leaking_views() -> Holes:
    """Views read their tables with the rights of the view's owner unless they say otherwise."""
    return [
        f"the view {name} reads with its owner's rights: make it WITH (security_invoker = true)"
        for (name,) in rows(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'v'"
            " AND relnamespace::regnamespace::text !~ '^(pg_|information_schema$)'"
            " AND NOT coalesce(reloptions, '{}') && '{security_invoker=true,security_invoker=on,security_invoker=1}'"
            " ORDER BY 1"
        )
    ] + [
        f"{name} is a materialised view or foreign table, which row-level security cannot hold"
        for (name,) in rows(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind IN ('m', 'f')"
            " AND relnamespace::regnamespace::text !~ '^(pg_|information_schema$)' ORDER BY 1"
        )
    ]


def leaking_functions() -> Holes:
    holes = []
    for name, definer, path, leakproof in rows(
        "SELECT oid::regprocedure::text, prosecdef,"
        " coalesce((SELECT c FROM unnest(proconfig) c WHERE c LIKE 'search_path=%%'), ''), proleakproof"
        " FROM pg_proc WHERE pronamespace::regnamespace::text !~ '^(pg_|information_schema$)' ORDER BY 1",
        {},
    ):
        if definer and name not in DEFINERS:
            holes.append(f"{name} runs with its owner's rights and is not allow-listed")
        if definer and not path.endswith("pg_temp"):
            holes.append(f"{name} runs with its owner's rights and takes tables from its caller's search_path")
        if leakproof:
            holes.append(f"{name} is LEAKPROOF, which tells rows through error messages")
    return holes


def loose_foreign_keys() -> Holes:
    """Foreign keys between tenant tables without a composite one (organisation_id, column) beside them."""
    found = rows(
        "SELECT f.conrelid::regclass::text, f.confrelid::regclass::text, f.conname,"
        " (SELECT array_agg(a.attname::text ORDER BY k.place) FROM unnest(f.conkey) WITH ORDINALITY k(number, place)"
        "  JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.number),"
        " (SELECT array_agg(a.attname::text ORDER BY k.place) FROM unnest(f.confkey) WITH ORDINALITY k(number, place)"
        "  JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.number)"
        " FROM pg_constraint f WHERE f.contype = 'f' AND f.conrelid::regclass::text = ANY (%(tables)s)"
        " AND f.confrelid::regclass::text = ANY (%(tables)s) ORDER BY 1, 3",
        {"tables": tenant_tables()},
    )
    bound = {
        (source, target, column)
        for source, target, _, columns, referenced in found
        if columns[0] == referenced[0] == "organisation_id"
        for column in columns[1:]
    }
    return [
        f"{source}.{column} ({name}) can point into another organisation"
        for source, target, name, columns, _ in found
        for column in columns
        if column != "organisation_id" and (source, target, column) not in bound
    ]


def loose_indexes() -> Holes:
    """Indexes and unique keys of tenant tables that do not begin with the organisation.

    Allowed are primary keys, which are unguessable and every foreign key's target, and the index under a foreign
    key to a person: people are global, and PostgreSQL looks for a person's rows in all organisations.
    """
    return [
        f"{index} of {table} does not begin with organisation_id"
        for table, index in rows(
            "SELECT x.indrelid::regclass::text, x.indexrelid::regclass::text FROM pg_index x"
            " LEFT JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[0]"
            " WHERE x.indrelid::regclass::text = ANY (%(tables)s) AND a.attname IS DISTINCT FROM 'organisation_id'"
            " AND NOT x.indisprimary"
            " AND NOT (NOT x.indisunique AND EXISTS (SELECT FROM pg_constraint f WHERE f.contype = 'f'"
            "   AND f.conrelid = x.indrelid AND f.conkey = ARRAY[x.indkey[0]] AND x.indnkeyatts = 1"
            "   AND f.confrelid = 'accounts_user'::regclass))"
            " ORDER BY 1, 2",
            {"tables": tenant_tables()},
        )
    ]
