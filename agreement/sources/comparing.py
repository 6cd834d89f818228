"""The comparison of a source with people as a job. Numpy is loaded by the process that computes."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agreement.models import Source, SourceAnswer, SourceReport
from agreement.sources.primary import most_informative
from agreement.stored import counted_rows
from assignments.models import Kind, Submission
from jobs.actions import request_job
from jobs.kinds import JobFailed, Part
from jobs.models import Job
from potato.configuration import UnreadablePinError, pinned
from potato.schemes.comparisons import PlaceComparison
from potato.schemes.registry import scheme_types
from tenancy import audit
from tenancy.actor import current
from tenancy.errors import Refused
from tenancy.snapshots import Snapshot
from traces.models.bodies import unpack

if TYPE_CHECKING:
    from potato.statistics.agreement.sources import PersonAnswer, SchemeCompared

ROWS_AT_ONCE = 500
DIFFERENCES_KEPT = 2_000
METHODS = ("dawid_skene", "one_coin", "majority")


class NotComparable(Refused):
    code = "not_comparable"
    status = 400


class CompareSource:
    """Job parameters: `report`, the id of a SourceReport."""

    name = "compare_source"
    label = "A source beside people"
    queue = "statistics"

    def run_part(self, job: Job) -> Part:
        report = SourceReport.objects.select_related("project", "source").get(pk=job.parameters["report"])
        try:
            if report.computed_at is None:
                compute(report)
        except UnreadablePinError as reason:
            raise JobFailed(f"The newest configuration cannot be read: {reason.sentence}") from reason
        return Part(cursor=None, progress=1, total=1, finished=True, result={"report": str(report.pk)})


def request_comparison(*, source: Source, by_person: bool = False, **chosen: Any) -> SourceReport:
    """Ask for a report of how the source stands beside people, in the background; one that waits already is answered.

    `chosen` are method and sure, as SourceSettings has them, and `beside`, the id of another source of the project: the
    report then says, too, how the two differ on what both answered. Raises NotComparable for what they cannot be, and
    TooManyJobs.
    """
    method, sure = chosen.get("method", METHODS[0]), chosen.get("sure", 0.8)
    if method not in METHODS:
        raise NotComparable(f"method must be one of {', '.join(METHODS)}, not {method!r}.")
    if isinstance(sure, bool) or not isinstance(sure, int | float) or not 0.5 <= sure <= 1:
        raise NotComparable(f"sure must be a probability from 0.5 to 1, not {sure!r}.")
    options: dict[str, Any] = {"method": method, "sure": float(sure)}
    if chosen.get("beside"):
        options["beside"] = str(_other_source(source, str(chosen["beside"])).pk)
    with transaction.atomic():
        waiting = SourceReport.objects.of(source).filter(
            computed_at__isnull=True, options=options, job__state="queued", job__attempts=0
        )
        if (known := waiting.first()) is not None:
            return known
        report = SourceReport.objects.create(
            project_id=source.project_id, source=source, options=options, requested_by_id=current().user
        )
        report.job = request_job(kind=CompareSource.name, parameters={"report": str(report.pk)}, by_person=by_person)
        report.save(update_fields=["job"])
    return report


def _other_source(source: Source, name: str) -> Source:
    others = Source.objects.filter(organisation=source.organisation_id, project=source.project_id).exclude(pk=source.pk)
    with suppress(ValueError, Source.DoesNotExist):
        return others.get(pk=UUID(name))
    raise NotComparable("beside must be the id of another source of the same project.")


def compute(report: SourceReport) -> None:
    """The report's figures, of what is committed now."""
    from potato.statistics.agreement.sources import SourceSettings

    newest = report.project.newest_version()
    schemes = pinned(newest.configuration).annotation_schemes if newest else ()
    snapshot = Snapshot.now()
    answers, by_trace = _answers(report.source)
    people, annotations = _people(report, snapshot, answers)
    compared, missed = [], Counter[str]()
    chosen = {name: value for name, value in report.options.items() if name != "beside"}
    kind: SchemeCompared | None
    for scheme in schemes:
        kind = _compared(scheme, people[scheme.name], answers, by_trace, SourceSettings(**chosen))
        if kind is not None:
            compared.append(kind)
    primary = _primary(compared)
    if primary is not None:
        missed = _categories_missed(
            schemes, people, {str(difference.trace) for difference in primary.differences if difference.is_too_kind}
        )
    report.figures = figures_json(str(report.source), compared, missed)
    if beside := report.options.get("beside"):
        other = Source.objects.get(pk=beside)
        report.figures["two"] = _two(other, schemes, people, answers, SourceSettings(**chosen))
    report.answers, report.annotations = len(answers), annotations
    report.snapshot, report.computed_at = snapshot.as_json(), timezone.now()
    report.save(update_fields=["figures", "answers", "annotations", "snapshot", "computed_at"])
    audit.record("source.compared", report.source, answers=report.answers, annotations=annotations)


