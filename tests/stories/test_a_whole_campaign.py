"""A new manager runs a campaign without a shell: from a template to a file, in at most 60 interactions of their own.

Everything is real: Chromium, the site and a worker. What the annotators say is submitted by actions; all that the
manager does is a click, a text typed into a field, a key or a drop, and each of these counts.
"""

import base64
import json
import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4
from zipfile import ZipFile

import pytest
import time_machine
from django.utils import timezone
from playwright.sync_api import Browser, Locator, expect
from pytest_django.fixtures import Settings

from accounts.models import Project, User
from assignments.actions.claiming import claim_next
from assignments.actions.submitting import submit
from assignments.models import Assignment, AssignmentState, Note, Submission, TraceQuota
from jobs import notifier
from tenancy.actor import acting_in
from tests.faults.conftest import Machine
from tests.faults.conftest import machine as machine
from tests.stories.conftest import Reader
from tests.stories.pictures import shoot
from tests.stories.test_joining import fresh_browser, no_tries_yet
from tests.tenants import Tenants
from traces.models import Trace

__all__ = ["machine", "no_tries_yet"]  # Fixtures.

pytestmark = [pytest.mark.browser, pytest.mark.timeout(500)]

INTERACTIONS = 60
MODELS = ("claude-sonnet-4-5", "claude-opus-4-1", "claude-haiku-4-5")
PROJECT = "/o/acme/p/parser-campaign/"


@dataclass
class Hand:
    """The manager's hand at the browser, which counts what it does."""

    reader: Reader
    interactions: int = 0

    def click(self, place: Locator) -> None:
        self.interactions += 1
        place.click()

    def fill(self, place: Locator, text: str) -> None:
        self.interactions += 1
        place.fill(text)

    def choose(self, place: Locator, label: str) -> None:
        self.interactions += 1
        place.select_option(label=label)

    def press(self, key: str) -> None:
        self.interactions += 1
        self.reader.page.keyboard.press(key)

    def drop(self, place: Locator, files: dict[str, bytes]) -> None:
        """Files are dropped at once onto a place of the page."""
        self.interactions += 1
        contents = {name: base64.b64encode(content).decode() for name, content in files.items()}
        place.evaluate(
            """(place, contents) => {
              const dropped = new DataTransfer();
              for (const [name, content] of Object.entries(contents)) {
                const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
                dropped.items.add(new File([bytes], name));
              }
              for (const kind of ["dragenter", "dragover", "drop"])
                place.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: dropped }));
            }""",
            contents,
        )


def session(number: int) -> bytes:
    """A session of Claude Code in which a file is changed."""
    base = {
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/dev/parser",
        "sessionId": f"00000000-0000-4000-8000-{number:012d}",
        "version": "2.0.14",
        "gitBranch": "main",
    }
    path = f"/home/dev/parser/src/rule{number}.py"
    edit = {"file_path": path, "old_string": "LIMIT = 10", "new_string": f"LIMIT = {100 + number}"}
    patch = [
        {
            "oldStart": 1,
            "oldLines": 2,
            "newStart": 1,
            "newLines": 2,
            "lines": ["-LIMIT = 10", f"+LIMIT = {100 + number}", " NAME = 'rule'"],
        }
    ]
    model = MODELS[number % len(MODELS)]
    lines: list[dict[str, Any]] = [
        {"type": "user", "message": {"role": "user", "content": f"Set the limit of rule {number}"}},
        {
            "type": "assistant",
            "message": {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "model": model,
                "content": [
                    {"type": "text", "text": "I change the constant."},
                    {"type": "tool_use", "id": f"toolu_{number}", "name": "Edit", "input": edit},
                ],
            },
        },
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "The file was updated."}
                ],
            },
            "toolUseResult": {
                "filePath": path,
                "oldString": edit["old_string"],
                "newString": edit["new_string"],
                "originalFile": "LIMIT = 10\nNAME = 'rule'\n",
                "structuredPatch": patch,
                "userModified": False,
                "replaceAll": False,
            },
        },
        {
            "type": "assistant",
            "message": {
                "id": f"msg_{number}_end",
                "type": "message",
                "role": "assistant",
                "model": model,
                "content": [{"type": "text", "text": "Done."}],
            },
        },
    ]
    parent = None
    written = []
    for place, line in enumerate(lines):
        own = f"{number:08d}-0000-4000-8000-{place:012d}"
        stamp = f"2026-11-02T10:{number:02d}:{place:02d}.000Z"
        written.append({"parentUuid": parent, **base, **line, "uuid": own, "timestamp": stamp})
        parent = own
    return "".join(json.dumps(line) + "\n" for line in written).encode()


