"""Takes a source's answers: records as an export has them, each with its `source`, checked as people's answers are."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone

from accounts.models import Project
from agreement.models import Source, SourceAnswer, SourceKind
from assignments.machine_records import (
    CannotTake,
    answered_schemes,
    as_refusal,
    moment,
    newest_configuration,
    record_object,
    trace_of,
)
from jobs.row_text import storable
from potato.records.annotations import missing, results
from potato.runs.exact_json import json_sha256
from potato.schemes.answers import Gap, Incomplete
from potato.schemes.registry import scheme_types
from potato.wording import listed
from tenancy.actor import current
from traces.evidence.judged_files import read_evidence
from traces.models import Trace
from traces.models.bodies import pack

KEYS = (
    "id", "trace_version", "annotator", "timestamp", "annotations", "source", "origin", "kind",
    "configuration_version",
)  # fmt: skip
SOURCE_KEYS = ("name", "model", "version", "kind")
ORIGIN_KEYS = ("tool", "file", "id", "author")
_LONGEST = 200
_LONGEST_ORIGIN = 1_000


@dataclass(frozen=True)
class Named:
    """What a source is called. `kind` is empty where nobody says."""

    name: str
    version: str
    model: str = ""
    kind: str = ""


@dataclass
class Taken:
    """What became of some records. `problems` are place, field and sentence of those that were refused, and of parts
    that were left out of others; `left_out` counts these parts."""

    taken: int = 0
    known: int = 0
    left_out: int = 0
    problems: list[tuple[int | str, str, str]] = field(default_factory=list)
    sources: set[str] = field(default_factory=set)


class Taker:
    """Takes records into a project, inside its organisation. `default` is the source of records that name none."""

    def __init__(self, project: Project, default: Named | None = None) -> None:
        self._project = project
        self._default = default
        self._sources: dict[Named, Source] = {}
        self._version, self.configuration = newest_configuration(project)

    def take(self, value: Any, place: int | str, taken: Taken) -> None:
        """Store one record's answers, or note why not. The same answers again are known, and change nothing."""
        try:
            is_new, source, left_out = self._take(value)
        except CannotTake as refusal:
            taken.problems.append((place, refusal.field, refusal.sentence))
            return
        taken.left_out += len(left_out)
        taken.problems += ((place, part.field, part.sentence) for part in left_out)
        taken.taken += is_new
        taken.known += not is_new
        taken.sources.add(str(source.pk))

    def _take(self, value: Any) -> tuple[bool, Source, list[CannotTake]]:
        record = record_object(value, KEYS, "id, annotations and source")
        named = _named(record.get("source"), self._default)
        answered_at = moment(record.get("timestamp"))
        origin = _origin(record.get("origin"))
        # Another tool knows no versions of a trace: what it says is of the newest one.
        is_newest_meant = bool(origin) and "trace_version" not in record
        trace = trace_of(record, self._project, is_newest_meant=is_newest_meant)
        annotations = record.get("annotations")
        left_out: list[CannotTake] = []
        if origin:
            result, left_out = self._result_of_another_tool(annotations, trace, answered_at)
        else:
            result = self._result(annotations, trace, answered_at)
        source = self._source(named)
        digest = json_sha256(annotations)
        known = SourceAnswer.objects.of(source).filter(trace=trace).values_list("given_sha256", flat=True).first()
        if known is not None:
            if known != digest:
                raise CannotTake(
                    "annotations",
                    f"{source} has given another answer for {trace} already, and answers never change. Import these "
                    "under another version of the source.",
                )
            return False, source, left_out
        SourceAnswer.objects.create(
            project=self._project,
            source=source,
            trace=trace,
            version=self._version,
            packed=pack(result),
            given_sha256=digest,
            answered_at=answered_at,
            origin=origin,
            added_by_id=current().user,
        )
        return True, source, left_out

    def _result(self, annotations: Any, trace: Trace, answered_at: datetime | None) -> dict[str, Any]:
        """The answers under the schemes that the source answered; it need not answer all."""
        configuration = answered_schemes(annotations, self.configuration)
        try:
            return results(annotations, configuration, read_evidence(trace), answered_at or timezone.now())
        except Incomplete as incomplete:
            raise as_refusal(incomplete.gaps) from None

    def _result_of_another_tool(
        self, annotations: Any, trace: Trace, answered_at: datetime | None
    ) -> tuple[dict[str, Any], list[CannotTake]]:
        """The same without what the project demands of its own annotators, and without the parts that have no place
        in the trace, each of which is named. Raises CannotTake where nothing is left."""
        if not isinstance(annotations, Mapping):
            return self._result(annotations, trace, answered_at), []
        demanding = self.configuration.annotation_schemes
        schemes = tuple(scheme_types()[scheme.annotation_type].without_demands(scheme) for scheme in demanding)
        evidence = read_evidence(trace)
        left_out: list[CannotTake] = []
        rest: Any = deepcopy(dict(annotations))
        while rest:
            asked = tuple(scheme for scheme in schemes if scheme.name in rest)
            configuration = self.configuration.model_copy(update={"annotation_schemes": asked})
            gaps = missing(rest, configuration, evidence)
            if not gaps:
                return results(rest, configuration, evidence, answered_at or timezone.now()), left_out
            parts: dict[tuple[str | int, ...], Gap] = {}
            for gap in gaps:
                parts.setdefault(_part_at(rest, gap.path), gap)
            for gap in parts.values():
                path = ".".join(["annotations", *map(str, gap.path)])
                left_out.append(CannotTake(path, f"Left out: {gap.sentence}"))
            # From the last place of a list on, so that the others keep theirs.
            for part in sorted(parts, key=_index_in, reverse=True):
                _remove(rest, part)
        raise left_out[0] if left_out else CannotTake("annotations", "annotations have no answers.")

    def _source(self, named: Named) -> Source:
        if named not in self._sources:
            self._sources[named], _ = Source.objects.get_or_create(
                project=self._project,
                name=named.name,
                model=named.model,
                version=named.version,
                defaults={"kind": named.kind or SourceKind.OTHER},
            )
        return self._sources[named]


