"""Reading what was submitted: the person's own list, a project's list for managers, the record of one annotation."""

import html
import json
import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Membership, User
from assignments.actions.submitting import store_submission, withdraw
from assignments.actions.working import skip
from assignments.listing import ANNOTATIONS_ON_A_PAGE
from assignments.models import Assignment, Submission
from tenancy.actor import acting_in
from tests.assignments.conftest import Queue, annotators, submit
from tests.hostile import HOSTILE
from tests.pages import assert_harmless, text_of
from tests.review.documented_record import RECORD
from tests.tenants import Tenants
from tests.traces.stored import outcome, stored

MINE = "/o/acme/annotations/"
ALL = "/o/acme/p/parser/annotations/"
QUERIES = 23


@pytest.fixture
def bob(tenants: Tenants, client: Client) -> Client:
    client.force_login(tenants.bob)
    return client


@pytest.fixture
def mallory(tenants: Tenants, client: Client) -> Client:
    """The project's manager."""
    client.force_login(tenants.mallory)
    return client


def rows_in(page: str) -> list[str]:
    return re.split(r"<tr[ >]", page.split("<tbody")[1].split("</tbody>")[0])[1:] if "<tbody" in page else []


def choices_in(page: str) -> dict[str, str]:
    """What the filters offer, and how many rows each choice has."""
    offered = re.findall(r'<span class="grow trunc">(.*?)</span><span class="muted num">(.*?)</span>', page)
    return dict(offered)


def next_page(page: str) -> str:
    found = re.search(r'rel="next" href="\?([^"]*)"', page)
    assert found is not None
    return html.unescape(found[1])


def previous_page(page: str) -> str:
    found = re.search(r'rel="prev" href="\?([^"]*)"', page)
    assert found is not None
    return html.unescape(found[1])


def late(queue: Queue) -> Submission:
    """Bob's annotation, which came when alice had taken its slot."""
    held = queue.claimed(queue.tenants.bob)
    queue.expire(held)
    while (other := queue.claimed(queue.tenants.alice)).trace_id != held.trace_id:
        submit(other)
    submit(other)
    surplus = submit(held)
    assert surplus.is_surplus
    return surplus


# --- One's own -----------------------------------------------------------------------------------------------


def test_own_annotations_are_listed_newest_first_with_their_words_and_states(queue: Queue, bob: Client) -> None:
    surplus = late(queue)
    withdrawn = submit(queue.claimed(queue.tenants.bob), verdict={"decision": "comment_only"})
    counted = submit(withdraw(submission=withdrawn), verdict={"decision": "request_changes"})
    rows = rows_in(text_of(bob.get(MINE)))
    assert [str(one.pk) in row for one, row in zip((counted, withdrawn, surplus), rows, strict=True)] == [True] * 3
    for row, words, state in zip(
        rows,
        ("Request Changes", "Comment Only", "Approve"),
        ("Counted", "Withdrawn", "Surplus"),
        strict=True,
    ):
        assert words in row
        assert state in row
        assert "Parser review of Acme Research" in row


def test_an_empty_list_says_why_and_what_to_do(queue: Queue, bob: Client) -> None:
    submit(queue.claimed(queue.tenants.alice))
    page = text_of(bob.get(MINE))
    assert "No annotations yet" in page
    assert 'href="/o/acme/">Find a task</a>' in page


def test_the_list_has_pages_and_costs_no_more_queries_for_many(queue: Queue, bob: Client) -> None:
    count = ANNOTATIONS_ON_A_PAGE + 3
    queue.add_traces(count, "more")
    submit(queue.claimed(queue.tenants.bob))
    text_of(bob.get(MINE))
    with CaptureQueriesContext(connection) as one:
        assert len(rows_in(text_of(bob.get(MINE)))) == 1
    for _ in range(count - 1):
        submit(queue.claimed(queue.tenants.bob))
    with CaptureQueriesContext(connection) as many:
        page = text_of(bob.get(MINE))
    assert len(many) == len(one) <= QUERIES
    assert len(rows_in(page)) == ANNOTATIONS_ON_A_PAGE
    assert f"{count} annotations" in page
    second = text_of(bob.get(f"{MINE}?{next_page(page)}"))
    assert len(rows_in(second)) == 3
    assert rows_in(text_of(bob.get(f"{MINE}?{previous_page(second)}"))) == rows_in(page)


