"""The task page: what an annotator gets to judge, under which configuration, and that nobody else gets it."""

import gzip
import json
import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.actions.projects import publish_configuration
from accounts.models import ConfigurationVersion, Membership, User
from assignments.actions.claiming import claim_next
from assignments.actions.expiring import expire_leases
from assignments.actions.submitting import submit
from assignments.actions.working import release, save_draft, skip
from assignments.models import Assignment
from potato.schemes.rewards.types import ProcessReward
from tenancy.actor import Actor, acting_in
from tests.hostile import HOSTILE
from tests.pages import text_of
from tests.tenants import PASSWORD, Tenants
from tests.traces.stored import code, outcome, read, step, stored
from traces.models import Trace
from traces.rendering.parts import nodes_in

SENT = 150_000
NODES = 20_000
QUERIES = 12

GUIDELINES = """\
guidelines: |
  Look at **edge cases** first.
"""
DEFAULTS = 'task_name: "Coding Agent Code Review"\n'
REWARDS = "annotation_schemes:\n  - {name: rewards, annotation_type: process_reward, mode: first_error}\n"


@pytest.fixture
def bob(tenants: Tenants, client: Client) -> Client:
    client.force_login(tenants.bob)
    return client


def publish(tenants: Tenants, source: str = DEFAULTS) -> None:
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=source, confirmed=True)


def display(**options: str) -> str:
    """A configuration with these keys of coding_trace_display, or below `file_tree__`."""
    plain = [f"    {key}: {value}" for key, value in options.items() if not key.startswith("file_tree__")]
    tree = [f"      {key[11:]}: {value}" for key, value in options.items() if key.startswith("file_tree__")]
    lines = ["agentic:", "  coding_trace_display:", *plain, *(["    file_tree:", *tree] if tree else [])]
    return DEFAULTS + "\n".join(lines) + "\n"


def small(tenants: Tenants, **more: Any) -> Trace:
    files = (
        outcome("src/parser.py", code(40), code(40).replace("old 20", "new 20")),
        outcome("src/new.py", None, code(3)),
        outcome("tests/gone.py", code(3), None),
        read("README.md", "read me\n"),
    )
    return stored(tenants.acme, tenants.acme_project, *files, steps=(step("I look."), step("I fix.")), **more)


def claimed(tenants: Tenants, user: User | None = None) -> Assignment:
    with acting_in(tenants.acme, user or tenants.bob):
        given = claim_next(project=tenants.acme_project, user=user or tenants.bob)
        assert isinstance(given, Assignment), given
        return given


def path_of(assignment: Assignment, tab: str = "") -> str:
    return f"/o/acme/p/parser/tasks/{assignment.pk}/{tab}"


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script id="task-data" type="application/json">(.*?)</script>', page)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def opened(tenants: Tenants, client: Client, source: str = DEFAULTS, tab: str = "") -> str:
    """The page of a task under this configuration."""
    publish(tenants, source)
    small(tenants)
    return text_of(client.get(path_of(claimed(tenants), tab)))


def test_the_page_says_of_an_assignment_what_the_api_says(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.bob)
    publish(tenants)
    small(tenants)
    assignment = claimed(tenants)
    with acting_in(tenants.acme, tenants.bob):
        save_draft(assignment=assignment, fencing_token=1, revision=0, content={"page": "\ud800 half a pair"})
    page = data_of(text_of(client.get(path_of(assignment))))
    api = client.get(f"/o/acme/api/v1/assignments/{assignment.pk}/").json()
    only_in_answers = {"trace", "draft", "files", "schemes"}
    assert page["assignment"].keys() == api.keys() - only_in_answers
    for name in page["assignment"].keys() - {"lease_until"}:
        assert page["assignment"][name] == api[name], name
    assert page["draft"] == {name: api["draft"][name] for name in page["draft"]}
    assert sorted(page["files"], key=lambda file: file["index"]) == api["files"]
    assert [{name: scheme[name] for name in scheme if name != "module"} for scheme in page["schemes"]] == api["schemes"]


# --- Whose it is ------------------------------------------------------------------------------------------


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


