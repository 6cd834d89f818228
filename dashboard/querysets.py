"""Which projects' tallies are due for a walk."""

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.models import Project
from assignments.models import Submission
from dashboard.models import ProjectTally
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