@pytest.mark.parametrize("sort", ["newest", "oldest", "task", "task-back", "longest", "shortest"])
def test_every_order_shows_every_row_once_over_its_pages(queue: Queue, mallory: Client, sort: str) -> None:
    queue.add_traces(ANNOTATIONS_ON_A_PAGE + 5, "more")
    expected = {str(submit(queue.claimed(queue.tenants.bob)).pk) for _ in range(ANNOTATIONS_ON_A_PAGE + 5)}
    # Several have the same time, so that the order by it has ties.
    for number, assignment in enumerate(Assignment.objects.all()):
        claimed = None if number % 5 == 0 else assignment.since - timedelta(minutes=number % 3)
        Assignment.objects.filter(pk=assignment.pk).update(claimed_at=claimed)
    page = text_of(mallory.get(ALL, {"sort": sort}))
    following = text_of(mallory.get(f"{ALL}?{next_page(page)}"))
    shown = [re.search(r"annotations/([0-9a-f-]{36})/", row) for row in (*rows_in(page), *rows_in(following))]
    ids = [found[1] for found in shown if found]
    assert len(ids) == len(expected)
    assert set(ids) == expected
    assert rows_in(text_of(mallory.get(f"{ALL}?{previous_page(following)}"))) == rows_in(page)


def test_own_annotations_of_another_organisation_are_not_in_the_list(queue: Queue, client: Client) -> None:
    tenants = queue.tenants
    with acting_in(tenants.birch, tenants.charlie):
        elsewhere = Queue(tenants, tenants.birch_project)
        elsewhere.publish()
        elsewhere.add_traces(1, "birch")
        submission = submit(elsewhere.claimed(tenants.mallory))
        path = f"/o/birch/annotations/{submission.pk}/"
    client.force_login(tenants.mallory)
    assert rows_in(text_of(client.get(MINE))) == []
    assert len(rows_in(text_of(client.get("/o/birch/annotations/")))) == 1
    assert client.get(path.replace("birch", "acme")).status_code == 404
    assert "<strong>mallory" in text_of(client.get(path, follow=True))


# --- A project's ---------------------------------------------------------------------------------------------


def test_a_manager_sees_everybodys_annotations_and_narrows_them(queue: Queue, mallory: Client) -> None:
    surplus = late(queue)
    withdrawn = submit(queue.claimed(queue.tenants.bob))
    submit(withdraw(submission=withdrawn))
    page = text_of(mallory.get(ALL))
    alices = Submission.objects.of(queue.tenants.alice).count()
    assert len(rows_in(page)) == 3 + alices
    offered = {"Counted": str(1 + alices), "Surplus": "1", "Withdrawn": "1", "bob": "3", "alice": str(alices)}
    assert offered.items() <= choices_in(page).items()
    assert "left out of counts and exports unless these are asked for them" in page

    def shown(**filters: str) -> set[str]:
        found = rows_in(text_of(mallory.get(ALL, filters)))
        return {str(one.pk) for one in Submission.objects.all() if any(str(one.pk) in row for row in found)}

    assert shown(state="surplus") == {str(surplus.pk)}
    assert shown(state="withdrawn") == {str(withdrawn.pk)}
    assert len(shown(state="counted")) == 1 + alices
    assert len(shown(annotator="bob")) == 3
    assert shown(annotator="bob", state="surplus") == {str(surplus.pk)}
    assert shown(annotator="nobody") == set()
    trace = surplus.assignment.trace.external_id
    assert str(surplus.pk) in shown(trace=trace[-4:])
    assert shown(trace="%") == set()
    assert len(shown(state="nonsense", page="99", show="x")) == 3 + alices
    assert shown(trace=str(surplus.pk)) == {str(surplus.pk)}
    assert "Nothing fits this filter" in text_of(mallory.get(ALL, {"trace": "\x00'\""}))
    assert choices_in(text_of(mallory.get(ALL, {"state": "surplus"})))["bob"] == "1"


