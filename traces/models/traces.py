"""A trace is one agent run to be judged. It never changes: the same external id with other content is a new version."""

from collections.abc import Collection
from typing import Any

from django.db import models
from django.db.models.functions import Cast, Concat
from django.utils import timezone

from tenancy.constraints import SameOrganisation, TenantPolicy
from tenancy.models import TenantModel
from tenancy.snapshots import transaction_id


class Operation(models.TextChoices):
    """What the agent did to a file; unchanged files were read and never edited."""

    ADDED = "added", "Added"
    MODIFIED = "modified", "Modified"
    DELETED = "deleted", "Deleted"
    RENAMED = "renamed", "Renamed"
    COPIED = "copied", "Copied"
    UNCHANGED = "unchanged", "Unchanged"


def _place(version: Any) -> Concat:
    """A version of a trace in its project, as one value."""
    text, space = models.TextField(), models.Value(" ")
    return Concat(Cast("project", text), space, Cast(version, text), space, "external_id", output_field=text)


class TraceQuerySet(models.QuerySet["Trace"]):
    def newest(self) -> "TraceQuerySet":
        """Of each external id the newest version alone.

        Versions count without gaps, so a trace is superseded where the next number is there. Asked as one list of
        the few that are, not as a question for each row: that stays fast while PostgreSQL has not counted the table.
        """
        superseded = Trace.objects.filter(version__gt=1).annotate(place=_place(models.F("version") - 1))
        return self.alias(place=_place(models.F("version"))).exclude(place__in=superseded.values("place"))

    def in_order(self) -> "TraceQuerySet":
        return self.order_by("pk")


