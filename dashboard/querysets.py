"""Which projects' tallies are due for a walk, and which statistics are to be computed again."""

from datetime import UTC, datetime, timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import ConfigurationVersion, Project
from assignments.models import Submission
from dashboard.models import CountedAnnotation, ProjectTally, RewardStatistics
from tenancy.actor import active_organisation

AGAIN_AFTER = timedelta(days=1)
"""The SQL function dashboard_organisations_to_walk() says the same for all organisations."""


def to_walk() -> "QuerySet[Project]":
    """Projects of the active organisation with submissions, that were not walked to the end within a day."""
    organisation = active_organisation()
    own = Q(organisation=organisation, project=OuterRef("pk"))
    recent = ProjectTally.objects.filter(own, walked_at__gt=timezone.now() - AGAIN_AFTER)
    return Project.objects.filter(
        Exists(Submission.objects.filter(own)), ~Exists(recent), organisation=organisation
    ).order_by("pk")


STATISTICS_AGAIN_AFTER = timedelta(hours=1)
"""The SQL function dashboard_organisations_with_old_statistics() says the same for all organisations."""


def with_old_statistics() -> "QuerySet[Project]":
    """Projects of the active organisation with annotations of process rewards that are not in the statistics, which
    were not asked for within the last hour."""
    organisation = active_organisation()
    own = Q(organisation=organisation, project=OuterRef("pk"))
    rewarded = ConfigurationVersion.objects.filter(
        own, configuration__contains={"annotation_schemes": [{"annotation_type": "process_reward"}]}
    )
    statistics = RewardStatistics.objects.filter(own)
    recent = statistics.filter(requested_at__gte=timezone.now() - STATISTICS_AGAIN_AFTER)
    newer = CountedAnnotation.objects.filter(own, submitted_at__gt=OuterRef("computed_at"))
    never = Value(datetime.min.replace(tzinfo=UTC))
    return (
        Project.objects.filter(Exists(rewarded), ~Exists(recent), organisation=organisation)
        .alias(computed_at=Coalesce(Subquery(statistics.values("computed_at")[:1]), never))
        .filter(Exists(newer))
        .order_by("pk")
    )
