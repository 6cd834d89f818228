"""What a program was answered under an Idempotency-Key, so that the same request again is answered the same."""

from datetime import datetime, timedelta

from django.db import models
from django.utils import timezone

from tenancy.models import TenantModel

KEPT = timedelta(days=1)


def _expiry() -> datetime:
    return timezone.now() + KEPT


class IdempotencyKeyQuerySet(models.QuerySet["IdempotencyKey"]):
    def expired(self, now: datetime) -> "IdempotencyKeyQuerySet":
        """Those past their time: a request under such a key is a new one."""
        return self.filter(expires_at__lte=now)


class IdempotencyKey(TenantModel):
    """A request that was done once. `digest` is the hash of its caller and key, `request_sha256` of what it asked.

    `status` is 0 while the request runs, in the transaction of that request, for which the same one beside it waits.
    `packed` is the body of the answer, and empty where that is not kept: a secret stands in answers once.
    """

    digest = models.CharField(max_length=64)
    request_sha256 = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    location = models.TextField(default="", blank=True)
    packed = models.BinaryField(default=b"")
    expires_at = models.DateTimeField(default=_expiry)

    objects = IdempotencyKeyQuerySet.as_manager()

    while_frozen = "everything"

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["organisation", "digest"], name="accounts_idempotencykey_digest"),
        ]
        indexes = [models.Index(fields=["organisation", "expires_at"], name="accounts_idempotency_expiry")]

    def __str__(self) -> str:
        return self.digest[:12]
