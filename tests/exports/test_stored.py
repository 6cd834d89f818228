"""Reviews out of the database: the documented shapes, the bytes of the offline command, and one moment in time."""

import io
import json
import random
import zipfile
from datetime import timedelta
from threading import Event, Thread

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from assignments.actions.correcting import begin_correction, store_correction
from assignments.actions.submitting import withdraw
from assignments.models import Assignment, Decision, Submission
from exports import sent_rows, stored_facts
from exports import stored as stored_source
from exports.stored import StoredProject
from potato.records.folders import parse_run
from potato.runs.model import AgentRun
from tenancy.actor import acting, acting_in
from tenancy.snapshots import Snapshot
from tests.exports.conftest import ANSWERS, FORMATS, Reviews
from tests.exports.leaving import assert_leaves_as_documented
from tests.exports.reviewing import review_at_random
from tests.potato.formats.files import json_lines
from tests.potato.formats.test_formats import HARM
from tests.traces.stored import outcome, stored
from traces.models.bodies import pack


def snapshot(reviews: Reviews) -> Snapshot:
    with acting(reviews.actor):
        return Snapshot.now()


def seen(reviews: Reviews, at: Snapshot) -> list[str]:
    """The annotators whose reviews count at that moment, as an export in batches reads them."""
    source = StoredProject(reviews.project, reviews.actor, at)
    return [record.annotator for batch in source.records("all", buffered=False) for record in batch]


def test_a_review_that_was_submitted_leaves_as_documented_in_all_four_formats(reviews: Reviews) -> None:
    reviews.trace()
    reviews.submit(reviews.tenants.bob)
    assert_leaves_as_documented(reviews.folder, "bob", task="Fix the parser", operations=("modified", "added"))


def test_a_corrected_record_names_its_reviewer_and_others_have_no_such_key(reviews: Reviews) -> None:
    tenants = reviews.tenants
    reviews.trace("a")
    reviews.submit(tenants.bob)
    submission = reviews.submit(tenants.dora)
    with acting_in(tenants.acme, tenants.mallory):
        work = begin_correction(submission=submission, user=tenants.mallory)
        store_correction(
            assignment=work, fencing_token=work.fencing_token, key="k", payload={}, result=submission.result
        )
    exported = reviews.export("code_review", suffix=".jsonl")
    records = json_lines(exported)
    assert {record["annotator"]: record.get("corrected_by") for record in records} == {"bob": None, "dora": "mallory"}
    assert ["corrected_by" in record for record in records].count(True) == 1
    assert reviews.offline("code_review") == exported


def test_the_offline_command_writes_the_same_bytes_out_of_the_archive(reviews: Reviews) -> None:
    tenants = reviews.tenants
    reviews.trace("a")
    reviews.trace("b", "model-b")
    for user, decision in ((tenants.bob, "approve"), (tenants.dora, "approve"), (tenants.alice, "request_changes")):
        reviews.submit(user, verdict={"decision": decision})
    reviews.publish(wanted=2, verdict="opinion", file_ratings="marks")
    later = reviews.claim(tenants.bob)
    opinion = {"opinion": {"decision": "comment_only"}, "marks": ANSWERS["file_ratings"]}
    with acting_in(tenants.acme, tenants.bob):
        Assignment.objects.filter(pk=later.pk).update(kind="adjudication")
        Submission.objects.create(
            project=reviews.project,
            assignment=later,
            number=1,
            packed=pack(opinion),
            key="k",
            request_sha256="0" * 64,
        )
        Assignment.objects.filter(pk=later.pk).update(
            state="submitted", lease_until=None, version=reviews.project.newest_version()
        )
    for format in FORMATS:
        assert reviews.export(format) == reviews.offline(format), format
    for resolve in ("latest", "adjudicated", "majority"):
        flags = ("--resolve", resolve)
        assert reviews.export("code_review_verdicts", *flags) == reviews.offline("code_review_verdicts", *flags)
    assert reviews.export("code_review", "--resolve", "latest") == reviews.offline("code_review", "--resolve", "latest")


def test_hostile_texts_leave_the_database_byte_by_byte(reviews: Reviews) -> None:
    reviews.trace()
    comments = [
        {"file": "src/parser.py", "line_start": 15, "line_end": 15, "category": "bug", "comment": text}
        for text in HARM
        if text.strip()
    ]
    reviews.submit(reviews.tenants.bob, inline_comments=comments)
    data = reviews.export("code_review")
    assert data.isascii()
    (record,) = json_lines(data)
    got = [comment["comment"] for comment in record["annotations"]["inline_comments"]]
    assert [json.dumps(text) for text in got] == [json.dumps(comment["comment"]) for comment in comments]
    assert reviews.offline("code_review") == data
    assert reviews.offline("code_review_comments") == reviews.export("code_review_comments")