# --- What stands on it -------------------------------------------------------------------------------------


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
    assert "palette/2/1.css" in page
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


# --- Its options -------------------------------------------------------------------------------------------


def test_diff_style_chooses_the_layout_until_the_reader_does(tenants: Tenants, bob: Client) -> None:
    page = opened(tenants, bob, display(diff_style="split"))
    assert 'data-view="split"' in page
    assert "diff--split" in page
    assignment = path_of(claimed(tenants))
    assert 'data-view="unified"' in text_of(bob.get(assignment, {"view": "unified"}))
    bob.cookies["potato_view"] = "unified"
    assert "diff--split" not in text_of(bob.get(assignment))
    assert "diff--split" in text_of(bob.get(assignment, {"view": "split"}))
    bob.cookies["potato_view"] = "sideways"
    assert "diff--split" in text_of(bob.get(assignment))


@pytest.mark.parametrize(("context", "shown"), [(0, 0), (2, 4), (5, 10)])
def test_diff_context_lines_are_shown_around_each_change(
    tenants: Tenants, bob: Client, context: int, shown: int
) -> None:
    page = opened(tenants, bob, display(diff_context_lines=str(context)))
    article = page[page.index('aria-label="src/parser.py"') : page.index('aria-label="tests/gone.py"')]
    assert len(re.findall(r'<tr data-old="\d+" data-new="\d+">', article)) == shown
    assert "hidden lines" in article


def test_where_more_context_is_asked_for_than_is_known_the_page_says_so(tenants: Tenants, bob: Client) -> None:
    publish(tenants, display(diff_context_lines="50"))
    patch = b"--- a/a.py\n+++ b/a.py\n@@ -10,3 +10,3 @@\n one\n-two\n+zwei\n three\n"
    stored(tenants.acme, tenants.acme_project, patch=patch)
    page = text_of(bob.get(path_of(claimed(tenants))))
    assert "The trace has only the lines of the patch" in page


def test_syntax_highlight_can_be_off(tenants: Tenants, bob: Client) -> None:
    assert '<span class="k">def</span>' in opened(tenants, bob)
    publish(tenants, display(syntax_highlight="false"))
    with acting_in(tenants.acme, tenants.alice):
        small(tenants, external_id="another")
    with acting_in(tenants.acme, tenants.bob):
        release(assignment=claimed(tenants), fencing_token=1)
        plain = claimed(tenants)
    page = text_of(bob.get(path_of(plain)))
    assert "-plain" in page
    assert '<span class="k">' not in page


def test_show_line_numbers_can_be_off(tenants: Tenants, bob: Client) -> None:
    assert 'data-line-numbers="off"' in opened(tenants, bob, display(show_line_numbers="false"))


def test_line_numbers_are_shown_unless_switched_off(tenants: Tenants, bob: Client) -> None:
    assert "data-line-numbers" not in opened(tenants, bob)


def test_white_space_is_hidden_where_the_reader_chose_it(tenants: Tenants, bob: Client) -> None:
    publish(tenants)
    stored(tenants.acme, tenants.acme_project, outcome("a.py", "a\n b\nc\n", "a\nb\nd\n"))
    task = path_of(claimed(tenants))
    assert len(re.findall('<tr class="is-(?:add|del)"', text_of(bob.get(task)))) == 4
    bob.cookies["potato_whitespace"] = "hidden"
    page = text_of(bob.get(task))
    assert len(re.findall('<tr class="is-(?:add|del)"', page)) == 2
    assert "data-whitespace checked" in page
    (base,) = re.findall(r'data-base="([^"]+)"', page)
    assert base.endswith("-nowhitespace/")
    del bob.cookies["potato_whitespace"]
    assert "is-del" in text_of(bob.get(f"{base}0.html"))


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_terminal_theme_colours_what_the_agent_saw(tenants: Tenants, bob: Client, theme: str) -> None:
    assert f'data-terminal="{theme}"' in opened(tenants, bob, display(terminal_theme=theme), "steps/")


def test_the_file_tree_can_be_left_out(tenants: Tenants, bob: Client) -> None:
    page = opened(tenants, bob, display(file_tree__enabled="false"))
    assert 'class="rail"' not in page
    assert "work--alone" in page


