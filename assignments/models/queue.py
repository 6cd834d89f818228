"""How many annotators a trace still needs, and what holds for each annotator in the queue of a project.

Locks are taken in one order: a person's queue position, the right to open quotas, the quota of one trace, the
assignment. The sweep waits for nothing, and a claim passes over quotas that are locked; where no others are left it
waits a short time for one of them, holding no other; so nobody waits in a circle.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import Project
from assignments.models.batches import Batch, BatchState, Order, Priority
from tenancy.constraints import SameOrganisation
from tenancy.models import TenantModel
from tenancy.prepared import prepared_update

# Written once, so that the planner finds the condition of the partial index in every query.
FREE = Q(is_released=True, is_reserved=False, active__lt=F("target") - F("done"))
UNFINISHED = Q(is_released=True, done__lt=F("target"))
JUDGEABLE = Q(target__gt=0)

# Between the ranks of two levels: of annotations that a trace has, in a batch that gives out those with the fewest
# first, or of its priority, in one that goes by it. No batch has as many traces.
RANKS_A_LEVEL = 2**40


def first_rank(order: str, priority: int = Priority.NORMAL) -> int:
    """What the ranks of a batch in that order begin behind, for traces of that priority."""
    return (Priority.URGENT - priority) * RANKS_A_LEVEL if order == Order.PRIORITY else 0


def rank_step(order: str) -> int:
    """What a rank grows by with each slot that is taken."""
    return RANKS_A_LEVEL if order == Order.FEWEST else 0


SECRETS_FOUND = "secrets found"
"""Why a trace is held back in which keys or personal data were found, until somebody clears it."""


class Withheld(models.TextChoices):
    """Why a trace is given to nobody, released or not. What was annotated is kept."""

    HELD_BACK = "held_back", "Held back"
    EXCLUDED = "excluded", "Excluded"
    RETIRED = "retired", "Retired"
    SUPERSEDED = "superseded", "A newer version came"
    KNOWN_ANSWER = "known_answer", "Its answer is known"


class TraceQuotaQuerySet(models.QuerySet["TraceQuota"]):
    def for_project(self, project: Project) -> "TraceQuotaQuerySet":
        """The organisation is named, because an index keeps its order only below one value of its first column."""
        return self.filter(organisation=project.organisation_id, project=project)

    def free(self) -> "TraceQuotaQuerySet":
        """With a slot that can be taken, as far as the trace alone decides: its batch may be paused, or for others."""
        return self.filter(FREE)

    def released(self) -> "TraceQuotaQuerySet":
        """Without those that wait in the pool or are withheld."""
        return self.filter(is_released=True)

    def in_pool(self) -> "TraceQuotaQuerySet":
        return self.filter(batch__isnull=True, withheld="")

    def judgeable(self) -> "TraceQuotaQuerySet":
        """Without those of traces that nobody can be given, because nothing of them can be judged."""
        return self.filter(JUDGEABLE)

    def unfinished(self) -> "TraceQuotaQuerySet":
        return self.filter(UNFINISHED)


class TraceQuota(TenantModel):
    """A trace's place in the queue, and its slots: `active` are held by claims, `done` by submissions that count.

    `target` is what the configuration asks for, 0 where it can judge nothing of the trace. `slots` is what can be
    taken at all: where a later configuration wants fewer, those that are held stay held, and none is given out again.
    `extra` is how many of the target people asked for beyond the configuration, of this trace alone.

    `batch` is None in the pool, and `is_released` is true for what is in a batch and not `withheld`. `rank` is the
    order within the batch; it grows by `rank_step` with each slot that is taken, and shrinks with each that comes back,
    at `returned_at`. In a batch that goes by it the `priority` of the trace is part of the rank. While `is_reserved`
    only the people of its reservations are given the trace.
    """

    # At most one; joined by the organisation as well, which comes first in the unique key.
    trace = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, related_name="quotas", db_index=False, db_constraint=False
    )
    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    target = models.PositiveIntegerField()
    slots = models.PositiveIntegerField()
    extra = models.PositiveIntegerField(default=0, db_default=0)
    active = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)
    is_released = models.BooleanField(default=False)
    is_reserved = models.BooleanField(default=False)
    priority = models.PositiveSmallIntegerField(
        choices=Priority.choices, default=Priority.NORMAL, db_default=Priority.NORMAL
    )
    rank = models.PositiveBigIntegerField(default=0)
    rank_step = models.PositiveBigIntegerField(default=0)
    returned_at = models.DateTimeField(null=True)
    withheld = models.CharField(max_length=12, choices=Withheld.choices, blank=True, default="")
    withheld_reason = models.CharField(max_length=500, blank=True, default="")
    tags: "models.JSONField[Any]" = models.JSONField(default=list)

    objects = TraceQuotaQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="assignments_tracequota_trace", field="trace"),
            SameOrganisation(name="assignments_tracequota_project", field="project"),
            SameOrganisation(name="assignments_tracequota_batch", field="batch"),
            models.UniqueConstraint(fields=["organisation", "trace"], name="assignments_tracequota_one_a_trace"),
            models.CheckConstraint(
                condition=Q(is_released=True, batch__isnull=False, withheld="")
                | Q(is_released=False) & (Q(batch__isnull=True) | ~Q(withheld="")),
                name="assignments_tracequota_released",
            ),
            models.CheckConstraint(
                condition=Q(withheld__in=["", *Withheld.values]), name="assignments_tracequota_withheld"
            ),
            models.CheckConstraint(condition=Q(active__gte=0, done__gte=0), name="assignments_tracequota_counted"),
            models.CheckConstraint(
                condition=Q(slots__gte=F("active") + F("done")), name="assignments_tracequota_never_more"
            ),
            models.CheckConstraint(condition=Q(slots__gte=F("target")), name="assignments_tracequota_enough"),
            models.CheckConstraint(condition=Q(priority__in=Priority.values), name="assignments_tracequota_priority"),
        ]
        indexes = [
            models.Index(fields=["organisation", "batch", "rank"], name="assignments_tracequota_free", condition=FREE),
            models.Index(
                fields=["organisation", "batch", "returned_at"],
                name="assignments_tracequota_back",
                condition=FREE & Q(returned_at__isnull=False),
            ),
            # With the rank, so that a claim that is planned before the tables are counted finds its order here, too.
            models.Index(fields=["organisation", "project", "batch", "rank"], name="assignments_tracequota_batches"),
            models.Index(
                fields=["organisation", "project", "trace"],
                name="assignments_tracequota_undone",
                condition=UNFINISHED,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.active} active and {self.done} done of {self.target}"

    @property
    def has_free(self) -> bool:
        return self.is_released and self.active + self.done < self.target

    def move(self, *, active: int = 0, done: int = 0) -> None:
        """Change the counters by so many. The caller holds the lock."""
        self.active += active
        self.done += done
        taken = active + done
        if taken < 0:
            self.returned_at = timezone.now()
            _given_back.run(self.pk, self.active, self.done, -taken, self.returned_at)
            if not self.active and not self.done:
                # Nobody holds or has annotated it any more: of a batch that was withdrawn it waits in the pool.
                withdrawn = TraceQuota.objects.filter(pk=self.pk, batch__state=BatchState.WITHDRAWN)
                withdrawn.update(batch=None, is_released=False)
        else:
            _counted.run(self.pk, self.active, self.done, taken)


@prepared_update
def _counted(quota: UUID, active: int, done: int, taken: int) -> "tuple[models.QuerySet[TraceQuota], dict[str, Any]]":
    changes = {"active": active, "done": done, "rank": F("rank") + F("rank_step") * taken}
    return TraceQuota.objects.filter(pk=quota), changes


@prepared_update
def _given_back(
    quota: UUID, active: int, done: int, slots: int, now: datetime
) -> "tuple[models.QuerySet[TraceQuota], dict[str, Any]]":
    changes = {"active": active, "done": done, "rank": F("rank") - F("rank_step") * slots, "returned_at": now}
    return TraceQuota.objects.filter(pk=quota), changes


class QueuePosition(TenantModel):
    """One annotator in one project. Its lock makes the acts of one person, in several tabs, come one after another.

    While `paused_at` is set the person is given nothing new here, and reads the `pause_reason`. `annotation_limit` is
    how many annotations the person may make here at most, and `annotation_share` which part of all that are wanted,
    each None for what the configuration says.
    `guidelines_sha256` is of the guidelines that the person has read last, empty for none.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    guidelines_sha256 = models.CharField(max_length=64, blank=True)
    paused_at = models.DateTimeField(null=True)
    paused_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    pause_reason = models.CharField(max_length=500, blank=True, default="", db_default="")
    annotation_limit = models.PositiveIntegerField(null=True)
    annotation_share = models.FloatField(null=True)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="assignments_queueposition_project", field="project"),
            models.UniqueConstraint(
                fields=["organisation", "project", "user"], name="assignments_queueposition_one_a_person"
            ),
            models.CheckConstraint(
                condition=Q(annotation_share__isnull=True) | Q(annotation_share__gt=0, annotation_share__lte=1),
                name="assignments_queueposition_share",
            ),
        ]

    def __str__(self) -> str:
        return f"queue position of {self.user_id}"
