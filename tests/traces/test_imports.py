"""Files of runs become traces: by upload and by command, once each, with every error told and nothing lost."""

import io
import json
import re
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.actions.projects import publish_configuration
from accounts.models import ConfigurationVersion, Project
from jobs import outbox, runner
from jobs.models import Job, JobState
from potato.configuration import ProjectConfiguration
from potato.runs.converters.native import run_as_native
from potato.runs.converters.reading import read_file
from potato.runs.model import AgentRun, ConversionReport, Converted, ReadingOptions, Step
from potato.runs.run_files import InMemoryRunFile
from tenancy.actor import Actor, acting_in
from tests.tenants import Tenants
from traces.actions import EmptyFile, UnknownFormat, request_import
from traces.importing import import_job as imports
from traces.importing.storing import count_rows, ready, store_runs
from traces.importing.uploads import FileTooLarge
from traces.models import Body, Fragment, ImportedFile, ImportProblem, Trace

pytestmark = pytest.mark.django_db(transaction=True)


def run(id: str, *, task: str = "Fix the parser", old: str = "a\n", new: str = "b\n", **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "task_description": task,
        "agent_model": "harbor-coder-2",
        "steps": [
            {"message": "I change it.", "tool_calls": [{"name": "Bash", "arguments": {"command": "ls"}, "result": "x"}]}
        ],
        "files": [{"path": "src/parser.py", "operation": "modified", "old_text": old, "new_text": new}],
        **more,
    }


def lines(*records: dict[str, Any] | str) -> bytes:
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in records).encode()


def upload(tenants: Tenants, content: bytes, name: str = "runs.jsonl", format: str = "auto") -> ImportedFile:
    with acting_in(tenants.acme, tenants.dora):
        file = request_import(project=tenants.acme_project, content=ContentFile(content, name=name), format=format)
    work(tenants, file)
    return file


def work(tenants: Tenants, file: ImportedFile) -> Job:
    """What a worker does when it is notified."""
    actor = Actor(tenants.acme.pk, (tenants.acme.pk,), tenants.dora.pk)
    assert file.job_id is not None
    for _ in range(50):
        runner.run(job_id=file.job_id, actor=actor)
        with acting_in(tenants.acme):
            job = Job.objects.get(pk=str(file.job_id))
        if not job.is_open:
            outbox.deliver(actor)
            return job
    pytest.fail("the job does not end")


def job_of(tenants: Tenants, file: ImportedFile) -> Job:
    with acting_in(tenants.acme):
        return Job.objects.get(pk=str(file.job_id))


