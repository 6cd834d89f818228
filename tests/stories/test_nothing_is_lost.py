"""What an annotator has written survives reloads, lost networks, ended sessions and leases, other tabs and machines.

Everything runs in Chromium on the real site.
"""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Dialog, Route, expect

from tests.stories.conftest import Reader
from tests.stories.working import Desk, claimed, eventually, project_of_tasks
from tests.worlds import World

pytestmark = pytest.mark.browser


def desk_of(world: World, reader: Reader, **project: int) -> Desk:
    """Bob's, with the task open."""
    project_of_tasks(world, **project)
    reader.sign_in("bob")
    desk = Desk(world, world.bob, claimed(world, world.bob), reader.page, reader.address, reader.errors)
    desk.open()
    return desk


@pytest.fixture
def desk(world_of_browsers: World, reader: Reader) -> Iterator[Desk]:
    desk = desk_of(world_of_browsers, reader)
    yield desk
    assert desk.errors == []


def test_what_was_typed_a_moment_ago_is_there_after_a_reload_and_reaches_the_server(desk: Desk) -> None:
    desk.write("The last page is dropped")
    desk.reload()
    expect(desk.summary).to_have_value("The last page is dropped")
    desk.is_saved()
    assert desk.stored_summary() == "The last page is dropped"
    desk.write(" again")
    desk.is_saved()
    eventually(lambda: desk.stored_summary() == "The last page is dropped again", desk.page)
    assert desk.row().fence == 1, "a reload is no take-over"
    expect(desk.banner).to_have_count(0)


def test_a_browser_that_is_closed_within_the_pause_has_kept_the_work(desk: Desk) -> None:
    desk.page.route("**/draft/", lambda route: route.abort())
    desk.write("Not sent yet")
    desk.page.close()
    again = desk.beside()
    again.open()
    expect(again.summary).to_have_value("Not sent yet")
    eventually(lambda: desk.stored_summary() == "Not sent yet", again.page)


# Nothing is sent after a pause, and what may be cut off when a page ends is: what a browser finishes alone arrives.
ENDS_AT_ONCE = """() => {
  const finish = window.fetch;
  window.setTimeout = () => 0;
  window.fetch = (address, options) => (options?.keepalive ? finish(address, options) : new Promise(() => {}));
}"""


@pytest.mark.parametrize("way", ["leaves for another page", "closes the tab"])
def test_who_leaves_within_the_pause_has_sent_the_last_words(desk: Desk, way: str) -> None:
    desk.page.evaluate(ENDS_AT_ONCE)
    desk.write("Said on leaving")
    assert desk.stored_summary() == ""
    other = desk.page.context.new_page()
    if way == "closes the tab":
        desk.page.close()
    else:
        desk.page.goto("about:blank")
    eventually(lambda: desk.stored_summary() == "Said on leaving", other)


def test_who_leaves_without_a_change_sends_nothing(desk: Desk) -> None:
    desk.write("Said before")
    desk.is_saved()
    eventually(lambda: desk.stored_summary() == "Said before", desk.page)
    revision = desk.revision()
    desk.page.goto("about:blank")
    desk.open()
    assert desk.revision() == revision


def test_without_a_network_changes_are_kept_and_counted_and_sent_when_it_is_back(desk: Desk) -> None:
    context = desk.page.context
    desk.begin()
    context.set_offline(True)
    desk.write("Written")
    expect(desk.saved).to_have_text("Offline, 1 change kept here")
    desk.page.wait_for_timeout(1100)
    desk.write(" offline")
    expect(desk.saved).to_have_text("Offline, 2 changes kept here")
    desk.decide()
    desk.submit()
    expect(desk.page.locator(".toast")).to_contain_text("Not submitted")
    assert desk.stored_summary() == ""
    context.set_offline(False)
    desk.is_saved()
    assert desk.stored_summary() == "Written offline"
    expect(desk.page.locator("[data-announce]")).to_have_text("Saved.")


def test_an_answer_that_is_lost_on_the_way_is_no_conflict(desk: Desk) -> None:
    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    desk.page.route("**/draft/", lose, times=1)
    desk.write("Once")
    eventually(lambda: desk.stored_summary() == "Once", desk.page)
    desk.write(" and more")
    desk.is_saved()
    assert desk.stored_summary() == "Once and more"
    expect(desk.dialog("Two versions of this work")).to_have_count(0)


