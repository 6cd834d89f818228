"""A way of judging that this project does not know brings a section of the project's page, from an app of its own."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from assignments import scheme_pages
from assignments.scheme_pages import ProjectPage, SchemePages, Section
from tests.assignments.conftest import Queue
from tests.dashboard.test_project_page import PAGE, plain
from tests.pages import text_of

TEMPLATE = """<section class="card {% if is_beside %}c12{% else %}c6{% endif %}"><h2>Risk of a merge</h2>\
<p>{{ project.name }}: {{ section.words }} ({{ section.asked }})</p></section>"""


@pytest.fixture
def own_template(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "merge_risk").mkdir()
    (tmp_path / "merge_risk" / "section.html").write_text(TEMPLATE, encoding="utf-8")
    templates = deepcopy(settings.TEMPLATES)
    templates[0]["DIRS"] = [*templates[0]["DIRS"], tmp_path]
    settings.TEMPLATES = templates


@pytest.fixture
def merge_risk(own_template: None) -> Iterator[list[ProjectPage]]:
    """The pages that were asked for."""
    asked: list[ProjectPage] = []

    def content(page: ProjectPage) -> dict[str, Any] | None:
        asked.append(page)
        if not page.has_scheme("code_review_verdict"):
            return None
        return {"words": "<b>low</b>", "asked": page.query.get("risk", "nothing")}

    scheme_pages.register(SchemePages("merge_risk", sections=(Section("merge_risk/section.html", content),)))
    yield asked
    scheme_pages.unregister("merge_risk")


def test_its_section_stands_on_the_page_of_a_project_that_it_speaks_of(
    merge_risk: list[ProjectPage], queue: Queue, client: Client
) -> None:
    client.force_login(queue.tenants.mallory)
    page = text_of(client.get(PAGE, {"risk": "by file"}))
    assert f"{queue.project.name}: &lt;b&gt;low&lt;/b&gt; (by file)" in page
    assert plain(page).index("People at a glance") < plain(page).index("Risk of a merge")
    assert [asked.project for asked in merge_risk] == [queue.project]


def test_a_section_with_nothing_to_say_is_left_out(
    merge_risk: list[ProjectPage], own_template: None, queue: Queue, client: Client
) -> None:
    scheme_pages.register(SchemePages("merge_risk", sections=(Section("merge_risk/section.html", lambda page: None),)))
    client.force_login(queue.tenants.mallory)
    assert "Risk of a merge" not in text_of(client.get(PAGE))


def test_routes_of_an_app_are_named_by_their_module() -> None:
    assert "project-statistics" in [route.name for route in scheme_pages.project_routes()]
    assert "api-statistics" in [route.name for route in scheme_pages.api_routes()]
