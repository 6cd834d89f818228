"""A manager's note about an annotation: read by those who see everybody's, and by nobody else."""

import json
from typing import Any

import pytest
from django.test import Client

from accounts.models import Membership
from assignments.models import Note, Submission
from assignments.models.notes import LONGEST_NOTE
from tenancy.roles import Role
from tests.assignments.conftest import Queue, submit
from tests.hostile import HOSTILE
from tests.pages import assert_harmless, text_of

LIST = "/o/acme/p/parser/annotations/"
API = "/o/acme/api/v1/submissions/"
WORDS = "Approves without a look at the tests."


@pytest.fixture
def submission(queue: Queue) -> Submission:
    return submit(queue.claimed(queue.tenants.bob))


def signed_in(queue: Queue, name: str) -> Client:
    client = Client()
    client.force_login(getattr(queue.tenants, name))
    return client


def post(client: Client, path: str, **body: Any) -> Any:
    return client.post(path, json.dumps(body), content_type="application/json")


def test_a_note_is_read_by_managers_and_not_by_the_annotator(queue: Queue, submission: Submission) -> None:
    manager, bob = signed_in(queue, "mallory"), signed_in(queue, "bob")
    answer = manager.post(f"{LIST}{submission.pk}/notes/", {"text": f" {WORDS}\n"})
    assert answer.status_code == 302
    assert answer["Location"].endswith(f"/{submission.pk}/#notes")
    for tab in ("files", "record"):
        page = manager.get(f"{LIST}{submission.pk}/{tab}/").content.decode()
        assert WORDS in page
        assert "<b>mallory</b>" in page
        assert "1 note</a>" in page
        own = bob.get(f"{LIST}{submission.pk}/{tab}/").content.decode()
        assert WORDS not in own
        assert "notes/" not in own
    record = manager.get(f"/o/acme/annotations/{submission.pk}/record.json").content.decode()
    assert WORDS not in record


def test_a_viewer_reads_notes_and_writes_none(queue: Queue, submission: Submission) -> None:
    manager = signed_in(queue, "mallory")
    manager.post(f"{LIST}{submission.pk}/notes/", {"text": WORDS})
    Membership.objects.filter(user=queue.tenants.dora).update(role=Role.VIEWER)
    viewer = signed_in(queue, "dora")
    page = viewer.get(f"{LIST}{submission.pk}/record/").content.decode()
    assert WORDS in page
    assert 'name="text"' not in page
    assert viewer.post(f"{LIST}{submission.pk}/notes/", {"text": "Mine"}).status_code == 403
    assert viewer.get(f"{API}{submission.pk}/notes/").status_code == 200
    assert post(viewer, f"{API}{submission.pk}/notes/", text="Mine").status_code == 403
    assert Note.objects.count() == 1


def test_a_note_that_is_not_kept_stays_in_the_form(queue: Queue, submission: Submission) -> None:
    manager = signed_in(queue, "mallory")
    long = "x" * (LONGEST_NOTE + 1)
    for text, sentence in (("  \n", "The note is empty."), (long, "The note has 4,001 characters")):
        answer = manager.post(f"{LIST}{submission.pk}/notes/", {"text": text})
        assert answer.status_code == 422
        assert sentence in answer.content.decode()
        assert text.strip() in answer.content.decode()
    assert not Note.objects.exists()


def test_the_list_is_narrowed_to_what_has_notes_but_not_for_the_annotator(queue: Queue, submission: Submission) -> None:
    other = submit(queue.claimed(queue.tenants.bob))
    manager, bob = signed_in(queue, "mallory"), signed_in(queue, "bob")
    manager.post(f"{LIST}{submission.pk}/notes/", {"text": WORDS})
    noted = manager.get(f"{LIST}?notes=with").content.decode()
    assert str(submission.pk) in noted
    assert str(other.pk) not in noted
    assert noted.count("Has notes.") == 1
    without = manager.get(f"{LIST}?notes=without").content.decode()
    assert str(submission.pk) not in without
    own = bob.get("/o/acme/annotations/?notes=with").content.decode()
    assert str(submission.pk) in own
    assert str(other.pk) in own
    assert "Has notes." not in own


def test_programs_read_and_write_notes(queue: Queue, submission: Submission) -> None:
    manager, bob = signed_in(queue, "mallory"), signed_in(queue, "bob")
    path = f"{API}{submission.pk}/notes/"
    written = post(manager, path, text=WORDS)
    assert written.status_code == 201
    assert written.json()["author"] == "mallory"
    assert manager.get(path).json() == {"next": None, "previous": None, "results": [written.json()]}
    refused = post(manager, path, text=" ")
    assert refused.status_code == 422
    assert refused.json()["code"] == "bad_note"
    assert bob.get(path).status_code == 403
    Membership.objects.filter(user=queue.tenants.dora).update(role=Role.MEMBER)
    assert signed_in(queue, "dora").get(path).status_code in (403, 404)


def test_a_note_is_hostile_text(queue: Queue, submission: Submission) -> None:
    manager = signed_in(queue, "mallory")
    for text in HOSTILE:
        assert post(manager, f"{API}{submission.pk}/notes/", text=text).status_code == 201
    assert_harmless(text_of(manager.get(f"{LIST}{submission.pk}/record/")), "the notes")
