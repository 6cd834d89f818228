"""System checks of isolation: every tenant table has its policy, and the database role does not bypass it."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import AppConfig, apps
from django.core.checks import CheckMessage, Error, Tags, register, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections, models

from tenancy.constraints import SameOrganisation, TenantPolicy

# Inheritance decides (USAGE), not membership: the web role is a NOINHERIT member of the platform role.
_UNBOUND_ROLES = """
SELECT rolname FROM pg_roles r
 WHERE pg_has_role(current_user, oid, 'USAGE')
   AND (rolsuper OR rolbypassrls OR EXISTS (
        SELECT FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid WHERE c.relowner = r.oid))
"""


def tenant_models() -> list[type[models.Model]]:
    """Every model with an `organisation` of its own, through tables included."""
    return [
        model
        for model in apps.get_models(include_auto_created=True)
        if any(field.name == "organisation" for field in model._meta.local_fields)
    ]


@register(Tags.models)
def tenant_models_are_isolated(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    tenants = tenant_models()
    return [*_without_policy(tenants), *_pointing_out(tenants), *_pointing_in(tenants)]


def _without_policy(tenants: list[type[models.Model]]) -> Iterator[CheckMessage]:
    for model in tenants:
        if not any(isinstance(constraint, TenantPolicy) for constraint in model._meta.constraints):
            yield Error(
                f"{model._meta.label} has an organisation and no TenantPolicy.",
                hint="Write `class Meta(TenantModel.Meta)` and keep `TenantModel.Meta.constraints`.",
                obj=model,
                id="tenancy.E001",
            )


def _pointing_out(tenants: list[type[models.Model]]) -> Iterator[CheckMessage]:
    for model in tenants:
        guarded = {c.field for c in model._meta.constraints if isinstance(c, SameOrganisation)}
        for field in model._meta.local_fields:
            if field.is_relation and _concrete(field) in tenants and field.name not in guarded:
                yield Error(
                    f"{model._meta.label}.{field.name} could point into another organisation.",
                    hint=f"Add SameOrganisation(name=..., field={field.name!r}) to its constraints.",
                    obj=model,
                    id="tenancy.E002",
                )


def _pointing_in(tenants: list[type[models.Model]]) -> Iterator[CheckMessage]:
    for model in apps.get_models(include_auto_created=True):
        if model in tenants:
            continue
        for field in model._meta.local_fields:
            if field.is_relation and _concrete(field) in tenants:
                yield Error(
                    f"{model._meta.label}.{field.name} points to a tenant table, but has no organisation itself.",
                    hint="Make it a TenantModel; for a many-to-many field write the through model.",
                    obj=model,
                    id="tenancy.E003",
                )


def _concrete(field: "models.Field[Any, Any]") -> type[models.Model] | None:
    """The model whose table a relation points to, through proxies."""
    return getattr(getattr(field.related_model, "_meta", None), "concrete_model", None)


@register(Tags.database)
def role_obeys_row_level_security(databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:
    return [problem for alias in databases or () for problem in _role_problems(alias)]


def _role_problems(alias: str) -> Iterator[CheckMessage]:
    connection = connections[alias]
    if connection.settings_dict.get("MIGRATING"):
        return
    with connection.cursor() as cursor:
        cursor.execute(_UNBOUND_ROLES)
        bypassing = sorted(name for (name,) in cursor.fetchall())
    if bypassing:
        yield Error(
            f"The role of database {alias!r} bypasses row-level security: {', '.join(bypassing)}.",
            hint="Connect as the application's role: see `manage.py provision_database` and DATABASE_URL.",
            id="tenancy.E004",
        )


def refuse_to_start_unisolated() -> None:
    """For the site and the worker, which run no database checks of their own: raise ImproperlyConfigured."""
    problems = role_obeys_row_level_security(databases=[DEFAULT_DB_ALIAS])
    connection = connections[DEFAULT_DB_ALIAS]
    # A socket that two processes have after a fork would mix their answers.
    connection.close()
    if connection.settings_dict["OPTIONS"].get("pool"):
        # A pool that is open when the server or the worker forks would be one for all its children.
        connection.close_pool()  # type: ignore[attr-defined]  # the stubs know no backend's own methods
    if problems:
        raise ImproperlyConfigured("\n".join(f"{problem.id}: {problem.msg} {problem.hint}" for problem in problems))


def refuse_to_start_unchecked() -> None:
    """For the site and the worker: raise ImproperlyConfigured on any failed system check, the database's included."""
    problems = [p for p in run_checks(include_deployment_checks=False) if p.is_serious()]
    if problems:
        raise ImproperlyConfigured("\n".join(f"{p.id}: {p.msg} {p.hint or ''}" for p in problems))
    refuse_to_start_unisolated()