@pytest.mark.parametrize(("position", "is_right"), [("left", False), ("right", True)])
def test_the_file_tree_stands_left_or_right(tenants: Tenants, bob: Client, position: str, is_right: bool) -> None:
    page = opened(tenants, bob, display(file_tree__position=position))
    assert ("work--right" in page) is is_right
    assert '<aside class="rail"' in page


@pytest.mark.parametrize("are_shown", [True, False])
def test_the_file_tree_shows_operations_by_colour_word_and_icon(tenants: Tenants, bob: Client, are_shown: bool) -> None:
    page = opened(tenants, bob, display(file_tree__show_operation_icons=str(are_shown).lower()))
    tree = page[page.index('class="rail"') : page.index("<main")]
    assert [word in tree for word in ("i-file-plus", "i-file-pen", "i-file-minus")] == [are_shown] * 3
    for tone in ("added", "modified", "deleted"):
        assert f'data-c="{tone}"' in tree
        assert f"<span>{tone.title()}</span>" in tree
    assert tree.count("not viewed") == 4


@pytest.mark.parametrize("is_link", [True, False])
def test_a_click_in_the_file_tree_navigates_where_it_may(tenants: Tenants, bob: Client, is_link: bool) -> None:
    page = opened(tenants, bob, display(file_tree__click_to_navigate=str(is_link).lower()))
    assert len(re.findall(r'<a href="#f\d+" data-file="\d+" class="tree__file', page)) == (4 if is_link else 0)
    assert len(re.findall(r'<span data-file="\d+" class="tree__file', page)) == (0 if is_link else 4)


def test_agentic_switched_off_takes_the_trace_tab_away(tenants: Tenants, bob: Client) -> None:
    page = opened(tenants, bob, DEFAULTS + "agentic: {enabled: false}\n")
    assert "Agent trace" not in page
    assert data_of(page)["urls"]["steps"] is None
    assignment = claimed(tenants)
    assert bob.get(path_of(assignment, "steps/")).status_code == 404
    with acting_in(tenants.acme, tenants.bob):
        first = assignment.trace.steps.get(index=0)
    assert bob.get(path_of(assignment, f"steps/0/{first.sha256}/1/step-coloured/0.html")).status_code == 404


def test_the_trace_tab_shows_the_steps(tenants: Tenants, bob: Client) -> None:
    page = opened(tenants, bob, tab="steps/")
    assert "I fix." in page
    assert data_of(page)["tab"] == "steps"
    assert len(data_of(page)["files"]) == 4
    assert "data-submit" in page


@pytest.mark.parametrize("is_secret", [False, True])
def test_steps_are_searched_unless_a_type_says_that_later_ones_are_a_secret(
    tenants: Tenants, bob: Client, monkeypatch: pytest.MonkeyPatch, is_secret: bool
) -> None:
    monkeypatch.setattr(ProcessReward, "hides_later_steps", classmethod(lambda cls, scheme: is_secret))
    publish(tenants, DEFAULTS + REWARDS)
    small(tenants)
    page = text_of(bob.get(path_of(claimed(tenants), "steps/"), {"q": "I fix."}))
    assert ("1 step with &ldquo;I fix.&rdquo;" in page) is not is_secret
    assert ('name="q"' in page) is not is_secret
    assert ("I look." in page) is is_secret


# --- Guidelines --------------------------------------------------------------------------------------------


