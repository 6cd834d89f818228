"""The files that traces came from, and what could not be read in them."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from tenancy.constraints import SameOrganisation
from tenancy.models import TenantModel


class ImportedFile(TenantModel):
    """A file that somebody gave to a project, kept in the storage until its job is over.

    `format` is what the person or the project named, or "auto"; `chosen` is what was read, and `reason` why. Many files
    that came together are one of these, a ZIP of them. One that was undone keeps its row, and has no traces any more.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    job = models.ForeignKey(
        "jobs.Job", on_delete=models.PROTECT, related_name="+", null=True, db_index=False, db_constraint=False
    )
    name = models.CharField(max_length=300)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    stored_as = models.CharField(max_length=300)
    format = models.CharField(max_length=64)
    chosen = models.CharField(max_length=64, blank=True)
    reason = models.TextField(blank=True)
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    added_at = models.DateTimeField(default=timezone.now)
    undone_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    undone_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="traces_importedfile_project", field="project"),
            SameOrganisation(name="traces_importedfile_job", field="job"),
        ]
        indexes = [
            models.Index(fields=["organisation", "project", "-added_at"], name="traces_importedfile_newest"),
            models.Index(fields=["organisation", "job"], name="traces_importedfile_job"),
        ]

    def __str__(self) -> str:
        return self.name


class ImportedMember(TenantModel):
    """One of the files of an import, the `number`th from 0: how it was read, and what came of it so far.

    `versions` counts those of the `imported` that are newer versions of a trace that was there.
    """

    file = models.ForeignKey(
        ImportedFile, on_delete=models.PROTECT, related_name="members", db_index=False, db_constraint=False
    )
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=500)
    size = models.PositiveBigIntegerField(default=0)
    chosen = models.CharField(max_length=64, blank=True)
    reason = models.TextField(blank=True)
    imported = models.PositiveIntegerField(default=0)
    versions = models.PositiveIntegerField(default=0)
    known = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    stated = models.PositiveIntegerField(default=0)
    reports = models.PositiveIntegerField(default=0, db_default=0)
    is_over = models.BooleanField(default=False)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="traces_importedmember_file", field="file"),
            models.UniqueConstraint(fields=["organisation", "file", "number"], name="traces_importedmember_number"),
        ]
        ordering = ["number"]

    def __str__(self) -> str:
        return self.name


class TaskText(TenantModel):
    """What a data set says that agents are asked at one of its instances, for runs that do not say it themselves.

    `file` is the import that stated it last.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    file = models.ForeignKey(
        ImportedFile, on_delete=models.PROTECT, null=True, related_name="texts", db_index=False, db_constraint=False
    )
    instance_id = models.CharField(max_length=300)
    text = models.TextField()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="traces_tasktext_project", field="project"),
            SameOrganisation(name="traces_tasktext_file", field="file"),
            models.UniqueConstraint(fields=["organisation", "project", "instance_id"], name="traces_tasktext_instance"),
        ]
        indexes = [models.Index(fields=["organisation", "file"], name="traces_tasktext_file_idx")]

    def __str__(self) -> str:
        return self.instance_id


class ImportProblem(TenantModel):
    """A line or record that gave no trace: where it stands, from 1, and a sentence that says what to do.

    `place` is WHOLE_FILE for a remark, which is about traces that came in and is no error. `member` names the file
    within an import of several, "" in any other.
    """

    WHOLE_FILE = 0

    file = models.ForeignKey(
        ImportedFile, on_delete=models.PROTECT, related_name="problems", db_index=False, db_constraint=False
    )
    member = models.CharField(max_length=500, blank=True, default="", db_default="")
    place = models.PositiveBigIntegerField()
    code = models.CharField(max_length=64)
    sentence = models.TextField()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="traces_importproblem_file", field="file"),
        ]
        indexes = [models.Index(fields=["organisation", "file", "place"], name="traces_importproblem_place")]
        ordering = ["place", "pk"]

    def __str__(self) -> str:
        return self.sentence if self.is_remark else f"{self.place}: {self.sentence}"

    @property
    def where(self) -> str:
        """As in "run.jsonl, line 3"; the member's name alone of a remark, "" where that is not known."""
        place = "" if self.is_remark else f"record {self.place:,}"
        return ", ".join(part for part in (self.member, place) if part)

    @property
    def is_remark(self) -> bool:
        return self.place == self.WHOLE_FILE
