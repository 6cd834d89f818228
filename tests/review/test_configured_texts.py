"""What a configuration says is shown as it is written, and never read as markup, on every page that says it."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from accounts.actions.projects import publish_configuration
from assignments.actions.claiming import claim_next
from assignments.models import Assignment
from jobs import outbox
from tenancy.actor import acting_in
from tests.assignments.conftest import submit
from tests.pages import text_of
from tests.tenants import Tenants
from tests.traces.stored import code, outcome, step, stored

ROOT = Path(settings.BASE_DIR)


class Texts:
    """Texts that would be an element, in a text or out of an attribute, each with a number of its own."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self.made: list[str] = []

    def __call__(self) -> str:
        self.made.append(f"""'"><i data-hostile={next(self._numbers)}>x</i>""")
        return self.made[-1]


class Read(HTMLParser):
    """What a browser shows of a page: its texts, the values of its attributes, and whether an element was made."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.has_hostile_element = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.has_hostile_element |= any(name == "data-hostile" for name, _ in attrs)
        self.seen += [value for _, value in attrs if value]

    def handle_data(self, data: str) -> None:
        self.seen.append(data)


def review(texts: Texts) -> list[dict[str, Any]]:
    return [
        {
            "name": "comments",
            "annotation_type": "code_review_comments",
            "description": texts(),
            "inline_comments": {
                "categories": [{"value": "bug", "display": texts()}],
                "severity": {"enabled": True, "levels": [{"value": "major", "display": texts()}]},
            },
        },
        {
            "name": "ratings",
            "annotation_type": "code_review_file_ratings",
            "description": texts(),
            "file_ratings": {
                "dimensions": [
                    {
                        "name": "quality",
                        "display": texts(),
                        "description": texts(),
                        "scale": {"min": 1, "max": 2, "labels": {"1": texts(), "2": texts()}},
                    }
                ]
            },
        },
        {
            "name": "verdict",
            "annotation_type": "code_review_verdict",
            "description": texts(),
            "verdict": {
                "options": [{"value": "approve", "display": texts(), "description": texts()}],
                "summary_placeholder": texts(),
            },
        },
    ]


def rewards(texts: Texts, mode: str) -> list[dict[str, Any]]:
    if mode == "first_error":
        block: dict[str, Any] = {
            "labels": {name: texts() for name in ("correct", "first_error", "downstream", "all_correct")}
        }
    else:
        block = {
            "labels": [
                {"value": "good", "display": texts(), "score": 1.0},
                {"value": "incorrect", "display": texts(), "score": -1.0},
            ],
            "error_categories": {"enabled": True, "categories": [texts()]},
        }
    return [{"name": "rewards", "annotation_type": "process_reward", "description": texts(), "mode": mode, mode: block}]


CASES = {
    "a review": (review, ["", "steps/"]),
    "first error": (lambda texts: rewards(texts, "first_error"), ["steps/"]),
    "per step": (lambda texts: rewards(texts, "per_step"), ["steps/"]),
}


def pages(tenants: Tenants, client: Client, assignment: Assignment, tabs: list[str]) -> Iterator[str]:
    client.force_login(tenants.bob)
    for tab in tabs:
        yield text_of(client.get(f"/o/acme/p/parser/tasks/{assignment.pk}/{tab}"))
    yield text_of(client.get("/o/acme/"))
    with acting_in(tenants.acme, tenants.bob) as actor:
        submit(assignment)
    outbox.deliver(actor)
    client.force_login(tenants.alice)
    for path in ("p/parser/", "p/parser/annotations/"):
        yield text_of(client.get(f"/o/acme/{path}"))


@pytest.mark.parametrize("case", CASES)
def test_every_configured_text_is_shown_as_it_is_written(tenants: Tenants, client: Client, case: str) -> None:
    schemes, tabs = CASES[case]
    texts = Texts()
    source = json.dumps({"task_name": texts(), "annotation_schemes": schemes(texts)})
    changed = outcome("src/parser.py", code(9), code(9, "new"))
    stored(tenants.acme, tenants.acme_project, changed, steps=(step("I look."), step("I fix.")))
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=source, confirmed=True)
    with acting_in(tenants.acme, tenants.bob):
        assignment = claim_next(project=tenants.acme_project, user=tenants.bob)
    assert isinstance(assignment, Assignment)
    seen = ""
    for page in pages(tenants, client, assignment, tabs):
        read = Read(page)
        assert not read.has_hostile_element, re.findall(r".{80}<i data-hostile.{20}", page)
        seen += "\n".join(read.seen)
    # Some stand in the JSON block, where the page's modules read them.
    seen += re.sub(r"\\u([0-9A-Fa-f]{4})", lambda code: chr(int(code[1], 16)), seen).replace('\\"', '"')
    assert [text for text in texts.made if text not in seen] == []


@pytest.mark.parametrize("path", sorted(ROOT.glob("templates/**/*.html")), ids=lambda path: path.name)
def test_no_template_calls_a_text_safe(path: Path) -> None:
    assert re.findall(r"\|\s*safe(?:seq)?\b|{%\s*autoescape\s+off|{%\s*filter\s+safe", path.read_text()) == []
