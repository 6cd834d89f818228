"""The first submission of an assignment stands with it: by these the annotations of a person have an order."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.db import connection

from assignments.actions.deciding import return_to_annotator
from assignments.actions.submitting import withdraw
from assignments.models import Assignment, Submission
from assignments.review_notes import ReviewNote
from assignments.review_queue import in_turn, queue_rows, reasons, review_rules, to_review
from tests.assignments.conftest import Queue, submit
from tests.assignments.test_review_pages import publish_review

migration = import_module("assignments.migrations.0025_first_submissions")


def test_a_person_s_first_annotations_stay_these_however_late_one_comes_again(queue: Queue) -> None:
    publish_review(queue, "{new_people: 2}")
    mallory = queue.tenants.mallory
    first, second, third = (submit(queue.claimed(queue.tenants.bob)) for _ in range(3))
    return_to_annotator(submission=first, user=mallory, notes=[ReviewNote("Again.")])
    again = submit(Assignment.objects.get(pk=first.assignment_id))
    assert set(to_review(queue.project, mallory)) == {again, second}
    assert in_turn(queue.project, mallory, 10) == [again.pk, second.pk]
    rules = review_rules(queue.project)
    rows = queue_rows(Submission.objects.all(), [again.pk, second.pk, third.pk], rules)
    said = [[why.words for why in reasons(row, rules)] for row in rows]
    assert said[0] == ["Submitted again", "Number 1 of this person"]
    assert said[1] == ["Number 2 of this person"]
    assert "Number" not in said[2][0]


def test_what_was_taken_back_and_submitted_anew_keeps_its_place(queue: Queue) -> None:
    publish_review(queue, "{new_people: 1}")
    first = submit(queue.claimed(queue.tenants.bob))
    withdraw(submission=first)
    anew = submit(Assignment.objects.get(pk=first.assignment_id))
    submit(queue.claimed(queue.tenants.bob))
    assert Assignment.objects.get(pk=first.assignment_id).first_submission == first.pk
    assert list(to_review(queue.project, queue.tenants.mallory)) == [anew]


def test_those_from_before_it_was_kept_are_found(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "ROWS_AT_ONCE", 1)
    rows = [submit(queue.claimed(queue.tenants.bob)) for _ in range(2)]
    kept = Assignment.objects.filter(pk__in=[row.assignment_id for row in rows]).order_by("first_submission")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE potato_owner")
        cursor.execute("UPDATE assignments_assignment SET first_submission = NULL")
        migration.fill(None, SimpleNamespace(connection=connection))
        cursor.execute("SET LOCAL ROLE potato_app")
    assert list(kept.values_list("first_submission", flat=True)) == [row.pk for row in rows]