def test_a_site_that_fails_is_asked_again_by_itself_and_at_once_on_request(desk: Desk) -> None:
    desk.page.route("**/draft/", lambda route: route.fulfill(status=503, json={"code": "down", "detail": "A pause."}))
    desk.write("Kept")
    expect(desk.saved).to_have_text("Not saved.")
    expect(desk.saved).to_have_class(re.compile("is-bad"))
    expect(desk.page.locator("[data-announce]")).to_have_text("Not saved. A pause.")
    desk.page.unroute("**/draft/")
    desk.page.get_by_role("button", name="Retry").click()
    desk.is_saved()
    assert desk.stored_summary() == "Kept"


def test_leaving_asks_only_while_something_is_kept_nowhere(desk: Desk) -> None:
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    desk.page.on("dialog", leave)
    desk.page.route("**/draft/", lambda route: route.abort())
    desk.write("Here")
    desk.reload()
    assert asked == []
    full = "Storage.prototype.setItem = function () { throw new DOMException('full', 'QuotaExceededError'); }"
    desk.page.evaluate(f"() => {{ {full} }}")
    desk.write("!")
    expect(desk.saved).to_have_text("This browser's storage is full")
    desk.reload()
    assert asked == ["beforeunload"]
    expect(desk.summary).to_have_value("Here")


def test_a_session_that_ended_is_mended_in_the_page(desk: Desk, reader: Reader) -> None:
    desk.write("Before")
    desk.is_saved()
    desk.end_session()
    desk.write(" and after")
    dialog = desk.dialog("Sign in to go on")
    expect(dialog).to_be_visible()
    reader.assert_clean("signing in")
    desk.sign_in_again("bob", "not the password")
    expect(dialog.get_by_role("alert")).to_contain_text("not correct")
    expect(dialog.get_by_label("Password", exact=True)).to_have_value("")
    desk.sign_in_again("bob")
    expect(dialog).to_have_count(0)
    desk.is_saved()
    expect(desk.summary).to_have_value("Before and after")
    assert desk.stored_summary() == "Before and after"
    kept = desk.page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    assert "correct horse" not in kept
    assert "not the password" not in kept
    # The forms of the page are those of the new session.
    desk.decide()
    desk.submit()
    desk.dialog("Submitted").get_by_role("button", name="Next task").click()
    desk.page.wait_for_load_state()
    assert "/tasks/" not in desk.page.url
    expect(desk.page.get_by_role("heading", level=1)).not_to_contain_text("expired")


def test_somebody_else_who_signs_in_is_refused_and_the_work_is_kept(desk: Desk) -> None:
    desk.page.context.clear_cookies()
    desk.write("Bob's own words")
    desk.sign_in_again("alice")
    dialog = desk.dialog("Sign in to go on")
    expect(dialog.get_by_role("alert")).to_contain_text("This work is bob's")
    assert desk.stored_summary() == ""
    desk.sign_in_again("bob@example.org")
    desk.is_saved()
    assert desk.stored_summary() == "Bob's own words"


def test_signing_in_can_be_put_off_while_the_work_goes_on(desk: Desk) -> None:
    desk.end_session()
    desk.write("One")
    desk.dialog("Sign in to go on").get_by_role("button", name="Not now").click()
    expect(desk.saved).to_have_text("Signed out, 1 change kept here")
    desk.page.wait_for_timeout(1100)
    desk.page.keyboard.type(" two")
    expect(desk.saved).to_have_text("Signed out, 2 changes kept here")
    expect(desk.dialog("Sign in to go on")).to_have_count(0)
    desk.page.get_by_role("button", name="Sign in").click()
    desk.sign_in_again("bob")
    desk.is_saved()
    assert desk.stored_summary() == "One two"


def test_after_the_lease_ended_drafts_are_kept_and_the_task_can_be_claimed_again(desk: Desk, reader: Reader) -> None:
    desk.expire()
    desk.write("Late")
    expect(desk.banner).to_contain_text("Your time for this task ended")
    expect(desk.page.locator("[data-lease]")).to_have_text("Hold ended")
    desk.is_saved()
    assert desk.stored_summary() == "Late"
    reader.assert_clean("after the lease")
    desk.page.get_by_role("button", name="Claim again").click()
    expect(desk.banner).to_have_count(0)
    expect(desk.page.locator("[data-lease]")).to_contain_text("Held 30:00")
    assert (desk.row().state, desk.row().fence) == ("claimed", 2)
    desk.write(" but held")
    eventually(lambda: desk.stored_summary() == "Late but held", desk.page)


