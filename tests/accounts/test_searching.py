"""Searching: what has all the words, only what the reader may see, escaped, and the same in the API."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from accounts.actions.members import put_on_project
from accounts.actions.projects import archive_project, create_project, publish_configuration
from accounts.actions.tokens import make_token
from accounts.models import Membership, Project, User
from assignments.models import Batch
from exports.actions import request_export
from tenancy.actor import acting_in
from tenancy.roles import ProjectRole, Role
from tests.assignments.conftest import YAML, Queue, queue, submit
from traces.models import ImportedFile, Trace
from traces.searching import trace_ids

__all__ = ["queue"]  # A fixture.


@pytest.fixture
def other(queue: Queue) -> Project:
    """A second project of Acme, with a trace of its own."""
    project = create_project(slug="second", name="Teach the parser")
    publish_configuration(project=project, source=YAML.format(target=1, max_open=1))
    make_traces(Queue(queue.tenants, project), "Parser of dates")
    return project


def make_traces(queue: Queue, *tasks: str, **facts: str) -> list[Trace]:
    file = ImportedFile.objects.create(project=queue.project, name="tasks", size=1, sha256="0" * 64, format="auto")
    counts = dict.fromkeys(("steps_count", "tool_calls", "files_count", "added", "removed"), 1)
    return Trace.objects.bulk_create(
        Trace(
            project=queue.project,
            file=file,
            external_id=f"run-{number:05}",
            content_sha256="0" * 64,
            task_id="task",
            task=task,
            converter="native",
            **facts,
            **counts,
        )
        for number, task in enumerate(tasks)
    )


def found(user: User, text: str) -> dict[str, list[str]]:
    client = Client()
    client.force_login(user)
    answer = client.get(f"/o/acme/api/v1/search/?q={quote(text)}")
    assert answer.status_code == 200, answer.content
    return {group["title"]: [hit["title"] for hit in group["hits"]] for group in answer.json()["groups"]}


def test_all_words_are_wanted_in_capitals_or_small_in_the_task_the_id_or_the_repository(queue: Queue) -> None:
    make_traces(queue, "Fix the failing test in parser.py", "Retry the upload", repo="acme/tools")
    alice = queue.tenants.alice
    assert found(alice, "PARSER failing") == {"Traces": ["Fix the failing test in parser.py"]}
    assert found(alice, "failing upload") == {}
    assert found(alice, "acme/tools upload") == {"Traces": ["Retry the upload"]}
    assert found(alice, "run-00001") == {"Traces": ["Retry the upload"]}
    assert found(alice, "   ") == {}


def test_signs_of_patterns_are_letters_like_others(queue: Queue) -> None:
    make_traces(queue, "100% of tests", "1000 tests", "a_b", "acb", "back\\slash")
    alice = queue.tenants.alice
    assert found(alice, "100%") == {"Traces": ["100% of tests"]}
    assert found(alice, "a_b") == {"Traces": ["a_b"]}
    assert found(alice, "k\\s") == {"Traces": ["back\\slash"]}
    assert found(alice, "te\0sts") == {}


def test_old_traces_are_found_beyond_the_newest_thousand(queue: Queue) -> None:
    old = make_traces(queue, "About leap seconds")
    queue.add_traces(1100, prefix="later")
    assert trace_ids(["leap", "seconds"], projects=[queue.project.pk], enough=5) == [old[0].pk]
    assert trace_ids(["leap", "years"], projects=[queue.project.pk], enough=5) == []


def test_the_newest_version_of_a_trace_stands_for_all(queue: Queue) -> None:
    (first,) = make_traces(queue, "Count the pages")
    fields = {field.attname: getattr(first, field.attname) for field in Trace._meta.concrete_fields}
    for name in ("id", "transaction"):
        del fields[name]
    Trace.objects.create(**{**fields, "version": 2, "task": "Count the pages"})
    assert len(found(queue.tenants.alice, "count pages")["Traces"]) == 1


def test_words_narrow_by_person_and_by_model(queue: Queue) -> None:
    make_traces(queue, "Sort the names", agent_model="agent-c")
    make_traces(
        Queue(queue.tenants, create_project(slug="third", name="Third")), "Sort the files", agent_model="agent-b"
    )
    tenants = queue.tenants
    assert found(tenants.alice, "sort agent:agent-c") == {"Traces": ["Sort the names"]}
    held = queue.claimed(tenants.bob)
    submit(held)
    assert found(tenants.alice, "by:bob") == {"Traces": [str(held.trace)]}
    assert found(tenants.alice, "by:nobody") == {}


def test_a_manager_of_one_project_finds_nothing_of_another(queue: Queue, other: Project) -> None:
    tenants = queue.tenants
    make_traces(queue, "The parser stops")
    bob = Membership.objects.get(user=tenants.bob)
    Membership.objects.filter(pk=bob.pk).update(role=Role.MEMBER)
    mallory = Membership.objects.get(user=tenants.mallory, organisation=tenants.acme)
    Membership.objects.filter(pk=mallory.pk).update(role=Role.MEMBER)
    put_on_project(project=queue.project, membership=bob, role=ProjectRole.MANAGER)
    put_on_project(project=other, membership=mallory, role=ProjectRole.ANNOTATOR)
    Batch.objects.create(project=other, number=7, name="Parser batch of the other")
    mine = found(tenants.bob, "parser")
    assert mine == {"Traces": ["The parser stops"], "Projects and batches": ["Parser review of Acme Research"]}
    assert found(tenants.bob, "mallory") == {}, "mallory is no member of bob's project"
    assert found(tenants.bob, "bob") == {"People": ["bob"]}
    everything = found(tenants.alice, "parser")
    assert set(everything["Traces"]) == {"The parser stops", "Parser of dates"}
    assert "Parser batch of the other" in everything["Projects and batches"]


def test_an_annotator_finds_projects_and_what_they_annotated_and_no_people(queue: Queue) -> None:
    tenants = queue.tenants
    held = queue.claimed(tenants.bob)
    assert found(tenants.bob, "trace-0000") == {}
    submit(held)
    assert found(tenants.bob, "trace-0000") == {"Your annotations": [str(held.trace)]}
    assert found(tenants.bob, "parser") == {"Projects and batches": ["Parser review of Acme Research"]}
    assert found(tenants.bob, "alice") == {}
    assert found(tenants.bob, "by:bob") == {}


def test_another_organisation_finds_nothing_of_this_one(queue: Queue) -> None:
    make_traces(queue, "A secret of Acme")
    tenants = queue.tenants
    client = Client()
    client.force_login(tenants.charlie)
    assert client.get("/o/birch/api/v1/search/?q=secret").json() == {"groups": []}
    assert client.get("/o/acme/search/?q=secret").status_code == 404
    with acting_in(tenants.birch, tenants.charlie):
        assert trace_ids(["secret"], projects=[queue.project.pk], enough=5) == []


def test_a_token_limited_to_a_project_finds_that_alone(queue: Queue, other: Project, client: Client) -> None:
    make_traces(queue, "The parser stops")
    alice = Membership.objects.get(user=queue.tenants.alice)
    _, text = make_token(name="one", membership=alice, by_owner=True, projects=[other])
    answer = client.get("/api/v1/search/?q=parser", headers={"authorization": f"Bearer {text}"})
    titles = [hit["title"] for group in answer.json()["groups"] for hit in group["hits"]]
    assert titles == ["Parser of dates", "Teach the parser"]


def test_admins_find_people_by_name_and_address_and_imports_and_exports(queue: Queue) -> None:
    tenants = queue.tenants
    assert found(tenants.dora, "mallory@example")["People"] == ["Mallory (mallory)"]
    assert found(tenants.dora, "runs")["Imports and exports"] == ["runs"]
    submit(queue.claimed(tenants.bob))
    export = request_export(project=queue.project, format="code_review", options={})
    own = {"Imports and exports": ["code_review"]}
    assert found(tenants.dora, str(export.pk)) == own
    type(export).objects.filter(pk=export.pk).update(sha256=f"0ab1{'f' * 60}")
    assert [found(tenants.dora, words).get("Imports and exports", []) for words in ("0AB1", "Code_Rev", "ab1")] == [
        ["code_review"],
        ["code_review"],
        [],
    ]
    trace = Trace.objects.order_by("pk").first()
    assert trace is not None
    assert found(tenants.dora, str(trace.pk)) == {"Traces": [str(trace)]}


def test_an_archived_project_is_found_and_says_so(queue: Queue, other: Project) -> None:
    archive_project(project=other)
    client = Client()
    client.force_login(queue.tenants.alice)
    page = client.get("/o/acme/search/?q=teach").content.decode()
    assert "project, archived" in page


def test_titles_are_escaped_and_what_fits_is_marked(queue: Queue) -> None:
    make_traces(queue, "<script>alert(1)</script> & the parser")
    client = Client()
    client.force_login(queue.tenants.alice)
    for address in ("/o/acme/search/", "/o/acme/search/box/"):
        page = client.get(f"{address}?q=script").content.decode()
        assert "<script>alert" not in page
        assert "&lt;<mark>script</mark>&gt;alert(1)" in page
    nothing = client.get("/o/acme/search/?q=%3Cb%3Enone").content.decode()
    assert "<b>none" not in nothing
    assert re.search(r"Nothing with “&lt;b&gt;none”", nothing)


def test_more_than_is_shown_says_so(queue: Queue) -> None:
    queue.add_traces(60, prefix="many")
    client = Client()
    client.force_login(queue.tenants.alice)
    assert "5 or more" in client.get("/o/acme/search/box/?q=many-").content.decode()
    page = client.get("/o/acme/search/?q=many-").content.decode()
    assert "50 or more" in page
    assert "A further word narrows it." in page


def test_a_search_reads_no_more_with_more_hits(queue: Queue, django_assert_max_num_queries: Any) -> None:
    queue.add_traces(40, prefix="many")
    client = Client()
    client.force_login(queue.tenants.alice)
    client.get("/o/acme/search/?q=many-")
    with django_assert_max_num_queries(30):
        client.get("/o/acme/search/?q=many-")
