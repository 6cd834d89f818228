"""Settings, as processes read them from their environment: production has no defaults for what must be right."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings
from pytest_django.plugin import DjangoDbBlocker

from potato_site.checks import production_is_safe, tasks_end_before_redis_hands_them_on
from tests.tenancy.programs import WEB_SITE, Ending, address_of, end_of, start

pytestmark = pytest.mark.django_db

MANAGE = Path(__file__).resolve().parents[2] / "manage.py"
KEY = "9bXb3yq0vJm1TzQ7uK5sD2wLhR8cN4eFgA6pVtYxZiOoUjWkMl"
SHOW = [
    sys.executable,
    "-c",
    "import json; from django.conf import settings as s;"
    "print(json.dumps([s.SECRET_KEY, s.DATABASES['default']['NAME'], s.BROKER_URL, s.ALLOWED_HOSTS, s.DEBUG]))",
]

# What is changed in an environment that is right, and what is said about it. None takes the variable out.
WRONG: dict[str, tuple[dict[str, str | None], list[str]]] = {
    "no SECRET_KEY": ({"SECRET_KEY": None}, ["SECRET_KEY (or SECRET_KEY_FILE) is not set"]),
    "an empty SECRET_KEY": ({"SECRET_KEY": "  "}, ["SECRET_KEY (or SECRET_KEY_FILE) is not set"]),
    "no DATABASE_URL": ({"DATABASE_URL": None}, ["DATABASE_URL (or DATABASE_URL_FILE) is not set"]),
    "a DATABASE_URL that is none": ({"DATABASE_URL": "potato"}, ["A database address cannot be read"]),
    "no BROKER_URL": ({"BROKER_URL": None}, ["BROKER_URL (or BROKER_URL_FILE) is not set"]),
    "no ALLOWED_HOSTS": ({"ALLOWED_HOSTS": None}, ["potato.E003", "ALLOWED_HOSTS=review.example.org"]),
    "the key of development": ({"SECRET_KEY": "development only, " * 4}, ["potato.E002"]),
    "DEBUG": ({"DEBUG": "true"}, ["potato.E001", "Remove DEBUG"]),
    "a mode that there is not": ({"POTATO_MODE": "live"}, ["POTATO_MODE is 'live'", "production, development or test"]),
}


@pytest.mark.parametrize(
    ("name", "value", "problems"),
    [
        ("ALLOWED_HOSTS", ["review.example.org"], []),
        ("ALLOWED_HOSTS", ["review.example.org", "*"], ["potato.E003"]),
        ("ALLOWED_HOSTS", [], ["potato.E003"]),
        ("SECRET_KEY", KEY[:20], ["potato.E002"]),
        ("SECRET_KEY", "a" * 60, ["potato.E002"]),
        ("BROKER_URL", "memory://", ["potato.E004"]),
        ("DEBUG", True, ["potato.E001"]),
        ("PRODUCTION", False, []),
    ],
)
def test_production_is_checked(settings: Settings, name: str, value: object, problems: list[str]) -> None:
    settings.PRODUCTION, settings.DEBUG = True, False
    settings.SECRET_KEY, settings.ALLOWED_HOSTS, settings.BROKER_URL = KEY, ["review.example.org"], "redis://broker"
    setattr(settings, name, value)
    assert [problem.id for problem in production_is_safe(None)] == problems


def test_a_task_that_could_outlive_the_visibility_timeout_is_found(settings: Settings) -> None:
    assert tasks_end_before_redis_hands_them_on(None) == []
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 2 * settings.CELERY_TASK_TIME_LIMIT - 1}
    assert [problem.id for problem in tasks_end_before_redis_hands_them_on(None)] == ["potato.E005"]


@pytest.fixture(scope="module")
def right(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> dict[str, str]:
    """An environment of production; the mode is production where none is named."""
    with django_db_blocker.unblock():
        database = address_of()
    return {
        "SECRET_KEY": KEY,
        "DATABASE_URL": database,
        "BROKER_URL": os.environ["BROKER_URL"],
        "ALLOWED_HOSTS": "review.example.org",
        "DJANGO_SETTINGS_MODULE": "potato_site.settings",
    }


@pytest.fixture(scope="module")
def endings(right: dict[str, str]) -> dict[str, Ending]:
    """How the site ended in each wrong environment; all are started at once, because each takes its time."""
    running = {
        name: start(WEB_SITE, {key: value for key, value in {**right, **change}.items() if value is not None})
        for name, (change, _) in WRONG.items()
    }
    return {name: end_of(process) for name, process in running.items()}


@pytest.mark.parametrize("name", WRONG)
def test_the_site_does_not_start_with(endings: dict[str, Ending], name: str) -> None:
    ending = endings[name]
    assert ending.code not in (0, None), ending.output
    for words in WRONG[name][1]:
        assert words in ending.output
    # Nobody finds a secret in the logs of a start that failed.
    assert KEY not in ending.output


def test_the_site_starts_in_production_with_what_is_right(right: dict[str, str]) -> None:
    ending = end_of(start(WEB_SITE, right))
    assert ending.code == 0, ending.output


def test_every_variable_can_be_a_file(right: dict[str, str], tmp_path: Path) -> None:
    files = {"DJANGO_SETTINGS_MODULE": right["DJANGO_SETTINGS_MODULE"]}
    for name in ("SECRET_KEY", "DATABASE_URL", "BROKER_URL", "ALLOWED_HOSTS"):
        value = right[name]
        (tmp_path / name).write_text(f"{value}\n" if name != "ALLOWED_HOSTS" else value)
        files[f"{name}_FILE"] = str(tmp_path / name)
    ending = end_of(start(SHOW, files))
    assert ending.code == 0, ending.output
    name = right["DATABASE_URL"].partition("?")[0].rpartition("/")[2]
    assert json.loads(ending.output) == [KEY, name, right["BROKER_URL"], ["review.example.org"], False]


def test_a_file_that_is_missing_is_named(right: dict[str, str], tmp_path: Path) -> None:
    missing = {key: value for key, value in right.items() if key != "SECRET_KEY"}
    ending = end_of(start(SHOW, {**missing, "SECRET_KEY_FILE": str(tmp_path / "nowhere")}))
    assert ending.code not in (0, None)
    assert str(tmp_path / "nowhere") in ending.output


def test_a_process_shares_eight_connections_in_development_as_in_production(right: dict[str, str]) -> None:
    """Tests open a connection a thread, and so does a site behind PgBouncer, which is a pool itself."""
    show = [sys.executable, "-c", "from django.conf import settings as s; print(s.DATABASES['default']['OPTIONS'])"]
    for change in ({}, {"POTATO_MODE": "development"}):
        assert "'max_size': 8" in end_of(start(show, {**right, **change})).output
    for change in ({"DATABASE_POOL_SIZE": "0"}, {"POTATO_MODE": "test"}):
        ending = end_of(start(show, {**right, **change}))
        assert (ending.code, "pool" in ending.output) == (0, False)


LOG = [
    sys.executable,
    "-c",
    "import django, structlog; django.setup();"
    "structlog.get_logger('traces').info('import.finished', rows=3, file='a\\x1b[31m.jsonl');"
    "structlog.get_logger('\\x1b[31m').warning('odd\\x1b[31m event')",
]


@pytest.mark.parametrize("mode", ["development", "production"])
def test_logs_go_beside_what_a_command_prints_and_can_be_read_in_development(right: dict[str, str], mode: str) -> None:
    environment = {**os.environ, **right, "POTATO_MODE": mode}
    told = subprocess.run(LOG, env=environment, capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout == ""
    assert "\x1b" not in told.stderr
    line = next(line for line in told.stderr.splitlines() if "import.finished" in line)
    if mode == "production":
        assert json.loads(line)["rows"] == 3
    else:
        assert "{" not in told.stderr
        assert line.endswith(r"info import.finished rows=3 file='a\x1b[31m.jsonl'"), line


LOGGERS = ("traces", "django_structlog.celery.receivers")
COMMAND = "import structlog;" + "".join(
    f"structlog.get_logger('{name}').info('task.enqueued'); structlog.get_logger('{name}').warning('odd.{name}');"
    for name in LOGGERS
)


@pytest.mark.parametrize(("change", "is_detailed"), [({}, False), ({"LOG_LEVEL": "INFO"}, True)])
def test_a_command_prints_what_it_was_asked_for_and_warnings_alone_of_the_log(
    right: dict[str, str], change: dict[str, str], is_detailed: bool
) -> None:
    command = [sys.executable, str(MANAGE), "shell", "--no-imports", "-c", COMMAND + "print('asked')"]
    environment = {**os.environ, **right, **change, "POTATO_MODE": "production"}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout == "asked\n"
    assert [f"odd.{name}" in told.stderr for name in LOGGERS] == [True, True]
    assert told.stderr.count("task.enqueued") == (2 if is_detailed else 0)


def test_the_programs_of_the_site_log_all_and_each_logger_as_little_as_is_asked_for(right: dict[str, str]) -> None:
    levels = f"[logging.getLogger(name).getEffectiveLevel() for name in {LOGGERS}]"
    show = [sys.executable, "-c", f"import django, logging; django.setup(); print({levels})"]
    assert "[20, 20]" in end_of(start(show, right)).output
    assert "[40, 40]" in end_of(start(show, {**right, "LOG_LEVEL": "ERROR"})).output
