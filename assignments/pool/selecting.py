"""Which traces of the pool a release takes: all that fit, a number, or a share, by stratum and seed."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import xor
from typing import Any, Self
from uuid import UUID

from django.contrib.postgres.aggregates import BitXor
from django.db.models import (
    BigIntegerField,
    BinaryField,
    Case,
    Count,
    F,
    Func,
    IntegerField,
    JSONField,
    TextField,
    Value,
    When,
    Window,
)
from django.db.models.functions import Cast, Coalesce, Concat, RowNumber

from accounts.models import Project
from assignments.pool.filters import NOT_GIVEN, PoolFilters
from assignments.pool.states import project_traces
from potato.statistics.samples import allocated, is_drawn, share_number
from tenancy.ids import read_id

TAKES = {"all": "All", "number": "A number", "share": "A share"}
STRATA = {
    "": "no stratum",
    "model": "agent model",
    "repo": "repository",
    "size": "size",
    "tag": "tag",
}
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Selection:
    """What a manager chose, so that the same sample can be taken again. `ids` are traces that were ticked one by one,
    `without` those that were taken off the list by hand."""

    filters: PoolFilters = field(default_factory=PoolFilters)
    take: str = "all"
    number: int = 0
    share: float = 100.0
    stratum: str = ""
    seed: int = 0
    ids: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            filters=PoolFilters.from_data(data.get("filter", {})),
            take=data.get("take", "all"),
            number=data.get("number", 0),
            share=data.get("share", 100.0),
            stratum=data.get("stratum", ""),
            seed=data.get("seed", 0),
            ids=tuple(data.get("ids", ())),
            without=tuple(data.get("without", ())),
        )

    def data(self) -> dict[str, Any]:
        """As it stands in the batch and in manifests: what was not asked is left out."""
        sampling: dict[str, Any] = {}
        if self.take != "all":
            sampling = {self.take: getattr(self, self.take), "stratum": self.stratum, "seed": self.seed}
        rest = {"filter": self.filters.data(), "ids": list(self.ids), "without": list(self.without)}
        return {"take": self.take, **sampling, **{name: value for name, value in rest.items() if value}}

    @property
    def description(self) -> str:
        """In words, as in "25% by agent model, seed 2026"."""
        if self.ids:
            return f"{len(self.ids)} chosen by hand"
        by = f" by {STRATA[self.stratum]}" if self.stratum else ""
        if self.take == "number":
            return f"{self.number:,}{by}, seed {self.seed}"
        if self.take == "share":
            return f"{self.share:g}%{by}, seed {self.seed}"
        return "All that fit" if self.filters.data() else "All"


@dataclass(frozen=True)
class Stratum:
    name: str
    matching: int
    taken: int


@dataclass(frozen=True)
class Sample:
    """What a selection takes of the pool as it is now: how many traces are `matching` its filters, how many of them are
    taken (`count`), and of each stratum. Which ones, the database is asked: there a pool of a million traces stays."""

    matching: int
    count: int
    strata: tuple[Stratum, ...]
    chosen: Any
    """A query of the ids that are taken, in the order of import."""

    @cached_property
    def taken(self) -> tuple[UUID, ...]:
        """The ids of all of them."""
        return tuple(self.chosen)

    @cached_property
    def digest(self) -> str:
        """As traces_digest has it of all of them, of which none leaves the database."""
        numbers = self.chosen.order_by().annotate(id_number=_ID_NUMBER)
        return _as_digest(numbers.aggregate(all=BitXor("id_number"))["all"] or 0)

    def first(self, number: int, *, after: int = 0) -> list[UUID]:
        """So many of the ids, in the order of import, behind the first `after`."""
        return list(self.chosen[after : after + number])


def traces_digest(traces: Iterable[UUID]) -> str:
    """Of a set of traces, in whatever order: other traces have another one."""
    digests = (hashlib.sha256(str(trace).encode()).digest() for trace in traces)
    return _as_digest(reduce(xor, (int.from_bytes(digest[:8]) for digest in digests), 0))


def _as_digest(number: int) -> str:
    return f"{number & (2**64 - 1):016x}"


# The first 64 bits of SHA-256 of the id, as traces_digest takes them.
_ID_NUMBER = Func(
    Cast("pk", TextField()),
    template="('x' || left(encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex'), 16))::bit(64)::bigint",
    output_field=BigIntegerField(),
)


def take_sample(project: Project, selection: Selection) -> Sample:
    """Take it now, of what waits in the pool. The same pool gives the same traces."""
    traces: Any = project_traces(project)  # Any: the stubs know no joins that a query names itself
    waiting = traces.filter(queue__isnull=False, queue__batch__isnull=True, queue__withheld="", queue__target__gt=0)
    if selection.ids:
        waiting = waiting.filter(pk__in=selection.ids)
    matching = selection.filters.chosen_traces(waiting).annotate(stratum=_STRATA[selection.stratum]).order_by()
    counted = matching.values("stratum").annotate(number=Count("pk")).values_list("stratum", "number")
    sizes: dict[str, int] = dict(counted)
    total = sum(sizes.values())
    number = total
    if selection.take == "number":
        number = min(selection.number, total)
    elif selection.take == "share":
        number = share_number(total, selection.share)
    numbers = allocated(sizes, number)
    chosen = matching
    if number < total:
        place = _place_in_stratum(selection.seed)
        chosen = matching.annotate(sampled_at=place).filter(sampled_at__lte=_number_of_stratum(numbers))
    removed = [pk for pk in selection.without if read_id(pk)]
    if removed:
        removed_traces = matching.filter(pk__in=removed)
        if number < total:
            removed_traces = removed_traces.filter(pk__in=chosen.values("pk"))
        numbers = {**Counter(numbers) - Counter(removed_traces.values_list("stratum", flat=True))}
        chosen = project_traces(project).filter(pk__in=chosen.values("pk")).exclude(pk__in=removed)
    strata = tuple(Stratum(name, sizes[name], numbers.get(name, 0)) for name in sorted(sizes, key=_by_size(sizes)))
    ids = chosen.order_by("pk").values_list("pk", flat=True)
    return Sample(matching=total, count=sum(numbers.values()), strata=strata, chosen=ids)


def _or_not_given(column: str) -> Case:
    return Case(When(**{column: ""}, then=Value(NOT_GIVEN)), default=F(column), output_field=TextField())


# As Python's min() of the tags: by their characters, whatever the database sorts by.
_FIRST_TAG = Func(
    F("tags"),
    template='(SELECT min(tag COLLATE "C") FROM jsonb_array_elements_text(%(expressions)s) tag)',
    output_field=TextField(),
)
_STRATA: dict[str, Any] = {
    "": Value("", output_field=TextField()),
    "model": _or_not_given("agent_model"),
    "repo": _or_not_given("repo"),
    "size": Case(
        When(steps_count__lte=10, then=Value("up to 10 steps")),
        When(steps_count__lte=50, then=Value("11 to 50 steps")),
        default=Value("over 50 steps"),
        output_field=TextField(),
    ),
    "tag": Coalesce(_FIRST_TAG, Value(NOT_GIVEN), output_field=TextField()),
}


def _place_in_stratum(seed: int) -> Window:
    """At which place of its stratum a trace is drawn: the order of potato.statistics.samples, by SHA-256 of the seed
    and the trace's name."""
    name = Concat(
        Value(f"{seed} "), F("external_id"), Value(" "), Cast("version", TextField()), output_field=TextField()
    )
    by_chance = Func(name, template="sha256(convert_to(%(expressions)s, 'UTF8'))", output_field=BinaryField())
    return Window(RowNumber(), partition_by=[F("stratum")], order_by=by_chance.asc())


def _number_of_stratum(numbers: Mapping[str, int]) -> Func:
    of_stratum = (Value(dict(numbers), output_field=JSONField()), F("stratum"))
    return Func(*of_stratum, template="(%(expressions)s)::int", arg_joiner=" ->> ", output_field=IntegerField())


def taken_by_share(rows: Iterable[tuple[UUID, str]], *, share: float, seed: int) -> set[UUID]:
    """Which new traces a standing rule takes: each is drawn by its own id, whatever came in beside it."""
    return {pk for pk, external_id in rows if share >= 100 or is_drawn(external_id, seed, share)}


def without_trace(selection: Selection, traces: Collection[str]) -> Selection:
    """The selection with these taken off by hand."""
    return replace(selection, without=tuple(dict.fromkeys([*selection.without, *traces])))


def _by_size(sizes: Mapping[str, int]) -> Any:
    return lambda name: (-sizes[name], name)
