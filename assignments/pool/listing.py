"""The list of a project's traces with their states: rows, the numbers of each state, and what can be filtered by."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Func, OuterRef, Subquery, TextField
from django.db.models.functions import Left, TruncDate

from accounts.filters import FilterChip, FilterOption, chosen_options
from accounts.models import Membership, Project
from assignments.history import TASK_START, trace_title
from assignments.models import Assignment, AssignmentState, Batch, Kind, Priority
from assignments.pool.filters import (
    AGREEMENT,
    CHECKS,
    JUDGED,
    MARKS,
    NOT_GIVEN,
    SIZES,
    TOKENS,
    USAGE,
    PoolFilters,
    held_now,
    offers_now,
    report_flags,
    trace_agreement,
)
from assignments.pool.states import STATES, project_traces, with_states
from assignments.pool.stuck import stuck_quotas
from assignments.submission_records import annotator_names
from traces.listing import runs_of_tasks

TRACES_ON_A_PAGE = 50
OPTIONS_SHOWN = 50
REASONS_SHOWN = 3
LOW_AGREEMENT = 0.4
TONES = {
    "pool": "neutral",
    "open": "a",
    "progress": "a",
    "complete": "correct",
    "skipped": "incorrect",
    "withheld": "neutral",
}
USUAL_CHIPS = ("model", "repo", "size", "batch", "tag", "imported", "agreement")
"""The filters that most lists are narrowed by; the others are folded, where they are not set."""

ORDERS = {
    "newest": ("Newest first", ("-pk",)),
    "oldest": ("Oldest first", ("pk",)),
    "id": ("Trace", ("external_id", "version")),
    "model": ("Agent model", ("agent_model", "-pk")),
    "steps": ("Most steps", ("-steps_count", "-pk")),
    "files": ("Most files", ("-files_count", "-pk")),
    "agreement": ("Least agreement", (F("agreement").asc(nulls_last=True), "-pk")),
    "lines": ("Most changed lines", ((F("added") + F("removed")).desc(), "-pk")),
}


@dataclass(frozen=True)
class StateTab:
    name: str
    label: str
    count: int
    query: str
    is_current: bool


@dataclass(frozen=True)
class ChipRow:
    """The filters above a list: those that stand there, and those that are folded."""

    shown: list[FilterChip]
    folded: list[FilterChip]


@dataclass(frozen=True)
class Face:
    """An annotator of a trace, or a free place, in a circle."""

    letters: str
    name: str


@dataclass(frozen=True)
class Row:
    id: UUID
    title: str
    external_id: str
    version: int
    repo: str
    agent_model: str
    agent: str
    cost_usd: float | None
    input_tokens: int | None
    output_tokens: int | None
    seconds: float | None
    steps: int
    files: int
    added: int
    removed: int
    failed: int
    state: str
    withheld: str
    why: str
    faces: list[Face]
    free: int
    agreement: float | None
    tags: list[str]
    priority: str
    """In words, where it is not the normal one."""
    same_task: int
    same_task_query: str
    batch: int | None
    batch_name: str
    target: int
    """How many annotations of it are wanted; 0 where nothing of it can be judged, or it is new to the queue."""
    done: int
    extra: int
    """How many of these are wanted beyond what its batch or the configuration says."""
    held_by: list[str]
    """The annotator names of those who hold it now."""
    offered_to: list[str]
    """The annotator names of those who are given it before all others."""
    offered_until: datetime | None
    skipped_as: str
    """Where everybody has skipped it why, as in "“broken trace” 2"."""

    @property
    def state_label(self) -> str:
        return STATES[self.state]

    @property
    def progress(self) -> str:
        """Its state; of what is worked on how far it is, as in "1 of 2, 1 held"."""
        if self.state != "progress":
            return self.state_label
        held = f", {len(self.held_by)} held" if self.held_by else ""
        return f"{self.done} of {self.target}{held}"

    @property
    def tone(self) -> str:
        return TONES[self.state]

    @property
    def is_urgent(self) -> bool:
        return self.priority == Priority.URGENT.label

    @property
    def is_low(self) -> bool:
        return self.agreement is not None and self.agreement < LOW_AGREEMENT


class PoolList:
    """What an address asks a project's list of traces for. Each state is counted by one grouped query."""

    def __init__(self, project: Project, filters: PoolFilters, only: UUID | None = None) -> None:
        """With `only` the list is of that one trace: states of others may be wrong, and no runs of its task are
        counted."""
        self.project, self.filters, self._only = project, filters, only
        stuck = stuck_quotas(project) if only is None else stuck_quotas(project).filter(trace=only)
        self._stuck = list(stuck.values_list("trace", flat=True))

    def chosen(self, filters: PoolFilters | None = None) -> Any:
        """The traces that the filters let through, each with its `state`."""
        filters = self.filters if filters is None else filters
        traces: Any = with_states(filters.chosen_traces(project_traces(self.project)), self.project, self._stuck)
        if filters.state:
            traces = traces.filter(state__in=filters.state)
        return traces

    def ids(self) -> list[UUID]:
        return list(self.chosen().order_by("pk").values_list("pk", flat=True))

    def states(self) -> list[StateTab]:
        others = self.filters.without("state")
        counted = self.chosen(others).order_by().values("state").annotate(traces=Count("pk"))
        counts = {row["state"]: row["traces"] for row in counted}
        current = self.filters.state
        every = StateTab("", "Every state", sum(counts.values()), others.query_string(), not current)
        return [
            every,
            *(
                StateTab(name, label, counts.get(name, 0), others.query_string(state=(name,)), current == (name,))
                for name, label in STATES.items()
            ),
        ]

    def chips(self, names: Collection[str], listed: int) -> ChipRow:
        """Of these filters those that are set, and those that would leave a part of the `listed` traces: where every
        trace has the same, or none has anything, there is nothing to choose."""
        chips = [self._chip(name) for name in names]
        useful = [chip for chip in chips if chip.words or any(0 < (one.count or 0) < listed for one in chip.options)]
        shown = [chip for chip in useful if chip.words or chip.name in USUAL_CHIPS]
        return ChipRow(shown, [chip for chip in useful if chip not in shown])

    def rows(self, traces: Iterable[Any], *, for_people: bool = True) -> list[Row]:
        """The rows of one page of `page_of`, with who annotated them; `for_people` with how many runs of their tasks
        there are, and why they were skipped."""
        traces = list(traces)
        keys = [trace.pk for trace in traces]
        people, offers = _people(keys), _offers(keys)
        skipped = _skip_reasons([trace.pk for trace in traces if trace.state == "skipped"]) if for_people else {}
        tasks = {trace.task_id for trace in traces}
        runs = runs_of_tasks(self.project.traces.all(), tasks) if for_people and self._only is None else {}
        return [
            self._row(
                trace,
                people.get(trace.pk, []),
                runs.get(trace.task_id, 0),
                offers.get(trace.pk, []),
                skipped.get(trace.pk, ""),
            )
            for trace in traces
        ]

    def ordered(self, sort: str) -> Any:
        order = ORDERS.get(sort, ORDERS["newest"])[1]
        return (
            self.chosen()
            .annotate(
                task_start=Left("task", TASK_START),
                place_target=F("queue__target"),
                place_active=F("queue__active"),
                place_done=F("queue__done"),
                place_why=F("queue__withheld_reason"),
                place_withheld=F("queue__withheld"),
                place_tags=F("queue__tags"),
                place_priority=F("queue__priority"),
                place_extra=F("queue__extra"),
                place_batch=F("queue__batch__number"),
                place_batch_name=F("queue__batch__name"),
                agreement=trace_agreement(),
            )
            .order_by(*order)
            .defer("task", "report", "test_runs")
        )

    def _row(
        self,
        trace: Any,
        people: list[tuple[str, bool]],
        runs: int,
        offers: list[tuple[str, datetime]],
        skipped_as: str,
    ) -> Row:
        free = (trace.place_target or 0) - (trace.place_active or 0) - (trace.place_done or 0)
        why = trace.place_why or ""
        if trace.state == "withheld" and trace.place_target == 0:
            why = "Nothing of it can be judged"
        return Row(
            id=trace.pk,
            title=trace_title(trace.task_start, trace.external_id),
            external_id=trace.external_id,
            version=trace.version,
            repo=trace.repo,
            agent_model=trace.agent_model,
            agent=trace.agent,
            cost_usd=trace.cost_usd,
            input_tokens=trace.input_tokens,
            output_tokens=trace.output_tokens,
            seconds=trace.seconds,
            steps=trace.steps_count,
            files=trace.files_count,
            added=trace.added,
            removed=trace.removed,
            failed=trace.error_steps,
            state=trace.state,
            withheld=trace.place_withheld or "",
            why=why,
            faces=[Face(_letters(name), name) for name, _ in people],
            free=max(0, free) if trace.state not in ("pool", "withheld") else 0,
            agreement=trace.agreement,
            tags=[*trace.tags, *(trace.place_tags or [])],
            priority="" if trace.place_priority in (None, Priority.NORMAL) else Priority(trace.place_priority).label,
            same_task=runs if trace.task_start else 0,
            same_task_query=PoolFilters(task=trace.task_id).query_string(),
            batch=trace.place_batch,
            batch_name=trace.place_batch_name or "",
            target=trace.place_target or 0,
            done=trace.place_done or 0,
            extra=trace.place_extra or 0,
            held_by=[name for name, holds in people if holds],
            offered_to=sorted(name for name, _ in offers),
            offered_until=max((until for _, until in offers), default=None),
            skipped_as=skipped_as,
        )

    def _chip(self, name: str) -> FilterChip:
        label, options = getattr(self, f"_{name}_options")()
        chosen = getattr(self.filters, name)
        words = ", ".join(one.label for one in options if one.is_chosen)
        rest = self.filters.without(name)
        return FilterChip(name, label, words or ", ".join(chosen), options, rest.query_string(), rest.pairs())

    def _options(self, name: str, counts: Mapping[str, int], labels: Mapping[str, str]) -> list[FilterOption]:
        return chosen_options(getattr(self.filters, name), counts, lambda value: labels.get(value, value))

    def _by_column(self, name: str, column: str, label: str) -> tuple[str, list[FilterOption]]:
        counted = (
            self.chosen(self.filters.without(name))
            .order_by()
            .values(column)
            .annotate(traces=Count("pk"))
            .order_by("-traces", column)[:OPTIONS_SHOWN]
        )
        counts = {row[column] or NOT_GIVEN: row["traces"] for row in counted}
        return label, self._options(name, counts, {NOT_GIVEN: "Not given"})

    def _model_options(self) -> tuple[str, list[FilterOption]]:
        return self._by_column("model", "agent_model", "Agent")

    def _agent_options(self) -> tuple[str, list[FilterOption]]:
        return self._by_column("agent", "agent", "Agent program")

    def _usage_options(self) -> tuple[str, list[FilterOption]]:
        others = self.chosen(self.filters.without("usage")).alias(tokens=TOKENS)
        counts = others.aggregate(
            **{name.replace("-", "_"): Count("pk", filter=condition) for name, (_, condition) in USAGE.items()}
        )
        numbers = {name: counts[name.replace("-", "_")] for name in USAGE}
        return "Tokens and cost", self._options("usage", numbers, {name: label for name, (label, _) in USAGE.items()})

    def _repo_options(self) -> tuple[str, list[FilterOption]]:
        return self._by_column("repo", "repo", "Repository")

    def _converter_options(self) -> tuple[str, list[FilterOption]]:
        return self._by_column("converter", "converter", "Format")

    def _tag_options(self) -> tuple[str, list[FilterOption]]:
        chosen = self.chosen(self.filters.without("tag"))
        counts: Counter[str] = Counter()
        for column in ("tags", "queue__tags"):
            each = Func(F(column), function="jsonb_array_elements_text", output_field=TextField())
            rows = chosen.order_by().annotate(one_tag=each).values("one_tag").annotate(traces=Count("pk"))
            counts.update({row["one_tag"]: row["traces"] for row in rows if row["one_tag"]})
        return "Tag", self._options("tag", dict(counts.most_common(OPTIONS_SHOWN)), {})

    def _batch_options(self) -> tuple[str, list[FilterOption]]:
        rows = self.chosen(self.filters.without("batch")).order_by().values("queue__batch__number")
        counted = {row["queue__batch__number"]: row["traces"] for row in rows.annotate(traces=Count("pk"))}
        names = dict(Batch.objects.for_project(self.project).in_turn().values_list("number", "name"))
        counts = {str(number): counted.get(number, 0) for number in names}
        labels = {str(number): name for number, name in names.items()}
        return "Batch", self._options("batch", counts, labels)

    def _imported_options(self) -> tuple[str, list[FilterOption]]:
        rows = self.chosen(self.filters.without("imported")).order_by().annotate(day=TruncDate("imported_at"))
        counted = rows.values("day").annotate(traces=Count("pk")).order_by("-day")[:OPTIONS_SHOWN]
        counts = {row["day"].isoformat(): row["traces"] for row in counted}
        labels = {row["day"].isoformat(): f"{row['day']:%-d %B %Y}" for row in counted}
        return "Imported", self._options("imported", counts, labels)

    def _file_options(self) -> tuple[str, list[FilterOption]]:
        rows = self.chosen(self.filters.without("file")).order_by().values("file", "file__name", "file__added_at")
        counted = list(rows.annotate(traces=Count("pk")).order_by("-file__added_at")[:OPTIONS_SHOWN])
        counts = {str(row["file"]): row["traces"] for row in counted}
        labels = {str(row["file"]): f"{row['file__name']}, {row['file__added_at']:%-d %B}" for row in counted}
        return "Import", self._options("file", counts, labels)

    def _size_options(self) -> tuple[str, list[FilterOption]]:
        others = self.chosen(self.filters.without("size")).alias(changed_lines=F("added") + F("removed"))
        counts = others.order_by().aggregate(
            **{name.replace("-", "_"): Count("pk", filter=condition) for name, (_, condition) in SIZES.items()}
        )
        numbers = {name: counts[name.replace("-", "_")] for name in SIZES}
        return "Size", self._options("size", numbers, {name: label for name, (label, _) in SIZES.items()})

    def _judged_options(self) -> tuple[str, list[FilterOption]]:
        counts = {
            value: self.chosen(PoolFilters(**{**vars(self.filters), "judged": (value,)})).count() for value in JUDGED
        }
        return "Judged", self._options("judged", counts, {value: label for value, (label, _) in JUDGED.items()})

    def _marks_options(self) -> tuple[str, list[FilterOption]]:
        others = self.chosen(self.filters.without("marks")).order_by()
        counts = {value: others.filter(**{f"{column}__gt": 0}).count() for value, (_, column) in MARKS.items()}
        return "Only", self._options("marks", counts, {value: label for value, (label, _) in MARKS.items()})

    def _checks_options(self) -> tuple[str, list[FilterOption]]:
        others = self.chosen(self.filters.without("checks")).order_by().annotate(**report_flags())
        counts = others.aggregate(
            **{name.replace("-", "_"): Count("pk", filter=condition) for name, (_, condition) in CHECKS.items()}
        )
        numbers = {name: counts[name.replace("-", "_")] for name in CHECKS}
        return "Checks", self._options("checks", numbers, {name: label for name, (label, _) in CHECKS.items()})

    def _held_options(self) -> tuple[str, list[FilterOption]]:
        return "Held by", self._by_person("held", held_now())

    def _offered_options(self) -> tuple[str, list[FilterOption]]:
        return "Offered to", self._by_person("offered", offers_now())

    def _by_person(self, name: str, rows: Any) -> list[FilterOption]:
        """The people of these rows, each of a trace and a person, with how many traces of the list they are of."""
        listed = self.chosen(self.filters.without(name)).order_by().values("pk")
        counted = rows.filter(project=self.project, trace__in=listed).values_list("user")
        numbers = dict(counted.annotate(traces=Count("trace", distinct=True)).order_by("-traces")[:OPTIONS_SHOWN])
        names = annotator_names(numbers)
        return self._options(name, {names[user]: number for user, number in numbers.items() if user in names}, {})

    def _agreement_options(self) -> tuple[str, list[FilterOption]]:
        others = self.chosen(self.filters.without("agreement")).annotate(agreement=trace_agreement()).order_by()
        counts = others.aggregate(
            **{value: Count("pk", filter=condition) for value, (_, condition) in AGREEMENT.items()}
        )
        return "Agreement", self._options("agreement", counts, {value: one[0] for value, one in AGREEMENT.items()})


