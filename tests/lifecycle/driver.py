"""Threads that do to tasks what annotators, reviewers, adjudicators and managers do, each act one transaction, and
write down what was acknowledged."""

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock, local
from typing import Any
from uuid import UUID, uuid4

from django.db import connections
from django.utils import timezone

from accounts.models import Project, User
from adjudication.actions import open_adjudication, settle, take, undo_adjudication
from adjudication.models import Adjudication
from assignments.actions import expiring
from assignments.actions.answering import answer_note, returned_decision
from assignments.actions.claiming import NothingToDo, claim_next, resume
from assignments.actions.correcting import begin_correction
from assignments.actions.deciding import accept, return_to_annotator, undo_decision, void
from assignments.actions.steering import pause_person, resume_person
from assignments.actions.submitting import submit, withdraw
from assignments.actions.withholding import give_out_again, withhold
from assignments.actions.working import release, save_draft, skip
from assignments.models import Assignment, Decision, Kind, Submission, TraceQuota, Withheld
from assignments.models.claims import AssignmentQuerySet
from assignments.review_notes import ReviewNote
from gold.actions import expect, retire
from gold.models import ExpectedAnnotation
from tenancy.actor import Actor, acting
from tenancy.errors import Refused
from tests.lifecycle.model import Act
from traces.models import Trace

APPROVE = {"verdict": {"decision": "approve", "summary": ""}}
REFUSE = {"verdict": {"decision": "request_changes", "summary": "The bound is off by one."}}
UNJUDGED = {"cannot_judge": "Nothing runs here."}


class KilledError(Exception):
    """The process dies here, before its transaction is over."""


@dataclass
class Driver:
    """Everything that the threads share. `people` annotate; `reviewers` also review, settle and manage."""

    project: Project
    organisation: UUID
    people: list[User]
    reviewers: list[User]
    acts: list[Act] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock)
    left: int = 0

    def __post_init__(self) -> None:
        self._ticks = itertools.count()
        self._told = local()

    def play(self, seed: int) -> None:
        """Act until all steps of the round are done."""
        dice = random.Random(seed)  # noqa: S311 - a game
        try:
            while self._another():
                name = dice.choices(list(ACTS), [weight for weight, _ in ACTS.values()])[0]
                try:
                    outcome = ACTS[name][1](self, dice)
                except Refused as refused:
                    outcome = f"refused: {refused.code}"
                except KilledError:
                    outcome = "killed"
                with self.lock:
                    self.counts[f"{name} {outcome or 'nothing to do'}"] += 1
        finally:
            connections.close_all()

    def _another(self) -> bool:
        with self.lock:
            self.left -= 1
            return self.left >= 0

    @contextmanager
    def request(self, user: User, dice: random.Random) -> Iterator[None]:
        """One transaction of that person, which is killed now and then before its end. What told() was told in it is
        written down once it is over: in the order in which the locks were held."""
        self._told.acts = []
        try:
            with acting(Actor(self.organisation, (self.organisation,), user.pk)):
                yield
                for told in self._told.acts:
                    told["tick"] = next(self._ticks)
                if dice.random() < 0.03:
                    raise KilledError
        except BaseException:
            self._told.acts = []
            raise
        with self.lock:
            self.acts += [Act(**told) for told in self._told.acts]

    def told(self, name: str, **facts: Any) -> str:
        self._told.acts.append({"name": name, "facts": facts})
        return "done"

    def since_last(self) -> list[Act]:
        """What was acknowledged since it was asked last, in its order."""
        with self.lock:
            acts, self.acts = sorted(self.acts, key=lambda act: act.tick), []
        return acts

    def a_task(self, dice: random.Random, **having: Any) -> Assignment | None:
        """Any task of an annotator, as it is now; sometimes as a page that was left behind knows it."""
        rows = Assignment.objects.for_project(self.project).filter(kind__in=(Kind.NORMAL, Kind.GOLD), **having)
        row: Assignment | None = _any(dice, rows.select_related("project", "user", "trace"))
        if row is not None and dice.random() < 0.05:
            row.fencing_token -= 1
        return row

    def a_submission(self, dice: random.Random, *kinds: Kind) -> Submission | None:
        rows = Submission.objects.for_project(self.project).filter(assignment__kind__in=kinds)
        recent = rows.order_by("-pk")[: dice.choice((15, 200))]
        chosen = list(recent.select_related("project", "assignment__project", "assignment__user", "assignment__trace"))
        return dice.choice(chosen) if chosen else None


