"""Every tenant table, filled by two organisations and asked in raw SQL: nobody reads or writes the other's rows."""
# ruff: noqa: S608 - the statements are made of the models' own names

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, ProgrammingError, connection, models, transaction

from accounts.actions.organisations import LastOwner, change_member
from accounts.models import Membership
from assignments.models import Assignment, Submission
from tenancy.actor import Actor, acting, acting_as, acting_in, unscoped
from tenancy.checks import tenant_models
from tenancy.constraints import SameOrganisation, TenantPolicy
from tenancy.roles import Role
from tests.isolation.fixtures import FACTORIES, make_fixtures
from tests.isolation.rows.fixtures import Fixtures
from tests.tenants import Tenants
from traces.models import Trace

MODELS = sorted(tenant_models(), key=lambda model: model._meta.label)
POINTERS = [
    (model, constraint)
    for model in MODELS
    for constraint in model._meta.constraints
    if isinstance(constraint, SameOrganisation)
]

NO_ORGANISATION = r"no organisation is active|permission denied"

each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)


@pytest.fixture
def all_fixtures(tenants: Tenants) -> tuple[Fixtures, Fixtures]:
    return make_fixtures(tenants)


def execute(statement: str, parameters: list[Any] | None = None) -> tuple[int, list[tuple[Any, ...]]]:
    """How many rows it touched, and what it answered."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.rowcount, cursor.fetchall() if cursor.description else []


def policy_of(model: type[models.Model]) -> TenantPolicy:
    (policy,) = (c for c in model._meta.constraints if isinstance(c, TenantPolicy))
    return policy


def table_of(model: type[models.Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def columns_of(model: type[models.Model]) -> list[str]:
    return [str(field.column) for field in model._meta.local_fields]


def copy_statement(model: type[models.Model], /, **replaced: str) -> str:
    """Insert a copy of one row of one's own, `%s`, with some columns replaced by expressions."""
    columns = columns_of(model)
    values = [replaced.get(column, connection.ops.quote_name(column)) for column in columns]
    names = ", ".join(map(connection.ops.quote_name, columns))
    return f"INSERT INTO {table_of(model)} ({names}) SELECT {', '.join(values)} FROM {table_of(model)} WHERE id = %s"


def keys_changed_in(model: type[models.Model]) -> dict[str, str]:
    """Numbers and texts in unique keys, changed: a copy with them is refused for nothing but what a test is about."""
    keys = {name for key in model._meta.constraints if isinstance(key, models.UniqueConstraint) for name in key.fields}
    changes = ((models.IntegerField, " + 1"), (models.CharField, " || '1'"))
    return {
        str(field.column): connection.ops.quote_name(str(field.column)) + change
        for field in model._meta.local_fields
        for kind, change in changes
        if isinstance(field, kind) and field.name in keys
    }


def one_a_trace(model: type[models.Model]) -> bool:
    """Whether a unique key has a trace, and no number or text that could be changed instead."""
    keys = [key.fields for key in model._meta.constraints if isinstance(key, models.UniqueConstraint)]
    return any("trace" in fields for fields in keys) and not keys_changed_in(model)


def copied_trace(fixtures: Fixtures) -> str:
    """Another trace of theirs, for a row that may be there once a trace."""
    copy = f"'{uuid.uuid4()}'"
    own = fixtures.rows["traces.Trace"].pk
    execute(copy_statement(Trace, **{"id": copy, **keys_changed_in(Trace)}), [own])
    return copy


def is_one_for_each(field: str, model: type[models.Model]) -> bool:
    keys = [key.fields for key in model._meta.constraints if isinstance(key, models.UniqueConstraint)]
    return ("organisation", field) in keys


def copied_submission(fixtures: Fixtures) -> str:
    """Another submission of theirs, for a row that may be there once a submission."""
    copy = f"'{uuid.uuid4()}'"
    own = fixtures.rows["assignments.Submission"].pk
    execute(copy_statement(Submission, **{"id": copy, **keys_changed_in(Submission)}), [own])
    return copy


def copied_assignment(fixtures: Fixtures) -> str:
    """Another assignment of theirs, for a row that may be there once an assignment."""
    copy = f"'{uuid.uuid4()}'"
    own = fixtures.rows["assignments.Assignment"].pk
    execute(copy_statement(Assignment, id=copy, trace_id=copied_trace(fixtures)), [own])
    return copy


def change_statement(model: type[models.Model]) -> str:
    return f"UPDATE {table_of(model)} SET organisation_id = organisation_id"