@pytest.mark.parametrize(
    ("is_taken", "words"), [(False, "A place was still free"), (True, "others had taken every place")]
)
def test_a_late_submission_counts_while_a_place_is_free_and_is_kept_otherwise(
    desk: Desk, *, is_taken: bool, words: str
) -> None:
    desk.decide()
    desk.is_saved()
    desk.expire()
    if is_taken:
        claimed(desk.world, desk.world.mallory)
    desk.write("Late")
    expect(desk.banner).to_contain_text("Your time for this task ended")
    desk.submit()
    expect(desk.dialog("Submitted")).to_contain_text(words)
    (submission,) = desk.submissions()
    assert submission.is_surplus == is_taken
    assert submission.result["verdict"] == {"decision": "approve", "summary": "Late"}


def test_time_is_short_in_amber_and_any_work_renews_it(world_of_browsers: World, reader: Reader) -> None:
    desk = desk_of(world_of_browsers, reader, lease_minutes=5)
    lease = desk.page.locator("[data-lease]")
    expect(lease).to_contain_text("Held 04:5")
    assert "is-warn" in (lease.get_attribute("class") or "")
    desk.page.wait_for_timeout(2_000)
    until = desk.row().lease_until
    desk.write("x")
    desk.is_saved()
    assert until is not None
    assert (desk.row().lease_until or until) > until


def test_reading_keeps_the_task_and_being_away_does_not(world_of_browsers: World, reader: Reader) -> None:
    desk = desk_of(world_of_browsers, reader, lease_minutes=1)
    until = desk.row().lease_until
    desk.page.wait_for_timeout(11_000)
    assert desk.row().lease_until == until
    desk.page.mouse.move(600, 300)
    eventually(lambda: desk.row().lease_until != until, desk.page)


def test_a_second_tab_reads_and_takes_over_with_what_the_first_had_not_sent(desk: Desk, reader: Reader) -> None:
    desk.write("From the first")
    second = desk.beside()
    second.open()
    expect(second.banner).to_contain_text("open in another tab")
    expect(second.summary).not_to_be_editable()
    desk.write(" tab")
    second.page.get_by_role("button", name="Take over here").click()
    expect(second.banner).to_have_count(0)
    expect(second.summary).to_have_value("From the first tab")
    expect(desk.banner).to_contain_text("open in another tab")
    expect(desk.summary).not_to_be_editable()
    reader.assert_clean("the tab that was left")
    expect(second.summary).to_be_editable()
    second.write(", by the second")
    second.is_saved()
    assert desk.stored_summary() == "From the first tab, by the second"
    second.reload()
    expect(second.banner).to_have_count(0)
    desk.page.get_by_role("button", name="Take over here").click()
    expect(desk.summary).to_have_value("From the first tab, by the second")
    expect(desk.summary).to_be_editable()
    expect(second.summary).not_to_be_editable()


def test_a_tab_that_was_left_writes_again_when_the_other_is_closed(desk: Desk) -> None:
    second = desk.beside()
    second.open()
    second.page.get_by_role("button", name="Take over here").click()
    expect(desk.summary).not_to_be_editable()
    expect(second.summary).to_be_editable()
    second.write("By the second")
    second.page.close()
    expect(desk.summary).to_be_editable()
    expect(desk.summary).to_have_value("By the second")
    expect(desk.banner).to_have_count(0)
    desk.write(" and the first")
    desk.is_saved()
    assert desk.stored_summary() == "By the second and the first"


def test_another_machine_goes_on_and_both_versions_are_shown_before_one_is_kept(
    desk: Desk, reader: Reader, chromium: Browser
) -> None:
    desk.decide()
    desk.write("At the desk")
    desk.is_saved()
    with chromium.new_context() as machine:
        machine.add_cookies(desk.page.context.cookies())  # type: ignore[arg-type]  # what it gave, it takes
        other = desk.beside(machine)
        other.open()
        expect(other.summary).to_have_value("At the desk")
        desk.page.context.set_offline(True)
        desk.write(", offline")
        other.write(", on the road")
        other.is_saved()
        desk.page.context.set_offline(False)
        expect(desk.banner).to_contain_text("in another tab or on another machine")
        expect(desk.summary).not_to_be_editable()
        desk.page.get_by_role("button", name="Take over here").click()
        dialog = desk.dialog("Two versions of this work")
        expect(dialog).to_contain_text("At the desk, offline")
        expect(dialog).to_contain_text("At the desk, on the road")
        reader.assert_clean("two versions")
        desk.page.keyboard.press("Escape")
        desk.page.keyboard.press("Escape")
        expect(dialog).to_be_visible()
        dialog.get_by_role("button", name="Keep mine").click()
        desk.is_saved()
        assert desk.stored_summary() == "At the desk, offline"
        other.write("!")
        other.page.get_by_role("button", name="Take over here").click()
        other.dialog("Two versions of this work").get_by_role("button", name="Take theirs").click()
        expect(other.summary).to_have_value("At the desk, offline")
        expect(other.summary).to_be_editable()
    assert desk.stored_summary() == "At the desk, offline"


