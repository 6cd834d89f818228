"""What a list of traces can be narrowed to, as it stands in an address and in a batch: each filter with any values."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Self
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Exists, F, FloatField, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import Membership, Project
from assignments.models import Assignment, AssignmentState, Reservation, TraceQuota
from assignments.models.claims import CLAIMED_KINDS
from assignments.pool.states import STATES
from jobs.row_text import storable
from tenancy.actor import active_organisation
from tenancy.ids import read_id
from traces.models import CheckReport, Trace
from traces.models.traces import TraceQuerySet

NOT_GIVEN = "-"
"""Stands in an address for traces of which a fact is not known."""
_LENGTH, _VALUES = 300, 50

_LINES = F("added") + F("removed")
SIZES: dict[str, tuple[str, Q]] = {
    "steps-10": ("up to 10 steps", Q(steps_count__lte=10)),
    "steps-50": ("11 to 50 steps", Q(steps_count__gt=10, steps_count__lte=50)),
    "steps-more": ("over 50 steps", Q(steps_count__gt=50)),
    "files-1": ("one file at most", Q(files_count__lte=1)),
    "files-10": ("2 to 10 files", Q(files_count__gt=1, files_count__lte=10)),
    "files-more": ("over 10 files", Q(files_count__gt=10)),
    "lines-50": ("up to 50 lines", Q(changed_lines__lte=50)),
    "lines-500": ("51 to 500 lines", Q(changed_lines__gt=50, changed_lines__lte=500)),
    "lines-more": ("over 500 lines", Q(changed_lines__gt=500)),
}
TOKENS = Coalesce(F("input_tokens"), 0) + Coalesce(F("output_tokens"), 0)
_HAS_TOKENS = Q(input_tokens__isnull=False) | Q(output_tokens__isnull=False)
USAGE: dict[str, tuple[str, Q]] = {
    "tokens-100k": ("up to 100,000 tokens", Q(tokens__lte=100_000) & _HAS_TOKENS),
    "tokens-1m": ("over 100,000 tokens, up to a million", Q(tokens__gt=100_000, tokens__lte=1_000_000)),
    "tokens-more": ("over a million tokens", Q(tokens__gt=1_000_000)),
    "cost-1": ("up to 1 US dollar", Q(cost_usd__lte=1)),
    "cost-more": ("over 1 US dollar", Q(cost_usd__gt=1)),
}
COLUMNS = {"model": "agent_model", "agent": "agent", "repo": "repo", "converter": "converter"}
JUDGED = {"no": ("by nobody yet", 0), "yes": ("by one or more", 1)}
MARKS = {"errors": ("with failed steps", "error_steps"), "badges": ("with files to read with care", "badged_files")}
CHECKS: dict[str, tuple[str, Q]] = {
    "tests-failed": ("reports: tests failed", Q(has_failed_report=True)),
    "tests-passed": ("reports: tests passed", Q(has_passed_report=True, has_failed_report=False)),
    "findings": ("reports: findings", Q(has_findings=True)),
    "run-failed": ("the agent's last tests failed", Q(tests_outcome__in=("failed", "error"))),
    "run-passed": ("the agent's last tests passed", Q(tests_outcome="passed")),
    "none": ("nothing is known", Q(tests_outcome="", has_report=False)),
}
AGREEMENT = {
    "low": ("below 0.40", Q(agreement__lt=0.4)),
    "middle": ("0.40 to 0.67", Q(agreement__gte=0.4, agreement__lt=2 / 3)),
    "high": ("0.67 and more", Q(agreement__gte=2 / 3)),
}

_ANY = "versions", "task", "q"


@dataclass(frozen=True)
class KnownAgreement:
    """How far the annotators of a trace agree, as the app tells that knows it: from 0 to 1.

    `of_trace` makes an expression of traces, NULL where fewer than two have judged one. `below` finds the ids of a
    project's traces that have less agreement than that, by an index.
    """

    of_trace: Callable[[], Any]
    below: Callable[[Project, float], "QuerySet[Any, UUID]"]


_agreement: list[KnownAgreement] = []


def register_agreement(known: KnownAgreement) -> None:
    """Called in AppConfig.ready() by the app that knows how far the annotators of a trace agree."""
    _agreement.append(known)


def trace_agreement() -> Any:
    """How far the annotators of a trace agree, as an expression of traces."""
    return _agreement[-1].of_trace() if _agreement else Value(None, output_field=FloatField())


def traces_of_low_agreement(project: Project, limit: float) -> "QuerySet[Any, UUID]":
    """The ids of a project's traces whose `trace_agreement` is below the limit."""
    return _agreement[-1].below(project, limit) if _agreement else Trace.objects.none().values_list("pk", flat=True)


