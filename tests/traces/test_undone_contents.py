"""An import brought a secret: undone, it is in no table and no file, and what other traces have of it stays."""

import base64
import io
import threading
import time
import zipfile
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from accounts.models import Project
from leaving.searching import files_with, rows_with
from tenancy.actor import acting_in, unscoped
from tests.potato.runs.web_runs import drawn
from tests.tenants import Tenants
from tests.traces.test_imports import lines, run, upload
from traces.contents import may_remove_contents
from traces.evidence.fragments import DisplayOptions, Making, render_files, render_steps
from traces.importing.storing import store_runs
from traces.models import Body, Fragment, ImportedFile, ImportProblem, Picture, TaskText, Trace
from traces.undoing import undo_import

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "skZx81QwertyLeaked"


@pytest.fixture(autouse=True)
def media(settings: Settings, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.STORAGES = {
        **settings.STORAGES,
        "exports": {"BACKEND": "exports.storage.DurableFileSystemStorage", "OPTIONS": {"location": str(tmp_path)}},
    }


@pytest.fixture
def tenants(committed_tenants: Tenants) -> Tenants:
    return committed_tenants


def places() -> set[str]:
    with unscoped("a test looks for marks"):
        return {str(place.where) for place in (*rows_with([SECRET]), *files_with([SECRET]))}


def leak() -> bytes:
    """Two runs with a screenshot, whose task, step, file and absent screenshot have the secret."""
    step = {"message": f"I read {SECRET}", "screenshot": {"name": "page.png"}}
    absent = {"message": SECRET, "screenshot": {"name": f"{SECRET}.png"}}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        package.writestr(
            "run.jsonl",
            lines(
                run("one", task=f"Deploy with {SECRET}", new=f"KEY={SECRET}\n", steps=[step]),
                run("two", task=f"Try {SECRET}", steps=[absent]),
            ),
        )
        package.writestr("page.png", drawn(colour="#336699"))
    return packed.getvalue()


def rendered() -> None:
    for trace in Trace.objects.all():
        render_files(trace.files.all(), DisplayOptions())
        render_steps(trace.steps.all(), DisplayOptions())


def hashes(trace: Trace) -> set[str]:
    files, steps = trace.files.values_list("sha256", flat=True), trace.steps.values_list("sha256", flat=True)
    return {trace.content_sha256, *files, *steps}


def undo(tenants: Tenants, file: ImportedFile) -> None:
    with acting_in(tenants.acme, tenants.mallory):
        undo_import(file=ImportedFile.objects.select_related("project", "job").get(pk=file.pk))


def test_nothing_of_an_undone_import_is_in_any_table_or_file(tenants: Tenants) -> None:
    file = upload(tenants, leak(), "leak.zip")
    with acting_in(tenants.acme):
        rendered()
        assert (Trace.objects.count(), Picture.objects.count(), ImportProblem.objects.count()) == (2, 1, 1)
    assert places() >= {
        "traces_trace.task", "traces_body.packed", "traces_fragment.gzipped", "traces_importproblem.sentence",
    }  # fmt: skip
    undo(tenants, file)
    assert places() == set()
    with acting_in(tenants.acme):
        assert not Body.objects.exists()
        assert not Fragment.objects.exists()
        assert not Picture.objects.exists()
        assert ImportedFile.objects.get().undone_at is not None


def test_contents_that_another_trace_has_too_stay(tenants: Tenants) -> None:
    upload(tenants, leak(), "leak.zip")
    with acting_in(tenants.acme):
        first = {trace.pk: hashes(trace) for trace in Trace.objects.all()}
        rendered()
        before = set(Fragment.objects.values_list("sha256", flat=True))
    again = upload(tenants, lines(run("three", new=f"KEY={SECRET}\n")))
    with acting_in(tenants.acme):
        third = hashes(Trace.objects.get(external_id="three"))
        shared = third & set[str]().union(*first.values())
        assert shared, "the same change of a file"
    undo(tenants, again)
    with acting_in(tenants.acme):
        assert set(Body.objects.values_list("sha256", flat=True)) == set.union(*first.values())
        assert set(Fragment.objects.values_list("sha256", flat=True)) == before
        assert Picture.objects.count() == 1


def test_what_is_rendered_while_its_import_is_undone_is_not_kept(tenants: Tenants) -> None:
    file = upload(tenants, leak(), "leak.zip")
    making = Making(DisplayOptions())
    with acting_in(tenants.acme):
        trace = Trace.objects.get(external_id="one")
        assert list(making.steps(trace.steps.all()))
    undo(tenants, file)
    with acting_in(tenants.acme):
        making.store()
        assert not Fragment.objects.exists()
    assert places() == set()


def test_an_undo_waits_for_an_import_that_brings_the_same_content_into_another_project(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else that one would leave the content out, because it is there, and have none afterwards."""
    file = upload(tenants, leak(), "leak.zip")
    with acting_in(tenants.acme, tenants.alice):
        elsewhere = replace(tenants, acme_project=Project.objects.create(slug="other", name="Other"))
    is_stored, may_commit = threading.Event(), threading.Event()

    def stored_slowly(*arguments: Any) -> Any:
        outcomes = store_runs(*arguments)
        is_stored.set()
        assert may_commit.wait(30)
        return outcomes

    def undone() -> None:
        undo(tenants, file)
        connection.close()

    def imported() -> None:
        upload(elsewhere, leak(), "again.zip")
        connection.close()

    monkeypatch.setattr("traces.importing.import_job.store_runs", stored_slowly)
    importing, undoing = threading.Thread(target=imported), threading.Thread(target=undone)
    importing.start()
    assert is_stored.wait(30)
    undoing.start()
    undoing.join(1)
    assert undoing.is_alive(), "it waits"
    may_commit.set()
    importing.join(30)
    undoing.join(30)
    with acting_in(tenants.acme):
        traces = list(Trace.objects.all())
        assert {trace.project.slug for trace in traces} == {"other"}
        wanted = set.union(*(hashes(trace) for trace in traces))
        assert set(Body.objects.values_list("sha256", flat=True)) == wanted
        assert Picture.objects.count() == 1


def locked_rows_of_who_waits() -> set[str] | None:
    """Tables whose rows are changed by whoever waits for the lock of contents; None while nobody waits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
        waiting = [pid for (pid,) in cursor.fetchall()]
        cursor.execute(
            "SELECT relation::regclass::text FROM pg_locks WHERE pid = ANY(%s) AND mode = 'RowExclusiveLock'", [waiting]
        )
        tables = {table for (table,) in cursor.fetchall() if table.startswith("traces_")}
    return tables if waiting else None


def test_an_import_of_texts_waits_for_an_undo_before_it_locks_any_row_that_the_undo_may_want(tenants: Tenants) -> None:
    """Else each would wait for the other."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        text = {"instance_id": "acme__parser-1", "problem_statement": "The last page is dropped."}
        package.writestr("tasks.jsonl", lines(text))
        package.writestr("run.jsonl", lines(run("one")))

    def imported() -> None:
        upload(tenants, packed.getvalue(), "week.zip")
        connection.close()

    importing, tables = threading.Thread(target=imported), None
    with acting_in(tenants.acme):
        may_remove_contents()
        importing.start()
        ends = time.monotonic() + 30
        while tables is None and time.monotonic() < ends:
            tables = locked_rows_of_who_waits()
    importing.join(30)
    assert tables == set()
    with acting_in(tenants.acme):
        assert TaskText.objects.get().text == "The last page is dropped."


def test_a_picture_goes_with_the_last_trace_that_has_it_as_a_screenshot_or_from_a_tool(tenants: Tenants) -> None:
    page = {"name": "page.png", "data": "data:image/png;base64," + base64.b64encode(drawn(colour="#336699")).decode()}
    looked = {"name": "look", "result": "", "pictures": [page]}
    saw = {"message": "I see it.", "screenshot": page}
    files = [
        upload(tenants, lines(run(name, steps=[step])), f"{name}.jsonl")
        for name, step in (
            ("tool", {"message": "I look.", "tool_calls": [looked]}),
            ("screenshot", saw),
            ("agent", {"message": "Ask.", "agents": [{"name": "helper", "steps": [{"tool_calls": [looked]}]}]}),
        )
    ]
    for file, left in zip(files, (1, 1, 0), strict=True):
        undo(tenants, file)
        with acting_in(tenants.acme):
            assert Picture.objects.count() == left, file.name
