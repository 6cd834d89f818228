"""What holds for every template, sheet and module of the site, read from the files themselves."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.template import Context, RequestContext, Template, TemplateSyntaxError
from django.template.loader import get_template, render_to_string
from django.test import Client
from django.utils.safestring import mark_safe
from pytest_django.fixtures import Settings

from potato_site.rendered_once import MOST_RENDERINGS, RenderedOnceNode
from tests.tenants import Tenants

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
    for script in (ROOT / "static/js").rglob("*.js"):
        named |= set(re.findall(r"[\"'`#]i-([a-z0-9-]+)[\"'`]", script.read_text()))
    assert len(named) > 20
    assert named <= drawn


def test_every_colour_and_template_that_a_template_names_is_there() -> None:
    sheets = "".join(sheet.read_text() for sheet in ROOT.glob("static/css/*.css"))
    texts = {template: template.read_text() for template in TEMPLATES}
    for template, text in texts.items():
        for colour in re.findall(r'data-c="([\w-]+)"', text):
            assert f'[data-c="{colour}"]' in sheets, (template.name, colour)
        for named in re.findall(r'{%\s*(?:include|extends)\s+"([^"]+)"', text):
            get_template(named)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT / "templates")))
def test_no_template_asks_for_what_the_content_security_policy_refuses(template: Path) -> None:
    text = without_comments(template)
    assert re.findall(r"<style\b|\sstyle=|\son[a-z]+=|javascript:|data:", text) == []
    for attributes, body in re.findall(r"<script\b([^>]*)>(.*?)</script>", text, flags=re.DOTALL):
        assert "src=" in attributes
        assert body == ""


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT / "templates")))
def test_every_template_can_be_read(template: Path) -> None:
    assert get_template(str(template.relative_to(ROOT / "templates")))


@pytest.mark.parametrize("page", ["500.html", "503.html"])
def test_the_pages_for_a_broken_server_need_neither_context_nor_database(page: str) -> None:
    assert "Quote it when you report this" not in render_to_string(page)
    assert "0191f3a0" in render_to_string(page, {"request_id": "0191f3a0"})


def rendered_once(content: str, words: str = "") -> Template:
    return Template("{% load interface static %}{% rendered_once " + words + " %}" + content + "{% endrendered_once %}")


def test_what_does_not_change_is_rendered_once_for_each_of_its_words() -> None:
    rendered_for = []

    class Word(str):
        def __str__(self) -> str:
            rendered_for.append(str.__str__(self))
            return str.__str__(self)

    template = rendered_once("{{ noun }}{% if is_late %} late{% endif %}", "noun is_late")
    words = [("a", False), ("b", False), ("a", False), ("b", True), ("b", True)]
    shown = [template.render(Context({"noun": Word(noun), "is_late": late})) for noun, late in words]
    assert shown == ["a", "b", "a", "b late", "b late"]
    assert rendered_for == ["a", "b", "b"]


def test_a_text_that_is_safe_does_not_stand_for_the_same_one_that_is_not() -> None:
    template = rendered_once("{{ noun }}", "noun")
    assert template.render(Context({"noun": mark_safe("<b>")})) == "<b>"
    assert template.render(Context({"noun": "<b>"})) == "&lt;b&gt;"
    assert template.render(Context({"noun": True})) == "True"
    assert template.render(Context({"noun": 1})) == "1"


def test_what_does_not_change_knows_nothing_of_the_page_but_its_words(tenants: Tenants) -> None:
    template = rendered_once("{% include 'partials/banner.html' with tone='warn' %}", "work_word")
    secret = {"text": "Acme's secret", "role": "alert", "work_word": "review"}
    assert "secret" not in template.render(Context(secret))
    assert "role=" not in template.render(Context(secret))


def test_two_organisations_that_one_process_serves_see_nothing_of_each_other(tenants: Tenants, client: Client) -> None:
    pages = {}
    # What is rendered once was rendered for Acme first, on the pages and in a template that would like to know more.
    curious = rendered_once("{% include 'partials/banner.html' %}{{ work_word }}", "work_word")
    for person, organisation in ((tenants.alice, tenants.acme), (tenants.charlie, tenants.birch)):
        client.force_login(person)
        response = client.get(f"/o/{organisation.slug}/")
        assert response.status_code == 200
        context = {"work_word": "review", "text": organisation.name, "tone": "bad", "role": person.username}
        request = response.wsgi_request
        pages[organisation.slug] = response.content.decode() + curious.render(RequestContext(request, context))
    for own, others in (("acme", "birch"), ("birch", "acme")):
        assert f"/o/{own}/" in pages[own]
        assert others not in pages[own].lower()
    assert "charlie" not in pages["acme"]
    assert "alice" not in pages["birch"]


@pytest.mark.parametrize(
    ("content", "words", "why"),
    [
        ("{% url 'organisation' %}", "", "may differ from one person, organisation or request"),
        ("{% csrf_token %}", "", "may differ"),
        ("{{ csrf_token }}", "", "csrf_token differs"),
        ("{{ user }}", "", "user differs"),
        ("{{ user.username|upper }}", "", "user differs"),
        ("{% if request.user.is_staff %}staff{% endif %}", "", "request differs"),
        ("{% if work_word and not perms.x %}staff{% endif %}", "work_word", "perms differs"),
        ("{% if work_word %}{% if work_word %}{{ organisation.name }}{% endif %}{% endif %}", "work_word", "organis"),
        ("{{ work_word|default:user }}", "work_word", "user differs"),
        ("{{ number }}", "work_word", "number is not among its words"),
        ("{% if work_word %}a{% elif number %}b{% endif %}", "work_word", "number is not among"),
        ("{% icon shape %}", "", "shape is not among"),
        ("{% static file %}", "", "file is not among"),
        ("{% site_url 'home' slug=slug %}", "", "slug is not among"),
        ("{% now 'Y' %}", "", "may differ"),
        ("{% for one in words %}{{ one }}{% endfor %}", "words", "may differ"),
        ("{% block name %}{% endblock %}", "", "may differ"),
        ("{% field form %}", "form", "may differ"),
        ("{% include which %}", "which", "known on each page only"),
        ("{% include 'partials/banner.html' with text=user %}", "", "user differs"),
        ("{% include 'partials/banner.html' with text=number %}", "", "number is not among"),
        ("{% include 'partials/messages.html' %}", "", "partials/messages.html, line"),
        ("{% include 'partials/account_menu.html' %}", "", "account_menu.html, line"),
        ("", "user", "of one person or page"),
        ("", "request", "of one person or page"),
        ("", "task.user", "without dots and filters"),
        ("", "noun|upper", "without dots and filters"),
    ],
)
def test_what_could_tell_one_person_from_another_is_refused_when_the_template_is_read(
    content: str, words: str, why: str
) -> None:
    with pytest.raises(TemplateSyntaxError, match=why):
        rendered_once(content, words)


def test_a_word_is_one_of_a_few_and_no_object_of_a_page(tenants: Tenants) -> None:
    with pytest.raises(TypeError, match="got User for person"):
        rendered_once("{{ person }}", "person").render(Context({"person": tenants.alice}))
    template = rendered_once("{{ noun }}", "noun")
    for number in range(MOST_RENDERINGS + 50):
        assert template.render(Context({"noun": number})) == str(number)
    (node,) = template.nodelist.get_nodes_by_type(RenderedOnceNode)
    assert isinstance(node, RenderedOnceNode)
    assert len(node.rendered) == MOST_RENDERINGS


def test_every_file_that_a_sheet_names_is_there(settings: Settings, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"},
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    assert list(tmp_path.glob("css/admin-django.*.css"))