def test_guidelines_are_shown_and_asked_about_until_they_were_read_and_again_when_they_change(
    tenants: Tenants, bob: Client
) -> None:
    publish(tenants, DEFAULTS + GUIDELINES)
    small(tenants)
    small(tenants, external_id="another")
    task = path_of(claimed(tenants))
    page = text_of(bob.get(task))
    assert "This project has guidelines" in page
    tab = text_of(bob.get(f"{task}guidelines/"))
    assert "<strong>edge cases</strong>" in tab
    assert data_of(tab)["tab"] == "guidelines"
    assert bob.post(f"{task}guidelines/acknowledge/").status_code == 302
    assert "This project has guidelines" not in text_of(bob.get(task))
    publish(tenants, DEFAULTS + GUIDELINES + "assignment: {max_open: 2}\n")
    with acting_in(tenants.acme, tenants.bob):
        submit_verdict(Assignment.objects.get())
    task = path_of(claimed(tenants))
    assert "guidelines have changed" not in text_of(bob.get(task)), "another version, the same guidelines"
    publish(tenants, DEFAULTS + GUIDELINES.replace("first", "last"))
    small(tenants, external_id="third")
    with acting_in(tenants.acme, tenants.bob):
        submit_verdict(Assignment.objects.get(state="claimed"))
    task = path_of(claimed(tenants))
    assert "The guidelines have changed" in text_of(bob.get(task))
    bob.post(f"{task}guidelines/acknowledge/")
    assert "The guidelines have changed" not in text_of(bob.get(task))


def test_guidelines_flow_and_do_not_keep_the_lines_of_the_yaml(tenants: Tenants, bob: Client) -> None:
    publish(tenants, DEFAULTS + "guidelines: |\n  Read the task first,\n  then every file.\n\n  - Bugs\n  - Style\n")
    small(tenants)
    tab = text_of(bob.get(f"{path_of(claimed(tenants))}guidelines/"))
    assert "<p>Read the task first,\nthen every file.</p>" in tab
    assert "<li>Bugs</li>\n<li>Style</li>" in tab


def test_a_trace_without_steps_has_no_tab_for_them(tenants: Tenants, bob: Client) -> None:
    publish(tenants)
    stored(tenants.acme, tenants.acme_project, outcome("a.py", "a\n", "b\n"), steps=())
    page = text_of(bob.get(path_of(claimed(tenants))))
    assert "Agent trace" not in page
    assert data_of(page)["urls"]["steps"] is None


def test_without_guidelines_there_is_no_such_tab(tenants: Tenants, bob: Client) -> None:
    page = opened(tenants, bob)
    assert "Guidelines" not in page
    assignment = claimed(tenants)
    assert bob.get(path_of(assignment, "guidelines/")).status_code == 404
    assert bob.post(path_of(assignment, "guidelines/acknowledge/")).status_code == 404


def test_guidelines_run_nothing(tenants: Tenants, bob: Client) -> None:
    text = '<img src=x onerror=alert(1)> [a](javascript:alert(1)) ![b](https://e.example/p.png) {{ 7|add:"7" }}'
    page = opened(tenants, bob, DEFAULTS + f"guidelines: {json.dumps(text)}\n", "guidelines/")
    body = page[page.index('class="card__body prose guidelines"') :]
    for bad in ("<img", 'href="javascript', "e.example", "14<"):
        assert bad not in body[: body.index("</article>")], bad


# --- Where it is over --------------------------------------------------------------------------------------


def submit_verdict(assignment: Assignment) -> None:
    result: dict[str, Any] = {"verdict": {"decision": "approve", "summary": "Good, and I looked at all of it."}}
    submit(assignment=assignment, fencing_token=assignment.fencing_token, key=str(uuid4()), sent=result, result=result)


def test_a_submitted_and_a_skipped_task_say_so_and_lead_on(tenants: Tenants, bob: Client) -> None:
    publish(tenants)
    small(tenants)
    small(tenants, external_id="another")
    first = claimed(tenants)
    with acting_in(tenants.acme, tenants.bob):
        submit_verdict(first)
    page = text_of(bob.get(path_of(first)))
    assert "You submitted this task" in page
    assert 'action="/o/acme/p/parser/next/"' in page
    assert "Claim it again" not in page
    assert "task-data" not in page
    second = claimed(tenants)
    with acting_in(tenants.acme, tenants.bob):
        skip(assignment=second, fencing_token=1, reason="<b>No idea</b>")
    page = text_of(bob.get(path_of(second, "steps/")))
    assert "You skipped this task" in page
    assert "&lt;b&gt;No idea" in page


