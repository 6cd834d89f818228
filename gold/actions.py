"""Making expected annotations, and retiring them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import ConfigurationVersion, Project
from assignments.actions.quotas import open_quotas
from assignments.models import Submission, TraceQuota, Withheld
from gold.models import ExpectedAnnotation, Origin, Use
from jobs import outbox
from jobs.row_text import storable
from potato.api.gold import MOST_RECORDS
from potato.configuration import ProjectConfiguration, UnreadablePinError, pinned
from potato.records.annotations import malformed, missing
from potato.schemes.gold import GoldError, score_annotation
from potato.wording import counted
from tenancy import audit
from tenancy.actor import current
from tenancy.errors import Refused
from traces.clearing import held_secrets
from traces.evidence.judged_files import read_evidence
from traces.models import Trace

LONGEST_WHY = 2_000
EXPECTATION_CHANGED = "gold.changed"
"""Other things are expected of a trace than before."""
_PROBLEMS_SHOWN = 10


class NotScorable(Refused):
    """Nobody could be scored by the annotation."""

    code = "not_scorable"
    status = 422


class IsExpectedAlready(Refused):
    """The trace has an expected annotation that is live."""

    code = "is_expected_already"


class IsRetired(Refused):
    """Nobody is scored by the expected annotation any more."""

    code = "is_retired"


class BadRecords(Refused):
    """Records that are no expected annotations of traces of the project; nothing of them was taken."""

    code = "bad_records"
    status = 422


def newest_configuration(project: Project) -> ProjectConfiguration:
    """What the project's expected annotations are checked by. Raises NotScorable where nothing is published."""
    version = ConfigurationVersion.objects.filter(project=project).order_by("-number").first()
    if version is None:
        raise NotScorable("Publish the project's configuration first: its schemes say what can be expected.")
    try:
        return pinned(version.configuration)
    except UnreadablePinError as error:
        raise NotScorable(error.sentence) from None


def expect(
    *,
    trace: Trace,
    annotations: Mapping[str, Any],
    use: Use = Use.GOLD,
    origin: Origin = Origin.EXPERT,
    why: str = "",
    source: Trace | None = None,
    fault: str = "",
) -> ExpectedAnnotation:
    """Say what is right of the trace. From now on the queue gives it to nobody as an ordinary task; what is held of it
    may be finished, and what was annotated is kept and counts.

    Raises NotScorable where nobody could be scored by it, and IsExpectedAlready.
    """
    project = trace.project
    results = _scorable(trace, annotations, newest_configuration(project))
    with transaction.atomic():
        # Each call opens some, the oldest first, and this trace may be among the last.
        while open_quotas(project=project):
            pass
        rows = TraceQuota.objects.for_project(project).filter(trace=trace)
        quota = rows.select_for_update(no_key=True, of=("self",)).get()
        if held_secrets([trace.pk]):
            raise NotScorable("The trace is held back, because secrets were found in it. Clear it on the page Secrets.")
        live = ExpectedAnnotation.objects.for_project(project).filter(trace=trace, retired_at__isnull=True)
        if live.exists():
            raise IsExpectedAlready(f"{trace} has an expected annotation already. Retire that one first.")
        expected = ExpectedAnnotation(
            project=project,
            trace=trace,
            use=use,
            origin=origin,
            why=storable(why.strip(), LONGEST_WHY),
            source=source,
            fault=fault,
            made_by_id=current().user,
        )
        expected.annotations = results
        expected.save()
        quota.withheld, quota.withheld_reason, quota.is_released = Withheld.KNOWN_ANSWER, "", False
        quota.save(update_fields=["withheld", "withheld_reason", "is_released"])
        audit.record("gold.made", expected, project=project.slug, trace=str(trace.pk), use=use, origin=origin)
    return expected


def change_expectation(*, expected: ExpectedAnnotation, annotations: Mapping[str, Any], why: str) -> ExpectedAnnotation:
    """Expect something else of the trace. Who was scored by it is scored anew; what was practised stays as it was.

    Raises NotScorable where nobody could be scored by it, and IsRetired.
    """
    results = _scorable(expected.trace, annotations, newest_configuration(expected.project))
    with transaction.atomic():
        rows = ExpectedAnnotation.objects.filter(pk=expected.pk).select_related("project", "trace")
        row = rows.select_for_update(no_key=True, of=("self",)).get()
        if row.retired_at is not None:
            raise IsRetired("This expected annotation is retired. Make another one instead.")
        words = storable(why.strip(), LONGEST_WHY)
        if (row.annotations, row.why) == (results, words):
            return row
        is_other = row.annotations != results or bool(row.problem)
        row.annotations, row.why, row.problem = results, words, ""
        row.save(update_fields=["packed", "why", "problem"])
        audit.record("gold.changed", row, project=row.project.slug, trace=str(row.trace_id))
        if is_other:
            outbox.publish(EXPECTATION_CHANGED, expected=str(row.pk), project=str(row.project_id))
    return row