class Trace(TenantModel):
    """One run of an agent, in one project.

    Texts in columns are for lists and filters: what PostgreSQL cannot keep in them is replaced by visible signs.
    The run as it was imported, whole and exact, is the body `content_sha256`; where placeholders took the place of
    secrets, `original_sha256` is the hash of the run with them, so that it is known when it comes again. Tokens and
    seconds are those of all steps together, NULL where no step says them. `test_runs` are the commands that ran tests,
    as potato.runs.test_runs keeps them, the last ones; `tests_outcome` is what the last of them said.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="traces", db_index=False)
    file = models.ForeignKey(
        "traces.ImportedFile", on_delete=models.PROTECT, related_name="traces", db_index=False, db_constraint=False
    )
    external_id = models.CharField(max_length=300)
    version = models.PositiveIntegerField(default=1)
    content_sha256 = models.CharField(max_length=64)
    original_sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")
    task = models.TextField(blank=True)
    task_id = models.CharField(max_length=300)
    agent_model = models.CharField(max_length=200, blank=True)
    instance_id = models.CharField(max_length=300, blank=True)
    repo = models.CharField(max_length=300, blank=True)
    base_commit = models.CharField(max_length=100, blank=True, default="", db_default="")
    agent = models.CharField(max_length=200, blank=True, default="", db_default="")
    cost_usd = models.FloatField(null=True, blank=True)
    input_tokens = models.BigIntegerField(null=True, blank=True)
    output_tokens = models.BigIntegerField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    tags: "models.JSONField[Any]" = models.JSONField(default=list)
    started_at = models.CharField(max_length=40, blank=True)
    converter = models.CharField(max_length=64)
    report: "models.JSONField[Any]" = models.JSONField(default=dict)
    gaps: "models.JSONField[Any]" = models.JSONField(default=list, db_default=[])
    test_runs: "models.JSONField[Any]" = models.JSONField(default=list, db_default=[])
    tests_outcome = models.CharField(max_length=10, blank=True, default="", db_default="")
    steps_count = models.PositiveIntegerField()
    tool_calls = models.PositiveIntegerField()
    files_count = models.PositiveIntegerField()
    added = models.PositiveIntegerField()
    removed = models.PositiveIntegerField()
    error_steps = models.PositiveIntegerField(default=0)
    badged_files = models.PositiveIntegerField(default=0)
    imported_at = models.DateTimeField(default=timezone.now)
    transaction = transaction_id()

    objects = TraceQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="traces_trace_org_id"),
            SameOrganisation(name="traces_trace_project", field="project"),
            SameOrganisation(name="traces_trace_file", field="file"),
            models.UniqueConstraint(
                fields=["organisation", "project", "external_id", "version"], name="traces_trace_external_id"
            ),
        ]
        indexes = [
            models.Index(fields=["organisation", "project", "agent_model"], name="traces_trace_agent_model"),
            models.Index(fields=["organisation", "project", "task_id"], name="traces_trace_task_id"),
            models.Index(fields=["organisation", "file"], name="traces_trace_file"),
            models.Index(fields=["organisation", "project", "instance_id"], name="traces_trace_instance"),
            models.Index(fields=["organisation", "content_sha256"], name="traces_trace_content"),
        ]

    def __str__(self) -> str:
        return self.external_id if self.version == 1 else f"{self.external_id} (version {self.version})"


class TraceStep(TenantModel):
    """One ratable act: its place in the run, what a list says of it, and its content as the body `sha256`.

    `picture` is the hash of its screenshot, "" where it has none; `result_pictures` are those of its other pictures:
    what its tools gave back, and what the user sent, also in agents that it started. `is_noise` says that it only
    looked around, without a word: pages put several such steps in a row under one heading. `dividers` are the names
    of what happened to the conversation just before it, with a blank between them. `model` and `agent` are named
    where they are others than the trace's; `usage` is what the step took, as potato.runs.exact_json keeps it.
    """

    trace = models.ForeignKey(
        Trace, on_delete=models.PROTECT, related_name="steps", db_index=False, db_constraint=False
    )
    index = models.PositiveIntegerField()
    title = models.CharField(max_length=200)
    detail = models.CharField(max_length=300, blank=True)
    kind = models.CharField(max_length=40)
    is_error = models.BooleanField(default=False)
    is_noise = models.BooleanField(default=False, db_default=False)
    picture = models.CharField(max_length=64, blank=True, default="", db_default="")
    result_pictures: "models.JSONField[Any]" = models.JSONField(default=list, db_default=[])
    dividers = models.CharField(max_length=200, blank=True, default="", db_default="")
    model = models.CharField(max_length=200, blank=True, default="", db_default="")
    agent = models.CharField(max_length=200, blank=True, default="", db_default="")
    usage: "models.JSONField[Any]" = models.JSONField(default=dict, db_default={})
    sha256 = models.CharField(max_length=64)

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="traces_tracestep_org_id"),
            SameOrganisation(name="traces_tracestep_trace", field="trace"),
            models.UniqueConstraint(fields=["organisation", "trace", "index"], name="traces_tracestep_index"),
        ]
        indexes = [
            # Whether a removed trace's contents are any other's.
            models.Index(fields=["organisation", "sha256"], name="traces_tracestep_content"),
            models.Index(
                fields=["organisation", "picture"], condition=~models.Q(picture=""), name="traces_tracestep_picture"
            ),
            models.Index(
                fields=["organisation", "trace"],
                condition=~models.Q(result_pictures=[]),
                name="traces_tracestep_pictures",
            ),
        ]
        ordering = ["index"]

    def __str__(self) -> str:
        return f"step {self.index}"

    @property
    def has_pictures(self) -> bool:
        return bool(self.picture or self.result_pictures)


def step_with_picture(steps: "models.QuerySet[TraceStep]", sha256: str) -> TraceStep | None:
    """One of the steps that has the picture, as its screenshot or from a tool."""
    given = steps.exclude(result_pictures=[]).filter(result_pictures__contains=[sha256])
    return steps.filter(picture=sha256).first() or given.first()


def pictures_of(steps: "models.QuerySet[TraceStep]", among: Collection[str] | None = None) -> set[str]:
    """The hashes of the pictures that the steps have, all or those among some."""
    seen, given = steps.exclude(picture=""), steps.exclude(result_pictures=[])
    if among is not None:
        seen, given = seen.filter(picture__in=among), given.filter(result_pictures__has_any_keys=list(among))
    lists = given.values_list("result_pictures", flat=True)
    found = {*seen.values_list("picture", flat=True), *(sha256 for each in lists for sha256 in each)}
    return found if among is None else found.intersection(among)


class TraceFile(TenantModel):
    """One file that the agent touched, with the change as the body `sha256`. `badges` are codes and sentences, `links`
    the steps that wrote the changed lines, as traces.importing.line_links keeps them."""

    trace = models.ForeignKey(
        Trace, on_delete=models.PROTECT, related_name="files", db_index=False, db_constraint=False
    )
    index = models.PositiveIntegerField()
    path = models.TextField()
    old_path = models.TextField(blank=True)
    operation = models.CharField(max_length=12, choices=Operation.choices)
    is_binary = models.BooleanField(default=False)
    added = models.PositiveIntegerField()
    removed = models.PositiveIntegerField()
    badges: "models.JSONField[Any]" = models.JSONField(default=list)
    touched_by: "models.JSONField[Any]" = models.JSONField(default=list)
    links: "models.JSONField[Any]" = models.JSONField(default=dict, db_default={})
    sha256 = models.CharField(max_length=64)

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="traces_tracefile_org_id"),
            SameOrganisation(name="traces_tracefile_trace", field="trace"),
            models.UniqueConstraint(fields=["organisation", "trace", "index"], name="traces_tracefile_index"),
            models.CheckConstraint(
                condition=models.Q(operation__in=Operation.values), name="traces_tracefile_operation"
            ),
        ]
        indexes = [models.Index(fields=["organisation", "sha256"], name="traces_tracefile_content")]
        ordering = ["index"]

    def __str__(self) -> str:
        return self.path
