"""A manager imports in a browser, with a real worker: thirty files at once, one of them broken; and undoes it."""

import json
from pathlib import Path

import pytest
from django.test import Client
from playwright.sync_api import Browser, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from accounts.models import AuditEvent
from jobs import notifier
from tenancy.actor import acting_in
from tests.assignments.conftest import Queue
from tests.faults.conftest import Machine
from tests.faults.conftest import machine as machine  # a fixture
from tests.shared_data import shared_files
from tests.stories.conftest import Reader
from tests.stories.pictures import shoot
from tests.tenants import Tenants
from tests.traces.test_imports import lines, run
from traces.models import ImportedFile, Trace

pytestmark = pytest.mark.browser

IMPORTS = "/o/acme/p/parser/traces/imports/"
PATIENCE = 60_000
DROP = """(zone, files) => {
  const dropped = new DataTransfer();
  for (const [name, text] of files) dropped.items.add(new File([text], name));
  for (const kind of ["dragover", "drop"])
    zone.dispatchEvent(new DragEvent(kind, { dataTransfer: dropped, bubbles: true, cancelable: true }));
}"""


@pytest.fixture
def worker(machine: Machine, settings: Settings, tmp_path: Path, committed_tenants: Tenants) -> Machine:
    """A real one, which finds the files where the site of the story keeps them."""
    settings.MEDIA_ROOT = tmp_path / "media"
    machine.settings["MEDIA_ROOT"] = str(tmp_path / "media")
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        Queue(committed_tenants, committed_tenants.acme_project).publish(target=1)
    notifier.resume()
    machine.worker()
    # The first page of a run waits for Django to load all templates and routes.
    Client().get("/accounts/login/")
    return machine


@pytest.fixture(autouse=True)
def patient(request: pytest.FixtureRequest) -> None:
    """A worker of its own takes the machine from the site now and then."""
    for name in ("reader", "themed_reader"):
        if name in request.fixturenames:
            request.getfixturevalue(name).page.set_default_timeout(30_000)


def thirty_files() -> list[tuple[str, str]]:
    files = [(f"run-{n:02}.jsonl", lines(run(f"run-{n}", task=f"Mend part {n}")).decode()) for n in range(30)]
    files[7] = ("run-07.jsonl", '{"id": "broken", ')
    return files


def only_import(tenants: Tenants) -> ImportedFile:
    with acting_in(tenants.acme):
        return ImportedFile.objects.get()


def test_thirty_files_dropped_at_once_are_one_import_that_is_watched_and_undone(
    worker: Machine, committed_tenants: Tenants, themed_reader: Reader
) -> None:
    tenants, reader, page = committed_tenants, themed_reader, themed_reader.page
    reader.sign_in("mallory")
    reader.open("/o/acme/p/parser/")
    page.get_by_label("Project").get_by_role("link", name="Imports").click()
    reader.assert_clean("before anything came in")
    page.locator("[data-dropzone]").evaluate(DROP, thirty_files())
    page.wait_for_url(f"**{IMPORTS}*-*/", timeout=PATIENCE)
    # The page follows by itself; nobody reloads it.
    expect(page.get_by_role("heading", name="Done, with errors")).to_be_visible(timeout=PATIENCE)
    state = page.get_by_role("region", name="Done, with errors")
    expect(state).to_contain_text("29 came in, 1 could not be read")
    expect(state.get_by_role("link", name="29 in the batch “All traces”")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("[data-count=traces]")).to_have_text("29")
    unread = page.get_by_role("region", name="What could not be read")
    expect(unread).to_contain_text("run-07.jsonl")
    expect(unread).to_contain_text("record 1")
    expect(
        page.get_by_role("region", name="What came in").get_by_role("link", name="Mend part 3", exact=True)
    ).to_be_visible()
    row = page.get_by_role("row", name="run-07.jsonl")
    expect(row).to_contain_text("1")
    reader.assert_clean("an import that is done")
    shoot(themed_reader, "import")
    reader.open(IMPORTS)
    expect(page.get_by_role("listitem").filter(has_text="30 files").first).to_contain_text("29 came in")
    reader.assert_clean("the list")
    shoot(themed_reader, "imports")
    page.get_by_role("link", name="Undo the import of 30 files").click()
    expect(page.get_by_text("29 traces go. Nobody has judged or holds any of them.")).to_be_visible()
    reader.assert_clean("before the undo")
    shoot(themed_reader, "undo")
    page.get_by_role("button", name="Undo the import").click()
    expect(page.get_by_role("status").first).to_contain_text("is undone: 29 traces went.")
    expect(page.get_by_text("Undone by mallory")).to_be_visible()
    with acting_in(tenants.acme):
        assert not Trace.objects.exists()
        assert AuditEvent.objects.get(verb="traces.import-undone").detail["traces"] == 29


