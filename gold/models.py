"""Expected annotations, how people did by them, and of which traces one annotator more was asked."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Random
from django.utils import timezone

from accounts.models import Project, User
from tenancy.constraints import SameOrganisation, TenantPolicy
from tenancy.models import TenantModel
from traces.models.bodies import pack, unpack


class Use(models.TextChoices):
    """What an expected annotation is for: mixed in among the tasks in secret, or shown to newcomers with feedback."""

    GOLD = "gold", "Gold"
    PRACTICE = "practice", "Practice"


class Origin(models.TextChoices):
    """Where an expected annotation is from."""

    EXPERT = "expert", "Made by an expert"
    IMPORTED = "imported", "Imported"
    PLANTED = "planted", "A planted fault"


class ExpectedQuerySet(models.QuerySet["ExpectedAnnotation"]):
    def for_project(self, project: Project) -> "ExpectedQuerySet":
        return self.filter(organisation=project.organisation_id, project=project)

    def live(self, use: Use) -> "ExpectedQuerySet":
        """Those that are given to people."""
        return self.filter(use=use, retired_at__isnull=True)


class ExpectedAnnotation(TenantModel):
    """What is known to be right of a trace. While it is live the queue gives the trace to nobody as an ordinary task.

    `why` is for whoever practises, and for managers. A planted one names the trace that its fault was planted in as
    `source`, and the `fault`. `problem` says why nobody can be scored by it any more, "" where somebody can. `drawn` is
    thrown once: everybody is given gold in its order, each from another value on.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    trace = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    use = models.CharField(max_length=12, choices=Use.choices, default=Use.GOLD)
    origin = models.CharField(max_length=12, choices=Origin.choices)
    packed = models.BinaryField()
    why = models.TextField(blank=True)
    source = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, null=True, related_name="+", db_index=False, db_constraint=False
    )
    fault = models.CharField(max_length=40, blank=True)
    problem = models.CharField(max_length=500, blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField(default=timezone.now)
    retired_at = models.DateTimeField(null=True)
    retired_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    drawn = models.FloatField(db_default=Random(), editable=False)

    objects = ExpectedQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="gold_expected_project", field="project"),
            SameOrganisation(name="gold_expected_trace", field="trace"),
            SameOrganisation(name="gold_expected_source", field="source"),
            models.UniqueConstraint(
                fields=["organisation", "trace"], name="gold_expected_one_live", condition=Q(retired_at__isnull=True)
            ),
            models.CheckConstraint(condition=Q(use__in=Use.values), name="gold_expected_use"),
            models.CheckConstraint(condition=Q(origin__in=Origin.values), name="gold_expected_origin"),
        ]
        indexes = [
            models.Index(fields=["organisation", "project", "use"], name="gold_expected_of_project"),
            models.Index(fields=["organisation", "trace"], name="gold_expected_of_trace"),
            models.Index(
                fields=["organisation", "project", "drawn"],
                name="gold_expected_in_turn",
                condition=Q(use=Use.GOLD, retired_at__isnull=True),
            ),
            models.Index(
                fields=["organisation", "source"], name="gold_expected_of_source", condition=Q(source__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_use_display().lower()} of {self.trace_id}"

    @property
    def annotations(self) -> dict[str, Any]:
        """The expected results, by the names of the schemes."""
        results: dict[str, Any] = unpack(self.packed)
        return results

    @annotations.setter
    def annotations(self, annotations: dict[str, Any]) -> None:
        self.packed = pack(annotations)


class GoldScoreQuerySet(models.QuerySet["GoldScore"]):
    def newest(self) -> "GoldScoreQuerySet":
        """Of several scores of a submission the one that counts."""
        later = GoldScore.objects.filter(
            organisation=OuterRef("organisation"), submission=OuterRef("submission"), number__gt=OuterRef("number")
        )
        return self.exclude(Exists(later))


class GoldScore(TenantModel):
    """How near a submission came to the expected annotation, 0 to 1, and its parts as JSON. Added, never changed: where
    one is scored anew, the score with the highest number counts."""

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False)
    expected = models.ForeignKey(
        ExpectedAnnotation, on_delete=models.PROTECT, related_name="scores", db_index=False, db_constraint=False
    )
    submission = models.ForeignKey(
        "assignments.Submission", on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    number = models.PositiveIntegerField(default=1)
    score = models.FloatField()
    packed = models.BinaryField()
    scored_at = models.DateTimeField(default=timezone.now)

    objects = GoldScoreQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="gold_score_org_id"),
            SameOrganisation(name="gold_score_project", field="project"),
            SameOrganisation(name="gold_score_expected", field="expected"),
            SameOrganisation(name="gold_score_submission", field="submission"),
            models.UniqueConstraint(fields=["organisation", "submission", "number"], name="gold_score_number"),
            models.CheckConstraint(condition=Q(score__gte=0, score__lte=1), name="gold_score_bounds"),
        ]
        indexes = [
            models.Index(fields=["organisation", "project", "user"], name="gold_score_of_person"),
            models.Index(fields=["organisation", "expected"], name="gold_score_of_expected"),
        ]

    def __str__(self) -> str:
        return f"{self.score:.2f}"

    @property
    def parts(self) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = unpack(self.packed)
        return parts


