"""Two annotators disagree, somebody settles it, and exports carry what was settled."""

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import AuditEvent
from adjudication.models import Adjudication, Side
from agreement.models import TraceAgreement
from assignments.actions.claiming import NothingToDo, Reason, claim_next
from assignments.actions.deciding import return_to_annotator, undo_decision, void
from assignments.actions.expiring import expire_leases
from assignments.errors import NotDecidable, TooLateToUndo
from assignments.models import Assignment, Submission, TraceQuota
from assignments.review_notes import ReviewNote
from dashboard.actions import take_everything_in
from dashboard.models import CountedAnnotation
from tenancy.actor import Actor, acting
from tests.adjudication.conftest import Disagreeing, choice
from tests.tenants import Tenants

MERGED = {"comment": "Both.", "category": "bug"}


def letter_of(taken: dict[str, Any], decision: str) -> str:
    """The letter of whose verdict it is."""
    verdict = next(row for row in taken["questions"] if row["title"] == "Verdict")
    return next(str(row["annotation"]) for row in verdict["answers"] if row["value"]["decision"] == decision)


def whole(taken: dict[str, Any]) -> list[dict[str, Any]]:
    """Everything that is open on the trace whose verdicts differ: dora is right of the verdict, bob of the rest."""
    bob, dora = letter_of(taken, "approve"), letter_of(taken, "request_changes")
    return [
        choice(taken, "Comment on parser.py line 15", "merged", bob, dora, fields=MERGED),
        choice(taken, "Comment on parser.py line 40", "dropped"),
        choice(taken, "Correctness of parser.py", "rewritten", fields={"rating": 3}),
        choice(taken, "Code Quality of parser.py", "kept", bob),
        choice(taken, "Verdict", "kept", dora, note="The guard is gone."),
        choice(taken, "Step 1", "kept", bob),
    ]  # fmt: skip


def test_what_decides_training_data_waits_first_and_what_all_say_alike_does_not(disagreeing: Disagreeing) -> None:
    queue = disagreeing.adjudicator().queue()
    assert [row["id"] for row in queue] == ["verdicts", "details"]
    assert [row["deciding"] for row in queue] == [1, 0]
    assert queue[0]["reasons"] == ["1 difference decides what training data are made of"]
    assert disagreeing.adjudicator().queue(reason="details")[0]["id"] == "details"


def test_a_settled_trace_makes_an_annotation_that_exports_choose_and_the_measure_says_with_whom(
    disagreeing: Disagreeing,
) -> None:
    alice = disagreeing.adjudicator()
    taken = alice.taken()
    assert taken["trace"] == "verdicts"
    made = alice.settle(taken, whole(taken))
    annotations = made["record"]["annotations"]
    assert annotations["verdict"]["decision"] == "request_changes"
    assert [row["comment"] for row in annotations["inline_comments"]] == ["Both."]
    assert annotations["file_ratings"] == {"src/parser.py": {"correctness": 3, "quality": 4}}
    assert annotations["process_reward"]["labels"] == [1.0, 1.0, -1.0]
    assert [row["id"] for row in alice.queue()] == ["details"]
    for format, suffix in (("code_review", ".jsonl"), ("prm", ".jsonl"), ("swebench", ".zip"), ("dpo", ".jsonl")):
        path = disagreeing.folder / f"{format}{suffix}"
        if format == "dpo":
            continue
        export(disagreeing, format, path)
    (record,) = [json.loads(line) for line in (disagreeing.folder / "code_review.jsonl").read_text().splitlines()]
    assert record["annotations"] == annotations
    (row,) = [json.loads(line) for line in (disagreeing.folder / "prm.jsonl").read_text().splitlines()]
    assert row["rewards"] == [1.0, 1.0, -1.0]
    measure = alice.api.get("projects/parser/adjudication/sides/").json()["results"]
    assert {row["annotator"]: (row["same"], row["parts"]) for row in measure} == {"bob": (3, 6), "dora": (2, 6)}


def export(disagreeing: Disagreeing, format: str, path: Path, resolve: str = "adjudicated") -> None:
    call_command("export", "--project", "acme/parser", "-f", format, "-o", str(path), "--resolve", resolve)


