"""A database server given by DATABASE_URL in development or tests.

An administrator's address is used once to make the three roles and the database; the site itself never runs
with it. An ordinary role's address is used as it is, and then the owner's has to be given too.
"""

import json
import os
import secrets
from collections.abc import Callable, MutableMapping

import psycopg
from psycopg import conninfo

from potato_site.devservices.addresses import database_url
from potato_site.devservices.errors import ServiceError
from potato_site.devservices.locations import Locations
from tenancy import provision as roles


def complete(environ: MutableMapping[str, str], locations: Locations, report: Callable[[str], None]) -> None:
    """Leave DATABASE_URL with an application role and DATABASE_OWNER_URL with an owner in `environ`."""
    given = environ["DATABASE_URL"]
    try:
        parameters = {name: str(value) for name, value in conninfo.conninfo_to_dict(given).items()}
    except psycopg.ProgrammingError as error:
        raise ServiceError(
            f"DATABASE_URL is not an address PostgreSQL understands: {error}. "
            "It looks like postgresql://user:password@host:5432/potato"
        ) from error
    if not _is_superuser(given):
        if not environ.get("DATABASE_OWNER_URL"):
            raise ServiceError(
                "DATABASE_URL names an ordinary role, DATABASE_OWNER_URL is not set. Set it to the address "
                "of the role that owns the database, or give a superuser in DATABASE_URL, and the roles are "
                "made for you. Unset both to use an embedded server."
            )
        return
    database = parameters.pop("dbname", "potato")
    if database in ("postgres", "template0", "template1"):
        database = roles.DATABASE
    place = f"{parameters.get('host', '')}:{parameters.get('port', '')}/{database}"
    passwords = _passwords(locations, place)
    try:
        roles.provision(
            conninfo.make_conninfo(given, dbname="postgres"),
            development=True,
            database=database,
            app_password=passwords["app"],
            owner_password=passwords["owner"],
        )
    except (roles.ProvisionError, psycopg.Error) as error:
        raise ServiceError(f"DATABASE_URL: {str(error).strip()}") from error
    for name in ("user", "password"):
        parameters.pop(name, None)
    environ["DATABASE_URL"] = database_url(roles.APP_ROLE, database, passwords["app"], parameters)
    environ["DATABASE_OWNER_URL"] = database_url(roles.OWNER_ROLE, database, passwords["owner"], parameters)
    report(
        f"DATABASE_URL is an administrator's: using the roles {roles.APP_ROLE} and {roles.OWNER_ROLE} "
        f"on that server instead (passwords in {locations.credentials})"
    )


def _is_superuser(url: str) -> bool:
    """Asked in whichever database the address names, or in `postgres` when that one is not made yet."""
    try:
        try:
            connection = psycopg.connect(url, connect_timeout=10)
        except psycopg.OperationalError as error:
            if "does not exist" not in str(error):
                raise
            connection = psycopg.connect(conninfo.make_conninfo(url, dbname="postgres"), connect_timeout=10)
    except psycopg.OperationalError as error:
        raise ServiceError(
            f"DATABASE_URL: {str(error).strip()}. Start that server or correct the address; unset "
            "DATABASE_URL to use an embedded server."
        ) from error
    with connection:
        row = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
    return bool(row and row[0])


def _passwords(locations: Locations, place: str) -> dict[str, str]:
    """The two roles' passwords on one server: made once, kept where only this user can read them."""
    locations.make()
    path = locations.credentials
    kept: dict[str, dict[str, str]] = json.loads(path.read_text()) if path.exists() else {}
    if place not in kept:
        kept[place] = {"app": secrets.token_urlsafe(24), "owner": secrets.token_urlsafe(24)}
        part = path.with_suffix(".part")
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(kept, file, indent=2)
        part.rename(path)
    return kept[place]
