"""Isolation as model constraints: what makemigrations writes, and what the schema editor makes of it."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import connection, models
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ModelState, ProjectState
from django.db.migrations.writer import MigrationWriter

from accounts.models import ConfigurationVersion
from tenancy.actor import acting_in
from tenancy.constraints import SameOrganisation, TenantPolicy
from tests.isolation import catalogue
from tests.isolation.catalogue import OWN, READ, READ_OR_NONE, WRITE, rows
from tests.tenants import Tenants

TABLE = "accounts_note"
FULL = {("r", READ, None), ("a", None, WRITE), ("w", WRITE, WRITE), ("d", WRITE, None)}
KEY = models.UniqueConstraint(fields=["organisation", "id"], name="accounts_note_org_id")


def with_note(*constraints: models.BaseConstraint, fields: dict[str, "models.Field[Any, Any]"] | None = None) -> Any:
    """The project's models and one more, accounts.Note, with these constraints."""
    state = ProjectState.from_apps(apps)
    columns: list[tuple[str, models.Field[Any, Any]]] = [
        ("id", models.UUIDField(primary_key=True)),
        ("organisation", models.ForeignKey("accounts.Organisation", models.PROTECT)),
        ("user", models.ForeignKey("accounts.User", models.PROTECT, null=True)),
        ("project", models.ForeignKey("accounts.Project", models.PROTECT)),
        *(fields or {}).items(),
    ]
    state.add_model(ModelState("accounts", "Note", columns, {"constraints": list(constraints), "indexes": []}))
    return state


def detected(before: ProjectState, after: ProjectState) -> list[Operation]:
    # Its public name for this also names and orders the migrations, for which it wants their graph.
    changes = MigrationAutodetector(before.clone(), after.clone())._detect_changes()  # type: ignore[attr-defined]
    return [operation for migration in changes.get("accounts", []) for operation in migration.operations]


def migrate(before: ProjectState, after: ProjectState) -> list[str]:
    """Do what makemigrations would write for the difference; answers the names of the operations."""
    operations = detected(before, after)
    with connection.schema_editor() as editor:
        for operation in operations:
            state = before.clone()
            operation.state_forwards("accounts", state)
            operation.database_forwards("accounts", editor, before, state)
            before = state
    return [type(operation).__name__ for operation in operations]


def policies() -> set[tuple[Any, ...]]:
    return set(
        rows(
            "SELECT polcmd, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid) FROM pg_policy"
            " WHERE polrelid = %(table)s::regclass",
            {"table": TABLE},
        )
    )


def security() -> tuple[Any, ...]:
    (found,) = rows(
        "SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE oid = %(table)s::regclass", {"table": TABLE}
    )
    return found


