"""The computation of a report as a job: what there is to compare, then one comparison after another.

Each part reads the annotations that the snapshot of the first part saw, and keeps of them what one comparison needs:
so a report of a million labels fits into memory, and a killed worker repeats one comparison. Numpy is loaded by the
process that computes, and by no other for this module.
"""

import hashlib
import platform
from array import array
from collections import defaultdict
from collections.abc import Mapping
from importlib.metadata import version
from statistics import median
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import ConfigurationVersion, Project
from agreement.anchoring import stored_anchoring
from agreement.by_trace import update_behind
from agreement.filters import options_filters
from agreement.models import AgreementReport
from agreement.models.reports import figures_text
from agreement.thresholds import publish_if_below
from jobs.kinds import JobFailed, Part
from jobs.models import Job
from potato.configuration import UnreadablePinError
from potato.records.sources import RecordsError
from tenancy import audit
from tenancy.snapshots import Snapshot


class ComputeAgreement:
    """Job parameters: `report`, the id of an AgreementReport."""

    name = "compute_agreement"
    label = "Agreement of annotators"
    queue = "statistics"

    def run_part(self, job: Job) -> Part:
        report = AgreementReport.objects.select_related("project").get(pk=job.parameters["report"])
        if job.cursor and "traces_to" in job.cursor:
            return self._trace_by_trace(report, job.cursor["comparisons"], UUID(job.cursor["traces_to"]))
        try:
            # The parts so far are in the row, as a job's cursor is shown and copied in many places.
            computation = Computation(report, report.figures if job.cursor else {})
            if not job.cursor:
                computation.begin()
            else:
                computation.compare_next()
        except RecordsError as reason:
            raise JobFailed(reason.sentence) from reason
        except UnreadablePinError as reason:
            raise JobFailed(f"Version {report.version_number} of the configuration: {reason.sentence}") from reason
        except ValueError as reason:
            raise JobFailed(f"These annotations cannot be compared: {reason}") from reason
        if not computation.is_over:
            report.figures = computation.state
            report.save(update_fields=["figures"])
            done = computation.done
            return Part(cursor={"comparisons": done - 1}, progress=done, total=computation.total)
        finish(report, computation.figures())
        return self._trace_by_trace(report, computation.total, None)

    def _trace_by_trace(self, report: AgreementReport, total: int, after: UUID | None) -> Part:
        """Behind the report itself: how far the annotators of each trace agree, a few thousand traces a part."""
        traces_to = update_behind(report.project, after) if after else update_behind(report.project)
        if traces_to is not None:
            return Part(cursor={"comparisons": total, "traces_to": str(traces_to)}, progress=total, total=total)
        return Part(
            cursor=None,
            progress=total,
            total=total,
            finished=True,
            result={"report": str(report.pk), "annotations": report.annotations, "sha256": report.sha256},
        )


class Computation:
    """The figures of a report, computed in parts. `state` is JSON: what was computed so far."""

    def __init__(self, report: AgreementReport, state: dict[str, Any]) -> None:
        from agreement.stored import StoredAnswers
        from potato.statistics.agreement.report import Settings, list_comparisons

        self.state = state
        if not report.snapshot:
            report.snapshot = Snapshot.now().as_json()
            newest = report.project.newest_version()
            report.version_number = newest.number if newest else None
            report.save(update_fields=["snapshot", "version_number"])
        self._settings = Settings(**report.settings)
        compared = _version(report.project, report.version_number)
        self._filters = report.filters
        self._project, self._snapshot = report.project, Snapshot.from_json(report.snapshot)
        self._answers = StoredAnswers(
            report.project, Snapshot.from_json(report.snapshot), compared, options_filters(report.filters)
        )
        self._comparisons = list_comparisons(self._answers.schemes)

    @property
    def done(self) -> int:
        return int(self.state["next"]) + 1

    @property
    def total(self) -> int:
        return len(self._comparisons) + 1

    @property
    def is_over(self) -> bool:
        """Where no trace has two annotators nothing is compared."""
        return self.state["next"] >= len(self._comparisons) or not self.state["basics"]["shared_traces"]

    def begin(self) -> None:
        from potato.statistics.agreement.report import count_basics

        self.state |= {"basics": count_basics(self._answers).as_json(), "next": 0, "unreadable": {}, "compared": []}

    def compare_next(self) -> None:
        from potato.statistics.agreement.report import compare_in

        scheme, comparison = self._comparisons[self.state["next"]]
        compared, self.state["unreadable"][scheme.name] = compare_in(self._answers, scheme, comparison, self._settings)
        if compared is not None:
            self.state["compared"].append(compared.as_json())
        self.state["next"] += 1

    def figures(self) -> dict[str, Any]:
        """What the report keeps."""
        from potato.statistics.agreement.report import report_json

        figures = report_json(self.state["basics"], self._settings, self.state["unreadable"], self.state["compared"])
        suggestions = stored_anchoring(
            self._project, self._snapshot, self._answers.schemes, self._settings, options_filters(self._filters)
        )
        if suggestions is not None:
            figures["suggestions"] = suggestions
        return {**figures, "filters": self._filters} if self._filters else figures


def computed_again(report: AgreementReport) -> dict[str, Any]:
    """The figures of a finished report, computed once more of the annotations that it saw. Changes nothing."""
    computation = Computation(report, {})
    computation.begin()
    while not computation.is_over:
        computation.compare_next()
    return computation.figures()


def finish(report: AgreementReport, figures: dict[str, Any]) -> None:
    """Keep the figures, and publish it where agreement fell below what the project's rule demands."""
    report.figures = figures
    report.annotations, report.shared_traces = figures["annotations"], figures["shared_traces"]
    report.sha256 = hashlib.sha256(figures_text(figures).encode()).hexdigest()
    report.summary = main_measures(figures)
    report.seconds = median_seconds(report)
    report.software = _software()
    report.computed_at = timezone.now()
    report.save(
        update_fields=[
            "figures",
            "summary",
            "seconds",
            "annotations",
            "shared_traces",
            "sha256",
            "software",
            "computed_at",
        ]
    )
    audit.record("agreement.computed", report, annotations=report.annotations, sha256=report.sha256)
    publish_if_below(report)


def main_measures(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The main measure of everything that is compared."""
    return [
        {
            **{name: comparison[name] for name in ("scheme", "name", "title")},
            "measure": comparison["main"],
            "estimate": comparison["figures"][comparison["main"]],
        }
        for comparison in figures["compared"]
    ]


def median_seconds(report: AgreementReport) -> dict[str, float]:
    """The median seconds of work on what the report rests on: of all under "", and by annotator."""
    from agreement.stored import StoredAnswers

    of_all, by_annotator = array("d"), defaultdict[str, "array[float]"](lambda: array("d"))
    answers = StoredAnswers(report.project, Snapshot.from_json(report.snapshot), None, options_filters(report.filters))
    for annotator, seconds in answers.seconds():
        of_all.append(seconds)
        by_annotator[annotator].append(seconds)
    named = {"": of_all, **by_annotator} if of_all else {}
    return {name: round(median(taken), 6) for name, taken in named.items()}


def _version(project: Project, number: int | None) -> ConfigurationVersion | None:
    if number is None:
        return None
    return ConfigurationVersion.objects.filter(project=project, number=number).first()


def _software() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in ("potato-review", "numpy")}}
