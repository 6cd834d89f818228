"""The pages and routes of gold: managers see everything, annotators what was practised, and nobody else anything."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from assignments.models import Assignment, Kind
from gold.models import ExpectedAnnotation, GoldScore, PracticeAttempt, Use
from gold.standing import take_in
from tests.assignments.conftest import annotators, submit
from tests.gold.conftest import APPROVE, REFUSE, GoldQueue
from traces.models.bodies import pack

GOLD = "/o/acme/p/parser/gold/"
API = "/o/acme/api/v1/projects/parser/gold/"


@pytest.fixture
def mallory(gold_queue: GoldQueue, client: Client) -> Client:
    client.force_login(gold_queue.tenants.mallory)
    return client


def scored(gold_queue: GoldQueue) -> None:
    gold_queue.publish_with("gold: {rate: 0.5, warn_below: 0.65, pause_below: 0.65}", target=3)
    gold_queue.add_traces(60)
    gold_queue.add_gold(20)
    # Half of them are gold by chance: of 20 in one run of 170 fewer than the five from which on somebody is paused.
    for task, submission in gold_queue.tasks(gold_queue.tenants.bob, 40):
        if task.kind == Kind.GOLD:
            take_in(submission)


def test_the_managers_pages_say_how_people_do_and_let_them_go_on(gold_queue: GoldQueue, mallory: Client) -> None:
    scored(gold_queue)
    page = mallory.get(GOLD).content.decode()
    assert "Gold traces" in page
    name = gold_queue.tenants.bob.memberships.get(organisation=gold_queue.tenants.acme).annotator_name
    person = mallory.get(f"{GOLD}people/{name}/").content.decode()
    assert "Paused: the mean of" in person
    assert "no pay is touched" in person
    answer = mallory.post(f"{GOLD}people/{name}/", {"do": "go_on"})
    assert answer.status_code == 302
    assert "Paused: the mean of" not in mallory.get(f"{GOLD}people/{name}/").content.decode()
    assert mallory.get("/o/acme/p/parser/").status_code == 200


def test_a_manager_makes_imports_and_retires_gold(gold_queue: GoldQueue, mallory: Client) -> None:
    gold_queue.publish_with("gold: {rate: 0.5}", target=3)
    gold_queue.add_traces(4)
    submission = submit(gold_queue.claimed(gold_queue.tenants.bob), **REFUSE)
    address = f"https://site.example/o/acme/p/parser/annotations/{submission.pk}/"
    read = address.removeprefix("https://site.example")
    page = mallory.get(read).content.decode()
    assert 'popovertarget="known"' in page, "where it is read a manager makes it the known answer"
    assert f'name="submission" value="{submission.pk}"' in page
    annotator = Client()
    annotator.force_login(gold_queue.tenants.bob)
    assert "known answer" not in annotator.get(read).content.decode()
    mallory.post(f"{GOLD}make/", {"submission": address, "use": "practice", "why": "The bound is off."})
    assert "The answer to this trace is known, for practice" in mallory.get(read).content.decode()
    told = [annotator.get(read).content.decode().count(word) for word in ("known answer", "gold")]
    assert told == [0, 0], "who annotated it reads nothing of that"
    made = ExpectedAnnotation.objects.get()
    assert (made.use, made.why, made.annotations) == ("practice", "The bound is off.", submission.result)
    assert "Paste the address" in mallory.post(f"{GOLD}make/", {"submission": "x"}, follow=True).content.decode()
    names = {f"trace-{number:05}" for number in range(4)} - {submission.assignment.trace.external_id}
    lines = "\n".join(json.dumps({"id": name, "annotations": REFUSE}) for name in names)
    file = SimpleUploadedFile("gold.jsonl", lines.encode())
    page = mallory.post(f"{GOLD}import/", {"file": file, "use": "gold"}, follow=True).content.decode()
    assert "3 expected annotations taken." in page
    again = mallory.post(f"{GOLD}import/", {"file": SimpleUploadedFile("x", b"{"), "use": "gold"}, follow=True)
    assert "no JSON" in again.content.decode()
    page = mallory.post(f"{GOLD}{made.pk}/retire/", follow=True).content.decode()
    assert "is retired. Its scores stay." in page
    made.refresh_from_db()
    assert made.retired_at is not None


def test_the_api_says_and_does_the_same(gold_queue: GoldQueue, mallory: Client) -> None:
    scored(gold_queue)
    assert len(mallory.get(API).json()["results"]) == 20
    (standing,) = mallory.get(f"{API}people/").json()["results"]
    assert (standing["state"], standing["mean"]) == ("paused", 0.0)
    assert mallory.get(f"{API}scores/").json()["results"][0]["parts"][0]["outcome"] == "wrong"
    gold_queue.add_traces(1, "new")
    body = {"records": [{"id": "new-00000", "annotations": REFUSE}]}
    made = mallory.post(API, json.dumps(body), content_type="application/json")
    assert made.status_code == 201, made.content
    pk = made.json()["results"][0]["id"]
    refused = mallory.post(API, json.dumps(body), content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (422, "bad_records")
    assert mallory.post(f"{API}{pk}/retire/").json()["retired_at"] is not None
    act = json.dumps({"act": "go_on"})
    person = mallory.post(f"{API}people/{standing['annotator']}/", act, content_type="application/json")
    assert person.status_code == 200


def test_a_newcomer_practises_with_feedback_before_the_first_task(gold_queue: GoldQueue, client: Client) -> None:
    gold_queue.publish_with("practice: {traces: 2, pass: 0.7, attempts: 2}")
    gold_queue.add_traces(3)
    gold_queue.add_gold(2, "practice", use=Use.PRACTICE)
    bob = gold_queue.tenants.bob
    client.force_login(bob)
    task = gold_queue.claimed(bob)
    assert task.kind == Kind.PRACTICE
    here = f"/o/acme/p/parser/tasks/{task.pk}/"
    page = client.get(here).content.decode()
    assert '<span class="badge">Practice</span>' in page
    assert f"{here}practice/" in page
    submit(task, **APPROVE)
    assert client.get(here)["Location"] == f"{here}practice/"
    page = client.get(f"{here}practice/").content.decode()
    assert "1 attempt left" in page
    assert "expected, not" in page
    assert client.post(f"{here}practice/")["Location"] == here
    again = Assignment.objects.get(pk=task.pk)
    assert again.is_open
    submit(again, **REFUSE)
    assert "Well done" in client.get(f"{here}practice/").content.decode()
    assert "This practice is over" in client.post(f"{here}practice/", follow=True).content.decode()
    second = gold_queue.claimed(bob)
    assert (second.kind, second.trace_id != task.trace_id) == (Kind.PRACTICE, True)
    submit(second, **REFUSE)
    assert gold_queue.claimed(bob).kind == Kind.NORMAL
    numbers = PracticeAttempt.objects.order_by("pk").values_list("number", "passed")
    assert list(numbers) == [(1, False), (2, True), (1, True)]


def test_whose_attempts_are_used_up_waits_for_the_manager(gold_queue: GoldQueue, mallory: Client) -> None:
    gold_queue.publish_with("practice: {traces: 1, attempts: 1}")
    gold_queue.add_traces(3)
    gold_queue.add_gold(1, "practice", use=Use.PRACTICE)
    bob = gold_queue.tenants.bob
    submit(gold_queue.claimed(bob), **APPROVE)
    assert gold_queue.nothing(bob).reason == "not_admitted"
    name = bob.memberships.get(organisation=gold_queue.tenants.acme).annotator_name
    page = mallory.get(GOLD).content.decode()
    assert f"{name}</a> has used all attempts up" in page
    mallory.post(f"{GOLD}people/{name}/", {"do": "admit"})
    assert gold_queue.claimed(bob).kind == Kind.NORMAL


def test_whoever_has_worked_here_before_does_not_practise(gold_queue: GoldQueue) -> None:
    gold_queue.add_traces(3)
    bob = gold_queue.tenants.bob
    gold_queue.tasks(bob, 1)
    gold_queue.publish_with("practice: {traces: 1}")
    gold_queue.add_gold(1, "practice", use=Use.PRACTICE)
    assert gold_queue.claimed(bob).kind == Kind.NORMAL


def test_annotators_see_none_of_it(gold_queue: GoldQueue, client: Client) -> None:
    scored(gold_queue)
    client.force_login(gold_queue.tenants.bob)
    for address in (GOLD, API, f"{API}people/", f"{API}scores/"):
        assert client.get(address).status_code == 403
    tasks = [f"/o/acme/p/parser/tasks/{row.pk}/practice/" for row in Assignment.objects.all()[:5]]
    assert {client.get(task).status_code for task in tasks} == {404}


def test_the_command_lists_imports_and_retires(gold_queue: GoldQueue, tmp_path: Path) -> None:
    scored(gold_queue)
    gold_queue.add_traces(1, "new")
    file = tmp_path / "expected.jsonl"
    file.write_text(json.dumps({"id": "new-00000", "annotations": REFUSE}) + "\n")
    project = f"{gold_queue.tenants.acme.slug}/parser"
    out = StringIO()
    call_command("gold", "import", project, str(file), "--practice", stdout=out)
    call_command("gold", "list", project, stdout=out)
    call_command("gold", "people", project, stdout=out)
    call_command("gold", "retire", project, "new-00000", stdout=out)
    text = out.getvalue()
    assert "1 expected annotations taken." in text
    assert "new-00000  Imported" in text
    assert "Paused: the mean of" in text
    assert "new-00000 is retired." in text
    with pytest.raises(CommandError, match="no known answer to 'new-00000'"):
        call_command("gold", "retire", project, "new-00000")


def test_a_line_that_many_name_where_nothing_is_expected_is_told_beside_what_is_expected(
    gold_queue: GoldQueue, mallory: Client
) -> None:
    gold_queue.publish_with("gold: {rate: 0.5}", target=5)
    (expected,) = gold_queue.add_gold(1)
    gold_queue.add_traces(4)
    people = annotators(5)
    lines = {0: [12], 1: [13, 40], 2: [10], 3: [41], 4: []}
    for at, person in enumerate(people):
        # Any submission stands for the one of the gold task: what is looked at are the scores.
        submission = submit(gold_queue.claimed(person), **REFUSE)
        places = [{"file": "src/a.py", "side": "new", "first": line, "last": line} for line in lines[at]]
        GoldScore.objects.create(
            project=gold_queue.project,
            user=person,
            expected=expected,
            submission=submission,
            score=0.5,
            packed=pack([{"outcome": "extra", "given": place} for place in places]),
        )
    page = mallory.get(GOLD).content.decode()
    assert "3 people commented on a.py line 12, where nothing is expected" in page
    assert "Request Changes" in page
