"""What can be chosen of a format: a typed model each. Commands and pages make their flags and fields out of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated, Any, ClassVar, Literal, Protocol, Self, TypeAlias, TypeVar, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from potato.formats.compression import Compression
from potato.records.filters import Filters
from potato.records.sources import RecordsError, Resolve
from potato.statistics.extras import MissingExtra, demand_extra


def _listed(value: Any) -> Any:
    """Values with commas, as commands and forms have them, as a list."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


Values: TypeAlias = Annotated[tuple[Annotated[str, StringConstraints(max_length=300)], ...], BeforeValidator(_listed)]


def _day(day: str) -> str:
    try:
        return "" if not day else date.fromisoformat(day).isoformat()
    except ValueError:
        raise PydanticCustomError("no_day", "This is no day. Write it as 2026-11-22.") from None


Day: TypeAlias = Annotated[str, AfterValidator(_day)]


class Options(BaseModel):
    """What can be chosen of every format. One with more choices has a subclass, whose field descriptions are read by
    people."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    schemes: Values = ()
    """answers under these schemes alone, by their names with commas between; empty for all"""
    annotators: Values = ()
    """annotations by these annotators alone, by their annotator names; empty for all"""
    agent_models: Values = ()
    """annotations of runs by these agent models alone; empty for all"""
    tags: Values = ()
    """annotations of runs with any of these tags alone; empty for all"""
    batches: Values = ()
    """annotations of traces in any of these batches at that time alone, by their names or numbers; empty for all"""
    made_from: Day = ""
    """annotations of this day (UTC, as 2026-11-22) and later alone"""
    made_until: Day = ""
    """annotations of this day (UTC, as 2026-11-22) and earlier alone"""
    pseudonyms: Literal["no", "yes"] = "no"
    """whether annotators get other names, made with a key that the organisation keeps"""
    compression: Compression = "none"
    """how the file is packed; not for ZIP and Parquet, which are packed in themselves"""

    left_out_as_usual: ClassVar[frozenset[str]] = frozenset()
    """Further options that chosen() has only where they are not as usual."""

    @property
    def filters(self) -> Filters:
        """Which annotations count at all, before anything is resolved."""
        return Filters(
            schemes=self.schemes,
            annotators=self.annotators,
            agent_models=self.agent_models,
            tags=self.tags,
            batches=self.batches,
            made_from=self.made_from,
            made_until=self.made_until,
        )

    def chosen(self) -> dict[str, Any]:
        """The options as JSON; of those that every format has, what is not as usual."""
        fields = type(self).model_fields
        names = {*Options.model_fields, *self.left_out_as_usual}
        usual = {name for name in names if getattr(self, name) == fields[name].default}
        return self.model_dump(mode="json", exclude=usual)


class SourceOptions(Options):
    """Of a format that has a row for each record, which may be an automated source's."""

    sources: Values = ()
    """the answers of these automated sources too, by their names, or names with versions such as judge-a 3.1; they
    stand behind those of people"""
    people: Literal["yes", "no"] = "yes"
    """whether annotations by people leave; without them the answers of the sources leave alone"""

    left_out_as_usual: ClassVar[frozenset[str]] = frozenset({"sources", "people"})

    @model_validator(mode="after")
    def _something_leaves(self) -> Self:
        if self.people == "no" and not self.sources:
            raise PydanticCustomError("nobody", "Without people, sources must name an automated source at least.")
        return self

    @property
    def filters(self) -> Filters:
        return replace(super().filters, sources=self.sources, people=self.people == "yes")


Weighting: TypeAlias = Literal["dawid_skene", "one_coin"]
WEIGHTED: tuple[Resolve, ...] = ("consensus", "soft")
"""What is resolved by weighing annotators."""


def _not_weighted(resolve: Resolve) -> Resolve:
    if resolve in WEIGHTED:
        raise PydanticCustomError(
            "no_consensus",
            "This format has no consensus of annotators; prm, dpo, swebench and code_review_verdicts have one. "
            "Choose another resolve.",
        )
    return resolve


def not_majority(resolve: Resolve) -> Resolve:
    if resolve == "majority":
        raise PydanticCustomError(
            "no_majority",
            "There is no majority of single annotations, only of one choice for a whole trace or a step. "
            "Use all, adjudicated or latest.",
        )
    return resolve


