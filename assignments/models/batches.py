"""What is released for annotating: batches of a project's traces, who may take them, and how a project is steered.

A trace that is in no batch waits in the pool. Priority, pause, people and deadline stand in the batch alone, so that
changing them touches one row, however many traces the batch has; what is of one trace stands in its TraceQuota.
"""

from functools import lru_cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import Project
from tenancy.constraints import SameOrganisation
from tenancy.models import TenantModel
from traces.models.bodies import pack, unpack


class BatchState(models.TextChoices):
    """Only an open batch gives tasks out. In a paused one held tasks may be finished; a withdrawn one is over."""

    DRAFT = "draft", "Draft"
    OPEN = "open", "Collecting"
    PAUSED = "paused", "Paused"
    WITHDRAWN = "withdrawn", "Withdrawn"


class Priority(models.IntegerChoices):
    URGENT = 4, "Urgent"
    HIGH = 3, "High"
    NORMAL = 2, "Normal"
    LOW = 1, "Low"


class Order(models.TextChoices):
    """In which order a batch's traces are given out."""

    IMPORTED = "imported", "As imported"
    RANDOM = "random", "Random for each person"
    PRIORITY = "priority", "By the priority of each trace"
    FEWEST = "fewest", "Fewest annotations first"


class BatchQuerySet(models.QuerySet["Batch"]):
    def for_project(self, project: Project) -> "BatchQuerySet":
        return self.filter(organisation=project.organisation_id, project=project)

    def in_turn(self) -> "BatchQuerySet":
        """As they are given out: by priority, then the one that is due first, then the older one."""
        return self.order_by("-priority", F("deadline").asc(nulls_last=True), "number")


class Batch(TenantModel):
    """Traces of a project that were released together.

    `selection` says how they were chosen: the filter, how many, by which stratum and with which seed. `redundancy` is
    how many annotations each of them gets, None for as many as the configuration says. `last_rank` is the highest rank
    that a trace of the batch has. The project's own batch (`is_standard`) takes what its usual rule releases at import.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    state = models.CharField(max_length=12, choices=BatchState.choices, default=BatchState.DRAFT)
    priority = models.PositiveSmallIntegerField(choices=Priority.choices, default=Priority.NORMAL)
    order = models.CharField(max_length=12, choices=Order.choices, default=Order.IMPORTED)
    redundancy = models.PositiveIntegerField(null=True)
    deadline = models.DateField(null=True)
    is_restricted = models.BooleanField(default=False)
    is_standard = models.BooleanField(default=False)
    selection: "models.JSONField[Any]" = models.JSONField(default=dict)
    last_rank = models.PositiveBigIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    released_at = models.DateTimeField(null=True)

    objects = BatchQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="assignments_batch_project", field="project"),
            models.UniqueConstraint(fields=["organisation", "project", "number"], name="assignments_batch_number"),
            models.UniqueConstraint(
                fields=["organisation", "project"], name="assignments_batch_standard", condition=Q(is_standard=True)
            ),
            models.CheckConstraint(condition=Q(state__in=BatchState.values), name="assignments_batch_state"),
            models.CheckConstraint(condition=Q(priority__in=Priority.values), name="assignments_batch_priority"),
            models.CheckConstraint(condition=Q(order__in=Order.values), name="assignments_batch_order"),
            models.CheckConstraint(
                condition=Q(redundancy__isnull=True) | Q(redundancy__gte=1), name="assignments_batch_redundancy"
            ),
        ]
        verbose_name_plural = "batches"

    def __str__(self) -> str:
        return self.name


@lru_cache(maxsize=10_000)
def _number(batch: UUID) -> int:
    return int(Batch.objects.values_list("number", flat=True).get(pk=batch))


def number_of_batch(batch: UUID | None) -> int | None:
    """The number of a batch, which never changes and is asked for once a process; None for none."""
    return None if batch is None else _number(batch)


def number_of_batches(project: Project) -> int:
    return Batch.objects.for_project(project).count()


class BatchPerson(TenantModel):
    """Somebody who may take tasks of a batch that is restricted to named people."""

    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="people", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="assignments_batchperson_batch", field="batch"),
            models.UniqueConstraint(fields=["organisation", "batch", "user"], name="assignments_batchperson_once"),
        ]
        verbose_name_plural = "people of batches"

    def __str__(self) -> str:
        return f"{self.user_id} in {self.batch_id}"


class BatchPosition(TenantModel):
    """How far one person has gone through a batch, so that a claim does not look again at all that they have done.

    The person begins at the rank `start` and goes on from `position`; behind the end it begins anew (`is_wrapped`) and
    ends before `start`. Slots that came free again before `returned_at` were looked at. A row only makes claims
    quicker: before anybody is told that nothing is left, the whole batch is gone through.
    """

    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    start = models.PositiveBigIntegerField(default=0)
    position = models.PositiveBigIntegerField(default=0)
    is_wrapped = models.BooleanField(default=False)
    returned_at = models.DateTimeField()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="assignments_batchposition_batch", field="batch"),
            models.UniqueConstraint(
                fields=["organisation", "batch", "user"], name="assignments_batchposition_one_a_person"
            ),
        ]

    def __str__(self) -> str:
        return f"position of {self.user_id} in {self.batch_id}"


class StandingRule(TenantModel):
    """What of each later import goes into a batch: `share` per cent of the traces that its filter lets through.

    Rules are asked in the order of their numbers, and the first that takes a trace has it. Whether a share takes one
    is drawn from the seed and the trace's id, so that it does not depend on what came in beside it.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+", db_index=False)
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="rules", db_index=False)
    number = models.PositiveIntegerField()
    selection: "models.JSONField[Any]" = models.JSONField(default=dict)
    taken = models.PositiveIntegerField(default=0)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="assignments_standingrule_project", field="project"),
            SameOrganisation(name="assignments_standingrule_batch", field="batch"),
            models.UniqueConstraint(
                fields=["organisation", "project", "number"], name="assignments_standingrule_number"
            ),
        ]
        ordering = ["number"]

    def __str__(self) -> str:
        return f"rule {self.number}"


