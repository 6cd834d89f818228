"""Traces that were imported before the tests that agents ran were kept."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.db import connection

from potato.runs.model import Step, ToolCall
from tenancy.actor import acting_in
from tests.tenants import Tenants
from tests.traces.stored import step, stored
from traces.models import Trace

migration = import_module("traces.migrations.0019_test_runs_of_earlier_traces")

pytestmark = pytest.mark.django_db


def test_the_migration_finds_what_an_import_finds(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "TRACES_AT_ONCE", 1)
    for number, result in enumerate(("5 passed in 1.0s", "2 failed, 3 passed in 0.2s")):
        stored(tenants.acme, tenants.acme_project, steps=(step(result=result),), external_id=f"run-{number}")
    silent = Step(message="Done.", calls=(ToolCall("1", "Bash", {"command": "ls"}, "a.py"),))
    stored(tenants.acme, tenants.acme_project, steps=(silent,), external_id="run-2")
    with acting_in(tenants.acme):
        kept = Trace.objects.order_by("external_id").values_list("tests_outcome", "test_runs")
        before = list(kept.all())
        assert [outcome for outcome, _ in before] == ["passed", "failed", ""]
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL ROLE potato_owner")
            cursor.execute("UPDATE traces_trace SET test_runs = '[]', tests_outcome = ''")
            assert cursor.rowcount == 3
            migration.fill(None, SimpleNamespace(connection=connection))
            cursor.execute("SET LOCAL ROLE potato_app")
        assert list(kept.all()) == before
