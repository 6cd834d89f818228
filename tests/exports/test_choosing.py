"""What can be chosen of every export: filters, other names, packing, a bound for what is kept, and what it would be."""

import gzip
import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest
import zstandard
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEvent, User
from assignments.actions.quotas import open_quotas
from assignments.models import Batch, BatchState, TraceQuota
from exports import storage
from exports.actions import NotExportable, request_export
from exports.estimating import estimate_export
from exports.models import Export, ExportPolicy
from exports.policies import OverQuota, change_policy, replace_pseudonym_key, usage
from exports.shown import content_in_words, sent_options
from jobs import runner
from potato.commands.export import main
from tenancy.actor import Actor, acting, acting_in
from tests.exports.conftest import Reviews

MIB = 2**20


@pytest.fixture
def actor(reviews: Reviews) -> Actor:
    acme = reviews.tenants.acme.pk
    return Actor(acme, (acme,), reviews.tenants.alice.pk)


@pytest.fixture
def judged(reviews: Reviews) -> Reviews:
    """Two traces of two models; bob and mallory judge both."""
    reviews.publish(wanted=2)
    reviews.trace("trace_1", model="model-a")
    reviews.trace("trace_2", model="model-b")
    judge_both(reviews)
    return reviews


def judge_both(reviews: Reviews) -> None:
    for person in (reviews.tenants.bob, reviews.tenants.mallory):
        reviews.submit(person)
        reviews.submit(person)


def exported(reviews: Reviews, actor: Actor, format: str = "code_review", **options: Any) -> Export:
    with acting(actor):
        export = request_export(project=reviews.project, format=format, options=options)
        assert export.job_id is not None
    runner.run(job_id=export.job_id, actor=actor)
    with acting(actor):
        return Export.objects.select_related("job", "project").get(pk=export.pk)


def content(export: Export) -> bytes:
    return b"".join(block for part in export.parts for block in storage.read(part["name"]))


def records(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"annotators": "bob"}, {("trace_1", "bob"), ("trace_2", "bob")}),
        ({"agent_models": "model-b"}, {("trace_2", "bob"), ("trace_2", "mallory")}),
        ({"agent_models": "model-a, model-b", "annotators": "bob"}, {("trace_1", "bob"), ("trace_2", "bob")}),
        ({"made_from": "2000-01-01", "annotators": "bob"}, {("trace_1", "bob"), ("trace_2", "bob")}),
    ],
    ids=str,
)
def test_filters_choose_the_same_in_a_job_at_the_command_and_offline(
    judged: Reviews, actor: Actor, flags: dict[str, str], expected: set[tuple[str, str]]
) -> None:
    export = exported(judged, actor, **flags)
    found = content(export)
    assert {(record["id"], record["annotator"]) for record in records(found)} == expected
    given = [word for name, value in flags.items() for word in (f"--{name.replace('_', '-')}", value)]
    assert judged.export("code_review", *given) == found
    assert judged.offline("code_review", *given) == found


@pytest.fixture
def in_batches(reviews: Reviews, actor: Actor) -> Reviews:
    """trace_1 was judged in batch 1, "First, small"; trace_2 in batch 2, whose name is 1. Now both are in batch 1."""
    reviews.publish(wanted=2)
    reviews.trace("trace_1", model="model-a")
    reviews.trace("trace_2", model="model-b")
    with acting(actor):
        open_quotas(project=reviews.project)
        standard = Batch.objects.for_project(reviews.project).get()
        second = Batch.objects.create(
            project=reviews.project, number=standard.number + 1, name=str(standard.number), state=BatchState.OPEN
        )
        Batch.objects.filter(pk=standard.pk).update(name="First, small")
        TraceQuota.objects.filter(trace__external_id="trace_2").update(batch=second)
    judge_both(reviews)
    with acting(actor):
        TraceQuota.objects.update(batch=standard)
    return reviews


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        (["First, small"], {"trace_1"}),
        ("1", {"trace_2"}),
        ("2", {"trace_2"}),
        (["First, small", "2"], {"trace_1", "trace_2"}),
    ],
    ids=str,
)
def test_batches_are_chosen_by_their_names_or_numbers(
    in_batches: Reviews, actor: Actor, batches: Any, expected: set[str]
) -> None:
    export = exported(in_batches, actor, batches=batches)
    data = content(export)
    assert {record["id"] for record in records(data)} == expected
    assert len(records(data)) == 2 * len(expected)
    assert export.manifest["options"]["batches"] == ([batches] if isinstance(batches, str) else batches)
    if isinstance(batches, str):
        assert in_batches.export("code_review", "--batches", batches) == data


