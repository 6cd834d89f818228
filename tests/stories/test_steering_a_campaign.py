"""A manager steers a campaign in a browser: releases a sample, pauses, excludes; people are given only that sample."""

from collections import Counter

import pytest
from playwright.sync_api import expect

from assignments.actions.quotas import open_quotas
from assignments.actions.releasing import BatchFacts, release_batch
from assignments.actions.steering import let_imports_wait
from assignments.models import Batch, StandingRule, TraceQuota
from assignments.pool.selecting import Selection
from tenancy.actor import acting_in
from tests.assignments.conftest import Queue, submit
from tests.stories.conftest import Reader
from tests.stories.pictures import shoot
from tests.tenants import Tenants

pytestmark = pytest.mark.browser

TRACES, BATCHES = "/o/acme/p/parser/traces/", "/o/acme/p/parser/batches/"
AGENTS = ("swift-coder 2", "swift-coder 2", "swift-coder 2", "agent-b 1.4", "agent-b 1.4", "agent-c")


@pytest.fixture
def pool(tenants_of_browsers: Tenants) -> Queue:
    """Acme's project with 60 traces of three agents in the pool."""
    tenants = tenants_of_browsers
    with acting_in(tenants.acme, tenants.alice):
        queue = Queue(tenants, tenants.acme_project)
        let_imports_wait(project=queue.project, wait=True)
        queue.publish(target=2)
        queue.add_traces(60, agents=AGENTS)
        open_quotas(project=queue.project)
    return queue


def test_a_sample_by_agent_is_released_paused_and_goes_on(pool: Queue, themed_reader: Reader) -> None:
    reader, page = themed_reader, themed_reader.page
    page.set_viewport_size({"width": 1440, "height": 900})
    reader.sign_in("mallory")
    reader.open(TRACES)
    expect(page.get_by_text("60 wait in the pool")).to_be_visible()
    reader.assert_clean("traces")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Shift+X")
    expect(page.get_by_text("3 chosen")).to_be_visible()
    shoot(reader, "traces")
    page.keyboard.press("Escape")
    expect(page.get_by_text("Tick traces to choose them")).to_be_visible()
    page.get_by_role("button", name="Agent", exact=True).click()
    shoot(reader, "traces-filter")
    page.get_by_label("agent-c").check()
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("1 to 10 of 10")).to_be_visible()
    page.get_by_role("link", name="Release a batch").click()
    page.get_by_text("A number", exact=True).click()
    page.get_by_label("How many", exact=True).fill("20")
    page.get_by_label("Seed").fill("2026")
    expect(page.get_by_role("button", name="Release 20 traces")).to_be_enabled()
    expect(page.get_by_role("row", name="swift-coder 2 30 10 50%")).to_be_visible()
    page.get_by_label("Name").fill("Week 47 sample")
    shoot(reader, "release")
    reader.assert_clean("release")
    page.get_by_role("button", name="Release 20 traces").click()
    expect(page.get_by_text("“Week 47 sample” was released: 20 traces can be taken now.")).to_be_visible()
    with acting_in(pool.tenants.acme, pool.tenants.bob):
        released = set(TraceQuota.objects.filter(batch__isnull=False).values_list("trace", flat=True))
        agents = Counter(TraceQuota.objects.filter(batch__isnull=False).values_list("trace__agent_model", flat=True))
        assert agents == {"swift-coder 2": 10, "agent-b 1.4": 7, "agent-c": 3}
        for _ in range(3):
            claim = pool.claimed(pool.tenants.bob)
            assert claim.trace_id in released
            submit(claim)
    page.get_by_role("button", name="Pause Week 47 sample").click()
    expect(page.get_by_text("“Week 47 sample” is paused.")).to_be_visible()
    with acting_in(pool.tenants.acme, pool.tenants.bob):
        assert pool.nothing(pool.tenants.bob).reason == "paused"
    shoot(reader, "batches")
    reader.assert_clean("batches")
    page.get_by_role("button", name="Let Week 47 sample go on").click()
    page.get_by_label("Priority of Week 47 sample").select_option("Urgent")
    expect(page.get_by_text("its priority is urgent")).to_be_visible()
    with acting_in(pool.tenants.acme, pool.tenants.bob):
        pool.claimed(pool.tenants.bob)
        assert Batch.objects.get().priority == 4


