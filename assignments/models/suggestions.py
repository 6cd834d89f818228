"""What models suggest of traces, and to which assignments it was shown. Rows are added and read, never changed."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Project
from assignments.models.claims import Assignment
from tenancy.constraints import SameOrganisation, TenantPolicy
from tenancy.models import TenantModel
from tenancy.snapshots import transaction_id
from traces.models.bodies import unpack


class SuggestionQuerySet(models.QuerySet["Suggestion"]):
    def for_project(self, project: Project) -> "SuggestionQuerySet":
        return self.filter(organisation=project.organisation_id, project=project)


class Suggestion(TenantModel):
    """What a model suggests of one trace, keyed by scheme name: checked under `configuration`, and immutable.

    `provenance` is what the importer says of how it was made, such as a prompt's name; `given_sha256` is the hash of
    the answers as they came: the same again is known.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    trace = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    configuration = models.ForeignKey(
        "accounts.ConfigurationVersion", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    model = models.CharField(max_length=200)
    model_version = models.CharField(max_length=200)
    provenance: "models.JSONField[dict[str, str]]" = models.JSONField(default=dict)
    packed = models.BinaryField()
    given_sha256 = models.CharField(max_length=64)
    added_at = models.DateTimeField(default=timezone.now)
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    transaction = transaction_id()

    objects = SuggestionQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="assignments_suggestion_org_id"),
            SameOrganisation(name="assignments_suggestion_project", field="project"),
            SameOrganisation(name="assignments_suggestion_trace", field="trace"),
            SameOrganisation(name="assignments_suggestion_configuration", field="configuration"),
            models.UniqueConstraint(
                fields=["organisation", "trace", "model", "model_version"], name="assignments_suggestion_once"
            ),
            models.CheckConstraint(condition=~Q(model="") & ~Q(model_version=""), name="assignments_suggestion_named"),
        ]
        indexes = [models.Index(fields=["organisation", "project", "id"], name="assignments_suggestion_order")]

    def __str__(self) -> str:
        return f"suggestion of {self.model} {self.model_version}"

    @property
    def result(self) -> Any:
        return unpack(self.packed)


class SuggestionExposure(TenantModel):
    """Which suggestion an assignment was drawn for, and whether its annotator saw it. Drawn once, and kept."""

    assignment = models.ForeignKey(
        Assignment, on_delete=models.PROTECT, related_name="exposures", db_index=False, db_constraint=False
    )
    suggestion = models.ForeignKey(
        Suggestion, on_delete=models.PROTECT, related_name="exposures", db_index=False, db_constraint=False
    )
    is_shown = models.BooleanField()
    drawn_at = models.DateTimeField(default=timezone.now)

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="assignments_suggestionexposure_org_id"),
            SameOrganisation(name="assignments_suggestionexposure_assignment", field="assignment"),
            SameOrganisation(name="assignments_suggestionexposure_suggestion", field="suggestion"),
            models.UniqueConstraint(fields=["organisation", "assignment"], name="assignments_suggestionexposure_once"),
        ]
        indexes = [models.Index(fields=["organisation", "suggestion"], name="assignments_exposure_of")]

    def __str__(self) -> str:
        return "suggestion shown" if self.is_shown else "suggestion hidden"
