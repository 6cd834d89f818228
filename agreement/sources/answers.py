"""Takes a source's answers: records as an export has them, each with its `source`, checked as people's answers are."""

from collections.abc import Mapping
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
from potato.records.annotations import results
from potato.runs.exact_json import json_sha256
from potato.schemes.answers import Incomplete
from potato.wording import listed
from tenancy.actor import current
from traces.evidence.judged_files import read_evidence
from traces.models import Trace
from traces.models.bodies import pack

KEYS = ("id", "trace_version", "annotator", "timestamp", "annotations", "source", "kind", "configuration_version")
SOURCE_KEYS = ("name", "model", "version", "kind")
_LONGEST = 200


@dataclass(frozen=True)
class Named:
    """What a source is called. `kind` is empty where nobody says."""

    name: str
    version: str
    model: str = ""
    kind: str = ""


@dataclass
class Taken:
    """What became of some records. `problems` are place, field and sentence of those that were refused."""

    taken: int = 0
    known: int = 0
    problems: list[tuple[int, str, str]] = field(default_factory=list)
    sources: set[str] = field(default_factory=set)


class Taker:
    """Takes records into a project, inside its organisation. `default` is the source of records that name none."""

    def __init__(self, project: Project, default: Named | None = None) -> None:
        self._project = project
        self._default = default
        self._sources: dict[Named, Source] = {}
        self._version, self._configuration = newest_configuration(project)

    def take(self, value: Any, place: int, taken: Taken) -> None:
        """Store one record's answers, or note why not. The same answers again are known, and change nothing."""
        try:
            is_new, source = self._take(value)
        except CannotTake as refusal:
            taken.problems.append((place, refusal.field, refusal.sentence))
            return
        taken.taken += is_new
        taken.known += not is_new
        taken.sources.add(str(source.pk))

    def _take(self, value: Any) -> tuple[bool, Source]:
        record = record_object(value, KEYS, "id, annotations and source")
        named = _named(record.get("source"), self._default)
        answered_at = moment(record.get("timestamp"))
        trace = trace_of(record, self._project)
        annotations = record.get("annotations")
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
            return False, source
        SourceAnswer.objects.create(
            project=self._project,
            source=source,
            trace=trace,
            version=self._version,
            packed=pack(result),
            given_sha256=digest,
            answered_at=answered_at,
            added_by_id=current().user,
        )
        return True, source

    def _result(self, annotations: Any, trace: Trace, answered_at: datetime | None) -> dict[str, Any]:
        """The answers under the schemes that the source answered; it need not answer all."""
        configuration = answered_schemes(annotations, self._configuration)
        try:
            return results(annotations, configuration, read_evidence(trace), answered_at or timezone.now())
        except Incomplete as incomplete:
            raise as_refusal(incomplete.gaps) from None

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
