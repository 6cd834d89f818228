"""One annotation as its author saw it: the tabs, the strip that says whose it is, and what its scripts are told."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from statistics import mean
from typing import Any, cast

from django.http import HttpRequest
from django.urls import reverse

from accounts.models import User
from assignments.actions.deciding import WAITS, refuse_undecidable
from assignments.comparing import signed
from assignments.decisions import ShownDecision, ShownNote, current, shown_decisions, without_outcomes
from assignments.errors import NotDecidable
from assignments.hidden_outcomes import outcomes_are_hidden
from assignments.history import trace_title
from assignments.listing import STATES, SubmissionRow, as_listed, submission_rows, submission_state
from assignments.models import Assignment, Outcome, Submission, Withdrawal
from assignments.models.notes import LONGEST_NOTE
from assignments.notes import notes_of, written_notes
from assignments.others import others_are_readable
from assignments.readable import annotations_of_trace, annotations_to_compare
from assignments.reading.lists import Neighbours, list_in_address
from assignments.reading.parts import shown_parts
from assignments.review_notes import LONGEST_REVIEW_NOTE
from assignments.review_queue import MOST_COUNTED, Why, in_turn, queue_rows, reasons, review_rules, to_review
from assignments.submission_records import annotator_names, elapsed, initials
from assignments.summaries import ShownChoice
from assignments.task_page.page import shows_steps
from assignments.task_page.schemes import ShownScheme, judges_steps, shown_schemes
from assignments.task_page.shown_checks import checks_of_task
from assignments.wording import duration
from potato.api.shapes import File
from potato.configuration import ProjectConfiguration, UnreadablePinError
from potato.records.annotations import opinions, summaries, unjudged_reason
from potato.statistics.agreement.one_trace import sameness
from tenancy.actor import ActiveMembership
from tenancy.permissions import allowed
from tenancy.roles import Right
from tenancy.urls import global_reverse
from traces.evidence.checks import Checks, checks_of
from traces.evidence.judged_files import exact_paths
from traces.evidence.pages import listed_files
from traces.evidence.responses import display_settings
from traces.evidence.task_description import asked_for
from traces.models import Trace, TraceFile

FOLLOWING = 4
"""So many of the queue are named beside the annotation that is reviewed."""


@dataclass(frozen=True)
class Fact:
    """One thing that the strip says: a badge or words, and what goes with them."""

    title: str
    words: str = ""
    note: str = ""
    choice: ShownChoice | None = None
    hint: str = ""


@dataclass(frozen=True)
class Happening:
    """Something that happened to the annotation."""

    at: datetime
    icon: str
    words: str
    who: str = ""
    """Where it was not the annotator."""
    notes: tuple[ShownNote, ...] = ()
    until: datetime | None = None


@dataclass(frozen=True)
class Review:
    """An annotation in the queue of reviewers: why it is there, how many are left (`is_more`: at least so many), and
    the next of them."""

    why: list[Why]
    left: int
    is_more: bool
    following: list[SubmissionRow]
    others: int
    shows_others: bool


class ReadPage:
    """The page of a submission that the request's person may read.

    `configuration` is None where the pinned one does not load any more: then there is the record alone.
    """

    def __init__(self, request: HttpRequest, membership: ActiveMembership, user: User, submission: Any) -> None:
        self.request, self.membership, self.user, self.submission = request, membership, user, submission
        assignment: Assignment = submission.assignment
        self.assignment = assignment
        self.is_own = assignment.user_id == user.pk
        self.sees_all = allowed(request, Right.SEE_ANNOTATIONS, submission.project)
        self.why_unreadable = ""
        self.configuration: ProjectConfiguration | None = None
        try:
            self.configuration = assignment.configuration()
        except UnreadablePinError as error:
            self.why_unreadable = error.sentence

    @property
    def trace(self) -> Trace:
        return self.assignment.trace

    @property
    def is_review(self) -> bool:
        """Whether the reader goes through the queue of reviewers."""
        return "review" in self.request.GET and allowed(self.request, Right.REVIEW_ANNOTATIONS, self.submission.project)

    @property
    def shows_others(self) -> bool:
        """In the queue what others said is shown on request: who reviews judges alone at first."""
        return not self.is_review or "others" in self.request.GET

    @cached_property
    def decisions(self) -> list[ShownDecision]:
        """Of all submissions of the assignment, the oldest first."""
        rows = Submission.objects.filter(assignment=self.assignment)
        decisions = shown_decisions(rows.values_list("pk", flat=True), self.user)
        if self.is_own and not self.sees_all and outcomes_are_hidden(self.submission.project):
            return without_outcomes(decisions)
        return decisions

    @cached_property
    def may_decide(self) -> bool:
        """Whether the reader may decide of it, and something can be decided."""
        if self.is_own or not allowed(self.request, Right.REVIEW_ANNOTATIONS, self.submission.project):
            return False
        decision = current(self.decisions, self.submission.pk)
        try:
            refuse_undecidable(self.submission, decision.outcome if decision else "", self.assignment)
        except NotDecidable:
            return False
        return True

    def _review(self, others: Sequence[Submission]) -> Review:
        """What the queue says beside it."""
        project, own = self.submission.project, self.submission.pk
        rules = review_rules(project)
        ids = in_turn(project, self.user, MOST_COUNTED, rules)
        is_in_queue = own in ids or to_review(project, self.user, rules).filter(pk=own).exists()
        following = [pk for pk in ids[: FOLLOWING + 1] if pk != own][:FOLLOWING]
        rows = queue_rows(as_listed(Submission.objects.all()), [own, *following], rules)
        return Review(
            why=reasons(rows[0], rules) if is_in_queue else [],
            left=len(ids),
            is_more=len(ids) == MOST_COUNTED,
            following=submission_rows(rows[1:]),
            others=len(others),
            shows_others=self.shows_others,
        )

    @cached_property
    def annotator(self) -> str:
        return annotator_names([self.assignment.user_id]).get(self.assignment.user_id, "")

    @cached_property
    def neighbours(self) -> Neighbours:
        """What comes before and after it in the list that the reader comes from. The queue has its own order."""
        if self.is_review:
            others = "&others=1" if "others" in self.request.GET else ""
            url = reverse("review-queue", args=[self.submission.project.slug])
            return Neighbours(f"?review=1{others}", "review", "1", url, "To review")
        return list_in_address(self.request, self.membership, self.user, self.submission.project).around(
            self.submission
        )

    @cached_property
    def urls(self) -> dict[str, str | None]:
        """Where the page leads; None where it has no such tab."""
        here = [self.submission.project.slug, self.submission.pk]
        query = self.neighbours.query
        configuration = self.configuration
        has_steps = (
            configuration is not None
            and shows_steps(configuration)
            and (self.trace.steps_count > 0 or judges_steps(configuration))
        )
        return {
            "start": reverse("read-annotation", args=here) + query,
            "files": reverse("read-annotation-files", args=here) + query if configuration else None,
            "steps": reverse("read-annotation-steps", args=here) + query if has_steps else None,
            "guidelines": (
                reverse("read-annotation-guidelines", args=here) + query
                if configuration and configuration.guidelines is not None
                else None
            ),
            "record": reverse("read-annotation-record", args=here) + query,
            "download": reverse("annotation-record", args=here[1:]),
        }

    def context(self, tab: dict[str, Any]) -> dict[str, Any]:
        """What the templates are given: what stands around every tab, and the context of this one."""
        trace, project = self.trace, self.submission.project
        files = listed_files(trace, tab.get("evidence"))
        schemes = self._schemes(files)
        step_scheme = next((scheme for scheme in schemes if scheme.target == "agentic_steps"), None)
        others = [row for row in self._of_trace if row.assignment_id != self.assignment.pk]
        state = submission_state(self.submission)
        decision = current(self.decisions, self.submission.pk)
        return {
            **tab,
            "is_reading": True,
            "decision": decision,
            "parts": shown_parts(self.submission, is_own=self.is_own, sees_all=self.sees_all and self.shows_others),
            "seen": max((row.number for row in self.decisions if row.submission == self.submission.pk), default=0),
            "may_decide": self.may_decide,
            "review": self._review(others) if self.is_review else None,
            "longest_review_note": LONGEST_REVIEW_NOTE,
            "usual_days": WAITS.days,
            "project": project,
            "trace": trace,
            "submission": self.submission,
            "configuration": self.configuration,
            "version": self.assignment.version.number,
            "annotator": self.annotator,
            "avatar": initials(self.annotator),
            "is_own": self.is_own,
            "sees_all": self.sees_all,
            "state": state,
            "state_label": STATES[state],
            "facts": self._facts(others),
            "happenings": self._happenings(),
            "notes": written_notes(notes_of(self.submission).order_by("pk")) if self.sees_all else [],
            "may_note": allowed(self.request, Right.MANAGE_PROJECTS, project),
            "longest_note": LONGEST_NOTE,
            "title": trace_title(trace.task, trace.external_id),
            "asked": asked_for(trace),
            "display": display_settings(self.configuration),
            "schemes": schemes,
            "checks": self._checks(files),
            "files_url": self.urls["files"],
            "steps_url": self.urls["steps"],
            "judged": step_scheme,
            "keys_are_off": False,
            "urls": self.urls,
            "neighbours": self.neighbours,
            "kept_query": self.neighbours.query.removeprefix("?") + "&" if self.neighbours.query else "",
            "compared": self._compared(others),
            "compare_url": reverse("compare", args=[project.slug, trace.pk]),
            "trace_url": reverse("trace", args=[project.slug, trace.pk])
            if allowed(self.request, Right.SEE_TRACES, project)
            else None,
            "task_data": self._data(tab["tab"], schemes, files),
            "came_back": bool(self._returned_before),
        }

    def _compared(self, others: Sequence[Submission]) -> int:
        """How many annotations of the trace the reader may lay side by side, 0 where there is only this one."""
        if self.submission.is_withdrawn:
            return 0
        if self.sees_all:
            return len(others) + 1 if others and self.shows_others else 0
        if not self.is_own or not others_are_readable(self.submission):
            return 0
        number = len(annotations_to_compare(self.membership, self.user, self.trace))
        return number if number > 1 else 0

    def _checks(self, files: Sequence[TraceFile]) -> Checks | None:
        """All that is known, for whoever reads everybody's; its author has what the task shows."""
        if self.sees_all:
            return checks_of(self.trace, files)
        return None if self.configuration is None else checks_of_task(self.assignment, self.configuration, files)

    @cached_property
    def _returned_before(self) -> Mapping[str, Any]:
        """The version that a reviewer returned and that this one takes the place of; empty where there is none."""
        if self.submission.number == 1:
            return {}
        rows = Submission.objects.filter(organisation=self.submission.organisation_id, assignment=self.assignment)
        earlier = rows.not_withdrawn().filter(number__lt=self.submission.number).order_by("-number").first()
        decision = None if earlier is None else current(self.decisions, earlier.pk)
        if earlier is None or decision is None or decision.outcome != Outcome.RETURNED:
            return {}
        return cast("Mapping[str, Any]", earlier.result)

    def _schemes(self, files: Iterable[TraceFile]) -> tuple[ShownScheme, ...]:
        if self.configuration is None:
            return ()
        return shown_schemes(self.assignment, self.annotator, files, is_over=True)

    @cached_property
    def _of_trace(self) -> list[Any]:
        return annotations_of_trace(self.membership, self.user, self.trace.pk) if self.sees_all else []

    def _facts(self, others: Sequence[Submission]) -> list[Fact]:
        facts = list(self._answers())
        if self.submission.active_seconds is not None:
            active = timedelta(seconds=self.submission.active_seconds)
            facts.append(Fact("Active", duration(active), "at work", hint="Without pauses, as the task page told."))
        took = elapsed(self.submission)
        if took is not None:
            facts.append(
                Fact("Time", duration(took), "from claim to submission", hint="With pauses: the time that it was held.")
            )
        alike = self._alike(others) if self.shows_others else None
        if alike is not None:
            number = len(others)
            facts.append(
                Fact(
                    "Agreement",
                    f"{alike:.2f}",
                    f"with {number} other{'' if number == 1 else 's'}",
                    hint="On this trace: the share of what both judged that they judged the same, 0 to 1.",
                )
            )
        return facts

    def _answers(self) -> Iterable[Fact]:
        """What it says of the whole run, else what it says in a few words."""
        if self.configuration is None:
            return
        result = self.submission.result
        if (why := unjudged_reason(result, self.configuration)) is not None:
            yield Fact(
                "Cannot judge", why, hint="Of the whole trace, apart from a skip: it counts, and says nothing of it."
            )
            return
        is_said = False
        for scheme, _, opinion in opinions(result, self.configuration):
            if not opinion.is_of_the_whole or opinion.is_comment:
                continue
            unsure = "unsure" if opinion.is_unsure else ""
            if opinion.choices:
                shown = ShownChoice.of(opinion.choices[0], scheme.name)
                is_badge = bool(shown.colour)
                yield Fact(opinion.title, "" if is_badge else shown.words, unsure, shown if is_badge else None)
                is_said = True
            elif opinion.number is not None:
                yield Fact(opinion.title, signed(opinion.number), unsure)
                is_said = True
        words = summaries(result, self.configuration)
        if not is_said and words:
            yield Fact("Annotation", ", ".join(words))

    def _alike(self, others: Sequence[Submission]) -> float | None:
        if self.configuration is None or self.submission.is_withdrawn:
            return None
        own = self.submission.result
        shares = (sameness(own, other.result, self.configuration) for other in others)
        known = [share for share in shares if share is not None]
        return mean(known) if known else None

    def _happenings(self) -> list[Happening]:
        """What happened to the assignment up to now, the oldest first."""
        rows = Submission.objects.filter(assignment=self.assignment).order_by("number")
        happenings: list[Happening] = []
        claimed = self.assignment.claimed_at
        if claimed is not None:
            happenings.append(Happening(claimed, "play", "took the trace"))
        withdrawals = {
            row.submission_id: row.withdrawn_at
            for row in Withdrawal.objects.filter(submission__assignment=self.assignment)
        }
        corrections = {row.correction for row in self.decisions if row.correction}
        for row in rows.only("pk", "submitted_at", "is_surplus", "number"):
            if row.pk in corrections:
                continue
            surplus = ", late: others had its place" if row.is_surplus else ""
            again = " again" if row.number > 1 else ""
            happenings.append(Happening(row.submitted_at, "send", f"submitted it{again}{surplus}"))
            if row.pk in withdrawals:
                happenings.append(Happening(withdrawals[row.pk], "undo-2", "took it back"))
        for decision in self.decisions:
            who = decision.by or "Somebody who has left"
            happenings.append(
                Happening(decision.at, decision.icon, decision.words, who, decision.notes, decision.until)
            )
        return sorted(happenings, key=lambda happening: happening.at)

    def _data(self, tab: str, schemes: Iterable[ShownScheme], files: Sequence[TraceFile]) -> dict[str, Any]:
        """The JSON block of the page, in the shape that the scripts of a task know; on a tab without evidence nothing
        is drawn."""
        is_drawn = tab in ("files", "steps")
        return {
            "assignment": {
                "id": self.assignment.pk,
                "project": self.submission.project.slug,
                "configuration_version": self.assignment.version.number,
            },
            "annotator": self.annotator,
            "is_own": self.is_own,
            "api": f"{reverse('organisation')}api/v1/",
            "login": global_reverse("account_login"),
            "lines": f"submissions/{self.submission.pk}/lines/",
            "answers": self.submission.result if is_drawn else {},
            **({"before": self._returned_before} if is_drawn and self._returned_before else {}),
            "tab": tab,
            "urls": self.urls,
            "schemes": [scheme.data for scheme in schemes if is_drawn],
            "steps": self.trace.steps_count,
            "files": [
                File(
                    index=file.index, path=path, operation=file.operation, added=file.added, removed=file.removed
                ).model_dump()
                for file, path in zip(files if is_drawn else [], exact_paths(files if is_drawn else []), strict=True)
            ],
        }
