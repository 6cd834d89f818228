"""What makes a row of each tenant table of agreement."""

from datetime import timedelta

from django.utils import timezone

from agreement.models import (
    AgreementReport,
    AgreementRule,
    AgreementSchedule,
    Source,
    SourceAnswer,
    SourceReport,
    TraceAgreement,
)
from tests.isolation.rows.fixtures import Factories, Fixtures
from traces.models.bodies import pack


def _agreement_report(fixtures: Fixtures) -> AgreementReport:
    return AgreementReport.objects.create(
        project=fixtures.rows["accounts.Project"],
        job=fixtures.rows["jobs.Job"],
        requested_by=fixtures.person,
        settings={"tolerance": 3, "samples": 0, "seed": 0},
        figures={"compared": [], "mark": fixtures.mark},
        requested_at=timezone.now() - timedelta(hours=1),
        sha256="0" * 64,
        computed_at=timezone.now(),
    )


def _agreement_rule(fixtures: Fixtures) -> AgreementRule:
    return AgreementRule.objects.create(project=fixtures.rows["accounts.Project"], watched=fixtures.mark)


def _agreement_schedule(fixtures: Fixtures) -> AgreementSchedule:
    return AgreementSchedule.objects.create(
        name=fixtures.mark,
        project=fixtures.rows["accounts.Project"],
        cron="0 2 * * *",
        next_at=timezone.now(),
        settings={"tolerance": 3, "samples": 0, "seed": 0},
        created_by=fixtures.person,
    )


def _source(fixtures: Fixtures) -> Source:
    return Source.objects.create(
        project=fixtures.rows["accounts.Project"], name=fixtures.mark, model=fixtures.mark, version=fixtures.mark
    )


def _source_answer(fixtures: Fixtures) -> SourceAnswer:
    return SourceAnswer.objects.create(
        project=fixtures.rows["accounts.Project"],
        source=fixtures.rows["agreement.Source"],
        trace=fixtures.rows["traces.Trace"],
        version=fixtures.rows["accounts.ConfigurationVersion"],
        packed=pack({"verdict": {"decision": "approve", "summary": fixtures.mark}}),
        given_sha256="0" * 64,
    )


def _trace_agreement(fixtures: Fixtures) -> TraceAgreement:
    return TraceAgreement.objects.create(
        project=fixtures.rows["accounts.Project"], trace=fixtures.rows["traces.Trace"], value=0.5, annotations=2
    )


def _source_report(fixtures: Fixtures) -> SourceReport:
    return SourceReport.objects.create(
        project=fixtures.rows["accounts.Project"],
        source=fixtures.rows["agreement.Source"],
        job=fixtures.rows["jobs.Job"],
        options={"method": "majority", "sure": 0.8},
        requested_by=fixtures.person,
        figures={"headline": fixtures.mark, "schemes": [], "missed_categories": {}},
        computed_at=timezone.now(),
    )


FACTORIES: Factories = {
    "agreement.AgreementSchedule": _agreement_schedule,
    "agreement.AgreementReport": _agreement_report,
    "agreement.AgreementRule": _agreement_rule,
    "agreement.Source": _source,
    "agreement.SourceAnswer": _source_answer,
    "agreement.SourceReport": _source_report,
    "agreement.TraceAgreement": _trace_agreement,
}