def review(trace: Trace, decision: str, comment: str) -> dict[str, Any]:
    """An annotation as the template "Code review" asks for it."""
    path = trace.files.get().path
    return {
        "inline_comments": [
            {"file": path, "line_start": 1, "side": "new", "category": "bug", "severity": "minor", "comment": comment}
        ],
        "file_ratings": {path: {"correctness": 3, "quality": 3}},
        "verdict": {"decision": decision, "summary": f"{comment} That is all there is to say."},
    }


@dataclass
class Crowd:
    """What the annotators of the project do."""

    tenants: Tenants

    @property
    def project(self) -> Project:
        return Project.objects.get(slug="parser-campaign")

    def claim(self, email: str) -> Assignment:
        user = User.objects.get(email=email)
        with acting_in(self.tenants.acme, user):
            claimed = claim_next(project=self.project, user=user)
            assert isinstance(claimed, Assignment), claimed
            return Assignment.objects.select_related("trace", "user").get(pk=claimed.pk)

    def judge(self, email: str, decision: str, comment: str) -> Submission:
        held = self.claim(email)
        with acting_in(self.tenants.acme, held.user):
            return submit(
                assignment=held,
                fencing_token=held.fencing_token,
                key=str(uuid4()),
                annotations=review(held.trace, decision, comment),
            )


@pytest.fixture
def at_work(machine: Machine, settings: Settings, tmp_path: Path) -> Machine:
    """A worker that keeps files where the site looks for them."""
    exports, media = str(tmp_path / "exports"), str(tmp_path / "media")
    settings.MEDIA_ROOT = media
    settings.STORAGES = {
        **settings.STORAGES,
        "exports": {"BACKEND": "exports.storage.DurableFileSystemStorage", "OPTIONS": {"location": exports}},
    }
    machine.settings |= {"EXPORT_ROOT": exports, "EXPORT_SCRATCH": str(tmp_path), "MEDIA_ROOT": media}
    notifier.resume()
    machine.worker(processes=2)
    return machine


def address(number: int) -> str:
    return f"student{number}@example.org"


def joined(chromium: Browser, manager: Reader, link: str) -> None:
    """Three people come by the link."""
    for number in range(1, 4):
        with fresh_browser(chromium, manager) as student:
            student.page.goto(link)
            student.page.get_by_label("Your email address").fill(address(number))
            student.page.get_by_label("Password", exact=True).fill("a quiet place 77")
            student.page.get_by_label("Password again").fill("a quiet place 77")
            student.page.get_by_role("button", name="Set password and join").click()
            student.page.wait_for_url(f"{manager.address}/o/acme/")
            expect(student.page.get_by_text("Parser campaign").first).to_be_visible()