def test_every_tenant_model_has_a_factory() -> None:
    assert {model._meta.label for model in MODELS} == set(FACTORIES)


@each_model
def test_raw_sql_sees_the_rows_of_its_own_organisation_alone(
    all_fixtures: tuple[Fixtures, Fixtures], model: type[models.Model]
) -> None:
    question = f"SELECT DISTINCT organisation_id FROM {table_of(model)}"
    with unscoped("see that rows of both are there"):
        assert {found for (found,) in execute(question)[1]} == {fixtures.organisation.pk for fixtures in all_fixtures}
    for fixtures in all_fixtures:
        for actor in (acting_in(fixtures.organisation), acting_in(fixtures.organisation, fixtures.person)):
            with actor:
                assert execute(question)[1] == [(fixtures.organisation.pk,)]


@each_model
def test_a_row_cannot_be_added_to_another_organisation(
    all_fixtures: tuple[Fixtures, Fixtures], model: type[models.Model]
) -> None:
    ours, theirs = all_fixtures
    row = ours.rows[model._meta.label].pk
    statement = copy_statement(model, id=f"'{uuid.uuid4()}'", organisation_id=f"'{theirs.organisation.pk}'")
    with pytest.raises(ProgrammingError, match="violates row-level security"), acting_in(ours.organisation):
        execute(statement, [row])


@each_model
def test_a_row_of_another_organisation_cannot_be_changed_taken_or_removed(
    all_fixtures: tuple[Fixtures, Fixtures], model: type[models.Model]
) -> None:
    ours, theirs = all_fixtures
    row = theirs.rows[model._meta.label].pk
    for statement in (
        f"{change_statement(model)} WHERE id = %s",
        f"UPDATE {table_of(model)} SET organisation_id = '{ours.organisation.pk}' WHERE id = %s",
        f"DELETE FROM {table_of(model)} WHERE id = %s",
    ):
        with acting_in(ours.organisation):
            if policy_of(model).append_only:
                with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                    execute(statement, [row])
            else:
                assert execute(statement, [row])[0] == 0
    with acting_in(theirs.organisation):
        assert execute(f"SELECT id FROM {table_of(model)} WHERE id = %s", [row])[1] == [(row,)]


@each_model
def test_a_row_cannot_be_given_to_another_organisation(
    all_fixtures: tuple[Fixtures, Fixtures], model: type[models.Model]
) -> None:
    ours, theirs = all_fixtures
    message = "permission denied" if policy_of(model).append_only else "violates row-level security"
    with pytest.raises(ProgrammingError, match=message), acting_in(ours.organisation):
        execute(
            f"UPDATE {table_of(model)} SET organisation_id = %s WHERE id = %s",
            [theirs.organisation.pk, ours.rows[model._meta.label].pk],
        )


@each_model
def test_without_an_organisation_every_statement_fails_closed(
    all_fixtures: tuple[Fixtures, Fixtures], model: type[models.Model]
) -> None:
    row = all_fixtures[0].rows[model._meta.label].pk
    statements = [
        f"SELECT count(*) FROM {table_of(model)}",
        change_statement(model),
        f"DELETE FROM {table_of(model)}",
    ]
    if policy_of(model).personal:
        # Reading raises nothing there, and answers an empty result.
        assert execute(statements[0])[1] == [(0,)]
        statements = statements[1:]
    for statement in statements:
        message = "no organisation is active" + "|permission denied" * policy_of(model).append_only
        with pytest.raises(ProgrammingError, match=message), transaction.atomic():
            execute(statement)
    columns = columns_of(model)
    # Not a copy, which would first have to read: the same row, brought along.
    with unscoped("bring a row along"):
        ((values,),) = execute(f"SELECT to_jsonb(t) FROM {table_of(model)} t WHERE id = %s", [row])[1]
    names = ", ".join(map(connection.ops.quote_name, columns))
    with pytest.raises(ProgrammingError, match="no organisation is active"), transaction.atomic():
        execute(
            f"INSERT INTO {table_of(model)} ({names})"
            f" SELECT {names} FROM jsonb_populate_record(NULL::{table_of(model)}, %s::jsonb)",
            [values],
        )