def test_traces_with_hostile_paths_tasks_and_models_are_told_exactly(reviews: Reviews) -> None:
    tenants = reviews.tenants
    path, task, model = "src/\ud800\0=x.py", "Fix\0 \ud800" + "x" * 101_000, "m\0" + "y" * 300
    stored(tenants.acme, reviews.project, outcome(path, "a\n", "b\n"), task=task, agent_model=model)
    answers = {
        "inline_comments": [{"file": path, "line_start": 1, "line_end": 1, "category": "bug", "comment": "Hm"}],
        "file_ratings": {path: {"correctness": 1, "quality": 2}},
    }
    reviews.submit(tenants.bob, **answers)
    (row,) = json_lines(reviews.export("code_review_comments"))
    assert (row["file"], row["task_description"], row["commented_text"]) == (path, task, "b")
    assert b",modified,1,2\r\n" in reviews.export("code_review_file_ratings")
    assert list(json.loads(reviews.export("code_review_verdicts"))["by_agent_model"]) == [model]
    # No patch can name such a path, so there is no file of repairs.
    for format in FORMATS.keys() - {"code_repair"}:
        assert reviews.offline(format) == reviews.export(format), format


def test_what_is_submitted_or_taken_back_later_changes_nothing_at_an_earlier_moment(reviews: Reviews) -> None:
    tenants = reviews.tenants
    reviews.trace("a")
    first = reviews.submit(tenants.bob)
    reviews.submit(tenants.dora)
    before = snapshot(reviews)
    reviews.submit(tenants.alice)
    with acting_in(tenants.acme, tenants.bob):
        withdraw(submission=first)
    after = snapshot(reviews)
    assert seen(reviews, before) == ["bob", "dora"]
    assert seen(reviews, after) == ["dora", "alice"]
    again = Snapshot.from_json(json.loads(json.dumps(before.as_json())))
    assert (again, seen(reviews, again)) == (before, ["bob", "dora"])


def test_what_is_under_way_at_the_moment_is_never_seen_though_its_id_is_older(reviews: Reviews) -> None:
    """A transaction that began before the moment and commits after it."""
    reviews.trace("a")
    assignment = reviews.claim(reviews.tenants.bob)
    written, taken = Event(), Event()

    def submit_slowly() -> None:
        try:
            with acting_in(reviews.tenants.acme, reviews.tenants.bob):
                reviews.submit_answers(assignment)
                written.set()
                taken.wait(30)
        finally:
            connection.close()

    thread = Thread(target=submit_slowly)
    thread.start()
    assert written.wait(30)
    during = snapshot(reviews)
    taken.set()
    thread.join()
    assert seen(reviews, during) == []
    assert seen(reviews, snapshot(reviews)) == ["bob"]


def test_rows_of_a_restored_database_are_seen_whatever_their_transaction(reviews: Reviews) -> None:
    """A restore gives rows the numbers of another server; their ids tell that they are old."""
    reviews.trace("a")
    at = Snapshot("1:1:", timezone.now())
    reviews.submit(reviews.tenants.bob)
    assert seen(reviews, at) == []
    late = Snapshot("1:1:", timezone.now() + timedelta(minutes=11))
    assert seen(reviews, late) == ["bob"]


def test_what_counted_at_this_moment_is_what_counts_now(reviews: Reviews) -> None:
    """The queryset for a moment and the one for lists are two ways to say the same."""
    tenants = reviews.tenants
    chance = random.Random(7)  # noqa: S311 - a game that can be played again
    for number in range(6):
        reviews.trace(f"t{number}")
    for _ in range(18):
        user = chance.choice([tenants.alice, tenants.bob, tenants.dora])
        with acting_in(tenants.acme, user):
            if Assignment.objects.of(user).held_or_decided().count() == 6:
                continue
        made = reviews.submit(user)
        if chance.random() < 0.4:
            with acting_in(tenants.acme, user):
                withdraw(submission=made)
        review_at_random(reviews, chance)
    with acting_in(tenants.acme):
        assert Decision.objects.filter(outcome__in=["returned", "voided"]).count() > 1
        now = Submission.objects.for_project(reviews.project)
        counted = set(now.counted().values_list("pk", flat=True))
        assert set(now.counted_at(Snapshot.now()).values_list("pk", flat=True)) == counted
        assert 0 < len(counted) < Submission.objects.count()


def test_a_submission_beyond_the_wanted_number_does_not_leave(reviews: Reviews) -> None:
    reviews.publish(wanted=1)
    reviews.trace("a")
    made = reviews.submit(reviews.tenants.bob)
    with acting_in(reviews.tenants.acme):
        version = reviews.project.newest_version()
        assert version is not None
        late = Assignment.objects.create(
            project=reviews.project,
            trace=made.assignment.trace,
            user=reviews.tenants.dora,
            version=version,
            state="submitted",
        )
        Submission.objects.create(
            project=reviews.project,
            assignment=late,
            number=1,
            packed=made.packed,
            key="k",
            request_sha256="0" * 64,
            is_surplus=True,
        )
    assert len(json_lines(reviews.export("code_review"))) == 1


