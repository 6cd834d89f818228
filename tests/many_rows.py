"""Many rows of a kind at once: copies of the one row that an organisation has of a table."""

from django.db import DatabaseError, connection, transaction

from tests.isolation.rows.fixtures import Fixtures

# Tables whose one row of the fixtures is there so often, with what must differ between rows.
COPIED: dict[str, dict[str, str]] = {
    "jobs_job": {},
    "accounts_auditevent": {},
    "exports_export": {},
    "exports_exportschedule": {},
    "traces_importedfile": {},
    "traces_importproblem": {"number": "n"},
    "traces_importedmember": {"number": "n"},
    "traces_repository": {"sha256": "sha"},
    "webhooks_delivery": {"event": "uuid"},
    "agreement_agreementreport": {"computed_at": "time"},
    "agreement_agreementschedule": {},
    "agreement_sourcereport": {},
    "agreement_source": {"version": "text"},
    "assignments_note": {},
    "assignments_question": {},
    "assignments_standingrule": {"number": "n"},
    "assignments_suggestion": {"model_version": "text"},
    "assignments_decision": {"submission": "submission", "correction": "submission", "number": "next"},
    "adjudication_adjudication": {"submission": "each submission"},
    "gold_goldscore": {"submission": "each submission"},
    "jobs_schedulerun": {"fire_time": "time"},
    "accounts_apitoken": {"prefix": "prefix"},
    "accounts_invitation": {"email": "text", "annotator_name": "text", "secret_sha256": "sha"},
}
_VARIED = {
    "uuid": "gen_random_uuid()",
    "n": "n + 1",
    "text": "{column} || n",
    "time": "{column} + n * interval '1 second'",
    "prefix": "lpad(to_hex(n), 12, '0')",
    "sha": "encode(sha256(n::text::bytea), 'hex')",
    # Of a tenth of the submissions there are ten each.
    "submission": "ids[1 + n % greatest(1, cardinality(ids) / 10)]",
    "next": "2 + n / greatest(1, cardinality(ids) / 10)",
    "each submission": "ids[n]",
}


def copy_rows(table: str, rows: int, fixtures: Fixtures) -> str:
    """So many copies of the organisation's row; what could not be copied is said."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
            " AND attgenerated = ''",
            [table],
        )
        columns = [name for (name,) in cursor.fetchall()]
    values = {name: f'own."{name}"' for name in columns}
    values["id"] = "('0190' || lpad(to_hex(n), 8, '0') || '70008000000000000000')::varchar(32)::uuid"
    for name, how in COPIED[table].items():
        column = f"{name}_id" if f"{name}_id" in values else name
        values[column] = _VARIED[how].format(column=f'own."{column}"')
    listed = ", ".join(f'"{name}"' for name in columns)
    organisation, project = fixtures.organisation.pk, fixtures.rows["accounts.Project"].pk
    statement = (
        f"INSERT INTO {table} ({listed}) SELECT {', '.join(values[name] for name in columns)} FROM"  # noqa: S608
        f" (SELECT * FROM {table} WHERE organisation_id = '{organisation}' ORDER BY id LIMIT 1) own,"
        f" (SELECT array_agg(id ORDER BY id DESC) ids FROM assignments_submission"
        f" WHERE organisation_id = '{organisation}' AND project_id = '{project}') of_project,"
        f" generate_series(1, {rows}) n"
    )
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    except DatabaseError as error:
        return str(error).splitlines()[0]
    return ""
