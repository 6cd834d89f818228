"""Have a report computed, change a project's rule; and what new annotations bring by themselves."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from math import ceil
from typing import Any

from django.conf import settings as site_settings
from django.db import transaction
from django.utils import timezone

from accounts.models import Project
from agreement.computing import ComputeAgreement
from agreement.filters import checked_filters
from agreement.models import AgreementReport, AgreementRule, AgreementSchedule, Reason
from agreement.models.rules import project_rule
from agreement.reports import newest_requested
from agreement.since_report import came_in_after
from jobs.actions import request_job
from jobs.bounds import TooManyJobs
from jobs.models import OutboxEvent
from tenancy import audit
from tenancy.actor import current
from tenancy.errors import Refused

PAUSE = timedelta(seconds=10)
"""Between two requests of people for the same project."""
GROWTH = 50
"""A large project is computed again after a fiftieth of its annotations, where that is more than the rule says."""
TOLERANCES, SAMPLES = range(101), range(10_001)


class TooSoon(Refused):
    code = "too_soon"
    status = 429


class UnfitSettings(Refused):
    code = "unfit_settings"
    status = 400


def request_report(
    *,
    project: Project,
    reason: Reason = Reason.REQUESTED,
    settings: Mapping[str, int] | None = None,
    filters: Mapping[str, Any] | None = None,
    schedule: AgreementSchedule | None = None,
) -> AgreementReport:
    """Have the project's agreement computed in the background; where that is on its way already, nothing changes. A
    schedule has a report of its own in any case, with the settings that it asks for.

    `settings` may have `tolerance` (lines), `samples` and `seed`; what is missing is as usual. With `filters` it is a
    report of what they let pass alone, beside those of all. Raises UnfitSettings, UnfitFilters, TooSoon where a person
    asks again within PAUSE, and TooManyJobs.
    """
    chosen = checked_settings(settings or {})
    part = checked_filters(project, filters or {})
    by_person = reason == Reason.REQUESTED
    now = timezone.now()
    with transaction.atomic():
        # Two who ask at once would else both see that nothing is on its way.
        Project.objects.select_for_update(of=("self",)).defer("draft").get(pk=project.pk)
        last = newest_requested(project, part)
        if last and last.is_on_its_way and schedule is None:
            return last
        if by_person and last and now - last.requested_at < PAUSE:
            raise TooSoon(
                f"Agreement was asked for less than {PAUSE.total_seconds():.0f} seconds ago. Ask again in a moment.",
                retry_after=ceil((last.requested_at + PAUSE - now).total_seconds()),
            )
        report = AgreementReport.objects.create(
            project=project,
            reason=reason,
            settings=chosen,
            filters=part,
            schedule=schedule,
            requested_by_id=current().user,
            requested_at=now,
        )
        report.job = request_job(kind=ComputeAgreement.name, parameters={"report": str(report.pk)}, by_person=by_person)
        report.save(update_fields=["job"])
    return report


def change_rule(*, project: Project, every: int | None, threshold: Decimal | None, watched: str = "") -> AgreementRule:
    """Say after how many annotations the project is computed anew, and below which value somebody is to hear of it.

    Raises UnfitSettings for a threshold beyond 0 to 1, and for a number of annotations below 0 or above a million.
    """
    if threshold is not None and not 0 <= threshold <= 1:
        raise UnfitSettings(f"The threshold must be from 0 to 1, and {threshold} is not.")
    if every is not None and not 0 <= every <= 1_000_000:
        raise UnfitSettings(f"A report can be computed after 1 to 1,000,000 annotations, or 0 for never, not {every}.")
    values = {"every": every, "threshold": threshold, "watched": watched[:200]}
    with transaction.atomic():
        rule, _ = AgreementRule.objects.update_or_create(project=project, defaults=values)
        facts = {**values, "threshold": None if threshold is None else str(threshold)}
        audit.record("agreement.rule_changed", rule, project=project.slug, **facts)
    return rule


def recompute_interval(rule: AgreementRule) -> int:
    """After how many new annotations this project is computed again: 0 for never."""
    return site_settings.AGREEMENT_EVERY_SUBMISSIONS if rule.every is None else rule.every


def submission_made(event: OutboxEvent) -> None:
    """Ask for a report where enough came in since the last one that was asked for."""
    project = Project.objects.filter(pk=event.payload["project"]).defer("draft").first()
    if project is None:
        return
    every = recompute_interval(project_rule(project))
    if not every:
        return
    last = newest_requested(project)
    if last is not None and last.is_on_its_way:
        return
    since = last.seen_until if last else project.created_at
    wanted = max(every, (last.annotations if last else 0) // GROWTH)
    if came_in_after(project, since)[:wanted].count() >= wanted:
        with suppress(TooManyJobs):
            request_report(project=project, reason=Reason.ANNOTATIONS)


def checked_settings(settings: Mapping[str, Any]) -> dict[str, int]:
    """Settings with what is missing as usual. Raises UnfitSettings."""
    chosen = {"tolerance": 3, "samples": 1000, "seed": 0} | dict(settings)
    if unknown := sorted(chosen.keys() - {"tolerance", "samples", "seed"}):
        raise UnfitSettings(f"There is no setting {unknown[0]!r}. Known: tolerance, samples, seed.")
    if chosen["tolerance"] not in TOLERANCES:
        raise UnfitSettings(f"The tolerance must be 0 to {TOLERANCES[-1]} lines, not {chosen['tolerance']}.")
    if chosen["samples"] not in SAMPLES:
        raise UnfitSettings(f"The samples must be 0 to {SAMPLES[-1]:,}, not {chosen['samples']}.")
    if not 0 <= chosen["seed"] < 2**31:
        raise UnfitSettings(f"The seed must be 0 to 2,147,483,647, not {chosen['seed']}.")
    return chosen
