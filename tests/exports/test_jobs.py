"""An export as a job: in parts, with one result, in the storage, for a while, and for whoever may have it."""

import hashlib
import json
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import InMemoryStorage, storages
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts.actions.tokens import make_token
from accounts.models import AuditEvent, Membership
from exports import exporting, storage
from exports.actions import NotExportable, remove_expired, request_export
from exports.models import Export
from jobs import outbox, sweeps
from jobs.actions import cancel_job
from jobs.models import Job, JobState
from jobs.runner import run
from potato_site.checks import the_storage_of_exports_is_installed
from tenancy.actor import acting, acting_in
from tests.exports.conftest import FORMATS, Reviews
from tests.potato.formats.files import json_lines


@pytest.fixture(autouse=True)
def in_a_folder(settings: Settings, tmp_path: Path) -> Path:
    folder = tmp_path / "storage"
    settings.EXPORT_SCRATCH = tmp_path / "scratch"
    settings.STORAGES = {
        **settings.STORAGES,
        "exports": {"BACKEND": "exports.storage.DurableFileSystemStorage", "OPTIONS": {"location": str(folder)}},
    }
    return folder


@pytest.fixture
def part_by_part(settings: Settings) -> None:
    """Each task does one part, of two records."""
    settings.JOBS_TASK_BUDGET_SECONDS = 0
    settings.EXPORT_RECORDS_A_PART = 2


@pytest.fixture
def five(reviews: Reviews) -> Reviews:
    """Five traces that bob has reviewed."""
    for number in range(5):
        reviews.trace(f"t{number}")
        reviews.submit(reviews.tenants.bob)
    return reviews


def ask(reviews: Reviews, format: str, **options: Any) -> Export:
    with acting(reviews.actor):
        return request_export(project=reviews.project, format=format, options=options)


def work(reviews: Reviews, export: Export) -> Job:
    """One task of a worker."""
    assert export.job_id is not None
    run(job_id=export.job_id, actor=reviews.actor)
    with acting(reviews.actor):
        return Job.objects.get(pk=export.job_id)


def done(reviews: Reviews, export: Export) -> Export:
    while (job := work(reviews, export)).is_open:
        assert not job.failures, job.error
    with acting(reviews.actor):
        return Export.objects.select_related("project", "job").get(pk=export.pk)


def content(export: Export) -> bytes:
    return b"".join(block for part in export.parts for block in storage.read(part["name"]))


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.usefixtures("part_by_part")
@pytest.mark.parametrize("format", FORMATS)
def test_a_job_of_several_parts_writes_what_the_command_writes(five: Reviews, in_a_folder: Path, format: str) -> None:
    export = done(five, ask(five, format))
    whole = five.export(format)
    assert content(export) == whole
    assert (export.sha256, export.bytes) == (hashlib.sha256(whole).hexdigest(), len(whole))
    assert export.job is not None
    assert (export.job.state, export.job.progress, export.job.total) == (JobState.DONE, 5, 5)
    assert export.job.attempts >= 4
    assert export.job.result["sha256"] == export.sha256
    assert export.manifest["sha256"] == export.sha256
    assert (export.manifest["options"].get("resolve", "all"), export.manifest["records"]) == ("all", 5)
    assert sum(part["bytes"] for part in export.manifest["parts"]) == len(whole)
    assert len(files(in_a_folder)) == len(export.parts)


@pytest.mark.usefixtures("part_by_part")
def test_an_archive_is_the_commands_archive_byte_by_byte(five: Reviews, in_a_folder: Path) -> None:
    export = done(five, ask(five, "archive"))
    assert content(export) == five.archive().read_bytes()
    assert len(files(in_a_folder)) == 1
    names = zipfile.ZipFile(BytesIO(content(export))).namelist()
    assert names == ["annotations.jsonl", "traces.jsonl", "config.yaml", "configurations.jsonl", "manifest.json"]