def test_a_task_whose_time_ended_is_claimed_again_or_opened_late(tenants: Tenants, bob: Client) -> None:
    publish(tenants, DEFAULTS + GUIDELINES)
    small(tenants)
    assignment = claimed(tenants)
    with acting_in(tenants.acme, tenants.bob):
        Assignment.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert expire_leases(Actor(tenants.acme.pk, (tenants.acme.pk,))) == 1
    page = text_of(bob.get(path_of(assignment)))
    assert "Your time for this task ended" in page
    late = text_of(bob.get(path_of(assignment), {"late": "1"}))
    assert data_of(late)["assignment"] == data_of(late)["assignment"] | {"state": "expired", "lease_until": None}
    assert data_of(late)["urls"]["steps"].endswith("/steps/?late=1")
    assert 'href="?late=1&amp;view=split"' in late
    assert 'name="late" value="1"' in text_of(bob.get(path_of(assignment, "steps/"), {"late": "1"}))
    assert bob.post(path_of(assignment, "resume/")).status_code == 302
    again = data_of(text_of(bob.get(path_of(assignment))))["assignment"]
    assert (again["state"], again["lease_token"]) == ("claimed", 2)


def test_a_task_that_was_given_back_is_claimed_again_unless_others_have_its_places(
    tenants: Tenants, bob: Client
) -> None:
    publish(tenants)
    small(tenants)
    assignment = claimed(tenants)
    with acting_in(tenants.acme, tenants.bob):
        release(assignment=assignment, fencing_token=1)
    assert "You gave this task back" in text_of(bob.get(path_of(assignment)))
    assert "You gave this task back" in text_of(bob.get(path_of(assignment), {"late": "1"}))
    claimed(tenants, tenants.mallory)
    page = text_of(bob.post(path_of(assignment, "resume/"), follow=True))
    assert "others have taken its places" in page
    assert "You gave this task back" in page


# --- Colours ---------------------------------------------------------------------------------------------------


def test_the_palette_has_the_colours_of_every_scheme_under_its_own_name(tenants: Tenants, bob: Client) -> None:
    publish(
        tenants,
        DEFAULTS
        + """\
annotation_schemes:
  - name: talk
    annotation_type: code_review_comments
    inline_comments:
      categories: [{value: added, color: "#ABC"}, {value: bug}]
  - name: verdict
    annotation_type: code_review_verdict
    verdict:
      options: [{value: added, color: "#123456"}]
""",
    )
    response = bob.get("/o/acme/p/parser/scheme-colours/2/1.css")
    assert [rule.partition(";")[0] for rule in text_of(response).splitlines()] == [
        '[data-c="talk.added"]{--c:#ABC',
        '[data-c="talk.bug"]{--c:#ef4444',
        '[data-c="verdict.added"]{--c:#123456',
    ]
    assert response["Content-Type"].startswith("text/css")
    assert response["Cache-Control"] == "private, max-age=31536000, immutable"
    assert bob.get("/o/acme/p/parser/scheme-colours/2/2.css").status_code == 404
    bob.force_login(tenants.charlie)
    assert bob.get("/o/acme/p/parser/scheme-colours/2/1.css").status_code == 404


def test_a_third_party_cannot_break_out_of_the_palette(monkeypatch: pytest.MonkeyPatch) -> None:
    from assignments.task_page.scheme_colours import scheme_colours_sheet
    from potato.configuration import check_configuration
    from potato.schemes.review.types import Verdict

    colours = {"good": "#fff", 'a"]{}': "#fff", "b": "red;}", "c": "#fff}*{x:y"}
    monkeypatch.setattr(Verdict, "colours", classmethod(lambda cls, scheme: colours))
    source = DEFAULTS + "annotation_schemes:\n  - {name: v, annotation_type: code_review_verdict}\n"
    configuration = check_configuration(source).configuration
    assert configuration is not None
    (rule,) = scheme_colours_sheet(configuration).splitlines()
    tones = r"(;--c-(text|mark):light-dark\(#\w{6},#\w{6}\)){2}"
    assert re.fullmatch(r"\[data-c=\"v\.good\"\]\{--c:#fff" + tones + r"\}", rule), rule


# --- What it weighs, and what a run may say ----------------------------------------------------------------


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
