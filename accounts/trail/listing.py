"""Which decisions somebody may read, and what a list of them can be narrowed to."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Self

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.filters import Filters
from accounts.models import AuditEvent, Project
from tenancy.actor import ActiveMembership
from tenancy.ids import read_id
from tenancy.roles import Right
from tenancy.sentences import read_only_verbs, subjects, verbs_about

PERIODS = {"1": "the last day", "7": "the last 7 days", "30": "the last 30 days", "365": "the last year", "all": "all"}


def readable_decisions(membership: ActiveMembership) -> "QuerySet[AuditEvent]":
    """All of the organisation for those who may see its audit trail; else those of the projects that one manages. A
    token reads of both what its scopes open."""
    rows = AuditEvent.objects.filter(organisation=membership.organisation_id)
    if membership.wields(Right.SEE_AUDIT):
        return rows
    if not membership.in_scope(Right.MANAGE_PROJECTS):
        return rows.none()
    return rows.filter(of_project__in=readable_projects(membership).values("pk"))


def readable_projects(membership: ActiveMembership) -> "QuerySet[Project]":
    return Project.objects.visible_to(membership).with_right(membership, Right.MANAGE_PROJECTS).defer("draft")


@dataclass(frozen=True)
class DecisionFilters(Filters):
    """What an address asks for: `project` is a slug, `about` one of `subjects()`, `days` one of PERIODS, `before` the
    id behind which the page begins, `target` the id of what was decided upon."""

    q: str = ""
    project: str = ""
    about: str = ""
    days: str = "30"
    changes: str = ""
    target: str = ""
    before: str = ""

    allowed = {"days": PERIODS}

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """What nobody can be asked for is left out. About one thing all is asked for that was ever decided."""
        asked = super().of(query)
        return replace(
            asked,
            days="all" if asked.target and query.get("days", "").strip() not in PERIODS else asked.days,
            about=asked.about if asked.about in subjects() else "",
            target=str(read_id(asked.target) or ""),
            before=str(read_id(asked.before) or ""),
        )

    def chosen(self, rows: "QuerySet[AuditEvent]") -> "QuerySet[AuditEvent]":
        """Those of the decisions that every filter lets through, the newest first."""
        for word in self.q.split():
            rows = rows.filter(
                Q(person_name__icontains=word) | Q(target_label__icontains=word) | Q(verb__icontains=word)
            )
        if self.project:
            rows = rows.filter(of_project__in=Project.objects.filter(slug=self.project).values("pk"))
        if self.about:
            rows = rows.filter(verb__in=verbs_about(self.about))
        if self.changes:
            rows = rows.exclude(verb__in=read_only_verbs())
        if self.target:
            rows = rows.filter(target_id=self.target)
        if self.days != "all":
            rows = rows.filter(at__gte=timezone.now() - timedelta(days=int(self.days)))
        if self.before:
            rows = rows.filter(pk__lt=self.before)
        return rows.order_by("-pk")

    @property
    def narrows(self) -> bool:
        return bool(self.q or self.project or self.about or self.changes or self.target)
