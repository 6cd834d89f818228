"""The ground of all tests: a real PostgreSQL with its policies in force. Tests build the database as its owner, and
run as the web role, so that every query obeys row-level security.
"""

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.core.servers.basehttp import WSGIRequestHandler
from django.db import connection, transaction
from django.test import TransactionTestCase
from hypothesis import settings as hypothesis_settings
from pytest_django.plugin import DjangoDbBlocker, blocking_manager_key

from tests.browser import chromium as chromium  # a fixture
from tests.template_database import ensure_template
from tests.tenants import Tenants, build_tenants

# What migrating writes: emptied, it would be written anew after each test.
MIGRATED = {"auth_permission", "django_content_type"}

MANY = 500
"""Of a table with more rows the pages are freed as well: tests that count what a plan reads would read dead rows, and
PostgreSQL would believe in pages full of nothing."""

# How long an example takes depends on what else the machine does.
hypothesis_settings.register_profile("without_deadline", deadline=None)
hypothesis_settings.load_profile("without_deadline")

# The live server sends the head and the body of an answer apart: each body waited for 40 ms until the head was
# acknowledged, as gunicorn's never do.
WSGIRequestHandler.disable_nagle_algorithm = True

# A shell that runs the tests in the background has them ignore Ctrl-C, and so would what stories end by it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Before the first test: put aside what the collector need not go through, and migrate, which on a busy machine
    takes longer than a test may.
    """
    # The tests and what they import stay to the end: going through them took a tenth of the time of all tests.
    gc.freeze()
    if not session.config.option.collectonly and any(map(_needs_database, session.items)):
        _connect_to_template(session.config.stash[blocking_manager_key])


def _needs_database(test: pytest.Item) -> bool:
    used = {"db", "transactional_db", "django_db_setup"}.intersection(getattr(test, "fixturenames", ()))
    return bool(used or test.get_closest_marker("django_db"))


def _connect_to_template(blocker: DjangoDbBlocker) -> None:
    """Let the test database be created as the role that may; POTATO_TEST_RUN keeps two runs at once apart."""
    connection.settings_dict.update({**settings.DATABASE_OWNER, "NAME": connection.settings_dict["NAME"]})
    connection.settings_dict["TEST"]["NAME"] = f"test_potato{os.environ.get('POTATO_TEST_RUN', '')}"
    with blocker.unblock():
        connection.settings_dict["TEST"]["TEMPLATE"] = ensure_template()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, django_db_blocker: DjangoDbBlocker) -> None:
    _connect_to_template(django_db_blocker)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The test database belongs to the owner; from here on every connection assumes the web role."""
    _assume(settings.DATABASE_APP_ROLE, django_db_blocker)
    flush = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]
    quoted = connection.ops.quote_name

    def flush_as_owner(_: TransactionTestCase) -> None:
        # Removing is the owner's right, and not the web role's. Deleting takes 0.03 s; truncating all tables took 0.7,
        # and whatever ran next had to plan its queries anew.
        names = set(connection.introspection.django_table_names(only_existing=True, include_views=False)) - MIGRATED
        tables = sorted(map(quoted, names))
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL ROLE {quoted(settings.DATABASE_OWNER['USER'])}")
            # Who still writes is waited for.
            cursor.execute(f"LOCK TABLE {', '.join(tables)} IN SHARE ROW EXCLUSIVE MODE")
            has_rows = "SELECT '{0}' WHERE EXISTS (SELECT FROM {0})"
            cursor.execute(" UNION ALL ".join(map(has_rows.format, tables)))
            large = []
            for (filled,) in cursor.fetchall():
                cursor.execute(f"DELETE FROM {filled}")  # noqa: S608 (a name that Django knows)
                if cursor.rowcount > MANY:
                    large.append(filled)
        if large:
            with connection.cursor() as cursor:
                cursor.execute(f"SET ROLE {quoted(settings.DATABASE_OWNER['USER'])}")
                cursor.execute(f"VACUUM {', '.join(large)}")
                cursor.execute(f"SET ROLE {quoted(settings.DATABASE_APP_ROLE)}")

    TransactionTestCase._fixture_teardown = flush_as_owner  # type: ignore[attr-defined]
    yield
    TransactionTestCase._fixture_teardown = flush  # type: ignore[attr-defined]
    _assume(None, django_db_blocker)


def _assume(role: str | None, blocker: DjangoDbBlocker) -> None:
    with blocker.unblock():
        connection.close()
    options = {key: value for key, value in connection.settings_dict["OPTIONS"].items() if key != "assume_role"}
    connection.settings_dict["OPTIONS"] = {**options, **({"assume_role": role} if role else {})}


@pytest.fixture
def tenants(db: None) -> Tenants:
    """Two organisations and their people, in a transaction that is rolled back."""
    return build_tenants()


@pytest.fixture
def committed_tenants(transactional_db: None) -> Tenants:
    """The same, committed: for stories with threads, workers or browsers."""
    return build_tenants()