def _part_at(answers: dict[str, Any], path: Sequence[str | int]) -> tuple[str | int, ...]:
    """The smallest object that the path leads into, or all answers to its scheme; nothing for all answers at all."""
    if not path or path[0] not in answers:
        return ()
    part: tuple[str | int, ...] = (path[0],)
    value = answers[str(path[0])]
    for step in path[1:]:
        inside = isinstance(value, Mapping) and step in value
        inside = inside or (isinstance(value, list) and isinstance(step, int) and step < len(value))
        if not inside or not isinstance(value[step], Mapping):
            break
        part, value = (*part, step), value[step]
    return part


def _index_in(part: Sequence[str | int]) -> int:
    return next((step for step in part if isinstance(step, int)), -1)


def _remove(answers: dict[str, Any], part: Sequence[str | int]) -> None:
    if not part:
        answers.clear()
        return
    name = str(part[0])
    if name not in answers:
        return
    holder: Any = answers
    for step in part[:-1]:
        holder = holder[step]
    del holder[part[-1]]
    if not answers.get(name):
        answers.pop(name, None)


def _origin(value: Any) -> dict[str, str]:
    """Where the record comes from; empty for what was never in another tool."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not value.get("tool"):
        raise CannotTake("origin", "origin must be an object with the tool, and with file, id and author if you like.")
    for key, text in value.items():
        if key not in ORIGIN_KEYS or not isinstance(text, str):
            raise CannotTake(f"origin.{key}", f"origin has the keys {listed(ORIGIN_KEYS, 'and')}, each with a text.")
        if len(text) > _LONGEST_ORIGIN:
            raise CannotTake(f"origin.{key}", f"{key} of the origin may have {_LONGEST_ORIGIN} characters.")
    return {key: storable(text) for key, text in value.items()}


def _named(source: Any, default: Named | None) -> Named:
    if source is None:
        if default is None:
            raise CannotTake(
                "source", 'source is missing: say who answered, as in "source": {"name": "judge-a", "version": "3.1"}.'
            )
        return default
    if not isinstance(source, Mapping):
        raise CannotTake("source", "source must be an object with name and version, and model and kind if you like.")
    for key in source:
        if key not in SOURCE_KEYS:
            raise CannotTake(
                f"source.{key}", f"{key!r} is not a key of source. Its keys are {listed(SOURCE_KEYS, 'and')}."
            )
    return checked_name(**{key: source.get(key, "") for key in SOURCE_KEYS})


def checked_name(name: Any, version: Any, model: Any = "", kind: Any = "") -> Named:
    """The source of that name. Raises CannotTake where a part of it cannot be one."""
    for key, text in (("name", name), ("version", version), ("model", model), ("kind", kind)):
        if not isinstance(text, str):
            raise CannotTake(f"source.{key}", f"{key} of the source must be text.")
        if key in ("name", "version") and not text.strip():
            raise CannotTake(f"source.{key}", f"The source needs a {key}: another model or prompt is another version.")
        if len(text) > _LONGEST:
            raise CannotTake(f"source.{key}", f"{key} of the source may have {_LONGEST} characters, not {len(text)}.")
    if kind and kind not in SourceKind.values:
        raise CannotTake("source.kind", f"kind of the source must be one of {listed(SourceKind.values, 'or')}.")
    return Named(storable(name.strip()), storable(version.strip()), storable(model.strip()), kind)