def test_an_upload_becomes_traces_with_steps_and_files_and_nothing_is_rendered(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    file = upload(tenants, lines(run("one"), run("two", new="c\n")))
    job = job_of(tenants, file)
    assert (job.state, job.result) == (JobState.DONE, {"imported": 2, "known": 0, "errors": 0})
    assert job.progress == job.total == 2
    with acting_in(tenants.acme):
        one = Trace.objects.get(external_id="one")
        assert (one.steps_count, one.tool_calls, one.files_count, one.added, one.removed) == (1, 1, 1, 1, 1)
        assert one.task == "Fix the parser"
        assert one.task_id == Trace.objects.get(external_id="two").task_id
        assert one.files.get().path == "src/parser.py"
        assert one.steps.get().title == "Run a command"
        assert one.steps.get().is_noise is False
        assert one.converter == "native"
        assert one.transaction > 0
        assert Body.objects.get(sha256=one.content_sha256).content["id"] == "one"
        assert not Fragment.objects.exists()
        file.refresh_from_db()
        assert file.chosen == "native"
        assert "native" in file.reason
    assert not default_storage.exists(file.stored_as)


def test_the_same_content_again_is_known_and_other_content_is_a_new_version(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    upload(tenants, lines(run("one")))
    again = upload(tenants, lines(run("one")))
    changed = upload(tenants, lines(run("one", new="other\n")))
    assert job_of(tenants, again).result == {"imported": 0, "known": 1, "errors": 0}
    assert job_of(tenants, changed).result == {"imported": 1, "versions": 1, "known": 0, "errors": 0}
    with acting_in(tenants.acme):
        assert list(Trace.objects.order_by("version").values_list("version", flat=True)) == [1, 2]
        assert [trace.version for trace in Trace.objects.all().newest()] == [2]


def test_a_bad_line_is_told_and_stops_no_good_one(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    file = upload(tenants, lines(run("one"), '{"id": "broken", ', run("three")))
    assert job_of(tenants, file).result == {"imported": 2, "known": 0, "errors": 1}
    with acting_in(tenants.acme):
        (problem,) = ImportProblem.objects.filter(file=file)
        assert problem.place == 2
        assert problem.sentence


def test_an_import_under_a_scheme_type_that_was_uninstalled_fails_with_its_name(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    with acting_in(tenants.acme):
        pin = ProjectConfiguration(task_name="First").model_dump(mode="json")
        pin["annotation_schemes"][0] = {"name": "mood", "annotation_type": "mood"}
        ConfigurationVersion.objects.create(project=tenants.acme_project, number=1, source="old", configuration=pin)
    job = job_of(tenants, upload(tenants, lines(run("one"))))
    assert job.state == JobState.FAILED
    assert "names the scheme type mood, which is not installed" in job.error


def test_a_file_that_yields_nothing_is_a_failed_job_and_no_trace(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    file = upload(tenants, b'{"session_id": "x", "created": 1}', name="metadata.json")
    job = job_of(tenants, file)
    assert job.state == JobState.FAILED
    assert "No trace came in" in job.error
    assert "metadata.json" in job.error
    with acting_in(tenants.acme):
        assert not Trace.objects.exists()
        assert ImportProblem.objects.filter(file=file).count() == 1


def test_a_killed_import_goes_on_where_its_last_part_ended(
    committed_tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenants = committed_tenants
    monkeypatch.setattr(imports, "RECORDS_A_PART", 3)
    records = [run(f"run-{number}") for number in range(10)]
    with acting_in(tenants.acme, tenants.dora):
        content = ContentFile(lines(*records[:4], "{broken", *records[4:], "{broken"), name="ten.jsonl")
        file = request_import(project=tenants.acme_project, content=content)
    stored = store_runs
    calls = []

    def dies_once(*args: Any) -> Any:
        outcomes = stored(*args)
        calls.append(args)
        if len(calls) == 2:
            raise SystemExit("killed")
        return outcomes

    monkeypatch.setattr(imports, "store_runs", dies_once)
    with pytest.raises(SystemExit):
        work(tenants, file)
    with acting_in(tenants.acme):
        assert Trace.objects.count() == 3
        Job.objects.filter(pk=str(file.job_id)).update(lease_until="2020-01-01T00:00Z")
    assert work(tenants, file).result == {"imported": 10, "known": 0, "errors": 2}
    with acting_in(tenants.acme):
        assert Trace.objects.count() == 10
        assert list(ImportProblem.objects.values_list("place", flat=True)) == [5, 12]


def test_many_traces_are_stored_with_less_than_a_statement_each(
    committed_tenants: Tenants, django_assert_max_num_queries: Any
) -> None:
    tenants = committed_tenants
    with acting_in(tenants.acme):
        file = ImportedFile.objects.create(project=tenants.acme_project, name="r.jsonl", size=1, format="native")
        job = Job(parameters={"file": str(file.pk)})
        source = InMemoryRunFile("r.jsonl", lines(*(run(f"run-{number}", new=f"{number}\n") for number in range(100))))
        with django_assert_max_num_queries(25):
            part = imports.ImportTraces().do_part(job, source)
        assert part.cursor["imported"] == Trace.objects.count() == 100


def test_a_large_first_import_does_not_read_all_its_traces_for_each_check_of_a_key(committed_tenants: Tenants) -> None:
    """As on a fresh installation, whose tables PostgreSQL has not counted yet: emptying them forgets the counts."""
    tenants, a_batch = committed_tenants, 500
    with acting_in(tenants.acme):
        file = ImportedFile.objects.create(project=tenants.acme_project, name="runs.jsonl", size=1, format="native")
        for first in range(0, 9_000, a_batch):
            before = rows_read_of_traces()
            ids = (f"run-{first + one}" for one in range(a_batch))
            runs = [AgentRun(external_id=one, task="Count", steps=(Step(message="Hm."),)) for one in ids]
            store_runs([ready(Converted(run, ConversionReport(), 1), file) for run in runs], file)
            count_rows(first, first + a_batch)
        once = first + a_batch
        assert rows_read_of_traces() - before <= once + 5 * a_batch, "one look through them, and a few rows a run"


def test_an_import_has_its_tables_counted_while_it_grows(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(analyze_count, 0) FROM pg_stat_user_tables WHERE relname = 'traces_trace'")
        (before,) = cursor.fetchone()
        words = [{"id": f"run-{number}", "steps": [{"message": "Hm."}]} for number in range(2_100)]
        assert job_of(tenants, upload(tenants, lines(*words))).result["imported"] == 2_100
        cursor.execute(
            "SELECT analyze_count, reltuples FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid"
            " WHERE s.relname = 'traces_trace'"
        )
        counted, rows = cursor.fetchone()
    assert (counted - before, 2_000 <= rows <= 2_100) == (2, True)


def rows_read_of_traces() -> int:
    """In this transaction, by statements and by the checks of foreign keys."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'traces_trace'"
        )
        (rows,) = cursor.fetchone()
    return int(rows)


def test_one_file_may_hold_a_run_twice_and_versions_of_it_in_one_batch(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    upload(tenants, lines(run("one")))
    records = [run("one"), run("two"), run("one", new="x\n"), run("two"), run("two", new="y\n"), run("one", new="x\n")]
    assert job_of(tenants, upload(tenants, lines(*records))).result == {
        "imported": 3,
        "versions": 2,
        "known": 3,
        "errors": 0,
    }
    with acting_in(tenants.acme):
        versions = Trace.objects.order_by("external_id", "version").values_list("external_id", "version")
        assert list(versions) == [("one", 1), ("one", 2), ("two", 1), ("two", 2)]


def test_a_run_with_nothing_to_judge_keeps_no_other_one_of_its_batch_out(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    nothing = {"id": "empty", "task_description": "x", "patch": "no diff"}
    file = upload(tenants, lines(run("one"), nothing, run("three")), format="native")
    assert job_of(tenants, file).result == {"imported": 2, "known": 0, "errors": 1}
    with acting_in(tenants.acme):
        assert [problem.place for problem in ImportProblem.objects.filter(file=file)] == [2]


def test_two_imports_of_the_same_runs_at_once_bring_each_of_them_once(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    content = lines(*(run(f"run-{number}") for number in range(40)))
    with acting_in(tenants.acme, tenants.dora):
        files = [
            request_import(project=tenants.acme_project, content=ContentFile(content, name="r.jsonl")) for _ in range(2)
        ]

    def worker(file: ImportedFile) -> None:
        try:
            work(tenants, file)
        finally:
            connection.close()

    threads = [threading.Thread(target=worker, args=(file,)) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results = [job_of(tenants, file).result for file in files]
    assert sorted(result["imported"] for result in results) == [0, 40]
    with acting_in(tenants.acme):
        assert Trace.objects.count() == 40
        assert all(Job.objects.get(pk=str(file.job_id)).attempts == 1 for file in files)


def test_an_import_of_too_many_records_stops_with_the_bound_and_keeps_what_came_in(
    committed_tenants: Tenants, settings: Any
) -> None:
    tenants = committed_tenants
    settings.IMPORT_MOST_RECORDS = 3
    job = job_of(tenants, upload(tenants, lines(run("one"), "{broken", run("three"), run("four"), run("five"))))
    assert job.state == JobState.FAILED
    assert "more than 3 records" in job.error
    assert "IMPORT_MOST_RECORDS" in job.error
    assert "2 traces of them came in" in job.error
    with acting_in(tenants.acme):
        assert set(Trace.objects.values_list("external_id", flat=True)) == {"one", "three"}


def test_a_file_over_the_bound_of_bytes_is_refused_by_upload_and_by_command(
    committed_tenants: Tenants, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenants = committed_tenants
    monkeypatch.setattr("traces.importing.uploads.FILE_BYTES", 100)
    content = lines(run("one"))
    with acting_in(tenants.acme), pytest.raises(FileTooLarge, match="IMPORT_MOST_BYTES"):
        request_import(project=tenants.acme_project, content=ContentFile(content, name="r.jsonl"))
    (tmp_path / "r.jsonl").write_bytes(content)
    with pytest.raises(CommandError, match="may have 100 bytes"):
        call_command("import_traces", "acme/parser", str(tmp_path / "r.jsonl"), stdout=io.StringIO())
    with acting_in(tenants.acme):
        assert not ImportedFile.objects.exists()


def test_a_zip_goes_on_at_the_member_at_which_its_last_part_ended(
    committed_tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenants = committed_tenants
    monkeypatch.setattr(imports, "RECORDS_A_PART", 2)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as package:
        for name in ("a", "b", "c"):
            package.writestr(f"{name}.jsonl", lines(run(f"{name}-1"), "{broken", run(f"{name}-3")))
    file = upload(tenants, packed.getvalue(), name="runs.zip")
    assert job_of(tenants, file).result == {"imported": 6, "known": 0, "errors": 3}
    with acting_in(tenants.acme):
        assert list(ImportProblem.objects.values_list("place", flat=True)) == [2, 2, 2]
        assert Trace.objects.count() == 6


def test_nul_and_lone_surrogates_survive_import_and_come_out_again(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    record = run("hostile", task="NUL \x00 and \ud800", new="\x00\udfff‮\n")
    record["steps"][0]["message"] = "\ud83d alone"
    upload(tenants, lines(record))
    with acting_in(tenants.acme):
        trace = Trace.objects.get()
        content = Body.objects.get(sha256=trace.content_sha256).content
    (converted,) = [
        entry
        for entry in read_file(InMemoryRunFile("back.jsonl", lines(content)), ReadingOptions(), named="native")
        if isinstance(entry, Converted)
    ]
    assert converted.run.task == record["task_description"]
    assert converted.run.steps[0].message == "\ud83d alone"
    assert run_as_native(converted.run) == content
    assert trace.task == "NUL � and �"


def test_what_the_project_says_decides_how_lines_are_read(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    source = "task_name: X\nitem_properties: {id_key: case, text_key: wish}\nagentic: {trace_converter: native}\n"
    with acting_in(tenants.acme, tenants.dora):
        publish_configuration(project=tenants.acme_project, source=source)
    record = run("ignored")
    record |= {"case": "case-7", "wish": "Sort the list"}
    del record["id"], record["task_description"]
    upload(tenants, lines(record))
    with acting_in(tenants.acme):
        assert (Trace.objects.get().external_id, Trace.objects.get().task) == ("case-7", "Sort the list")
    patch = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    refused = job_of(tenants, upload(tenants, patch, name="fix.patch"))
    assert refused.state == JobState.FAILED
    assert "native" in refused.error
    assert "patch" in refused.error
    chosen = upload(tenants, patch, name="fix.patch", format="patch")
    assert job_of(tenants, chosen).state == JobState.DONE
    with acting_in(tenants.acme):
        chosen.refresh_from_db()
        assert (chosen.format, chosen.chosen) == ("patch", "patch")


def told_of(tenants: Tenants, file: ImportedFile) -> dict[str, str]:
    with acting_in(tenants.acme):
        found = ImportProblem.objects.filter(file=file, code__in=["no_id_key", "no_text_key"])
        return {problem.code: problem.sentence for problem in found}


def test_a_key_that_the_project_names_and_no_record_has_is_told(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    with acting_in(tenants.acme, tenants.dora):
        source = "task_name: X\nitem_properties: {id_key: case, text_key: wish}\n"
        publish_configuration(project=tenants.acme_project, source=source)
    told = told_of(tenants, upload(tenants, lines(run("one"), run("two"))))
    assert sorted(told) == ["no_id_key", "no_text_key"]
    assert told["no_id_key"] == (
        "No record of this file has the key 'case', which item_properties.id_key names: traces are named otherwise. "
        "Name a key that the records have, and import the file again."
    )
    assert "'wish', which item_properties.text_key names" in told["no_text_key"]
    # One record that has it is enough; what lacks a key is told where it is looked for.
    assert list(told_of(tenants, upload(tenants, lines(run("three", case="7"), run("four"))))) == ["no_text_key"]


def test_keys_that_are_found_in_another_part_of_the_import_are_found(
    committed_tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenants = committed_tenants
    monkeypatch.setattr(imports, "RECORDS_A_PART", 1)
    with acting_in(tenants.acme, tenants.dora):
        source = "task_name: X\nitem_properties: {id_key: case, text_key: wish}\n"
        publish_configuration(project=tenants.acme_project, source=source)
    told = told_of(tenants, upload(tenants, lines(run("one", case="7"), run("two"), run("three", wish="Sort"))))
    assert told == {}


def test_the_usual_keys_and_formats_without_such_keys_are_not_told_of(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    assert told_of(tenants, upload(tenants, lines({**run("one"), "id": None}))) == {}
    with acting_in(tenants.acme, tenants.dora):
        source = "task_name: X\nitem_properties: {id_key: case}\n"
        publish_configuration(project=tenants.acme_project, source=source)
    patch = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    assert told_of(tenants, upload(tenants, patch, name="fix.patch")) == {}


def test_an_unknown_format_and_an_empty_file_are_refused_at_the_door(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    with acting_in(tenants.acme):
        with pytest.raises(UnknownFormat, match="auto, aider, atif, claude_code"):
            request_import(project=tenants.acme_project, content=ContentFile(b"x", name="x"), format="swebanch")
        with pytest.raises(EmptyFile):
            request_import(project=tenants.acme_project, content=ContentFile(b"", name="x"))
        assert not ImportedFile.objects.exists()


def test_the_command_imports_in_process_and_says_what_came_in(committed_tenants: Tenants, tmp_path: Path) -> None:
    tenants = committed_tenants
    good, mixed, bad = tmp_path / "good.jsonl", tmp_path / "mixed.jsonl", tmp_path / "metadata.json"
    good.write_bytes(lines(run("one")))
    mixed.write_bytes(lines('{"id": "cut off", ', run("two")))
    bad.write_bytes(b"{}")
    out, err = io.StringIO(), io.StringIO()
    call_command("import_traces", "acme/parser", str(good), str(mixed), stdout=out, stderr=err)
    assert "good.jsonl: 1 imported, 0 known, 0 errors" in out.getvalue()
    assert "mixed.jsonl: 1 imported, 0 known, 1 error" in out.getvalue()
    assert "mixed.jsonl, 1: " in err.getvalue()
    call_command("import_traces", "acme/parser", str(good), stdout=out, stderr=err)
    assert "good.jsonl: 0 imported, 1 known, 0 errors" in out.getvalue()
    with pytest.raises(CommandError, match="--strict"):
        call_command("import_traces", "acme/parser", str(mixed), "--strict", stdout=out, stderr=err)
    with pytest.raises(CommandError, match="No trace came in"):
        call_command("import_traces", "acme/parser", str(bad), stdout=out, stderr=err)
    with acting_in(tenants.acme):
        assert Trace.objects.count() == 2


def test_the_command_can_leave_the_work_to_a_worker(committed_tenants: Tenants, tmp_path: Path) -> None:
    tenants = committed_tenants
    path = tmp_path / "good.jsonl"
    path.write_bytes(lines(run("one")))
    call_command("import_traces", "acme/parser", str(path), "--background", stdout=io.StringIO())
    with acting_in(tenants.acme):
        file = ImportedFile.objects.get()
        assert not Trace.objects.exists()
    assert work(tenants, file).state == JobState.DONE


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["acme"], "ORG/PROJECT"),
        (["nowhere/parser"], "no organisation"),
        (["acme/nothing"], "no project"),
    ],
)
def test_the_command_says_what_is_wrong_with_its_arguments(
    committed_tenants: Tenants, tmp_path: Path, arguments: list[str], says: str
) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(run("one")))
    with pytest.raises(CommandError, match=says):
        call_command("import_traces", *arguments, str(path))


def test_an_admin_uploads_a_file_reads_its_errors_and_takes_them_along(
    committed_tenants: Tenants, client: Client
) -> None:
    tenants = committed_tenants
    client.force_login(tenants.dora)
    content = ContentFile(lines(run("one"), '{"id": "=cmd|calc", '), name="=runs.jsonl")
    answer = client.post("/o/acme/p/parser/traces/imports/new/", {"format": "auto", "files": content})
    assert answer.status_code == 302, answer.content.decode()
    with acting_in(tenants.acme):
        file = ImportedFile.objects.get()
    own = f"/o/acme/p/parser/traces/imports/{file.pk}/"
    assert answer["Location"] == own, "the import's page in its project"
    assert client.get(f"/o/acme/admin/traces/importedfile/{file.pk}/change/")["Location"] == own
    assert "Waits for its turn" in client.get(own).content.decode()
    work(tenants, file)
    page = client.get(own).content.decode()
    assert "1 came in" in page
    assert "All as CSV" in page
    report = client.get(f"{own}problems.csv")
    assert report["Content-Disposition"].startswith("attachment")
    rows = b"".join(report).decode().splitlines()
    assert rows[0] == "file,line or record,code,problem"
    assert rows[1].startswith("'=runs.jsonl,2,")
    client.force_login(tenants.bob)
    assert client.get(f"{own}problems.csv").status_code == 404, "nothing is published, so that bob sees no project"
    client.force_login(tenants.charlie)
    assert client.get(f"{own}problems.csv").status_code == 404
    assert client.get(f"/o/birch/p/parser/traces/imports/{file.pk}/problems.csv").status_code == 404


def test_the_admin_leads_to_where_files_come_in(tenants: Tenants, client: Client) -> None:
    """There is no second form: one project's page at once, else the choice of the project."""
    client.force_login(tenants.dora)
    add = "/o/acme/admin/traces/importedfile/add/"
    assert client.get(add)["Location"] == "/o/acme/p/parser/traces/imports/"
    with acting_in(tenants.acme, tenants.alice):
        Project.objects.create(slug="second", name="Second <project>")
        Project.objects.create(slug="ended", name="Ended", archived_at=timezone.now())
    page = client.get(add).content.decode()
    assert re.findall(r'href="(/o/acme/p/[a-z]+/traces/imports/)">([^<]+)<', page) == [
        ("/o/acme/p/parser/traces/imports/", "Parser review of Acme Research"),
        ("/o/acme/p/second/traces/imports/", "Second &lt;project&gt;"),
    ]
    content = ContentFile(lines(run("one")), name="runs.jsonl")
    assert client.post(add, {"format": "auto", "upload": content}).status_code == 405
    with acting_in(tenants.acme):
        assert not ImportedFile.objects.exists()


def test_a_longer_list_of_imports_takes_no_more_queries(committed_tenants: Tenants, client: Client) -> None:
    tenants, queries = committed_tenants, []
    client.force_login(tenants.dora)
    for numbers in ([1, 2], [3, 4, 5, 6]):
        for number in numbers:
            upload(tenants, lines(run(f"{number}"), run(f"{number} again", new="c\n"), '{"id": '))
        with CaptureQueriesContext(connection) as asked:
            page = client.get("/o/acme/admin/traces/importedfile/").content.decode()
        assert page.count(">2 imported<") == number
        with CaptureQueriesContext(connection) as asked_in_project:
            page = client.get("/o/acme/p/parser/traces/imports/").content.decode()
        assert page.count("2 came in") == number
        queries.append((len(asked), len(asked_in_project)))
    assert queries[0] == queries[1]


def test_another_organisation_sees_nothing_of_an_import(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    upload(tenants, lines(run("one")))
    with acting_in(tenants.birch):
        assert not Trace.objects.exists()
        assert not Body.objects.exists()
        assert not Fragment.objects.exists()
        assert Project.objects.get().traces.count() == 0


def test_ids_that_agree_as_far_as_a_column_keeps_them_stay_apart(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    file = upload(tenants, lines(run("x" * 5000 + "A"), run("x" * 5000 + "B"), run("sur\ud800"), run("sur\udfff")))
    assert job_of(tenants, file).result == {"imported": 4, "known": 0, "errors": 0}
    with acting_in(tenants.acme):
        traces = Trace.objects.all()
        assert {trace.version for trace in traces} == {1}
        assert len({trace.external_id for trace in traces}) == 4
        assert all(trace.report["repairs"] == {"id cut or mended": 1} for trace in traces)


def test_a_part_ends_when_its_time_is_over_and_the_next_one_goes_on_there(
    committed_tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenants = committed_tenants
    monkeypatch.setattr(imports, "SECONDS_A_PART", 0.0)
    with acting_in(tenants.acme):
        file = ImportedFile.objects.create(project=tenants.acme_project, name="r.jsonl", size=1, format="native")
        source = InMemoryRunFile("r.jsonl", lines(run("one"), run("two")))
        job, seen = Job(parameters={"file": str(file.pk)}), []
        for _ in range(7):
            part = imports.ImportTraces().do_part(job, source)
            job.cursor = json.loads(json.dumps(part.cursor))
            seen.append((part.progress, Trace.objects.count()))
    assert seen == [(0, 0), (0, 0), (1, 1), (2, 2), (2, 2), (2, 2), (2, 2)]
    assert part.finished


def test_a_cancelled_import_keeps_what_came_in(
    committed_tenants: Tenants, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenants = committed_tenants
    monkeypatch.setattr(imports, "RECORDS_A_PART", 2)
    with acting_in(tenants.acme, tenants.dora):
        content = ContentFile(lines(*(run(f"run-{number}") for number in range(10))), name="ten.jsonl")
        file = request_import(project=tenants.acme_project, content=content)
    stored = store_runs

    def cancels(*args: Any) -> Any:
        Job.objects.filter(pk=str(file.job_id)).update(cancel_requested_at="2026-01-01T00:00Z")
        return stored(*args)

    monkeypatch.setattr(imports, "store_runs", cancels)
    assert work(tenants, file).state == JobState.CANCELLED
    with acting_in(tenants.acme):
        assert 0 < Trace.objects.count() < 10
    assert default_storage.exists(file.stored_as), "it can be tried again"
    client.force_login(tenants.dora)
    page = client.get(f"/o/acme/p/parser/traces/imports/{file.pk}/").content.decode()
    assert "Cancelled before its end." in page
