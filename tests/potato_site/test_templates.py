"""What holds for every template, sheet and module of the site, read from the files themselves."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.template import Context, Template
from django.template.loader import render_to_string
from pytest_django.fixtures import Settings

ROOT = Path(settings.BASE_DIR)
TEMPLATES = sorted(ROOT.glob("templates/**/*.html"))
SPRITE = (ROOT / "static/icons/sprite.svg").read_text()


def without_comments(template: Path) -> str:
    return re.sub(r"{% comment %}.*?{% endcomment %}", "", template.read_text(), flags=re.DOTALL)


def test_every_icon_that_is_named_is_in_the_sprite() -> None:
    drawn = set(re.findall(r'<symbol id="i-([a-z0-9-]+)"', SPRITE))
    named = {
        name
        for template in TEMPLATES
        for name in re.findall(r'{% icon "([^"]+)"|icon_name="([^"]+)"', without_comments(template))
        for name in name
        if name
    }
    named |= set(re.findall(r'"i-([a-z0-9-]+)"', (ROOT / "static/js/theme.js").read_text()))
    assert len(named) > 20
    assert named <= drawn


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT / "templates")))
def test_no_template_asks_for_what_the_content_security_policy_refuses(template: Path) -> None:
    text = without_comments(template)
    assert re.findall(r"<style\b|\sstyle=|\son[a-z]+=|javascript:|data:", text) == []
    for attributes, body in re.findall(r"<script\b([^>]*)>(.*?)</script>", text, flags=re.DOTALL):
        assert "src=" in attributes
        assert body == ""


@pytest.mark.parametrize("page", ["500.html", "503.html"])
def test_the_pages_for_a_broken_server_need_neither_context_nor_database(page: str) -> None:
    assert "Quote it when you report this" not in render_to_string(page)
    assert "0191f3a0" in render_to_string(page, {"request_id": "0191f3a0"})


def test_what_does_not_change_is_rendered_once_for_each_of_its_words() -> None:
    template = Template(
        "{% load interface %}{% unchanging noun %}{{ noun }} {{ number }}{% endunchanging %}, {{ number }}"
    )
    rendered = [template.render(Context({"noun": noun, "number": at})) for at, noun in enumerate(["a", "b", "a"])]
    assert rendered == ["a 0, 0", "b 1, 1", "a 0, 2"]


def test_every_file_that_a_sheet_names_is_there(settings: Settings, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"},
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    assert list(tmp_path.glob("css/admin-django.*.css"))


def test_every_module_that_a_module_imports_is_there() -> None:
    for module in ROOT.glob("static/js/*.js"):
        for imported in re.findall(r'^import .* from "([^"]+)";$', module.read_text(), flags=re.MULTILINE):
            assert imported.startswith("./")
            assert (module.parent / imported).is_file()