def test_a_refused_dialog_opens_again_with_what_was_typed_and_ticked(pool: Queue, themed_reader: Reader) -> None:
    reader, page = themed_reader, themed_reader.page
    reader.sign_in("mallory")
    reader.open(TRACES)
    page.get_by_label("Choose trace-00059").check()
    page.get_by_role("button", name="Assign to").click()
    dialog = page.get_by_role("dialog", name="Offer to named people first")
    dialog.get_by_label("bob").check()
    dialog.get_by_label("For so many days").fill("many")
    dialog.get_by_role("button", name="Offer them").click()
    expect(dialog).to_be_visible()
    expect(dialog.get_by_label("For so many days")).to_have_value("many")
    expect(dialog.get_by_label("For so many days")).to_be_focused()
    expect(dialog.get_by_label("bob")).to_be_checked()
    expect(dialog.get_by_text("for 1 to 90 days")).to_be_visible()
    reader.assert_clean("traces-refused")
    shoot(reader, "traces-refused")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.get_by_label("Choose trace-00059")).to_be_checked()
    page.set_viewport_size({"width": 390, "height": 844})
    reader.open(f"{BATCHES}new/")
    chips = page.locator(".tools__chips")
    assert chips.evaluate("chips => chips.clientHeight") < 60, "the chips are one row, which is scrolled"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    shoot(reader, "release-chips")
    page.set_viewport_size({"width": 1440, "height": 900})
    reader.open("/o/acme/p/parser/")
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_label("Why?").fill("New guidelines come on Monday")
    shoot(reader, "overview-pausing")
    page.get_by_role("button", name="Pause it").click()
    expect(page.get_by_text("Everybody reads: “New guidelines come on Monday”").first).to_be_visible()
    reader.assert_clean("overview-paused")
    shoot(reader, "overview-paused")
    reader.open(BATCHES)
    shoot(reader, "batches-paused")
    reader.open("/o/acme/")
    shoot(reader, "home-paused")


def test_a_trace_is_excluded_with_a_reason_and_that_is_undone(pool: Queue, reader: Reader) -> None:
    page = reader.page
    reader.sign_in("mallory")
    reader.open(TRACES)
    page.get_by_label("Choose trace-00059").check()
    page.get_by_role("button", name="Exclude").click()
    page.get_by_label("Why?").fill("The run was cut off")
    page.get_by_role("button", name="Exclude them").click()
    expect(page.get_by_text("1 excluded.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone: 1 trace is as before.")).to_be_visible()
    # In a list as on a trace's own page, the button goes when its time is over.
    page.clock.install()
    for place in ("list", "trace"):
        reader.open(TRACES)
        if place == "trace":
            page.get_by_role("link", name="trace-00059").click()
            page.get_by_text("Steer", exact=True).click()
        else:
            page.get_by_label("Choose trace-00059").check()
        page.get_by_role("button", name="Hold back").click()
        undo = page.get_by_role("button", name="Undo")
        expect(undo).to_be_visible()
        page.clock.run_for(29_000)
        expect(undo).to_be_visible()
        page.clock.run_for(2_000)
        expect(undo).to_have_count(0)
        reader.open(TRACES)
        page.get_by_label("Choose trace-00059").check()
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("button", name="Give out again").click()
    assert reader.reports() == []
    assert reader.errors == []


def test_the_lists_are_cards_on_a_phone(pool: Queue, phone: Reader) -> None:
    with acting_in(pool.tenants.acme, pool.tenants.alice):
        release_batch(project=pool.project, selection=Selection(take="number", number=8), facts=BatchFacts("Pilot"))
    phone.sign_in("mallory")
    for name, path in (("traces", TRACES), ("batches", BATCHES), ("release", f"{BATCHES}new/")):
        phone.open(path)
        shoot(phone, name)
        parts = "[...document.querySelectorAll('main *')]"
        wide = f"{parts}.filter((part) => part.getBoundingClientRect().right > innerWidth + 1)"
        wider = phone.page.evaluate(f"{wide}.map((part) => part.className).slice(0, 12)")
        assert phone.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, wider)
        if name == "traces":
            heights = "document.querySelector('.tools__chips').getBoundingClientRect().height"
            assert phone.page.evaluate(heights) < 60, "the filters are one row, which scrolls"
        phone.assert_clean(name)