def test_who_adjudicates_has_no_vote_among_the_annotators(disagreeing: Disagreeing, tmp_path: Path) -> None:
    """Two say the opposite; the third, who has read both, makes no majority of it, in the site and offline."""
    alice = disagreeing.adjudicator()
    taken = alice.taken()
    before, after, archive = tmp_path / "before.json", tmp_path / "after.json", tmp_path / "archive"
    export(disagreeing, "code_review_verdicts", before, "majority")
    alice.settle(taken, whole(taken))
    export(disagreeing, "code_review_verdicts", after, "majority")
    assert json.loads(after.read_text()) == json.loads(before.read_text())
    call_command("export", "--project", "acme/parser", "-f", "archive", "-o", str(archive))
    offline = tmp_path / "offline.json"
    main = [sys.executable, "-m", "potato.export", "-i", str(archive), "-f", "code_review_verdicts", "-o", str(offline)]
    subprocess.run([*main, "--resolve", "majority"], check=True)
    assert json.loads(offline.read_text()) == json.loads(after.read_text())


def test_the_trail_and_the_row_say_of_whom_each_part_was_taken(disagreeing: Disagreeing) -> None:
    alice = disagreeing.adjudicator()
    taken = alice.taken()
    made = alice.settle(taken, whole(taken))
    by_title = {row["title"]: row for row in made["items"]}
    with acting(disagreeing.actor):
        dora = Submission.objects.get(
            assignment__user=disagreeing.tenants.dora, assignment__trace__external_id="verdicts"
        )
        assert by_title["Verdict"]["taken_from"] == by_title["Verdict"]["sides"] == [str(dora.pk)]
        assert by_title["Verdict"]["note"] == "The guard is gone."
        assert len(by_title["Comment on parser.py line 15"]["taken_from"]) == 2
        assert by_title["Step 0"]["how"] == "agreed"
        assert AuditEvent.objects.filter(verb="trace.adjudicated").count() == 1


def test_a_question_that_is_open_cannot_be_left_and_only_what_is_offered_is_taken(disagreeing: Disagreeing) -> None:
    alice = disagreeing.adjudicator()
    taken = alice.taken()
    answer = alice.submit(taken, whole(taken)[:-2])
    assert (answer.status_code, answer.json()["code"]) == (422, "questions_left")
    assert [row["title"] for row in answer.json()["left"]] == ["Verdict", "Step 1"]
    wrong = {
        "no annotation 'F'": choice(taken, "Verdict", "kept", "F"),
        "choose one of the values": choice(taken, "Verdict", "rewritten", fields={"decision": "perhaps"}),
        "cannot be written": choice(taken, "Verdict", "rewritten", fields={"file": "other.py"}),
        "has to be answered": choice(taken, "Verdict", "dropped"),
        "taken from an annotation": choice(taken, "Verdict", "kept"),
        "no consensus": choice(taken, "Verdict", "consensus"),
    }
    for words, bad in wrong.items():
        others = [row for row in whole(taken) if row["scheme"] != "verdict"]
        answer = alice.submit(taken, [*others, bad])
        assert answer.status_code == 422, answer.content
        assert words in answer.json()["detail"]


def test_the_same_request_again_is_answered_the_same(disagreeing: Disagreeing) -> None:
    alice = disagreeing.adjudicator()
    taken = alice.taken()
    first, again = (alice.submit(taken, whole(taken), "one-key") for _ in range(2))
    assert first.json() == again.json()
    assert alice.submit(taken, whole(taken)[:3], "one-key").json()["code"] == "idempotency_key_reused"
    with acting(disagreeing.actor):
        assert Adjudication.objects.count() == 1


def test_no_two_adjudicators_hold_one_trace_and_nobody_settles_their_own(disagreeing: Disagreeing) -> None:
    alice, mallory = disagreeing.adjudicator(), disagreeing.adjudicator(disagreeing.tenants.mallory)
    taken = alice.taken()
    other = mallory.taken()
    assert (taken["trace"], other["trace"]) == ("verdicts", "details")
    with acting(disagreeing.actor):
        trace = str(Assignment.objects.get(pk=taken["assignment"]).trace_id)
    assert mallory.take(trace).json()["code"] == "settled_elsewhere"
    assert disagreeing.adjudicator(disagreeing.tenants.bob).take(trace).status_code == 403
    alice.api.post(f"adjudication/{taken['assignment']}/later/", {"lease_token": taken["lease_token"]})
    assert mallory.taken(trace)["trace"] == "verdicts"


