"""Statements whose SQL Django builds once a process, for what annotators ask all day.

Building a statement takes the ORM several times as long as sending it and reading the answer. Everything else stays
with the ORM: what is prepared here is written as a queryset, and read back as its rows.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cached_property
from inspect import Signature, signature
from secrets import randbelow, token_bytes, token_hex
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar
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


class _Place(NamedTuple):
    """One placeholder of the SQL: a parameter's, in a wrapper of the database adapter or bare, or a constant's."""

    parameter: str | None
    wrap: Callable[[Any], Any] | None
    constant: Any

    def filled(self, given: dict[str, Any]) -> Any:
        if self.parameter is None:
            return self.constant
        value = given[self.parameter]
        return self.wrap(value) if self.wrap else value


class _Statement:
    """SQL with the places of the parameters of the function that described it."""

    def __init__(self, build: Callable[..., Any], compile_: Callable[[Any], tuple[str, tuple[Any, ...]]]) -> None:
        self._signature = signature(build, eval_str=True)
        stand_ins = {name: _STAND_INS[one.annotation]() for name, one in self._signature.parameters.items()}
        self.sql, values = compile_(build(**stand_ins))
        self._places = [_place(value, stand_ins) for value in values]
        if missing := stand_ins.keys() - {place.parameter for place in self._places}:
            raise TypeError(f"{build.__qualname__} does not use {', '.join(sorted(missing))} as it is.")

    def values(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        given = _bound(self._signature, arguments, named)
        return tuple(place.filled(given) for place in self._places)


def _place(value: Any, stand_ins: dict[str, Any]) -> _Place:
    for parameter, stand_in in stand_ins.items():
        if isinstance(value, type(stand_in)) and value == stand_in:
            return _Place(parameter, None if type(value) is type(stand_in) else type(value), None)
        if getattr(value, "obj", None) == stand_in:
            return _Place(parameter, type(value), None)
    return _Place(None, None, value)


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
        found = executed(statement.sql, statement.values(arguments, named)).fetchall()
        return self._read(self._converted(found) if self._converters else found)

    def first(self, *arguments: Parameters.args, **named: Parameters.kwargs) -> Row | None:
        """The first of the rows. The queryset limits itself where it could have many."""
        return next(iter(self.rows(*arguments, **named)), None)

    def get(self, *arguments: Parameters.args, **named: Parameters.kwargs) -> Row:
        """The one row. Raises the model's DoesNotExist where there is none."""
        found = self.first(*arguments, **named)
        if found is None:
            raise self._model.DoesNotExist(f"No {self._model._meta.verbose_name} is there.")
        return found

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
        return built

    def _converted(self, rows: list[tuple[Any, ...]]) -> list[Any]:
        """As SQLCompiler.apply_converters."""
        changed = [list(row) for row in rows]
        for at, (converters, column) in self._converters.items():
            for row in changed:
                for convert in converters:
                    row[at] = convert(row[at], column, connection)
        return changed


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
            found = []
            for row in rows:
                found.append(model.from_db(DEFAULT_DB_ALIAS, names, row[start:end]))
                for populator in related:
                    populator.populate(row, found[-1])
            return found

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

    The function runs once a process, so it must not look at the parameters, and each of them must stand in the SQL as
    it is: not as a part of another value, nor as one of a changing number. Raises TypeError, at its first use, for one
    that does not.
    """
    return PreparedQuery(build)


def prepared_update(
    build: "Callable[Parameters, tuple[QuerySet[Any, Any], dict[str, Any]]]",
) -> PreparedUpdate[Parameters]:
    """Decorates a function that describes an UPDATE: the rows, and the new values. As for `prepared`."""
    return PreparedUpdate(build)


_inserts: dict[tuple[type[Model], bool], tuple[str, list[Any]]] = {}


def insert(row: Model, *, unless_there: bool = False) -> bool:
    """Store a new row as `row.save(force_insert=True)` does, without signals; whether it was stored.

    With `unless_there` a row that breaks a unique constraint is left out instead of refused. What the database fills
    by itself is read when somebody asks for it.
    """
    key = (type(row), unless_there)
    if key not in _inserts:
        _inserts[key] = _built_insert(row, unless_there)
    sql, fields = _inserts[key]
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    is_stored = bool(executed(sql, values).rowcount)
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
    for name in [name for name, value in row.__dict__.items() if isinstance(value, DatabaseDefault)]:
        del row.__dict__[name]
    return is_stored


def _built_insert(row: Model, unless_there: bool) -> tuple[str, list[Any]]:
    columns = list(row._meta.local_concrete_fields)
    query = InsertQuery(type(row), on_conflict=OnConflict.IGNORE if unless_there else None)
    query.insert_values(columns, [row])
    ((sql, _),) = query.get_compiler(DEFAULT_DB_ALIAS).as_sql()
    return sql, [field for field in columns if not isinstance(getattr(row, field.attname), DatabaseDefault)]
