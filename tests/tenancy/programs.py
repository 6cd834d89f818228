"""Programs of the site as processes of their own, with an environment of their own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from django.db import connection
from psycopg.conninfo import conninfo_to_dict

from potato_site.devservices.addresses import database_url

CHECKOUT = Path(__file__).parents[2]
PATIENCE_SECONDS = 120

WEB_SITE = [sys.executable, "-c", "import potato_site.wsgi"]
CELERY = [sys.executable, "-m", "celery", "-A", "potato_site"]


@dataclass(frozen=True)
class Ending:
    """How a program ended, and all that it printed. The code is None when it had to be stopped."""

    code: int | None
    output: str


def start(command: list[str], environment: dict[str, str]) -> "subprocess.Popen[str]":
    """Run it with this environment and no other, but for PATH."""
    return subprocess.Popen(
        command,
        env={"PATH": os.environ.get("PATH", os.defpath), **environment},
        cwd=CHECKOUT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def end_of(process: "subprocess.Popen[str]", seconds: float = PATIENCE_SECONDS) -> Ending:
    """Wait for its end, or stop it after so many seconds."""
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.terminate()
        output, _ = process.communicate()
        return Ending(None, output)
    return Ending(process.returncode, output)


def address_of(user: str = "", *, variable: str = "DATABASE_URL", **more: str) -> str:
    """The database of the tests, as the role of that variable unless another is named; `more` goes to libpq."""
    found = {name: str(value) for name, value in conninfo_to_dict(os.environ[variable]).items()}
    role, password = found.pop("user"), found.pop("password", None)
    found.pop("dbname", None)
    return database_url(
        user or role, str(connection.settings_dict["NAME"]), None if user else password, {**found, **more}
    )