@dataclass(frozen=True)
class PoolFilters:
    """The traces that somebody asks for. Within a filter any of its values will do; all filters have to."""

    q: str = ""
    task: str = ""
    versions: str = ""
    state: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    repo: tuple[str, ...] = ()
    converter: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    usage: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    batch: tuple[str, ...] = ()
    size: tuple[str, ...] = ()
    imported: tuple[str, ...] = ()
    file: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    agreement: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()

    @classmethod
    def asked(cls, values: Mapping[str, list[str]]) -> Self:
        """What the address asks for; what no trace can be asked for is left out."""
        texts = {name: storable(values.get(name, [""])[-1].strip(), _LENGTH) for name in ("q", "task")}
        lists = {
            name: tuple(dict.fromkeys(one for value in values.get(name, ())[:_VALUES] if (one := _kept(name, value))))
            for name in LISTS
        }
        return cls(**texts, versions="all" if values.get("versions") == ["all"] else "", **lists)  # type: ignore[arg-type]

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        return cls.asked({name: value if isinstance(value, list) else [value] for name, value in data.items()})

    def data(self) -> dict[str, Any]:
        """As JSON, without what is not asked."""
        values = {name: getattr(self, name) for name in (*_ANY, *LISTS)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items() if value}

    def query_string(self, **changes: Any) -> str:
        """The address' part behind "?", with some filters changed; the first page of the list."""
        asked = replace(self, **changes)
        return urlencode([(name, value) for name, value in asked.pairs()])

    def pairs(self) -> list[tuple[str, str]]:
        """As fields of a form."""
        return [
            (name, one)
            for name, value in self.data().items()
            for one in (value if isinstance(value, list) else [value])
        ]

    def without(self, *names: str) -> Self:
        cleared: dict[str, Any] = {name: () if name in LISTS else "" for name in names}
        return replace(self, **cleared)

    def chosen_traces(self, traces: TraceQuerySet) -> TraceQuerySet:
        """Those of the traces that every filter lets through but `state`, which is asked of a list."""
        if not self.versions:
            traces = traces.newest()
        if self.q:
            texts = ("external_id__icontains", "task__icontains", "repo__icontains")
            traces = traces.filter(Q(*((name, self.q) for name in texts), _connector=Q.OR))
        if self.task:
            traces = traces.filter(task_id=self.task)
        for name, column in COLUMNS.items():
            if values := getattr(self, name):
                traces = traces.filter(**{f"{column}__in": ["" if one == NOT_GIVEN else one for one in values]})
        if self.size:
            traces = traces.alias(changed_lines=_LINES).filter(
                Q(*(SIZES[one][1] for one in self.size), _connector=Q.OR)
            )
        if self.usage:
            traces = traces.alias(tokens=TOKENS).filter(Q(*(USAGE[one][1] for one in self.usage), _connector=Q.OR))
        if self.imported:
            traces = traces.filter(Q(*(_on(date.fromisoformat(one)) for one in self.imported), _connector=Q.OR))
        if self.file:
            traces = traces.filter(file__in=[UUID(one) for one in self.file])
        if self.marks:
            traces = traces.filter(Q(*((f"{MARKS[one][1]}__gt", 0) for one in self.marks), _connector=Q.OR))
        if self.tag:
            own = Q(*(("tags__contains", [one]) for one in self.tag), _connector=Q.OR)
            given = _queue(Q(*(("tags__contains", [one]) for one in self.tag), _connector=Q.OR))
            traces = traces.filter(own | Q(given))
        if self.batch:
            numbers = [int(one) for one in self.batch if one != NOT_GIVEN]
            condition = Q(batch__number__in=numbers) | (
                Q(batch__isnull=True) if NOT_GIVEN in self.batch else Q(pk=None)
            )
            traces = traces.filter(_queue(condition))
        if self.judged:
            wanted = Q(*((Q(done__gt=0) if one == "yes" else Q(done=0)) for one in self.judged), _connector=Q.OR)
            unknown = ~_queue(Q()) if "no" in self.judged else Q(pk=None)
            traces = traces.filter(Q(_queue(wanted)) | Q(unknown))
        if self.checks:
            known = traces.alias(**report_flags())
            traces = known.filter(Q(*(CHECKS[one][1] for one in self.checks), _connector=Q.OR))
        if self.agreement:
            ranges = Q(*(AGREEMENT[one][1] for one in self.agreement), _connector=Q.OR)
            traces = traces.alias(agreement=trace_agreement()).filter(ranges)
        if self.held:
            traces = traces.filter(Exists(held_now().filter(trace=OuterRef("pk"), user__in=people_named(self.held))))
        if self.offered:
            traces = traces.filter(
                Exists(offers_now().filter(trace=OuterRef("pk"), user__in=people_named(self.offered)))
            )
        return traces


