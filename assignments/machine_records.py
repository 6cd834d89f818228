"""Records that programs made, as they are taken into a project: what one says of its trace, its model and its time."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from accounts.models import ConfigurationVersion, Project
from jobs.row_text import storable
from potato.configuration import ProjectConfiguration, UnreadablePinError, pinned
from potato.schemes.answers import Gap
from potato.wording import listed
from tenancy.errors import Refused
from traces.models import Trace


class NoConfiguration(Refused):
    code = "no_configuration"


class CannotTake(Exception):  # noqa: N818  (an answer to who sent it)
    """A record that is not taken: at `field`, and why, with what to do."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field
        self.sentence = sentence


def newest_configuration(project: Project) -> tuple[ConfigurationVersion, ProjectConfiguration]:
    """What records are checked under. Raises NoConfiguration where nothing was published, or cannot be read."""
    newest = ConfigurationVersion.objects.filter(project=project).order_by("-number").first()
    if newest is None:
        raise NoConfiguration(f"{project.name} has no published configuration. Publish one, then import again.")
    try:
        return newest, pinned(newest.configuration)
    except UnreadablePinError as reason:
        raise NoConfiguration(f"Version {newest.number} of the configuration: {reason.sentence}") from None


def record_object(value: Any, keys: Collection[str], needed: str) -> Mapping[str, Any]:
    """The record as an object with no other key. Raises CannotTake; `needed` says what a record has."""
    if not isinstance(value, Mapping):
        raise CannotTake("", f"A record must be a JSON object with {needed}.")
    for key in value:
        if key not in keys:
            raise CannotTake(str(key), f"{key!r} is not a key of a record. Its keys are {listed(keys, 'and')}.")
    return value


def trace_of(record: Mapping[str, Any], project: Project, *, is_newest_meant: bool = False) -> Trace:
    """The trace of the project that the record is about: in the version that it says, the first where it says none,
    or the newest one. Raises CannotTake."""
    name, version = record.get("id"), record.get("trace_version", 1)
    if not isinstance(name, str) or not name:
        raise CannotTake("id", "id must be the text that names the trace, as in an export.")
    if isinstance(version, bool) or not isinstance(version, int):
        raise CannotTake("trace_version", "trace_version must be a whole number from 1.")
    traces = Trace.objects.filter(organisation=project.organisation_id, project=project)
    named = traces.filter(external_id=storable(name, 300))
    trace = named.order_by("-version").first() if is_newest_meant else named.filter(version=version).first()
    if trace is None:
        which = f"version {version} of the trace" if version != 1 else "trace"
        raise CannotTake("id", f"{project.slug} has no {which} {name!r}. Import the trace first, or correct the id.")
    return trace


def answered_schemes(annotations: Any, configuration: ProjectConfiguration) -> ProjectConfiguration:
    """The configuration with those schemes alone that the record answers. Raises CannotTake for none, or others."""
    names = [scheme.name for scheme in configuration.annotation_schemes]
    if not isinstance(annotations, Mapping) or not annotations:
        raise CannotTake("annotations", f"annotations must be an object with answers to {listed(names, 'or')}.")
    if unknown := [name for name in annotations if name not in names]:
        raise CannotTake(
            f"annotations.{unknown[0]}",
            f"{unknown[0]!r} is not a scheme of this project. Its schemes are {listed(names, 'and')}.",
        )
    schemes = tuple(scheme for scheme in configuration.annotation_schemes if scheme.name in annotations)
    return configuration.model_copy(update={"annotation_schemes": schemes})


def as_refusal(gaps: tuple[Gap, ...]) -> CannotTake:
    """The first of the gaps of a record, and how many more there are."""
    path = ".".join(["annotations", *map(str, gaps[0].path)])
    more = f" ({len(gaps) - 1} more in this record.)" if len(gaps) > 1 else ""
    return CannotTake(path, gaps[0].sentence + more)


def moment(timestamp: Any) -> datetime | None:
    """The time that a record says, None where it says none. Raises CannotTake."""
    if timestamp is None:
        return None
    try:
        return datetime.strptime(timestamp, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except (TypeError, ValueError):
        raise CannotTake("timestamp", "timestamp must be in UTC, such as 2025-01-15T14:30:00Z, or left out.") from None
