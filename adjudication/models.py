"""How far annotators of each trace disagree, the annotations that settled it, and whom each of these sided with."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts.models import Project
from assignments.models import Submission
from tenancy.constraints import SameOrganisation, TenantPolicy
from tenancy.models import TenantModel
from tenancy.snapshots import transaction_id


class DisagreementQuerySet(models.QuerySet["Disagreement"]):
    def for_project(self, project: Project) -> "DisagreementQuerySet":
        return self.filter(organisation=project.organisation_id, project=project)


class Disagreement(TenantModel):
    """What the people who annotated a trace said differently, as it was when one of them last submitted.

    `weight` orders traces by how much their differences hurt. Of the `questions`, `differing` were answered
    differently, and `deciding` of these decide what training data are made of. `words` are the first of them, each a
    `title` and a `range`. `conflicts` are tests and sources that most of the people contradict, each a `kind`, a `name`
    and `words`.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    trace = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    annotations = models.PositiveIntegerField()
    weight = models.FloatField(default=0)
    questions = models.PositiveIntegerField(default=0)
    differing = models.PositiveIntegerField(default=0)
    deciding = models.PositiveIntegerField(default=0)
    words: "models.JSONField[list[dict[str, str]]]" = models.JSONField(default=list)
    conflicts: "models.JSONField[list[dict[str, str]]]" = models.JSONField(default=list)
    has_conflict = models.BooleanField(default=False)
    since = models.DateTimeField(default=timezone.now)
    computed_at = models.DateTimeField(default=timezone.now)

    objects = DisagreementQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="adjudication_disagreement_project", field="project"),
            SameOrganisation(name="adjudication_disagreement_trace", field="trace"),
            models.UniqueConstraint(fields=["organisation", "trace"], name="adjudication_disagreement_once"),
        ]
        indexes = [
            models.Index(fields=["organisation", "project", "-weight"], name="adjudication_disagreement_w"),
            models.Index(
                fields=["organisation", "project"],
                name="adjudication_disagreement_c",
                condition=Q(has_conflict=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.differing} of {self.questions} questions"


class AdjudicationQuerySet(models.QuerySet["Adjudication"]):
    def for_project(self, project: Project) -> "AdjudicationQuerySet":
        return self.filter(organisation=project.organisation_id, project=project)

    def in_force(self) -> "AdjudicationQuerySet":
        """Those in force: neither taken back nor replaced by a newer one."""
        own = Submission.objects.counted().filter(organisation=OuterRef("organisation"), pk=OuterRef("submission"))
        return self.filter(Exists(own))


class Adjudication(TenantModel):
    """How the authoritative annotation of a trace, `submission`, came about.

    `items` are the questions in their order, each with its `scheme`, `key` and `title`, `how` it was settled, and of
    which submissions what was taken (`taken_from`), and which of them say the same (`sides`). `tells` is whether
    the annotators read it, and `replaced` are the decisions by which adjudications of others gave way to it.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    trace = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    submission = models.ForeignKey(
        Submission, on_delete=models.PROTECT, related_name="adjudications", db_index=False, db_constraint=False
    )
    items: "models.JSONField[list[dict[str, Any]]]" = models.JSONField(default=list)
    tells = models.BooleanField(default=True)
    replaced: "models.JSONField[list[str]]" = models.JSONField(default=list)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(default=timezone.now)
    transaction = transaction_id()

    objects = AdjudicationQuerySet.as_manager()

    erasable = ("items",)

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="adjudication_adjudication_org_id"),
            SameOrganisation(name="adjudication_adjudication_project", field="project"),
            SameOrganisation(name="adjudication_adjudication_trace", field="trace"),
            SameOrganisation(name="adjudication_adjudication_submission", field="submission"),
            models.UniqueConstraint(fields=["organisation", "submission"], name="adjudication_adjudication_once"),
        ]
        indexes = [
            models.Index(fields=["organisation", "project", "id"], name="adjudication_adjudication_o"),
            models.Index(fields=["organisation", "trace"], name="adjudication_adjudication_t"),
        ]

    def __str__(self) -> str:
        return f"adjudication of {self.trace_id}"


class Side(TenantModel):
    """An annotation that an adjudication looked at: of the `parts` that were settled and on which the annotations
    differed, how many became final as it says (`same`)."""

    adjudication = models.ForeignKey(Adjudication, on_delete=models.PROTECT, related_name="sides", db_index=False)
    submission = models.ForeignKey(
        Submission, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    parts = models.PositiveIntegerField()
    same = models.PositiveIntegerField()

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="adjudication_side_org_id"),
            SameOrganisation(name="adjudication_side_adjudication", field="adjudication"),
            SameOrganisation(name="adjudication_side_submission", field="submission"),
            models.UniqueConstraint(
                fields=["organisation", "adjudication", "submission"], name="adjudication_side_once"
            ),
            models.CheckConstraint(condition=Q(same__lte=models.F("parts")), name="adjudication_side_counted"),
        ]
        indexes = [models.Index(fields=["organisation", "submission"], name="adjudication_side_of")]

    def __str__(self) -> str:
        return f"{self.same} of {self.parts}"
