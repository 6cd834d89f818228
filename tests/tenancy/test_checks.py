"""System checks: each with models, or a role, that it is there to find."""
# ruff: noqa: DJ008 - the models are there to be found wanting, never shown

from collections.abc import Iterator

import pytest
from django.core.checks import CheckMessage, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connection, models
from django.db.backends.postgresql.base import DatabaseWrapper
from django.test.utils import isolate_apps

from accounts.models import Organisation
from tenancy import checks
from tenancy.checks import (
    refuse_to_start_unisolated,
    role_obeys_row_level_security,
    tenant_models,
    tenant_models_are_isolated,
)
from tenancy.constraints import SameOrganisation, TenantPolicy
from tenancy.models import TenantModel
from tests.tenancy.databases import connected, web_role_address


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Models made in the test are the only ones that the checks see."""
    with isolate_apps("tests") as isolated:
        monkeypatch.setattr(checks, "apps", isolated)
        yield


def problems() -> list[tuple[str | None, str]]:
    return [(problem.id, problem.msg.split()[0]) for problem in tenant_models_are_isolated(None)]


def test_the_site_has_no_failed_check() -> None:
    assert [problem for problem in run_checks() if problem.is_serious()] == []
    assert len(tenant_models()) >= 6


def test_well_made_models_pass(registry: None) -> None:
    class Parent(TenantModel):
        class Meta(TenantModel.Meta):
            app_label = "tests"

    class Child(TenantModel):
        parent = models.ForeignKey(Parent, models.PROTECT)

        class Meta(TenantModel.Meta):
            app_label = "tests"
            constraints = [*TenantModel.Meta.constraints, SameOrganisation(name="child_parent", field="parent")]

    assert tenant_models() == [Parent, Child]
    assert problems() == []


def test_a_model_that_lost_its_policy_is_found(registry: None) -> None:
    class Forgetful(TenantModel):
        class Meta:
            app_label = "tests"
            constraints = [models.UniqueConstraint(fields=["organisation", "id"], name="forgetful")]

    class Handmade(models.Model):
        organisation = models.ForeignKey(Organisation, models.CASCADE)

        class Meta:
            app_label = "tests"

    assert problems() == [("tenancy.E001", "tests.Forgetful"), ("tenancy.E001", "tests.Handmade")]


def test_a_foreign_key_that_could_leave_the_organisation_is_found(registry: None) -> None:
    class Parent(TenantModel):
        class Meta(TenantModel.Meta):
            app_label = "tests"

    class Stand(Parent):
        class Meta:
            app_label = "tests"
            proxy = True

    class Child(TenantModel):
        parent = models.ForeignKey(Parent, models.PROTECT, related_name="+")
        twin = models.OneToOneField(Parent, models.PROTECT, related_name="+")
        stand = models.ForeignKey(Stand, models.PROTECT, related_name="+")
        older = models.ForeignKey("self", models.PROTECT, null=True, related_name="+")

        class Meta(TenantModel.Meta):
            app_label = "tests"

    assert problems() == [("tenancy.E002", f"tests.Child.{field}") for field in ("parent", "twin", "stand", "older")]


def test_a_table_without_organisation_that_points_to_tenant_rows_is_found(registry: None) -> None:
    class Tag(TenantModel):
        class Meta(TenantModel.Meta):
            app_label = "tests"

    class Note(TenantModel):
        tags = models.ManyToManyField(Tag)

        class Meta(TenantModel.Meta):
            app_label = "tests"

    class Loose(models.Model):
        note = models.ForeignKey(Note, models.CASCADE)

        class Meta:
            app_label = "tests"

    assert sorted(problems()) == [
        ("tenancy.E003", "tests.Loose.note"),
        ("tenancy.E003", "tests.Note_tags.note"),
        ("tenancy.E003", "tests.Note_tags.tag"),
    ]


def test_a_policy_alone_makes_no_model_a_tenants(registry: None) -> None:
    class Odd(models.Model):
        class Meta:
            app_label = "tests"
            constraints = [TenantPolicy(name="odd")]

    assert tenant_models() == []


# --- The role -----------------------------------------------------------------------------------------------------


def role_problems(role: str) -> list[CheckMessage]:
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL ROLE {role}")
        found = role_obeys_row_level_security(databases=["default"])
        cursor.execute("SET LOCAL ROLE potato_app")
    return found


def test_the_web_role_passes_the_check(db: None) -> None:
    assert role_problems("potato_app") == []


@pytest.mark.parametrize("role", ["potato_owner", "potato_platform"])
def test_roles_that_bypass_row_level_security_fail_the_check(db: None, role: str) -> None:
    (problem,) = role_problems(role)
    assert problem.id == "tenancy.E004"
    assert problem.is_serious()
    assert role in problem.msg
    assert "DATABASE_URL" in str(problem.hint)


def test_a_role_that_inherits_from_one_that_passes_fails_too(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE potato_owner")
        (problem,) = role_obeys_row_level_security(databases=["default"])
        cursor.execute("SET LOCAL ROLE potato_app")
    # The owner of development inherits from the platform; each is named.
    assert "potato_owner, potato_platform" in problem.msg


def test_migrate_is_let_through(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "MIGRATING", True)
    assert role_problems("potato_owner") == []


@pytest.mark.django_db(transaction=True)
def test_the_start_is_refused_with_a_sentence(transactional_db: None) -> None:
    options = {key: value for key, value in connection.settings_dict["OPTIONS"].items() if key != "assume_role"}
    with connected(OPTIONS=options), pytest.raises(ImproperlyConfigured, match=r"tenancy.E004.*potato_owner"):
        refuse_to_start_unisolated()


@pytest.mark.django_db(transaction=True)
def test_the_start_leaves_no_connection_for_children_to_share(transactional_db: None) -> None:
    with connected(**web_role_address(), OPTIONS={"pool": {"min_size": 1, "max_size": 2}}):
        refuse_to_start_unisolated()
        assert connection.connection is None
        assert "default" not in getattr(DatabaseWrapper, "_connection_pools")  # noqa: B009 - not in the stubs
