"""Reports of tests and checkers in an import: read, kept, and joined to the runs that they name.

A report is of one run. Where its names mean several, as those of an instance that three models tried, nothing is
guessed: it waits, as one that means none does, and every later import with runs looks again.
"""

import hashlib
import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from jobs import outbox
from jobs.kinds import SECONDS_A_PART
from jobs.row_text import storable
from potato.checks.model import Counts, Kind, Report, UnreadableReport, report_content
from potato.checks.reading import NAMES, read_reports, report_kind
from potato.configuration.project import Secrets
from potato.runs.converters.detection import SURE_ENOUGH
from potato.runs.converters.registry import trace_converters
from potato.runs.model import Unreadable
from potato.runs.run_files import StoredRunFile
from potato.runs.secrets import Group, hide
from traces.importing.screening import groups_searched_for
from traces.models import CheckReport, ImportedFile, Trace

REPORTS_AT_ONCE = 200
REPORTS_JOINED = "reports.joined"
"""Reports of an import found their runs."""
_ID_LENGTH = 300
_LARGEST = 32 * 2**20


@dataclass(frozen=True, slots=True)
class StatedReports:
    """What a file of reports holds, of which kind they are, and why it was read so."""

    kind: Kind
    reports: list[Report]
    sentence: str


def kind_of_report(source: StoredRunFile) -> Kind | None:
    """Whether the file is one of reports, and no run's. A format that is sure of it has it."""
    head = source.head()
    kind = report_kind(head, source.name)
    if kind is None:
        return None
    is_run = any(converter.recognises(head, source.name)[0] >= SURE_ENOUGH for converter in trace_converters().values())
    return None if is_run else kind


def read_source(source: StoredRunFile, kind: Kind) -> StatedReports | Unreadable:
    """The reports of the file, or why none can be read."""
    if source.size > _LARGEST:
        return Unreadable(1, "too_large", f"{source.name} is {NAMES[kind]} of more than 32 MiB. Split it.")
    with source.opened() as file:
        data = file.read(_LARGEST + 1)
    try:
        reports = read_reports(data, source.name)
    except UnreadableReport as refusal:
        return Unreadable(1, refusal.code, f"{source.name} seems to be {NAMES[kind]}. {refusal.sentence}")
    return StatedReports(kind, reports, f"{source.name} is {NAMES[kind]}.")


def keep_reports(file: ImportedFile, member: str, reports: Iterable[Report], secrets: Secrets) -> None:
    """Keep them, each in the place of an earlier one of the same program about the same run."""
    groups = groups_searched_for(secrets)
    rows = {row.identity_sha256: row for row in (_row(file, member, report, groups) for report in reports)}
    CheckReport.objects.bulk_create(
        list(rows.values()),
        batch_size=REPORTS_AT_ONCE,
        update_conflicts=True,
        unique_fields=["organisation", "project", "identity_sha256"],
        update_fields=[
            "file", "member", "kind", "name", "names", "external_id", "meant", "outcome", "passed", "failed", "errors",
            "skipped", "findings", "content", "added_at",
        ],
    )  # fmt: skip


def join_reports(file: ImportedFile, cursor: dict[str, Any]) -> bool:
    """Find the runs of the reports of this import, and where it brought runs also of those that wait; from the cursor
    on. Answers whether all were looked at."""
    progress: dict[str, Any] = cursor.setdefault("join_reports", {"after": None})
    ends = time.monotonic() + SECONDS_A_PART
    rows = CheckReport.objects.filter(organisation=file.organisation_id, project=file.project_id).waiting()
    if not cursor["imported"]:
        rows = rows.filter(file=file)
    while True:
        after = UUID(progress["after"]) if progress["after"] else UUID(int=0)
        some = list(rows.filter(pk__gt=after).order_by("pk").defer("content")[:REPORTS_AT_ONCE])
        if not some:
            if progress.get("joined"):
                outbox.publish(REPORTS_JOINED, project=str(file.project_id), file=str(file.pk))
            return True
        runs = _Runs.named_by(file, some)
        for row in some:
            row.external_id, row.meant = runs.meant_by(row.names)
        CheckReport.objects.bulk_update(some, ["external_id", "meant"])
        progress["joined"] = progress.get("joined", 0) + sum(bool(row.external_id) for row in some)
        progress["after"] = str(some[-1].pk)
        if time.monotonic() >= ends:
            return False


def counts_of_reports(file: ImportedFile) -> dict[str, int]:
    """How many reports of the import found their run, and how many wait, for the import's result."""
    own = CheckReport.objects.filter(organisation=file.organisation_id, file=file)
    waiting = own.waiting().count()
    return {"reports_joined": own.count() - waiting, "reports_waiting": waiting}


