"""What an annotator is not told where the project hides outcomes: `visibility.outcomes` of its newest version.

What a reviewer returned they are told all the same, with its notes, because the work is theirs again; not by whom.
Managers and reviewers see everything, and nothing that counts or leaves depends on it.
"""

from collections.abc import Iterable

from django.db.models import OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce

from accounts.models import ConfigurationVersion, Project
from assignments.models import Decision, Outcome

HIDDEN = "hidden"


def outcomes_are_hidden(project: Project) -> bool:
    """Whether the newest version hides them; nothing is hidden while none is published."""
    versions = ConfigurationVersion.objects.filter(project=project).order_by("-number")
    return versions.values_list("configuration__visibility__outcomes", flat=True).first() == HIDDEN


def hiding_projects(slugs: Iterable[str]) -> set[str]:
    """Those of these projects of the active organisation that hide them. One query."""
    rows = Project.objects.filter(slug__in=set(slugs)).annotate(outcomes=_outcomes("pk"))
    return set(rows.filter(outcomes=HIDDEN).values_list("slug", flat=True))


def visible_decisions(decisions: "QuerySet[Decision]") -> "QuerySet[Decision]":
    """Those that their annotator is told."""
    shown = Coalesce(_outcomes("project"), Value(""), output_field=TextField())
    return decisions.alias(visible=shown).filter(~Q(visible=HIDDEN) | Q(outcome=Outcome.RETURNED, takes_back=False))


def _outcomes(project: str) -> Subquery:
    versions = ConfigurationVersion.objects.filter(project=OuterRef(project)).order_by("-number")
    return Subquery(versions.values_list(KT("configuration__visibility__outcomes"))[:1], output_field=TextField())
