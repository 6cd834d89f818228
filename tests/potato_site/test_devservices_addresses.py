"""Where the addresses come from: given ones are used, an administrator's is exchanged, nonsense is refused."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from potato_site import devservices
from potato_site.devservices.locations import Locations, find_locations
from tenancy.provision import ProvisionError, provision
from tests.potato_site.developers import Developer

ROLES = {
    "database": "shop",
    "app_role": "shop_web",
    "owner_role": "shop_owner",
    "platform_role": "shop_platform",
    "app_password": "secret",
    "owner_password": "secret too",
}


def silently(sentence: str) -> None: ...


def locations_in(place: Path) -> Locations:
    return find_locations("development", checkout=place, shared=place)


@pytest.fixture(scope="module")
def server(prepared: Path, source: str) -> Iterator[str]:
    """The superuser's address of a server that runs."""
    folder = prepared / "server"
    folder.mkdir(mode=0o755)
    developer = Developer(folder, source)
    yield developer.addresses()[0].replace("potato_app@/potato", "postgres@/postgres")
    developer.leave()


def test_given_addresses_are_used_and_nothing_is_started(tmp_path: Path, server: str) -> None:
    ordinary = server.replace("postgres@/postgres", "potato_app@/potato")
    environ = {"DATABASE_URL": ordinary, "DATABASE_OWNER_URL": "anything", "BROKER_URL": "redis://elsewhere/0"}
    before = dict(environ)
    services = devservices.ensure("development", locations=locations_in(tmp_path), environ=environ, report=silently)
    assert environ == before
    assert (services.cluster, services.broker) == (None, None)
    assert list(tmp_path.iterdir()) == []


def test_an_administrators_address_is_exchanged_for_the_two_roles_each_time_the_same(place: Path, server: str) -> None:
    addresses = []
    for _ in range(2):
        environ = {"DATABASE_URL": server, "BROKER_URL": "memory://"}
        said: list[str] = []
        devservices.ensure("development", locations=locations_in(place), environ=environ, report=said.append)
        addresses.append((environ["DATABASE_URL"], environ["DATABASE_OWNER_URL"]))
        assert len(said) == 1
    assert addresses[0] == addresses[1]
    for address, user in zip(addresses[0], ("potato_app", "potato_owner"), strict=True):
        with psycopg.connect(address) as connection:
            assert connection.execute("SELECT current_user, current_database()").fetchone() == (
                user,
                "potato",
            )
    kept = locations_in(place).credentials
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize("broker", ["memory://", ""])
def test_a_child_process_inherits_the_roles_an_administrators_address_was_exchanged_for(
    place: Path, source: str, server: str, broker: str
) -> None:
    environ = {"DATABASE_URL": server, "BROKER_URL": broker, "POTATO_SERVERS": source}
    parent = devservices.ensure("development", locations=locations_in(place), environ=environ, report=silently)
    inherited = dict(environ)
    child = devservices.ensure("development", locations=locations_in(place), environ=environ, report=silently)
    assert environ == inherited
    assert (parent.cluster, child.cluster) == (None, None)
    parent.leave()
    child.leave()
    assert not (child.broker and child.broker.is_running())


def test_an_ordinary_roles_address_asks_for_the_owners(tmp_path: Path, server: str) -> None:
    environ = {"DATABASE_URL": server.replace("postgres@/postgres", "potato_app@/potato")}
    with pytest.raises(devservices.ServiceError, match="DATABASE_OWNER_URL is not set"):
        devservices.ensure("development", locations=locations_in(tmp_path), environ=environ, report=silently)


def test_a_server_that_does_not_answer_is_named(tmp_path: Path) -> None:
    environ = {"DATABASE_URL": f"postgresql://postgres@/potato?host={tmp_path}"}
    with pytest.raises(devservices.ServiceError, match=r"(?s)DATABASE_URL: .*Start that server"):
        devservices.ensure("development", locations=locations_in(tmp_path), environ=environ, report=silently)


def test_an_unknown_source_of_servers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(devservices.ServiceError, match="must be one of auto, machine, wheels"):
        devservices.ensure("development", locations=locations_in(tmp_path), environ={"POTATO_SERVERS": "docker"})


