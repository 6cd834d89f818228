"""A manager reads what an agent did: finds a trace, goes through its files and steps, follows links, uses keys alone.

Everything runs in Chromium on the real site, and every page is watched for what its security policy refuses.
"""

import re
from pathlib import Path
from typing import Any

import brotli
import pytest
from django.contrib.staticfiles import finders
from django.core.files.storage import FileSystemStorage
from playwright.sync_api import Browser, Dialog, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from accounts.actions.projects import publish_configuration
from potato.runs.model import FileEvent, Step, ToolCall
from potato_site.static_storage import LeanScripts
from tenancy.actor import acting_in
from tests.hostile import HOSTILE
from tests.stories.conftest import Reader
from tests.tenants import Tenants
from tests.traces.stored import code, outcome, read, step, stored
from traces.models import Trace, TraceFile

pytestmark = pytest.mark.browser

LIST = "/o/acme/p/parser/traces/"
SENT = 150_000
NODES = 20_000

SPLIT = """\
task_name: "Parser review"
agentic:
  coding_trace_display:
    diff_style: split
annotation_schemes:
  - name: verdict
    annotation_type: code_review_verdict
"""

COUNT_NODES = """() => {
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
  let nodes = 0;
  while (walker.nextNode()) nodes++;
  return nodes;
}"""
SENT_ENTRIES = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map((entry) => [new URL(entry.name).pathname, entry.transferSize])"""


def keep(tenants: Tenants, *events: FileEvent, steps: tuple[Step, ...] = (), **more: Any) -> Trace:
    return stored(tenants.acme, tenants.acme_project, *events, steps=steps, **more)


def path_of(trace: Trace) -> str:
    return f"{LIST}{trace.pk}/"


def changed(lines: int, *numbers: int) -> tuple[str, str]:
    """A text and the same with these lines changed."""
    old = code(lines).splitlines(keepends=True)
    new = [f"# changed {at}\n" if at in numbers else line for at, line in enumerate(old, 1)]
    return "".join(old), "".join(new)


def bytes_sent(page: Page, *, suffix: str = "") -> int:
    """Of the page and all that it loaded, or of its static files with a suffix alone. Tests serve static files as
    they are; they count as the site packs them."""
    return sum(
        packed(path.removeprefix("/static/")) if path.startswith("/static/") else size
        for path, size in page.evaluate(SENT_ENTRIES)
        if path.endswith(suffix)
    )


def packed(name: str) -> int:
    """Bytes of a static file as browsers get it."""
    path = Path(finders.find(name) or "")
    storage = FileSystemStorage(path.parent)
    with (LeanScripts(storage) if path.suffix == ".js" else storage).open(path.name) as file:
        return len(brotli.compress(file.read()))


def index_of(tenants: Tenants, trace: Trace, path: str) -> int:
    with acting_in(tenants.acme):
        return TraceFile.objects.get(trace=trace, path=path).index


def line(reader: Reader, file: int, number: int, side: str = "new") -> Locator:
    return reader.page.locator(f'#f{file} tr[data-{side}="{number}"]')


def focused(reader: Reader) -> str:
    return str(reader.page.evaluate("document.activeElement.getAttribute('aria-label') ?? ''"))


def test_a_manager_finds_a_trace_and_reads_both_of_its_tabs(
    tenants_of_browsers: Tenants, themed_reader: Reader
) -> None:
    reader, page = themed_reader, themed_reader.page
    steps = (step("Run the tests first.", thought="Which one fails?"), step("Mend it.", is_error=True))
    old, new = changed(60, 20)
    keep(
        tenants_of_browsers,
        outcome("src/parser.py", old, new),
        outcome("tests/test_edges.py", None, code(19)),
        outcome("src/compat.py", code(8), None),
        read("README.md", "Read me.\n"),
        steps=steps,
    )
    keep(
        tenants_of_browsers, outcome("a.txt", "a\n", "b\n"), external_id="trace_041", task="Another", agent_model="tern"
    )
    reader.sign_in("alice")
    reader.open("/o/acme/")
    page.get_by_role("link", name="Traces of Parser review of Acme Research").click()
    expect(page.get_by_role("navigation").locator("[aria-current=page]", has_text="Traces")).to_be_visible()
    reader.assert_clean()
    page.get_by_role("button", name="Agent", exact=True).click()
    chip = page.get_by_role("dialog", name="Agent")
    chip.get_by_role("checkbox", name=re.compile("harbor-coder-2")).check()
    chip.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("link", name="Another")).to_have_count(0)
    page.get_by_role("link", name="Fix the failing test in test_parser.py").click()
    expect(page.get_by_role("heading", name="Fix the failing test in test_parser.py")).to_be_visible()
    expect(page.get_by_text("1 added, 1 modified, 1 deleted")).to_be_visible()
    files = page.get_by_role("navigation", name="Changed files")
    expect(files.get_by_role("link")).to_have_count(3)
    expect(page.get_by_text("# changed 20")).to_be_visible()
    reader.assert_clean()
    page.get_by_text("About this trace").click()
    expect(page.get_by_text("a line without a time")).to_be_visible()
    reader.assert_clean()
    page.keyboard.press("Escape")
    expect(page.get_by_text("a line without a time")).to_be_hidden()
    page.get_by_role("link", name=re.compile("Agent trace")).click()
    expect(page.get_by_role("article", name="Step 1")).to_contain_text("Failed")
    expect(page.get_by_role("article", name="Step 0")).to_contain_text("Run the tests first.")
    reader.assert_clean()


def test_a_link_to_a_line_shows_it_wherever_it_is_hidden(tenants_of_browsers: Tenants, reader: Reader) -> None:
    tenants = tenants_of_browsers
    old, new = changed(60, 30)
    trace = keep(
        tenants,
        outcome("a/hidden.py", old, new),
        outcome("b/first.py", None, code(1_400)),
        outcome("c/late.py", *changed(40, 20)),
        outcome("d/long.py", None, code(3_600)),
        read("e/read.py", code(30)),
    )
    numbers = {path: index_of(tenants, trace, path) for path in ("a/hidden.py", "c/late.py", "d/long.py", "e/read.py")}
    reader.sign_in("alice")
    for path, number in (("a/hidden.py", 3), ("c/late.py", 20), ("d/long.py", 3_500), ("e/read.py", 7)):
        file = numbers[path]
        reader.open(f"{path_of(trace)}#f{file}-new-{number}")
        # Not by expect: while a line is missing it describes the whole page at each look, which takes seconds here.
        reader.page.locator(f'#f{file} tr.is-at[data-new="{number}"]').wait_for(timeout=20_000)
        expect(line(reader, file, number)).to_be_in_viewport()
        assert focused(reader) == f"Link to new line {number}"
        reader.page.goto("about:blank")
    reader.open(f"{path_of(trace)}#f{numbers['a/hidden.py']}-old-30")
    expect(line(reader, numbers["a/hidden.py"], 30, "old")).to_have_class(re.compile("is-at"))
    line(reader, numbers["a/hidden.py"], 29).get_by_role("button", name="Link to new line 29").click()
    assert reader.page.url.endswith(f"#f{numbers['a/hidden.py']}-new-29")
    reader.page.evaluate(f"location.hash = '#f{numbers['c/late.py']}-new-99999'")
    expect(reader.page.locator(f"#f{numbers['c/late.py']}")).to_be_in_viewport()
    assert reader.errors == []


def test_links_to_steps_and_to_other_pages_of_a_trace_lead_there(tenants_of_browsers: Tenants, reader: Reader) -> None:
    tenants, page = tenants_of_browsers, reader.page
    files = [outcome(f"f{at:03}.txt", "a\n", "b\n") for at in range(160)]
    trace = keep(tenants, *files, steps=tuple(step(f"Step number {at}", result=f"result {at}") for at in range(510)))
    reader.sign_in("alice")
    reader.open(f"{path_of(trace)}steps/#s300")
    expect(page.get_by_role("article", name="Step 300")).to_contain_text("result 300")
    expect(page.get_by_role("article", name="Step 300")).to_be_in_viewport()
    expect(page.locator('.srail__item[aria-current="step"]')).to_have_text(re.compile("^300"))
    assert page.evaluate(COUNT_NODES) < NODES
    page.goto("about:blank")
    reader.open(f"{path_of(trace)}steps/#s505")
    expect(page.get_by_role("article", name="Step 505")).to_contain_text("result 505")
    page.goto("about:blank")
    last = index_of(tenants, trace, "f159.txt")
    reader.open(f"{path_of(trace)}#f{last}-new-1")
    expect(line(reader, last, 1)).to_have_class(re.compile("is-at"))
    # A button that the sticky header half covers would count as too small a target.
    page.evaluate("scrollTo(0, 0)")
    reader.assert_clean()


def test_hidden_rows_the_rest_of_a_file_and_of_a_line_are_shown_when_asked_for(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    page = reader.page
    long = "x = '" + "abcdefgh" * 2_000 + "the end'\n"
    trace = keep(
        tenants_of_browsers,
        outcome("a.py", *changed(60, 30)),
        outcome("b.py", None, long),
        outcome("c.py", None, code(3_200)),
        steps=(step("Look.", result="\n".join(f"row {at}" for at in range(900))),),
    )
    reader.sign_in("alice")
    reader.open(path_of(trace))
    first = page.get_by_role("button", name="Show 24 hidden lines")
    first.focus()
    page.keyboard.press("Enter")
    expect(line(reader, 0, 1)).to_be_visible()
    assert focused(reader) == "Link to new line 1"
    page.get_by_role("button", name=re.compile("more characters of this line")).click()
    expect(page.get_by_text("the end")).to_be_visible()
    page.get_by_label("Wrap lines").uncheck()
    assert page.evaluate("document.querySelector('#f1 .file__body').scrollWidth") > 5_000, "the line goes on"
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.get_by_label("Wrap lines").check()
    article = page.locator("article", has_text="c.py")
    for left in ("1,520 more lines", "680 more lines", ""):
        article.get_by_role("button", name="Load the rest").click()
        expect(article.locator(".diff__more span")).to_have_text([left] if left else [])
    expect(article.locator('tr[data-new="3200"]')).to_have_count(1)
    reader.open(f"{path_of(trace)}steps/")
    page.get_by_text("Show 200 lines more").click()
    page.get_by_role("button", name=re.compile("Load the rest")).click()
    expect(page.get_by_text("row 899")).to_be_attached()
    page.get_by_label("Search in what the steps say").fill("ROW 700")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 step with")).to_be_visible()
    reader.assert_clean()


def test_everything_is_reached_by_keys_alone(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page = reader.page
    trace = keep(
        tenants_of_browsers,
        outcome("a.py", *changed(80, 10, 40)),
        outcome("b.py", None, code(1_400)),
        outcome("c.py", *changed(40, 20)),
        steps=(step("One"), step("Two"), step("Three", is_error=True)),
    )
    reader.sign_in("alice")
    reader.open(path_of(trace))
    for expected in ("old line 10", "old line 40", "new line 1", "old line 20"):
        page.keyboard.press("j")
        expect(page.locator("tr.is-at button:focus")).to_have_attribute("aria-label", f"Link to {expected}")
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(page.locator("tr.is-at button:focus")).to_have_attribute("aria-label", "Link to old line 40")
    page.keyboard.press("ArrowDown")
    assert focused(reader) == "Link to new line 40"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert focused(reader) == "Link to new line 39"
    # One stop in each file: Tab leaves the lines, Shift Tab comes back to the same one.
    page.keyboard.press("Tab")
    assert "line" not in focused(reader) or "hidden" in focused(reader)
    page.keyboard.press("Shift+Tab")
    assert focused(reader) == "Link to new line 39"
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.closest('article').id") == "f1"
    page.keyboard.press("p")
    assert page.evaluate("document.activeElement.closest('article').id") == "f0"
    page.keyboard.press("o")
    expect(page.locator("article.is-closed")).to_have_count(3)
    page.keyboard.press("o")
    expect(page.locator("article.is-closed")).to_have_count(0)
    page.keyboard.press("/")
    page.keyboard.type("c.")
    expect(page.locator(".tree__file:visible")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#f2")).to_be_in_viewport()
    page.keyboard.press("Escape")
    page.locator("#f2 [data-toggle]").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    reader.assert_clean()
    page.get_by_label("Single keys act on this page").uncheck()
    page.keyboard.press("Escape")
    page.locator("#f2 [data-toggle]").focus()
    page.keyboard.press("o")
    expect(page.locator("article.is-closed")).to_have_count(0)
    page.get_by_role("button", name="Shortcuts").click()
    page.get_by_label("Single keys act on this page").check()
    page.keyboard.press("Escape")
    reader.open(f"{path_of(trace)}steps/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".step.is-focus")).to_have_id("s1")
    page.keyboard.press("]")
    expect(page.locator(".step.is-focus")).to_have_id("s2")
    assert reader.errors == []


def test_two_columns_and_a_narrow_page(tenants_of_browsers: Tenants, themed_reader: Reader) -> None:
    tenants, reader, page = tenants_of_browsers, themed_reader, themed_reader.page
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=SPLIT)
    trace = keep(
        tenants, outcome("src/parser.py", *changed(60, 20, 30)), steps=(step("One"), step("Two", is_error=True))
    )
    reader.sign_in("alice")
    reader.open(path_of(trace))
    expect(page.locator(".diff--split")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("tr.is-at button:focus")).to_have_attribute("aria-label", "Link to old line 20")
    reader.assert_clean()
    page.keyboard.press("s")
    expect(page.locator(".diff--split")).to_have_count(0)
    # 200 % on a window of 1440: half as wide, and the unified view whatever the project says.
    page.set_viewport_size({"width": 720, "height": 500})
    for path in (path_of(trace), f"{path_of(trace)}steps/", LIST):
        reader.open(path)
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        reader.assert_clean()
    # The reader's last choice was the unified one; the project says split.
    page.context.clear_cookies(name="potato_view")
    reader.open(path_of(trace))
    page.wait_for_url(re.compile("view=unified"))
    expect(page.locator(".diff--split")).to_have_count(0)
    reader.open(f"{path_of(trace)}?view=split")
    expect(page.locator(".diff--split")).to_be_visible()


def test_a_part_that_does_not_come_can_be_asked_for_again(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page = reader.page
    trace = keep(
        tenants_of_browsers,
        outcome("a.py", *changed(60, 30)),
        outcome("b.py", None, code(1_400)),
        read("c.py", "x = 1\n"),
    )
    reader.sign_in("alice")
    reader.open(path_of(trace))
    expect(line(reader, 1, 1)).to_be_attached()
    page.route(re.compile(r"\.html$"), lambda route: route.abort())
    page.get_by_role("button", name="Show 24 hidden lines").click()
    page.get_by_role("button", name="Lines of c.py").click()
    expect(page.get_by_role("alert")).to_have_count(2)
    reader.assert_clean()
    page.unroute(re.compile(r"\.html$"))
    for again in page.get_by_role("button", name="Try again").all()[::-1]:
        again.click()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(line(reader, 0, 1)).to_be_visible()
    expect(page.get_by_text("did not change it")).to_be_visible()
    # Signed out meanwhile: the way to the login page is no content.
    page.context.clear_cookies()
    page.get_by_role("button", name=re.compile("Show 2. hidden lines$")).click()
    expect(page.get_by_role("alert")).to_have_count(1)
    expect(page.get_by_label("Password")).to_have_count(0)


@pytest.mark.parametrize("files", [12, 200])
def test_little_is_sent_before_scrolling(tenants_of_browsers: Tenants, reader: Reader, files: int) -> None:
    """A typical change of 12 files, and one of 50,000 lines."""
    names = [f"src/m{at % 9}/part_{at:03}.py" for at in range(files)]
    trace = keep(tenants_of_browsers, *(outcome(name, code(130), code(130, "new")) for name in names))
    page = reader.page
    reader.sign_in("alice")
    reader.open(path_of(trace))
    expect(page.locator("tr[data-new='1']").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert 30_000 < bytes_sent(page) < SENT
    assert page.evaluate(COUNT_NODES) < NODES


def test_nothing_that_a_run_says_runs_or_breaks_the_page(tenants_of_browsers: Tenants, themed_reader: Reader) -> None:
    tenants, reader, page = tenants_of_browsers, themed_reader, themed_reader.page
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    everything = "\n".join(HOSTILE)
    terminal = (
        "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07 \x00 \ud800 \u202egnp.exe"
    )
    calls = (
        ToolCall("1", HOSTILE[0], {HOSTILE[2]: HOSTILE[3]}, everything, is_error=True),
        ToolCall("2", "Bash", {"command": everything}, terminal + everything),
        ToolCall("3", "Edit", {"file_path": HOSTILE[5], "old_string": everything, "new_string": everything[::-1]}, "x"),
    )
    trace = keep(
        tenants,
        *(outcome(f"d{at}/{words}", f"{words}\nold\n", f"{words}\n{words} new\n") for at, words in enumerate(HOSTILE)),
        outcome("z/five megabytes.js", None, "y" * 5_000_000 + "\n"),
        steps=(Step(message=everything, thought=everything, calls=calls, prompt=everything),),
        external_id=HOSTILE[0],
        task=f"{HOSTILE[2]}\n\n{everything}",
        agent_model=HOSTILE[5],
        tags=(HOSTILE[7],),
    )
    reader.sign_in("alice")
    for path in (LIST, path_of(trace), f"{path_of(trace)}?view=split", f"{path_of(trace)}steps/"):
        reader.open(path)
        expect(page.locator("h1")).to_be_visible()
        if path != LIST:
            for summary in page.locator("main summary").all():
                summary.click()
            page.evaluate("scrollTo(0, document.body.scrollHeight)")
            page.wait_for_load_state("networkidle")
            page.evaluate("scrollTo(0, 0)")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        reader.assert_clean()
    reader.open(path_of(trace))
    page.keyboard.press("j")
    expect(page.locator("tr.is-at")).to_be_visible()
    assert dialogs == []
    assert reader.failures == []


def test_without_javascript_every_file_and_step_is_a_link_away(
    tenants_of_browsers: Tenants, chromium: Browser, live_server: LiveServer
) -> None:
    trace = keep(
        tenants_of_browsers,
        outcome("a.py", None, code(1_200)),
        outcome("b.py", *changed(60, 30)),
        read("c.py", "only read\n"),
        steps=tuple(step(f"Step {at}", result=f"result {at}") for at in range(14)),
    )
    with chromium.new_context(java_script_enabled=False) as context:
        reader = Reader(context.new_page(), live_server.url, [], [])
        reader.sign_in("alice")
        page = reader.page
        reader.open(path_of(trace))
        expect(page.get_by_role("button", name="Shortcuts")).to_be_hidden()
        page.get_by_role("link", name="Show b.py").click()
        expect(page.get_by_text("# changed 30")).to_be_visible()
        page.get_by_role("link", name="Show c.py").click()
        expect(page.get_by_text("did not change it")).to_be_visible()
        page.get_by_role("link", name=re.compile("Split")).click()
        expect(page.locator(".diff--split").first).to_be_visible()
        page.get_by_role("link", name=re.compile("Agent trace")).click()
        page.get_by_role("link", name="Show step 12").click()
        expect(page.get_by_text("result 12")).to_be_visible()


def test_a_long_result_is_capped_under_its_steps_header_and_closed_from_inside(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    tenants = tenants_of_browsers
    text = "".join(f"{number:6}\tline {number}\n" for number in range(1, 200))
    asks = ToolCall("1", "Read", {"file_path": "src/parser.py"}, text)
    steps = (Step("I read the parser.", calls=(asks,)), *(step() for _ in range(8)))
    trace = stored(tenants.acme, tenants.acme_project, outcome("a.py", "a\n", "b\n"), steps=steps)
    reader.sign_in("alice")
    reader.open(f"/o/acme/p/parser/traces/{trace.pk}/steps/")
    page = reader.page
    first = page.locator("#s0")
    expect(first.get_by_text("line 16", exact=True)).to_be_visible()
    expect(first.get_by_text("line 17", exact=True)).to_be_hidden()
    first.get_by_text("Show 183 lines more").click()
    first.get_by_text("line 150", exact=True).scroll_into_view_if_needed()
    expect(first.get_by_text("Read a file")).to_be_in_viewport()
    less = first.get_by_text("Show less")
    expect(less).to_be_in_viewport()
    less.click()
    expect(first.get_by_text("line 150", exact=True)).to_be_hidden()
    expect(first.get_by_text("Show 183 lines more")).to_be_in_viewport()
    reader.assert_clean("capped")


def test_a_long_task_shows_two_lines_and_all_of_it_when_somebody_wants_it(
    tenants_of_browsers: Tenants, themed_reader: Reader
) -> None:
    tenants, reader = tenants_of_browsers, themed_reader
    task = "Fix the parser\n\n" + "".join(f"- The page {number} is dropped.\n" for number in range(1, 60))
    trace = stored(tenants.acme, tenants.acme_project, outcome("a.py", "a\n", "b\n"), task=task)
    reader.sign_in("alice")
    reader.open(f"/o/acme/p/parser/traces/{trace.pk}/")
    page = reader.page
    expect(page.get_by_role("heading", level=1)).to_have_text("Fix the parser")
    head = page.locator("section.task")
    box = head.bounding_box()
    assert box
    assert box["height"] < 220
    page.get_by_text("More", exact=True).click()
    expect(page.get_by_text("The page 59 is dropped.")).to_be_visible()
    box = head.bounding_box()
    assert box
    assert box["height"] > 1_000
    reader.assert_clean("whole task")
    page.get_by_text("Less", exact=True).focus()
    page.locator(".task__more > summary").press("Enter")
    box = head.bounding_box()
    assert box
    assert box["height"] < 220
