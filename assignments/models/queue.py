"""How many annotators a trace still needs, and where each annotator is in the queue of a project.

Locks are taken in one order: a person's queue position, the right to open quotas, the quota of one trace, the
assignment. The sweep waits for nothing, and a claim passes over quotas that are locked; where no others are left it
waits a short time for one of them, holding no other; so nobody waits in a circle.
"""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from accounts.models import Project
from tenancy.constraints import SameOrganisation
from tenancy.models import TenantModel
from tenancy.prepared import prepared_update

# Written once, so that the planner finds the condition of the partial index in every query.
FREE = Q(active__lt=F("target") - F("done"))
UNFINISHED = Q(done__lt=F("target"))
JUDGEABLE = Q(target__gt=0)


class TraceQuotaQuerySet(models.QuerySet["TraceQuota"]):
    def for_project(self, project: Project) -> "TraceQuotaQuerySet":
        """The organisation is named, because an index keeps its order only below one value of its first column."""
        return self.filter(organisation=project.organisation_id, project=project)

    def free(self) -> "TraceQuotaQuerySet":
        return self.filter(FREE)

    def judgeable(self) -> "TraceQuotaQuerySet":
        """Without those of traces that nobody can be given, because nothing of them can be judged."""
        return self.filter(JUDGEABLE)

    def unfinished(self) -> "TraceQuotaQuerySet":
        return self.filter(UNFINISHED)


class TraceQuota(TenantModel):
    """The slots on one trace: `active` are held by claims, `done` by submissions that count.

    `target` is what the configuration asks for, 0 where it can judge nothing of the trace. `slots` is what can be
    taken at all: where a later configuration wants fewer, those that are held stay held, and none is given out again.
    `extra` is how many of the target people asked for beyond the configuration, of this trace alone.
    """

    trace = models.ForeignKey("traces.Trace", on_delete=models.PROTECT, related_name="+", db_index=False)
    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    target = models.PositiveIntegerField()
    slots = models.PositiveIntegerField()
    extra = models.PositiveIntegerField(default=0, db_default=0)
    active = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)

    objects = TraceQuotaQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="assignments_tracequota_trace", field="trace"),
            SameOrganisation(name="assignments_tracequota_project", field="project"),
            models.UniqueConstraint(fields=["organisation", "trace"], name="assignments_tracequota_one_a_trace"),
            models.CheckConstraint(condition=Q(active__gte=0, done__gte=0), name="assignments_tracequota_counted"),
            models.CheckConstraint(
                condition=Q(slots__gte=F("active") + F("done")), name="assignments_tracequota_never_more"
            ),
            models.CheckConstraint(condition=Q(slots__gte=F("target")), name="assignments_tracequota_enough"),
        ]
        indexes = [
            models.Index(
                fields=["organisation", "project", "trace"], name="assignments_tracequota_free", condition=FREE
            ),
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
        return self.active + self.done < self.target

    def move(self, *, active: int = 0, done: int = 0) -> None:
        """Change the counters by so many. The caller holds the lock."""
        self.active += active
        self.done += done
        _counted.run(self.pk, self.active, self.done)


@prepared_update
def _counted(quota: UUID, active: int, done: int) -> "tuple[models.QuerySet[TraceQuota], dict[str, Any]]":
    return TraceQuota.objects.filter(pk=quota), {"active": active, "done": done}


class QueuePosition(TenantModel):
    """One annotator in one project. Its lock makes the acts of one person, in several tabs, come one after another.

    `position` is the trace up to which the queue was gone through: looking again at everything that the person has
    done would make each claim slower than the one before. When nothing is left after it, the queue begins anew.
    `guidelines_sha256` is of the guidelines that the person has read last, empty for none.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    position = models.UUIDField(default=UUID(int=0))
    guidelines_sha256 = models.CharField(max_length=64, blank=True)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="assignments_queueposition_project", field="project"),
            models.UniqueConstraint(
                fields=["organisation", "project", "user"], name="assignments_queueposition_one_a_person"
            ),
        ]

    def __str__(self) -> str:
        return f"queue position of {self.user_id}"

    def go_to(self, trace: UUID) -> None:
        """Go on behind this trace next time. The caller holds the lock."""
        self.position = trace
        _gone_to.run(self.pk, trace)


@prepared_update
def _gone_to(queue_position: UUID, position: UUID) -> "tuple[models.QuerySet[QueuePosition], dict[str, Any]]":
    return QueuePosition.objects.filter(pk=queue_position), {"position": position}
