"""The page of a project: what a manager reads there, what it costs, and whom it turns away."""

import re

import pytest
from django.test import Client

from accounts.models import AuditEvent, ConfigurationVersion, Membership, Project
from assignments.actions.quotas import open_quotas
from assignments.actions.releasing import BatchFacts, release_batch, release_draft, withdraw_batch
from assignments.actions.steering import let_imports_wait, pause_batch, pause_project, resume_project
from assignments.actions.withholding import withhold
from assignments.actions.working import skip
from assignments.models import Assignment, TraceQuota, Withheld
from assignments.pool.selecting import Selection
from dashboard.project_state import project_state
from tenancy.actor import acting_in
from tenancy.sentences import as_text
from tests.assignments.conftest import Queue, submit
from tests.dashboard.reviews import chance, deliver, publish_review, recounted
from tests.dashboard.test_tallies import live_through
from tests.hostile import HOSTILE
from tests.pages import assert_harmless, queries_of, text_of
from tests.tenants import Tenants
from traces.models import Trace

PAGE = "/o/acme/p/parser/"
QUERIES = 49


@pytest.fixture
def mallory(tenants: Tenants, client: Client) -> Client:
    """The project's manager."""
    client.force_login(tenants.mallory)
    return client


def plain(page: str) -> str:
    """What can be read, without markup."""
    body = page.split('<main class="page" id="main">')[1].split("</main>")[0]
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def test_a_manager_who_is_no_administrator_reads_the_figures(queue: Queue, mallory: Client) -> None:
    live_through(queue, chance(21), 12)
    deliver(queue)
    counts, annotations = recounted(queue)
    page = text_of(mallory.get(PAGE))
    read = plain(page)
    assert f"Annotations {annotations} of " in read
    assert f"{annotations} today, {annotations} in seven days" in read
    for value, label in (("approve", "Approve"), ("request_changes", "Request Changes")):
        number = counts["code_review_verdict/verdict"]["decision"].get(value, 0)
        assert f"{label} {number} " in read
    assert "Comments by severity" in read
    assert "not counted yet" not in read
    points = counts["code_review_file_ratings/file_ratings"]["correctness"]
    mean = sum(int(point) * number for point, number in points.items()) / sum(points.values())
    assert f"Correctness mean {mean:.2f}" in read
    assert 'data-c="verdict.approve"' in page
    assert "/admin/" not in page
    assert "/set-up/" in page


def test_the_charts_can_be_read_as_text(queue: Queue, mallory: Client) -> None:
    live_through(queue, chance(22), 4)
    page = text_of(mallory.get(PAGE))
    drawings = re.findall(r"<(?:svg(?![^>]*aria-hidden)|div class=\"plot\")[^>]*>", page.split('id="main"')[1])
    assert len(drawings) == 2
    assert all(re.search(r'role="img" aria-label="[^"]{20,}"', drawing) for drawing in drawings)
    assert page.count('<tr><th scope="row"') >= 30


def test_annotations_that_are_not_counted_in_yet_are_announced(queue: Queue, mallory: Client) -> None:
    publish_review(queue)
    submit(queue.claimed(queue.tenants.bob))
    assert "1 of a moment ago is not counted yet" in plain(text_of(mallory.get(PAGE)))
    deliver(queue)
    assert "not counted yet" not in plain(text_of(mallory.get(PAGE)))


def test_more_annotations_and_people_cost_no_more_queries(queue: Queue, mallory: Client) -> None:
    live_through(queue, chance(23), 4)
    deliver(queue)
    few = queries_of(mallory, PAGE)
    live_through_more(queue)
    assert queries_of(mallory, PAGE) == few <= QUERIES


def live_through_more(queue: Queue) -> None:
    for _ in range(2):
        for person in (queue.tenants.dora, queue.tenants.mallory):
            submit(queue.claimed(person))
    held = queue.claimed(queue.tenants.dora)
    skip(assignment=held, fencing_token=held.fencing_token, reason="unreadable")
    deliver(queue)


def test_one_annotation_is_one_and_too_few_days_are_no_forecast(queue: Queue, mallory: Client) -> None:
    publish_review(queue)
    submit(queue.claimed(queue.tenants.bob))
    deliver(queue)
    read = plain(text_of(mallory.get(PAGE)))
    assert "1 annotation " in read
    assert not re.search(r"\b1 (annotations|comments|ratings|steps|traces|days)\b", read)
    assert "Done at this pace Too early to say after 4 more days with annotations" in read
    assert "forecast" not in read
    assert "Time at work, median" in read
    assert "Median time per task" not in read


def test_a_bar_is_full_where_everything_is_in_it_and_not_before(queue: Queue, mallory: Client) -> None:
    live_through(queue, chance(25), 12)
    deliver(queue)
    page = text_of(mallory.get(PAGE))
    rows = re.findall(r'<li class="vrow.*?</li>', page, re.S)
    drawn = [
        (re.search(r'(?:fc|f1)" width="([\d.]+)%"', row), re.search(r"muted num qn\">([<>\d]+)%", row)) for row in rows
    ]
    assert any(share and 0 < int(share[1].strip("<>")) < 100 for _, share in drawn)
    for bar, share in drawn:
        assert bar
        assert share
        assert abs(float(bar[1]) - int(share[1].strip("<>"))) <= 1, (bar[1], share[1])


