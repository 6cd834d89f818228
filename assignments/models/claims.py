"""One annotator's claim on one trace, and the draft that grows under it."""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import ConfigurationVersion, Project, User
from potato.configuration import ProjectConfiguration, pinned
from potato.configuration.project import Assignment as AssignmentRules
from tenancy.constraints import SameOrganisation
from tenancy.models import TenantModel
from tenancy.prepared import prepared
from traces.models.bodies import pack, unpack


class AssignmentState(models.TextChoices):
    """A claim holds a slot, all other states but a counted submission hold none.

    claimed   -> submitted, skipped, released by its person; expired by the sweep
    expired   -> claimed again; submitted late; skipped
    released  -> claimed again; submitted late
    submitted -> claimed again by a withdrawal, or when a reviewer returns it; expired if what is withdrawn had no slot;
                 voided by a reviewer
    voided    -> submitted, when the reviewer takes that back
    skipped   -> nothing: the trace does not come back to this person
    """

    CLAIMED = "claimed", "Claimed"
    SUBMITTED = "submitted", "Submitted"
    SKIPPED = "skipped", "Skipped"
    EXPIRED = "expired", "Expired"
    RELEASED = "released", "Released"
    VOIDED = "voided", "Voided"


OPEN = AssignmentState.CLAIMED
# Nothing is written to it any more, not even late.
OVER = (AssignmentState.SUBMITTED, AssignmentState.SKIPPED, AssignmentState.VOIDED)
# A trace in one of these states with a person is not given to that person again.
HELD_OR_DECIDED = (AssignmentState.CLAIMED, *OVER)


class Kind(models.TextChoices):
    """Why the trace was given: only normal assignments take slots.

    The answer to a trace of gold or of practice is known; of a repeat it is the person's own that is looked at again.
    """

    NORMAL = "normal", "Normal"
    GOLD = "gold", "Gold"
    PRACTICE = "practice", "Practice"
    REPEAT = "repeat", "Repeat"
    ADJUDICATION = "adjudication", "Adjudication"
    CORRECTION = "correction", "Correction"


# What a claim gives. Annotators are never shown which of them a task is, but for practice.
CLAIMED_KINDS = (Kind.NORMAL, Kind.GOLD, Kind.PRACTICE, Kind.REPEAT)
# They look alike to the person who has them, in every list and count of their own.
ALIKE = (Kind.NORMAL, Kind.GOLD, Kind.REPEAT)
# Made to see how somebody works: in no count, figure and export but the person's own.
CHECKS = (Kind.GOLD, Kind.PRACTICE, Kind.REPEAT)

# Whoever has one of a trace has read what others said of it, and does not annotate it afterwards.
READ_OTHERS = (Kind.ADJUDICATION, Kind.CORRECTION)
# Whoever has done one of a trace is not given it again when it is among the others later: of practice they have read
# what is right, and of gold it would tell what it was.
JUDGES_ONCE = (Kind.NORMAL, Kind.GOLD, Kind.PRACTICE)
# Whose person is given nothing more of the trace.
KEEPS_AWAY = Q(kind__in=READ_OTHERS) | Q(kind__in=JUDGES_ONCE, state__in=HELD_OR_DECIDED)


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def open(self) -> "AssignmentQuerySet":
        return self.filter(state=OPEN)

    def filled_in_turn(self) -> "AssignmentQuerySet":
        """Those that a claim gave: without what a reviewer returned or corrects, which comes on top."""
        return self.filter(kind__in=CLAIMED_KINDS, returned_until__isnull=True)

    def by_annotators(self) -> "AssignmentQuerySet":
        """Those that count: without checks, and without the work of reviewers and adjudicators."""
        return self.filter(kind=Kind.NORMAL)

    def for_project(self, project: Project) -> "AssignmentQuerySet":
        return self.filter(organisation=project.organisation_id, project=project)

    def of(self, user: User | UUID) -> "AssignmentQuerySet":
        """One person's own, whatever became of them."""
        return self.filter(user=user)

    def held_or_decided(self) -> "AssignmentQuerySet":
        return self.filter(state__in=HELD_OR_DECIDED)


