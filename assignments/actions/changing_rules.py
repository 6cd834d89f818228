"""Changing what a standing rule takes of later imports, with a preview and an undo."""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from accounts.models import Project
from assignments.actions.outcomes import Outcome, keep_act
from assignments.models import StandingRule, SteeringAct
from assignments.pool.selecting import Selection, taken_by_share
from assignments.pool.states import project_traces
from tenancy import audit
from tenancy.errors import Refused

LOOKED_AT = 10_000


@dataclass(frozen=True)
class RulePreview:
    """What a rule would take if the project's newest traces, as many as were looked at, came in now."""

    looked_at: int
    matching: int
    taken: tuple[UUID, ...]
    """The newest first."""


def preview_rule(project: Project, selection: Selection) -> RulePreview:
    """Which of the newest LOOKED_AT traces of the project the rule would take. Changes nothing."""
    newest = project_traces(project).order_by("-pk").values("pk")[:LOOKED_AT]
    fit = selection.filters.chosen_traces(project_traces(project).filter(pk__in=newest))
    rows = list(fit.order_by("-pk").values_list("pk", "external_id"))
    taken = taken_by_share(rows, share=selection.share, seed=selection.seed)
    return RulePreview(len(newest), len(rows), tuple(pk for pk, _ in rows if pk in taken))


def change_rule(*, rule: StandingRule, selection: Selection) -> Outcome:
    """Take this of later imports from now on. What the rule has released stays released, and what it has left waits
    where it is. Raises Refused for a rule that has ended, and for a number or single traces, which no rule can take."""
    if selection.take == "number" or selection.ids or selection.without:
        raise Refused("A standing rule takes all, or a share, of what each import brings. Choose one of these.")
    with transaction.atomic():
        rows = StandingRule.objects.select_for_update(no_key=True, of=("self",)).select_related("batch", "project")
        row = rows.get(pk=rule.pk)
        if row.ended_at is not None:
            raise Refused("This rule has ended meanwhile. Release a batch with a new one.")
        before, now = row.selection, selection.data()
        if before == now:
            return Outcome(0, f"The rule of “{row.batch.name}” is so already.")
        row.selection = now
        row.save(update_fields=["selection"])
        sentence = f"Of each later import goes into “{row.batch.name}”: {selection.description}."
        act = keep_act(row.project, "rule.changed", sentence, {"rule": str(row.pk), "selection": before})
        audit.record("rule.changed", row, batch=row.batch.name, rule=selection.description, before=before, now=now)
    return Outcome(1, sentence, act)


def undo_rule(act: SteeringAct) -> int:
    """Take again what the rule took before; returns 0 where it has ended since."""
    rows = StandingRule.objects.filter(pk=act.before["rule"], ended_at__isnull=True)
    return rows.update(selection=act.before["selection"])