@each_model
def test_reading_several_organisations_writes_none(
    all_fixtures: tuple[Fixtures, Fixtures], model: type[models.Model]
) -> None:
    ours, theirs = all_fixtures
    both = (ours.organisation.pk, theirs.organisation.pk)
    with acting(Actor(None, both)):
        found = execute(f"SELECT DISTINCT organisation_id FROM {table_of(model)}")[1]
        assert {organisation for (organisation,) in found} == set(both)
        with pytest.raises(ProgrammingError, match=NO_ORGANISATION), transaction.atomic():
            execute(change_statement(model))
        with pytest.raises(ProgrammingError, match=NO_ORGANISATION), transaction.atomic():
            execute(f"DELETE FROM {table_of(model)}")
        with pytest.raises(ProgrammingError, match="no organisation is active"), transaction.atomic():
            execute(copy_statement(model, id=f"'{uuid.uuid4()}'"), [ours.rows[model._meta.label].pk])


@pytest.mark.parametrize(("model", "pointer"), POINTERS, ids=lambda given: getattr(given, "name", ""))
def test_a_row_cannot_point_into_another_organisation(
    all_fixtures: tuple[Fixtures, Fixtures], model: type[models.Model], pointer: SameOrganisation
) -> None:
    ours, theirs = all_fixtures
    field = model._meta.get_field(pointer.field)
    assert isinstance(field, models.ForeignKey)
    foreign = theirs.rows[field.related_model._meta.label].pk
    own = ours.rows[model._meta.label].pk
    with acting_in(ours.organisation):
        if policy_of(model).append_only:
            another = {"trace_id": copied_trace(ours)} if one_a_trace(model) else {}
            if is_one_for_each("submission", model):
                another["submission_id"] = copied_submission(ours)
            if is_one_for_each("assignment", model):
                another["assignment_id"] = copied_assignment(ours)
            replaced = {"id": f"'{uuid.uuid4()}'", **keys_changed_in(model), **another, field.column: f"'{foreign}'"}
            execute(copy_statement(model, **replaced), [own])
        else:
            execute(f"UPDATE {table_of(model)} SET {field.column} = %s WHERE id = %s", [foreign, own])
        with pytest.raises(IntegrityError) as refusal, transaction.atomic():
            execute("SET CONSTRAINTS ALL IMMEDIATE")
        transaction.set_rollback(True)
    assert _constraint(refusal.value) == pointer.name


def _constraint(error: DatabaseError) -> str | None:
    diagnosis = getattr(error.__cause__, "diag", None)
    return diagnosis.constraint_name if diagnosis else None


def test_there_are_pointers_to_test() -> None:
    assert len(POINTERS) >= 1


def memberships() -> Iterator[tuple[str, str]]:
    for membership in Membership.objects.select_related("organisation").order_by("organisation__slug", "role"):
        yield membership.organisation.slug, membership.annotator_name


def test_a_person_without_an_organisation_active_sees_the_own_memberships(tenants: Tenants) -> None:
    with acting(Actor(user=tenants.mallory.pk)):
        assert list(memberships()) == [("acme", "mallory"), ("birch", "mallory")]
        for change in (lambda: Membership.objects.update(is_active=False), Membership.objects.all().delete):
            with pytest.raises(ProgrammingError, match="no organisation is active"), transaction.atomic():
                change()
        with pytest.raises(ProgrammingError, match="no organisation is active"), transaction.atomic():
            Membership.objects.create(user=tenants.bob, organisation=tenants.birch, annotator_name="bob")


def test_inside_an_organisation_the_own_memberships_elsewhere_are_not_shown(tenants: Tenants) -> None:
    with acting_in(tenants.birch, tenants.mallory):
        assert list(memberships()) == [("birch", "mallory"), ("birch", "charlie")]


def test_an_owner_elsewhere_counts_for_nothing_in_an_organisation(tenants: Tenants) -> None:
    with acting_in(tenants.birch):
        Membership.objects.create(user=tenants.alice, role=Role.OWNER, annotator_name="alice")
    with acting_in(tenants.acme, tenants.alice):
        own = Membership.objects.get(user=tenants.alice)
        with pytest.raises(LastOwner):
            change_member(membership=own, role=Role.ADMIN, annotator_name="alice", is_active=True, by_owner=True)


def test_a_person_of_no_organisation_reads_an_empty_result(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        Membership.objects.filter(user=tenants.bob).update(is_active=False)
    for model in MODELS:
        with acting_as(tenants.bob):
            # The ended membership is still the person's own row.
            expected = 1 if model is Membership else 0
            assert execute(f"SELECT count(*) FROM {table_of(model)}")[1] == [(expected,)], model
