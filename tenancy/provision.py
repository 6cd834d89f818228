"""Make the database and its three roles, on which the isolation of organisations stands.

The application's role owns nothing and passes no policy; the owner's migrates; the platform's is entered by
`unscoped` alone. Needs PostgreSQL 15 and an administrator's connection, no Django. Never weakens or takes
over a role that is an administrator's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import psycopg
from psycopg import sql

from tenancy import limits

DATABASE = "potato"
APP_ROLE = "potato_app"
OWNER_ROLE = "potato_owner"
PLATFORM_ROLE = "potato_platform"

OLDEST_SERVER = 15
# One provisioning at a time on a server; the number is arbitrary.
ADVISORY_LOCK = 7_261_540


class ProvisionError(Exception):
    """The roles or the database can't be made; says why and what to do."""


@dataclass(frozen=True)
class Role:
    """A role as it has to be. `attributes` are the columns of pg_roles that matter; `settings` what it logs in with."""

    name: str
    password: str | None
    login: bool = True
    inherit: bool = True
    bypass_policies: bool = False
    create_databases: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def attributes(self) -> dict[str, tuple[str, bool]]:
        return {
            "rolcanlogin": ("LOGIN", self.login),
            "rolinherit": ("INHERIT", self.inherit),
            "rolbypassrls": ("BYPASSRLS", self.bypass_policies),
            "rolcreatedb": ("CREATEDB", self.create_databases),
            "rolcreaterole": ("CREATEROLE", False),
        }


def provision(
    admin_dsn: str,
    *,
    development: bool,
    database: str = DATABASE,
    app_role: str = APP_ROLE,
    owner_role: str = OWNER_ROLE,
    platform_role: str = PLATFORM_ROLE,
    app_password: str | None = None,
    owner_password: str | None = None,
) -> list[str]:
    """Create what is missing, correct what differs, and answer what was done, one sentence each.

    Repeatable, also from several processes at once. In `development` the owner may also make databases and
    act as the application, which tests need; in production it may not. A password of None is left as it is.
    """
    if len({app_role, owner_role, platform_role}) < 3:
        raise ProvisionError(
            "the application's, the owner's and the platform's role must be three different ones, got "
            f"{app_role}, {owner_role}, {platform_role}."
        )
    web, owner = {**limits.WEB, **limits.PLANNING}, {**limits.OWNER, **limits.PLANNING}
    roles = [
        # INHERIT: the owner's right to create tables in `public` comes through pg_database_owner.
        Role(owner_role, owner_password, bypass_policies=True, create_databases=development, settings=owner),
        Role(platform_role, None, login=False, bypass_policies=True),
        Role(app_role, app_password, inherit=False, settings=web),
    ]
    with psycopg.connect(admin_dsn, autocommit=True, connect_timeout=10) as connection:
        version = connection.info.server_version // 10_000
        if version < OLDEST_SERVER:
            raise ProvisionError(f"the server is PostgreSQL {version}; {OLDEST_SERVER} or newer is needed.")
        connection.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])
        try:
            with connection.transaction():
                done = [sentence for role in roles for sentence in _make_role(connection, role)]
                done += _grant(connection, platform_role, app_role, inherited=False)
                if development:
                    done += _grant(connection, app_role, owner_role, inherited=True)
                    done += _grant(connection, platform_role, owner_role, inherited=True)
            done += _make_database(connection, database, owner_role)
        except psycopg.errors.InsufficientPrivilege as error:
            raise ProvisionError(
                f"{connection.info.user} may not do this: {str(error).strip()}. "
                "Give the address of a superuser, or of a role with CREATEROLE, CREATEDB and BYPASSRLS "
                "on PostgreSQL 16 or newer."
            ) from error
    return done


