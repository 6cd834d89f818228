"""A scheme type of another package on the task page: its own words, keys and style, and nothing of ours."""

import sys
from collections.abc import Iterator
from copy import deepcopy
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from potato.entry_points import SCHEME_TYPES
from potato.records.sources import Project
from potato.schemes.registry import SchemeConfiguration, SchemeType, Target, scheme_types
from tests.assignments.opening import opened
from tests.tenants import Tenants

SOURCE = 'task_name: "Worth"\nannotation_schemes:\n  - {name: worth, annotation_type: worth}\n'


class WorthScheme(SchemeConfiguration):
    annotation_type: Literal["worth"]
    """What is annotated, and how."""


class Worth(SchemeType):
    annotation_type = "worth"
    target: ClassVar[Target] = "agentic_steps"
    configuration = WorthScheme
    template = "worth/steps.html"
    module = "js/theme.js"
    style = "css/base.css"
    keys_template = "worth/keys.html"
    work_word = "appraisal"
    assumed_entry = {"name": "worth", "annotation_type": "worth"}


@pytest.fixture
def worth(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Worth]]:
    """Installed, with its templates."""
    (tmp_path / "worth").mkdir()
    (tmp_path / "worth" / "steps.html").write_text("<p>What is {{ scheme.name }} worth?</p>", encoding="utf-8")
    keys = "<section><h3>{{ shown.name }}</h3><kbd>w</kbd></section>"
    (tmp_path / "worth" / "keys.html").write_text(keys, encoding="utf-8")
    templates = deepcopy(settings.TEMPLATES)
    templates[0]["DIRS"] = [*templates[0]["DIRS"], tmp_path]
    settings.TEMPLATES = templates
    entry = EntryPoint("worth", f"{__name__}:Worth", SCHEME_TYPES)

    def with_worth(*, group: str) -> Any:
        return EntryPoints([*entry_points(group=group), *([entry] if group == SCHEME_TYPES else [])])

    monkeypatch.setattr("potato.entry_points.entry_points", with_worth)
    scheme_types.cache_clear()
    yield sys.modules[__name__].Worth
    scheme_types.cache_clear()


def keys_of(page: str) -> str:
    """The dialog of the shortcuts."""
    return page.split('id="keys"', 1)[1].split("</main>")[0]


def test_steps_are_judged_with_its_words_its_keys_and_its_style(
    worth: type[Worth], tenants: Tenants, client: Client
) -> None:
    client.force_login(tenants.bob)
    page = opened(tenants, client, SOURCE, "steps/")
    assert '<template id="mount-worth"><p>What is worth worth?</p></template>' in page
    assert "<h3>worth</h3><kbd>w</kbd>" in keys_of(page)
    assert "Next, previous failed step" not in keys_of(page)
    assert "without single keys" not in page
    assert "Submit appraisal</button>" in page
    assert "<span>Submit appraisal</span>" in keys_of(page)
    assert "Your appraisal is on its way." in page
    assert "css/base" in page.split("css/rewards")[0]
    assert "css/rewards" not in page


def test_without_keys_of_its_own_those_of_reading_steps_stand_there(
    worth: type[Worth], tenants: Tenants, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worth, "keys_template", "")
    monkeypatch.setattr(worth, "style", "")
    monkeypatch.setattr(worth, "work_word", "")
    client.force_login(tenants.bob)
    page = opened(tenants, client, SOURCE, "steps/")
    assert "Next, previous failed step" in keys_of(page)
    assert "<span>Submit</span>" in keys_of(page)
    assert "css/rewards" not in page


@pytest.mark.parametrize("target", ["line", "file", "change_set"])
def test_beside_the_files_it_has_its_own_keys_and_none_of_a_review(
    worth: type[Worth], tenants: Tenants, client: Client, monkeypatch: pytest.MonkeyPatch, target: Target
) -> None:
    monkeypatch.setattr(worth, "target", target)
    client.force_login(tenants.bob)
    keys = keys_of(opened(tenants, client, SOURCE))
    assert "<h3>worth</h3><kbd>w</kbd>" in keys
    for heading in ("Comment", "Rate", "Verdict"):
        assert f"<h3>{heading}</h3>" not in keys


def test_its_records_are_read_where_nobody_tells_the_configuration(worth: type[Worth]) -> None:
    assumed = Project.unknown().newest
    assert assumed is not None
    names = ["inline_comments", "file_ratings", "verdict", "process_reward", "worth"]
    assert [scheme.name for scheme in assumed.annotation_schemes] == names


def test_settings_of_a_type_without_a_block_are_what_it_says(worth: type[Worth]) -> None:
    assert worth.settings(WorthScheme(name="worth", annotation_type="worth")) == {}
