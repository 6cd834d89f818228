"""What was chosen in a project's annotations, counted once so that a page need not unpack them all.

Submissions are packed documents, and SQL cannot look into them. So each is unpacked once, after it was made, and its
choices are added to the project's tally; when it counts no more they are taken out again. The tally is one row of
a few kilobytes, whatever the number of annotations; it lags behind them by the time that events take, and says by how
many annotations. It holds no names and no texts: choices and numbers alone.
"""

from django.db import models

from tenancy.constraints import SameOrganisation
from tenancy.models import TenantModel

Counts = dict[str, dict[str, dict[str, int]]]
"""How often each value was chosen: by scheme key, question and value, as accounts.configuration.annotations says."""


class ProjectTally(TenantModel):
    """How often each value was chosen in the annotations of a project that count. Its lock is taken first.

    `annotations` are those that are in it. Events bring it up to date; `walked_to` and `walked_at` are of the walk
    over all submissions that makes sure: how far it is, and when it came to the end last.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    counts: "models.JSONField[Counts]" = models.JSONField(default=dict)
    annotations = models.PositiveBigIntegerField(default=0)
    walked_to = models.UUIDField(null=True)
    walked_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="dashboard_projecttally_project", field="project"),
            models.UniqueConstraint(fields=["organisation", "project"], name="dashboard_projecttally_one"),
        ]

    def __str__(self) -> str:
        return f"tally of {self.annotations} annotations"


class TalliedAssignment(TenantModel):
    """Which submission of an assignment is in the tally."""

    assignment = models.ForeignKey("assignments.Assignment", on_delete=models.PROTECT, related_name="+", db_index=False)
    submission = models.ForeignKey("assignments.Submission", on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="dashboard_talliedassignment_assignment", field="assignment"),
            SameOrganisation(name="dashboard_talliedassignment_submission", field="submission"),
            models.UniqueConstraint(fields=["organisation", "assignment"], name="dashboard_talliedassignment_once"),
        ]

    def __str__(self) -> str:
        return f"{self.submission_id} is counted"
