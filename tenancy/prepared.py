"""Statements whose SQL Django builds once a process, for what annotators ask all day.

Building a statement takes the ORM several times as long as sending it and reading the answer. Measured on two busy
cores with PostgreSQL beside them: the rows of a claim and of the task page in 0.1 to 0.5 ms instead of 1.2 to 3.2 ms
(6 to 30 times as fast), an UPDATE in 0.09 ms instead of 0.8, an INSERT in 0.3 ms instead of 0.55. Everything else stays
with the ORM (CONTRIBUTING.md says when): what is prepared here is written as a queryset, and read back as its rows.
"""

from collections.abc import Callable, Iterable
from contextvars import copy_context
from datetime import date, datetime, time, timedelta
from functools import cached_property
from inspect import Signature, signature
from secrets import randbelow, token_bytes, token_hex
from typing import Any, Generic, NamedTuple, NoReturn, ParamSpec, TypeVar
from uuid import UUID, uuid4

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import CharField, Lookup, Model, QuerySet
from django.db.models.constants import OnConflict
from django.db.models.expressions import DatabaseDefault
from django.db.models.query import (
    FlatValuesListIterable,
    ModelIterable,
    ValuesIterable,
    ValuesListIterable,
    get_related_populators,
)
from django.db.models.sql import InsertQuery, UpdateQuery
from django.db.transaction import TransactionManagementError
from django.utils import timezone

from tenancy.actor import Actor, restore
from tenancy.statements import executed

Parameters = ParamSpec("Parameters")
Row = TypeVar("Row")

# A value that stands for a parameter while the SQL is built, of each type that a parameter can have. None can be in a
# statement by chance.
_STAND_INS: dict[Any, Callable[[], Any]] = {
    UUID: uuid4,
    UUID | None: uuid4,
    str: token_hex,
    bytes: token_bytes,
    list[str]: lambda: [token_hex()],
    int: lambda: 2**30 + randbelow(2**30),
    datetime: lambda: timezone.now() - timedelta(microseconds=randbelow(10**12)),
}


@CharField.register_lookup
class AnyOf(Lookup[list[str]]):
    """`name__any_of=[...]`: as `name__in`, with one placeholder however many there are."""

    lookup_name = "any_of"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        column, values = self.process_lhs(compiler, connection)
        return f"{column} = ANY(%s)", (*values, self.rhs)


class _Placeholder(NamedTuple):
    """One placeholder of the SQL: a parameter's, in a wrapper of the database adapter or bare, or a constant's."""

    parameter: str | None
    wrap: Callable[[Any], Any] | None
    constant: Any

    def filled(self, values: dict[str, Any]) -> Any:
        if self.parameter is None:
            return self.constant
        value = values[self.parameter]
        return self.wrap(value) if self.wrap else value

    def is_same(self, other: "_Placeholder") -> bool:
        return self[:2] == other[:2] and list(_flat([self.constant])) == list(_flat([other.constant]))