def _any(dice: random.Random, rows: Any) -> Any:
    keys = sorted(rows.values_list("pk", flat=True))
    return rows.filter(pk=dice.choice(keys)).first() if keys else None


def _claim(driver: Driver, dice: random.Random) -> str | None:
    person = dice.choice(driver.people)
    with driver.request(person, dice):
        given = claim_next(project=driver.project, user=person, another=dice.random() < 0.3)
        if isinstance(given, NothingToDo):
            return f"refused: {given.reason}"
        is_gold = given.kind == Kind.GOLD
        return driver.told(
            "claim", pk=given.pk, trace=given.trace_id, user=person.pk, is_gold=is_gold, token=given.fencing_token
        )


def _resume(driver: Driver, dice: random.Random) -> str | None:
    person = dice.choice(driver.people)
    with driver.request(person, dice):
        row = driver.a_task(dice, user=person)
        if row is None:
            return None
        again = resume(assignment=row)
        return driver.told("resume", pk=row.pk, token=again.fencing_token)


def _save(driver: Driver, dice: random.Random) -> str | None:
    person = dice.choice(driver.people)
    with driver.request(person, dice):
        row = driver.a_task(dice, user=person, state__in=("claimed", "expired"))
        if row is None:
            return None
        draft = row.draft()
        content = {"answers": dice.choice((APPROVE, REFUSE)), "at": dice.random()}
        before = draft.revision if draft is not None else 0
        saved = save_draft(assignment=row, fencing_token=row.fencing_token, revision=before, content=content)
        # What is typed after the time has ended is kept without a lock: somebody else may just take the task over.
        facts = {"token": row.fencing_token, "revision": saved.revision, "is_late": row.state != "claimed"}
        return driver.told("save", pk=row.pk, content=content, **facts)


def _submit(driver: Driver, dice: random.Random) -> str | None:
    person = dice.choice(driver.people)
    states = ("claimed",) if dice.random() < 0.8 else ("expired", "released", "submitted")
    with driver.request(person, dice):
        row = driver.a_task(dice, user=person, state__in=states)
        if row is None:
            return None
        known = Submission.objects.filter(assignment=row).order_by("-number").first()
        key, answers = uuid4().hex, dice.choice((APPROVE, APPROVE, REFUSE, REFUSE, REFUSE, UNJUDGED))
        if known is not None and dice.random() < 0.5 and not known.key.startswith("correction:"):
            # The answer was lost: the same request again.
            key, answers = known.key, known.result
        answer_notes(row)
        made = submit(assignment=row, fencing_token=row.fencing_token, key=key, annotations=answers)
        return driver.told(
            "submit",
            pk=row.pk,
            token=row.fencing_token,
            key=key,
            submission=made.pk,
            result=made.result,
            is_surplus=made.is_surplus,
        )


def answer_notes(row: Assignment) -> None:
    """Say of each note of who returned it that it was followed."""
    decision = returned_decision(row)
    if decision is not None and not decision.answers.exists():
        for number in range(len(decision.notes)):
            answer_note(assignment=row, user=row.user, note=number, is_kept=False)


def _give_up(name: str, act: Callable[..., Any], **more: Any) -> Callable[[Driver, random.Random], str | None]:
    def give_up(driver: Driver, dice: random.Random) -> str | None:
        person = dice.choice(driver.people)
        with driver.request(person, dice):
            row = driver.a_task(dice, user=person, state__in=("claimed", "expired"))
            if row is None:
                return None
            act(assignment=row, fencing_token=row.fencing_token, **more)
            return driver.told(name, pk=row.pk, token=row.fencing_token)

    return give_up


