"""How much an organisation keeps of its exports, for how long, and by which key its people get other names."""

import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from exports.models import Export, ExportPolicy
from exports.pseudonyms import Pseudonyms
from potato.runs.run_files import in_words
from tenancy import audit
from tenancy.actor import active_organisation
from tenancy.errors import Refused

AMBER_FROM = 0.8
_MIB = 2**20


class OverQuota(Refused):
    code = "over_quota"


@dataclass(frozen=True)
class Usage:
    """How many bytes the kept files have, of those that the organisation may keep; None where there is no bound."""

    used: int
    quota: int | None

    @property
    def share(self) -> float:
        if self.quota is None:
            return 0.0
        return self.used / self.quota if self.quota else 1.0

    @property
    def is_amber(self) -> bool:
        """Whether somebody should make room soon."""
        return self.quota is not None and self.share >= AMBER_FROM

    @property
    def is_full(self) -> bool:
        return self.quota is not None and self.used >= self.quota

    @property
    def sentence(self) -> str:
        if self.quota is None:
            return f"{in_words(self.used)} of exports are kept; there is no bound."
        sentence = f"{in_words(self.used)} of {in_words(self.quota)} of exports are kept ({self.share:.0%})."
        return (
            f"{sentence} The oldest go when their days are over; an admin can raise the quota."
            if self.is_amber
            else sentence
        )


def policy() -> ExportPolicy:
    """What the active organisation has decided; a row that is not stored where it has decided nothing."""
    return ExportPolicy.objects.first() or ExportPolicy()


def usage() -> Usage:
    """Of the active organisation: the files that are kept, and those that are being written."""
    kept = Export.objects.filter(removed_at=None).exclude(parts=[]).aggregate(bytes=Sum("bytes"))["bytes"]
    quota = policy().quota_mib
    return Usage(int(kept or 0), None if quota is None else quota * _MIB)


def demand_room() -> None:
    """Raises OverQuota where the organisation keeps as much as it may."""
    now = usage()
    if now.is_full:
        raise OverQuota(
            f"The organisation keeps {in_words(now.used)} of exports, and may keep {in_words(now.quota or 0)}. Wait "
            "until old files are removed, or have an admin raise the quota under Export policy."
        )


def retention() -> timedelta:
    """How long a file is kept that is finished now."""
    return timedelta(days=policy().retention_days or settings.EXPORT_RETENTION_DAYS)


def pseudonyms() -> Pseudonyms:
    """By the organisation's key, which is made where there is none."""
    row = _locked_policy()
    return Pseudonyms(row.pseudonym_key, row.pseudonym_key_made_at or timezone.now())


def replace_pseudonym_key() -> ExportPolicy:
    """From now on everybody has another name in exports: nobody can tell that a person is one of an earlier file."""
    with transaction.atomic():
        row = _locked_policy()
        _make_key(row)
        audit.record("export_policy.pseudonym_key_replaced", row)
    return row


def change_policy(*, quota_mib: int | None, retention_days: int | None) -> ExportPolicy:
    with transaction.atomic():
        row = _locked_policy()
        row.quota_mib, row.retention_days = quota_mib, retention_days
        row.full_clean()
        row.save(update_fields=["quota_mib", "retention_days"])
        audit.record("export_policy.changed", row, quota_mib=quota_mib, retention_days=retention_days)
    return row


def _locked_policy() -> ExportPolicy:
    with transaction.atomic():
        ExportPolicy.objects.bulk_create([ExportPolicy()], ignore_conflicts=True)
        row = ExportPolicy.objects.select_for_update(of=("self",)).get(organisation=active_organisation())
        if not row.pseudonym_key:
            _make_key(row)
    return row


def _make_key(row: ExportPolicy) -> None:
    row.pseudonym_key, row.pseudonym_key_made_at = secrets.token_hex(32), timezone.now()
    row.save(update_fields=["pseudonym_key", "pseudonym_key_made_at"])
