"""What annotators read of others: nothing while they could change their own, and without names after that."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import User
from assignments.actions.deciding import accept, return_to_annotator, void
from assignments.errors import NotDecidable
from assignments.models import Submission, TraceQuota
from assignments.review_notes import ReviewNote
from potato.configuration import check_configuration
from tenancy.actor import acting_in
from tests.assignments.annotating import Annotating
from tests.assignments.conftest import annotators
from tests.assignments.reviews import api_of, documented, review_yaml, reviewed
from tests.tenants import Tenants
from traces.models import Trace

SHOWN = {"others_after_submit": True}
OTHER = {"decision": "approve", "summary": "Right, and tested well."}
NOTE = [ReviewNote("Which callers break?")]
UNDONE = timedelta(seconds=33)


class Story:
    """Two annotators of a trace, in a project whose annotators may read each other."""

    def __init__(self, tenants: Tenants, folder: Path, **blocks: Any) -> None:
        given = {"assignment": {"annotations_per_trace": 2}, "visibility": SHOWN, **blocks}
        self.tenants = tenants
        self.trace: Trace = reviewed(tenants.acme, tenants.acme_project, **given)
        self.work = Annotating(tenants, tenants.acme_project, folder)
        with acting_in(tenants.acme, tenants.alice):
            (self.other,) = annotators(1)

    def submits(self, user: User, **parts: Any) -> Submission:
        return self.work.submit_annotations(self.work.claim(user), {**documented(), **parts})

    def page(self, user: User) -> Any:
        client = Client()
        client.force_login(user)
        return client.get(f"/o/acme/p/parser/traces/{self.trace.pk}/compare/")

    def reads(self, user: User) -> bool:
        """Whether the person may read others, as the page and the API say alike."""
        path = f"projects/parser/traces/{self.trace.pk}/comparison/"
        by_page, by_api = self.page(user).status_code, api_of(user).get(path).status_code
        assert (by_page, by_api) in {(200, 200), (404, 404)}
        return bool(by_page == 200)


@pytest.fixture
def begin(tenants: Tenants, tmp_path: Path) -> Callable[..., Story]:
    return lambda **blocks: Story(tenants, tmp_path, **blocks)


def test_others_are_read_without_names_once_all_are_in_and_nothing_can_be_taken_back(
    begin: Callable[..., Story], tenants: Tenants
) -> None:
    story = begin()
    own = story.submits(tenants.bob)
    with time_machine.travel(timezone.now() + UNDONE):
        assert not story.reads(tenants.bob), "the trace wants one more"
        story.submits(story.other, verdict=OTHER)
        assert story.reads(tenants.bob)
        assert not story.reads(story.other), "hers can be taken back for half a minute"
        page = story.page(tenants.bob).content.decode()
        assert "Right, and tested well." in page
        assert "Annotator A" in page
        assert "person0" not in page
        told = api_of(tenants.bob).get(f"projects/parser/traces/{story.trace.pk}/comparison/").json()
        assert [(row["annotator"], row["submission"]) for row in told["people"]] == [("bob", str(own.pk)), (None, None)]
        client = Client()
        client.force_login(tenants.bob)
        assert f"/traces/{story.trace.pk}/compare/" in client.get(own_page(own)).content.decode()
    with time_machine.travel(timezone.now() + 2 * UNDONE):
        assert story.reads(story.other)


def own_page(own: Submission) -> str:
    return f"/o/acme/p/parser/annotations/{own.pk}/record/"


def test_whoever_did_not_annotate_it_reads_nothing_and_neither_does_anybody_where_the_project_is_silent(
    begin: Callable[..., Story], tenants: Tenants
) -> None:
    story = begin(visibility={})
    own = story.submits(tenants.bob)
    story.submits(tenants.mallory, verdict=OTHER)
    with time_machine.travel(timezone.now() + UNDONE):
        assert not story.reads(tenants.bob)
        assert not story.reads(story.other)
        assert story.reads(tenants.mallory), "managers read everything"
        client = Client()
        client.force_login(tenants.bob)
        assert "/compare/" not in client.get(own_page(own)).content.decode()


def test_what_may_have_been_read_is_not_returned_and_what_was_returned_reads_nothing(
    begin: Callable[..., Story], tenants: Tenants
) -> None:
    story = begin()
    own = story.submits(tenants.bob)
    story.submits(story.other)
    with acting_in(tenants.acme, tenants.mallory):
        return_to_annotator(submission=own, user=tenants.mallory, notes=NOTE)
    with time_machine.travel(timezone.now() + UNDONE):
        assert not story.reads(tenants.bob)
        assert not story.reads(story.other), "what was returned does not count, so the trace lacks one"
        with acting_in(tenants.acme, tenants.mallory):
            accept(submission=own, user=tenants.mallory)
    with time_machine.travel(timezone.now() + timedelta(minutes=5)):
        assert not story.reads(tenants.bob), "the reviewer may still take it back"
    with time_machine.travel(timezone.now() + timedelta(minutes=12)), acting_in(tenants.acme, tenants.mallory):
        with pytest.raises(NotDecidable, match="may have read"):
            return_to_annotator(submission=own, user=tenants.mallory, notes=NOTE)
        void(submission=own, user=tenants.mallory, reason="Written by a program.")
    with time_machine.travel(timezone.now() + timedelta(minutes=13)):
        assert not story.reads(tenants.bob), "a voided annotation opens nothing"


def test_where_annotations_are_reviewed_they_are_read_once_a_reviewer_let_ones_own_stand(
    begin: Callable[..., Story], tenants: Tenants
) -> None:
    story = begin(review={"share": 0.1})
    own = story.submits(tenants.bob)
    story.submits(story.other)
    with time_machine.travel(timezone.now() + timedelta(hours=1)):
        assert not story.reads(tenants.bob)
        with acting_in(tenants.acme, tenants.mallory):
            accept(submission=own, user=tenants.mallory)
    with time_machine.travel(timezone.now() + timedelta(hours=2)):
        assert story.reads(tenants.bob)
        assert not story.reads(story.other)


def test_of_a_trace_whose_answer_is_known_or_that_is_held_back_nothing_is_read(
    begin: Callable[..., Story], tenants: Tenants
) -> None:
    story = begin()
    story.submits(tenants.bob)
    story.submits(story.other)
    with time_machine.travel(timezone.now() + UNDONE):
        assert story.reads(tenants.bob)
        for withheld, is_read in (("known_answer", False), ("held_back", False), ("excluded", True)):
            with acting_in(tenants.acme, tenants.mallory):
                TraceQuota.objects.filter(trace=story.trace).update(withheld=withheld, is_released=False)
            assert story.reads(tenants.bob) is is_read


def test_a_configuration_that_would_tell_known_answers_or_spoil_repeats_is_refused() -> None:
    base = review_yaml(visibility=SHOWN, assignment={"order": "random"})
    assert check_configuration(base).configuration is not None
    for block, sentence in (("gold", "would tell which it is"), ("repeat", "judge the same trace again")):
        values = {"gold": '{"rate": 0.1}', "repeat": '{"share": 0.1}'}
        checked = check_configuration(base[:-1] + f', "{block}": {values[block]}}}')
        assert checked.configuration is None
        assert any(sentence in str(problem) for problem in checked.errors), checked
