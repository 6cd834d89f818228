"""The front page of an organisation: what a person finds there, what it costs, and what it never tells."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.actions.projects import publish_configuration
from accounts.models import Membership, Project, ProjectMember, User
from assignments.actions import claiming
from assignments.actions.claiming import resume
from assignments.actions.quotas import follow_configuration
from assignments.actions.submitting import withdraw
from assignments.actions.working import release, save_draft, skip
from assignments.history import recent_events, this_week
from assignments.models import Assignment
from assignments.progress import Progress, TaskNumber, project_progress, task_number
from jobs.row_text import storable
from tenancy.actor import acting_in
from tenancy.roles import Role
from tests.assignments.conftest import YAML, Queue, submit
from tests.hostile import HOSTILE
from tests.pages import assert_harmless, queries_of, text_of
from tests.tenants import Tenants
from tests.traces.stored import outcome, stored

HOME = "/o/acme/"
NEXT = "/o/acme/p/parser/next/"
QUERIES = 23


@pytest.fixture
def bob(tenants: Tenants, client: Client) -> Client:
    client.force_login(tenants.bob)
    return client


def took(assignment: Assignment, minutes: int) -> Assignment:
    """As if it had been claimed so many minutes ago."""
    Assignment.objects.filter(pk=assignment.pk).update(claimed_at=timezone.now() - timedelta(minutes=minutes))
    return assignment


def mine(queue: Queue, user: User) -> Progress:
    return project_progress([queue.project], user)[queue.project.pk]


# --- Figures -------------------------------------------------------------------------------------------------


def test_progress_counts_what_is_wanted_done_and_left(queue: Queue) -> None:
    bob, alice = queue.tenants.bob, queue.tenants.alice
    assert mine(queue, bob) == Progress(
        target=3, done=0, mine_done=0, mine_open=0, max_open=1, left_for_me=3, unfinished_for_me=3, median=None
    )
    submit(took(queue.claimed(bob), 10))
    assert (mine(queue, bob).done, mine(queue, bob).mine_done, mine(queue, bob).left_for_me) == (1, 1, 2)
    assert (mine(queue, alice).done, mine(queue, alice).mine_done, mine(queue, alice).left_for_me) == (1, 0, 2)
    held = queue.claimed(alice)
    assert (mine(queue, alice).mine_open, mine(queue, alice).left_for_me) == (1, 1)
    assert (mine(queue, bob).mine_open, mine(queue, bob).left_for_me) == (0, 1)
    skip(assignment=held, fencing_token=held.fencing_token, reason="unreadable")
    assert mine(queue, alice).left_for_me == 1
    assert mine(queue, bob).left_for_me == 2


def test_traces_that_the_queue_has_not_taken_in_are_counted_as_it_will_take_them(queue: Queue) -> None:
    queue.claimed(queue.tenants.bob)
    queue.publish(target=2)
    queue.add_traces(5, "later")
    found = mine(queue, queue.tenants.bob)
    assert (found.target, found.left_for_me) == (3 + 5 * 2, 2 + 5)


def test_fewer_wanted_than_done_is_all_done_and_not_more(queue: Queue) -> None:
    queue.publish(target=2)
    for person in (queue.tenants.bob, queue.tenants.alice):
        for _ in range(3):
            submit(queue.claimed(person))
    queue.publish(target=1)
    follow_configuration(project=queue.project)
    found = mine(queue, queue.tenants.bob)
    assert (found.target, found.done, found.mine_done) == (3, 3, 3)


def test_a_surplus_annotation_is_in_no_count(queue: Queue) -> None:
    late = queue.claimed(queue.tenants.bob)
    queue.expire(late)
    submit(queue.claimed(queue.tenants.alice))
    assert submit(late).is_surplus
    found = mine(queue, queue.tenants.bob)
    assert (found.done, found.mine_done) == (1, 0)
    assert this_week(queue.tenants.bob, [queue.project.pk]).submissions == 0


def test_a_withdrawn_annotation_is_in_no_count(queue: Queue) -> None:
    withdraw(submission=submit(queue.claimed(queue.tenants.bob)))
    found = mine(queue, queue.tenants.bob)
    assert (found.done, found.mine_done, found.mine_open, found.median) == (0, 0, 1, None)
    assert this_week(queue.tenants.bob, [queue.project.pk]).submissions == 0


def test_the_median_is_that_of_the_persons_own_times_from_claim_to_submission(queue: Queue) -> None:
    for minutes in (4, 30, 9):
        submit(took(queue.claimed(queue.tenants.bob), minutes))
    median = mine(queue, queue.tenants.bob).median
    assert median is not None
    assert round(median.total_seconds() / 60) == 9
    assert mine(queue, queue.tenants.alice).median is None


def test_a_trace_that_is_claimed_again_is_timed_from_then(queue: Queue) -> None:
    held = took(queue.claimed(queue.tenants.bob), 300)
    queue.expire(held)
    submit(resume(assignment=held))
    median = mine(queue, queue.tenants.bob).median
    assert median is not None
    assert median < timedelta(minutes=1)


def test_the_place_of_a_task_agrees_with_the_progress_whatever_happened_before(queue: Queue) -> None:
    bob, alice = queue.tenants.bob, queue.tenants.alice

    def agree(user: User) -> None:
        known = mine(queue, user)
        total = known.mine_done + max(known.mine_open, 1) + known.left_for_me
        assert task_number(queue.project, user) == TaskNumber(known.mine_done + 1, total)

    late = queue.claimed(bob)
    queue.expire(late)
    submit(queue.claimed(alice))
    assert submit(late).is_surplus
    agree(bob)
    held = queue.claimed(bob)
    agree(bob)
    skip(assignment=held, fencing_token=held.fencing_token, reason="unreadable")
    agree(bob)
    withdraw(submission=submit(queue.claimed(alice)))
    for person in (bob, alice):
        agree(person)
    queue.publish(target=2)
    follow_configuration(project=queue.project)
    for person in (bob, alice):
        agree(person)


def test_an_unpublished_project_has_no_progress(queue: Queue) -> None:
    draft = Project.objects.create(slug="draft", name="Draft")
    assert draft.pk not in project_progress([draft, queue.project], queue.tenants.bob)


def test_the_week_runs_from_monday_and_counts_own_days(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    wednesday = datetime(2026, 3, 11, 15, tzinfo=UTC)
    for day, submissions in ((-3, 1), (-2, 1), (0, 1)):
        monkeypatch.setattr("django.utils.timezone.now", lambda day=day: wednesday + timedelta(days=day))
        for _ in range(submissions):
            submit(queue.claimed(queue.tenants.bob))
    week = this_week(queue.tenants.bob, [queue.project.pk])
    assert [day.submissions for day in week.days] == [1, 0, 1, 0, 0, 0, 0]
    assert [day.has_come for day in week.days] == [True, True, True, False, False, False, False]
    assert f"{week.days[0].date:%A %d}" == "Monday 09"
    assert this_week(queue.tenants.alice, [queue.project.pk]).submissions == 0


def test_history_says_what_happened_in_words(queue: Queue) -> None:
    bob, projects = queue.tenants.bob, [queue.project.pk]
    assert recent_events(bob, projects) == []
    held = queue.claimed(bob)
    save_draft(assignment=held, fencing_token=held.fencing_token, revision=0, content={})
    queue.expire(held)
    held = queue.claimed(bob)
    release(assignment=held, fencing_token=held.fencing_token)
    withdraw(submission=submit(queue.claimed(bob)))
    submit(queue.claimed(bob))
    held = queue.claimed(bob)
    skip(assignment=held, fencing_token=held.fencing_token, reason="Not my language")
    events = {(event.words, event.after) for event in recent_events(bob, projects)}
    assert ("You skipped", "Your reason: Not my language") in events
    assert ("You submitted", "Approve") in events
    assert any(words == "You took back" for words, _ in events)
    assert any(after.startswith("It went back to the queue") for _, after in events)
    assert recent_events(queue.tenants.alice, projects) == []


# --- The page ------------------------------------------------------------------------------------------------


def test_who_has_nothing_to_do_is_told_why(tenants: Tenants, bob: Client) -> None:
    page = text_of(bob.get(HOME))
    assert "Welcome back, bob" in page
    assert "No project is open to you." in page
    assert "No projects for you yet" in page
    assert "No project of this organisation is published and open to you." in page
    assert "Nothing happened yet" in page
    assert "Add project" not in page


def test_who_was_taken_off_reads_nothing_false_of_published_projects(queue: Queue, bob: Client) -> None:
    membership = Membership.objects.get(user=queue.tenants.bob)
    ProjectMember.objects.create(project=queue.project, membership=membership, left_at=timezone.now())
    page = text_of(bob.get(HOME))
    assert "No project of this organisation is published and open to you." in page
    assert "projects is published" not in page


def test_a_project_shows_how_far_it_is_and_what_is_left(queue: Queue, bob: Client) -> None:
    submit(took(queue.claimed(queue.tenants.bob), 14))
    page = text_of(bob.get(HOME))
    assert "There are 2 tasks to choose from." in page
    assert "1 of 3 done, 1 by you" in page
    assert "2 left for you, about 14 min of work" in page
    assert '<span class="badge">Code review</span>' in page
    assert "Next task" in page
    assert "1 submitted" in page
    assert "<dd>14 min</dd>" in page


@pytest.mark.parametrize(("done", "words"), [(0, "No traces yet"), (3, "All done")])
def test_a_project_without_work_says_why(queue: Queue, bob: Client, done: int, words: str) -> None:
    if not done:
        publish_configuration(
            project=Project.objects.create(slug="empty", name="Empty"), source=YAML.format(target=1, max_open=1)
        )
    for _ in range(done):
        submit(queue.claimed(queue.tenants.bob))
    assert words in text_of(bob.get(HOME))


def test_a_project_whose_rest_is_not_for_the_person_says_why(queue: Queue, bob: Client) -> None:
    for _ in range(2):
        submit(queue.claimed(queue.tenants.bob))
    other = queue.claimed(queue.tenants.alice)
    page = text_of(bob.get(HOME))
    assert "The rest is with others" in page
    assert "Nothing is left for you at the moment." in page
    release(assignment=other, fencing_token=other.fencing_token)
    held = queue.claimed(queue.tenants.bob)
    assert "Nothing more after this" in text_of(bob.get(HOME))
    skip(assignment=held, fencing_token=held.fencing_token, reason="unreadable")
    assert "Nothing more for you" in text_of(bob.get(HOME))


def test_an_open_task_is_there_to_go_on_with(queue: Queue, bob: Client) -> None:
    held = queue.claimed(queue.tenants.bob)
    Assignment.objects.filter(pk=held.pk).update(lease_until=timezone.now() + timedelta(minutes=27, seconds=41.9))
    save_draft(
        assignment=held, fencing_token=held.fencing_token, revision=0, content={"page": {"viewed": ["a.py", "b.py"]}}
    )
    Assignment.objects.filter(pk=held.pk).update(lease_until=timezone.now() + timedelta(minutes=27, seconds=41.9))
    page = text_of(bob.get(HOME))
    assert "You have one task on hold and 2 more to choose from." in page
    assert "Held 27:4" in page
    task = f"/o/acme/p/parser/tasks/{held.pk}/"
    for action in (task, f"{task}release/", f"{task}skip/"):
        assert f'"{action}"' in page
    assert "Another task" not in page
    assert "Next task" not in page


@pytest.mark.parametrize(
    ("draft", "is_told"),
    [({"page": {"viewed": ["a.py"]}}, True), ({"page": {"viewed": 1}}, False), ([1], False), ({"page": "x"}, False)],
)
def test_files_that_were_viewed_are_counted_where_a_draft_says_so(
    tenants: Tenants, bob: Client, draft: Any, is_told: bool
) -> None:
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=YAML.format(target=1, max_open=1))
        stored(tenants.acme, tenants.acme_project, outcome("a.py", "a", "b"), outcome("b.py", "a", "b"))
        held = Queue(tenants, tenants.acme_project).claimed(tenants.bob)
        save_draft(assignment=held, fencing_token=held.fencing_token, revision=0, content=draft)
    page = text_of(bob.get(HOME))
    assert ("1 of 2 files viewed" in page) == is_told
    assert "Fix the failing test in test_parser.py</h2>" in page


def test_more_open_tasks_are_offered_where_the_project_allows_them(queue: Queue, bob: Client) -> None:
    queue.publish(max_open=2)
    queue.claimed(queue.tenants.bob)
    assert "Another task" in text_of(bob.get(HOME))
    queue.claimed(queue.tenants.bob, another=True)
    page = text_of(bob.get(HOME))
    assert "You have two tasks on hold and 1 more" in page
    assert "Another task" not in page


def test_links_to_traces_annotations_and_set_up_are_for_those_with_the_right(queue: Queue, client: Client) -> None:
    charlie = queue.tenants.charlie
    Membership.objects.create(user=charlie, role=Role.VIEWER, annotator_name="charlie")
    everything = {"Traces", "Annotations", "Set up"}
    words = {"bob": set(), "charlie": {"Traces", "Annotations"}, "mallory": everything, "dora": everything}
    for name, links in words.items():
        client.force_login(getattr(queue.tenants, name))
        page = text_of(client.get(HOME))
        for link in ("Traces", "Annotations", "Set up"):
            assert (f">{link}</a>" in page) == (link in links), (name, link)


def test_an_unpublished_project_is_shown_to_those_who_set_it_up_alone(tenants: Tenants, client: Client) -> None:
    for person, sees in ((tenants.bob, False), (tenants.mallory, True), (tenants.dora, True)):
        client.force_login(person)
        page = text_of(client.get(HOME))
        assert ("Parser review of Acme Research" in page) == sees
        assert ("Not published" in page) == sees
        assert "Next task" not in page


def test_nobody_reads_of_anybody_elses_work(queue: Queue, client: Client) -> None:
    held = queue.claimed(queue.tenants.bob)
    submit(queue.claimed(queue.tenants.alice))
    skipped = queue.claimed(queue.tenants.alice)
    skip(assignment=skipped, fencing_token=skipped.fencing_token, reason="The secret reason")
    for person in (queue.tenants.bob, queue.tenants.dora):
        client.force_login(person)
        page = text_of(client.get(HOME))
        assert "The secret reason" not in page
        assert "Nothing happened yet" in page
        assert (str(held.pk) in page) == (person == queue.tenants.bob)


def test_tasks_names_and_reasons_are_shown_and_never_run(tenants: Tenants, bob: Client) -> None:
    for number, text in enumerate(HOSTILE):
        with acting_in(tenants.acme, tenants.alice):
            project = Project.objects.create(slug=f"hostile-{number}", name=storable(text, 200))
            publish_configuration(project=project, source=YAML.format(target=1, max_open=2))
            for external_id in (f"one {text}", f"two {text}"):
                stored(tenants.acme, project, outcome("a.py", "a", "b"), external_id=external_id, task=text)
            queue = Queue(tenants, project)
            skipped = queue.claimed(tenants.bob)
            skip(assignment=skipped, fencing_token=skipped.fencing_token, reason=text)
            queue.claimed(tenants.bob)
    page = text_of(bob.get(HOME))
    # The page's own autofocus is in the question why a task is skipped.
    assert_harmless(page.replace(" autofocus ", " "), "all of them")
    assert page.count("resume__task") == len(HOSTILE)


def test_thirty_projects_cost_no_more_queries_than_one(queue: Queue, bob: Client) -> None:
    def work(project: Project) -> None:
        own = Queue(queue.tenants, project)
        submit(own.claimed(queue.tenants.bob))
        withdraw(submission=submit(own.claimed(queue.tenants.bob)))
        held = own.claimed(queue.tenants.bob)
        save_draft(assignment=held, fencing_token=held.fencing_token, revision=0, content={})

    work(queue.project)
    few = queries_of(bob, HOME)
    for number in range(30):
        project = Project.objects.create(slug=f"p{number}", name=f"Project {number}")
        publish_configuration(project=project, source=YAML.format(target=2, max_open=2))
        Queue(queue.tenants, project).add_traces(4)
        work(project)
    assert queries_of(bob, HOME) == few <= QUERIES


# --- Next, release, skip -------------------------------------------------------------------------------------


def test_the_next_task_is_claimed_and_gone_to(queue: Queue, bob: Client) -> None:
    response = bob.post(NEXT)
    held = Assignment.objects.get(user=queue.tenants.bob)
    assert response.status_code == 302
    assert response["Location"] == f"/o/acme/p/parser/tasks/{held.pk}/"
    assert bob.post(NEXT)["Location"] == response["Location"]
    assert Assignment.objects.count() == 1


def test_where_steps_alone_are_judged_the_next_task_begins_at_them(queue: Queue, bob: Client) -> None:
    scheme = "{name: rewards, annotation_type: process_reward, mode: first_error}"
    source = f"task_name: Steps\nannotation_schemes: [{scheme}]\n"
    publish_configuration(project=queue.project, source=source, confirmed=True)
    response = bob.post(NEXT)
    held = Assignment.objects.get(user=queue.tenants.bob)
    assert response["Location"] == f"/o/acme/p/parser/tasks/{held.pk}/steps/"
    page = text_of(bob.get(response["Location"]))
    assert "Your annotation is stored and counts." in page
    assert "Your review" not in page


def test_where_no_more_may_be_open_the_open_one_comes(queue: Queue, bob: Client) -> None:
    queue.publish(max_open=2)
    addresses = [bob.post(NEXT, {"another": "1"})["Location"] for _ in range(3)]
    assert addresses[0] != addresses[1]
    assert addresses[2] in addresses[:2]
    assert "You have as many open traces as this project allows (2)." in text_of(bob.get(HOME))
    assert Assignment.objects.count() == 2


def test_looking_at_the_address_of_the_next_task_claims_none(queue: Queue, bob: Client) -> None:
    assert bob.get(NEXT)["Location"] == HOME
    assert not Assignment.objects.exists()


def nothing_said(client: Client) -> str:
    return text_of(client.post(NEXT))


def test_why_there_is_no_task_is_said_in_sentences(queue: Queue, client: Client) -> None:
    client.force_login(queue.tenants.bob)
    for _ in range(2):
        submit(queue.claimed(queue.tenants.bob))
    other = queue.claimed(queue.tenants.alice)
    page = nothing_said(client)
    assert "Every trace that is left is being judged by somebody else at the moment." in page
    assert other.lease_until is not None
    assert "The next time ends at <time datetime" in page
    assert f"{other.lease_until:%H:%M} UTC" in page
    assert "Look again" in page
    skip(assignment=other, fencing_token=other.fencing_token, reason="unreadable")
    held = queue.claimed(queue.tenants.bob)
    skip(assignment=held, fencing_token=held.fencing_token, reason="unreadable")
    assert "nobody judges a trace twice" in nothing_said(client)
    submit(queue.claimed(queue.tenants.dora))
    page = nothing_said(client)
    assert "Every trace of this project has as many annotations as it needs." in page
    assert "Look again" not in page


def test_who_is_never_quick_enough_is_told_to_look_again(
    queue: Queue, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(queue.tenants.bob)
    monkeypatch.setattr(claiming, "PATIENCE_SECONDS", 0)
    page = nothing_said(client)
    assert "Others are being given tasks of this project right now" in page
    assert "Look again" in page


def test_an_unpublished_and_an_empty_project_say_so(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.dora)
    assert "Its configuration is not published." in nothing_said(client)
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=YAML.format(target=1, max_open=1))
    assert "Nothing was imported that could be judged." in nothing_said(client)


def test_a_task_is_released_from_the_front_page(queue: Queue, bob: Client) -> None:
    held = queue.claimed(queue.tenants.bob)
    resume(assignment=held)
    page = text_of(bob.post(f"/o/acme/p/parser/tasks/{held.pk}/release/", follow=True))
    assert "The task went back to the queue." in page
    held.refresh_from_db()
    assert held.state == "released"
    assert "was released already" in text_of(bob.post(f"/o/acme/p/parser/tasks/{held.pk}/release/", follow=True))


def test_a_task_is_skipped_with_a_reason(queue: Queue, bob: Client) -> None:
    held = queue.claimed(queue.tenants.bob)
    path = f"/o/acme/p/parser/tasks/{held.pk}/skip/"
    assert "Say in a few words why you skip this trace" in text_of(bob.post(path, {"reason": " "}, follow=True))
    assert "The task was skipped." in text_of(bob.post(path, {"reason": "Not my language"}, follow=True))
    held.refresh_from_db()
    assert (held.state, held.skip_reason) == ("skipped", "Not my language")


@pytest.mark.parametrize("action", ["release", "skip"])
def test_other_peoples_tasks_do_not_exist(queue: Queue, client: Client, action: str) -> None:
    held = queue.claimed(queue.tenants.bob)
    client.force_login(queue.tenants.alice)
    for slug in ("parser", "other"):
        assert client.post(f"/o/acme/p/{slug}/tasks/{held.pk}/{action}/", {"reason": "x"}).status_code == 404
    client.force_login(queue.tenants.bob)
    assert client.post(f"/o/acme/p/other/tasks/{held.pk}/{action}/", {"reason": "x"}).status_code == 404
    held.refresh_from_db()
    assert held.state == "claimed"
