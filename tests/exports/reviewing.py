"""A reviewer who decides of annotations at random."""

import random
from uuid import uuid4

from assignments.actions.correcting import begin_correction, store_correction
from assignments.actions.deciding import accept, return_to_annotator, undo_decision, void
from assignments.actions.submitting import store_submission
from assignments.models import Assignment, Decision, Submission
from assignments.review_notes import ReviewNote
from tenancy.actor import acting_in
from tests.exports.conftest import Reviews


def review_at_random(reviews: Reviews, chance: random.Random) -> None:
    """Decide of one annotation that counts, or not, take a decision back, or submit what was returned again."""
    reviewer = reviews.tenants.mallory
    with acting_in(reviews.tenants.acme, reviewer):
        counted = list(Submission.objects.counted().order_by("pk"))
        if not counted:
            return
        submission = chance.choice(counted)
        act = chance.choice(["nothing", "nothing", "accept", "return", "void", "correct", "undo", "again"])
        if act == "accept":
            accept(submission=submission, user=reviewer)
        elif act == "return":
            return_to_annotator(submission=submission, user=reviewer, notes=[ReviewNote("Look again.")])
        elif act == "void":
            void(submission=submission, user=reviewer, reason="Not by a person.")
        elif act == "correct":
            work = begin_correction(submission=submission, user=reviewer)
            store_correction(
                assignment=work,
                fencing_token=work.fencing_token,
                key=str(uuid4()),
                payload=submission.result,
                result=submission.result,
            )
        elif act == "undo":
            decision = Decision.objects.in_force().exclude(takes_back=True).order_by("-pk").first()
            if decision is not None and not _is_behind(decision):
                undo_decision(decision=decision, user=reviewer)
    if act == "again":
        _submit_again(reviews)


def _is_behind(decision: Decision) -> bool:
    """Whether something came after it in its assignment."""
    newest = Submission.objects.filter(assignment=decision.submission.assignment_id).not_withdrawn().order_by("-number")
    return newest.values_list("pk", flat=True).first() not in (decision.submission_id, decision.correction_id)


def _submit_again(reviews: Reviews) -> None:
    with acting_in(reviews.tenants.acme):
        held = Assignment.objects.open().filter(returned_until__isnull=False).select_related("user", "project").first()
    if held is None:
        return
    with acting_in(reviews.tenants.acme, held.user):
        result = held.submissions.order_by("-number")[0].result
        store_submission(
            assignment=held, fencing_token=held.fencing_token, key=str(uuid4()), payload=result, result=result
        )
