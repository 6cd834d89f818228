"""What a web agent saw: people read its run beside its pages, along the filmstrip, enlarged, by key alone."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from accounts.actions.projects import publish_configuration
from assignments.actions.claiming import claim_next
from assignments.models import Assignment
from potato.runs.model import Step, ToolCall
from tenancy.actor import acting_in
from tests.potato.runs.web_runs import drawn
from tests.stories.conftest import Reader
from tests.stories.test_reading_a_trace import COUNT_NODES, bytes_sent
from tests.tenants import Tenants
from tests.traces.stored import stored
from traces.actions import import_now
from traces.models import Trace

pytestmark = pytest.mark.browser

CONFIGURATION = """\
task_name: "Pages"
agentic:
  display_type: {display}
annotation_schemes:
  - name: rewards
    annotation_type: process_reward
    mode: {mode}
"""
NODES, SENT = 16_000, 155_000
PAGE = (1024, 640)


def publish(tenants: Tenants, display: str = "web_agent", mode: str = "per_step") -> None:
    source = CONFIGURATION.format(display=display, mode=mode)
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=source, confirmed=True)


def browsed(
    tenants: Tenants, folder: Path, steps: int = 4, *, missing: int | None = None, size: tuple[int, int] = PAGE
) -> Trace:
    """A run of so many clicks, each on a page of its own."""
    told = []
    for index in range(steps):
        name = f"page-{index}.png"
        if index != missing:
            (folder / name).write_bytes(drawn(*size, f"#{index * 40 % 256:02x}{index // 6:02x}99"))
        told.append(
            {
                "message": f"Thought {index}: the button leads on.",
                "url": f"https://shop.example/page/{index}",
                "screenshot": name,
                "click": [969, 52],
                "tool_calls": [{"name": "click", "arguments": {"element": f"button {index}"}, "result": "It opened."}],
            }
        )
    (folder / "run.json").write_text(json.dumps({"id": "shop", "task_description": "Buy a lamp.", "steps": told}))
    import_now(organisation=tenants.acme, project=tenants.acme_project, path=folder / "run.json")
    with acting_in(tenants.acme):
        return Trace.objects.get(external_id="shop")


def test_a_run_is_read_beside_its_pages(tenants_of_browsers: Tenants, themed_reader: Reader, tmp_path: Path) -> None:
    tenants, reader, page = tenants_of_browsers, themed_reader, themed_reader.page
    publish(tenants)
    trace = browsed(tenants, tmp_path, missing=2)
    reader.sign_in("alice")
    for width in (1440, 768):
        page.set_viewport_size({"width": width, "height": 1000})
        reader.open(f"/o/acme/p/parser/traces/{trace.pk}/steps/")
        first = page.locator("#s0")
        expect(first.get_by_text("Thought 0: the button leads on.")).to_be_visible()
        expect(first.get_by_text("https://shop.example/page/0")).to_be_visible()
        picture = first.locator("img")
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("naturalWidth", 1024)
        mark, shown = first.locator("circle.hit").bounding_box(), picture.bounding_box()
        assert mark
        assert shown
        assert abs((mark["x"] + mark["width"] / 2 - shown["x"]) / shown["width"] - 969 / 1024) < 0.01
        assert abs((mark["y"] + mark["height"] / 2 - shown["y"]) / shown["height"] - 52 / 640) < 0.01
        expect(page.locator("#s2").get_by_text("page-2.png")).to_be_visible()
        expect(page.locator("#s2").get_by_text("cannot be shown: it did not come with the trace.")).to_be_visible()
        reader.assert_clean(str(width))


def test_the_film_follows_the_reader_and_leads_to_a_step_by_key(
    tenants_of_browsers: Tenants, reader: Reader, tmp_path: Path
) -> None:
    tenants, page = tenants_of_browsers, reader.page
    publish(tenants)
    trace = browsed(tenants, tmp_path, steps=12)
    reader.sign_in("alice")
    reader.open(f"/o/acme/p/parser/traces/{trace.pk}/steps/")
    filmstrip = page.get_by_role("navigation", name="Screenshots of the steps")
    expect(filmstrip.get_by_role("link")).to_have_count(12)
    expect(filmstrip.locator("a[aria-current=step]")).to_have_attribute("href", "#s0")

    filmstrip.locator("a").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#s2 a.snum")).to_be_focused()
    expect(filmstrip.locator("a[aria-current=step]")).to_have_attribute("href", "#s2")
    page.keyboard.press("j")
    expect(filmstrip.locator("a[aria-current=step]")).to_have_attribute("href", "#s3")


def test_a_picture_is_seen_larger_by_key(tenants_of_browsers: Tenants, themed_reader: Reader, tmp_path: Path) -> None:
    tenants, reader, page = tenants_of_browsers, themed_reader, themed_reader.page
    publish(tenants)
    trace = browsed(tenants, tmp_path)
    reader.sign_in("alice")
    reader.open(f"/o/acme/p/parser/traces/{trace.pk}/steps/")
    link = page.locator("#s1 a[data-shot]")
    link.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Screenshot of step 1")
    expect(dialog).to_be_visible()
    level = dialog.locator("[data-zoom-level]")
    expect(level).to_have_text("100 %")
    page.keyboard.press("+")
    page.keyboard.press("+")
    expect(level).to_have_text("200 %")
    frame = dialog.locator(".shot__open").bounding_box()
    assert frame
    assert abs(frame["width"] - 2048) < 4
    reader.assert_clean("in the dialog")
    page.keyboard.press("-")
    expect(level).to_have_text("150 %")
    page.keyboard.press("0")
    expect(level).to_have_text("100 %")
    page.keyboard.press("j")
    expect(page.get_by_role("dialog", name="Screenshot of step 2")).to_be_visible()
    page.keyboard.press("k")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(link).to_be_focused()


def test_a_picture_that_a_tool_gave_back_is_titled_with_what_it_is(
    tenants_of_browsers: Tenants, reader: Reader, tmp_path: Path
) -> None:
    tenants, page = tenants_of_browsers, reader.page
    publish(tenants)
    (tmp_path / "plot.png").write_bytes(drawn(*PAGE))
    (tmp_path / "page.png").write_bytes(drawn(*PAGE, "#336699"))
    look = {"name": "view_image", "arguments": {}, "result": "A plot.", "pictures": [{"name": "plot.png"}]}
    steps = [{"message": "I look.", "screenshot": "page.png", "tool_calls": [look]}]
    (tmp_path / "run.json").write_text(json.dumps({"id": "r", "task_description": "Plot.", "steps": steps}))
    import_now(organisation=tenants.acme, project=tenants.acme_project, path=tmp_path / "run.json")
    with acting_in(tenants.acme):
        trace = Trace.objects.get(external_id="r")
    reader.sign_in("alice")
    reader.open(f"/o/acme/p/parser/traces/{trace.pk}/steps/")
    page.get_by_role("link", name="Enlarge: picture that view_image gave back").click()
    dialog = page.get_by_role("dialog", name="Picture that view_image gave back, step 0")
    expect(dialog).to_be_visible()
    reader.assert_clean()
    other = "Next picture" if dialog.get_by_role("button", name="Next picture").is_enabled() else "Previous picture"
    dialog.get_by_role("button", name=other).click()
    expect(page.get_by_role("dialog", name="Screenshot of step 0")).to_be_visible()


def test_a_picture_is_seen_larger_where_the_page_is_at_200_percent(
    tenants_of_browsers: Tenants, reader: Reader, tmp_path: Path
) -> None:
    """Half the width is what a browser leaves a page at that zoom."""
    tenants, page = tenants_of_browsers, reader.page
    publish(tenants)
    trace = browsed(tenants, tmp_path)
    page.set_viewport_size({"width": 640, "height": 400})
    reader.sign_in("alice")
    reader.open(f"/o/acme/p/parser/traces/{trace.pk}/steps/")
    page.locator("#s0 a[data-shot]").press("Enter")
    dialog = page.get_by_role("dialog", name="Screenshot of step 0")
    for name in ("Previous picture", "Next picture", "Smaller", "Larger", "Close"):
        box = dialog.get_by_role("button", name=name).bounding_box()
        assert box, name
        assert box["x"] >= 0, name
        assert box["x"] + box["width"] <= 640, name
    dialog.get_by_role("button", name="Larger").click()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    reader.assert_clean()


def test_an_annotator_rates_the_steps_beside_the_pages(
    tenants_of_browsers: Tenants, reader: Reader, tmp_path: Path
) -> None:
    tenants, page = tenants_of_browsers, reader.page
    publish(tenants)
    browsed(tenants, tmp_path)
    with acting_in(tenants.acme, tenants.bob):
        given = claim_next(project=tenants.acme_project, user=tenants.bob)
        assert isinstance(given, Assignment)
    reader.sign_in("bob")
    reader.open(f"/o/acme/p/parser/tasks/{given.pk}/steps/")
    picture = page.locator("#s0 img")
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("naturalWidth", 1024)
    expect(page.locator(".filmstrip a")).to_have_count(4)
    reader.assert_clean()


def test_steps_that_only_look_around_stand_under_one_heading_and_each_is_reached(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    tenants, page = tenants_of_browsers, reader.page
    looks = [Step(calls=(ToolCall(str(at), "Read", {"file_path": f"src/{at}.py"}, "1\tx"),)) for at in range(4)]
    steps = (Step("I look around."), *looks, Step("I have seen enough."))
    trace = stored(tenants.acme, tenants.acme_project, steps=steps)
    reader.sign_in("alice")
    reader.open(f"/o/acme/p/parser/traces/{trace.pk}/steps/")
    expect(page.get_by_text("4 reads, steps 1 to 4")).to_be_visible()
    expect(page.locator("#s2")).to_be_hidden()
    assert page.locator("article.step").evaluate_all("all => all.map((one) => one.id)") == [f"s{at}" for at in range(6)]
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#s2 a.snum")).to_be_focused()
    expect(page.locator("#s2")).to_be_visible()

    reader.open(f"/o/acme/p/parser/traces/{trace.pk}/steps/#s3")
    page.reload()
    expect(page.locator("#s3")).to_be_visible()
    reader.assert_clean()


def test_five_hundred_screenshots_stay_light(tenants_of_browsers: Tenants, reader: Reader, tmp_path: Path) -> None:
    tenants, page = tenants_of_browsers, reader.page
    publish(tenants)
    trace = browsed(tenants, tmp_path, steps=500, size=(64, 40))
    with acting_in(tenants.acme, tenants.alice):
        given = claim_next(project=tenants.acme_project, user=tenants.alice)
        assert isinstance(given, Assignment)
    reader.sign_in("alice")
    for where in (f"traces/{trace.pk}", f"tasks/{given.pk}"):
        reader.open(f"/o/acme/p/parser/{where}/steps/")
        page.wait_for_load_state("networkidle")
        assert page.evaluate(COUNT_NODES) < NODES, where
        assert bytes_sent(page) < SENT, where
        loaded = page.locator(".filmstrip img").evaluate_all("all => all.filter((one) => one.naturalWidth).length")
        assert 0 < loaded < 100, where