@pytest.mark.usefixtures("part_by_part")
def test_a_majority_is_counted_over_the_parts(five: Reviews) -> None:
    export = done(five, ask(five, "code_review_verdicts", resolve="majority"))
    assert content(export) == five.export("code_review_verdicts", "--resolve", "majority")
    assert export.manifest["options"]["resolve"] == "majority"


@pytest.mark.usefixtures("part_by_part")
@pytest.mark.parametrize("resolve", ["consensus", "soft"])
def test_a_consensus_on_verdicts_is_of_all_parts_and_says_what_it_rests_on(five: Reviews, resolve: str) -> None:
    export = done(five, ask(five, "code_review_verdicts", resolve=resolve, weighting="one_coin"))
    assert content(export) == five.export("code_review_verdicts", "--resolve", resolve, "--weighting", "one_coin")
    consensus = export.manifest["consensus"]
    assert (consensus["method"], consensus["units"], consensus["overlaps"]) == ("one_coin", 5, 0)
    assert [one["annotator"] for one in consensus["annotators"]] == ["bob"]
    assert not consensus["is_trusted"]
    assert "should not be trusted more than a majority" in export.manifest["remarks"][1]


@pytest.mark.usefixtures("part_by_part")
def test_what_is_annotated_and_imported_meanwhile_does_not_leave(five: Reviews) -> None:
    for format in ("code_review", "archive"):
        undisturbed = content(done(five, ask(five, format)))
        export = ask(five, format)
        work(five, export)
        five.trace(f"later {format}")
        five.submit(five.tenants.dora)
        assert content(done(five, export)) == undisturbed, format


@pytest.mark.usefixtures("part_by_part")
def test_a_part_that_fails_is_done_again_and_leaves_nothing(
    five: Reviews, in_a_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = five.export("code_review")
    export = ask(five, "code_review")
    work(five, export)
    keep = storage.keep

    def keep_and_fail(name: str, file: Any) -> str:
        keep(name, file)
        raise OSError("the disk is full")

    monkeypatch.setattr(storage, "keep", keep_and_fail)
    job = work(five, export)
    assert (job.failures, job.progress, job.error) == (1, 2, "OSError: the disk is full")
    assert len(files(in_a_folder)) == 2
    monkeypatch.setattr(storage, "keep", keep)
    with acting(five.actor):
        Job.objects.filter(pk=job.pk).update(run_at=timezone.now(), failures=0)
    assert content(done(five, export)) == whole
    assert len(files(in_a_folder)) == 3


def test_an_empty_selection_fails_with_a_sentence_and_leaves_nothing(reviews: Reviews, in_a_folder: Path) -> None:
    export = ask(reviews, "code_review")
    job = work(reviews, export)
    assert (job.state, job.error) == (
        JobState.FAILED,
        "The export selects nothing: there is no annotation. Nothing was written.",
    )
    outbox.deliver(reviews.actor)
    assert files(in_a_folder) == []
    assert work(reviews, ask(reviews, "code_review", resolve="adjudicated")).error.startswith("Parser review of")


@pytest.mark.usefixtures("part_by_part")
def test_a_cancelled_export_leaves_no_file(five: Reviews, in_a_folder: Path) -> None:
    export = ask(five, "code_review")
    work(five, export)
    assert files(in_a_folder)
    with acting(five.actor):
        cancel_job(job=Job.objects.get(parameters__export=str(export.pk)))
    while outbox.deliver(five.actor):
        pass
    assert files(in_a_folder) == []
    with acting(five.actor):
        assert not Export.objects.ready().exists()


@pytest.mark.usefixtures("part_by_part")
def test_a_storage_that_gives_other_bytes_back_is_found(five: Reviews, in_a_folder: Path) -> None:
    export = ask(five, "code_review")
    work(five, export)
    (path,) = (path for path in in_a_folder.rglob("*") if path.is_file())
    path.write_bytes(path.read_bytes()[:-1] + b" ")
    while (job := work(five, export)).is_open:
        pass
    assert job.state == JobState.FAILED
    assert "with other content than was written. Export again." in job.error


@pytest.mark.usefixtures("part_by_part")
def test_a_storage_without_paths_serves_as_well(five: Reviews, settings: Settings) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "exports": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    }
    assert isinstance(storages["exports"], InMemoryStorage)
    for format in ("code_review", "archive"):
        assert content(done(five, ask(five, format))) == content(done(five, ask(five, format)))