def test_a_folder_with_sub_agents_comes_in_as_one_run(
    worker: Machine, committed_tenants: Tenants, reader: Reader, tmp_path: Path
) -> None:
    tenants, page = committed_tenants, reader.page
    folder = tmp_path / "sessions"
    (folder / "s-1" / "subagents").mkdir(parents=True)
    base = {"sessionId": "s-1", "timestamp": "2026-03-01T10:00:00Z", "cwd": "/w", "version": "2.0"}
    call = {"type": "tool_use", "id": "t1", "name": "Task", "input": {"description": "look", "prompt": "Look around"}}
    said = {"type": "text", "text": "I looked."}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "looked"}
    own = [
        {**base, "type": "user", "uuid": "1", "message": {"role": "user", "content": "Mend the parser of dates"}},
        {
            **base,
            "type": "assistant",
            "uuid": "2",
            "parentUuid": "1",
            "message": {"role": "assistant", "content": [call]},
        },
        {**base, "type": "user", "uuid": "3", "parentUuid": "2", "message": {"role": "user", "content": [answer]}},
    ]
    beside = [
        {
            **base, "type": "user", "uuid": "a", "isSidechain": True,
            "message": {"role": "user", "content": "Look around"},
        },
        {
            **base, "type": "assistant", "uuid": "b", "parentUuid": "a", "isSidechain": True,
            "message": {"role": "assistant", "content": [said]},
        },
    ]  # fmt: skip
    (folder / "s-1.jsonl").write_text("".join(json.dumps(record) + "\n" for record in own))
    (folder / "s-1" / "subagents" / "agent-x.jsonl").write_text("".join(json.dumps(record) + "\n" for record in beside))
    reader.sign_in("mallory")
    reader.open(IMPORTS)
    page.locator("input[name=folder]").set_input_files(folder)
    page.wait_for_url(f"**{IMPORTS}*-*/", timeout=PATIENCE)
    expect(page.get_by_text("1 came in")).to_be_visible(timeout=PATIENCE)
    with acting_in(tenants.acme):
        trace = Trace.objects.get()
        assert trace.task == "Mend the parser of dates"
    reader.open(IMPORTS)
    expect(page.get_by_role("link", name="Mend the parser of dates", exact=True)).to_be_visible()
    assert reader.errors == []


def test_real_sessions_come_in_at_once(
    worker: Machine, committed_tenants: Tenants, reader: Reader, tmp_path: Path
) -> None:
    sessions = shared_files("claude-code/*/session.jsonl")
    page = reader.page
    reader.sign_in("mallory")
    reader.open(IMPORTS)
    page.locator("input[name=files]").set_input_files(sessions)
    page.wait_for_url(f"**{IMPORTS}*-*/", timeout=PATIENCE)
    expect(page.get_by_role("heading", name="Done", exact=True)).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text(f"{len(sessions)} came in")).to_be_visible()
    with acting_in(committed_tenants.acme):
        assert Trace.objects.count() == len(sessions)
    assert reader.errors == []


def test_files_come_in_without_a_script(
    worker: Machine,
    committed_tenants: Tenants,
    chromium: Browser,
    live_server: LiveServer,
    tmp_path: Path,
    reader: Reader,
) -> None:
    reader.sign_in("mallory")
    paths = []
    for name, text in thirty_files()[:3]:
        (tmp_path / name).write_text(text)
        paths.append(tmp_path / name)
    context = chromium.new_context(java_script_enabled=False)
    context.add_cookies([dict(cookie) for cookie in reader.page.context.cookies()])  # type: ignore[misc]
    page = context.new_page()
    page.goto(live_server.url + IMPORTS)
    page.locator("input[name=files]").set_input_files(paths)
    page.get_by_role("button", name="Import them").click()
    expect(page.get_by_role("heading", name="3 files")).to_be_visible()

    def done() -> bool:
        with acting_in(committed_tenants.acme):
            return Trace.objects.count() == 3

    for _ in range(100):
        if done():
            break
        page.wait_for_timeout(300)
    page.reload()
    expect(page.get_by_text("3 came in")).to_be_visible()
    context.close()


def test_what_is_too_much_is_said_before_it_is_sent_and_a_refusal_of_the_site_is_shown(
    committed_tenants: Tenants, reader: Reader, settings: Settings, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2
    page = reader.page
    reader.sign_in("mallory")
    reader.open(IMPORTS)
    page.locator("[data-dropzone]").evaluate(DROP, thirty_files())
    expect(page.get_by_text("These are 30 files; one import may have 2.")).to_be_visible()
    page.locator("[data-dropzone]").evaluate(DROP, [["a.jsonl", ""]])
    expect(page.get_by_text("a.jsonl is empty.")).to_be_visible()
    expect(page.get_by_role("button", name="Send again")).to_be_visible()
    with acting_in(committed_tenants.acme):
        assert not ImportedFile.objects.exists()


def test_a_new_manager_tries_with_the_sample_runs_from_the_checklist(
    worker: Machine, committed_tenants: Tenants, themed_reader: Reader
) -> None:
    reader, page = themed_reader, themed_reader.page
    reader.sign_in("mallory")
    reader.open("/o/acme/p/parser/")
    step = page.get_by_role("listitem").filter(has_text="Import what agents did")
    expect(step.get_by_text("Drop files, a folder or a ZIP here")).to_be_visible()
    reader.assert_clean("the checklist")
    shoot(themed_reader, "checklist")
    step.get_by_role("button", name="Load sample runs").click()
    expect(page.get_by_role("heading", name="Done", exact=True)).to_be_visible(timeout=PATIENCE)
    assert only_import(committed_tenants).name == "Sample runs"
    reader.open("/o/acme/p/parser/")
    done = page.get_by_role("listitem").filter(has_text="Import what agents did")
    expect(done).to_contain_text("traces are there")
    expect(done.get_by_text("Drop files")).to_have_count(0)