def figures_json(name: str, compared: "Sequence[SchemeCompared]", missed: Mapping[str, int]) -> dict[str, Any]:
    """The figures as JSON: each scheme's, and the headline of the first one that accepts or rejects whole traces."""
    from potato.statistics.agreement.sources import as_json, headline, headline_of_places

    primary = _primary(compared)
    sentence = ""
    if primary is not None:
        noun = "runs" if primary.unit == "traces" else primary.unit
        sentence = headline(name, primary.rates, accepts="accept", noun=noun)
    elif (commented := next((scheme.places for scheme in compared if scheme.places), None)) is not None:
        sentence = headline_of_places(name, commented)
    schemes = [as_json(scheme) for scheme in compared]
    for scheme in schemes:
        for values in [*scheme["values"], *([scheme["first_errors"]["outcome"]] if scheme["first_errors"] else [])]:
            values["different"] = len(values["differences"])
            values["differences"] = [
                {
                    "trace": trace,
                    "people": people,
                    "source": source,
                    "probable": probable,
                    "is_too_kind": is_too_kind,
                }
                for trace, people, source, probable, is_too_kind in values["differences"][:DIFFERENCES_KEPT]
            ]
    places = next((scheme.places for scheme in compared if scheme.places), None)
    summary = {
        "comparable": primary.comparable if primary is not None else (places.traces if places is not None else 0),
        "kappa": primary.kappa.value if primary is not None else None,
        "precision": places.precision.value if places is not None else None,
        "recall": places.recall.value if places is not None else None,
    }
    return {
        "headline": sentence,
        "summary": summary,
        "schemes": schemes,
        "missed_categories": dict(sorted(missed.items(), key=lambda item: (-item[1], item[0]))),
    }


def _primary(compared: "Iterable[SchemeCompared]") -> Any:
    """The comparison that the headline and the summary are of."""
    candidates: list[Any] = []
    for scheme in compared:
        candidates += [*scheme.values, *([scheme.first_errors.outcome] if scheme.first_errors is not None else [])]
    return most_informative(candidates, lambda values: (values.answered, values.rates is not None, values.unit))


def _two(
    other: Source, schemes: Any, people: "Mapping[str, Sequence[PersonAnswer]]", answers: Mapping[Any, Any], chosen: Any
) -> dict[str, Any]:
    """How the two sources differ on the traces that both answered."""
    from potato.statistics.agreement.two_sources import compare_two

    others, _ = _answers(other)
    measures: list[dict[str, Any]] = []
    for scheme in schemes:
        kind = scheme_types()[scheme.annotation_type]
        both = [_readable(kind, scheme, parts) for parts in (answers, others)]
        if all(both):
            readable = [answer for answer in people.get(scheme.name, ()) if not kind.malformed(answer.result)]
            compared = compare_two(scheme.name, list(kind.comparisons(scheme)), readable, both[0], both[1], chosen)
            measures += [measure.as_json() for measure in compared]
    shared = len(answers.keys() & others.keys())
    return {"source": str(other.pk), "name": str(other), "traces": shared, "measures": measures}


def _readable(kind: Any, scheme: Any, answers: Mapping[Any, Mapping[str, Any]]) -> dict[str, Any]:
    """What a source answered under the scheme, by trace."""
    return {
        str(trace): result[scheme.name]
        for trace, result in answers.items()
        if scheme.name in result and not kind.malformed(result[scheme.name])
    }


def _answers(source: Source) -> tuple[dict[Any, dict[str, Any]], dict[str, str]]:
    """What the source said of each trace, and which agent model each of them is of."""
    answers, models = {}, {}
    rows = SourceAnswer.objects.of(source).values_list("trace_id", "trace__agent_model", "packed")
    for trace, model, packed in rows.iterator(chunk_size=ROWS_AT_ONCE):
        answers[trace] = unpack(packed)
        models[str(trace)] = model
    return answers, models


def _people(
    report: SourceReport, snapshot: Snapshot, answers: Mapping[Any, Any]
) -> "tuple[defaultdict[str, list[PersonAnswer]], int]":
    """What people said of the traces that the source answered, by scheme. Gold and adjudicated annotations are left
    out: they are no independent judgements."""
    from potato.statistics.agreement.sources import PersonAnswer

    answered = SourceAnswer.objects.of(report.source).values("trace")
    rows = Submission.objects.for_project(report.project).filter(
        assignment__kind=Kind.NORMAL, assignment__trace__in=answered
    )
    columns = ("assignment__trace_id", "assignment__user_id", "packed")
    by_scheme: defaultdict[str, list[PersonAnswer]] = defaultdict(list)
    many = 0
    for trace, user, packed in counted_rows(report.project, snapshot, rows, columns):
        # An answer may have come in between the two queries.
        if trace in answers:
            many += 1
            for scheme, part in unpack(packed).items():
                by_scheme[scheme].append(PersonAnswer(str(trace), str(user), part))
    return by_scheme, many


def _compared(
    scheme: Any,
    people: "Sequence[PersonAnswer]",
    answers: Mapping[Any, Mapping[str, Any]],
    models: Mapping[Any, str],
    chosen: Any,
) -> "SchemeCompared | None":
    """None where the source did not answer the scheme, or its type compares nothing."""
    from potato.statistics.agreement.sources import compare_source

    kind = scheme_types()[scheme.annotation_type]
    own = _readable(kind, scheme, answers)
    comparisons = list(kind.comparisons(scheme))
    if not own or not comparisons:
        return None
    readable = [answer for answer in people if not kind.malformed(answer.result)]
    return compare_source(scheme.name, comparisons, readable, own, models, chosen)


def _categories_missed(schemes: Any, people: "Mapping[str, Sequence[PersonAnswer]]", traces: set[str]) -> Counter[str]:
    """In how many of the traces people commented under which category."""
    counts: Counter[str] = Counter()
    for scheme in schemes:
        kind = scheme_types()[scheme.annotation_type]
        for comparison in kind.comparisons(scheme):
            if isinstance(comparison, PlaceComparison):
                by_trace: defaultdict[str, set[str]] = defaultdict(set)
                for answer in people.get(scheme.name, ()):
                    if answer.trace in traces and not kind.malformed(answer.result):
                        by_trace[str(answer.trace)] |= {
                            place.category for place in comparison.read(answer.result) if place.category
                        }
                for categories in by_trace.values():
                    counts.update(categories)
    return counts