def test_a_batch_and_a_persons_work_are_steered_from_their_pages(pool: Queue, themed_reader: Reader) -> None:
    tenants = pool.tenants
    with acting_in(tenants.acme, tenants.alice):
        release_batch(project=pool.project, selection=Selection(), facts=BatchFacts("Week 47"))
    with acting_in(tenants.acme, tenants.bob):
        submit(pool.claimed(tenants.bob))
        pool.claimed(tenants.bob)
    reader, page = themed_reader, themed_reader.page
    page.set_viewport_size({"width": 1440, "height": 900})
    reader.sign_in("mallory")
    reader.open(BATCHES)
    page.get_by_role("link", name="Week 47", exact=True).click()
    page.get_by_label("Annotations a trace").fill("3")
    page.get_by_label("Order inside the batch").select_option("By the priority of each trace")
    page.get_by_text("Only these", exact=True).click()
    page.get_by_label("bob").check()
    shoot(reader, "batch")
    reader.assert_clean("batch")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("annotations a trace: 3 (60 traces changed), it is for 1 person.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone: the batch is as it was before.")).to_be_visible()
    reader.open("/o/acme/p/parser/people/")
    page.get_by_role("link", name="bob", exact=True).click()
    reader.assert_clean("person")
    page.get_by_role("button", name="Reassign").click()
    dialog = page.get_by_role("dialog", name="Who goes on with this task?")
    dialog.get_by_label("To").select_option("dora")
    shoot(reader, "reassign")
    dialog.get_by_role("button", name="Reassign").click()
    expect(page.get_by_text(" is with dora now")).to_be_visible()
    page.get_by_label("Pause").fill("Please read the guidelines again")
    page.get_by_role("button", name="Pause bob").click()
    expect(page.get_by_role("button", name="Let bob go on")).to_be_visible()
    shoot(reader, "person")
    reader.open("/o/acme/p/parser/people/")
    page.get_by_label("Choose bob").check()
    page.get_by_role("button", name="Limit").click()
    page.get_by_label("At most so many annotations").fill("5")
    page.get_by_role("button", name="Limit them").click()
    expect(page.get_by_text("bob is limited to 5 annotations here.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone: 1 person is as before.")).to_be_visible()
    reader.open(TRACES)
    page.get_by_label("Choose trace-00059").check()
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("button", name="Priority").click()
    page.get_by_role("dialog", name="Priority of the chosen traces").get_by_text("Urgent", exact=True).click()
    page.get_by_role("button", name="Give it").click()
    expect(page.get_by_text("1 is urgent now")).to_be_visible()
    page.get_by_role("link", name="trace-00059").click()
    queue = page.get_by_role("region", name="In the queue")
    expect(queue).to_contain_text("Urgent priority")
    queue.get_by_text("Steer", exact=True).click()
    shoot(reader, "trace-steered")
    queue.get_by_label("Offer to").select_option("bob")
    queue.get_by_role("button", name="Offer first").click()
    expect(queue).to_contain_text("Offered to bob until")
    shoot(reader, "trace-offered")
    reader.assert_clean("trace")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone: 1 trace is as before.")).to_be_visible()
    expect(queue).not_to_contain_text("Offered to")
    assert reader.errors == []


def test_a_manager_steers_by_the_keyboard_alone_and_on_a_phone(pool: Queue, phone: Reader) -> None:
    """Pool, people, batches and invitations: every page fits a phone, and its main acts need no pointer."""
    tenants, page = pool.tenants, phone.page
    with acting_in(tenants.acme, tenants.alice):
        facts = BatchFacts("Week 47")
        release_batch(project=pool.project, selection=Selection(), facts=facts, is_rule=True)
        rule = StandingRule.objects.get()
    with acting_in(tenants.acme, tenants.bob):
        held = pool.claimed(tenants.bob)
    phone.sign_in("mallory")
    project = "/o/acme/p/parser/"
    for name, path in (
        ("trace", f"{TRACES}{held.trace_id}/steps/"),
        ("pool-held", f"{TRACES}?held=bob"),
        ("rule", f"{BATCHES}rules/{rule.pk}/"),
        ("batch", f"{BATCHES}1/"),
        ("people", f"{project}people/"),
        ("person", f"{project}people/bob/"),
        ("invite", f"{project}people/invite/"),
        ("invite-link", f"{project}people/invite/?way=link"),
        ("imports", f"{TRACES}imports/"),
        ("annotations", f"{project}annotations/"),
        ("exports", f"{project}exports/"),
        ("overview", project),
    ):
        phone.open(path)
        shoot(phone, f"phone-{name}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    press = page.keyboard.press

    def open_for_keys(path: str) -> None:
        """Until its scripts listen."""
        phone.open(path)
        page.wait_for_load_state("networkidle")

    open_for_keys(TRACES)
    for key in ("j", "x"):
        press(key)
    page.get_by_role("button", name="Hold back").focus()
    press("Enter")
    expect(page.get_by_text("1 held back")).to_be_visible()
    page.get_by_role("button", name="Undo").focus()
    press("Enter")
    expect(page.get_by_text("Undone: 1 trace is as before.")).to_be_visible()
    open_for_keys(BATCHES)
    for key in ("j", "x", "p"):
        press(key)
    expect(page.get_by_text("“Week 47” is paused.")).to_be_visible()
    open_for_keys(f"{project}people/")
    for key in ("j", "x"):
        press(key)
    page.get_by_role("button", name="Pause", exact=True).focus()
    press("Enter")
    dialog = page.get_by_role("dialog", name="Pause the chosen people")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Why?").focus()
    page.keyboard.type("A break")
    dialog.get_by_role("button", name="Pause them").focus()
    press("Enter")
    expect(page.get_by_text("given no new tasks here").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    press("i")
    expect(page.get_by_role("heading", name="Invite people")).to_be_visible()
    page.get_by_label("Addresses").focus()
    page.keyboard.type("rosa@example.org")
    page.get_by_role("button", name="Preview").focus()
    press("Enter")
    page.get_by_role("button", name="Invite 1 person").focus()
    press("Enter")
    expect(page.get_by_label("Link of rosa@example.org")).to_be_visible()
    assert phone.errors == []
