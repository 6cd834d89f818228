"""While a trace is being judged: signs of life, drafts, and giving it back undone."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from assignments.actions.locks import lock_assignment, lock_queue_position, lock_quota, one_transaction
from assignments.activity import LONGEST_GAP, with_sign_of_work
from assignments.drafts import answerable_content
from assignments.errors import DraftConflict, LeaseEnded, MalformedDraft, NotOpen, ReasonNeeded, TakenOver
from assignments.models import OPEN, Assignment, AssignmentState, Draft, Submission
from assignments.models.claims import OVER
from jobs import outbox
from jobs.row_text import storable
from potato.records.annotations import malformed
from tenancy import audit
from tenancy.errors import KeyReused, Refused
from tenancy.prepared import insert, prepared_update
from traces.models.bodies import pack


def heartbeat(*, assignment: Assignment, fencing_token: int) -> Assignment:
    """Keep the trace for its annotator for another lease.

    Raises LeaseEnded after the sweep has taken it back, TakenOver where another page goes on, NotOpen where it is over.
    """
    now = timezone.now()
    until = assignment.lease_end(now)
    # One conditional UPDATE and no lock: every page sends heartbeats, and none should wait for somebody's claim.
    if not _kept.run(assignment.pk, fencing_token, until, now, now - LONGEST_GAP):
        assignment.refresh_from_db(fields=["state", "fencing_token", "lease_until"])
        raise refusal(assignment, fencing_token)
    assignment.state, assignment.fencing_token, assignment.lease_until = OPEN, fencing_token, until
    return assignment


@prepared_update
def _kept(
    assignment: UUID, fencing_token: int, until: datetime, now: datetime, since: datetime
) -> "tuple[QuerySet[Assignment], dict[str, Any]]":
    own = Assignment.objects.filter(pk=assignment, state=OPEN, fencing_token=fencing_token)
    return own, {"lease_until": until, **with_sign_of_work(now, since)}


def save_draft(*, assignment: Assignment, fencing_token: int, revision: int, content: Any) -> Draft:
    """Keep what the annotator has typed, if nobody saved it since `revision` (0 where nothing was saved yet).

    A sign of work like a heartbeat. After the lease ended drafts are still kept. Raises MalformedDraft for `answers`
    in it that no annotation could have, DraftConflict with what is stored, TakenOver where another page goes on,
    NotOpen where the assignment is over.
    """
    answers = content.get("answers") if isinstance(content, dict) else None
    if answers is not None and (gaps := malformed(answers, assignment.configuration())):
        raise MalformedDraft(gaps)
    with one_transaction():
        # What somebody has typed is kept also when the trace is no longer theirs: they may submit it late.
        with suppress(LeaseEnded):
            heartbeat(assignment=assignment, fencing_token=fencing_token)
        now, packed = timezone.now(), pack(content)
        first = Draft(assignment=assignment, packed=packed, saved_at=now)
        if not revision and insert(first, ignore_conflicts=True):
            return first
        is_saved = bool(revision and _saved.run(assignment.organisation_id, assignment.pk, revision, packed, now))
        stored = assignment.draft()
        if stored is None or not is_saved:
            there = answerable_content(stored, assignment) if stored else None
            raise DraftConflict(revision=stored.revision if stored else 0, content=there)
    return stored


@prepared_update
def _saved(
    organisation: UUID | None, assignment: UUID, revision: int, packed: bytes, now: datetime
) -> "tuple[QuerySet[Draft], dict[str, Any]]":
    drafts = Draft.objects.filter(organisation=organisation, assignment=assignment, revision=revision)
    return drafts, {"revision": F("revision") + 1, "packed": packed, "saved_at": now}


def skip(*, assignment: Assignment, fencing_token: int, reason: str) -> Assignment:
    """Give the trace up for good: it goes to others, and never comes back to this person. Its draft is kept.

    Raises ReasonNeeded without a reason, TakenOver where another page goes on, NotOpen where it is over.
    """
    reason = storable(reason.strip(), 500)
    if not reason:
        raise ReasonNeeded("Say in a few words why you skip this trace; the project's manager reads it.")
    with transaction.atomic():
        row = _give_back(assignment, fencing_token, AssignmentState.SKIPPED, reason)
        audit.record("assignment.skipped", row, trace=str(row.trace_id), reason=reason)
        outbox.publish("assignment.skipped", assignment=str(row.pk), project=str(row.project_id))
    return row


def release(*, assignment: Assignment, fencing_token: int) -> Assignment:
    """Put the trace back into the queue; it may come back to this person later, with its draft.

    Raises LeaseEnded, TakenOver or NotOpen where it is not this page's to give back.
    """
    with transaction.atomic():
        return _give_back(assignment, fencing_token, AssignmentState.RELEASED)


PUT_OFF_MOST = timedelta(days=14)


def put_off(*, assignment: Assignment, fencing_token: int, until: datetime) -> Assignment:
    """Put the trace back into the queue and get it again at that time, if a slot is free then; its draft is kept.

    Until then it does not come to this person. Raises Refused for a time that has passed or is too far away, and
    LeaseEnded, TakenOver or NotOpen where it is not this page's to put off.
    """
    if not timezone.now() < until <= timezone.now() + PUT_OFF_MOST:
        raise Refused(f"A task can be put off for {PUT_OFF_MOST.days} days at most, and to a time to come.")
    with transaction.atomic():
        row = _give_back(assignment, fencing_token, AssignmentState.RELEASED)
        row.not_before = until
        row.save(update_fields=["not_before"])
    return row


def refusal(assignment: Assignment, fencing_token: int) -> Refused:
    """Why the page with that fencing token cannot write to the assignment."""
    if assignment.state in (*OVER, AssignmentState.RELEASED):
        return NotOpen(f"This trace was {assignment.get_state_display().lower()} already. Go on with the next one.")
    if assignment.fencing_token != fencing_token:
        return TakenOver(
            "You went on with this trace in another tab or on another machine. Work there, or take it over here."
        )
    return LeaseEnded("Your time for this trace ended. Your draft is kept: claim the trace again, or submit it late.")


def stored_under(key: str, digest: str, submissions: Iterable[Submission]) -> Submission | None:
    """The one of these submissions that came under the key, None where none did. Raises KeyReused where another content
    than that with the digest did."""
    known = next((submission for submission in submissions if submission.key == key), None)
    if known is not None and known.request_sha256 != digest:
        raise KeyReused(
            "This Idempotency-Key came before with another content. Send a new key with each new annotation."
        )
    return known


def _give_back(assignment: Assignment, fencing_token: int, state: AssignmentState, reason: str = "") -> Assignment:
    lock_queue_position(assignment.project, assignment.user)
    quota = lock_quota(assignment)
    row = lock_assignment(assignment)
    late = row.state == AssignmentState.EXPIRED and state == AssignmentState.SKIPPED
    if row.fencing_token != fencing_token or not (row.is_open or late):
        raise refusal(row, fencing_token)
    if row.is_open and row.takes_slot:
        quota.move(active=-1)
    row.state, row.since, row.lease_until, row.skip_reason = state, timezone.now(), None, reason
    row.save(update_fields=["state", "since", "lease_until", "skip_reason"])
    return row
