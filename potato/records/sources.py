"""What formats read: records, what a trace says about its record, and what the project's configurations say.

Sources (files or a database) make these; nothing here knows where they come from. `Record`, `RecordsError`,
`Record`, `RecordsError` and `json_text` are of potato.records.archives, and a format finds them here with the rest.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from potato.checks.places import findings_by_file
from potato.configuration import ProjectConfiguration, SchemeConfiguration
from potato.records.archives import AutomatedSource, Kind, Record, RecordsError, json_text
from potato.runs.changes.linked_lines import LinkedLines
from potato.runs.changes.places import JudgedFile
from potato.runs.model import AgentRun
from potato.schemes.registry import assumed_entries, scheme_types

Resolve: TypeAlias = Literal["all", "adjudicated", "majority", "latest", "consensus", "soft"]

AMONG_ANNOTATORS: frozenset[Resolve] = frozenset({"majority", "consensus", "soft"})
"""What is resolved by what annotators say independently of each other: whoever adjudicates, who has read them, has no
vote."""

Answer = TypeVar("Answer")

__all__ = [
    "AMONG_ANNOTATORS",
    "NO_CHECKS",
    "NO_TRACE",
    "Answer",
    "AutomatedSource",
    "Kind",
    "LineKind",
    "Need",
    "NoTrace",
    "Project",
    "Record",
    "RecordLines",
    "RecordPaths",
    "RecordSource",
    "RecordsError",
    "Resolve",
    "TraceChecks",
    "TraceFacts",
    "json_text",
    "scheme_annotation",
]


class TraceFacts(Protocol):
    """What only the trace knows. None or "" where it does not know, or where there is no trace."""

    @property
    def task_description(self) -> str | None: ...

    @property
    def agent_model(self) -> str: ...

    def operation(self, path: str) -> str | None:
        """What the agent did to the file."""
        ...

    def file(self, path: str) -> JudgedFile | None:
        """The file with its hunks and lines."""
        ...

    @property
    def run(self) -> AgentRun | None:
        """The run as it was imported."""
        ...

    @property
    def linked_lines(self) -> LinkedLines:
        """Which steps wrote the changed lines of its files."""
        ...

    @property
    def checks(self) -> "TraceChecks":
        """What tests and checkers said of the run."""
        ...


@dataclass(frozen=True)
class TraceChecks:
    """What tests and checkers said: `reports` as the API has them, `agent_outcome` of the last tests that the agent ran
    itself, and `paths` of the files that it changed."""

    reports: Sequence[Mapping[str, Any]] = ()
    agent_outcome: str = ""
    paths: Sequence[str] = ()

    @property
    def outcome(self) -> str:
        """What the reports of tests say together: `passed` only where none says another thing."""
        outcomes = [str(report["outcome"]) for report in self.reports if report["outcome"]]
        return next((each for each in ("failed", "error", "passed") if each in outcomes), "")

    @cached_property
    def findings(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """By the file of the change."""
        return findings_by_file(self.reports, self.paths)


NO_CHECKS = TraceChecks()


@dataclass(frozen=True)
class NoTrace:
    """Nothing is known."""

    task_description: str | None = None
    agent_model: str = ""
    run: None = None

    @property
    def linked_lines(self) -> LinkedLines:
        return {}

    @property
    def checks(self) -> TraceChecks:
        return NO_CHECKS

    def operation(self, path: str) -> str | None:
        return None

    def file(self, path: str) -> JudgedFile | None:
        return None


NO_TRACE = NoTrace()


@dataclass(frozen=True)
class Project:
    """The configurations that records were made under, by their version; `default` is for records that name none.

    `is_assumed` says that nobody told how the project is configured.
    """

    default: ProjectConfiguration | None = None
    versions: Mapping[int, ProjectConfiguration] = field(default_factory=dict)
    is_assumed: bool = False

    @classmethod
    def unknown(cls) -> "Project":
        """Where nobody says how the project is configured: the schemes with the documented names."""
        known = ProjectConfiguration(task_name="Unknown project")
        types = scheme_types()
        more = (types[entry["annotation_type"]].configuration.model_validate(entry) for entry in assumed_entries())
        return cls(known.model_copy(update={"annotation_schemes": (*known.annotation_schemes, *more)}), is_assumed=True)

    @property
    def newest(self) -> ProjectConfiguration | None:
        return self.versions[max(self.versions)] if self.versions else self.default

    def scheme(self, record: Record, annotation_type: str) -> SchemeConfiguration | None:
        """The scheme of that type in the configuration that the record was made under."""
        made_under = record.configuration_version
        if made_under is not None and made_under in self.versions:
            return _scheme(self.versions[made_under], annotation_type)
        return _scheme(self.newest, annotation_type)

    def annotation_types(self, accepted: Collection[str]) -> set[str]:
        """The types of all schemes; of the newest configuration alone where that has one of them: an earlier
        one may not load in this installation, and is not needed then."""
        newest = _scheme_types(self.newest)
        return newest if newest & set(accepted) else newest.union(*map(_scheme_types, self.versions.values()))

    def schemes(self, annotation_type: str) -> Iterator[SchemeConfiguration]:
        """The scheme of that type in every configuration that has one, the newest first."""
        numbers = sorted(self.versions, reverse=True)
        for configuration in (self.versions[number] for number in numbers) if numbers else (self.default,):
            if scheme := _scheme(configuration, annotation_type):
                yield scheme


def _scheme_types(configuration: ProjectConfiguration | None) -> set[str]:
    return {scheme.annotation_type for scheme in configuration.annotation_schemes} if configuration else set()


def _scheme(configuration: ProjectConfiguration | None, annotation_type: str) -> SchemeConfiguration | None:
    schemes = configuration.annotation_schemes if configuration else ()
    return next((scheme for scheme in schemes if scheme.annotation_type == annotation_type), None)


def scheme_annotation(record: Record, scheme: SchemeConfiguration | None, kind: type, noun: str) -> Any:
    """The record's part of that scheme, None where it has none. Raises RecordsError for one of another type of JSON."""
    part = None if scheme is None else record.annotations.get(scheme.name)
    if part is None or isinstance(part, kind):
        return part
    name = "" if scheme is None else scheme.name
    raise RecordsError(f"{name} of the record {json_text(record.id)} by {json_text(record.annotator)} must be {noun}.")