def test_an_empty_project_says_what_is_missing(queue: Queue, mallory: Client) -> None:
    read = plain(text_of(mallory.get(PAGE)))
    assert "Collecting" in read
    assert "Nobody has begun" in read
    assert "Not known yet after 5 days with annotations" in read
    assert "Traces complete 0 of 3" in read
    assert "Configure , done Version 1 is published: verdict." in read
    assert "Release a batch , done Traces are released: people can take them." in read
    assert "Import what agents did , done 3 traces are there." in read
    assert "Invite people" in read


def test_a_project_without_traces_or_configuration_says_so(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.alice)
    read = plain(text_of(client.get(PAGE)))
    assert "Nobody can annotate before the configuration of this project is published. Set-up" in read
    assert "No traces yet" in read
    assert "0 of 5" in read or "1 of 5" in read
    assert "The default rule releases everything at import. Release" in read
    client.force_login(tenants.mallory)
    assert client.get(PAGE).status_code == 200
    client.force_login(tenants.bob)
    assert client.get(PAGE).status_code == 404


def test_a_configuration_that_no_longer_loads_leaves_the_other_figures(queue: Queue, mallory: Client) -> None:
    publish_review(queue)
    submit(queue.claimed(queue.tenants.bob))
    ConfigurationVersion.objects.create(
        project=queue.project, number=9, source="", configuration={"annotation_schemes": [{"annotation_type": "gone"}]}
    )
    read = plain(text_of(mallory.get(PAGE)))
    assert "The configuration no longer loads" in read
    assert "Traces complete 1 of 3" in read


def test_what_is_in_a_draft_or_was_withdrawn_is_not_called_released(queue: Queue, mallory: Client) -> None:
    let_imports_wait(project=queue.project, wait=True)
    while open_quotas(project=queue.project):
        pass
    facts = BatchFacts("First")
    batch = release_batch(project=queue.project, selection=Selection(), facts=facts, is_draft=True)
    read = plain(text_of(mallory.get(PAGE)))
    assert "There is a draft of a batch. It gives nothing out until it is released. Release Batches" in read
    assert "people can take them" not in read
    release_draft(batch=batch)
    assert "Traces are released: people can take them." in plain(text_of(mallory.get(PAGE)))
    pause_batch(batch=batch)
    assert "Traces are released, and their batch is paused." in plain(text_of(mallory.get(PAGE)))
    withdraw_batch(batch=batch)
    read = plain(text_of(mallory.get(PAGE)))
    assert "waits in the pool until you release it" in read
    assert "Traces are released" not in read


def test_a_task_is_taken_from_the_checklist(queue: Queue, mallory: Client) -> None:
    page = text_of(mallory.get(PAGE))
    button = re.search(r'<form method="post" action="([^"]+)">[^/]*?<button[^>]*>Take a task yourself<', page)
    assert button
    answer = mallory.post(button[1])
    assert "/tasks/" in answer["Location"]
    assert Assignment.objects.get().user == queue.tenants.mallory


def test_the_checklist_goes_with_the_first_task(queue: Queue, mallory: Client) -> None:
    assert "Five steps to the first annotation" in text_of(mallory.get(PAGE))
    queue.claimed(queue.tenants.bob)
    assert "Five steps to the first annotation" not in text_of(mallory.get(PAGE))


def test_an_open_page_is_answered_only_when_something_changed(queue: Queue, mallory: Client) -> None:
    live_through(queue, chance(26), 4)
    deliver(queue)
    first = mallory.get(f"{PAGE}live/")
    same = mallory.get(f"{PAGE}live/", HTTP_IF_NONE_MATCH=first["ETag"])
    assert (same.status_code, same.content, same["ETag"]) == (304, b"", first["ETag"])
    assert f'data-tag="{first["ETag"].strip(chr(34))}"' in text_of(mallory.get(PAGE)), "the page knows what it shows"
    submit(queue.claimed(queue.tenants.dora))
    other = mallory.get(f"{PAGE}live/", HTTP_IF_NONE_MATCH=first["ETag"])
    assert other.status_code == 200
    assert other["ETag"] != first["ETag"]
    assert "not counted yet" in text_of(other)


def test_every_page_of_a_project_has_its_tabs(queue: Queue, mallory: Client) -> None:
    for page, title in (("", "Overview"), ("traces/", "Traces"), ("annotations/", "Annotations")):
        tabs = re.findall(r'<nav class="tabs" aria-label="Project">.*?</nav>', text_of(mallory.get(PAGE + page)), re.S)
        assert len(tabs) == 1, page
        assert re.search(rf'aria-current="page">{title}', tabs[0]), page
        assert all(f">{other}" in tabs[0] for other in ("Overview", "Traces", "Annotations"))


