"""The task page: whose it is, what stands on it, what it weighs, and what a run may say on it."""

import gzip
import re
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import ConfigurationVersion, Membership, User
from assignments.actions.working import save_draft
from tenancy.actor import acting_in
from tests.assignments.opening import (
    DEFAULTS,
    GUIDELINES,
    REWARDS,
    claimed,
    data_of,
    display,
    opened,
    path_of,
    publish,
    small,
    submit_verdict,
)
from tests.hostile import HOSTILE
from tests.pages import text_of
from tests.tenants import PASSWORD, Tenants
from tests.traces.stored import code, outcome, step, stored
from traces.rendering.parts import nodes_in

SENT = 150_000
NODES = 20_000
QUERIES = 14


def test_the_page_says_of_an_assignment_what_the_api_says(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.bob)
    publish(tenants)
    small(tenants)
    assignment = claimed(tenants)
    with acting_in(tenants.acme, tenants.bob):
        save_draft(assignment=assignment, fencing_token=1, revision=0, content={"page": "\ud800 half a pair"})
    page = data_of(text_of(client.get(path_of(assignment))))
    api = client.get(f"/o/acme/api/v1/assignments/{assignment.pk}/").json()
    only_in_answers = {"trace", "draft", "files", "schemes", "deadline"}
    assert page["assignment"].keys() == api.keys() - only_in_answers
    for name in page["assignment"].keys() - {"lease_until"}:
        assert page["assignment"][name] == api[name], name
    assert page["draft"] == {name: api["draft"][name] for name in page["draft"]}
    assert sorted(page["files"], key=lambda file: file["index"]) == api["files"]
    assert [{name: scheme[name] for name in scheme if name != "module"} for scheme in page["schemes"]] == api["schemes"]


def test_only_the_one_whose_task_it_is_finds_it(tenants: Tenants, client: Client) -> None:
    publish(tenants)
    small(tenants)
    assignment = claimed(tenants)
    client.force_login(tenants.bob)
    page = text_of(client.get(path_of(assignment)))
    fragments = [*re.findall(r'<lazy-fragment src="([^"]+)"', page), *re.findall(r'data-base="([^"]+)"', page)]
    addresses = [path_of(assignment, tab) for tab in ("", "steps/")] + [f"{base}0.html" for base in fragments[-2:]]
    steps = text_of(client.get(path_of(assignment, "steps/")))
    addresses += [f"{base}0.html" for base in re.findall(r'data-base="([^"]+)"', steps)]
    assert len(addresses) > 5
    assert {client.get(address).status_code for address in addresses} == {200}
    with acting_in(tenants.acme, tenants.alice):
        eve = User.objects.create_user("eve", email="eve@example.org", password=PASSWORD)
        Membership.objects.create(user=eve, annotator_name="eve")
    for other in (eve, tenants.alice, tenants.mallory, tenants.charlie):
        client.force_login(other)
        assert {client.get(address).status_code for address in addresses} == {404}, other
        for verb in ("resume/", "guidelines/acknowledge/"):
            assert client.post(path_of(assignment, verb)).status_code == 404
    client.force_login(tenants.bob)
    assert client.get(f"/o/acme/p/another/tasks/{assignment.pk}/").status_code == 404
    assert client.get(f"/o/acme/p/parser/tasks/{uuid4()}/").status_code == 404


def test_the_page_says_nothing_of_which_agent_it_was(tenants: Tenants, bob: Client) -> None:
    publish(tenants)
    small(tenants, agent_model="harbor-coder-2", tags=("by harbor-coder-2",))
    assignment = claimed(tenants)
    for tab in ("", "steps/"):
        assert "harbor" not in text_of(bob.get(path_of(assignment, tab)))


def test_fragments_are_kept_for_ever_and_only_with_the_options_of_the_task(tenants: Tenants, bob: Client) -> None:
    page = opened(tenants, bob)
    (base, *_) = re.findall(r'data-base="([^"]+)"', page)
    response = bob.get(f"{base}0.html", headers={"accept-encoding": "gzip"})
    assert response["Cache-Control"] == "private, max-age=31536000, immutable"
    assert response["Content-Encoding"] == "gzip"
    assert bob.get(f"{base}0.html".replace("unified-5", "unified-6")).status_code == 404
    assert bob.get(f"{base}99.html").status_code == 404


