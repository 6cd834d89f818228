"""The catalogue of PostgreSQL, asked whether isolation has a gap; and gaps made, to see that each is reported."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.conf import settings
from django.db import connection, models, transaction

from tenancy.checks import tenant_models
from tenancy.constraints import TenantPolicy
from tests.isolation import catalogue
from tests.isolation.catalogue import OWN, READ, READ_OR_NONE, WRITE, Policy, rows

pytestmark = pytest.mark.django_db


def policies_of_models() -> dict[str, frozenset[Policy]]:
    return {
        model._meta.db_table: frozenset(
            policy
            for constraint in model._meta.constraints
            if isinstance(constraint, TenantPolicy)
            for policy in _expected(constraint, _column(model, constraint.personal))
        )
        for model in tenant_models()
    }


def _column(model: type[models.Model], field: str) -> str:
    return str(getattr(model._meta.get_field(field), "column", "")) if field else ""


def _expected(constraint: TenantPolicy, personal_column: str) -> Iterator[Policy]:
    yield "r", READ_OR_NONE if personal_column else READ, None
    yield "a", None, WRITE
    if not constraint.append_only:
        yield "w", WRITE, WRITE
        yield "d", WRITE, None
    if personal_column:
        yield "r", OWN.format(column=personal_column), None


def append_only_tables() -> set[str]:
    return {table for table, policies in policies_of_models().items() if "d" not in {p[0] for p in policies}}


@contextmanager
def made_by_the_owner(statements: str) -> Iterator[None]:
    """What the statements make is there inside the block, and gone after it."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL ROLE {connection.ops.quote_name(settings.DATABASE_OWNER['USER'])}")
            cursor.execute(statements)
            cursor.execute(f"SET LOCAL ROLE {connection.ops.quote_name(settings.DATABASE_APP_ROLE)}")
        yield
        transaction.set_rollback(True)


def test_the_tests_themselves_run_as_the_web_role() -> None:
    assert rows("SELECT current_user") == [("potato_app",)]


def test_the_tables_with_an_organisation_are_those_of_the_models() -> None:
    assert set(catalogue.tenant_tables()) == {model._meta.db_table for model in tenant_models()}
    assert len(catalogue.tenant_tables()) >= 6


def test_every_tenant_table_forces_row_level_security() -> None:
    assert catalogue.unforced_tables() == []


def test_every_row_has_an_organisation() -> None:
    assert catalogue.organisation_may_be_missing() == []


def test_every_tenant_table_has_the_policies_of_its_model_and_no_other() -> None:
    assert catalogue.wrong_policies(policies_of_models()) == []


def test_the_trails_take_new_rows_and_no_changes() -> None:
    assert {"accounts_auditevent", "accounts_configurationversion"} <= append_only_tables()
    assert catalogue.excessive_grants(append_only_tables()) == []


def test_the_platform_removes_from_them_where_it_says_so_alone() -> None:
    assert catalogue.unguarded_tables(append_only_tables()) == []


def test_of_what_is_only_added_the_platform_changes_what_names_a_person() -> None:
    assert catalogue.platform_changes() == {
        "accounts_auditevent.detail",
        "accounts_auditevent.person_id",
        "accounts_auditevent.person_name",
        "accounts_auditevent.target_label",
        "accounts_configurationversion.published_by_id",
        "accounts_organisation.frozen_at",
        "accounts_organisation.frozen_by",
        "accounts_organisation.removal_at",
        "adjudication_adjudication.decided_by_id",
        "adjudication_adjudication.items",
        "agreement_sourceanswer.added_by_id",
        "agreement_sourceanswer.origin",
        "assignments_decision.decided_by_id",
        "assignments_decision.notes",
        "assignments_note.text",
        "assignments_note.written_by_id",
        "assignments_noteanswer.text",
        "assignments_question.text",
        "assignments_questionanswer.answered_by_id",
        "assignments_questionanswer.text",
        "assignments_suggestion.added_by_id",
        "assignments_withdrawal.withdrawn_by_id",
        "gold_goldscore.user_id",
        "gold_practiceattempt.user_id",
    }


def test_the_web_role_does_not_bypass_row_level_security() -> None:
    assert catalogue.roles_that_pass(settings.DATABASE_APP_ROLE) == []


def test_nobody_can_log_in_as_the_platform() -> None:
    assert rows(
        "SELECT rolcanlogin, rolsuper FROM pg_roles WHERE rolname = %(role)s", {"role": settings.DATABASE_PLATFORM_ROLE}
    ) == [(False, False)]


def test_no_view_or_function_lends_its_owners_rights() -> None:
    assert catalogue.leaking_views() == []
    assert catalogue.leaking_functions() == []


def test_foreign_keys_between_tenant_tables_hold_both_ends_in_one_organisation() -> None:
    assert catalogue.loose_foreign_keys() == []


def test_keys_and_indexes_begin_with_the_organisation() -> None:
    assert catalogue.loose_indexes() == []