def test_what_happened_lately_names_who_did_it(queue: Queue, mallory: Client) -> None:
    publish_review(queue)
    submit(queue.claimed(queue.tenants.bob))
    read = plain(text_of(mallory.get(PAGE)))
    assert "submitted trace-" in read.split("Lately")[1]
    assert "published version 1" in read.split("Lately")[1]


def test_annotators_and_strangers_are_turned_away(queue: Queue, client: Client) -> None:
    for person, status in ((queue.tenants.bob, 403), (queue.tenants.charlie, 404)):
        client.force_login(person)
        assert client.get(PAGE).status_code == status
    client.logout()
    assert client.get(PAGE).status_code == 302


def test_another_organisations_project_of_the_same_address_is_another_page(queue: Queue, client: Client) -> None:
    live_through(queue, chance(24), 3)
    with acting_in(queue.tenants.birch, queue.tenants.charlie):
        assert Project.objects.filter(slug="parser").exists()
    client.force_login(queue.tenants.charlie)
    assert "Nobody has begun" in plain(text_of(client.get("/o/birch/p/parser/")))


def test_hostile_names_stay_words(queue: Queue, mallory: Client) -> None:
    Project.objects.filter(pk=queue.project.pk).update(name=HOSTILE[0][:200])
    assert_harmless(text_of(mallory.get(PAGE)), HOSTILE[0])


def test_a_project_is_paused_from_its_overview_and_everybody_reads_why(tenants: Tenants, client: Client) -> None:
    with acting_in(tenants.acme, tenants.alice):
        queue = Queue(tenants, tenants.acme_project)
        queue.publish()
        queue.add_traces(2)
    annotator = Client()
    annotator.force_login(tenants.bob)
    client.force_login(tenants.mallory)
    assert 'id="pause-project"' in text_of(client.get(PAGE))
    answer = client.post(f"{PAGE}batches/pause/", {"from": "overview", "reason": "New guidelines come"}, follow=True)
    assert answer.redirect_chain[-1][0] == PAGE
    page = plain(text_of(answer))
    assert re.search(r"Paused since .{5,40} by Mallory: nothing new is given out", page)
    assert "Everybody reads: “New guidelines come”" in page
    home = plain(text_of(annotator.get("/o/acme/")))
    assert "Paused since" in home
    assert "The manager wrote: “New guidelines come”" in home
    assert "Nothing more for you" not in home
    nothing = annotator.post(f"{PAGE}next/").content.decode()
    assert "This project is paused" in nothing
    assert "New guidelines come" in nothing
    with acting_in(tenants.acme):
        event = AuditEvent.objects.get(verb="project.paused")
        assert as_text(event) == "Mallory paused Parser review of Acme Research: “New guidelines come”."
    page = plain(text_of(client.post(f"{PAGE}batches/pause/", {"from": "overview", "resume": "1"}, follow=True)))
    assert "Paused since" not in page
    assert "Paused" not in plain(text_of(annotator.get("/o/acme/")))


def test_the_state_of_a_project_stands_on_its_pages(queue: Queue, mallory: Client) -> None:
    tenants = queue.tenants

    def states() -> set[str]:
        pages = [mallory.get(f"{PAGE}{path}").content.decode() for path in ("", "traces/", "people/", "batches/")]
        return {re.findall(r'class="dot"></span> ([A-Z][a-z ]+)</span>\s*</div>', page)[0] for page in pages}

    assert states() == {"Collecting"}
    with acting_in(tenants.acme, tenants.alice):
        pause_project(project=queue.project)
        assert project_state(queue.project).word == "Paused"
    assert states() == {"Paused"}
    with acting_in(tenants.acme, tenants.alice):
        resume_project(project=queue.project)
        for trace in list(Trace.objects.all())[1:]:
            withhold(project=queue.project, traces=[trace.pk], why=Withheld.RETIRED)
        one = TraceQuota.objects.get(withheld="")
        TraceQuota.objects.filter(pk=one.pk).update(done=one.target)
        assert project_state(queue.project).word == "Complete"
        TraceQuota.objects.filter(pk=one.pk).update(done=0, batch=None, is_released=False)
        assert project_state(queue.project).word == "Collecting"
        assert project_state(Project.objects.create(slug="new", name="New")).word == "Draft"


def test_somebody_who_is_alone_is_offered_a_task_in_place_of_an_invitation(queue: Queue, mallory: Client) -> None:
    assert "or judge them yourself" not in text_of(mallory.get(PAGE))
    with acting_in(queue.tenants.acme):
        Membership.objects.exclude(user=queue.tenants.mallory).update(is_active=False)
        open_quotas(project=queue.project)
    page = text_of(mallory.get(PAGE))
    assert "Invite people, or judge them yourself" in page
    assert re.search(r'<button class="btn btn--primary" type="submit">Take a task yourself<', page)
    assert page.count("Take a task yourself") == 1