def report_flags() -> dict[str, Exists]:
    """What is asked of the reports of a trace's run, by the names that CHECKS has for it."""
    reports = CheckReport.objects
    return {
        "has_report": Exists(reports.of_trace()),
        "has_failed_report": Exists(reports.of_trace(outcome__in=("failed", "error"))),
        "has_passed_report": Exists(reports.of_trace(outcome="passed")),
        "has_findings": Exists(reports.of_trace(findings__gt=0)),
    }


def people_named(names: Collection[str]) -> Any:
    """The people of the active organisation with these annotator names, for a filter."""
    return Membership.objects.filter(organisation=active_organisation(), annotator_name__in=names).values("user")


def held_now() -> Any:
    """What annotators hold in the active organisation."""
    return Assignment.objects.filter(
        organisation=active_organisation(), state=AssignmentState.CLAIMED, kind__in=CLAIMED_KINDS
    )


def offers_now() -> Any:
    """What is offered to named people of the active organisation before all others."""
    return Reservation.objects.filter(organisation=active_organisation(), until__gt=timezone.now())


LISTS = (
    "state",
    "model",
    "repo",
    "agent",
    "converter",
    "usage",
    "tag",
    "batch",
    "size",
    "imported",
    "file",
    "judged",
    "marks",
    "checks",
    "agreement",
    "held",
    "offered",
)
_ALLOWED: dict[str, Any] = {
    "state": STATES,
    "size": SIZES,
    "usage": USAGE,
    "judged": JUDGED,
    "marks": MARKS,
    "checks": CHECKS,
    "agreement": AGREEMENT,
}


def _kept(name: str, value: str) -> str:
    text = storable(value.strip(), _LENGTH)
    if name in _ALLOWED and text not in _ALLOWED[name]:
        return ""
    if name == "batch" and text != NOT_GIVEN and not (text.isascii() and text.isdigit() and len(text) < 9):
        return ""
    if name == "imported" and not _is_date(text):
        return ""
    if name == "file" and not read_id(text):
        return ""
    return text


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _on(day: date) -> Q:
    begin = timezone.make_aware(datetime.combine(day, datetime.min.time()))
    return Q(imported_at__gte=begin, imported_at__lt=begin + timedelta(days=1))


def _queue(condition: Q) -> Exists:
    here = TraceQuota.objects.filter(organisation=OuterRef("organisation"), trace=OuterRef("pk"))
    return Exists(here.filter(condition))
