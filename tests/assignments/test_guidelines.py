"""Guidelines: shown, asked about until they were read, and nothing in them runs."""

import json

from django.test import Client

from assignments.models import Assignment
from tenancy.actor import acting_in
from tests.assignments.opening import (
    DEFAULTS,
    GUIDELINES,
    claimed,
    data_of,
    opened,
    path_of,
    publish,
    small,
    submit_verdict,
)
from tests.pages import text_of
from tests.tenants import Tenants


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