def test_a_list_without_rows_says_which_filter_to_drop(queue: Queue, mallory: Client) -> None:
    submit(queue.claimed(queue.tenants.bob))
    page = text_of(mallory.get(ALL, {"annotator": "bob", "state": "surplus"}))
    assert "Nothing fits all of these filters" in page
    assert "Without “bob” there are 0, without “Surplus” there is 1." in page
    assert 'href="?annotator=bob">Remove “Surplus”</a>' in page


def test_skips_are_listed_with_their_reasons(queue: Queue, mallory: Client) -> None:
    assert "Nothing was skipped" in text_of(mallory.get(ALL, {"show": "skips"}))
    for person, reason in ((queue.tenants.bob, "Not my language"), (queue.tenants.alice, "Too long")):
        held = queue.claimed(person)
        skip(assignment=held, fencing_token=held.fencing_token, reason=reason)
    submit(queue.claimed(queue.tenants.bob))
    page = text_of(mallory.get(ALL, {"show": "skips"}))
    assert [("Not my language" in row, "Too long" in row) for row in rows_in(page)] == [(False, True), (True, False)]
    assert 'Skipped <span class="badge badge--count">2</span>' in page
    (row,) = rows_in(text_of(mallory.get(ALL, {"show": "skips", "annotator": "bob"})))
    assert "Not my language" in row
    assert len(rows_in(text_of(mallory.get(ALL)))) == 1


def test_who_left_the_organisation_is_still_named(queue: Queue, mallory: Client) -> None:
    submit(queue.claimed(queue.tenants.bob))
    Membership.objects.filter(user=queue.tenants.bob).update(is_active=False)
    page = text_of(mallory.get(ALL))
    assert choices_in(page)["bob"] == "1"
    assert "<span>bob</span>" in page


def test_the_reader_is_named_as_in_this_organisation(queue: Queue, mallory: Client) -> None:
    with acting_in(queue.tenants.birch):
        Membership.objects.filter(user=queue.tenants.mallory).update(annotator_name="mallory_of_birch")
    submission = submit(queue.claimed(queue.tenants.mallory))
    for path in (ALL, f"{MINE}{submission.pk}/"):
        assert "mallory_of_birch" not in text_of(mallory.get(path, follow=True))


def test_many_annotators_cost_no_more_queries_than_one(queue: Queue, mallory: Client) -> None:
    queue.publish(target=30)
    queue.add_traces(1, "target")

    def work(person: User) -> None:
        submit(queue.claimed(person))
        held = queue.claimed(person)
        skip(assignment=held, fencing_token=held.fencing_token, reason="Too long")

    def cost(**filters: str) -> int:
        text_of(mallory.get(ALL, filters))
        with CaptureQueriesContext(connection) as queries:
            text_of(mallory.get(ALL, filters))
        return len(queries)

    work(queue.tenants.bob)
    few = cost(), cost(show="skips")
    for person in annotators(12):
        work(person)
    assert (cost(), cost(show="skips")) == few
    assert max(few) <= QUERIES


def test_an_annotator_sees_no_list_of_others(queue: Queue, bob: Client) -> None:
    assert bob.get(ALL).status_code == 403


# --- One record ----------------------------------------------------------------------------------------------


def documented(tenants: Tenants) -> Submission:
    """Bob's submission of the record that the documentation prints, on its trace."""
    queue = Queue(tenants, tenants.acme_project)
    queue.publish()
    stored(tenants.acme, tenants.acme_project, outcome("src/parser.py", "a", "b"))
    held = queue.claimed(tenants.bob)
    annotations = RECORD["annotations"]
    return store_submission(
        assignment=held, fencing_token=held.fencing_token, key=str(uuid4()), payload=annotations, result=annotations
    )


