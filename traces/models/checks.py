"""What tests and checkers said of runs: reports that came in files, each of one run of the project."""

from typing import Any

from django.db import models
from django.utils import timezone

from tenancy.constraints import SameOrganisation
from tenancy.models import TenantModel


class CheckOutcome(models.TextChoices):
    """Of the tests of a report as a whole; none where it has no tests."""

    NONE = "", "No tests"
    PASSED = "passed", "Passed"
    FAILED = "failed", "Failed"
    ERROR = "error", "Could not be run"


class CheckReportQuerySet(models.QuerySet["CheckReport"]):
    def waiting(self) -> "CheckReportQuerySet":
        """Those of which no run of the project is known, or several."""
        return self.filter(external_id="")

    def of_trace(self, **conditions: Any) -> "CheckReportQuerySet":
        """Those of the run of a trace of the query around, which may be told conditions."""
        return self.filter(
            organisation=models.OuterRef("organisation"),
            project=models.OuterRef("project"),
            external_id=models.OuterRef("external_id"),
            **conditions,
        )


class CheckReport(TenantModel):
    """One report of one run. It is of the run, by its external id, and so of every version of its trace.

    `names` are what it names its run by, the members `ids`, `model` and `hints` of potato.checks.model.Report;
    `external_id` is the run that they mean, "" while they mean none or several, of which `meant` is the number.
    `identity_sha256` is the same for a later report of the same program about the same run, which takes its place.
    `content` has its tests and findings, `findings` is their number.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    file = models.ForeignKey(
        "traces.ImportedFile", on_delete=models.PROTECT, related_name="reports", db_index=False, db_constraint=False
    )
    member = models.CharField(max_length=500)
    identity_sha256 = models.CharField(max_length=64)
    kind = models.CharField(max_length=20)
    name = models.CharField(max_length=300)
    names: "models.JSONField[Any]" = models.JSONField(default=dict)
    external_id = models.CharField(max_length=300, blank=True, default="", db_default="")
    meant = models.PositiveIntegerField(default=0)
    outcome = models.CharField(max_length=10, choices=CheckOutcome.choices, blank=True)
    passed = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    findings = models.PositiveIntegerField(default=0)
    content: "models.JSONField[Any]" = models.JSONField(default=dict)
    added_at = models.DateTimeField(default=timezone.now)

    objects = CheckReportQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="traces_checkreport_project", field="project"),
            SameOrganisation(name="traces_checkreport_file", field="file"),
            models.UniqueConstraint(
                fields=["organisation", "project", "identity_sha256"], name="traces_checkreport_identity"
            ),
            models.CheckConstraint(
                condition=models.Q(outcome__in=CheckOutcome.values), name="traces_checkreport_outcome"
            ),
        ]
        indexes = [
            models.Index(fields=["organisation", "project", "external_id"], name="traces_checkreport_run"),
            models.Index(fields=["organisation", "file"], name="traces_checkreport_file_idx"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.external_id or self.first_name}"

    @property
    def first_name(self) -> str:
        """What it calls its run first; "" where it names none."""
        return str(next(iter(self.names["ids"]), ""))
