"""The list of a project's traces: what it can be narrowed to, how many traces each choice has, and its orders."""

from dataclasses import dataclass, replace
from typing import Any, TypedDict

from django.db.models import Count, F, Func, Q, QuerySet, TextField
from django.db.models.functions import Left
from django_stubs_ext import WithAnnotations

from accounts.models import Project
from traces.filters import Filters
from traces.models import Trace
from traces.models.traces import TraceQuerySet

TRACES_ON_A_PAGE = 50
OPTIONS_SHOWN = 100
NOT_GIVEN = "-"
"""Stands in an address for traces whose agent model is not known."""

_MARKS = {"errors": ("With failed steps", "error_steps"), "badges": ("With files to read with care", "badged_files")}


class TaskStart(TypedDict):
    """What `rows` adds to a trace."""

    task_start: str


def number_of_traces(project: Project) -> int:
    """How many traces the project has, older versions among them."""
    return Trace.objects.filter(organisation=project.organisation_id, project=project).count()


@dataclass(frozen=True)
class Order:
    """A way to sort the list. `fields` as order_by takes them; ties end newest first."""

    name: str
    label: str
    fields: tuple[Any, ...]


ORDERS = {
    order.name: order
    for order in (
        Order("newest", "Newest first", ()),
        Order("oldest", "Oldest first", ("pk",)),
        Order("id", "Trace", ("external_id", "version")),
        Order("model", "Agent model", ("agent_model",)),
        Order("steps", "Most steps", ("-steps_count",)),
        Order("files", "Most files", ("-files_count",)),
        Order("lines", "Most changed lines", ((F("added") + F("removed")).desc(),)),
    )
}


@dataclass(frozen=True)
class FilterOption:
    """One value that a filter can take, with the number of rows that it would show beside the other filters."""

    value: str
    label: str
    count: int


@dataclass(frozen=True)
class ActiveFilter:
    """A filter that narrows the list now, and the query string of the list without it."""

    label: str
    value: str
    without: str


@dataclass(frozen=True)
class TraceFilters(Filters):
    """What an address asks the list of traces for."""

    q: str = ""
    model: str = ""
    converter: str = ""
    tag: str = ""
    task: str = ""
    marks: str = ""
    versions: str = ""
    sort: str = "newest"

    allowed = {"sort": ORDERS, "marks": _MARKS, "versions": ("all",)}

    def chosen(self, traces: TraceQuerySet) -> TraceQuerySet:
        """Those of the traces that every filter lets through."""
        if not self.versions:
            traces = traces.newest()
        if self.q:
            traces = traces.filter(Q(external_id__icontains=self.q) | Q(task__icontains=self.q))
        if self.model:
            traces = traces.filter(agent_model="" if self.model == NOT_GIVEN else self.model)
        if self.converter:
            traces = traces.filter(converter=self.converter)
        if self.tag:
            traces = traces.filter(tags__contains=[self.tag])
        if self.task:
            traces = traces.filter(task_id=self.task)
        if self.marks:
            traces = traces.filter(**{f"{_MARKS[self.marks][1]}__gt": 0})
        return traces

    def rows(self, traces: TraceQuerySet) -> "QuerySet[WithAnnotations[Trace, TaskStart]]":
        """The chosen traces in order, each with `task_start`, as a list shows them: long texts are not read."""
        ordered = self.chosen(traces).order_by(*ORDERS[self.sort].fields, "-pk")
        return ordered.annotate(task_start=Left("task", 400)).defer(  # type: ignore[return-value]  # the name, not its type
            "task", "report"
        )

    def active(self) -> list[ActiveFilter]:
        shown = {
            "q": ("Search", self.q),
            "model": ("Agent model", "not given" if self.model == NOT_GIVEN else self.model),
            "converter": ("Format", self.converter),
            "tag": ("Tag", self.tag),
            "task": ("Task", "the same task" if self.task else ""),
            "marks": ("Only", _MARKS[self.marks][0].lower() if self.marks else ""),
        }
        return [
            ActiveFilter(label, value, self.query_string(**{name: ""}))
            for name, (label, value) in shown.items()
            if value
        ]

    def models(self, traces: TraceQuerySet) -> list[FilterOption]:
        return [
            FilterOption(value or NOT_GIVEN, value or "Not given", count)
            for value, count in _counts(replace(self, model="").chosen(traces), "agent_model")
        ]

    def converters(self, traces: TraceQuerySet) -> list[FilterOption]:
        counted = _counts(replace(self, converter="").chosen(traces), "converter")
        return [FilterOption(value, value, count) for value, count in counted]

    def tags(self, traces: TraceQuerySet) -> list[FilterOption]:
        tagged = (
            replace(self, tag="")
            .chosen(traces)
            .annotate(one_tag=Func("tags", function="jsonb_array_elements_text", output_field=TextField()))
        )
        return [FilterOption(value, value, count) for value, count in _counts(tagged, "one_tag")]

    def marked(self, traces: TraceQuerySet) -> list[FilterOption]:
        chosen = replace(self, marks="").chosen(traces)
        counts = chosen.aggregate(
            **{mark: Count("pk", filter=Q(**{f"{column}__gt": 0})) for mark, (_, column) in _MARKS.items()}
        )
        return [FilterOption(mark, label, counts[mark]) for mark, (label, _) in _MARKS.items()]


def runs_of_tasks(traces: TraceQuerySet, task_ids: set[str]) -> dict[str, int]:
    """How many traces, each in its newest version, have each of these tasks."""
    counted = traces.newest().filter(task_id__in=task_ids).values("task_id").annotate(runs=Count("pk"))
    return {row["task_id"]: row["runs"] for row in counted.order_by()}


def first_line(task: str) -> str:
    """What a list shows of a task: its first line that says something, without the sign of a heading."""
    return next((line for whole in task.splitlines() if (line := whole.strip().lstrip("#").strip())), "")


def _counts(traces: "QuerySet[Trace]", field: str) -> list[tuple[str, int]]:
    """The most frequent values of a field, then by name."""
    counted = traces.values(field).annotate(traces=Count("pk")).order_by("-traces", field)[:OPTIONS_SHOWN]
    return [(row[field], row["traces"]) for row in counted]