def test_submitting_twice_makes_one_submission_and_undo_opens_it_again(desk: Desk, reader: Reader) -> None:
    desk.write("Fine")
    submit = desk.page.get_by_role("button", name="Submit review")
    expect(submit).to_have_attribute("aria-disabled", "true")
    desk.page.keyboard.press("Control+Shift+Enter")
    assert desk.submissions() == []
    expect(desk.page.get_by_role("radio", name="Approve")).to_be_focused()
    expect(desk.page.locator("[data-left]")).to_have_text("1 thing left")
    desk.decide()
    expect(desk.page.locator("[data-left]")).to_have_text("Ready to submit")
    desk.page.keyboard.press("Control+Shift+Enter")
    desk.page.keyboard.press("Control+Shift+Enter")
    dialog = desk.dialog("Submitted")
    expect(dialog).to_contain_text("Your review is stored and counts.")
    assert len(desk.submissions()) == 1
    reader.assert_clean("submitted")
    dialog.get_by_role("button", name="Undo").click()
    expect(dialog).to_have_count(0)
    expect(desk.summary).to_have_value("Fine")
    expect(desk.summary).to_be_editable()
    assert desk.row().state == "claimed"
    desk.write(" indeed")
    desk.submit()
    expect(dialog).to_be_visible()
    assert [one.result["verdict"]["summary"] for one in desk.submissions()] == ["Fine", "Fine indeed"]


def test_what_the_site_finds_missing_is_told_in_its_sentences(desk: Desk, reader: Reader) -> None:
    def forget_the_verdict(route: Route) -> None:
        route.continue_(post_data=json.dumps({"fence": 1, "annotations": {}}))

    desk.decide()
    desk.page.route("**/submit/", forget_the_verdict, times=1)
    desk.submit()
    dialog = desk.dialog("Not submitted: something is missing")
    expect(dialog.get_by_role("listitem").first).to_contain_text("verdict")
    reader.assert_clean("incomplete")
    dialog.get_by_role("button", name="Go on working").click()
    assert desk.submissions() == []
    desk.submit()
    expect(desk.dialog("Submitted")).to_be_visible()


def test_a_task_is_skipped_with_a_reason_alone(desk: Desk, reader: Reader) -> None:
    desk.page.get_by_role("button", name="Skip task").click()
    dialog = desk.dialog("Give this task up")
    dialog.get_by_role("button", name="Skip for good").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Say in a few words why")
    expect(dialog.get_by_label("Why do you skip it?")).to_be_focused()
    reader.assert_clean("skipping")
    assert desk.row().state == "claimed"
    dialog.get_by_label("Why do you skip it?").fill("The patch is empty")
    dialog.get_by_role("button", name="Skip for good").click()
    desk.page.wait_for_url(lambda url: "/tasks/" not in url)
    assert (desk.row().state, desk.row().skip_reason) == ("skipped", "The patch is empty")


def test_a_task_is_put_back_with_its_draft(desk: Desk) -> None:
    desk.write("Half")
    desk.page.get_by_role("button", name="Skip task").click()
    desk.dialog("Give this task up").get_by_role("button", name="Put it back").click()
    desk.page.wait_for_url(lambda url: "/tasks/" not in url)
    assert (desk.row().state, desk.stored_summary()) == ("released", "Half")


def test_files_that_were_viewed_stay_so(desk: Desk) -> None:
    desk.page.locator("#f0 tr[data-new] button[data-side]").first.focus()
    desk.page.keyboard.press("v")
    expect(desk.page.get_by_label("Viewed src/parser.py")).to_be_checked()
    expect(desk.page.locator("[data-viewed-count]")).to_have_text("1 of 1 viewed")
    desk.reload()
    expect(desk.page.get_by_label("Viewed src/parser.py")).to_be_checked()


def test_the_states_are_clean_in_both_themes(world_of_browsers: World, themed_reader: Reader) -> None:
    desk = desk_of(world_of_browsers, themed_reader)
    themed_reader.assert_clean("the task")
    desk.decide()
    desk.is_saved()
    desk.end_session()
    desk.write("x")
    expect(desk.dialog("Sign in to go on")).to_be_visible()
    themed_reader.assert_clean("signing in")
    desk.sign_in_again("bob")
    desk.is_saved()
    desk.submit()
    expect(desk.dialog("Submitted")).to_be_visible()
    themed_reader.assert_clean("submitted")
