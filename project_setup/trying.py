"""A task page that nobody was given: the real one, under a configuration that is not published, for looking and trying.

Its trace, version and assignment exist in a transaction that is rolled back, so that nothing of them is ever seen by
anybody, and every part of the page is made by the code that makes it for annotators.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any
from uuid import UUID, uuid4, uuid5

from django.db import transaction
from django.db.models import Max
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from accounts.models import ConfigurationVersion, Project, User
from assignments.models import Assignment
from assignments.task_page.page import TaskPage
from assignments.task_page.scheme_colours import scheme_colours_sheet
from potato.configuration import ProjectConfiguration
from project_setup.sample_runs import sample_for, sample_run, with_shipped_pictures
from tenancy.actor import ActiveMembership
from traces.evidence.pages import addresses
from traces.evidence.responses import files_tab, steps_tab
from traces.importing.storing import store_run
from traces.models import ImportedFile, Trace
from traces.rendering.prose import prose

_TABS = ("files", "steps", "guidelines")
_HOLD = timedelta(hours=12)
SAMPLE = "sample"


@contextmanager
def passing_trace(project: Project, configuration: ProjectConfiguration, trace: str) -> Iterator[Trace]:
    """The trace to look at: the sample run for SAMPLE, else the project's own with that id. All that is written
    meanwhile is undone. Raises Trace.DoesNotExist."""
    with transaction.atomic():
        try:
            yield _sample(project, configuration) if trace == SAMPLE else _own_trace(project, trace)
        finally:
            transaction.set_rollback(True)


def _sample(project: Project, configuration: ProjectConfiguration) -> Trace:
    # Of a project of its own, so that nobody waits for an import into this one.
    passing = Project.objects.create(slug=f"sample-{uuid4().hex}", name="Sample")
    file = ImportedFile.objects.create(project=passing, name="sample", size=0, sha256="", format="native")
    file.chosen = "native"
    store_run(sample_run(sample_for(configuration)), file)
    return Trace.objects.get(project=passing)


def _own_trace(project: Project, trace: str) -> Trace:
    try:
        key = UUID(trace)
    except ValueError:
        raise Trace.DoesNotExist from None
    return Trace.objects.get(project=project, pk=key)


@dataclass(frozen=True)
class TrialPage(TaskPage):
    """A task page on which everything can be done and nothing is kept. `where` is SAMPLE or the id of a trace."""

    where: str = SAMPLE

    @cached_property
    def suggestions(self) -> list[dict[str, Any]]:
        """None: what is drawn for a task is kept."""
        return []

    @cached_property
    def urls(self) -> dict[str, str | None]:
        """As for a task, but within the set-up; its colours come with the page."""
        slug = self.assignment.project.slug
        query = "" if self.where == SAMPLE else f"?trace={self.where}"
        steps = self.shows_steps and self.trace.steps_count > 0
        return {
            "files": reverse("set-up-try", args=[slug, "files"]) + query,
            "steps": reverse("set-up-try", args=[slug, "steps"]) + query if steps else None,
            "guidelines": reverse("set-up-try", args=[slug, "guidelines"]) + query
            if self.configuration.guidelines
            else None,
            "home": reverse("set-up", args=[slug]),
            "next": reverse("set-up-try", args=[slug, "begin"]) + query,
            "colours": None,
        }

    def html(self, request: HttpRequest, tab: str, membership: ActiveMembership, user: User, **trial: Any) -> str:
        """The whole page. `trial` is what its scripts are told beside a task's data."""
        context = self.context(self._tab(request, tab), membership, user)
        context["reading"] = "known"
        context["task_data"]["trial"] = {"colours": scheme_colours_sheet(self.configuration), **trial}
        html = render_to_string(f"assignments/task_{tab}.html", context, request)
        return with_shipped_pictures(html) if self.where == SAMPLE else html

    def _tab(self, request: HttpRequest, tab: str) -> dict[str, Any]:
        slug = self.assignment.project.slug
        if tab == "guidelines":
            return {"tab": tab, "guidelines": prose(self.configuration.guidelines or "", is_flowing=True)}
        if tab == "steps":
            address = addresses("set-up-step-fragment", slug, self.trace.pk)
            return steps_tab(request, self.trace, self.configuration, address, hides_later_steps=self.hides_later_steps)
        address = addresses("set-up-file-fragment", slug, self.trace.pk)
        return files_tab(request, self.trace, self.configuration, address, with_links=self.shows_links)

    def tab(self, wanted: str) -> str:
        """The tab that is wanted where the page has it, else the one on which the work begins."""
        if wanted in _TABS and self.urls[wanted]:
            return wanted
        return "steps" if self.starts_with_steps and self.urls["steps"] else "files"


def trial_page(
    project: Project, source: str, configuration: ProjectConfiguration, trace: Trace, user: User, where: str
) -> TrialPage:
    """The page of the trace under the configuration, as the user would be given it. Call it within passing_trace."""
    number = project.versions.aggregate(newest=Max("number"))["newest"] or 0
    version = ConfigurationVersion.objects.create(
        # The same text gives the same id: what is kept in memory by it is the same too.
        pk=uuid5(project.pk, source),
        project=project,
        number=number + 1,
        source=source,
        configuration=configuration.model_dump(mode="json"),
    )
    now = timezone.now()
    assignment = Assignment(
        pk=uuid5(project.pk, f"{user.pk} {where}"),
        organisation_id=project.organisation_id,
        project=project,
        trace=trace,
        user=user,
        version=version,
        claimed_at=now,
        since=now,
        lease_until=now + _HOLD,
    )
    return TrialPage(assignment, configuration, False, where)
