"""What the task page knows of one assignment: its schemes, where they stand on the page, and the page's JSON block."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.templatetags.static import static
from django.utils import timezone

from accounts.configuration import ProjectConfiguration, SchemeConfiguration
from accounts.configuration.registry import SchemeType, scheme_types
from assignments.models import Assignment
from tenancy.actor import ActiveMembership
from traces.judging import exact_paths
from traces.models import TraceFile


@dataclass(frozen=True)
class ShownScheme:
    """A scheme of the pinned configuration with what its type brings to the page."""

    scheme: SchemeConfiguration
    kind: type[SchemeType]

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

    def data(self) -> dict[str, Any]:
        return {
            "name": self.scheme.name,
            "annotation_type": self.scheme.annotation_type,
            "target": self.kind.target,
            "module": self.module,
            "block": getattr(self.scheme, self.kind.block).model_dump(mode="json"),
            "description": self.scheme.description,
        }


def shown_schemes(configuration: ProjectConfiguration) -> list[ShownScheme]:
    """The schemes that people answer on the task page, in their configured order."""
    types = scheme_types()
    shown = (ShownScheme(scheme, types[scheme.annotation_type]) for scheme in configuration.annotation_schemes)
    return [scheme for scheme in shown if scheme.template]


def task_data(
    assignment: Assignment,
    configuration: ProjectConfiguration,
    membership: ActiveMembership,
    *,
    tab: str,
    files: Sequence[TraceFile],
    api: str,
    login: str,
    urls: dict[str, str | None],
) -> dict[str, Any]:
    """The JSON block of the page. `draft` is revision 0 without content where nothing was saved."""
    draft = assignment.draft()
    return {
        "assignment": {
            "id": str(assignment.pk),
            "state": assignment.state,
            "fence": assignment.fence,
            "lease_until": assignment.lease_until.isoformat() if assignment.lease_until else None,
            "lease_minutes": configuration.assignment.lease_minutes,
            "version": assignment.version.number,
        },
        "annotator": membership.annotator_name,
        "user": str(assignment.user_id),
        "api": api,
        "login": login,
        "now": timezone.now().isoformat(),
        "draft": {"revision": draft.revision if draft else 0, "content": draft.content if draft else None},
        "tab": tab,
        "urls": urls,
        "schemes": [scheme.data() for scheme in shown_schemes(configuration)],
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
