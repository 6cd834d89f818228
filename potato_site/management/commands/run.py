"""The whole site for a developer: servers, migrations, demo, web, worker and beat, until Ctrl-C."""

import io
import logging
import os
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, cast

import redis
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.postgresql.base import DatabaseWrapper as PostgreSQL
from kombu.exceptions import OperationalError as BrokerError

from potato_site import devservices
from potato_site.celery import app
from potato_site.own_runs import LOGIN, PASSWORD, NothingCameIn, load_own_runs
from potato_site.supervisor import HOST, Program, Supervisor, SupervisorError, port_from_environment
from project_setup.project_templates import TEMPLATES

BROKERS = ("redis://", "rediss://", "redis+socket://")
QUEUES = "interactive,imports,exports,statistics"


class Command(BaseCommand):
    help = "Runs the site with its demo at http://127.0.0.1:$PORT (8000) until Ctrl-C. For development only."
    # `migrate` checks, once there is something to check against.
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--review", nargs="+", type=Path, metavar="FILE|FOLDER", help="a project of these runs instead of the demo"
        )
        parser.add_argument(
            "--template", choices=[one.key for one in TEMPLATES], default="both", help="of that project"
        )
        parser.add_argument("--no-browser", action="store_true", help="with --review: print the address alone")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.MODE != "development":
            raise CommandError(
                f"`run` is for development and POTATO_MODE is {settings.MODE}. In production run gunicorn, celery "
                "worker and celery beat under a supervisor of your choice."
            )
        local = Path(settings.BASE_DIR) / ".local"
        try:
            port = port_from_environment()
            supervisor = Supervisor(_programs(port, local), port=port, logs=local / "logs", say=self._say)
            services = devservices.ensure("development")
            _ping_broker()
            review: list[Path] | None = options["review"]
            loaded = "your runs" if review else "the demo"
            self._say(f"migrating, loading {loaded} and collecting static files")
            page = ""

            def load(output: IO[str]) -> None:
                nonlocal page
                if review:
                    page = load_own_runs(review, options["template"], self._say)
                    output.write(f"Sign in as {LOGIN} with the password {PASSWORD}.\n")
                else:
                    call_command("load_demo", stdout=output)

            demo = _prepare(load)
            self._say("logs are in " + ", ".join(str(program.log) for program in supervisor.programs))
            supervisor.run(
                announce=lambda: self._announce(
                    supervisor.address + page, demo, opens=bool(review) and not options["no_browser"]
                ),
                heal=services.start_crashed,
            )
        except (SupervisorError, devservices.ServiceError, NothingCameIn) as error:
            raise CommandError(str(error)) from error
        self._say("stopped")

    def _announce(self, address: str, demo: str, *, opens: bool) -> None:
        self.stdout.write(f"READY {address}\n{demo}".rstrip())
        self.stdout.flush()
        if opens:
            webbrowser.open(address)

    def _say(self, sentence: str) -> None:
        self.stderr.write(f"potato: {sentence}", style_func=str)
        self.stderr.flush()


def _ping_broker() -> None:
    """Refuse a broker that the web, the worker and beat can't share or can't reach."""
    advice = "unset BROKER_URL to use an embedded server."
    if not settings.BROKER_URL.startswith(BROKERS):
        raise CommandError(
            "BROKER_URL is not the address of a Redis or Valkey, which looks like redis://host:6379/0. "
            f"Correct it, or {advice}"
        )
    try:
        with app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, timeout=2)
    except (BrokerError, redis.RedisError, OSError, ValueError) as error:
        raise CommandError(
            f"BROKER_URL can't be used: {str(error).rstrip('.')}. Start that server or correct the address, or {advice}"
        ) from error


def _prepare(load: Callable[[IO[str]], None]) -> str:
    """Bring the database and the static files up to date; answers what `load` has to say of what it loads."""
    output = io.StringIO()
    # The console is for what a person has to know; the programs log to their files.
    logging.disable(logging.INFO)
    call_command("migrate", interactive=False, verbosity=0)
    load(output)
    call_command("collectstatic", interactive=False, verbosity=0)
    connections.close_all()
    # Nothing here asks the database any more, and a pool would go on trying while the servers are put away.
    cast(PostgreSQL, connections[DEFAULT_DB_ALIAS]).close_pool()
    return output.getvalue()


def _programs(port: int, local: Path) -> list[Program]:
    celery = [sys.executable, "-m", "celery", "-A", "potato_site"]
    web = [
        sys.executable, "-m", "gunicorn", "potato_site.wsgi",
        "--bind", f"{HOST}:{port}",
        "--worker-class", "potato_site.serving.Worker", "--workers", "2", "--threads", "4",
        "--graceful-timeout", "4",
        "--no-control-socket",
    ]  # fmt: skip
    worker = [
        *celery, "worker",
        "--queues", QUEUES, "--concurrency", "4", "--loglevel", "INFO",
        "--without-gossip", "--without-mingle",
    ]  # fmt: skip
    # One schedule file for each port: two sites of one checkout would lock each other out.
    beat = [*celery, "beat", "--loglevel", "INFO", "--schedule", os.fspath(local / f"beat-{port}")]
    return [Program("web", web), Program("worker", worker), Program("beat", beat)]