def expect_submitted(*, submission: Submission, use: Use = Use.GOLD, why: str = "") -> ExpectedAnnotation:
    """Make what somebody has submitted the expected annotation of its trace. Raises what expect() raises."""
    trace = submission.assignment.trace
    return expect(trace=trace, annotations=submission.result, use=use, why=why)


def expect_records(
    *, project: Project, records: Sequence[Any], use: Use = Use.GOLD, origin: Origin = Origin.IMPORTED
) -> list[ExpectedAnnotation]:
    """Make each record the expected annotation of the trace that its `id` names, in its newest version; `why` in a
    record says why. All of them or none: raises BadRecords with what is wrong, record by record."""
    if not 0 < len(records) <= MOST_RECORDS:
        raise BadRecords(f"Send 1 to {MOST_RECORDS:,} records at once, not {len(records):,}.")
    made, problems = [], []
    with transaction.atomic():
        traces = _by_name(project, {str(record.get("id")) for record in records if isinstance(record, dict)})
        for number, record in enumerate(records, start=1):
            try:
                made.append(_from_record(record, traces, use, origin))
            except Refused as refused:
                problems.append(f"Record {number}: {refused.sentence}")
        if problems:
            shown = " ".join(problems[:_PROBLEMS_SHOWN])
            more = f" And {len(problems) - _PROBLEMS_SHOWN:,} more." if len(problems) > _PROBLEMS_SHOWN else ""
            raise BadRecords(f"Nothing was taken: {counted(len(problems), 'record')} cannot be. {shown}{more}")
    return made


def retire(*, expected: ExpectedAnnotation) -> ExpectedAnnotation:
    """Give the trace to nobody any more to score them by it. Waits for whoever is being given it; what they have may be
    finished and is scored. Its scores stay. The trace stays out of the queue until somebody gives it out again."""
    with transaction.atomic():
        rows = ExpectedAnnotation.objects.filter(pk=expected.pk).select_related("project")
        row = rows.select_for_update(no_key=True, of=("self",)).get()
        if row.retired_at is not None:
            return row
        row.retired_at, row.retired_by_id = timezone.now(), current().user
        row.save(update_fields=["retired_at", "retired_by"])
        quotas = TraceQuota.objects.for_project(row.project).filter(trace=row.trace_id, withheld=Withheld.KNOWN_ANSWER)
        quotas.update(withheld=Withheld.RETIRED, withheld_reason="Its answer was known")
        audit.record("gold.retired", row, project=row.project.slug, trace=str(row.trace_id))
    return row


def _scorable(trace: Trace, annotations: Mapping[str, Any], configuration: ProjectConfiguration) -> dict[str, Any]:
    """The results as they are kept: they may lack what every submission has, and say nothing that none may say, since
    nobody could meet that. Raises NotScorable."""
    names = [scheme.name for scheme in configuration.annotation_schemes]
    unknown = [name for name in annotations if name not in names]
    if unknown:
        raise NotScorable(f"{unknown[0]} is no scheme of the project. Its schemes: {', '.join(names)}.")
    if gaps := malformed(dict(annotations), configuration):
        raise NotScorable(f"The expected annotation cannot be read: {gaps[0].sentence}")
    said = missing(dict(annotations), configuration, read_evidence(trace))
    if refused := [gap for gap in said if gap.kind == "refused"]:
        raise NotScorable(f"Nobody could answer what is expected: {refused[0].sentence}")
    try:
        score_annotation(annotations, annotations, configuration.annotation_schemes)
    except GoldError as error:
        raise NotScorable(str(error)) from None
    return dict(annotations)


def _by_name(project: Project, names: Collection[str]) -> dict[str, Trace]:
    """The newest version of each trace."""
    rows = Trace.objects.filter(organisation=project.organisation_id, project=project, external_id__in=names)
    return {row.external_id: row for row in rows.order_by("version").select_related("project")}


def _from_record(record: Any, traces: Mapping[str, Trace], use: Use, origin: Origin) -> ExpectedAnnotation:
    if not isinstance(record, dict) or not isinstance(record.get("annotations"), dict):
        raise BadRecords("it is no object with the keys id and annotations.")
    trace = traces.get(str(record.get("id")))
    if trace is None:
        raise BadRecords(f"the project has no trace “{str(record.get('id'))[:100]}”.")
    why = record.get("why", "")
    if not isinstance(why, str):
        raise BadRecords("why is no text.")
    return expect(trace=trace, annotations=record["annotations"], use=use, origin=origin, why=why)


def live_expected(project: Project, pk: UUID) -> ExpectedAnnotation | None:
    return ExpectedAnnotation.objects.for_project(project).filter(pk=pk).select_related("project", "trace").first()