def _withdraw(driver: Driver, dice: random.Random) -> str | None:
    person = dice.choice(driver.people)
    with driver.request(person, dice):
        rows = Submission.objects.for_project(driver.project).filter(
            assignment__user=person, assignment__kind__in=(Kind.NORMAL, Kind.GOLD)
        )
        row = _any(dice, rows.select_related("assignment__project", "assignment__user"))
        if row is None:
            return None
        withdraw(submission=row)
        return driver.told("withdraw", submission=row.pk)


_expired = local()


def watch_the_sweep(monkeypatch: Any) -> None:
    """Remember what a sweep of this thread has expired: it only says how many."""
    before = AssignmentQuerySet.bulk_update

    def bulk_update(rows: Any, changed: Any, *args: Any, **more: Any) -> int:
        _expired.tasks = [row.pk for row in changed]
        return before(rows, changed, *args, **more)

    monkeypatch.setattr(AssignmentQuerySet, "bulk_update", bulk_update)


def _end(driver: Driver, dice: random.Random) -> str | None:
    """The time of somebody ends, and a sweep comes by."""
    with driver.request(driver.reviewers[0], dice):
        row = driver.a_task(dice, state="claimed")
        if row is not None:
            past = timezone.now() - timedelta(seconds=1)
            Assignment.objects.filter(pk=row.pk, state="claimed").update(lease_until=past)
    with driver.request(driver.reviewers[0], dice):
        _expired.tasks = []
        expiring._expire_batch()
        return driver.told("expire", tasks=_expired.tasks) if _expired.tasks else None


def _review(driver: Driver, dice: random.Random) -> str | None:
    reviewer = dice.choice(driver.reviewers)
    name = dice.choice(("accept", "give_back", "give_back", "void", "void"))
    kinds = (Kind.NORMAL, Kind.GOLD) if name == "give_back" or dice.random() < 0.85 else (Kind.ADJUDICATION,)
    with driver.request(reviewer, dice):
        row = driver.a_submission(dice, *kinds)
        if row is None:
            return None
        if name == "accept":
            accept(submission=row, user=reviewer)
            return driver.told(name, submission=row.pk) if Kind.ADJUDICATION not in kinds else "done"
        if name == "void":
            void(submission=row, user=reviewer, reason="Answers at random")
            return driver.told(name, submission=row.pk)
        return_to_annotator(submission=row, user=reviewer, notes=[ReviewNote("Look at it again.")])
        draft = row.assignment.draft()
        assert draft is not None
        return driver.told(name, submission=row.pk, revision=draft.revision)


def _undo(driver: Driver, dice: random.Random) -> str | None:
    reviewer = dice.choice(driver.reviewers)
    with driver.request(reviewer, dice):
        decisions = Decision.objects.for_project(driver.project).filter(decided_by=reviewer, takes_back=False)
        recent = decisions.filter(pk__in=decisions.order_by("-pk").values("pk")[:12])
        names = ("submission__project", "submission__assignment__project", "submission__assignment__user", "correction")
        row = _any(dice, recent.select_related(*names))
        if row is None:
            return None
        undo_decision(decision=row, user=reviewer)
        if row.submission.assignment.kind == Kind.ADJUDICATION and row.outcome == "accepted":
            return "done"
        return driver.told("undo", submission=row.submission_id)


def _correct(driver: Driver, dice: random.Random) -> str | None:
    reviewer = dice.choice(driver.reviewers)
    with driver.request(reviewer, dice):
        row = driver.a_submission(dice, Kind.NORMAL, Kind.GOLD)
        if row is None:
            return None
        opened = begin_correction(submission=row, user=reviewer)
    with driver.request(reviewer, dice):
        made = submit(assignment=opened, fencing_token=opened.fencing_token, key=uuid4().hex, annotations=REFUSE)
        return driver.told("correct", submission=row.pk, correction=made.pk, key=made.key, result=made.result)