def test_a_batch_is_chosen_beside_other_filters_and_by_the_latest_and_in_an_estimate(
    in_batches: Reviews, actor: Actor
) -> None:
    chosen: dict[str, Any] = {"batches": ["2"], "annotators": ["bob"], "resolve": "latest"}
    data = records(content(exported(in_batches, actor, **chosen)))
    assert [(record["id"], record["annotator"]) for record in data] == [("trace_2", "bob")]
    with acting(actor):
        estimate = estimate_export(project=in_batches.project, format="code_review", options={"batches": "2"})
    assert (estimate.records, estimate.left_out) == (2, {"filtered": 2})


def test_several_values_are_shown_and_asked_for_again_as_they_are_written() -> None:
    options = {"resolve": "all", "batches": ["First", "2"]}
    assert content_in_words("code_review", options, is_only_new=False) == "every annotation; batches First, 2"
    assert sent_options("code_review", options)["code_review.batches"] == "First, 2"


def test_an_archive_of_a_batch_has_its_traces_alone(in_batches: Reviews) -> None:
    import zipfile

    in_batches.export("archive", "--batches", "2", suffix=".zip")
    with zipfile.ZipFile(in_batches.folder / "stored-archive.zip") as archive:
        assert [json.loads(line)["id"] for line in archive.read("traces.jsonl").splitlines()] == ["trace_2"]


def test_a_batch_that_does_not_exist_is_refused_everywhere(
    in_batches: Reviews, actor: Actor, capsys: pytest.CaptureFixture[str]
) -> None:
    sentence = "batches: .* has no batch 'nightly'. Write a batch's name or number"
    with acting(actor), pytest.raises(NotExportable, match=sentence):
        request_export(project=in_batches.project, format="code_review", options={"batches": "1, nightly"})
    with acting(actor), pytest.raises(NotExportable, match=sentence):
        estimate_export(project=in_batches.project, format="code_review", options={"batches": "nightly"})
    with pytest.raises(CommandError, match=sentence):
        in_batches.export("code_review", "--batches", "nightly")
    client = client_of(in_batches.tenants.mallory)
    answer = client.post(
        "/o/acme/api/v1/projects/parser/exports/",
        {"format": "code_review", "options": {"batches": ["nightly"]}},
        content_type="application/json",
    )
    assert answer.status_code == 400
    assert "has no batch" in answer.json()["detail"]
    page = client.get("/o/acme/p/parser/exports/estimate/?format=code_review&code_review.batches=2")
    assert "2 annotations" in page.content.decode()


def test_a_batch_of_another_organisation_is_none(in_batches: Reviews, actor: Actor) -> None:
    with acting_in(in_batches.tenants.birch):
        Batch.objects.create(project=in_batches.tenants.birch_project, number=1_000, name="theirs")
    with acting(actor), pytest.raises(NotExportable, match="has no batch 'theirs'"):
        request_export(project=in_batches.project, format="code_review", options={"batches": "theirs"})


