"""A task that can be worked on: which tabs it has, and the context that its templates and scripts are given."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from assignments.api.serializers import serialize_assignment
from assignments.drafts import without
from assignments.mixing import blocks_in
from assignments.models import Assignment
from assignments.models.questions import LONGEST_QUESTION
from assignments.progress import task_number
from assignments.questions import questions_of_task
from assignments.suggestions.showing import suggestions_for_page
from assignments.task_page.guidelines import guidelines_reading
from assignments.task_page.returned import corrected_annotation, returned_to
from assignments.task_page.schemes import (
    ShownScheme,
    contents,
    hides_later_steps,
    judges_steps,
    shown_schemes,
    starts_with_steps,
    work_word,
)
from assignments.task_page.shown_checks import checks_of_task
from potato.configuration import ProjectConfiguration
from potato.records.annotations import unasked
from tenancy.actor import ActiveMembership
from tenancy.urls import global_reverse
from traces.evidence.pages import listed_files
from traces.evidence.responses import display_settings
from traces.evidence.task_description import asked_for
from traces.models import Trace, TraceFile

_COMMENT = "Comment on {side} line {line}"
# What the scripts have no use for, or are given beside the assignment.
_NOT_FOR_SCRIPTS = {"trace", "draft", "files", "schemes", "deadline"}


@dataclass(frozen=True)
class TaskPage:
    """The page of an assignment under its pinned configuration. `is_late`: its time has ended, and its annotator goes
    on all the same, because a late annotation is still taken."""

    assignment: Assignment
    configuration: ProjectConfiguration
    is_late: bool

    @property
    def trace(self) -> Trace:
        return self.assignment.trace

    @property
    def starts_with_steps(self) -> bool:
        return starts_with_steps(self.configuration)

    @property
    def hides_later_steps(self) -> bool:
        return hides_later_steps(self.configuration)

    @property
    def shows_links(self) -> bool:
        """Whether lines name the steps that wrote them: where the steps are shown, and none of them is a secret."""
        return self.shows_steps and not self.hides_later_steps

    @property
    def shows_steps(self) -> bool:
        """Whether there is a tab "Agent trace"."""
        return shows_steps(self.configuration)

    @cached_property
    def suggestions(self) -> list[dict[str, Any]]:
        """What a model suggests and this annotator sees, item by item."""
        return suggestions_for_page(self.assignment, self.configuration)

    @cached_property
    def urls(self) -> dict[str, str | None]:
        """Where the page leads; None where the task has no such tab."""
        here = [self.assignment.project.slug, self.assignment.pk]
        late = "?late=1" if self.is_late else ""
        has_steps = self.shows_steps and (self.trace.steps_count > 0 or judges_steps(self.configuration))
        has_guidelines = self.configuration.guidelines is not None
        return {
            "files": reverse("task-files" if self.starts_with_steps else "task", args=here) + late,
            "steps": reverse("task-steps", args=here) + late if has_steps else None,
            "guidelines": reverse("task-guidelines", args=here) + late if has_guidelines else None,
            "home": reverse("organisation"),
            "next": reverse("next-task", args=here[:1]),
            "feedback": reverse("practice-feedback", args=here) if self.assignment.is_practice else None,
            "colours": reverse("scheme-colours", args=[here[0], self.assignment.version.number]),
        }

    def context(self, tab: dict[str, Any], membership: ActiveMembership, user: User) -> dict[str, Any]:
        """What the templates are given: what stands around every tab, and the context of this one."""
        files = listed_files(self.trace, tab.get("evidence"))
        schemes = shown_schemes(self.assignment, membership.annotator_name, files)
        number = task_number(
            self.assignment.project,
            user,
            self.assignment.trace_id,
            batch=self.assignment.batch_id,
            blocks=blocks_in(self.configuration),
        )
        step_scheme = next((scheme for scheme in schemes if scheme.target == "agentic_steps"), None)
        returned = returned_to(self.assignment, files)
        task_data = self._data(tab["tab"], membership, schemes, files, number.deadline)
        return {
            **tab,
            "is_task": True,
            "is_late": self.is_late,
            "project": self.assignment.project,
            "trace": self.trace,
            "assignment": self.assignment,
            "kept_query": "late=1&" if self.is_late else "",
            "asked": asked_for(self.trace),
            "display": display_settings(self.configuration),
            "configuration": self.configuration,
            "schemes": schemes,
            "work_word": work_word(self.configuration),
            "judged": step_scheme,
            "keys_are_off": tab["tab"] == "steps" and step_scheme is not None and step_scheme.keys_are_off,
            "comment_label": _COMMENT if any(scheme.target == "line" for scheme in schemes) else "",
            "task_number": number,
            "checks": checks_of_task(self.assignment, self.configuration, files),
            "files_url": self.urls["files"],
            "steps_url": self.urls["steps"],
            "returned": returned,
            "corrects": corrected_annotation(self.assignment),
            "questions": questions_of_task(self.assignment),
            "longest_question": LONGEST_QUESTION,
            "reading": guidelines_reading(self.assignment, self.configuration.guidelines),
            "urls": self.urls,
            "task_data": task_data if returned is None else {**task_data, "before": returned.answers},
        }

    def _data(
        self,
        tab: str,
        membership: ActiveMembership,
        schemes: Iterable[ShownScheme],
        files: Sequence[TraceFile],
        deadline: date | None,
    ) -> dict[str, Any]:
        """The JSON block of the page: what the API tells of the assignment, and what only this page needs.

        `unasked` are the schemes whose answers no submission of this trace may have, whoever kept them.
        """
        without_part = unasked(self.configuration, contents(self.assignment, files))
        draft = self.assignment.draft()
        detail = serialize_assignment(
            self.assignment,
            files=files,
            draft=draft,
            content=without(draft.content, without_part) if draft else None,
            schemes=[scheme.shape for scheme in schemes],
            deadline=deadline,
        )
        return {
            "assignment": detail.model_dump(exclude=_NOT_FOR_SCRIPTS),
            "annotator": membership.annotator_name,
            "user": str(self.assignment.user_id),
            "api": f"{reverse('organisation')}api/v1/",
            "login": global_reverse("account_login"),
            "now": timezone.now(),
            "draft": {"revision": detail.draft.revision, "content": detail.draft.content},
            "unasked": sorted(without_part),
            "suggestions": self.suggestions,
            "tab": tab,
            "urls": self.urls,
            "schemes": [scheme.data for scheme in schemes],
            "steps": self.trace.steps_count,
            "files": [file.model_dump() for file in detail.files],
        }


def shows_steps(configuration: ProjectConfiguration) -> bool:
    """Whether its tasks show what the agent did step by step."""
    return configuration.agentic.enabled or judges_steps(configuration)
