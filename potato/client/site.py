"""What a program asks of a whole site: who it is, which projects there are, and an annotator's own work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from potato.api.adjudication import AdjudicationMade, NewSettlement, ToSettle
from potato.api.people import Caller
from potato.api.projects import Checked, ProjectState
from potato.api.shapes import (
    Assignment,
    AssignmentInDetail,
    Assignments,
    Lines,
    Project,
    Projects,
    Saved,
    State,
    Submitted,
)
from potato.api.suggestions import SuggestedItem, TaskSuggestions
from potato.client.operations import operation
from potato.client.organisation import OrganisationOperations
from potato.client.reviewing import DecisionOperations
from potato.client.steps import Steps, ask, get, path, send


def configuration_body(source: str | None, configuration: Mapping[str, Any] | None) -> dict[str, Any]:
    """A project's configuration as the site takes it: YAML, or the same as JSON. Raises ValueError for both."""
    if source is not None and configuration is not None:
        raise ValueError("Give the configuration as text or as a mapping, not both.")
    given = {"source": source, "configuration": configuration}
    return {name: value for name, value in given.items() if value is not None}


class SiteOperations(OrganisationOperations, DecisionOperations):
    """The operations of a client. An answer is a model of `potato.api`."""

    @operation
    def whoami(self) -> Steps[Caller]:
        """Who the token acts as, with which rights and projects, and until when."""
        return ask(get(path("whoami")), Caller)

    @operation
    def projects(self) -> Steps[list[Project]]:
        """The published projects that the caller sees, and how far they are."""
        found = yield from ask(get(path("projects")), Projects)
        return found.results

    @operation
    def make_project(
        self,
        slug: str,
        name: str,
        *,
        source: str | None = None,
        configuration: Mapping[str, Any] | None = None,
        template: str | None = None,
    ) -> Steps[ProjectState]:
        """Make a project whose draft begins with a configuration, a template, or nothing. `publish` it then."""
        body = {"slug": slug, "name": name, **configuration_body(source, configuration)}
        if template is not None:
            body["template"] = template
        return ask(send("POST", path("projects"), body), ProjectState)

    @operation
    def check(self, source: str | None = None, *, configuration: Mapping[str, Any] | None = None) -> Steps[Checked]:
        """All that is wrong with a configuration, each with its place. Nothing is stored."""
        body = configuration_body(source, configuration)
        return ask(send("POST", path("configuration", "check"), body), Checked)

    @operation
    def assignments(self) -> Steps[list[Assignment]]:
        """What the caller has claimed and not finished, in all projects."""
        found = yield from ask(get(path("assignments")), Assignments)
        return found.results

    @operation
    def assignment(self, assignment: UUID) -> Steps[AssignmentInDetail]:
        """One with its draft, its files and the settings of its schemes."""
        return ask(get(path("assignments", assignment)), AssignmentInDetail)

    @operation
    def task_suggestions(self, assignment: Assignment) -> Steps[list[SuggestedItem]]:
        """What a model suggests for one's own task; nothing also where that is kept from it. What is done with an item
        is submitted with the annotations, under `suggestions`."""
        found = yield from ask(get(path("assignments", assignment.id, "suggestions")), TaskSuggestions)
        return found.items

    @operation
    def lines(self, assignment: Assignment, file: str, start: int, end: int, *, side: str = "new") -> Steps[Lines]:
        """The exact text of lines of a file, as comments and suggestions refer to them."""
        return ask(get(path("assignments", assignment.id, "lines"), file=file, side=side, start=start, end=end), Lines)

    @operation
    def save_draft(self, assignment: Assignment, answers: Mapping[str, Any], *, revision: int = 0) -> Steps[Saved]:
        """Keep answers that are not finished, if nobody saved since that revision; the lease begins anew."""
        body = {
            "lease_token": assignment.lease_token,
            "revision": revision,
            "content": {"answers": dict(answers)},
        }
        # Sent twice it would be a conflict with itself.
        return ask(send("PUT", path("assignments", assignment.id, "draft"), body, is_repeatable=False), Saved)

    @operation
    def submit(
        self, assignment: Assignment, annotations: Mapping[str, Any], *, key: str | None = None
    ) -> Steps[Submitted]:
        """Submit the annotation, with an answer for each scheme. `key` is the idempotency key, a new one where none is
        given: whatever is lost on the way, the annotation is there once. Raises NotAcceptable with the `gaps`."""
        body = {"lease_token": assignment.lease_token, "annotations": dict(annotations)}
        return ask(send("POST", path("assignments", assignment.id, "submit"), body, key=key), Submitted)

    @operation
    def skip(self, assignment: Assignment, reason: str) -> Steps[State]:
        """Give the trace up for good."""
        body = {"lease_token": assignment.lease_token, "reason": reason}
        return ask(send("POST", path("assignments", assignment.id, "skip"), body), State)

    @operation
    def release(self, assignment: Assignment) -> Steps[State]:
        """Put the trace back into the queue."""
        body = {"lease_token": assignment.lease_token}
        return ask(send("POST", path("assignments", assignment.id, "release"), body), State)

    @operation
    def settle(
        self,
        taken: ToSettle,
        settlements: Sequence[NewSettlement],
        *,
        tells: bool = True,
        key: str | None = None,
    ) -> Steps[AdjudicationMade]:
        """Make the trace's authoritative annotation: what all or most say is taken over, and every other question is as
        the settlements say. `tells`: whether annotators read what became of theirs."""
        body = {
            "lease_token": taken.lease_token,
            "settled": [one.model_dump() for one in settlements],
            "tells": tells,
        }
        where = path("adjudication", taken.assignment, "submit")
        return ask(send("POST", where, body, key=key), AdjudicationMade)