@pytest.fixture
def as_owner(db: None) -> Iterator[None]:
    """Migrations run as the owner of the tables; the test's transaction takes everything back."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE potato_owner")
    yield
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE potato_app")


def test_a_new_model_gets_its_policies_with_its_table(as_owner: None) -> None:
    before = ProjectState.from_apps(apps)
    isolation = (TenantPolicy(name="note"), KEY, SameOrganisation(name="note_project", field="project"))
    assert "CreateModel" in migrate(before, with_note(*isolation))
    assert policies() == FULL
    assert security() == (True, True)
    assert catalogue.loose_foreign_keys() == []
    assert TABLE not in str(catalogue.unforced_tables())


def test_a_policy_is_added_altered_and_removed_later(as_owner: None) -> None:
    bare = with_note(KEY)
    isolated = with_note(KEY, TenantPolicy(name="note"))
    append_only = with_note(KEY, TenantPolicy(name="note", append_only=True))
    personal = with_note(KEY, TenantPolicy(name="note", personal="user"))
    migrate(ProjectState.from_apps(apps), bare)
    assert (policies(), security()) == (set(), (False, False))
    assert migrate(bare, isolated) == ["AddConstraint"]
    assert (policies(), security()) == (FULL, (True, True))
    assert migrate(isolated, append_only) == ["RemoveConstraint", "AddConstraint"]
    assert (policies(), security()) == ({("r", READ, None), ("a", None, WRITE)}, (True, True))
    migrate(append_only, personal)
    own = ("r", OWN.format(column="user_id"), None)
    assert policies() == {("r", READ_OR_NONE, None), own, *FULL} - {("r", READ, None)}
    assert migrate(personal, bare) == ["RemoveConstraint"]
    assert (policies(), security()) == (set(), (False, False))


def test_a_composite_key_is_added_and_removed_later(as_owner: None) -> None:
    loose = with_note(KEY, TenantPolicy(name="note"))
    bound = with_note(KEY, TenantPolicy(name="note"), SameOrganisation(name="note_project", field="project"))
    migrate(ProjectState.from_apps(apps), loose)
    assert [hole.split(" (")[0] for hole in catalogue.loose_foreign_keys()] == [f"{TABLE}.project_id"]
    assert migrate(loose, bound) == ["AddConstraint"]
    assert catalogue.loose_foreign_keys() == []
    assert migrate(bound, loose) == ["RemoveConstraint"]
    assert len(catalogue.loose_foreign_keys()) == 1


def test_a_new_column_keeps_the_policies(as_owner: None) -> None:
    isolation = (TenantPolicy(name="note"), KEY, SameOrganisation(name="note_project", field="project"))
    before = with_note(*isolation)
    migrate(ProjectState.from_apps(apps), before)
    assert migrate(before, with_note(*isolation, fields={"text": models.TextField(default="")})) == ["AddField"]
    assert policies() == FULL
    assert catalogue.loose_foreign_keys() == []


def test_a_model_that_goes_takes_its_policies_along(as_owner: None) -> None:
    note = with_note(TenantPolicy(name="note"), KEY)
    migrate(ProjectState.from_apps(apps), note)
    migrate(note, ProjectState.from_apps(apps))
    assert TABLE not in catalogue.tenant_tables()


def test_the_same_constraint_is_no_change() -> None:
    def note() -> Any:
        return with_note(
            TenantPolicy(name="note", personal="user"), SameOrganisation(name="note_project", field="project")
        )

    assert detected(note(), note()) == []


@pytest.mark.parametrize(
    "constraint",
    [
        TenantPolicy(name="a"),
        TenantPolicy(name="a", personal="user"),
        TenantPolicy(name="a", append_only=True),
        SameOrganisation(name="a", field="project"),
    ],
)
def test_a_constraint_can_be_written_into_a_migration_and_read_back(constraint: models.BaseConstraint) -> None:
    path, args, kwargs = constraint.deconstruct()
    assert type(constraint)(*args, **kwargs) == constraint
    assert constraint.clone() == constraint
    assert hash(constraint.clone()) == hash(constraint)
    text, imports = MigrationWriter.serialize(constraint)
    assert text.startswith(path)
    assert imports == {"import tenancy.constraints"}


def test_constraints_that_differ_are_not_equal() -> None:
    different = [
        TenantPolicy(name="a"),
        TenantPolicy(name="b"),
        TenantPolicy(name="a", append_only=True),
        TenantPolicy(name="a", personal="user"),
        SameOrganisation(name="a", field="project"),
        SameOrganisation(name="a", field="other"),
        models.UniqueConstraint(fields=["a"], name="a"),
    ]
    for number, one in enumerate(different):
        assert [other == one for other in different].index(True) == number
        assert [other == one for other in different].count(True) == 1


def test_the_database_has_what_the_migrations_say() -> None:
    """No policy or key waits for a makemigrations."""
    loader = MigrationLoader(None)
    changes = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps)).changes(loader.graph)
    assert {app: [found.operations for found in migrations] for app, migrations in changes.items()} == {}


# --- What a form is told ------------------------------------------------------------------------------------------


def test_pointing_into_another_organisation_is_said_kindly(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        version = ConfigurationVersion(project=tenants.birch_project, number=1, source="x", configuration={})
        with pytest.raises(ValidationError) as refusal:
            version.validate_constraints()
        assert refusal.value.message_dict["project"] == ["This belongs to another organisation."]
        version.validate_constraints(exclude={"project"})
        version.project = tenants.acme_project
        version.validate_constraints()


def test_pointing_to_a_row_that_cannot_be_seen_is_no_error_of_the_site(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        version = ConfigurationVersion(
            project_id=UUID(str(tenants.birch_project.pk)), number=1, source="x", configuration={}
        )
        with pytest.raises(ValidationError) as refusal:
            version.full_clean()
        assert "project" in refusal.value.message_dict
