"""Leaving a matter that needs attention for a while, with a reason that others can read."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.attention import AttentionItem
from accounts.models import Project
from dashboard.models import Dismissal
from jobs.row_text import storable
from tenancy import audit
from tenancy.actor import current
from tenancy.errors import Refused

LASTS = timedelta(days=7)


class DismissalNeedsReason(Refused):
    code = "reason_needed"
    status = 400


def dismiss(*, project: Project, matter: AttentionItem, reason: str) -> Dismissal:
    """Show the matter no more for LASTS, as long as its cause is the same. Raises DismissalNeedsReason."""
    written = storable(reason.strip(), 300)
    if not written:
        raise DismissalNeedsReason("Say in a few words why this can wait; whoever asks later reads it.")
    now = timezone.now()
    with transaction.atomic():
        dismissal, _ = Dismissal.objects.update_or_create(
            project=project,
            key=matter.key,
            defaults={"reason": written, "dismissed_by_id": current().user, "dismissed_at": now, "until": now + LASTS},
        )
        audit.record("attention.dismissed", project, matter=matter.sentence, reason=written)
    return dismissal


def dismissed_keys(project: Project) -> set[str]:
    """The keys of what is not to be shown now."""
    rows = Dismissal.objects.filter(organisation=project.organisation_id, project=project, until__gt=timezone.now())
    return set(rows.values_list("key", flat=True))