class Assignment(TenantModel):
    """A person's claim on a trace: one row, which ends and may be claimed again, with its draft.

    `version` is the configuration that page, checks and exports use. `fencing_token` grows with each claim and
    take-over, so that a page that was left behind can write nothing; the API calls it the lease token. `since` is when
    the state was entered, `claimed_at` when the claim that goes on, or the last one, began: it stays when the
    assignment is submitted, so that the two say how long the work took from end to end. `active_ms` is how much of
    that its page was at work, as assignments.activity counts it, and `active_at` the last sign of it.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    trace = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    # No index of its own: before PostgreSQL has counted the table it would be taken where the unique key is meant.
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False)
    version = models.ForeignKey(
        "accounts.ConfigurationVersion", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.NORMAL)
    state = models.CharField(max_length=12, choices=AssignmentState.choices, default=AssignmentState.CLAIMED)
    since = models.DateTimeField(default=timezone.now)
    claimed_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    fencing_token = models.PositiveBigIntegerField(default=1)
    skip_reason = models.CharField(max_length=500, blank=True)
    # A person who put the task off gets it back then, and not before.
    not_before = models.DateTimeField(null=True)
    active_ms = models.PositiveBigIntegerField(default=0, db_default=0)
    active_at = models.DateTimeField(null=True, default=timezone.now)
    # What a reviewer returned is kept for its annotator until then.
    returned_until = models.DateTimeField(null=True)
    # The id of the submission that was the first of it: ids grow with time, so that a person's stand in their order.
    first_submission = models.UUIDField(null=True, editable=False)
    # Of a trace that came in the place of one of that batch: it is due as that one is.
    batch = models.ForeignKey(
        "assignments.Batch", on_delete=models.PROTECT, null=True, related_name="+", db_index=False, db_constraint=False
    )

    objects = AssignmentQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="assignments_assignment_project", field="project"),
            SameOrganisation(name="assignments_assignment_trace", field="trace"),
            SameOrganisation(name="assignments_assignment_version", field="version"),
            SameOrganisation(name="assignments_assignment_batch", field="batch"),
            models.UniqueConstraint(
                fields=["organisation", "trace", "user", "kind"], name="assignments_assignment_once"
            ),
            models.CheckConstraint(condition=Q(state__in=AssignmentState.values), name="assignments_assignment_state"),
            models.CheckConstraint(condition=Q(kind__in=Kind.values), name="assignments_assignment_kind"),
            models.CheckConstraint(
                condition=Q(state=OPEN, lease_until__isnull=False) | ~Q(state=OPEN) & Q(lease_until__isnull=True),
                name="assignments_assignment_lease",
            ),
            models.CheckConstraint(
                condition=Q(state=AssignmentState.SKIPPED) & ~Q(skip_reason="")
                | ~Q(state=AssignmentState.SKIPPED) & Q(skip_reason=""),
                name="assignments_assignment_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["organisation", "project", "user", "-since"], name="assignments_assignment_history"),
            models.Index(
                fields=["organisation", "project", "user"], name="assignments_assignment_open", condition=Q(state=OPEN)
            ),
            models.Index(
                fields=["organisation", "project", "user"],
                name="assignments_assignment_put_off",
                condition=Q(not_before__isnull=False),
            ),
            models.Index(
                fields=["organisation", "lease_until"], name="assignments_assignment_leases", condition=Q(state=OPEN)
            ),
            # The first annotations of a person, and how many came before one.
            models.Index(
                fields=["organisation", "project", "user", "first_submission"],
                name="assignments_assignment_first",
                condition=Q(first_submission__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} assignment, {self.get_state_display().lower()}"

    @property
    def is_open(self) -> bool:
        return self.state == OPEN

    @property
    def takes_slot(self) -> bool:
        return self.kind == Kind.NORMAL

    @property
    def is_correction(self) -> bool:
        return self.kind == Kind.CORRECTION

    @property
    def is_practice(self) -> bool:
        return self.kind == Kind.PRACTICE

    @property
    def is_check(self) -> bool:
        """Whether what is submitted counts for nobody but its person."""
        return self.kind in CHECKS

    def lease_end(self, now: datetime, rules: AssignmentRules | None = None) -> datetime:
        """Until when it is kept after a sign of work now: what was returned at least as long as the reviewer said."""
        until = now + timedelta(minutes=(rules or self.rules()).lease_minutes)
        return max(until, self.returned_until) if self.returned_until else until

    def rules(self) -> AssignmentRules:
        """How the pinned configuration gives traces out, also where the rest of it cannot be read any more."""
        return _rules(self.version_id)

    def configuration(self) -> ProjectConfiguration:
        """What page, checks and exports of this assignment follow. Raises UnreadablePinError."""
        return pinned_configuration(self.version_id)

    def draft(self) -> "Draft | None":
        return _draft.first(self.organisation_id, self.pk)


# Kept in memory, because a version never changes; asked for by the ids of rows that the reader may see.
@lru_cache(maxsize=1_000)
def _rules(version: UUID) -> AssignmentRules:
    versions = ConfigurationVersion.objects.filter(pk=version)
    return AssignmentRules.model_validate(versions.values_list("configuration__assignment", flat=True).get() or {})


@lru_cache(maxsize=200)
def pinned_configuration(version: UUID) -> ProjectConfiguration:
    """The configuration of a version that the reader has found, always the same object. Raises UnreadablePinError."""
    versions = ConfigurationVersion.objects.filter(pk=version)
    return pinned(versions.values_list("configuration", flat=True).get())


class Draft(TenantModel):
    """What the annotator has typed so far: any JSON, exact, NUL and lone surrogates included.

    `revision` counts its saves from 1; revision 0 is the draft that was never saved.
    """

    assignment = models.ForeignKey(
        Assignment, on_delete=models.PROTECT, related_name="drafts", db_index=False, db_constraint=False
    )
    revision = models.PositiveBigIntegerField(default=1)
    packed = models.BinaryField()
    saved_at = models.DateTimeField(default=timezone.now)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="assignments_draft_assignment", field="assignment"),
            models.UniqueConstraint(fields=["organisation", "assignment"], name="assignments_draft_one"),
        ]

    def __str__(self) -> str:
        return f"draft at revision {self.revision}"

    @property
    def content(self) -> Any:
        return unpack(self.packed)

    @content.setter
    def content(self, content: Any) -> None:
        self.packed = pack(content)


@prepared
def _draft(organisation: UUID | None, assignment: UUID) -> "models.QuerySet[Draft]":
    return Draft.objects.filter(organisation=organisation, assignment=assignment)