class _Statement:
    """SQL with the places of the parameters of the function that described it."""

    def __init__(self, build: Callable[..., Any], compile_: Callable[[Any], tuple[str, tuple[Any, ...]]]) -> None:
        self._signature = signature(build, eval_str=True)
        self.sql, self._places = self._described(build, compile_)
        # For somebody else, somewhat later: what is not a parameter must be the same, because it stays for ever.
        sql, places = self._described(build, compile_)
        if sql != self.sql or any(not place.is_same(other) for place, other in zip(places, self._places, strict=True)):
            raise TypeError(
                f"{build.__qualname__} reads the clock, chance, or who acts and where: it runs once a process, and "
                "everybody after that would get the first one's statement. Make it a parameter."
            )

    def _described(
        self, build: Callable[..., Any], compile_: Callable[[Any], tuple[str, tuple[Any, ...]]]
    ) -> tuple[str, list[_Placeholder]]:
        stand_ins = {name: _STAND_INS[parameter.annotation]() for name, parameter in self._signature.parameters.items()}
        with connection.execute_wrapper(_Refusing(build.__qualname__)):
            sql, values = copy_context().run(lambda: compile_(_as_somebody(build, stand_ins)))
        places = [_place(value, stand_ins) for value in values]
        if missing := stand_ins.keys() - {place.parameter for place in places}:
            raise TypeError(f"{build.__qualname__} does not use {', '.join(sorted(missing))} as it is.")
        for constant in _flat(place.constant for place in places if place.parameter is None):
            if isinstance(constant, UUID | date | time):
                raise TypeError(
                    f"{build.__qualname__} has {constant!r} in its statement, which would stay there for the whole "
                    "process and for every organisation. Make it a parameter, or use Now() of the database."
                )
        return sql, places

    def values(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        values = _bound(self._signature, arguments, named)
        return tuple(place.filled(values) for place in self._places)


class _Refusing:
    """Between Django and the database while a statement is built, which asks nothing."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> NoReturn:
        raise TypeError(f"{self._name} asks the database while it is built, and would keep the answer: {sql}")


def _as_somebody(build: Callable[..., Any], stand_ins: dict[str, Any]) -> Any:
    """What is described where somebody acts who never did before. In a copy of the context, which is thrown away."""
    organisation = uuid4()
    restore(Actor(organisation, (organisation,), uuid4(), token_hex()), send=False)
    return build(**stand_ins)


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        value = getattr(value, "obj", value)
        if isinstance(value, list | tuple | set | frozenset):
            yield from _flat(value)
        elif isinstance(value, dict):
            yield from _flat([*value.keys(), *value.values()])
        else:
            yield value


def _place(value: Any, stand_ins: dict[str, Any]) -> _Placeholder:
    for parameter, stand_in in stand_ins.items():
        if isinstance(value, type(stand_in)) and value == stand_in:
            return _Placeholder(parameter, None if type(value) is type(stand_in) else type(value), None)
        if getattr(value, "obj", None) == stand_in:
            return _Placeholder(parameter, type(value), None)
    return _Placeholder(None, None, value)


def _bound(expected: Signature, arguments: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    return {**dict(zip(expected.parameters, arguments, strict=False)), **named}


class PreparedQuery(Generic[Parameters, Row]):
    """The rows of one queryset, whose parameters change. Made by `@prepared`."""

    def __init__(self, build: "Callable[Parameters, QuerySet[Any, Row]]") -> None:
        self._build = build

    def rows(self, *arguments: Parameters.args, **named: Parameters.kwargs) -> list[Row]:
        """All rows of the queryset, as it would give them."""
        statement = self._statement
        if self._locks and not connection.in_atomic_block:
            raise TransactionManagementError("A row is locked for a transaction, and none is open.")
        rows = executed(statement.sql, statement.values(arguments, named), is_binary=self._is_binary).fetchall()
        return self._read(self._converted(rows) if self._converters else rows)

    def first(self, *arguments: Parameters.args, **named: Parameters.kwargs) -> Row | None:
        """The first of the rows. The queryset limits itself where it could have many."""
        return next(iter(self.rows(*arguments, **named)), None)

    def get(self, *arguments: Parameters.args, **named: Parameters.kwargs) -> Row:
        """The one row. Raises the model's DoesNotExist where there is none."""
        row = self.first(*arguments, **named)
        if row is None:
            raise self._model.DoesNotExist(f"No {self._model._meta.verbose_name} is there.")
        return row

    @cached_property
    def _statement(self) -> _Statement:
        return _Statement(self._build, self._compile)

    def _compile(self, queryset: "QuerySet[Any, Row]") -> tuple[str, tuple[Any, ...]]:
        self._model = queryset.model
        self._locks = queryset.query.select_for_update
        compiler = queryset.query.get_compiler(DEFAULT_DB_ALIAS)
        built: tuple[str, tuple[Any, ...]] = compiler.as_sql()
        self._converters = compiler.get_converters([column for column, *_ in compiler.select])
        self._read = _reader(queryset, compiler)
        self._is_binary = _comes_binary([column.output_field for column, *_ in compiler.select])
        return built

    def _converted(self, rows: list[tuple[Any, ...]]) -> list[Any]:
        """As SQLCompiler.apply_converters."""
        changed = [list(row) for row in rows]
        for at, (converters, column) in self._converters.items():
            for row in changed:
                for convert in converters:
                    row[at] = convert(row[at], column, connection)
        return changed


# What psycopg gives alike from PostgreSQL's text and binary formats. Django's own readers of times and JSON know text
# only, and psycopg has no reader for some other types.
_ALIKE = frozenset({"bytea", "boolean", "smallint", "integer", "bigint", "text", "varchar", "uuid"})


def _comes_binary(fields: Iterable[Any]) -> bool:
    """Whether the rows are asked for in the binary format. Contents come as hexadecimal digits else, twice as long:
    reading them took 1.2 of the 27 million instructions of a task's page, and 2.7 of the 25 of a submission
    (`bench/bench_annotator_loop.py`)."""
    types = {str(field.db_type(connection)).partition("(")[0] for field in fields}
    return "bytea" in types and types <= _ALIKE


def _reader(queryset: "QuerySet[Any, Any]", compiler: Any) -> Callable[[list[Any]], list[Any]]:
    """How the answer becomes what the queryset gives: as Django's iterables of rows, made ready once."""
    kind = queryset._iterable_class
    if kind is ModelIterable and compiler.annotation_col_map:
        raise TypeError("A prepared query gives rows without annotations.")
    if kind is ModelIterable:
        model, selected = compiler.klass_info["model"], compiler.klass_info["select_fields"]
        start, end = selected[0], selected[-1] + 1
        names = [column.target.attname for column, *_ in compiler.select[start:end]]
        related = get_related_populators(compiler.klass_info, compiler.select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]  # the stubs are a release ahead

        def models(rows: list[Any]) -> list[Any]:
            instances = []
            for row in rows:
                instances.append(model.from_db(DEFAULT_DB_ALIAS, names, row[start:end]))
                for populator in related:
                    populator.populate(row, instances[-1])
            return instances

        return models
    if kind is FlatValuesListIterable:
        return lambda rows: [row[0] for row in rows]
    if kind is ValuesListIterable:
        return lambda rows: [tuple(row) for row in rows]
    if kind is ValuesIterable:
        keys = list(queryset.query.selected or ())
        return lambda rows: [dict(zip(keys, row, strict=True)) for row in rows]
    raise TypeError(f"A prepared query cannot give rows as {kind.__name__}.")


class PreparedUpdate(Generic[Parameters]):
    """One UPDATE, whose parameters change. Made by `@prepared_update`."""

    def __init__(self, build: "Callable[Parameters, tuple[QuerySet[Any, Any], dict[str, Any]]]") -> None:
        self._build = build

    def run(self, *arguments: Parameters.args, **named: Parameters.kwargs) -> int:
        """Change the rows; returns how many there were."""
        return int(executed(self._statement.sql, self._statement.values(arguments, named)).rowcount)

    @cached_property
    def _statement(self) -> _Statement:
        return _Statement(self._build, self._compile)

    def _compile(self, described: "tuple[QuerySet[Any, Any], dict[str, Any]]") -> tuple[str, tuple[Any, ...]]:
        queryset, values = described
        query: Any = queryset.query.chain(UpdateQuery)
        query.add_update_values(values)
        built: tuple[str, tuple[Any, ...]] = query.get_compiler(DEFAULT_DB_ALIAS).as_sql()
        return built


def prepared(build: "Callable[Parameters, QuerySet[Any, Row]]") -> PreparedQuery[Parameters, Row]:
    """Decorates a function that describes a queryset by its parameters: UUID, str, bytes, int, datetime or list[str].

    The function runs at its first use alone, so it must not look at the parameters, and each of them must stand in the
    SQL as it is: not as a part of another value, nor as one of a changing number. What else stands there stays for the
    whole process, so a time or an id must be a parameter, and so must all that depends on the clock or on who acts.
    Raises TypeError, at the first use, for a function that does otherwise, or that asks the database.
    """
    return PreparedQuery(build)


def prepared_update(
    build: "Callable[Parameters, tuple[QuerySet[Any, Any], dict[str, Any]]]",
) -> PreparedUpdate[Parameters]:
    """Decorates a function that describes an UPDATE: the rows, and the new values. As for `prepared`."""
    return PreparedUpdate(build)


_Key = tuple[type[Model], bool, frozenset[str]]
_inserts: dict[_Key, tuple[str, list[Any]]] = {}


def insert(row: Model, *, ignore_conflicts: bool = False) -> bool:
    """Store a new row as `row.save(force_insert=True)` does, without signals; whether it was stored.

    With `ignore_conflicts` a row that breaks a unique constraint is left out instead of refused. What the database
    fills by itself is read when somebody asks for it.
    """
    # One statement for all rows that leave the same columns to the database.
    filled = frozenset(name for name, value in row.__dict__.items() if isinstance(value, DatabaseDefault))
    key = (type(row), ignore_conflicts, filled)
    if key not in _inserts:
        _inserts[key] = _built_insert(row, ignore_conflicts, filled)
    sql, fields = _inserts[key]
    values = [field.get_db_prep_save(field.pre_save(row, True), connection) for field in fields]
    is_stored = bool(executed(sql, values).rowcount)
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
    for name in filled:
        del row.__dict__[name]
    return is_stored


def _built_insert(row: Model, ignore_conflicts: bool, filled: frozenset[str]) -> tuple[str, list[Any]]:
    columns = list(row._meta.local_concrete_fields)
    query = InsertQuery(type(row), on_conflict=OnConflict.IGNORE if ignore_conflicts else None)
    query.insert_values(columns, [row])
    ((sql, _),) = query.get_compiler(DEFAULT_DB_ALIAS).as_sql()
    return sql, [field for field in columns if field.attname not in filled]