def test_a_new_manager_runs_a_campaign_without_a_shell(
    committed_tenants: Tenants, at_work: Machine, themed_reader: Reader, chromium: Browser, tmp_path: Path
) -> None:
    tenants, manager = committed_tenants, themed_reader
    page, hand, crowd = manager.page, Hand(manager), Crowd(tenants)
    page.set_viewport_size({"width": 1440, "height": 1000})
    tabs = page.get_by_role("navigation", name="Project", exact=True)

    def open_tab(name: str) -> None:
        hand.click(tabs.get_by_role("link", name=re.compile(f"^{name}")))
        expect(tabs.locator("[aria-current]")).to_contain_text(name)
        page.wait_for_load_state("load")

    # From a template.
    manager.sign_in("mallory")
    manager.open("/o/acme/")
    hand.click(page.get_by_role("link", name="Add project"))
    hand.click(page.locator("label.tpl", has_text="Code review").first)
    hand.fill(page.get_by_label("Name", exact=True), "Parser campaign")
    shoot(manager, "campaign-1-template")
    hand.click(page.get_by_role("button", name=re.compile("Continue with")))
    preview = page.frame_locator("iframe.preview-frame:not(.is-coming)")
    expect(preview.get_by_text("Would you merge this?")).to_be_visible(timeout=30_000)
    shoot(manager, "campaign-2-preview")
    hand.click(page.get_by_role("button", name="Publish version 1"))
    hand.click(page.get_by_role("button", name="Publish version 1"))
    expect(page.get_by_text("New work is done under it")).to_be_visible()

    # Thirty sessions at once, which wait in the pool.
    open_tab("Traces")
    hand.click(page.get_by_role("button", name="Let them wait"))
    open_tab("Imports")
    hand.drop(page.locator("[data-dropzone]"), {f"session-{number}.jsonl": session(number) for number in range(1, 31)})
    expect(page.get_by_text(re.compile("30 (new )?traces")).first).to_be_visible(timeout=90_000)
    manager.assert_clean("imports")
    shoot(manager, "campaign-3-imports")
    with acting_in(tenants.acme):
        assert Trace.objects.filter(project=crowd.project).count() == 30
        assert not TraceQuota.objects.filter(project=crowd.project, is_released=True).exists()

    # Twenty of them, as many of each model as there are.
    open_tab("Traces")
    hand.click(page.get_by_role("link", name="Release a batch"))
    hand.click(page.get_by_text("A number", exact=True))
    hand.fill(page.get_by_label("How many", exact=True), "20")
    hand.choose(page.get_by_label("Stratum"), "agent model")
    hand.fill(page.get_by_label("Name"), "Week 1")
    hand.fill(page.get_by_label("Annotations a trace"), "2")
    expect(page.get_by_role("button", name="Release 20 traces")).to_be_enabled()
    shoot(manager, "campaign-4-release")
    hand.click(page.get_by_role("button", name="Release 20 traces"))
    expect(page.get_by_text("“Week 1” was released: 20 traces can be taken now.")).to_be_visible()
    with acting_in(tenants.acme):
        released = TraceQuota.objects.filter(project=crowd.project, is_released=True)
        taken = [released.filter(trace__agent_model=model).count() for model in MODELS]
        assert sorted(taken) == [6, 7, 7]

    # Three annotators by one link.
    open_tab("People")
    hand.press("i")
    hand.click(page.get_by_role("link", name="One link for many"))
    hand.fill(page.get_by_label("Places"), "3")
    hand.fill(page.get_by_label("Annotator names begin with"), "student_")
    hand.click(page.get_by_role("button", name="Make the link"))
    link = page.get_by_label("Link", exact=True).input_value()
    shoot(manager, "campaign-5-link")
    joined(chromium, manager, link)

    # They work: two judge the same trace, one of them badly, and hold another one each.
    good = crowd.judge(address(1), "request_changes", "The limit is never checked.")
    while (bad := crowd.judge(address(2), "approve", "Fine by me, I think.")).assignment.trace_id != (
        good.assignment.trace_id
    ):
        pass
    first_held, second_held = crowd.claim(address(1)), crowd.claim(address(2))

    # The third one works on some days before, so that there is a pace.
    for days in (9, 8, 7, 4, 3, 2):
        with time_machine.travel(timezone.now() - timedelta(days=days)):
            crowd.judge(address(3), "approve", "The constant is what was asked for.")

    # A pause, and on again.
    open_tab("Batches")
    hand.click(page.get_by_role("button", name="Pause Week 1"))
    expect(page.get_by_text("“Week 1” is paused.")).to_be_visible()
    shoot(manager, "campaign-6-paused")
    hand.click(page.get_by_role("button", name="Let Week 1 go on"))

    # A held task is given to somebody else.
    open_tab("People")
    hand.click(page.get_by_role("link", name="student_02"))
    reassign(hand, to="student_03")
    shoot(manager, "campaign-7-person")
    with acting_in(tenants.acme):
        second_held.refresh_from_db()
        assert second_held.state == AssignmentState.RELEASED
        assert Assignment.objects.get(trace=second_held.trace_id, user__email=address(3)).state == (
            AssignmentState.CLAIMED
        )

    # Somebody leaves with held work.
    open_tab("People")
    hand.click(page.get_by_role("link", name="student_01"))
    hand.click(page.get_by_role("button", name="Take off the project"))
    expect(page.get_by_text("student_01 no longer works on this project. 1 task went back")).to_be_visible()
    with acting_in(tenants.acme):
        first_held.refresh_from_db()
        assert first_held.state == AssignmentState.RELEASED

    # Two annotations are compared; the bad one is read, and noted.
    open_tab("Annotations")
    for submission in (good, bad):
        hand.click(page.locator(f"input[value='{submission.pk}']"))
    hand.click(page.get_by_role("button", name=re.compile("^Compare")))
    expect(page.get_by_role("complementary", name="Differences")).to_contain_text("Verdict")
    manager.assert_clean("compared")
    shoot(manager, "campaign-8-compared")
    open_annotation(hand, bad)
    hand.click(page.get_by_role("link", name="Note", exact=True))
    hand.fill(page.get_by_label("A note"), "Approved without a look at the limit.")
    hand.click(page.get_by_role("button", name="Keep the note"))
    expect(page.get_by_role("link", name="1 note")).to_be_visible()
    manager.assert_clean("noted")
    shoot(manager, "campaign-9-noted")
    with acting_in(tenants.acme):
        assert Note.objects.get().submission_id == bad.pk

    # What is to come, and what there is.
    hand.click(page.get_by_role("navigation", name="Breadcrumb").get_by_role("link", name="Parser campaign"))
    expect(page.get_by_text("in 8 of 10 cases").first).to_be_visible()
    expect(page.get_by_text("Too early to say")).to_have_count(0)
    shoot(manager, "campaign-10-overview")
    open_tab("Exports")
    hand.click(page.get_by_role("link", name="New export").first)
    hand.click(page.get_by_role("button", name="Export", exact=True))
    expect(page.get_by_role("link", name="Download")).to_be_visible(timeout=60_000)
    shoot(manager, "campaign-11-exports")
    with page.expect_download() as downloading:
        hand.click(page.get_by_role("link", name="Download"))
    file = tmp_path / "archive.zip"
    downloading.value.save_as(file)
    with ZipFile(file) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert everything.count(b"Fine by me, I think.") >= 1
    assert b"Approved without a look" not in everything
    with acting_in(tenants.acme):
        assert Submission.objects.filter(project=crowd.project).count() >= 2
    assert hand.interactions <= INTERACTIONS, hand.interactions


def reassign(hand: Hand, *, to: str) -> None:
    """Give the only task that the person of the page holds to somebody else."""
    page = hand.reader.page
    hand.click(page.get_by_role("button", name="Reassign", exact=True))
    dialog = page.get_by_role("dialog", name="Who goes on with this task?")
    hand.choose(dialog.get_by_label("To"), to)
    hand.click(dialog.get_by_role("button", name="Reassign"))
    expect(page.get_by_text("Nothing is held")).to_be_visible()


def open_annotation(hand: Hand, submission: Submission) -> None:
    """From a comparison, with the keyboard or a click."""
    hand.click(hand.reader.page.locator(f"a[href*='/annotations/{submission.pk}/']").first)
