"""What the containers run, run here without a container: the same script, in production, with secrets in files."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from psycopg import sql
from psycopg.conninfo import make_conninfo

ROOT = Path(__file__).resolve().parents[2]
NAME = "potato_entrypoints"

Environment = dict[str, str]


def administrator() -> str:
    owner = settings.DATABASE_OWNER
    host, port = owner["HOST"] or owner["OPTIONS"].get("host", ""), owner["PORT"] or owner["OPTIONS"].get("port", "")
    return make_conninfo(host=host, port=port, user="postgres", dbname="postgres")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """What compose gives the containers: secrets as files, a fresh database, no variable of this process."""
    admin = administrator()
    try:
        with psycopg.connect(admin, autocommit=True) as connection:
            drop(connection)
    except psycopg.OperationalError:
        pytest.skip("the tests' PostgreSQL has no administrator here: DATABASE_URL names a foreign server")
    folder = tmp_path_factory.mktemp("secrets")
    secrets = {
        "SECRET_KEY": "".join(chr(33 + index * 7 % 90) for index in range(80)),
        "DATABASE_ADMIN_URL": admin,
        "DATABASE_OWNER_URL": make_conninfo(admin, user=f"{NAME}_owner", dbname=NAME, password="owner-of-tables"),
        "DATABASE_URL": make_conninfo(admin, user=f"{NAME}_app", dbname=NAME, password="bound-by-policies"),
    }
    variables = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "POTATO_MODE": "production",
        "DJANGO_SETTINGS_MODULE": "potato_site.settings",
        "DATABASE_PLATFORM_ROLE": f"{NAME}_platform",
        "BROKER_URL": os.environ["BROKER_URL"],
        "ALLOWED_HOSTS": "review.example.org",
        "BEHIND_TLS_PROXY": "true",
        "STATIC_ROOT": str(folder / "static"),
        "BEAT_SCHEDULE": str(folder / "beat"),
        "WORKER_QUEUES": "entrypoints",
        "WORKER_CONCURRENCY": "1",
        "WEB_WORKERS": "1",
    }
    for name, value in secrets.items():
        (folder / name.lower()).write_text(value + "\n")
        variables[f"{name}_FILE"] = str(folder / name.lower())
    yield variables
    with psycopg.connect(admin, autocommit=True) as connection:
        drop(connection)


def drop(connection: psycopg.Connection) -> None:
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(NAME)))
    for role in ("app", "owner", "platform"):
        connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(f"{NAME}_{role}")))


def run(environment: Environment, *role: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "docker/entrypoint.sh", *role],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )


@pytest.fixture(scope="module")
def migrated(environment: Environment) -> Environment:
    for role in (["provision_database"], ["migrate"], ["collectstatic", "--noinput"]):
        done = run(environment, *role)
        assert done.returncode == 0, done.stdout + done.stderr
    return environment


def without(environment: Environment, *names: str) -> Environment:
    return {key: value for key, value in environment.items() if key not in names}


@pytest.fixture
def site(migrated: Environment, tmp_path: Path) -> Iterator[str]:
    """The address of the web container's program, which holds the application's secrets alone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    variables = without(migrated, "DATABASE_OWNER_URL_FILE", "DATABASE_ADMIN_URL_FILE")
    log = (tmp_path / "web.log").open("w")
    web = subprocess.Popen(
        ["/bin/sh", "docker/entrypoint.sh", "web"],
        cwd=ROOT,
        env={**variables, "BIND": f"127.0.0.1:{port}"},
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/readyz", web, tmp_path / "web.log")
        yield address
    finally:
        os.killpg(web.pid, signal.SIGTERM)
        web.wait(timeout=30)
        log.close()


def wait_for(address: str, program: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert program.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(address, timeout=2):  # noqa: S310  (our own server)
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"{address} did not answer:\n{log.read_text()}")


def get(address: str, **headers: str) -> tuple[int, dict[str, str], str]:
    request = urllib.request.Request(address, headers={"Host": "review.example.org", **headers})  # noqa: S310
    opener = urllib.request.build_opener(NoRedirects)
    try:
        with opener.open(request, timeout=10) as answer:
            return answer.status, dict(answer.headers), answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, dict(answer.headers), answer.read().decode()


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: object, **kwargs: object) -> None:
        return None


def test_the_site_serves_its_login_over_tls_alone_with_every_header_on(site: str) -> None:
    status, headers, _ = get(f"{site}/accounts/login/")
    assert (status, headers["Location"]) == (301, "https://review.example.org/accounts/login/")
    status, headers, body = get(f"{site}/accounts/login/", **{"X-Forwarded-Proto": "https"})
    assert status == 200
    assert "Sign in" in body
    assert headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains; preload"
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Set-Cookie"].startswith("__Host-csrf=")
    assert "Secure" in headers["Set-Cookie"]


def test_a_host_that_is_not_ours_is_refused(site: str) -> None:
    status, _, _ = get(f"{site}/accounts/login/", **{"Host": "evil.example.com", "X-Forwarded-Proto": "https"})
    assert status == 400


def test_static_files_carry_their_hash_and_are_kept_for_ever(site: str) -> None:
    _, _, body = get(f"{site}/accounts/login/", **{"X-Forwarded-Proto": "https"})
    sheet = body.partition('rel="stylesheet" href="')[2].partition('"')[0]
    status, headers, _ = get(f"{site}{sheet}", **{"X-Forwarded-Proto": "https"})
    assert status == 200
    assert "immutable" in headers["Cache-Control"]


@pytest.mark.parametrize(("role", "says"), [("worker", "ready."), ("beat", "beat: Starting...")])
def test_worker_and_beat_start_and_stop_when_told(migrated: Environment, role: str, says: str, tmp_path: Path) -> None:
    variables = without(migrated, "DATABASE_OWNER_URL_FILE", "DATABASE_ADMIN_URL_FILE")
    log = tmp_path / "log"
    with log.open("w") as out:
        program = subprocess.Popen(
            ["/bin/sh", "docker/entrypoint.sh", role], cwd=ROOT, env=variables, stdout=out, stderr=out,
            start_new_session=True,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while says not in log.read_text() and time.monotonic() < deadline and program.poll() is None:
            time.sleep(0.2)
        started = says in log.read_text()
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGTERM)
        program.wait(timeout=60)
    assert started, log.read_text()


def test_provision_and_migrate_can_be_repeated(migrated: Environment) -> None:
    said = run(migrated, "provision_database").stdout.splitlines()
    assert said
    assert all(sentence.startswith("set the password of ") for sentence in said)
    assert "No migrations to apply" in run(migrated, "migrate").stdout


def test_the_site_refuses_the_owners_address(migrated: Environment) -> None:
    wrong = {**migrated, "DATABASE_URL_FILE": migrated["DATABASE_OWNER_URL_FILE"], "BIND": "127.0.0.1:0"}
    refused = run(wrong, "web")
    assert refused.returncode != 0
    assert "tenancy.E004" in refused.stdout + refused.stderr