def _adjudicate(driver: Driver, dice: random.Random) -> str | None:
    user = dice.choice(driver.reviewers)
    with driver.request(user, dice):
        done = TraceQuota.objects.for_project(driver.project).filter(done__gte=2).values("trace")
        trace = _any(dice, Trace.objects.filter(project=driver.project, pk__in=done).select_related("project"))
        if trace is None:
            return None
        row = take(project=driver.project, trace=trace, user=user)
    with driver.request(user, dice):
        opened = open_adjudication(row)
        settlements = [
            {"scheme": item.scheme, "key": item.key, "how": "kept", "taken_from": [opened.letter_of_first(item)]}
            for item in opened.compared.items
            if item.is_open
        ]
        made = settle(
            assignment=row,
            fencing_token=row.fencing_token,
            key=uuid4().hex,
            settlements=settlements,
            payload=settlements,
        )
        submission = made.submission
        return driver.told(
            "settle", trace=row.trace_id, submission=submission.pk, user=user.pk, result=submission.result
        )


def _unsettle(driver: Driver, dice: random.Random) -> str | None:
    user = dice.choice(driver.reviewers)
    with driver.request(user, dice):
        own = Adjudication.objects.for_project(driver.project).filter(decided_by=user)
        recent = own.filter(pk__in=own.order_by("-pk").values("pk")[:8])
        names = ("submission__project", "submission__assignment__project", "submission__assignment__user")
        row = _any(dice, recent.select_related(*names))
        if row is None or row.submission.withdrawals.exists():
            return None
        undo_adjudication(adjudication=row, user=user)
        return driver.told("unsettle", submission=row.submission_id)


def _pause(driver: Driver, dice: random.Random) -> str | None:
    # The first are paused now and then, so that the rest have always something to do.
    person, name = dice.choice(driver.people[:4]), dice.choice(("pause", "go_on", "go_on", "go_on"))
    with driver.request(driver.reviewers[0], dice):
        (pause_person if name == "pause" else resume_person)(project=driver.project, user=person)
        return driver.told(name, user=person.pk)


def _expect(driver: Driver, dice: random.Random) -> str | None:
    with driver.request(driver.reviewers[0], dice):
        live = ExpectedAnnotation.objects.for_project(driver.project).filter(retired_at__isnull=True)
        if live.count() < 8:
            trace = dice.choice(Trace.objects.filter(project=driver.project).order_by("pk").select_related("project"))
            made = expect(trace=trace, annotations=REFUSE)
            return driver.told("expect", trace=made.trace_id)
        row = _any(dice, live)
        if row is None:
            return None
        retire(expected=row)
        return driver.told("retire", trace=row.trace_id)


def _withhold(driver: Driver, dice: random.Random) -> str | None:
    with driver.request(driver.reviewers[0], dice):
        rows = TraceQuota.objects.for_project(driver.project)
        out = rows.filter(withheld__in=(Withheld.EXCLUDED, Withheld.RETIRED)).order_by("trace")
        traces = list(out.values_list("trace", flat=True))
        if len(traces) > 3:
            name, act = "give_out", give_out_again(project=driver.project, traces=traces)
        else:
            traces = sorted(dice.sample(sorted(rows.filter(withheld="").values_list("trace", flat=True)), 2))
            name, act = "withhold", withhold(project=driver.project, traces=traces, why=Withheld.EXCLUDED, reason="Bad")
        changed = rows.filter(pk__in=act.act.before if act.act is not None else ())
        return driver.told(name, traces=list(changed.values_list("trace", flat=True)))


ACTS: dict[str, tuple[float, Callable[[Driver, random.Random], str | None]]] = {
    "claim": (28, _claim),
    "resume": (4, _resume),
    "save": (10, _save),
    "submit": (24, _submit),
    "skip": (2, _give_up("skip", skip, reason="Not my field")),
    "release": (3, _give_up("release", release)),
    "withdraw": (4, _withdraw),
    "expire": (5, _end),
    "review": (9, _review),
    "undo": (5, _undo),
    "correct": (3, _correct),
    "adjudicate": (5, _adjudicate),
    "unsettle": (3, _unsettle),
    "pause": (3, _pause),
    "known answer": (2, _expect),
    "withhold": (2, _withhold),
}
