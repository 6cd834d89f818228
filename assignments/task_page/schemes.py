"""The schemes of a task as its page shows them: which can be asked of the trace, and what their types bring."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import SafeString

from assignments.api.serializers import scheme_shape
from assignments.models import Assignment
from assignments.models.claims import pinned_configuration
from assignments.submission_records import initials
from potato.api.shapes import Scheme
from potato.configuration import ProjectConfiguration, SchemeConfiguration
from potato.runs.contents import TraceContents
from potato.schemes.registry import SchemeType, scheme_types
from traces.evidence.judged_files import read_evidence
from traces.models import TraceFile

WORK_WORD = "annotation"
"""What is submitted, where no scheme has a word of its own for it."""


@dataclass(frozen=True)
class ShownScheme:
    """A scheme of the pinned configuration with what its type brings to the page."""

    scheme: SchemeConfiguration
    kind: type[SchemeType]
    avatar: str
    """Two letters that stand for the annotator."""
    is_over: bool = False
    """Whether it is only read: then nothing is a secret any more, and no key of the project acts but its moves."""

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

    @property
    def style(self) -> str:
        return self.kind.style

    @property
    def keys_template(self) -> str:
        return self.kind.keys_template

    def adapt_to_evidence(self, evidence: Any) -> "ShownScheme":
        """The same where all of it can be asked."""
        asked = self.kind.adapt_to_evidence(self.scheme, evidence)
        return self if asked is self.scheme else replace(self, scheme=asked)

    @property
    def hides_later_steps(self) -> bool:
        return not self.is_over and self.kind.hides_later_steps(self.scheme)

    @cached_property
    def keys(self) -> Mapping[str, str]:
        return self.kind.keys(self.scheme)

    @cached_property
    def shows_titles_alone(self) -> bool:
        return self.kind.shows_titles_alone(self.scheme)

    @property
    def keys_are_off(self) -> bool:
        return self.kind.keys_are_off(self.scheme)

    @cached_property
    def markup(self) -> SafeString:
        """What the type's template makes of the scheme, for whoever has this avatar."""
        return render_to_string(self.template, {"scheme": self.scheme, "avatar": self.avatar})

    @cached_property
    def keys_markup(self) -> str:
        """What the type says of its keys in the page's help, "" where it has none."""
        return render_to_string(self.keys_template, {"shown": self}) if self.keys_template else ""

    @cached_property
    def shape(self) -> Scheme:
        """What the API tells of the scheme."""
        return scheme_shape(self.scheme, self.kind)

    @cached_property
    def data(self) -> dict[str, Any]:
        """What the page's scripts are told of it."""
        return {**self.shape.model_dump(), "module": self.module}


def judges_steps(configuration: ProjectConfiguration) -> bool:
    """Whether a scheme judges what the agent did step by step, which needs the trace whatever the display says."""
    return "agentic_steps" in _targets(configuration)


def starts_with_steps(configuration: ProjectConfiguration) -> bool:
    """Whether steps are judged and nothing else is: then the work begins at the trace, not at the files."""
    return _targets(configuration) == {"agentic_steps"}


def work_word(configuration: ProjectConfiguration) -> str:
    """What is submitted, as the first scheme says that has a word of its own for it."""
    types = scheme_types()
    words = (types[scheme.annotation_type].work_word for scheme in configuration.annotation_schemes)
    return next(filter(None, words), WORK_WORD)


def hides_later_steps(configuration: ProjectConfiguration) -> bool:
    """Whether a scheme keeps what the agent did next a secret until the steps before are judged."""
    types = scheme_types()
    return any(types[scheme.annotation_type].hides_later_steps(scheme) for scheme in configuration.annotation_schemes)


def _targets(configuration: ProjectConfiguration) -> set[str]:
    types = scheme_types()
    return {types[scheme.annotation_type].target for scheme in configuration.annotation_schemes}


def shown_schemes(
    assignment: Assignment, annotator: str, files: Iterable[TraceFile], *, is_over: bool = False
) -> tuple[ShownScheme, ...]:
    """The schemes that this annotator answers on the task page, in their configured order, as they can be asked of the
    trace with these files. What cannot judge it is not among them. `is_over`: what they answered is only read."""
    there = contents(assignment, files)
    # Read where a scheme asks for it alone: most look at nothing but their own settings.
    evidence = SimpleLazyObject(lambda: read_evidence(assignment.trace))
    known = _shown(assignment.version_id, initials(annotator))
    asked = (
        shown.adapt_to_evidence(evidence) for shown in known if shown.kind.cannot_judge(shown.scheme, there) is None
    )
    return tuple(replace(shown, is_over=True) for shown in asked) if is_over else tuple(asked)


def contents(assignment: Assignment, files: Iterable[TraceFile]) -> TraceContents:
    """What there is to be judged in the trace with these files."""
    return TraceContents(assignment.trace.steps_count, Counter(file.operation for file in files))


# Kept in memory with what their templates have made of them, because a version never changes.
@lru_cache(maxsize=500)
def _shown(version: UUID, avatar: str) -> tuple[ShownScheme, ...]:
    types = scheme_types()
    schemes = pinned_configuration(version).annotation_schemes
    shown = (ShownScheme(scheme, types[scheme.annotation_type], avatar) for scheme in schemes)
    return tuple(scheme for scheme in shown if scheme.template)