def test_files_know_batches_by_their_numbers(
    in_batches: Reviews, actor: Actor, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = in_batches.archive(), in_batches.folder / "x.jsonl"
    assert main(["-i", str(path), "-f", "code_review", "-o", str(output), "--batches", "2"]) == 0
    assert {record["id"] for record in records(output.read_bytes())} == {"trace_2"}
    assert output.read_bytes() == content(exported(in_batches, actor, batches="2"))
    with pytest.raises(SystemExit):
        main(["-i", str(path), "-f", "code_review", "-o", str(output), "--batches", "First, small"])
    assert "files know batches by their numbers alone" in capsys.readouterr().err


def test_a_day_includes_itself_and_nothing_before(judged: Reviews, actor: Actor) -> None:
    today = timezone.now().date()
    assert (
        len(records(content(exported(judged, actor, made_from=today.isoformat(), made_until=today.isoformat())))) == 4
    )
    day = timedelta(days=1)
    for options in ({"made_until": (today - day).isoformat()}, {"made_from": (today + day).isoformat()}):
        export = exported(judged, actor, **options)
        assert export.job is not None
        assert export.job.state == "failed"
        assert "selects nothing" in export.job.error


def test_a_scheme_that_is_chosen_leaves_the_answers_under_others_out(judged: Reviews, actor: Actor) -> None:
    data = content(exported(judged, actor, schemes=["verdict"]))
    assert len(records(data)) == 4
    assert {tuple(record["annotations"]) for record in records(data)} == {("verdict",)}
    assert judged.offline("code_review", "--schemes", "verdict") == data


def test_the_latest_is_the_latest_of_those_that_pass(judged: Reviews, actor: Actor) -> None:
    """Mallory was later on both; without her bob is the latest."""
    latest = records(content(exported(judged, actor, resolve="latest")))
    assert {record["annotator"] for record in latest} == {"mallory"}
    data = content(exported(judged, actor, resolve="latest", annotators=["bob"]))
    assert {record["annotator"] for record in records(data)} == {"bob"}
    assert judged.offline("code_review", "--resolve", "latest", "--annotators", "bob") == data


def test_an_archive_with_filters_has_the_traces_of_what_passes_alone(judged: Reviews, actor: Actor) -> None:
    judged.trace("trace_3", model="model-b")
    path = judged.folder / "filtered.zip"
    call_command("export", "--project", "acme/parser", "-f", "archive", "-o", str(path), "--agent-models", "model-b")
    import zipfile

    with zipfile.ZipFile(path) as archive:
        traces = [json.loads(line)["id"] for line in archive.read("traces.jsonl").splitlines()]
    assert traces == ["trace_2"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"made_from": "yesterday"}, "made_from: This is no day"),
        ({"compression": "rar"}, "compression: Input should be 'none', 'gzip' or 'zstd'"),
        ({"tags": 3}, "tags: "),
    ],
)
def test_what_cannot_be_chosen_is_refused(
    reviews: Reviews, actor: Actor, options: dict[str, Any], sentence: str
) -> None:
    with acting(actor), pytest.raises(NotExportable, match=sentence):
        request_export(project=reviews.project, format="code_review", options=options)


def test_a_zip_is_not_packed_again(reviews: Reviews, actor: Actor) -> None:
    with acting(actor), pytest.raises(NotExportable, match="packed in itself"):
        request_export(project=reviews.project, format="archive", options={"compression": "gzip"})
    with pytest.raises(CommandError, match="packed in itself"):
        reviews.export("archive", "--compression", "zstd", suffix=".zip")


@pytest.mark.parametrize("format", ["code_review", "code_review_verdicts", "sarif"])
@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_a_packed_file_unpacks_to_the_plain_one(
    judged: Reviews, actor: Actor, compression: str, format: str, settings: Any
) -> None:
    settings.EXPORT_RECORDS_A_PART = 1
    plain = content(exported(judged, actor, format))
    export = exported(judged, actor, format, compression=compression)
    data = content(export)
    assert hashlib.sha256(data).hexdigest() == export.sha256
    assert export.bytes == len(data)
    unpack = gzip.decompress if compression == "gzip" else zstandard.ZstdDecompressor().decompressobj().decompress
    assert unpack(data) == plain
    suffix, media_type = {"gzip": (".gz", "application/gzip"), "zstd": (".zst", "application/zstd")}[compression]
    assert export.file_name.endswith(suffix)
    assert export.media_type == media_type
    assert judged.export(format, "--compression", compression, suffix=suffix) == data, "whatever the parts were"