def test_a_record_is_shown_and_downloaded_in_the_documented_shape(tenants: Tenants, bob: Client) -> None:
    with acting_in(tenants.acme, tenants.alice):
        submission = documented(tenants)
    path = f"{MINE}{submission.pk}/"
    page = text_of(bob.get(path, follow=True))
    assert "Fix the failing test in test_parser.py</h1>" in page
    assert "&quot;decision&quot;: &quot;request_changes&quot;" in page
    response = bob.get(f"{path}record.json")
    assert response["Content-Type"] == "application/json"
    assert response["Content-Disposition"] == 'attachment; filename="trace_042-bob-1.json"'
    made = json.loads(response.content)
    assert list(made) == list(RECORD)
    assert made["annotations"] == RECORD["annotations"]
    assert (made["id"], made["annotator"]) == ("trace_042", "bob")
    assert made["timestamp"] == f"{submission.submitted_at:%Y-%m-%dT%H:%M:%SZ}"


def test_a_record_of_another_person_is_the_managers_to_read(queue: Queue, client: Client) -> None:
    submission = submit(queue.claimed(queue.tenants.alice))
    for person, status in ((queue.tenants.bob, 404), (queue.tenants.mallory, 200), (queue.tenants.charlie, 404)):
        client.force_login(person)
        pages = ("", "files/", "record/", "guidelines/")
        for path in (f"{MINE}{submission.pk}/", f"{MINE}{submission.pk}/record.json"):
            assert client.get(path, follow=True).status_code == status, (person, path)
        for page in pages:
            wanted = 404 if page == "guidelines/" else status
            assert client.get(f"{ALL}{submission.pk}/{page}").status_code == wanted, (person, page)
    client.force_login(queue.tenants.mallory)
    assert f'href="{ALL}"' in text_of(client.get(f"{ALL}{submission.pk}/"))
    elsewhere = f"/o/birch/p/parser/annotations/{submission.pk}/"
    assert client.get(elsewhere).status_code == 404


def test_surplus_and_withdrawn_records_say_so(queue: Queue, bob: Client) -> None:
    surplus = late(queue)
    withdrawn = submit(queue.claimed(queue.tenants.bob))
    withdraw(submission=withdrawn)
    assert "This annotation is surplus" in text_of(bob.get(f"{ALL}{surplus.pk}/"))
    assert "This annotation was withdrawn" in text_of(bob.get(f"{ALL}{withdrawn.pk}/"))


def test_a_record_of_a_later_version_of_a_trace_names_it(tenants: Tenants, bob: Client) -> None:
    with acting_in(tenants.acme, tenants.alice):
        queue = Queue(tenants, tenants.acme_project)
        queue.publish()
        stored(tenants.acme, tenants.acme_project, outcome("a.py", "a", "b"))
        first = submit(queue.claimed(tenants.bob))
        stored(tenants.acme, tenants.acme_project, outcome("a.py", "a", "c"))
        second = submit(queue.claimed(tenants.bob))
    assert "trace_version" not in json.loads(bob.get(f"{MINE}{first.pk}/record.json").content)
    assert json.loads(bob.get(f"{MINE}{second.pk}/record.json").content)["trace_version"] == 2
    assert "version 2" in rows_in(text_of(bob.get(MINE)))[0]


def test_a_long_record_is_cut_on_the_page_and_whole_in_the_download(queue: Queue, bob: Client) -> None:
    summary = "long " * 60_000 + "end"
    submission = submit(queue.claimed(queue.tenants.bob), verdict={"decision": "approve", "summary": summary})
    page = text_of(bob.get(f"{MINE}{submission.pk}/", follow=True))
    assert "The download has all of it." in page
    assert "long end" not in page
    whole = json.loads(bob.get(f"{MINE}{submission.pk}/record.json").content)
    assert whole["annotations"]["verdict"]["summary"] == summary