def test_batches_join_without_a_gap(reviews: Reviews, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(7):
        reviews.trace(f"t{number}")
        reviews.submit(reviews.tenants.bob)
    whole = {format: reviews.export(format) for format in FORMATS}
    for name, size in (
        ("ROWS_AT_ONCE", 2),
        ("BUFFERED_AT_ONCE", 3),
        ("FACTS_AT_ONCE", 2),
        ("TRACES_AT_ONCE", 2),
        ("UNPACKED_BYTES_AT_ONCE", 1),
    ):
        monkeypatch.setattr(stored_source, name, size)
    monkeypatch.setattr(stored_facts, "LINES_KEPT", 1)
    assert {format: reviews.export(format) for format in FORMATS} == whole
    monkeypatch.setattr(stored_source, "BUFFERED_BYTES_AT_ONCE", 1)
    monkeypatch.setattr(stored_source, "BYTES_AT_ONCE", 1)
    assert {format: reviews.export(format) for format in FORMATS} == whole
    monkeypatch.undo()
    monkeypatch.setattr(sent_rows, "ROWS_A_CHUNK", 2)
    assert {format: reviews.export(format) for format in FORMATS} == whole
    monkeypatch.setattr(sent_rows, "UNPACKED_BYTES_A_CHUNK", 1)
    assert {format: reviews.export(format) for format in FORMATS} == whole


def test_the_records_of_a_trace_share_its_run_and_those_of_a_batch_are_read_together(
    reviews: Reviews, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = (reviews.tenants.bob, reviews.tenants.alice)
    for number in range(5):
        reviews.trace(f"t{number}", model=f"model-{number}")
        for person in people:
            reviews.submit(person)
    parsed: list[bytes] = []

    def counting(native: bytes) -> AgentRun | None:
        parsed.append(native)
        return parse_run(native)

    monkeypatch.setattr(stored_facts, "parse_run", counting)
    with CaptureQueriesContext(connection) as context:
        whole = reviews.export("hf_dataset", suffix=".zip")
    reading_runs = [query for query in context if '"packed"' in query["sql"] and "traces_body" in query["sql"]]
    sizes = [query for query in reading_runs if "length" in query["sql"].lower()]
    assert len(parsed) == 5
    assert (len(sizes), len(reading_runs)) == (1, 2)
    # However few are kept, and however few come at once.
    monkeypatch.setattr(stored_facts, "RUN_BYTES_KEPT", 1)
    monkeypatch.setattr(stored_facts, "RUN_BYTES_AHEAD", 1)
    monkeypatch.setattr(stored_source, "FACTS_AT_ONCE", 3)
    assert reviews.export("hf_dataset", suffix=".zip") == whole
    columns = pq.read_table(io.BytesIO(zipfile.ZipFile(io.BytesIO(whole)).read("data/train-00000-of-00001.parquet")))
    assert {row["id"]: row["agent_model"] for row in columns.to_pylist()} == {f"t{n}": f"model-{n}" for n in range(5)}


def test_an_empty_project_exits_1_with_a_sentence(reviews: Reviews) -> None:
    with pytest.raises(CommandError, match="The export selects nothing: there is no annotation") as ended:
        reviews.export("code_review")
    assert ended.value.returncode == 1
    assert not list(reviews.folder.iterdir())
    with pytest.raises(CommandError, match="has no adjudicated annotation"):
        reviews.export("code_review", "--resolve", "adjudicated")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["-f", "code_review", "-o", "x"], 2, "Say what to export"),
        (["--project", "parser", "-f", "code_review", "-o", "x"], 2, "names no project"),
        (["--project", "nobody/parser", "-f", "code_review", "-o", "x"], 1, "There is no organisation 'nobody'"),
        (["--project", "acme/nothing", "-f", "code_review", "-o", "x"], 1, "acme has no project 'nothing'"),
        (["--project", "acme/parser", "-f", "reviews", "-o", "x"], 2, "The formats are: agent_trace, archive, atif,"),
    ],
)
def test_the_command_says_what_it_does_not_understand(
    reviews: Reviews, arguments: list[str], code: int, says: str
) -> None:
    with pytest.raises(CommandError, match=says) as ended:
        call_command("export", *arguments)
    assert ended.value.returncode == code


def test_with_a_configuration_the_archive_goes_into_its_folder(reviews: Reviews) -> None:
    reviews.trace()
    reviews.submit(reviews.tenants.bob)
    (reviews.folder / "config.yaml").write_text("task_name: Review\n")
    call_command("export", "--project", "acme/parser", "--config", str(reviews.folder / "config.yaml"))
    assert {path.name for path in (reviews.folder / "output").iterdir()} >= {
        "annotations.jsonl",
        "traces.jsonl",
        "config.yaml",
    }