def test_pseudonyms_are_the_same_in_each_export_until_the_key_is_replaced(judged: Reviews, actor: Actor) -> None:
    def people(export: Export) -> set[str]:
        return {record["annotator"] for record in records(content(export))}

    first, second = (exported(judged, actor, pseudonyms="yes") for _ in range(2))
    names = people(first)
    assert len(names) == 2
    assert names == people(second)
    assert not [name for name in ("bob", "mallory") if name.encode() in content(first)]
    assert all(name.startswith("person_") for name in names)
    assert first.manifest["pseudonyms"] == second.manifest["pseudonyms"]
    assert judged.export("code_review", "--pseudonyms", "yes") == content(first)
    with acting(actor):
        replace_pseudonym_key()
        key = ExportPolicy.objects.get().pseudonym_key
        audited = AuditEvent.objects.get(verb="export_policy.pseudonym_key_replaced")
    assert key not in str(audited.detail)
    assert key not in json.dumps(first.manifest)
    third = exported(judged, actor, pseudonyms="yes")
    assert not names & people(third)
    assert third.manifest["pseudonyms"]["key_id"] != first.manifest["pseudonyms"]["key_id"]


def test_two_organisations_have_keys_of_their_own(judged: Reviews, actor: Actor) -> None:
    from exports.policies import pseudonyms

    with acting(actor):
        acme = pseudonyms()
    with acting_in(judged.tenants.birch):
        birch = pseudonyms()
    person = judged.tenants.mallory
    assert acme.of(person.pk, "mallory") != birch.of(person.pk, "mallory")


def test_files_have_no_key_for_pseudonyms(judged: Reviews, capsys: pytest.CaptureFixture[str]) -> None:
    path = judged.archive()
    with pytest.raises(SystemExit):
        main(["-i", str(path), "-f", "code_review", "-o", str(judged.folder / "x.jsonl"), "--pseudonyms", "yes"])
    assert "organisation's key" in capsys.readouterr().err


def test_a_key_that_is_replaced_while_an_export_is_made_ends_it(judged: Reviews, actor: Actor, settings: Any) -> None:
    settings.EXPORT_RECORDS_A_PART = 1
    from exports.exporting import ExportAnnotations

    with acting(actor):
        export = request_export(project=judged.project, format="code_review", options={"pseudonyms": "yes"})
        assert export.job is not None
        part = ExportAnnotations().run_part(export.job)
        export.job.cursor = part.cursor
        replace_pseudonym_key()
        with pytest.raises(Exception, match="replaced while the export was made"):
            ExportAnnotations().run_part(export.job)


def test_over_its_quota_an_organisation_exports_nothing_and_is_told(judged: Reviews, actor: Actor) -> None:
    export = exported(judged, actor)
    with acting(actor):
        change_policy(quota_mib=1, retention_days=None)
        assert not usage().is_amber
        Export.objects.filter(pk=export.pk).update(bytes=int(0.8 * MIB) + 1)
        assert usage().is_amber
        assert "The oldest go when their days are over; an admin can raise the quota." in usage().sentence
        Export.objects.filter(pk=export.pk).update(bytes=MIB)
        with pytest.raises(OverQuota, match="and may keep 1"):
            request_export(project=judged.project, format="code_review", options={})
    with acting_in(judged.tenants.birch):
        assert usage().used == 0, "another organisation's files are not counted"


def test_an_export_that_grows_over_the_quota_ends_with_a_sentence(judged: Reviews, actor: Actor) -> None:
    with acting(actor):
        export = request_export(project=judged.project, format="code_review", options={})
        change_policy(quota_mib=0, retention_days=None)
        assert export.job_id is not None
    runner.run(job_id=export.job_id, actor=actor)
    with acting(actor):
        export = Export.objects.select_related("job").get(pk=export.pk)
        assert export.job is not None
        assert export.job.state == "failed"
        assert "Nothing of this export was kept" in export.job.error


