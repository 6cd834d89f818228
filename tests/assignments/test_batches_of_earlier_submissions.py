"""Annotations that were submitted before they kept their batch."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.db import connection

from assignments.models import Submission
from tests.assignments.conftest import Queue, submit

migration = import_module("assignments.migrations.0023_batches_of_earlier_submissions")


def test_they_are_of_the_batch_in_which_their_trace_is_now(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "ROWS_AT_ONCE", 1)
    keys = [submit(queue.claimed(queue.tenants.bob)).pk for _ in range(2)]
    kept = Submission.objects.filter(pk__in=keys).order_by("pk").values_list("batch_number", flat=True)
    assert list(kept.all()) == [1, 1]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE potato_owner")
        cursor.execute("UPDATE assignments_submission SET batch_number = NULL")
        assert cursor.rowcount == 2
        migration.fill(None, SimpleNamespace(connection=connection))
        cursor.execute("SET LOCAL ROLE potato_app")
    assert list(kept.all()) == [1, 1]