class Steering(TenantModel):
    """How a project is steered as a whole. Without a row it is not paused, and releases every import at once.

    While `paused_at` is set everybody who would be given a task reads the `pause_reason`.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+", db_index=False)
    paused_at = models.DateTimeField(null=True)
    paused_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    pause_reason = models.CharField(max_length=500, blank=True, default="", db_default="")
    imports_wait = models.BooleanField(default=False)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="assignments_steering_project", field="project"),
            models.UniqueConstraint(fields=["organisation", "project"], name="assignments_steering_one_a_project"),
        ]

    def __str__(self) -> str:
        return f"steering of {self.project_id}"


class Reservation(TenantModel):
    """A trace is offered to this person before all others until the date; until then nobody else is given it."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+", db_index=False)
    trace = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False)
    until = models.DateTimeField()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="assignments_reservation_project", field="project"),
            SameOrganisation(name="assignments_reservation_trace", field="trace"),
            models.UniqueConstraint(fields=["organisation", "trace", "user"], name="assignments_reservation_once"),
        ]
        indexes = [
            models.Index(fields=["organisation", "project", "user"], name="assignments_reservation_person"),
            models.Index(fields=["organisation", "until"], name="assignments_reservation_until"),
        ]

    def __str__(self) -> str:
        return f"{self.trace_id} for {self.user_id}"


class SteeringAct(TenantModel):
    """Something that a manager did to the queue and may undo: the sentence that was answered, and what was before."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+", db_index=False)
    verb = models.CharField(max_length=60)
    sentence = models.CharField(max_length=500)
    done_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    done_at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True)
    packed = models.BinaryField()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="assignments_steeringact_project", field="project"),
        ]
        indexes = [models.Index(fields=["organisation", "project", "-done_at"], name="assignments_steeringact_newest")]

    def __str__(self) -> str:
        return self.sentence

    @property
    def before(self) -> Any:
        return unpack(self.packed)

    @before.setter
    def before(self, value: Any) -> None:
        self.packed = pack(value)
