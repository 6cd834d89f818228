"""The files that traces came from, and what could not be read in them."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from tenancy.constraints import SameOrganisation
from tenancy.models import TenantModel


class ImportedFile(TenantModel):
    """A file that somebody gave to a project, kept in the storage until its job is over.

    `format` is what the person or the project named, or "auto"; `chosen` is what was read, and `reason` why.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    job = models.ForeignKey("jobs.Job", on_delete=models.PROTECT, related_name="+", null=True, db_index=False)
    name = models.CharField(max_length=300)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    stored_as = models.CharField(max_length=300)
    format = models.CharField(max_length=64)
    chosen = models.CharField(max_length=64, blank=True)
    reason = models.TextField(blank=True)
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    added_at = models.DateTimeField(default=timezone.now)

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


class TaskText(TenantModel):
    """What a data set says that agents are asked at one of its instances, for runs that come in after it."""

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    instance_id = models.CharField(max_length=300)
    text = models.TextField()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="traces_tasktext_project", field="project"),
            models.UniqueConstraint(fields=["organisation", "project", "instance_id"], name="traces_tasktext_instance"),
        ]

    def __str__(self) -> str:
        return self.instance_id


class ImportProblem(TenantModel):
    """A line or record that gave no trace: where it stands, from 1, and a sentence that says what to do.

    `place` is WHOLE_FILE for a remark, which is about traces that came in and is no error.
    """

    WHOLE_FILE = 0

    file = models.ForeignKey(ImportedFile, on_delete=models.PROTECT, related_name="problems", db_index=False)
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
    def is_remark(self) -> bool:
        return self.place == self.WHOLE_FILE