def test_what_people_wrote_is_shown_and_never_run(tenants: Tenants, client: Client) -> None:
    with acting_in(tenants.acme, tenants.alice):
        queue = Queue(tenants, tenants.acme_project)
        queue.publish()
        for text in HOSTILE:
            stored(tenants.acme, tenants.acme_project, outcome("a.py", "a", "b"), external_id=text, task=text)
        for text in HOSTILE:
            held = queue.claimed(tenants.bob)
            submit(held, verdict={"decision": text, "summary": text}, **{text: text})
        submissions = list(Submission.objects.order_by("-pk"))
    client.force_login(tenants.mallory)
    for query in ({}, {"show": "skips"}, {"trace": HOSTILE[0]}, {"annotator": HOSTILE[5]}):
        assert_harmless(text_of(client.get(ALL, query)), str(query))
    for submission in submissions:
        path = f"{MINE}{submission.pk}/"
        assert_harmless(text_of(client.get(path, follow=True)), path)
        for tab in ("", "files/", "steps/"):
            assert_harmless(text_of(client.get(f"{ALL}{submission.pk}/{tab}")), tab)
        response = client.get(f"{path}record.json")
        assert json.loads(response.content)["annotations"] == submission.result
        assert set(response["Content-Disposition"]) <= set(
            'attachment; filename="ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"'
        )
    client.force_login(tenants.bob)
    assert_harmless(text_of(client.get(MINE)), "my annotations")


def test_reasons_are_shown_and_never_run(queue: Queue, mallory: Client) -> None:
    queue.publish(target=1)
    queue.add_traces(len(HOSTILE), "more")
    for text in HOSTILE:
        held = queue.claimed(queue.tenants.bob)
        skip(assignment=held, fencing_token=held.fencing_token, reason=text)
    page = text_of(mallory.get(ALL, {"show": "skips"}))
    assert len(rows_in(page)) == len(HOSTILE)
    assert_harmless(page, "the reasons")
    assert HOSTILE[0] not in page


# --- One annotation in its list --------------------------------------------------------------------------------


def test_an_annotation_leads_on_through_the_list_that_it_was_opened_from(queue: Queue, mallory: Client) -> None:
    queue.add_traces(4, "more")
    own = [submit(queue.claimed(queue.tenants.bob)) for _ in range(3)]
    other = submit(queue.claimed(queue.tenants.alice))
    newest, middle, oldest = reversed(own)
    link = re.search(rf'href="([^"]*{middle.pk}/[^"]*)"', text_of(mallory.get(ALL, {"annotator": "bob"})))
    assert link is not None
    page = text_of(mallory.get(html.unescape(link[1])))
    assert "2 of 3 in this list" in page
    ways = {
        str(one.pk): re.search(rf'rel="(prev|next)" href="[^"]*{one.pk}/\?list=annotator%3Dbob"', page) for one in own
    }
    assert [ways[str(one.pk)] is not None for one in (newest, middle, oldest)] == [True, False, True]
    assert str(other.pk) not in page
    whole = text_of(mallory.get(f"{ALL}{oldest.pk}/"))
    assert "4 of 4 in this list" in whole
    assert 'rel="next"' not in whole
    outside = text_of(mallory.get(f"{ALL}{other.pk}/?list=annotator%3Dbob"))
    assert "in this list" not in outside


def test_an_author_goes_through_their_own_annotations_alone(queue: Queue, bob: Client) -> None:
    queue.add_traces(2, "more")
    submit(queue.claimed(queue.tenants.alice))
    own = submit(queue.claimed(queue.tenants.bob))
    page = text_of(bob.get(f"{ALL}{own.pk}/"))
    assert "1 of 1 in this list" in page
    assert f'href="{MINE}"' in page
    assert "Compare" not in page
    assert "Agreement" not in page