def _make_role(connection: psycopg.Connection, role: Role) -> list[str]:
    columns = sql.SQL(", ").join(map(sql.Identifier, role.attributes))
    existing = connection.execute(
        sql.SQL("SELECT rolsuper, {} FROM pg_roles WHERE rolname = %s").format(columns), [role.name]
    ).fetchone()
    if role.name == connection.info.user or (existing and existing[0]):
        raise ProvisionError(
            f"the role {role.name} is an administrator's; the site must not run with it. Name another role."
        )
    words = [
        sql.SQL(word if wanted else f"NO{word}")
        for index, (word, wanted) in enumerate(role.attributes.values(), start=1)
        if existing is None or existing[index] != wanted
    ]
    done = []
    if existing is None:
        connection.execute(sql.SQL("CREATE ROLE {} {}").format(sql.Identifier(role.name), sql.SQL(" ").join(words)))
        done.append(f"created the role {role.name}")
    elif words:
        connection.execute(sql.SQL("ALTER ROLE {} {}").format(sql.Identifier(role.name), sql.SQL(" ").join(words)))
        done.append(f"corrected the role {role.name}")
    done += _set_settings(connection, role)
    if role.password is not None:
        # Hashed here, so that the server's log never sees it.
        hashed = connection.pgconn.encrypt_password(role.password.encode(), role.name.encode(), b"scram-sha-256")
        connection.execute(
            sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role.name), sql.Literal(hashed.decode()))
        )
        done.append(f"set the password of {role.name}")
    return done


def _set_settings(connection: psycopg.Connection, role: Role) -> list[str]:
    """A setting that an operator gave the role another value stays as it is: `ALTER ROLE ... SET` is theirs, too."""
    configured = connection.execute("SELECT rolconfig FROM pg_roles WHERE rolname = %s", [role.name]).fetchone()
    known = {line.partition("=")[0] for line in (configured and configured[0]) or ()}
    missing = {name: value for name, value in role.settings.items() if name not in known}
    for name, value in missing.items():
        connection.execute(
            sql.SQL("ALTER ROLE {} SET {} = {}").format(
                sql.Identifier(role.name), sql.Identifier(name), sql.Literal(value)
            )
        )
    return [f"set {', '.join(missing)} of {role.name}"] if missing else []


def _grant(connection: psycopg.Connection, role: str, member: str, *, inherited: bool) -> list[str]:
    modern = connection.info.server_version >= 160_000
    # Before 16 the member's own INHERIT decides; from 16 on each grant does.
    options = "bool_and(set_option AND inherit_option = %(inherited)s)" if modern else "true"
    granted = connection.execute(
        sql.SQL(
            "SELECT coalesce({}, false) FROM pg_auth_members "
            "WHERE roleid = %(role)s::regrole AND member = %(member)s::regrole HAVING count(*) > 0"
        ).format(sql.SQL(options)),
        {"role": _quoted(connection, role), "member": _quoted(connection, member), "inherited": inherited},
    ).fetchone()
    if granted and granted[0]:
        return []
    suffix = f" WITH INHERIT {str(inherited).upper()}, SET TRUE" if modern else ""
    connection.execute(sql.SQL("GRANT {} TO {}" + suffix).format(sql.Identifier(role), sql.Identifier(member)))
    return [f"granted {role} to {member}"]


def _make_database(connection: psycopg.Connection, database: str, owner: str) -> list[str]:
    existing = connection.execute(
        "SELECT pg_get_userbyid(datdba), pg_get_userbyid(datdba) = current_user, "
        "pg_encoding_to_char(encoding) FROM pg_database WHERE datname = %s",
        [database],
    ).fetchone()
    names = {"database": sql.Identifier(database), "owner": sql.Identifier(owner)}
    if existing is None:
        _join(connection, owner)
        connection.execute(
            sql.SQL("CREATE DATABASE {database} OWNER {owner} ENCODING 'UTF8' TEMPLATE template0").format(**names)
        )
        return [f"created the database {database}"]
    if existing[2] != "UTF8":
        raise ProvisionError(f"the database {database} is encoded in {existing[2]}; it has to be UTF8.")
    if existing[0] == owner:
        return []
    if not existing[1]:
        raise ProvisionError(
            f"the database {database} belongs to {existing[0]}, not to {owner}. If it is meant for this site: "
            f"ALTER DATABASE {database} OWNER TO {owner};"
        )
    _join(connection, owner)
    connection.execute(sql.SQL("ALTER DATABASE {database} OWNER TO {owner}").format(**names))
    return [f"gave the database {database} to {owner}"]


def _join(connection: psycopg.Connection, role: str) -> None:
    """An administrator who is no superuser must be a member of a role to give it a database."""
    superuser = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
    if not (superuser and superuser[0]):
        connection.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(role), sql.Identifier(connection.info.user)))


def _quoted(connection: psycopg.Connection, name: str) -> str:
    return sql.Identifier(name).as_string(connection)
