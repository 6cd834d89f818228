"""Clearing traces that are held back because keys or personal data were found: replaced, or kept as they are."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.actions.projects import demand_unarchived
from accounts.models import Project
from assignments.actions.quotas import open_quotas
from assignments.actions.releasing import QUEUE_CHANGED
from assignments.models import TraceQuota, Withheld
from assignments.models.queue import SECRETS_FOUND
from jobs import outbox
from potato.wording import counted
from tenancy import audit
from tenancy.actor import current
from traces.clearing import CannotReplace, replace_secrets
from traces.models import SecretsState, Trace, TraceSecrets

Clearing: TypeAlias = Literal["replace", "keep"]
SECONDS_AT_ONCE = 10.0
_SHOWN = 3


@dataclass(frozen=True)
class Cleared:
    """What became of the traces: how many were cleared, sentences about those that could not be, and how many are left
    to be asked for again."""

    done: int
    problems: tuple[str, ...]
    left: int
    act: Clearing

    @property
    def sentence(self) -> str:
        """For whoever asked."""
        how = "with placeholders now" if self.act == "replace" else "kept as it is" if self.done == 1 else "kept"
        parts = [f"{counted(self.done, 'trace')} {how}"]
        if self.problems:
            parts.append(f"{len(self.problems):,} not: {' '.join(self.problems[:_SHOWN])}".rstrip("."))
        if self.left:
            parts.append(f"{self.left:,} are left, ask again")
        return f"{'; '.join(parts)}."


def clear_secrets(*, project: Project, traces: Sequence[UUID], act: Clearing) -> Cleared:
    """Replace what was found in these traces, or keep it; annotators are given them then. Traces in which nothing was
    found are passed over.

    Each is a transaction of its own, and after SECONDS_AT_ONCE the others are left. Raises ProjectArchived.
    """
    demand_unarchived(project)
    _open_all(project)
    ends, done, problems = time.monotonic() + SECONDS_AT_ONCE, 0, []
    rows = TraceSecrets.objects.filter(trace__in=traces, trace__project=project).exclude(state=SecretsState.REPLACED)
    wanted = rows if act == "replace" else rows.filter(state=SecretsState.HELD)
    chosen = list(wanted.order_by("trace").values_list("trace", flat=True))
    for looked, trace in enumerate(chosen):
        if time.monotonic() >= ends:
            left = len(chosen) - looked
            break
        try:
            _clear(project, trace, act)
            done += 1
        except CannotReplace as refused:
            problems.append(refused.sentence)
    else:
        left = 0
    if done:
        outbox.publish(QUEUE_CHANGED, project=str(project.pk))
        verb = "secrets.replaced" if act == "replace" else "secrets.kept"
        audit.record(verb, project, traces=done)
    return Cleared(done, tuple(problems), left, act)


def _open_all(project: Project) -> None:
    while open_quotas(project=project):
        pass


def _clear(project: Project, trace: UUID, act: Clearing) -> None:
    with transaction.atomic():
        if act == "replace":
            replace_secrets(Trace.objects.select_related("file__job", "project").get(pk=trace))
        row = TraceSecrets.objects.select_for_update(of=("self",)).get(trace=trace)
        row.state = SecretsState.REPLACED if act == "replace" else SecretsState.KEPT
        row.decided_by_id, row.decided_at = current().user, timezone.now()
        row.save(update_fields=["state", "decided_by", "decided_at"])
        quotas = (
            TraceQuota.objects.for_project(project).filter(trace=trace).select_for_update(no_key=True, of=("self",))
        )
        for quota in quotas:
            if quota.withheld == Withheld.HELD_BACK and quota.withheld_reason == SECRETS_FOUND:
                quota.withheld = quota.withheld_reason = ""
                quota.is_released, quota.returned_at = quota.batch_id is not None, timezone.now()
                quota.save(update_fields=["withheld", "withheld_reason", "is_released", "returned_at"])
