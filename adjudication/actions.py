"""An adjudicator takes a trace, settles what its annotators disagree about, and may take that back for ten minutes.

The claim is an assignment of kind adjudication: nobody else is given the trace meanwhile, and what it makes is an
annotation like any other, checked as any other, which exports choose by its kind.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.actions.projects import demand_unarchived
from accounts.models import Project, User
from adjudication.compared import ComparedAnnotations, compare_annotations, unjudged_by_all
from adjudication.errors import BadSettlement, NothingToSettle, SettledElsewhere
from adjudication.models import Adjudication, Disagreement, Side
from adjudication.rules import adjudication_rules
from adjudication.settlements import Settled, Settlement, final_words, settled, sides, title_of
from assignments.actions.deciding import Locked, decide
from assignments.actions.locks import lock_assignment, lock_queue_position, lock_quota
from assignments.actions.submitting import store_submission
from assignments.actions.working import refusal, save_draft
from assignments.errors import OwnWork, TooLateToUndo
from assignments.models import Assignment, AssignmentState, Decision, Draft, Kind, Outcome, Submission, Withdrawal
from potato.records.annotations import results
from potato.schemes.unjudged import KEY as CANNOT_JUDGE
from potato.statistics.agreement.settling import Item, join
from tenancy import audit
from traces.evidence.judged_files import read_evidence
from traces.models import Trace
from traces.models.bodies import pack

UNDO_ADJUDICATION = timedelta(minutes=10)
_LETTERS = "ABCDEFGHI"


def take(*, project: Project, trace: Trace, user: User) -> Assignment:
    """Hold the trace for the adjudicator, with what was settled of it so far as the draft: nobody else is given it.

    Raises OwnWork for who annotated it or holds it as a task, SettledElsewhere while another adjudicator holds it,
    NothingToSettle where fewer than two annotations count and nothing contradicts the one, and ProjectArchived.
    """
    demand_unarchived(project)
    with transaction.atomic():
        claim = Assignment(project=project, trace=trace, user=user, kind=Kind.ADJUDICATION, fencing_token=0)
        lock_queue_position(project, user)
        # Two who take one trace at once wait for each other here.
        lock_quota(claim)
        here = Assignment.objects.filter(organisation=project.organisation_id, trace=trace)
        own_task = here.filter(kind=Kind.NORMAL, user=user)
        if own_task.filter(state=AssignmentState.SUBMITTED).exists():
            raise OwnWork("You annotated this trace yourself. Somebody else settles it.")
        if own_task.open().exists():
            raise OwnWork("You hold this trace as a task of your own. Submit it, and somebody else settles it.")
        if here.open().filter(kind=Kind.ADJUDICATION).exclude(user=user).exists():
            raise SettledElsewhere("Somebody else settles this trace now. Take another one.")
        compared = compare_annotations(trace)
        conflicts = Disagreement.objects.for_project(project).filter(trace=trace, has_conflict=True)
        if compared is None or (len(compared.submissions) < 2 and not conflicts.exists()):
            raise NothingToSettle("Fewer than two annotations of this trace count, so there is nothing to settle.")
        own = here.filter(kind=Kind.ADJUDICATION, user=user)
        row = own.select_for_update(no_key=True, of=("self",)).first() or claim
        now = timezone.now()
        begins = not row.is_open or not row.fencing_token
        if begins:
            row.version_id = compared.version
            row.state, row.since, row.claimed_at = AssignmentState.CLAIMED, now, now
            row.skip_reason, row.not_before = "", None
            row.fencing_token += 1
        row.lease_until = row.lease_end(now)
        row.save()
        # What came meanwhile changes nothing of what is being settled; the page says that it came.
        if begins:
            _open_draft(row, compared)
    return row


def held_by(project: Project, user: User) -> Assignment | None:
    """What the adjudicator settles now."""
    own = Assignment.objects.for_project(project).of(user).open().filter(kind=Kind.ADJUDICATION)
    return own.select_related("trace", "project", "user").order_by("-since").first()


def give_back(*, assignment: Assignment, fencing_token: int) -> Assignment:
    """Let others have the trace; what was settled so far is kept, and it comes to this adjudicator after all others.

    Raises TakenOver, LeaseEnded or NotOpen.
    """
    with transaction.atomic():
        lock_queue_position(assignment.project, assignment.user)
        row = lock_assignment(assignment)
        if row.fencing_token != fencing_token or not row.is_open:
            raise refusal(row, fencing_token)
        row.state, row.since, row.lease_until = AssignmentState.RELEASED, timezone.now(), None
        row.save(update_fields=["state", "since", "lease_until"])
    return row


@dataclass(frozen=True)
class OpenAdjudication:
    """What an adjudicator has before them: the annotations that counted when the trace was taken, as far as they still
    do, each under its letter; what was settled so far; and whether names are hidden."""

    assignment: Assignment
    compared: ComparedAnnotations
    letters: Mapping[str, Any]
    hides_names: bool
    stored: Sequence[Mapping[str, Any]]
    revision: int
    newer: int
    """So many annotations came since."""

    def settlements(self, rows: Sequence[Mapping[str, Any]] | None = None) -> list[Settlement]:
        """What was settled, with submissions in place of letters. Raises BadSettlement for a letter of nobody."""
        return [self._settlement(row) for row in (self.stored if rows is None else rows)]

    def letter_of_first(self, item: Item) -> str:
        """The letter of the first annotation that answers the question."""
        submissions = zip(self.compared.submissions, item.parts, strict=True)
        first = next(row.pk for row, part in submissions if part is not None)
        return next(letter for letter, row in self.letters.items() if row.pk == first)

    def _settlement(self, row: Mapping[str, Any]) -> Settlement:
        unknown = [letter for letter in row.get("taken_from", ()) if letter not in self.letters]
        if unknown:
            raise BadSettlement(f"There is no annotation {unknown[0]!r} of this trace.")
        return Settlement(
            row["scheme"],
            row["key"],
            row["how"],
            tuple(self.letters[letter].pk for letter in row.get("taken_from", ())),
            row.get("fields"),
            row.get("note") or "",
        )


def open_adjudication(assignment: Assignment) -> OpenAdjudication:
    """Raises NothingToSettle where none of the annotations counts any more."""
    draft = assignment.draft()
    content = draft.content if draft is not None and isinstance(draft.content, dict) else {}
    order = [UUID(pk) for pk in content.get("annotations", ())]
    compared = compare_annotations(assignment.trace, order)
    if compared is None:
        raise NothingToSettle("The annotations of this trace were returned or voided meanwhile. Take another one.")
    rows = {row.pk: row for row in compared.submissions}
    letters = {_LETTERS[at]: rows[pk] for at, pk in enumerate(order) if pk in rows}
    newer = Submission.objects.counted().filter(
        organisation=assignment.organisation_id, assignment__trace=assignment.trace_id, assignment__kind=Kind.NORMAL
    )
    return OpenAdjudication(
        assignment,
        compared,
        letters,
        bool(content.get("hides_names", True)),
        content.get("settled", []),
        draft.revision if draft is not None else 0,
        newer.exclude(pk__in=order).count(),
    )


def save_settled(
    *, assignment: Assignment, fencing_token: int, revision: int, settlements: Sequence[Mapping[str, Any]]
) -> Draft:
    """Keep what was settled so far, if nobody saved it since `revision`; the trace stays held.

    Raises DraftConflict with what is stored, TakenOver or NotOpen.
    """
    draft = assignment.draft()
    before = draft.content if draft is not None and isinstance(draft.content, dict) else {}
    content = {**before, "settled": list(settlements)}
    return save_draft(assignment=assignment, fencing_token=fencing_token, revision=revision, content=content)


def settle(
    *,
    assignment: Assignment,
    fencing_token: int,
    key: str,
    settlements: Sequence[Mapping[str, Any]],
    payload: Any,
    tells: bool = True,
) -> Adjudication:
    """Make the trace's authoritative annotation. The same `key` with the same `payload` answers with what is there.

    An earlier adjudication of the trace gives way. Raises SettledElsewhere where the time was over and another
    adjudicator has taken the trace since, QuestionsLeft, BadSettlement, Incomplete where the whole is no annotation of
    the project, NothingToSettle, and what store_submission() raises.
    """
    known = _made_before(assignment, key)
    if known is not None:
        # Answers KeyReused for another payload, and is otherwise what the lost answer said.
        store_submission(
            assignment=assignment, fencing_token=fencing_token, key=key, payload=payload, result=known.submission.result
        )
        return known
    opened = open_adjudication(assignment)
    compared = opened.compared
    done = settled(compared, {(row.scheme, row.key): row for row in opened.settlements(settlements)})
    values = {(row.item.scheme, row.item.key): row.value for row in done if row.value is not None}
    now = timezone.now()
    answers = join(values, compared.configuration, compared.keys)
    if (reason := unjudged_by_all(compared)) is not None:
        answers = {CANNOT_JUDGE: reason}
    result = results(answers, compared.configuration, read_evidence(assignment.trace), now)
    with transaction.atomic():
        _refuse_settled_elsewhere(assignment)
        submission = store_submission(
            assignment=assignment, fencing_token=fencing_token, key=key, payload=payload, result=result, at=now
        )
        known = _made_before(assignment, key)
        if known is not None:
            # The same request came twice at once.
            return known
        adjudication = Adjudication.objects.create(
            project=assignment.project,
            trace_id=assignment.trace_id,
            submission=submission,
            items=[_record(compared, row) for row in done],
            tells=tells,
            replaced=_replace_earlier(assignment),
            decided_by=assignment.user,
            decided_at=now,
        )
        Side.objects.bulk_create(_sides(compared, done, adjudication))
        audit.record(
            "trace.adjudicated",
            submission,
            project=assignment.project.slug,
            trace=str(assignment.trace_id),
            questions=sum(row.item.differs for row in done),
        )
    return adjudication


def undo_adjudication(*, adjudication: Adjudication, user: User) -> Assignment:
    """Take one's own adjudication back within UNDO_ADJUDICATION: what stood before it stands again. Who has taken the
    trace again meanwhile goes on with it.

    Raises TooLateToUndo, also where another one has replaced it. Twice is once.
    """
    if adjudication.decided_by_id != user.pk:
        raise TooLateToUndo("Only who settled the trace can take that back. Settle it anew instead.")
    with transaction.atomic():
        submission = adjudication.submission
        assignment = submission.assignment
        lock_queue_position(assignment.project, user)
        lock_quota(assignment)
        row = lock_assignment(assignment)
        if submission.withdrawals.exists():
            return row
        if timezone.now() - adjudication.decided_at > UNDO_ADJUDICATION:
            minutes = UNDO_ADJUDICATION.seconds // 60
            raise TooLateToUndo(f"An adjudication can be taken back for {minutes} minutes. Settle the trace anew.")
        if not Adjudication.objects.in_force().filter(pk=adjudication.pk).exists():
            raise TooLateToUndo("The trace was settled again since. Reload the page.")
        Withdrawal.objects.create(submission=submission, withdrawn_by=user)
        _bring_back_earlier(adjudication)
        earlier = Submission.objects.not_withdrawn().filter(organisation=row.organisation_id, assignment=row)
        if not row.is_open:
            row.state = AssignmentState.SUBMITTED if earlier.exists() else AssignmentState.RELEASED
            row.since = timezone.now()
            row.save(update_fields=["state", "since"])
        audit.record(
            "trace.adjudication-undone", submission, project=assignment.project.slug, trace=str(assignment.trace_id)
        )
    return row


def _open_draft(row: Assignment, compared: ComparedAnnotations) -> None:
    """What was settled before, as long as it is of the same annotations; else nothing is settled yet."""
    draft = row.draft()
    content = draft.content if draft is not None and isinstance(draft.content, dict) else {}
    if draft is not None and sorted(content.get("annotations", ())) == sorted(compared.ids):
        return
    hides = adjudication_rules(row.project).hide_names
    order = sorted(compared.ids, key=lambda pk: _shuffled(row, pk)) if hides else compared.ids
    packed = pack({"annotations": order, "hides_names": hides, "settled": []})
    if draft is None:
        Draft.objects.create(assignment=row, packed=packed)
    else:
        Draft.objects.filter(pk=draft.pk).update(packed=packed, revision=draft.revision + 1, saved_at=timezone.now())


def _shuffled(row: Assignment, submission: str) -> str:
    """An order that is the same for this adjudicator and trace, and tells nothing."""
    return hashlib.sha256(f"{row.user_id}/{row.trace_id}/{submission}".encode()).hexdigest()


def _refuse_settled_elsewhere(assignment: Assignment) -> None:
    """Raise SettledElsewhere where the adjudicator holds the trace no more and another one does, or has settled it
    since: that one is the newer opinion. From here on nobody else takes it before the transaction ends."""
    lock_queue_position(assignment.project, assignment.user)
    lock_quota(assignment)
    row = Assignment.objects.get(pk=assignment.pk)
    if row.is_open:
        return
    here = Assignment.objects.filter(organisation=row.organisation_id, trace=row.trace_id, kind=Kind.ADJUDICATION)
    if here.open().exclude(pk=row.pk).exists():
        raise SettledElsewhere(
            "Your time was over, and somebody else settles this trace now. What you settled is kept."
        )
    since = Adjudication.objects.in_force().filter(organisation=row.organisation_id, trace=row.trace_id)
    since = since.exclude(submission__assignment=row.pk)
    if row.claimed_at is not None and since.filter(decided_at__gt=row.claimed_at).exists():
        raise SettledElsewhere(
            "Your time was over, and somebody else has settled this trace since. Take it again to settle it anew."
        )


def _made_before(assignment: Assignment, key: str) -> Adjudication | None:
    rows = Adjudication.objects.filter(
        organisation=assignment.organisation_id, submission__assignment=assignment, submission__key=key
    )
    return rows.select_related("submission").first()


def _replace_earlier(assignment: Assignment) -> list[str]:
    """What other adjudicators made of the trace counts no more: the newest stands. One's own is replaced by number.
    Returns the decisions that say so."""
    rows = Submission.objects.counted().filter(
        organisation=assignment.organisation_id,
        assignment__trace=assignment.trace_id,
        assignment__kind=Kind.ADJUDICATION,
    )
    others = rows.exclude(assignment=assignment).select_related("assignment__project", "assignment__user", "project")
    reason = [{"text": "Another adjudicator settled the trace anew."}]
    return [str(_decided(row, assignment.user, Outcome.VOIDED, reason).pk) for row in others]


def _bring_back_earlier(adjudication: Adjudication) -> None:
    rows = Decision.objects.filter(organisation=adjudication.organisation_id, pk__in=adjudication.replaced)
    for decision in rows.select_related("submission__assignment__project", "submission__project"):
        if not decision.submission.decisions.filter(number__gt=decision.number).exists():
            _decided(decision.submission, adjudication.submission.assignment.user, Outcome.UNDECIDED, [])


def _decided(submission: Submission, user: User, outcome: Outcome, notes: list[dict[str, Any]]) -> Decision:
    last = submission.decisions.order_by("-number").first()
    locked = Locked(submission, submission.assignment, lock_quota(submission.assignment), last)
    return decide(locked, user, outcome, notes, takes_back=outcome == Outcome.UNDECIDED)


def _record(compared: ComparedAnnotations, row: Settled) -> dict[str, Any]:
    return {
        "scheme": row.item.scheme,
        "key": row.item.key,
        "title": title_of(row.item),
        "how": row.how,
        "words": final_words(compared, row),
        "differed": row.item.differs,
        "taken_from": [str(pk) for pk in row.taken_from],
        "sides": [str(pk) for pk in sides(compared, row)],
        **({"note": row.note} if row.note else {}),
    }


def _sides(compared: ComparedAnnotations, done: Sequence[Settled], adjudication: Adjudication) -> list[Side]:
    differed = [row for row in done if row.item.differs]
    agreeing = [set(sides(compared, row)) for row in differed]
    return [
        Side(
            adjudication=adjudication,
            submission=submission,
            parts=len(differed),
            same=sum(submission.pk in some for some in agreeing),
        )
        for submission in compared.submissions
    ]