Need: TypeAlias = Literal["agent_model", "task_description", "operations", "files", "run", "links", "checks"]
RecordPaths: TypeAlias = Sequence[tuple[Record, Collection[str]]]
"""Records with the paths of the files that will be asked for."""


LineKind: TypeAlias = Literal["text", "archived"]
"""What a record's line in a file is: its `text`, or its `archived_text`."""


@runtime_checkable
class RecordLines(Protocol):
    """Records that can be had as the lines of a file as well, many at once, which takes less time than one by one."""

    def lines(self, kind: LineKind) -> Iterator[tuple[int, bytes]]:
        """The lines in the order of the records: how many, and their bytes with the lines' ends."""
        ...


class RecordSource(Protocol):
    """Where records come from. It can be read as often as one likes, always in the same order."""

    @property
    def project(self) -> Project: ...

    @property
    def names_every_version(self) -> bool:
        """Whether `project` has the configuration of every record, so that none has a value that it does not name."""
        ...

    @property
    def has_traces(self) -> bool:
        """Whether facts are known of any trace."""
        ...

    def records(self, resolve: Resolve, *, buffered: bool) -> Iterator[Iterable[Record]]:
        """The records in their order, in batches, each to be used up before the next; "majority", "consensus" and
        "soft" are all of them. Those of automated sources that were chosen come last, whatever is resolved.

        With `buffered` a batch fits into memory and can be made a list, so that facts can be asked for within it.
        Raises RecordsError where nothing can be selected so.
        """
        ...

    def by_trace(self, read: Callable[[Record], Answer | None]) -> Iterator[tuple[Record, list[Answer]]]:
        """For each trace a record of it and what `read` says of all its records, where it says something.

        Only what it says is held in memory. The record is for `facts` alone: it may have lost its annotations.
        """
        ...

    def facts(self, records: RecordPaths, needs: Collection[Need]) -> Iterator[TraceFacts]:
        """For each record what its trace says, as far as it is needed; the next one is asked for after its use."""
        ...

    def trace_lines(self) -> Iterator[bytes]:
        """The traces in Potato's own format, a line each, without the line's end."""
        ...

    def configuration_text(self) -> str | None:
        """The YAML of the newest configuration; None where there is none."""
        ...

    def configuration_sources(self) -> Sequence[tuple[int, str, str]]:
        """The YAML of every version: its number, the text, the note. The last one is the newest."""
        ...
