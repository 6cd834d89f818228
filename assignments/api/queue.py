"""How a project's queue is looked at and taken back by programs: previews, standing rules, imports that wait, skips."""

from typing import Annotated
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import Body, read
from accounts.api.views import ApiView
from assignments.actions.changing_rules import change_rule
from assignments.actions.quotas import open_quotas
from assignments.actions.releasing import end_rule
from assignments.actions.steering import let_imports_wait
from assignments.actions.withholding import undo
from assignments.api.pages import cursor_page
from assignments.api.parameters import CURSOR
from assignments.api.steering import Release, refuse_unknown, release_selection
from assignments.models import StandingRule, SteeringAct
from assignments.pool.filters import PoolFilters
from assignments.pool.progress import skips
from assignments.pool.selecting import LARGEST_SEED, Selection, take_sample
from assignments.pool.states import imports_wait
from potato.api.steering import ReleasePreview, ReleaseStratum, Rule, Rules, SkipCounts, SkipReason, Undone
from tenancy.roles import Right

_FIRST = 100


class RuleBody(Body):
    """What a standing rule takes of each later import."""

    filter: dict[str, str | list[str]] = {}
    """As in the address of the list of traces: `{"model": ["agent-c"]}`."""
    share: Annotated[float, Field(gt=0, le=100)] = 100.0
    """Per cent of what fits; 100 for all."""
    seed: Annotated[int, Field(ge=0, le=LARGEST_SEED)] = 0


class ImportsWait(Body):
    wait: bool
    """Whether later imports wait in the pool until somebody releases them."""


class QueueView(ApiView):
    right = Right.MANAGE_PROJECTS


class ReleasePreviewView(QueueView):
    @extend_schema(request=Release, responses=ReleasePreview)
    def post(self, request: Request, project: str) -> Response:
        """What a release would take; nothing is released. The body is that of a release."""
        chosen, body = self.project(), read(Release, request)
        while open_quotas(project=chosen):
            pass
        sample = take_sample(chosen, release_selection(body))
        strata = [ReleaseStratum(name=one.name, matching=one.matching, taken=one.taken) for one in sample.strata]
        return Response(
            ReleasePreview(
                matching=sample.matching,
                taken=sample.count,
                strata=strata,
                first=sample.first(_FIRST),
                digest=sample.digest,
            )
        )


class RulesView(ApiView):
    right = Right.SEE_TRACES

    @extend_schema(parameters=[CURSOR], responses=Rules)
    def get(self, request: Request, project: str) -> Response:
        """The standing rules, in the order in which they are asked, which is that of their making. A release with
        `rule` adds one."""
        chosen = self.project()
        rows = StandingRule.objects.filter(organisation=chosen.organisation_id, project=chosen, ended_at__isnull=True)
        following, previous, page = cursor_page(rows.select_related("batch"), request)
        return Response(Rules(next=following, previous=previous, results=[_rule(row) for row in page]))


class RuleView(QueueView):
    @extend_schema(request=RuleBody, responses=Rule)
    def put(self, request: Request, project: str, rule_id: UUID) -> Response:
        """Change what a standing rule takes of later imports. What it released stays released."""
        rows = StandingRule.objects.select_related("batch")
        rule = get_object_or_404(rows, pk=rule_id, project=self.project(), ended_at__isnull=True)
        body = read(RuleBody, request)
        refuse_unknown(body.filter)
        take = "all" if body.share == 100 else "share"
        filters = PoolFilters.from_data(body.filter)
        change_rule(rule=rule, selection=Selection(filters=filters, take=take, share=body.share, seed=body.seed))
        rule.refresh_from_db()
        return Response(_rule(rule))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, project: str, rule_id: UUID) -> Response:
        """End a standing rule. What it released stays released."""
        end_rule(rule=get_object_or_404(StandingRule, pk=rule_id, project=self.project()))
        return Response(status=204)


class ImportsWaitView(ApiView):
    right = Right.SEE_TRACES
    right_to_change = Right.MANAGE_PROJECTS

    @extend_schema(responses=ImportsWait)
    def get(self, request: Request, project: str) -> Response:
        """Whether imports wait in the pool."""
        return Response(ImportsWait(wait=imports_wait(self.project())))

    @extend_schema(request=ImportsWait, responses=ImportsWait)
    def put(self, request: Request, project: str) -> Response:
        """Have later imports wait in the pool, or be released at once."""
        chosen, body = self.project(), read(ImportsWait, request)
        return Response(ImportsWait(wait=let_imports_wait(project=chosen, wait=body.wait).imports_wait))


class SkipsView(ApiView):
    right = Right.SEE_TRACES

    @extend_schema(responses=SkipCounts)
    def get(self, request: Request, project: str) -> Response:
        """How often tasks were skipped, and why."""
        counted = skips(self.project())
        reasons = [SkipReason(reason=reason, number=number) for reason, number in counted.reasons]
        return Response(SkipCounts(total=counted.total, reasons=reasons))


class UndoSteeringView(QueueView):
    @extend_schema(request=None, responses=Undone)
    def post(self, request: Request, project: str, act_id: UUID) -> Response:
        """Take back what was done to traces or batches, within 30 seconds; what was changed since stays as it is."""
        act = get_object_or_404(SteeringAct, pk=act_id, project=self.project())
        return Response(Undone(sentence=undo(act=act)))


def _rule(row: StandingRule) -> Rule:
    return Rule(
        id=row.pk,
        number=row.number,
        batch=row.batch.number,
        selection=row.selection,
        description=Selection.from_data(row.selection).description,
        taken=row.taken,
        made_at=row.made_at,
    )


_PROJECT = "projects/<slug:project>/"

urlpatterns = [
    path(f"{_PROJECT}batches/preview/", ReleasePreviewView.as_view(), name="api-release-preview"),
    path(f"{_PROJECT}rules/", RulesView.as_view(), name="api-rules"),
    path(f"{_PROJECT}rules/<uuid:rule_id>/", RuleView.as_view(), name="api-rule"),
    path(f"{_PROJECT}imports-wait/", ImportsWaitView.as_view(), name="api-imports-wait"),
    path(f"{_PROJECT}skips/", SkipsView.as_view(), name="api-skips"),
    path(f"{_PROJECT}steering/<uuid:act_id>/undo/", UndoSteeringView.as_view(), name="api-undo-steering"),
]