def _people(traces: list[UUID]) -> dict[UUID, list[tuple[str, bool]]]:
    """The names of those who annotated each of the traces or hold it, which is true of the second, the first one
    first."""
    rows = Assignment.objects.filter(
        trace__in=traces, kind=Kind.NORMAL, state__in=(AssignmentState.CLAIMED, AssignmentState.SUBMITTED)
    )
    people: dict[UUID, list[tuple[str, bool]]] = {}
    for trace, name, state in rows.order_by("since").values_list("trace", _name(), "state"):
        people.setdefault(trace, []).append((name or "", state == AssignmentState.CLAIMED))
    return people


def _skip_reasons(traces: list[UUID]) -> dict[UUID, str]:
    """Why each of the traces was skipped, the most frequent reasons first."""
    if not traces:
        return {}
    rows = Assignment.objects.filter(trace__in=traces, state=AssignmentState.SKIPPED).order_by("trace")
    counted = rows.values_list("trace", "skip_reason").annotate(number=Count("pk")).order_by("-number", "skip_reason")
    reasons: dict[UUID, list[str]] = {}
    for trace, reason, number in counted:
        reasons.setdefault(trace, []).append(f"“{reason}” {number}")
    return {trace: ", ".join(words[:REASONS_SHOWN]) for trace, words in reasons.items()}


def _offers(traces: list[UUID]) -> dict[UUID, list[tuple[str, datetime]]]:
    """The names of those to whom each of the traces is offered before all others, and until when."""
    offers: dict[UUID, list[tuple[str, datetime]]] = {}
    for trace, name, until in offers_now().filter(trace__in=traces).values_list("trace", _name(), "until"):
        offers.setdefault(trace, []).append((name or "", until))
    return offers


def _name() -> Subquery:
    """The annotator name of a row's `user`, of a former member as well."""
    members = Membership.objects.filter(organisation=OuterRef("organisation"), user=OuterRef("user"))
    return Subquery(members.values("annotator_name")[:1])


def _letters(name: str) -> str:
    """What stands in a small circle: the number at the end of a name, or its first letters."""
    digits = name[len(name.rstrip("0123456789")) :]
    return digits[-2:] if digits else name[:2].upper()
