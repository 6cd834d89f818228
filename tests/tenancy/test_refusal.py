"""The site, the worker and the beat start as the web role, and not as one that bypasses row-level security."""

import os
import sys
import time
from pathlib import Path

import psycopg
import pytest
from pytest_django.plugin import DjangoDbBlocker

from tests.tenancy.programs import CELERY, PATIENCE_SECONDS, WEB_SITE, Ending, address_of, end_of, start

pytestmark = pytest.mark.django_db

GUNICORN = [sys.executable, "-m", "gunicorn", "potato_site.wsgi", "--workers", "1", "--log-level", "warning"]

ROLES = ("the owner", "a role with BYPASSRLS", "a superuser", "the web role")

# As the web role only the site is started here: it ends by itself. Workers and beats run in other stories.
STARTS = [
    *((program, role) for program in ("site", "worker") for role in ROLES[:3]),
    ("beat", "the owner"),
    ("gunicorn", "the owner"),
    ("site", "the web role"),
]


def addresses() -> dict[str, str | None]:
    """The address as which each role connects; None where this server lets no superuser in without a password."""
    superuser = address_of("postgres")
    try:
        with psycopg.connect(superuser) as connection:
            row = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
    except psycopg.OperationalError:
        row = None
    return {
        "the owner": address_of(variable="DATABASE_OWNER_URL"),
        # It cannot log in; so the web role logs in and becomes it at once, as a careless address may say.
        "a role with BYPASSRLS": address_of(options="-c role=potato_platform"),
        "a superuser": superuser if row == (True,) else None,
        "the web role": address_of(),
    }


@pytest.fixture(scope="module")
def endings(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], Ending | None]:
    """How each program ended as each role; all of them are started at once, because each takes its time."""
    folder = tmp_path_factory.mktemp("refusal")
    with django_db_blocker.unblock():
        known = addresses()
    running = {
        (program, role): start(
            command(program, folder, role),
            {"POTATO_MODE": "test", "DATABASE_URL": address, "BROKER_URL": os.environ["BROKER_URL"]},
        )
        for program, role in STARTS
        if (address := known[role])
    }
    deadline = time.monotonic() + PATIENCE_SECONDS
    found = {key: end_of(process, max(1, deadline - time.monotonic())) for key, process in running.items()}
    return {key: found.get(key) for key in STARTS}


def command(program: str, folder: Path, role: str) -> list[str]:
    if program == "worker":
        return [*CELERY, "worker", "--pool", "prefork", "--concurrency", "1", "--queues", "tests-refusal"]
    if program == "beat":
        return [*CELERY, "beat", "--schedule", str(folder / f"beat {role}")]
    if program == "gunicorn":
        return [*GUNICORN, "--bind", f"unix:{folder / 'site.sock'}"]
    return WEB_SITE


@pytest.mark.parametrize(("program", "role"), [start for start in STARTS if start[1] != "the web role"])
def test_it_refuses_to_start(endings: dict[tuple[str, str], Ending | None], program: str, role: str) -> None:
    ending = endings[program, role]
    if ending is None:
        pytest.skip("this server lets nobody in as the superuser postgres")
    assert ending.code not in (0, None), ending.output
    assert "tenancy.E004" in ending.output
    assert "bypasses row-level security" in ending.output
    assert "provision_database" in ending.output


def test_the_site_starts_as_the_web_role(endings: dict[tuple[str, str], Ending | None]) -> None:
    ending = endings["site", "the web role"]
    assert ending is not None
    assert ending.code == 0, ending.output