@pytest.mark.parametrize(
    ("format", "options", "says"),
    [
        ("reviews", {}, "'reviews' is no export format. The formats are: agent_trace, archive, atif"),
        ("code_review", {"resolve": "majority"}, "There is no majority of single annotations"),
        ("archive", {"resolve": "all"}, "resolve is not an option of this format."),
    ],
)
def test_what_no_format_knows_is_refused_before_there_is_a_job(
    reviews: Reviews, format: str, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(NotExportable, match=says):
        ask(reviews, format, **options)
    with acting(reviews.actor):
        assert not Export.objects.exists()


def test_a_file_is_downloaded_whole_by_whoever_may_export(five: Reviews, client: Client) -> None:
    export = done(five, ask(five, "code_review_file_ratings"))
    client.force_login(five.tenants.mallory)
    answer = client.get(f"/o/acme/exports/{export.pk}/file/", headers={"accept-encoding": "gzip"})
    data = b"".join(answer)
    assert data == five.export("code_review_file_ratings")
    assert answer.headers["Content-Length"] == str(len(data))
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{export.file_name}"'
    assert export.file_name.startswith("parser-code_review_file_ratings-")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Repr-Digest"] == f"sha-256=:{b64encode(hashlib.sha256(data).digest()).decode()}:"
    with acting(five.actor):
        verbs = AuditEvent.objects.filter(target_id=export.pk).order_by("at").values_list("verb", "person_name")
        assert list(verbs) == [
            ("export.requested", "Alice"),
            ("export.finished", "Alice"),
            ("export.downloaded", "Mallory"),
        ]


def test_a_file_that_a_token_takes_away_is_noted_as_any_other(five: Reviews) -> None:
    export = done(five, ask(five, "code_review_verdicts"))
    with acting_in(five.tenants.acme, five.tenants.alice):
        member = Membership.objects.get(user=five.tenants.mallory)
        token = make_token(membership=member, name="nightly", by_owner=True)[1]
    answer = Client().get(f"/api/v1/exports/{export.pk}/file/", headers={"Authorization": f"Bearer {token}"})
    data = b"".join(answer)
    assert data == five.export("code_review_verdicts")
    with acting(five.actor):
        (noted,) = AuditEvent.objects.filter(verb="export.downloaded", target_id=export.pk)
    assert noted.person_name == "Mallory"
    assert noted.detail == {"sha256": export.sha256, "bytes": len(data)}


def test_a_file_is_removed_when_its_time_is_over(five: Reviews, client: Client, in_a_folder: Path) -> None:
    export, other = done(five, ask(five, "code_review")), done(five, ask(five, "code_review"))
    assert export.expires_at is not None
    assert export.expires_at - timezone.now() > timedelta(days=29)
    finder = sweeps.named("exports.expired")
    assert finder.organisations() == []
    with acting(five.actor):
        Export.objects.filter(pk=export.pk).update(expires_at=timezone.now())
    assert finder.organisations() == [five.tenants.acme.pk]
    assert remove_expired(five.actor) == 1
    assert remove_expired(five.actor) == 0
    client.force_login(five.tenants.alice)
    assert client.get(f"/o/acme/exports/{export.pk}/file/").status_code == 404
    assert client.get(f"/o/acme/exports/{other.pk}/file/").status_code == 200
    assert len(files(in_a_folder)) == len(other.parts)
    with acting(five.actor):
        row = Export.objects.get(pk=export.pk)
        assert (row.state, row.rows, row.sha256) == ("Removed", 5, export.sha256)
        assert AuditEvent.objects.filter(verb="export.removed", target_id=export.pk).count() == 1


def test_an_admin_asks_for_an_export_and_watches_it(five: Reviews, client: Client) -> None:
    client.force_login(five.tenants.dora)
    page = client.get("/o/acme/admin/exports/export/add/")
    assert b'name="option_resolve"' in page.content
    given = {"project": str(five.project.pk), "format": "code_review_verdicts", "option_resolve": "majority"}
    wrong = client.post("/o/acme/admin/exports/export/add/", {**given, "format": "code_review"})
    assert b"There is no majority of single annotations" in wrong.content
    answer = client.post("/o/acme/admin/exports/export/add/", given)
    with acting(five.actor):
        export = Export.objects.get()
        assert (export.options, export.requested_by) == (
            {"resolve": "majority", "weighting": "dawid_skene"},
            five.tenants.dora,
        )
    assert answer.headers["Location"] == f"/o/acme/admin/exports/export/{export.pk}/change/"
    waiting = client.get(answer.headers["Location"])
    assert b"Queued, 0" in waiting.content
    export = done(five, export)
    ready = client.get(answer.headers["Location"])
    assert f'href="/o/acme/exports/{export.pk}/file/"'.encode() in ready.content
    assert b">Download</a>" in client.get("/o/acme/admin/exports/export/").content


def test_a_program_asks_for_an_export_and_takes_it_away(five: Reviews, client: Client) -> None:
    client.force_login(five.tenants.mallory)
    where = "/o/acme/api/v1/projects/parser/exports/"
    asked = client.post(where, json.dumps({"format": "code_review"}), "application/json")
    assert asked.status_code == 202
    address = asked.headers["Location"]
    assert (asked.json()["state"], asked.json()["file"]) == ("queued", None)
    with acting(five.actor):
        export = Export.objects.get()
    done(five, export)
    told = client.get(address).json()
    assert (told["state"], told["rows"], told["progress"], told["total"]) == ("ready", 5, 5, 5)
    answer = client.get(told["file"])
    data = b"".join(answer)
    assert hashlib.sha256(data).hexdigest() == told["sha256"]
    assert len(json_lines(data)) == 5
    assert [row["id"] for row in client.get(where).json()["results"]] == [str(export.pk)]
    refused = client.post(where, json.dumps({"format": "prn"}), "application/json")
    assert (refused.status_code, refused.json()["code"]) == (400, "not_exportable")
    assert "code_review_comments" in refused.json()["detail"]


def test_parts_end_by_size_and_by_time_as_well(five: Reviews, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = content(done(five, ask(five, "code_review")))
    monkeypatch.setattr("exports.stored.ROWS_AT_ONCE", 1)
    for name in ("BYTES_A_PART", "SECONDS_A_PART"):
        with monkeypatch.context() as patched:
            patched.setattr(exporting, name, 0)
            export = done(five, ask(five, "code_review"))
            assert (len(export.parts), content(export)) == (5, whole)


def test_a_bucket_without_its_package_does_not_start(settings: Settings) -> None:
    assert the_storage_of_exports_is_installed(None) == []
    settings.EXPORT_S3_BUCKET = "exports"
    (problem,) = the_storage_of_exports_is_installed(None)
    assert (problem.id, "pip install --require-hashes -r requirements/s3.txt" in str(problem.hint)) == (
        "potato.E006",
        True,
    )


def test_no_other_user_of_the_machine_reads_the_files(five: Reviews, in_a_folder: Path) -> None:
    done(five, ask(five, "code_review"))

    def modes() -> Iterator[int]:
        for path in in_a_folder.rglob("*"):
            if path.is_file():
                yield path.stat().st_mode & 0o777

    assert set(modes()) == {0o600}