class State(models.TextChoices):
    """Where somebody stands by their gold scores."""

    TOO_FEW = "too_few", "Too few yet"
    FINE = "fine", "Fine"
    WARNED = "warned", "Warned"
    PAUSED = "paused", "Paused"


class GoldStanding(TenantModel):
    """Where a person stands in a project, `since` when, and in a sentence for the manager why.

    `number` scores make the `mean`, which lies between `low` and `high`. Those up to `counted_from` do not count: a
    manager has let the person go on since.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False)
    state = models.CharField(max_length=12, choices=State.choices, default=State.TOO_FEW)
    since = models.DateTimeField(default=timezone.now)
    number = models.PositiveIntegerField(default=0)
    mean = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    sentence = models.CharField(max_length=500, blank=True)
    counted_from = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="gold_standing_project", field="project"),
            models.UniqueConstraint(fields=["organisation", "project", "user"], name="gold_standing_one_a_person"),
            models.CheckConstraint(condition=Q(state__in=State.values), name="gold_standing_state"),
        ]

    def __str__(self) -> str:
        return self.sentence


class PracticeAttempt(TenantModel):
    """What came of one attempt at a practice trace, the person's first there or a later one. Without a score nobody
    could be scored by what is expected, which is held against nobody."""

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False)
    expected = models.ForeignKey(
        ExpectedAnnotation, on_delete=models.PROTECT, related_name="attempts", db_index=False, db_constraint=False
    )
    submission = models.ForeignKey(
        "assignments.Submission", on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    number = models.PositiveIntegerField()
    score = models.FloatField(null=True)
    passed = models.BooleanField()
    packed = models.BinaryField()
    at = models.DateTimeField(default=timezone.now)

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="gold_attempt_org_id"),
            SameOrganisation(name="gold_attempt_project", field="project"),
            SameOrganisation(name="gold_attempt_expected", field="expected"),
            SameOrganisation(name="gold_attempt_submission", field="submission"),
            models.UniqueConstraint(fields=["organisation", "expected", "user", "number"], name="gold_attempt_number"),
        ]
        indexes = [
            models.Index(fields=["organisation", "project", "user"], name="gold_attempt_of_person"),
            models.Index(fields=["organisation", "expected"], name="gold_attempt_of_expected"),
            models.Index(fields=["organisation", "submission"], name="gold_attempt_of_submission"),
        ]

    def __str__(self) -> str:
        return "passed" if self.passed else "not passed"

    @property
    def parts(self) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = unpack(self.packed)
        return parts


class Admission(TenantModel):
    """A manager has let somebody begin who has not passed the practice."""

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False)
    admitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    admitted_at = models.DateTimeField(default=timezone.now)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="gold_admission_project", field="project"),
            models.UniqueConstraint(fields=["organisation", "project", "user"], name="gold_admission_once"),
        ]

    def __str__(self) -> str:
        return f"admission of {self.user_id}"


class AddedAnnotator(TenantModel):
    """One annotator more was asked of a trace on which `annotators` agreed by `agreement` alone."""

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    trace = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    annotators = models.PositiveIntegerField()
    agreement = models.FloatField()
    at = models.DateTimeField(default=timezone.now)

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="gold_added_org_id"),
            SameOrganisation(name="gold_added_project", field="project"),
            SameOrganisation(name="gold_added_trace", field="trace"),
            models.UniqueConstraint(fields=["organisation", "trace", "annotators"], name="gold_added_once"),
        ]
        indexes = [models.Index(fields=["organisation", "project", "id"], name="gold_added_of_project")]

    def __str__(self) -> str:
        return f"one more than {self.annotators}"


def person_standing(project: Project, user: User | UUID) -> GoldStanding | None:
    """Where the person stands; None before their first score."""
    return GoldStanding.objects.filter(organisation=project.organisation_id, project=project, user=user).first()