def test_files_are_kept_as_long_as_the_organisation_says(judged: Reviews, actor: Actor) -> None:
    with acting(actor):
        change_policy(quota_mib=None, retention_days=3)
    export = exported(judged, actor)
    assert export.ready_at is not None
    assert export.expires_at == export.ready_at + timedelta(days=3)


def test_a_manifest_names_configurations_and_software(judged: Reviews, actor: Actor) -> None:
    manifest = exported(judged, actor).manifest
    with acting(actor):
        versions = {version.number: version.source for version in judged.project.versions.all()}
    assert {entry["version"]: entry["sha256"] for entry in manifest["configurations"]} == {
        number: hashlib.sha256(source.encode()).hexdigest() for number, source in versions.items()
    }
    assert manifest["software"]["potato-review"]
    assert manifest["software"]["python"]
    assert manifest["options"] == {"resolve": "all"}


def test_an_estimate_says_how_much_leaves_and_what_does_not_and_why(judged: Reviews, actor: Actor) -> None:
    from assignments.actions.submitting import withdraw
    from assignments.models import Submission

    with acting(actor):
        withdraw(submission=Submission.objects.order_by("-pk").first())  # type: ignore[arg-type]  # there are four
        rough = estimate_export(project=judged.project, format="code_review", options={"annotators": "bob"})
    assert (rough.records, rough.left_out) == (2, {"withdrawn": 1, "filtered": 1})
    assert not rough.is_by_earlier_export
    assert rough.bytes
    made = exported(judged, actor)
    with acting(actor):
        after = estimate_export(project=judged.project, format="code_review", options={})
    assert (after.records, after.rows, after.bytes) == (3, made.rows, made.bytes)
    assert "Left out: 1 withdrawn." in after.sentence


def test_an_estimate_is_one_query_of_the_annotations(
    judged: Reviews, actor: Actor, django_assert_max_num_queries: Any
) -> None:
    with acting(actor), django_assert_max_num_queries(6) as queries:
        estimate_export(project=judged.project, format="code_review", options={"agent_models": "model-a"})
    assert len([query for query in queries if 'FROM "assignments_submission"' in query["sql"]]) == 1


def test_the_page_and_the_api_estimate(judged: Reviews) -> None:
    client = client_of(judged.tenants.mallory)
    page = client.get("/o/acme/p/parser/exports/estimate/?format=code_review&code_review.annotators=bob")
    assert "2 annotations" in page.content.decode()
    refused = client.get("/o/acme/p/parser/exports/estimate/?format=code_review&code_review.made_from=x")
    assert "This is no day" in refused.content.decode()
    answer = client.post(
        "/o/acme/api/v1/projects/parser/exports/estimate/",
        {"format": "code_review", "options": {"annotators": ["bob"]}},
        content_type="application/json",
    )
    assert answer.status_code == 200
    assert (answer.json()["records"], answer.json()["left_out"]) == (2, {"filtered": 2})


def test_an_admin_sets_quota_and_days_and_replaces_the_key(judged: Reviews) -> None:
    client = client_of(judged.tenants.dora)
    client.post("/o/acme/admin/exports/exportpolicy/add/", {"quota_mib": "500", "retention_days": "7"})
    with acting_in(judged.tenants.acme):
        row = ExportPolicy.objects.get()
    assert (row.quota_mib, row.retention_days) == (500, 7)
    change = f"/o/acme/admin/exports/exportpolicy/{row.pk}/change/"
    assert "of 500" in client.get(change).content.decode()
    client.post(change, {"quota_mib": "500", "retention_days": "7", "new_pseudonym_key": "on"})
    with acting_in(judged.tenants.acme):
        assert ExportPolicy.objects.get().pseudonym_key != row.pseudonym_key
    assert client.post(change, {"quota_mib": "500", "retention_days": "0"}).status_code == 200
    with acting_in(judged.tenants.acme):
        assert ExportPolicy.objects.get().retention_days == 7


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client