def test_no_browser_keeps_a_page_with_its_draft(tenants: Tenants, bob: Client) -> None:
    publish(tenants, DEFAULTS + GUIDELINES)
    small(tenants)
    assignment = claimed(tenants)
    for tab in ("", "steps/", "guidelines/"):
        assert "no-store" in bob.get(path_of(assignment, tab))["Cache-Control"]


def test_the_page_holds_everything_that_its_modules_need(tenants: Tenants, bob: Client) -> None:
    page = opened(tenants, bob, DEFAULTS + GUIDELINES)
    data = data_of(page)
    assert data["assignment"]["state"] == "claimed"
    assert data["assignment"]["lease_minutes"] == 30
    assert data["assignment"]["configuration_version"] == 1
    assert data["annotator"] == "bob"
    assert data["draft"] == {"revision": 0, "content": None}
    assert data["tab"] == "files"
    assert [scheme["target"] for scheme in data["schemes"]] == ["line", "file", "change_set"]
    assert data["schemes"][0]["block"]["categories"][0]["value"] == "bug"
    assert data["schemes"][0]["module"].startswith("/static/js/review/comments")
    assert [(file["path"], file["operation"]) for file in data["files"]] == [
        ("src/new.py", "added"),
        ("src/parser.py", "modified"),
        ("tests/gone.py", "deleted"),
        ("README.md", "unchanged"),
    ]
    assert data["urls"]["steps"].endswith("/steps/")
    assert data["api"] == "/o/acme/api/v1/"
    for mark in ("data-saved", "data-lease", "data-missing", "data-skip", "data-submit", "data-my-comments"):
        assert mark in page, mark
    for scheme in ("inline_comments", "file_ratings"):
        assert f'<template id="mount-{scheme}">' in page
        assert f'data-count="{scheme}"' in page
    assert "Overall verdict" in page
    assert "Fix the failing test in test_parser.py</h1>" in page
    assert "Task 1 of 1" in page
    assert "Comment on {side} line {line}" in page


def test_the_page_counts_the_tasks_that_are_done_and_those_that_are_left(tenants: Tenants, bob: Client) -> None:
    publish(tenants)
    for name in ("one", "two", "three"):
        small(tenants, external_id=name)
    first = claimed(tenants)
    assert "Task 1 of 3" in text_of(bob.get(path_of(first)))
    with acting_in(tenants.acme, tenants.bob):
        submit_verdict(first)
    second = path_of(claimed(tenants))
    assert "Task 2 of 3" in text_of(bob.get(second))
    claimed(tenants, tenants.mallory)
    assert "Task 2 of 2" in text_of(bob.get(second)), "somebody else has the third"


@pytest.mark.parametrize(("source", "tab"), [(DEFAULTS, ""), (DEFAULTS + REWARDS, "steps/")])
def test_where_the_trace_is_ascii_so_is_the_page(tenants: Tenants, bob: Client, source: str, tab: str) -> None:
    """Python keeps such a page in half of the memory and encodes it in a hundredth of the time: write entities."""
    assert [character for character in opened(tenants, bob, source, tab) if not character.isascii()] == []


def test_what_was_drafted_comes_back_with_the_page(tenants: Tenants, bob: Client) -> None:
    publish(tenants)
    small(tenants)
    assignment = claimed(tenants)
    content = {"answers": {"verdict": {"summary": "</script><b>\ud800\x00"}}, "page": {}}
    with acting_in(tenants.acme, tenants.bob):
        save_draft(assignment=assignment, fencing_token=1, revision=0, content=content)
    page = text_of(bob.get(path_of(assignment)))
    assert data_of(page)["draft"] == {"revision": 1, "content": content}
    assert "</script><b>" not in page


def test_a_project_that_judges_no_lines_offers_no_comments(tenants: Tenants, bob: Client) -> None:
    page = opened(tenants, bob, DEFAULTS + "annotation_schemes:\n  - {name: v, annotation_type: code_review_verdict}\n")
    assert "Link to {side} line {line}" in page
    assert "mount-" not in page
    assert [scheme["name"] for scheme in data_of(page)["schemes"]] == ["v"]