def waiting_reports(file: ImportedFile) -> "Sequence[CheckReport]":
    """Those of the import that found no run, or several, in the order of their names."""
    own = CheckReport.objects.filter(organisation=file.organisation_id, file=file).waiting()
    return list(own.defer("content").order_by("member", "pk")[:50])


def _row(file: ImportedFile, member: str, report: Report, groups: Collection[Group]) -> CheckReport:
    names = {
        "ids": [storable(id, _ID_LENGTH) for id in report.ids],
        "model": storable(report.model, _ID_LENGTH),
        "hints": [storable(hint, _ID_LENGTH) for hint in report.hints],
    }
    base = member.replace("\\", "/").rpartition("/")[2]
    identity = json.dumps([report.kind, report.name, base, names], sort_keys=True)
    # What tests print and checkers quote may hold what the run held.
    shown = replace(
        report,
        tests=tuple(
            replace(test, name=_without_secrets(test.name, groups), message=_without_secrets(test.message, groups))
            for test in report.tests
        ),
        findings=tuple(replace(each, message=_without_secrets(each.message, groups)) for each in report.findings),
    )
    return CheckReport(
        project_id=file.project_id,
        file=file,
        member=storable(member, 500),
        identity_sha256=hashlib.sha256(identity.encode()).hexdigest(),
        kind=report.kind,
        name=storable(report.name, 300),
        names=names,
        outcome=report.outcome,
        **{name: min(getattr(report.counts, name), 2**31 - 1) for name in Counts.__slots__},
        findings=len(report.findings),
        content=_storable(report_content(shown)),
    )


def _without_secrets(text: str, groups: Collection[Group]) -> str:
    return hide(text, groups) if text else text


def _storable(value: Any) -> Any:
    """JSON whose texts PostgreSQL takes."""
    if isinstance(value, str):
        return storable(value, 4_000)
    if isinstance(value, dict):
        return {key: _storable(each) for key, each in value.items()}
    return [_storable(each) for each in value] if isinstance(value, list) else value


@dataclass
class _Runs:
    """The runs of a project that some reports may mean, by their names: id, instance or task, each with its model."""

    by_id: dict[str, str] = field(default_factory=dict)
    by_name: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def named_by(cls, file: ImportedFile, reports: Sequence[CheckReport]) -> "_Runs":
        names = {id for report in reports for id in report.names["ids"]}
        names |= {
            f"{id}@{model}" for report in reports for id in report.names["ids"] for model in _models(report.names)
        }
        found = cls()
        own = Trace.objects.filter(organisation=file.organisation_id, project=file.project_id)
        # One statement a column: each has an index of its own, which no OR of them could use.
        for column in ("external_id", "instance_id", "task_id"):
            rows = own.filter(**{f"{column}__any_of": sorted(names)}).values_list(column, "external_id", "agent_model")
            for name, external_id, model in rows.distinct():
                if column == "external_id":
                    found.by_id[name] = model
                else:
                    found.by_name.setdefault(name, {})[external_id] = model
        return found

    def meant_by(self, names: Mapping[str, Any]) -> tuple[str, int]:
        """The one run that the names mean, else "" and how many it could be."""
        stated, models = names["model"], _models(names)
        for id in names["ids"]:
            if id in self.by_id and not (stated and _is_another(stated, self.by_id[id])):
                return id, 1
            for model in models:
                if f"{id}@{model}" in self.by_id:
                    return f"{id}@{model}", 1
            runs = self.by_name.get(id, {})
            if stated:
                runs = {run: model for run, model in runs.items() if not _is_another(stated, model)}
            of_model = [run for run, model in runs.items() if any(_is_model(name, model) for name in models)]
            meant = of_model or [*runs]
            if len(meant) == 1:
                return meant[0], 1
            if meant:
                return "", len(meant)
        return "", 0


def _models(names: Mapping[str, Any]) -> list[str]:
    return [*filter(None, [names["model"]]), *names["hints"]]


def _is_another(stated: str, model: str) -> bool:
    return bool(model) and not _is_model(stated, model)


def _is_model(name: str, model: str) -> bool:
    """Whether a name is the model's, also as a folder has it, or without its maker."""
    plain = name.lower().replace("__", "/")
    known = model.lower()
    return (
        bool(plain)
        and bool(known)
        and (plain == known or plain == known.rpartition("/")[2] or plain.rpartition("/")[2] == known)
    )