def test_a_table_without_policy_is_reported() -> None:
    with made_by_the_owner("CREATE TABLE bare (id uuid PRIMARY KEY, organisation_id uuid)"):
        assert "bare" in catalogue.tenant_tables()
        assert catalogue.unforced_tables() == [
            "bare has no row-level security",
            "bare does not force row-level security on its owner",
        ]
        assert catalogue.organisation_may_be_missing() == [
            "bare.organisation_id takes NULL, and such a row is nobody's"
        ]
    assert "bare" not in catalogue.tenant_tables()


def test_row_level_security_that_is_off_or_not_forced_is_reported() -> None:
    with made_by_the_owner("ALTER TABLE jobs_job NO FORCE ROW LEVEL SECURITY"):
        assert catalogue.unforced_tables() == ["jobs_job does not force row-level security on its owner"]
    with made_by_the_owner("ALTER TABLE jobs_job DISABLE ROW LEVEL SECURITY"):
        assert catalogue.unforced_tables() == ["jobs_job has no row-level security"]


@pytest.mark.parametrize(
    "hole",
    [
        "DROP POLICY jobs_job_tenant ON jobs_job",
        "CREATE POLICY too_wide ON jobs_job USING (true)",
        "CREATE POLICY too_wide ON accounts_auditevent FOR DELETE USING (true)",
        "ALTER POLICY jobs_job_tenant_add ON jobs_job WITH CHECK (true)",
        "ALTER POLICY jobs_job_tenant_change ON jobs_job USING (true)",
        "ALTER POLICY jobs_job_tenant ON jobs_job USING (organisation_id IS NOT NULL)",
        "ALTER POLICY jobs_job_tenant ON jobs_job TO potato_platform",
        "DROP POLICY accounts_auditevent_tenant_add ON accounts_auditevent",
    ],
)
def test_a_policy_that_is_missing_wider_or_extra_is_reported(hole: str) -> None:
    with made_by_the_owner(hole):
        assert catalogue.wrong_policies(policies_of_models()) != []


@pytest.mark.parametrize(
    ("grant", "hole"),
    [
        ("UPDATE ON accounts_auditevent", "potato_app may UPDATE accounts_auditevent"),
        ("UPDATE (verb) ON accounts_auditevent", "potato_app may UPDATE a column of accounts_auditevent"),
        ("DELETE ON accounts_configurationversion", "potato_app may DELETE accounts_configurationversion"),
        ("TRUNCATE ON jobs_job", "potato_app may TRUNCATE jobs_job"),
    ],
)
def test_a_right_too_many_is_reported(grant: str, hole: str) -> None:
    with made_by_the_owner(f"GRANT {grant} TO potato_app"):
        assert hole in catalogue.excessive_grants(append_only_tables())


def test_roles_that_bypass_row_level_security_are_reported() -> None:
    owner = "\n".join(catalogue.roles_that_pass(settings.DATABASE_OWNER["USER"]))
    assert "bypasses row-level security" in owner
    assert "owns tables" in owner
    assert "inherits" in owner
    assert "may make tables" in owner
    assert f"{settings.DATABASE_PLATFORM_ROLE} bypasses row-level security" in catalogue.roles_that_pass(
        settings.DATABASE_PLATFORM_ROLE
    )


def test_a_view_with_its_owners_rights_is_reported() -> None:
    with made_by_the_owner("CREATE VIEW peep AS SELECT * FROM jobs_job"):
        assert [hole.split(" reads ")[0] for hole in catalogue.leaking_views()] == ["the view peep"]
    with made_by_the_owner("CREATE VIEW fair WITH (security_invoker = true) AS SELECT * FROM jobs_job"):
        assert catalogue.leaking_views() == []
    with made_by_the_owner("CREATE MATERIALIZED VIEW copy AS SELECT id FROM accounts_user"):
        assert [hole.split(" is ")[0] for hole in catalogue.leaking_views()] == ["copy"]


def test_a_function_with_its_owners_rights_is_reported() -> None:
    with made_by_the_owner(
        "CREATE FUNCTION peep() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM jobs_job'"
    ):
        assert catalogue.leaking_functions() == [
            "peep() runs with its owner's rights and is not allow-listed",
            "peep() runs with its owner's rights and takes tables from its caller's search_path",
        ]
    with made_by_the_owner("ALTER FUNCTION jobs_organisations_with_work() RESET search_path"):
        assert len(catalogue.leaking_functions()) == 1


def test_a_foreign_key_without_the_organisation_is_reported() -> None:
    with made_by_the_owner(
        "ALTER TABLE accounts_configurationversion DROP CONSTRAINT accounts_configurationversion_project"
    ):
        assert [hole.split(" (")[0] for hole in catalogue.loose_foreign_keys()] == [
            "accounts_configurationversion.project_id"
        ]


@pytest.mark.parametrize(
    "index",
    [
        "CREATE INDEX bad ON jobs_job (kind)",
        "CREATE INDEX bad ON jobs_job (lower(kind))",
        "CREATE UNIQUE INDEX bad ON jobs_job (kind, organisation_id)",
        "CREATE UNIQUE INDEX bad ON jobs_job (created_by_id)",
    ],
)
def test_a_key_or_index_across_organisations_is_reported(index: str) -> None:
    with made_by_the_owner(index):
        assert catalogue.loose_indexes() == ["bad of jobs_job does not begin with organisation_id"]