def test_the_configuration_of_the_claim_stays_although_a_newer_one_is_published(tenants: Tenants, bob: Client) -> None:
    publish(tenants, display(diff_context_lines="2") + GUIDELINES)
    small(tenants)
    assignment = claimed(tenants)
    publish(tenants, display(diff_context_lines="9", diff_style="split").replace("Coding Agent", "Newer"))
    page = text_of(bob.get(path_of(assignment)))
    assert "Coding Agent Code Review" in page
    assert data_of(page)["assignment"]["configuration_version"] == 1
    assert "unified-2-coloured" in page
    assert "scheme-colours/2/1.css" in page
    assert "edge cases" in text_of(bob.get(path_of(assignment, "guidelines/")))


def test_a_configuration_that_does_not_load_any_more_is_told(
    tenants: Tenants, bob: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(tenants)
    small(tenants)
    with acting_in(tenants.acme, tenants.alice):
        whole = tenants.acme_project.newest_version()
        assert whole is not None
        strange = {**whole.configuration, "annotation_schemes": [{"name": "mood", "annotation_type": "mood"}]}
        ConfigurationVersion.objects.create(
            project=tenants.acme_project, number=2, source="", configuration=strange, published_by=tenants.alice
        )
    assignment = claimed(tenants)
    page = text_of(bob.get(path_of(assignment)), 409)
    assert "names the scheme type mood, which is not installed" in page
    assert bob.get("/o/acme/p/parser/scheme-colours/2/2.css").status_code == 404
    assert bob.post(path_of(assignment, "guidelines/acknowledge/")).status_code == 404


def test_the_page_is_made_with_few_queries(tenants: Tenants, bob: Client) -> None:
    publish(tenants, DEFAULTS + GUIDELINES)
    files = [outcome(f"src/part_{at:02}.py", code(60), code(60, "new")) for at in range(40)]
    stored(tenants.acme, tenants.acme_project, *files, steps=tuple(step(f"Step {at}") for at in range(60)))
    assignment = claimed(tenants)
    with acting_in(tenants.acme, tenants.bob):
        save_draft(assignment=assignment, fencing_token=1, revision=0, content={"answers": {}, "page": {}})
    for tab in ("", "steps/", "guidelines/"):
        text_of(bob.get(path_of(assignment, tab)))
        with CaptureQueriesContext(connection) as queries:
            text_of(bob.get(path_of(assignment, tab)))
        # In tests alone the request's transaction goes on after it, so the actor is taken out of it again.
        asked = [query["sql"] for query in queries if not re.search("SAVEPOINT|^SELECT set_config", query["sql"])]
        assert len(asked) <= QUERIES, "\n".join(sql[:120] for sql in asked)


@pytest.mark.parametrize("changed", [12, 200])
def test_what_is_sent_before_scrolling_is_bounded(tenants: Tenants, bob: Client, changed: int) -> None:
    """A typical change of 12 files, and one of 50,000 lines."""
    publish(tenants)
    files = [outcome(f"src/m{at % 9}/part_{at:03}.py", code(130), code(130, "new")) for at in range(changed)]
    stored(tenants.acme, tenants.acme_project, *files)
    assignment = claimed(tenants)
    for query in ({}, {"view": "split"}):
        response = bob.get(path_of(assignment), query, headers={"accept-encoding": "gzip"})
        assert len(response.content) < SENT // 2  # The rest is for styles and modules; the stories weigh everything.
        assert nodes_in(gzip.decompress(response.content).decode()) < NODES


@pytest.mark.parametrize("tab", ["", "steps/", "guidelines/"])
def test_nothing_that_a_run_says_becomes_markup(tenants: Tenants, bob: Client, tab: str) -> None:
    publish(tenants, DEFAULTS + GUIDELINES)
    files = [outcome(f"d{at}/{words}", f"{words}\n", f"{words} new\n") for at, words in enumerate(HOSTILE)]
    everything = "\n".join(HOSTILE)
    stored(
        tenants.acme,
        tenants.acme_project,
        *files,
        external_id=HOSTILE[0],
        task=f"{HOSTILE[2]}\n\n{everything}",
        steps=(step(everything, result=everything, thought=everything),),
    )
    page = text_of(bob.get(path_of(claimed(tenants), tab)))
    assert re.findall(r"<(?:script|img|iframe|svg)[^>]*(?:alert|onerror|onload)", page) == []
    assert page.count("<script") == len(
        re.findall(r'<script (?:type="module" )?(?:src="/static/|id="task-data")', page)
    )
    data_of(page)
