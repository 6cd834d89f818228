"""What the task page knows of one assignment: its schemes, where they stand on the page, and the page's JSON block."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import SafeString

from assignments.drafts import without
from assignments.models import Assignment
from assignments.models.claims import configuration_of
from potato.configuration import ProjectConfiguration, SchemeConfiguration
from potato.records.annotations import unasked
from potato.runs.contents import TraceContents
from potato.schemes.registry import SchemeType, scheme_types
from tenancy.actor import ActiveMembership
from traces.evidence.judged_files import evidence_of, exact_paths
from traces.models import TraceFile


@dataclass(frozen=True)
class ShownScheme:
    """A scheme of the pinned configuration with what its type brings to the page."""

    scheme: SchemeConfiguration
    kind: type[SchemeType]
    avatar: str
    """Two letters that stand for the annotator."""

    @property
    def name(self) -> str:
        return self.scheme.name

    @property
    def target(self) -> str:
        return self.kind.target

    @property
    def template(self) -> str:
        return self.kind.template

    @property
    def module(self) -> str:
        return static(self.kind.module)

    def asked_of(self, evidence: Any) -> "ShownScheme":
        """The same where all of it can be asked."""
        asked = self.kind.asked_of(self.scheme, evidence)
        return self if asked is self.scheme else replace(self, scheme=asked)

    @property
    def hides_later_steps(self) -> bool:
        return self.kind.hides_later_steps(self.scheme)

    @property
    def keys_are_off(self) -> bool:
        return self.kind.keys_are_off(self.scheme)

    @cached_property
    def markup(self) -> SafeString:
        """What the type's template makes of the scheme, for whoever has this avatar."""
        return render_to_string(self.template, {"scheme": self.scheme, "avatar": self.avatar})

    @cached_property
    def data(self) -> dict[str, Any]:
        return {
            "name": self.scheme.name,
            "annotation_type": self.scheme.annotation_type,
            "target": self.kind.target,
            "module": self.module,
            "block": self.kind.settings(self.scheme),
            "description": self.scheme.description,
        }


def judges_steps(configuration: ProjectConfiguration) -> bool:
    """Whether a scheme judges what the agent did step by step, which needs the trace whatever the display says."""
    return "agentic_steps" in _targets(configuration)


def starts_with_steps(configuration: ProjectConfiguration) -> bool:
    """Whether steps are judged and nothing else is: then the work begins at the trace, not at the files."""
    return _targets(configuration) == {"agentic_steps"}


def hides_later_steps(configuration: ProjectConfiguration) -> bool:
    """Whether a scheme keeps what the agent did next a secret until the steps before are judged."""
    types = scheme_types()
    return any(types[scheme.annotation_type].hides_later_steps(scheme) for scheme in configuration.annotation_schemes)


def _targets(configuration: ProjectConfiguration) -> set[str]:
    types = scheme_types()
    return {types[scheme.annotation_type].target for scheme in configuration.annotation_schemes}


def shown_schemes(assignment: Assignment, annotator: str, files: Iterable[TraceFile]) -> tuple[ShownScheme, ...]:
    """The schemes that this annotator answers on the task page, in their configured order, as they can be asked of the
    trace with these files. What cannot judge it is not among them."""
    contents = _contents(assignment, files)
    # Read where a scheme asks for it alone: most look at nothing but their own settings.
    evidence = SimpleLazyObject(lambda: evidence_of(assignment.trace))
    known = _shown(assignment.version_id, annotator[-2:].upper())
    return tuple(shown.asked_of(evidence) for shown in known if shown.kind.cannot_judge(shown.scheme, contents) is None)


def _contents(assignment: Assignment, files: Iterable[TraceFile]) -> TraceContents:
    return TraceContents(assignment.trace.steps_count, Counter(file.operation for file in files))


# Kept in memory with what their templates have made of them, because a version never changes.
@lru_cache(maxsize=500)
def _shown(version: UUID, avatar: str) -> tuple[ShownScheme, ...]:
    types = scheme_types()
    schemes = configuration_of(version).annotation_schemes
    shown = (ShownScheme(scheme, types[scheme.annotation_type], avatar) for scheme in schemes)
    return tuple(scheme for scheme in shown if scheme.template)


def task_data(
    assignment: Assignment,
    configuration: ProjectConfiguration,
    membership: ActiveMembership,
    *,
    schemes: Iterable[ShownScheme],
    tab: str,
    files: Sequence[TraceFile],
    api: str,
    login: str,
    urls: dict[str, str | None],
) -> dict[str, Any]:
    """The JSON block of the page. `draft` is revision 0 without content where nothing was saved.

    `unasked` are the schemes whose answers no submission of this trace may have, whoever kept them.
    """
    draft = assignment.draft()
    no_part = unasked(configuration, _contents(assignment, files))
    return {
        "assignment": {
            "id": str(assignment.pk),
            "state": assignment.state,
            "lease_token": assignment.fencing_token,
            "lease_until": assignment.lease_until.isoformat() if assignment.lease_until else None,
            "lease_minutes": configuration.assignment.lease_minutes,
            "version": assignment.version.number,
        },
        "annotator": membership.annotator_name,
        "user": str(assignment.user_id),
        "api": api,
        "login": login,
        "now": timezone.now().isoformat(),
        "draft": {
            "revision": draft.revision if draft else 0,
            "content": without(draft.content, no_part) if draft else None,
        },
        "unasked": sorted(no_part),
        "tab": tab,
        "urls": urls,
        "schemes": [scheme.data for scheme in schemes],
        "steps": assignment.trace.steps_count,
        "files": [
            {
                "index": file.index,
                "path": path,
                "operation": file.operation,
                "added": file.added,
                "removed": file.removed,
            }
            for file, path in zip(files, exact_paths(files), strict=True)
        ],
    }
