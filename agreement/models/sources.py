"""Automated sources: what answered, its answers as they came, and how these stood beside people's at one moment."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Count, Q
from django.utils import timezone
from django_stubs_ext import WithAnnotations

from accounts.models import Project
from jobs.models import JobState
from tenancy.constraints import SameOrganisation, TenantPolicy
from tenancy.models import TenantModel
from tenancy.snapshots import transaction_id
from traces.models.bodies import unpack


class SourceKind(models.TextChoices):
    LLM_JUDGE = "llm_judge", "LLM judge"
    PROCESS_REWARD_MODEL = "process_reward_model", "Process reward model"
    AUTOMATED_REVIEWER = "automated_reviewer", "Automated reviewer"
    PERSON_ELSEWHERE = "person_elsewhere", "Person in another tool"
    OTHER = "other", "Other program"


class SourceQuerySet(models.QuerySet["Source"]):
    def for_project(self, project: Project) -> "SourceQuerySet":
        return self.filter(organisation=project.organisation_id, project=project)

    def with_answers(self) -> "models.QuerySet[WithAnnotations[Source]]":
        """Annotate how many traces each has answered, as `answered`."""
        return self.annotate(answered=Count("answers"))


class Source(TenantModel):
    """A program that answers what people are asked, or a person who did so in another tool: never an annotator here.
    Another model or version is another source."""

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    name = models.CharField(max_length=200)
    model = models.CharField(max_length=200, blank=True)
    version = models.CharField(max_length=200)
    kind = models.CharField(max_length=24, choices=SourceKind.choices, default=SourceKind.OTHER)
    added_at = models.DateTimeField(default=timezone.now)

    objects = SourceQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="agreement_source_project", field="project"),
            models.UniqueConstraint(
                fields=["organisation", "project", "name", "model", "version"], name="agreement_source_once"
            ),
            models.CheckConstraint(condition=Q(kind__in=SourceKind.values), name="agreement_source_kind"),
            models.CheckConstraint(condition=~Q(name="") & ~Q(version=""), name="agreement_source_named"),
        ]
        ordering = ["name", "-added_at"]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class SourceAnswerQuerySet(models.QuerySet["SourceAnswer"]):
    def of(self, source: Source) -> "SourceAnswerQuerySet":
        return self.filter(organisation=source.organisation_id, source=source)


class SourceAnswer(TenantModel):
    """What a source said of one trace, keyed by scheme name: checked as people's answers are, exact and immutable.

    `version` is the configuration that it was checked under, `given_sha256` the hash of the answers as they came: the
    same again is known. `answered_at` is what the record says, None where it does not. `origin` says of one that was
    made in another tool which tool, file, id and author; it is empty for others.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="answers", db_index=False)
    trace = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    version = models.ForeignKey(
        "accounts.ConfigurationVersion", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    packed = models.BinaryField()
    given_sha256 = models.CharField(max_length=64)
    answered_at = models.DateTimeField(null=True)
    origin: "models.JSONField[dict[str, str]]" = models.JSONField(default=dict, db_default={})
    added_at = models.DateTimeField(default=timezone.now)
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    transaction = transaction_id()

    objects = SourceAnswerQuerySet.as_manager()

    erasable = ("origin",)

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="agreement_sourceanswer_org_id"),
            SameOrganisation(name="agreement_sourceanswer_project", field="project"),
            SameOrganisation(name="agreement_sourceanswer_source", field="source"),
            SameOrganisation(name="agreement_sourceanswer_trace", field="trace"),
            SameOrganisation(name="agreement_sourceanswer_version", field="version"),
            models.UniqueConstraint(fields=["organisation", "source", "trace"], name="agreement_sourceanswer_once"),
        ]
        # Along it PostgreSQL sees that nothing hangs on a trace that is removed.
        indexes = [models.Index(fields=["organisation", "trace"], name="agreement_sourceanswer_trace_i")]

    def __str__(self) -> str:
        return f"answer of {self.source_id}"

    @property
    def result(self) -> Any:
        return unpack(self.packed)


class SourceReportQuerySet(models.QuerySet["SourceReport"]):
    def of(self, source: Source) -> "SourceReportQuerySet":
        """The source's reports, the newest first."""
        return self.filter(organisation=source.organisation_id, source=source).order_by("-requested_at")

    def computed(self) -> "SourceReportQuerySet":
        return self.filter(computed_at__isnull=False)


class SourceReport(TenantModel):
    """How a source stood beside people's consensus at one moment; `figures` are empty until its job has computed them.

    `answers` and `annotations` count what it rests on: the source's answers, and people's annotations of the same
    traces. Rows are kept, so that a source can be followed over time.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="reports", db_index=False)
    job = models.ForeignKey("jobs.Job", on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    options: "models.JSONField[Any]" = models.JSONField(default=dict)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    requested_at = models.DateTimeField(default=timezone.now)
    computed_at = models.DateTimeField(null=True)
    snapshot: "models.JSONField[Any]" = models.JSONField(default=dict)
    answers = models.PositiveIntegerField(default=0)
    annotations = models.PositiveIntegerField(default=0)
    figures: "models.JSONField[Any]" = models.JSONField(default=dict)

    objects = SourceReportQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="agreement_sourcereport_project", field="project"),
            SameOrganisation(name="agreement_sourcereport_source", field="source"),
            SameOrganisation(name="agreement_sourcereport_job", field="job"),
        ]
        indexes = [
            models.Index(fields=["organisation", "source", "-requested_at"], name="agreement_sourcereport_newest"),
            models.Index(fields=["organisation", "job"], name="agreement_sourcereport_job"),
        ]

    def __str__(self) -> str:
        return f"report of {self.requested_at:%Y-%m-%d %H:%M}"

    @property
    def state(self) -> str:
        """The job's state, in lower case; "done" once there are figures."""
        if self.computed_at is not None:
            return str(JobState.DONE)
        return self.job.state if self.job else str(JobState.QUEUED)