def test_a_child_process_asks_again_instead_of_trusting_the_addresses_it_inherits(place: Path, source: str) -> None:
    environ = {"POTATO_SERVERS": source}
    parent = devservices.ensure("development", locations=locations_in(place), environ=environ, report=silently)
    inherited = dict(environ)
    child = devservices.ensure("development", locations=locations_in(place), environ=environ, report=silently)
    assert environ == inherited
    parent.leave()
    assert child.cluster
    assert child.cluster.is_running()
    child.leave()
    assert not child.cluster.is_running()


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    locations = locations_in(tmp_path)
    locations.base.mkdir()
    locations.base.chmod(0o777)
    with pytest.raises(devservices.ServiceError, match="is open to other users"):
        devservices.ensure("development", locations=locations, environ={}, report=silently)


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a folder that belongs to somebody else")
    locations = locations_in(tmp_path)
    locations.base.mkdir()
    os.chown(locations.base, 65534, -1)
    with pytest.raises(devservices.ServiceError, match="belongs to user id 65534, not to 0"):
        devservices.ensure("development", locations=locations, environ={}, report=silently)


def test_a_link_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    locations = locations_in(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    locations.base.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(devservices.ServiceError, match="is not a folder"):
        devservices.ensure("development", locations=locations, environ={}, report=silently)


def test_provisioning_makes_three_roles_once_and_the_applications_passes_no_policy(server: str) -> None:
    assert "created the database shop" in provision(server, **ROLES, development=False)
    again = provision(server, **ROLES, development=False)
    assert again == ["set the password of shop_owner", "set the password of shop_web"]
    with psycopg.connect(server) as connection:
        rights = connection.execute(
            "SELECT rolname, rolcanlogin, rolinherit, rolbypassrls, rolsuper, rolcreatedb,"
            " pg_has_role(rolname, 'shop_platform', 'MEMBER'), pg_has_role(rolname, 'shop_platform', 'USAGE')"
            " FROM pg_roles WHERE rolname IN ('shop_web', 'shop_owner') ORDER BY rolname"
        ).fetchall()
        stored = connection.execute("SELECT rolpassword FROM pg_authid WHERE rolname = 'shop_web'").fetchone()
    assert rights == [
        ("shop_owner", True, True, True, False, False, False, False),
        ("shop_web", True, False, False, False, False, True, False),
    ]
    assert stored
    assert str(stored[0]).startswith("SCRAM-SHA-256$")


def test_provisioning_corrects_an_application_role_that_passes_policies(server: str) -> None:
    provision(server, **ROLES, development=False)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("ALTER ROLE shop_web BYPASSRLS INHERIT")
        assert "corrected the role shop_web" in provision(server, **ROLES, development=False)
        row = connection.execute(
            "SELECT rolbypassrls, pg_has_role('shop_web', 'shop_platform', 'USAGE') "
            "FROM pg_roles WHERE rolname = 'shop_web'"
        ).fetchone()
    assert row == (False, False)


def test_provisioning_gives_each_role_its_limits_of_time_and_leaves_an_operators_own(server: str) -> None:
    provision(server, **ROLES, development=False)
    with psycopg.connect(server, autocommit=True) as connection:

        def limits_of(role: str) -> set[str]:
            row = connection.execute("SELECT rolconfig FROM pg_roles WHERE rolname = %s", [role]).fetchone()
            return set(row[0] or ()) if row else set()

        web = {"lock_timeout=10s", "statement_timeout=30s", "idle_in_transaction_session_timeout=60s", "jit=off"}
        assert limits_of("shop_web") == web
        assert limits_of("shop_owner") == {"lock_timeout=30s", "jit=off"}, (
            "a migration that waits holds everybody up behind it"
        )
        connection.execute("ALTER ROLE shop_web SET statement_timeout = '45s'")
        connection.execute("ALTER ROLE shop_web RESET lock_timeout")
        assert "set lock_timeout of shop_web" in provision(server, **ROLES, development=False)
        assert limits_of("shop_web") == web - {"statement_timeout=30s"} | {"statement_timeout=45s"}


def test_provisioning_never_touches_an_administrator(server: str) -> None:
    with pytest.raises(ProvisionError, match="postgres is an administrator's"):
        provision(server, **{**ROLES, "app_role": "postgres"}, development=False)
    with pytest.raises(ProvisionError, match="three different ones"):
        provision(server, **{**ROLES, "app_role": "shop_owner"}, development=False)
    with pytest.raises(ProvisionError, match="belongs to potato_owner, not to shop_owner"):
        provision(server, **{**ROLES, "database": "potato"}, development=False)