def test_what_was_settled_so_far_is_kept_and_a_second_page_does_not_overwrite_it(disagreeing: Disagreeing) -> None:
    alice = disagreeing.adjudicator()
    taken = alice.taken()
    body = {"lease_token": taken["lease_token"], "revision": taken["revision"], "settled": whole(taken)[:2]}
    path = f"adjudication/{taken['assignment']}/"
    saved = alice.api.put(path, body)
    assert saved.status_code == 200, saved.content
    assert [row["how"] for row in alice.taken()["settled"]] == ["merged", "dropped"]
    assert alice.api.put(path, body).json()["code"] == "draft_conflict"


def test_the_newest_adjudication_stands_and_taking_it_back_brings_the_one_before_back(
    disagreeing: Disagreeing, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, mallory = disagreeing.adjudicator(), disagreeing.adjudicator(disagreeing.tenants.mallory)
    taken = alice.taken()
    with acting(disagreeing.actor):
        trace = str(Assignment.objects.get(pk=taken["assignment"]).trace_id)
    first = alice.settle(taken, whole(taken))
    again = mallory.taken(trace)
    second = mallory.settle(again, whole(again))

    def standing() -> list[str]:
        return [row["id"] for row in alice.api.get("projects/parser/adjudications/").json()["results"]]

    assert standing() == [second["id"]]
    assert mallory.api.post(f"adjudications/{first['id']}/undo/").json()["code"] == "too_late_to_undo"
    assert mallory.api.post(f"adjudications/{second['id']}/undo/").json() == {"state": "released"}
    assert standing() == [first["id"]]
    third = alice.taken(trace)
    assert alice.settle(third, whole(third))["id"] == standing()[0]
    at = timezone.now() + timedelta(minutes=11)
    monkeypatch.setattr("django.utils.timezone.now", lambda: at)
    assert alice.api.post(f"adjudications/{standing()[0]}/undo/").json()["code"] == "too_late_to_undo"
    with acting(disagreeing.actor):
        assert Side.objects.count() == 6


def test_names_are_hidden_and_the_order_is_each_adjudicators_own(disagreeing: Disagreeing) -> None:
    alice = disagreeing.adjudicator()
    assert [row["annotator"] for row in alice.taken()["annotations"]] == [None, None]
    disagreeing.publish_adjudication(hide_names=False)
    mallory = disagreeing.adjudicator(disagreeing.tenants.mallory)
    assert [row["annotator"] for row in mallory.taken()["annotations"]] == ["bob", "dora"]


def test_a_settled_trace_has_no_more_annotations_and_no_slot_more_than_before(disagreeing: Disagreeing) -> None:
    alice = disagreeing.adjudicator()
    taken = alice.taken()
    with acting(disagreeing.actor):
        before = counts(disagreeing)
    alice.settle(taken, whole(taken))
    disagreeing.deliver()
    with acting(disagreeing.actor):
        assert counts(disagreeing) == before == ([2, 2, 2], 6, 2)


def counts(disagreeing: Disagreeing) -> tuple[list[int], int, int]:
    """What is done of each trace, how many annotations the overview counts, and the agreement's of the settled one."""
    take_everything_in(disagreeing.actor)
    done = TraceQuota.objects.for_project(disagreeing.project).values_list("done", flat=True)
    number = CountedAnnotation.objects.for_project(disagreeing.project).count()
    agreement = TraceAgreement.objects.get(trace__external_id="verdicts")
    return list(done), number, agreement.annotations


def test_a_trace_that_is_adjudicated_is_not_submitted_as_a_task(disagreeing: Disagreeing) -> None:
    alice = disagreeing.adjudicator()
    taken = alice.taken()
    body = {"lease_token": taken["lease_token"], "annotations": {"verdict": {"decision": "approve", "summary": ""}}}
    path = f"assignments/{taken['assignment']}/submit/"
    answer = alice.api.post(path, body, **{"Idempotency-Key": str(uuid4())})
    assert (answer.status_code, answer.json()["code"]) == (409, "not_open")
    assert "settle it on the page Adjudicate" in answer.json()["detail"]
    with acting(disagreeing.actor):
        assert not Submission.objects.filter(assignment__kind="adjudication").exists()


def test_one_adjudication_alone_is_in_force_whatever_is_taken_back(disagreeing: Disagreeing) -> None:
    """A reviewer voids one, another adjudicator settles the trace, and the reviewer wants the first one back."""
    alice, mallory = disagreeing.adjudicator(), disagreeing.adjudicator(disagreeing.tenants.mallory)
    taken = alice.taken()
    first = alice.settle(taken, whole(taken))
    with acting(disagreeing.actor):
        submission = Adjudication.objects.get(pk=first["id"]).submission
        trace = str(submission.assignment.trace_id)
        with pytest.raises(NotDecidable, match="An adjudicator settled this"):
            return_to_annotator(submission=submission, user=disagreeing.tenants.mallory, notes=[ReviewNote("Look")])
        voided = void(submission=submission, user=disagreeing.tenants.mallory, reason="The wrong file")
    again = mallory.taken(trace)
    second = mallory.settle(again, whole(again))
    with acting(disagreeing.actor):
        with pytest.raises(TooLateToUndo, match="settled anew since"):
            undo_decision(decision=voided, user=disagreeing.tenants.mallory)
        assert [str(row.pk) for row in Adjudication.objects.in_force()] == [second["id"]]
    # Who takes the trace once more, and then takes back what stands, goes on with it.
    held = mallory.taken(trace)
    assert mallory.api.post(f"adjudications/{second['id']}/undo/").json() == {"state": "claimed"}
    with acting(disagreeing.actor):
        assert not Adjudication.objects.in_force().exists()
    mallory.settle(held, whole(held))


def test_who_settles_a_trace_is_not_given_it_as_a_task(disagreeing: Disagreeing) -> None:
    """A manager who annotates as well: what they have read of others would be no second opinion."""
    mallory = disagreeing.adjudicator(disagreeing.tenants.mallory)
    taken = mallory.taken()
    mallory.settle(taken, whole(taken))
    with acting(disagreeing.actor):
        submission = Submission.objects.get(
            assignment__user=disagreeing.tenants.bob, assignment__trace__external_id="verdicts"
        )
        void(submission=submission, user=disagreeing.tenants.alice, reason="The slot is open again")
        assert TraceQuota.objects.get(trace=submission.assignment.trace_id).has_free
        given = claim_next(project=disagreeing.project, user=disagreeing.tenants.mallory)
        assert isinstance(given, NothingToDo)
        assert given.reason == Reason.YOURS_ARE_DONE
        assert isinstance(claim_next(project=disagreeing.project, user=disagreeing.tenants.alice), Assignment)


def test_what_nobody_can_judge_is_settled_as_that(committed_tenants: Tenants, tmp_path: Path) -> None:
    made = Disagreeing(committed_tenants, committed_tenants.acme_project, tmp_path)
    made.publish_adjudication(when="always")
    made.trace("unreadable")
    for person in (committed_tenants.bob, committed_tenants.dora):
        made.submit_annotations(made.claim(person), {"cannot_judge": f"{person.username}: the patch is cut off."})
    made.deliver()
    alice = made.adjudicator()
    taken = alice.taken()
    assert taken["questions"] == []
    assert alice.settle(taken, [])["record"]["annotations"] == {"cannot_judge": "bob: the patch is cut off."}


def test_who_let_the_time_run_out_does_not_overrule_who_settled_the_trace_meanwhile(disagreeing: Disagreeing) -> None:
    """A page that was left open over night is no newer opinion than what another adjudicator made since."""
    tenants = disagreeing.tenants
    alice, mallory = disagreeing.adjudicator(), disagreeing.adjudicator(tenants.mallory)
    late = alice.taken()
    with acting(disagreeing.actor):
        Assignment.objects.filter(pk=late["assignment"]).update(lease_until=timezone.now() - timedelta(minutes=1))
        expire_leases(Actor(tenants.acme.pk, (tenants.acme.pk,)))
    taken = mallory.taken()
    assert taken["trace"] == late["trace"]
    while_held = alice.submit(late, whole(late))
    assert (while_held.status_code, while_held.json()["code"]) == (409, "settled_elsewhere")
    mallory.settle(taken, whole(taken))
    refused = alice.submit(late, whole(late))
    assert (refused.status_code, refused.json()["code"]) == (409, "settled_elsewhere")
    with acting(disagreeing.actor):
        (standing,) = Adjudication.objects.in_force()
        assert standing.decided_by_id == tenants.mallory.pk
        trace = Assignment.objects.get(pk=late["assignment"]).trace_id
    # Whoever takes it again has seen that it is settled, and may settle it anew.
    again = alice.taken(str(trace))
    alice.settle(again, whole(again))
    with acting(disagreeing.actor):
        (standing,) = Adjudication.objects.in_force()
        assert standing.decided_by_id == tenants.alice.pk
