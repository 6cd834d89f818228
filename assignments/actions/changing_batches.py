"""What is done to several batches at once: one transaction, one event of the audit trail, and one undo for all of them.

A batch to which it cannot be done stays as it is, and the answer says which and why. Where it can be done to none, that
is refused.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import date
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.models import Project
from assignments.actions.editing_batches import BATCHES_CHANGED, BatchDecisions, decisions, edit_batch
from assignments.actions.locks import lock_batches
from assignments.actions.outcomes import Outcome, keep_act
from assignments.actions.quotas import newest_rules
from assignments.actions.releasing import release_draft, withdraw_batch
from assignments.actions.steering import pause_batch, resume_batch
from assignments.models import Batch, SteeringAct
from potato.wording import listed
from tenancy import audit
from tenancy.errors import Refused

Change = Callable[[Batch], SteeringAct | None]
_NAMED = 5
_REDUNDANCY = "batches.redundancy"


def pause_batches(*, batches: Sequence[Batch]) -> Outcome:
    return _done_to_each(batches, "batches.paused", "paused", _without_undo(pause_batch))


def resume_batches(*, batches: Sequence[Batch]) -> Outcome:
    return _done_to_each(batches, "batches.resumed", "going on", _without_undo(resume_batch))


def release_drafts(*, batches: Sequence[Batch]) -> Outcome:
    return _done_to_each(batches, "batches.released", "released", _without_undo(release_draft))


def withdraw_batches(*, batches: Sequence[Batch]) -> Outcome:
    return _done_to_each(batches, "batches.withdrawn", "withdrawn", lambda batch: withdraw_batch(batch=batch))


def prioritise_batches(*, batches: Sequence[Batch], priority: int) -> Outcome:
    return _edited(batches, "batches.priority", "given another priority", lambda now: replace(now, priority=priority))


def move_deadlines(*, batches: Sequence[Batch], deadline: date | None) -> Outcome:
    words = f"due on {deadline:%-d %B %Y}" if deadline else "without a deadline"
    return _edited(batches, "batches.deadline", words, lambda now: replace(now, deadline=deadline))


def request_one_more_annotation(*, project: Project, batches: Sequence[Batch]) -> Outcome:
    """Of each trace of these batches; one that has as many as the project says gets one more than that."""
    rules = newest_rules(project)
    usual = rules[0].annotations_per_trace if rules else 1
    words = "asked for one more annotation of each trace"
    return _edited(batches, _REDUNDANCY, words, lambda now: replace(now, redundancy=(now.redundancy or usual) + 1))


def add_people(*, batches: Sequence[Batch], people: Collection[UUID]) -> Outcome:
    """Name them beside those who may take tasks of the batches; with nobody named, these are for everybody."""
    words = "open to those who are named too" if people else "for everybody of the project"
    return _edited(
        batches,
        "batches.people",
        words,
        lambda now: replace(now, people=tuple({*now.people, *people} if people else ())),
    )


def _edited(
    batches: Sequence[Batch], verb: str, words: str, wanted: Callable[[BatchDecisions], BatchDecisions]
) -> Outcome:
    def edit(batch: Batch) -> SteeringAct:
        act = edit_batch(batch=batch, wanted=wanted(decisions(batch)))
        if act is None:
            raise Refused(f"“{batch.name}” is so already.")
        return act

    return _done_to_each(batches, verb, words, edit)


def _done_to_each(batches: Sequence[Batch], verb: str, words: str, change: Change) -> Outcome:
    """One batch has the event, the act and the sentence that it has when it is changed by itself."""
    changed, acts, refusals = [], [], []
    project = batches[0].project
    event: AbstractContextManager[dict[str, Any]] = (
        audit.one_event(verb, project) if len(batches) > 1 else nullcontext({})
    )
    with transaction.atomic(), event as detail:
        if verb == _REDUNDANCY:
            lock_batches(project, (batch.pk for batch in batches))
        for batch in batches:
            try:
                with transaction.atomic():
                    act = change(batch)
            except Refused as refused:
                refusals.append(refused.sentence)
                continue
            changed.append(batch)
            if act is not None:
                acts.append(act)
        if not changed:
            raise Refused(" ".join(dict.fromkeys(refusals)))
        detail["batches"] = [batch.name for batch in changed]
        if len(acts) == 1 and len(changed) == 1:
            return Outcome(1, " ".join([acts[0].sentence, *refusals]), acts[0])
        many = "is" if len(changed) == 1 else "are"
        sentence = f"{_names(changed)} {many} {words}."
        if not acts:
            return Outcome(len(changed), " ".join([sentence, *refusals]))
        act = keep_act(project, BATCHES_CHANGED, sentence, [str(each.pk) for each in acts])
        return Outcome(len(changed), " ".join([sentence, *refusals]), act)


def _names(batches: Sequence[Batch]) -> str:
    names = [f"“{batch.name}”" for batch in batches[:_NAMED]]
    more = len(batches) - len(names)
    return listed([*names, f"{more} more"] if more else names, "and")


def _without_undo(action: Callable[..., Batch]) -> Change:
    """Pausing and going on undo each other, and a draft that was released is withdrawn."""

    def change(batch: Batch) -> None:
        action(batch=batch)

    return change
