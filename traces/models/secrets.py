"""What was found in a trace that nobody should read: keys and personal data. Never the secret itself."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from tenancy.constraints import SameOrganisation
from tenancy.models import TenantModel


class SecretsState(models.TextChoices):
    """What became of it. Nobody is given a trace that is `held`."""

    HELD = "held", "Held back"
    REPORTED = "reported", "Listed only"
    REPLACED = "replaced", "Replaced with placeholders"
    KEPT = "kept", "Kept as it is"


class TraceSecretsQuerySet(models.QuerySet["TraceSecrets"]):
    def held(self) -> "TraceSecretsQuerySet":
        """Those of traces that wait until somebody clears them."""
        return self.filter(state=SecretsState.HELD)


class TraceSecrets(TenantModel):
    """What was found in one trace, at most one row a trace.

    `kinds` has how many different secrets there are of each kind, `places` the first places as objects of `kind`,
    `step`, `part`, `file` and `line`, `occurrences` the number of all. `decided_by` is who cleared it, None for the
    import itself.
    """

    trace = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, related_name="secrets", db_index=False, db_constraint=False
    )
    state = models.CharField(max_length=10, choices=SecretsState.choices)
    kinds: "models.JSONField[Any]" = models.JSONField(default=dict)
    places: "models.JSONField[Any]" = models.JSONField(default=list)
    occurrences = models.PositiveIntegerField(default=0)
    found_at = models.DateTimeField(default=timezone.now)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)

    objects = TraceSecretsQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="traces_tracesecrets_trace", field="trace"),
            models.UniqueConstraint(fields=["organisation", "trace"], name="traces_tracesecrets_one_a_trace"),
            models.CheckConstraint(condition=models.Q(state__in=SecretsState.values), name="traces_tracesecrets_state"),
        ]

    def __str__(self) -> str:
        return f"{self.occurrences} in {self.trace_id}"