def can_be_computed(resolve: Resolve) -> Resolve:
    """Before anything is read: a missing package is told at once."""
    if resolve in WEIGHTED:
        try:
            demand_extra("agreement", package="numpy", what="Consensus is computed")
        except MissingExtra as missing:
            raise PydanticCustomError("missing_extra", "{message}", {"message": str(missing)}) from None
    return resolve


class SelectionOptions(Options):
    """Which of the annotations of a trace leave."""

    resolve: Annotated[Resolve, AfterValidator(_not_weighted)] = "all"
    """all annotations, those of adjudicators, the latest of each trace, or what the majority says"""


class RowOptions(SelectionOptions):
    resolve: Annotated[Resolve, AfterValidator(not_majority), AfterValidator(_not_weighted)] = "all"
    """all annotations, those of adjudicators, or the latest of each trace"""


class RecordOptions(SourceOptions, RowOptions):
    """Of a format that has every record as a row."""


class ConsensusOptions(SelectionOptions):
    """Of a format that can weigh annotators by how reliable each one shows to be."""

    resolve: Annotated[Resolve, AfterValidator(can_be_computed)] = "all"
    """all annotations, those of adjudicators, the latest of each trace, what the majority says, what annotators say
    weighted by how reliable each one shows to be (consensus), or how probable each answer is then (soft)"""
    weighting: Weighting = "dawid_skene"
    """how consensus and soft weigh annotators: by a table of what each one takes for what, or by how often each one is
    right (one_coin), which needs fewer annotations of each but does not see through who always answers the same"""


AnyOptions = TypeVar("AnyOptions", bound=Options)


@dataclass(frozen=True)
class KnownOption:
    """One option as commands and pages show it: what it means, the values to choose from (none: any), who knows it."""

    description: str
    choices: tuple[str, ...]
    formats: tuple[str, ...]
    default: Any
    is_in_file_name: bool
    """Whether a command takes it from the name of the file to write."""
    is_common: bool = False
    """Whether every format has it."""


IN_FILE_NAME = "is_in_file_name"


class HasOptions(Protocol):
    options: ClassVar[type[Options]]


def known_options(formats: Mapping[str, type[HasOptions]]) -> dict[str, KnownOption]:
    """Every option of any of the formats, by its name."""
    options: dict[str, KnownOption] = {}
    for format_name, format in formats.items():
        for name, field in _own_first(format.options):
            extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
            described = " ".join((field.description or name).split())
            new = KnownOption(
                described,
                _choices(field.annotation),
                (),
                field.default,
                bool(extra.get(IN_FILE_NAME)),
                is_common=name in Options.model_fields,
            )
            before = options.get(name, new)
            # Of an option that some formats restrict, the words that name all its values.
            longest = max(before.description, new.description, key=len)
            options[name] = replace(before, description=longest, formats=(*before.formats, format_name))
    return options


def _own_first(model: type[Options]) -> "list[tuple[str, FieldInfo]]":
    """The model's fields, those that every format has at the end."""
    return sorted(model.model_fields.items(), key=lambda named: named[0] in Options.model_fields)


def accepted_values(model: type[Options], name: str) -> list[str]:
    """The values that the model's option takes, its default first; none where it takes more than can be listed."""
    field = model.model_fields[name]
    taken = [value for value in _choices(field.annotation) if _is_taken(model, name, value)]
    return sorted(taken, key=lambda value: value != field.default)


def _is_taken(model: type[Options], name: str, value: str) -> bool:
    try:
        model.model_validate({name: value})
    except ValidationError as error:
        # What contradicts another option's usual value is taken beside another one.
        return not any(details["loc"] for details in error.errors(include_url=False))
    return True


def _choices(annotation: Any) -> tuple[str, ...]:
    return tuple(map(str, get_args(annotation))) if get_origin(annotation) is Literal else ()


def read_options(model: type[AnyOptions], values: Mapping[str, Any]) -> AnyOptions:
    """The options as the model has them. Raises RecordsError with everything that is wrong."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        raise RecordsError(" ".join(_sentence(details) for details in error.errors(include_url=False))) from None


def _sentence(details: Any) -> str:
    name = ".".join(map(str, details["loc"]))
    if not name:
        return str(details["msg"])
    if details["type"] == "extra_forbidden":
        if name in SourceOptions.left_out_as_usual:
            return (
                f"{name} is not an option of this format, whose rows say what people said. A format of whole records "
                "has it, such as archive."
            )
        return f"{name} is not an option of this format."
    return f"{name}: {str(details['msg']).rstrip('.')}."
