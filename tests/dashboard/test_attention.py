"""What needs attention: each rule finds its matter, and loses it when the button beside it has solved it."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import attention
from accounts.attention import AttentionItem, Harm, Remedy
from accounts.models import AuditEvent, Membership, Project
from agreement.models import AgreementReport
from assignments.actions.quotas import open_quotas
from assignments.actions.steering import pause_batch, set_deadline
from assignments.actions.working import skip
from assignments.models import Batch, TraceQuota
from dashboard.models import Dismissal
from exports.models import Export
from jobs.models import Job, JobState
from tests.assignments.conftest import Queue, submit
from tests.dashboard.reviews import deliver, publish_review
from tests.dashboard.test_project_page import PAGE, plain
from tests.dashboard.test_quality import compared, figure
from tests.pages import text_of
from tests.tenants import Tenants
from traces.models import ImportedFile, ImportProblem

ACT = f"{PAGE}attention/"


def test_traces_that_are_given_to_nobody_are_opened_in_their_list(queue: Queue, mallory: Client) -> None:
    queue.claimed(queue.tenants.bob)
    idle = TraceQuota.objects.filter(active=0).first()
    assert idle is not None
    TraceQuota.objects.filter(pk=idle.pk).update(target=0, slots=0)
    link = re.search(r'href="([^"]+)"[^>]*>(?:(?!</a>).)*Open the traces', text_of(mallory.get(PAGE)))
    assert link
    page = text_of(mallory.get(link[1]))
    assert page.count('<tr id="trace-') == 1
    assert idle.trace.external_id in page


@pytest.fixture
def mallory(tenants: Tenants, client: Client) -> Client:
    client.force_login(tenants.mallory)
    return client


def attention_in(client: Client) -> str:
    """The card as it is read."""
    page = text_of(client.get(PAGE))
    part = page.split('data-live-part="attention"')[1].split('data-live-part="status"')[0]
    return plain(f'<main class="page" id="main">{part}</main>')


def job(state: JobState, error: str = "") -> Job:
    finished = None if state in (JobState.QUEUED, JobState.RUNNING) else timezone.now()
    return Job.objects.create(kind="exports", queue="exports", state=state, error=error, finished_at=finished)


def failed_export(queue: Queue, format: str = "code_review") -> Export:
    return Export.objects.create(
        project=queue.project, format=format, options={}, job=job(JobState.FAILED, "The disk is full. Free some space.")
    )


def skipped_by(queue: Queue, *people: Any, reason: str) -> None:
    for person in people:
        held = queue.claimed(person)
        skip(assignment=held, fencing_token=held.fencing_token, reason=reason)


def test_nothing_needs_anybody_where_nothing_is_the_matter(queue: Queue, mallory: Client) -> None:
    assert "Nothing needs you" in attention_in(mallory)


def test_a_failed_export_says_why_and_is_made_again_by_its_button(queue: Queue, mallory: Client) -> None:
    publish_review(queue)
    submit(queue.claimed(queue.tenants.bob))
    failed = failed_export(queue)
    assert "The export “code_review” failed today at" in attention_in(mallory)
    assert "The disk is full. Free some space." in attention_in(mallory)
    assert Export.objects.count() == 1, "reading the page does nothing"
    answer = mallory.post(ACT, {"do": f"export-failed:{failed.pk} again"}, follow=True)
    assert "code_review is being exported again, with the same options." in text_of(answer)
    assert Export.objects.exclude(pk=failed.pk).get().format == "code_review"
    assert "Nothing needs you" in attention_in(mallory)


def test_an_export_that_was_made_since_needs_nobody(queue: Queue, mallory: Client) -> None:
    failed_export(queue)
    Export.objects.create(project=queue.project, format="code_review", options={}, job=job(JobState.QUEUED))
    assert "Nothing needs you" in attention_in(mallory)


def test_what_is_solved_meanwhile_is_not_done_twice(queue: Queue, mallory: Client) -> None:
    answer = mallory.post(ACT, {"do": "export-failed:gone again"}, follow=True)
    assert "That is not there any more" in text_of(answer)
    assert not Export.objects.exists()


def test_a_trace_that_nobody_is_left_for_is_said_with_the_reasons(queue: Queue, mallory: Client) -> None:
    """Acme has four people."""
    publish_review(queue, annotations_per_trace=4)
    tenants = queue.tenants
    skipped_by(queue, tenants.alice, tenants.bob, reason="too long")
    assert "1 trace was skipped by two or more people. too long twice." in attention_in(mallory)
    skipped_by(queue, tenants.dora, reason="binary")
    submit(queue.claimed(tenants.mallory))
    said = attention_in(mallory)
    assert "1 trace was skipped, and everybody has had it. too long twice, binary once." in said
    assert "two or more people" not in said
    assert f'href="{PAGE}annotations/?show=skips"' in text_of(mallory.get(PAGE))


def test_troubles_of_imports_are_for_those_who_import(queue: Queue, mallory: Client, client: Client) -> None:
    file = ImportedFile.objects.create(
        project=queue.project, name="runs.jsonl", size=1, sha256="1" * 64, format="auto", job=job(JobState.DONE)
    )
    for place in (4, 9):
        ImportProblem.objects.create(file=file, place=place, code="x", sentence=f"Line {place} is no JSON.")
    said = attention_in(mallory)
    assert "2 records of “runs.jsonl”" in said
    assert "Open the import" in said, "whose page is in the project"
    client.force_login(queue.tenants.alice)
    said = attention_in(client)
    assert "Open the import" in said
    assert "2 records of “runs.jsonl”, imported today at" in said
    assert "The first is record 4: Line 4 is no JSON." in said
    Job.objects.update(state=JobState.FAILED, error="The file is gone.")
    assert "The import of “runs.jsonl” failed today" in attention_in(client)


def report_of_a_fast_person(queue: Queue) -> str:
    """Returns the name of bob, who is fast and agrees little."""
    queue.publish(target=3)
    tenants = queue.tenants
    for person, minutes in ((tenants.bob, 2), (tenants.dora, 12), (tenants.alice, 14)):
        for _ in range(2):
            held = queue.claimed(person)
            type(held).objects.filter(pk=held.pk).update(claimed_at=timezone.now() - timedelta(minutes=minutes))
            submit(held)
    deliver(queue)
    names = {"bob": figure(0.21, 0.05, 0.4), "dora": figure(0.7, 0.6, 0.8)}
    people = {Membership.objects.get(user=getattr(tenants, name)).annotator_name: one for name, one in names.items()}
    table = [[9.0, 4.0], [4.0, 9.0]]
    AgreementReport.objects.create(
        project=queue.project,
        figures={
            "compared": [
                compared(
                    "traces",
                    people,
                    values=["approve", "request_changes"],
                    confusion=table,
                    examples=[{"of": ["request_changes", "approve"], "traces": [["t1", 1]]}],
                )
            ]
        },
        computed_at=timezone.now(),
        sha256="0" * 64,
        shared_traces=40,
    )
    return Membership.objects.get(user=tenants.bob).annotator_name


def test_a_person_who_is_fast_and_agrees_little_is_named_with_the_figures(queue: Queue, mallory: Client) -> None:
    bob = report_of_a_fast_person(queue)
    said = attention_in(mallory)
    assert f"{bob} is fast and agrees little. 2 min a task where all together take 12 min; agreement 0.21 in 50" in said
    assert "8 pairs of annotations say Approve against Request Changes." in said
    assert said.index("is fast") < said.index("8 pairs"), "the more harmful first"
    read = plain(text_of(mallory.get(PAGE)))
    assert f"{bob} Fast, low agreement" in read
    assert read.count("Fast, low agreement") == 1
    assert "Agreement line at 0.67" in read


def test_see_where_leads_to_the_traces_behind_a_confusion(queue: Queue, mallory: Client) -> None:
    report_of_a_fast_person(queue)
    page = mallory.get(PAGE).content.decode()
    report = AgreementReport.objects.get()
    query = f"report={report.pk}&on=0&of=approve&of=request_changes"
    where = f"/o/acme/p/parser/agreement/traces/?{query}"
    assert where.replace("&", "&amp;") in page
    figures = {"compared": [{**report.figures["compared"][0], "main": "alpha_nominal", "title": "Verdict"}]}
    AgreementReport.objects.update(figures=figures)
    read = text_of(mallory.get(where))
    assert "Approve" in read
    assert "Request Changes" in read


def test_looking_for_them_reads_the_report_and_the_people_no_second_time(queue: Queue, mallory: Client) -> None:
    report_of_a_fast_person(queue)
    with CaptureQueriesContext(connection) as queries:
        assert "is fast and agrees little" in text_of(mallory.get(f"{PAGE}live/"))
    asked = [query["sql"] for query in queries]
    assert sum('"agreement_agreementreport"."figures"' in sql and "ORDER BY" in sql for sql in asked) == 1
    assert sum("PERCENTILE_CONT" in sql for sql in asked) == 2, "of each person, and of all together"


@pytest.fixture
def many() -> Iterator[None]:
    def rule(project: Project) -> Iterator[AttentionItem]:
        for number in range(9):
            harm = Harm.FAILED if number == 8 else Harm.CHOICE
            yield AttentionItem(f"m{number}", harm, f"Matter {number} is there.", "Because.", "info", (REMEDY,))

    attention.register("tests.many", rule)
    yield
    attention.unregister("tests.many")


REMEDY = Remedy("solve", "Solve", "check", act=lambda: "It was solved.")


def test_never_more_than_seven_are_shown_the_most_harmful_first(queue: Queue, mallory: Client, many: None) -> None:
    page = text_of(mallory.get(PAGE))
    assert re.findall(r"Matter \d is there\.</b>", page)[0] == "Matter 8 is there.</b>"
    assert len(re.findall(r"Matter \d is there\.</b>", page)) == 7
    assert "Needs attention 9" in plain(page)
    assert "It was solved." in text_of(mallory.post(ACT, {"do": "m3 solve"}, follow=True))


def test_what_is_left_for_a_week_comes_back_after_it(queue: Queue, mallory: Client, many: None) -> None:
    answer = mallory.post(ACT, {"dismiss": "m8", "reason m8": " "}, follow=True)
    assert "Say in a few words why this can wait" in text_of(answer)
    assert not Dismissal.objects.exists()
    answer = mallory.post(ACT, {"dismiss": "m8", "reason m8": "We wait for the new disk."}, follow=True)
    assert "Left for seven days" in text_of(answer)
    read = plain(text_of(answer))
    assert "Needs attention 8" in read
    assert "1 left for a while by somebody." in read
    assert "left for a week: Matter 8 is there. “We wait for the new disk.”" in read, "among what happened lately"
    row = Dismissal.objects.get()
    assert timedelta(days=6) < row.until - timezone.now() <= timedelta(days=7)
    assert AuditEvent.objects.filter(verb="attention.dismissed").count() == 1
    Dismissal.objects.update(until=timezone.now())
    assert "Needs attention 9" in plain(text_of(mallory.get(PAGE)))


def test_another_project_is_not_acted_on(queue: Queue, client: Client) -> None:
    failed = failed_export(queue)
    client.force_login(queue.tenants.charlie)
    assert client.post(ACT, {"do": f"export-failed:{failed.pk} again"}).status_code == 404
    assert client.post("/o/birch/p/parser/attention/", {"do": f"export-failed:{failed.pk} again"}).status_code == 302
    assert Export.objects.count() == 1


def test_a_batch_that_is_late_is_named_until_it_is_done_or_due_later(queue: Queue, mallory: Client) -> None:
    publish_review(queue)
    open_quotas(project=queue.project)
    batch = Batch.objects.get()
    today = timezone.localdate()
    set_deadline(batch=batch, deadline=today)
    assert "Nothing needs you" in attention_in(mallory)
    set_deadline(batch=batch, deadline=today - timedelta(days=2))
    page = attention_in(mallory)
    assert f"“{batch.name}” is 2 days late." in page
    left = TraceQuota.objects.unfinished().count()
    assert f"{left} traces of it need annotations yet." in page
    pause_batch(batch=batch)
    assert "It is paused." in attention_in(mallory)
    set_deadline(batch=batch, deadline=today + timedelta(days=2))
    assert "Nothing needs you" in attention_in(mallory)
    set_deadline(batch=batch, deadline=today - timedelta(days=2))
    TraceQuota.objects.update(done=F("target"), slots=F("target"))
    assert "days late" not in attention_in(mallory)
