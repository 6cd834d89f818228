"""Finds the scheme types that installed packages bring, by the entry-point group `potato.scheme_types`.

Knows none of them: a third party adds a package with a `SchemeType` and touches nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.metadata import EntryPoint
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import AfterValidator, ConfigDict, create_model
from pydantic_core import PydanticCustomError

from potato.entry_points import SCHEME_TYPES, ExtensionError, installed
from potato.runs.contents import TraceContents
from potato.runs.exact_json import canonical
from potato.schemes.answers import Gap
from potato.schemes.breaking_changes import BreakingChange
from potato.schemes.comparisons import Comparison
from potato.schemes.distributions import Distribution
from potato.schemes.known_faults import KnownFault
from potato.schemes.opinions import Choice, Opinion
from potato.schemes.parts import Part
from potato.schemes.scoring import GoldScore, Tolerance, score_comparisons
from potato.schemes.statements import Statement, Unplaced, whole_answers
from potato.schemes.suggested import Suggested
from potato.validation.blocks import Block, Description, Name
from potato.wording import did_you_mean, listed, nearest, quoted, title_case

Target = Literal["line", "file", "change_set", "agentic_steps"]


class SchemeConfiguration(Block):
    """One entry of `annotation_schemes`. A scheme type adds its own keys in a subclass, which narrows
    `annotation_type` to its one value."""

    name: Name
    """Key of this scheme's part in every result."""
    annotation_type: str
    """What is annotated, and how."""
    description: Description | None = None
    """Shown to annotators where they choose."""

    @classmethod
    def model_for(cls, value: object) -> type[Block]:
        kind = value.get("annotation_type") if isinstance(value, Mapping) else None
        if not isinstance(kind, str):
            return _SchemeOfNoType
        if scheme_type := scheme_types().get(kind):
            return scheme_type.configuration
        meant = nearest(kind, list(scheme_types()))
        return _misspelt(scheme_types()[meant].configuration) if meant else _SchemeOfNoType


class SchemeType:
    """A way to judge a trace. Never instantiated: the class is the type."""

    annotation_type: ClassVar[str]
    """What `annotation_type` says in a configuration; also the name of the entry point."""
    target: ClassVar[Target]
    """What of a trace is judged."""
    block: ClassVar[str] = ""
    """The key that holds this type's settings; empty for a type that says them in `settings`."""
    configuration: ClassVar[type[SchemeConfiguration]]
    template: ClassVar[str] = ""
    """The template of its part of the task page; empty for a type that people do not answer there."""
    module: ClassVar[str] = ""
    """The static file of the ES module that brings the template to life; exports `mount(task, scheme)`."""
    style: ClassVar[str] = ""
    """The static file of the style sheet of its own that the template needs, empty for none."""
    keys_template: ClassVar[str] = ""
    """The template of its part of the help for shortcuts; it is shown under the name `shown`, with its settings as
    `shown.scheme`. Empty for no part; where steps are judged, for the shortcuts of reading steps alone."""
    work_word: ClassVar[str] = ""
    """What annotators submit, in a word ("review"), where it has one of its own."""
    accepts: ClassVar[tuple[str, str] | None] = None
    """The question, as `choices` names it, and the value by which the whole run is accepted; None where nothing says
    so."""
    activity: ClassVar[str] = ""
    """What annotators do with it, as a project's badge ("Code review"); its name in title case when empty."""
    icon: ClassVar[str] = "list-checks"
    """The icon of the sprite that stands for that activity."""
    default_entry: ClassVar[Mapping[str, Any] | None] = None
    """The entry that a configuration without `annotation_schemes` gets; None for no entry."""
    assumed_entry: ClassVar[Mapping[str, Any] | None] = None
    """The entry that records are read under where nobody says how the project is configured, beside the default
    entries of all types; None for no entry."""
    examples: ClassVar[tuple[Any, ...]] = ()
    """Invented results, of one trace each, that the reference of the formats shows. Types of one activity share a
    trace: the first of each is of the same one."""

    @classmethod
    def colours(cls, scheme: Any) -> Mapping[str, str]:
        """The configured colour, #rgb or #rrggbb, of each value that is chosen under `scheme`."""
        return {}

    @classmethod
    def settings(cls, scheme: Any) -> Mapping[str, Any]:
        """What the task page and programs are told of the scheme's settings, as plain JSON."""
        if not cls.block:
            return {}
        settings: dict[str, Any] = getattr(scheme, cls.block).model_dump(mode="json")
        return settings

    @classmethod
    def hides_later_steps(cls, scheme: Any) -> bool:
        """Whether what the agent did next is a secret until the steps before are judged: no page may tell of it then,
        neither by a search nor by a filmstrip."""
        return False

    @classmethod
    def keys_are_off(cls, scheme: Any) -> bool:
        """Whether the project has switched single keys off where the scheme's target is judged."""
        return False

    @classmethod
    def keys(cls, scheme: Any) -> Mapping[str, str]:
        """The keys that the scheme gives to moves of the page, `next_step` and `prev_step`; the page's own are "j" and
        "k"."""
        return {}

    @classmethod
    def shows_titles_alone(cls, scheme: Any) -> bool:
        """Whether the content of a step is shown only to who opens it."""
        return False

    @classmethod
    def breaking_changes(cls, old: Any, new: Any) -> Iterator[BreakingChange]:
        """What annotations made under `old` would lose their meaning by under `new`, both of `configuration`."""
        yield from ()

    @classmethod
    def cannot_judge(cls, scheme: Any, contents: TraceContents) -> str | None:
        """Why a trace with that in it cannot be judged under the scheme, such as "the trace has no steps"; None where
        it can. Nobody is asked for answers then, and a trace that no scheme can judge is given to nobody."""
        return None

    @classmethod
    def adapt_to_evidence(cls, scheme: Any, evidence: Any) -> Any:
        """The scheme as it can be asked of the trace, without demands that the trace lets nobody meet."""
        return scheme

    @classmethod
    def without_demands(cls, scheme: Any) -> Any:
        """The scheme without what it demands of its own annotators beside an answer: who worked in another tool was
        never asked for a category, a summary or every file."""
        return scheme

    @classmethod
    def answers_from(cls, said: Sequence[Statement], scheme: Any) -> tuple[Any, list[Unplaced]]:
        """The answers that statements of another tool, the earlier ones first, come to, and what of them has no place.
        Answers without anything in them are none. They are checked as all answers are after that."""
        return whole_answers(said)

    # What is answered is typed by each scheme type, and evidence is potato.runs.changes.places.Evidence.

    @classmethod
    def malformed(cls, answers: object) -> tuple[Gap, ...]:
        """What of the answers to one scheme cannot be kept, not even as a draft. None are answers not begun.

        Raises nothing for anything that JSON can hold. A type that says nothing takes any JSON.
        """
        return ()

    @classmethod
    def missing(cls, answers: object, scheme: Any, evidence: Any) -> tuple[Gap, ...]:
        """Everything that keeps the answers from being submitted, what is malformed included. Raises nothing."""
        return cls.malformed(answers)

    @classmethod
    def result(cls, answers: Any, scheme: Any, evidence: Any, submitted_at: datetime) -> Any:
        """The scheme's part of the record. Asked only for answers that nothing is missing of; a result is itself
        such answers, and its own result."""
        return answers

    @classmethod
    def summary(cls, result: Any, scheme: Any) -> str | None:
        """The scheme's part of a record in a few words, as a list shows it ("3 comments"); None for no words. Asked
        only for what is not malformed; what the configuration does not know any more is named by its value."""
        return None

    @classmethod
    def opinions(cls, result: Any, scheme: Any) -> Iterator[Opinion]:
        """What the scheme's part of a record says of the run, its files, lines or steps, as pages show it and lay it
        beside what others say. Asked only for what is not malformed; a type that says nothing here is shown by its
        summary."""
        if words := cls.summary(result, scheme):
            yield Opinion(cls.activity or title_case(cls.annotation_type), (Choice(words, words),))

    @classmethod
    def choices(cls, result: Any, scheme: Any) -> Iterator[tuple[str, str]]:
        """What of the scheme's part of a record is counted: each choice as the name of its question, such as
        "severity", and the value. Values are few in all records together. Asked only for what is not malformed."""
        yield from ()

    @classmethod
    def distributions(cls, counts: Mapping[str, Mapping[str, int]], scheme: Any) -> Iterator[Distribution]:
        """How often what `choices` names was chosen, by question and value, in the order of the configuration."""
        yield from ()

    @classmethod
    def comparisons(cls, scheme: Any) -> Iterator[Comparison]:
        """What of the scheme's part of a record annotators can agree on, each with a name of its own; none where their
        results cannot be compared. Its `read` is asked only for what is not malformed."""
        yield from ()

    @classmethod
    def parts(cls, result: Any, scheme: Any) -> Iterator[Part]:
        """What of the scheme's part of a record is settled one by one where annotators differ. Asked only for what is
        not malformed; a type that says nothing here is settled as a whole, by keeping what one of them said."""
        opinions = tuple(cls.opinions(result, scheme))
        title = cls.activity or title_case(cls.annotation_type)
        yield Part("", title, {"answers": result}, canonical(result), opinions)

    @classmethod
    def join(cls, values: Mapping[str, Mapping[str, Any]], scheme: Any) -> Any:
        """The answers that the settled values of `parts` make, by their keys; what is left out has no value. Parts with
        a place have any key, and stand in the order of the answers."""
        return next((value.get("answers") for value in values.values()), None)

    @classmethod
    def suggestion(
        cls, answers: Any, scheme: Any, evidence: Any, suggested_at: datetime
    ) -> tuple[Any, tuple[Gap, ...]]:
        """A model's answers as they are kept and shown, and what is wrong with them. They may leave out what an
        annotator has to say before submitting; what is there must be allowed. The value of answers with gaps is not
        looked at."""
        gaps = cls.missing(answers, scheme, evidence)
        if not gaps:
            return cls.result(answers, scheme, evidence, suggested_at), ()
        return answers, tuple(gap for gap in gaps if gap.kind == "refused")

    @classmethod
    def suggested(cls, result: Any, scheme: Any) -> Iterator[Suggested]:
        """What a result, or a model's answers, say item by item: each is accepted, edited or rejected by itself. Asked
        only for what is not malformed. A type that says nothing here suggests nothing."""
        yield from ()

    @classmethod
    def gold_answers(cls, fault: KnownFault, scheme: Any) -> Any:
        """The answers that are expected where this fault is all that is wrong, to be looked at by a person before they
        are a result; None where the fault says nothing about them."""
        return None

    @classmethod
    def gold_score(cls, expected: Any, given: Any, scheme: Any, tolerance: Tolerance) -> GoldScore | None:
        """How near a person's result comes to the expected one, with its parts; None where nothing is expected.

        `given` is None where the person answered nothing under this scheme, or nothing that can be read. A type that
        says nothing here is scored by its `comparisons`, each alike, as potato.schemes.scoring has it; the words of
        its parts are those of its `opinions`.
        """
        results = [result for result in (expected, given) if result is not None]
        opinions = [opinion for result in results for opinion in cls.opinions(result, scheme)]
        words = {choice.value: choice.words for opinion in opinions for choice in opinion.choices}
        return score_comparisons(cls.comparisons(scheme), expected, given, tolerance, words)


@cache
def scheme_types() -> Mapping[str, type[SchemeType]]:
    """Every installed scheme type by its `annotation_type`, sorted. Found once a process. Raises ExtensionError where
    one cannot be used."""
    types = {name: _loaded(entry) for name, entry in installed(SCHEME_TYPES).items()}
    if not types:
        raise ExtensionError("No scheme type is installed. Install Potato itself, for example with pip install -e .")
    return types


def default_entries() -> list[Mapping[str, Any]]:
    """The entries of a configuration without `annotation_schemes`."""
    return [kind.default_entry for kind in scheme_types().values() if kind.default_entry is not None]


def assumed_entries() -> list[Mapping[str, Any]]:
    """The entries that records are read under beside the default ones where nobody tells the configuration."""
    return [kind.assumed_entry for kind in scheme_types().values() if kind.assumed_entry is not None]


def _loaded(entry: EntryPoint) -> type[SchemeType]:
    kind = entry.load()
    where = f"The entry point {entry.name} = {entry.value} of {SCHEME_TYPES}"
    if not (isinstance(kind, type) and issubclass(kind, SchemeType)):
        raise ExtensionError(f"{where} must be a subclass of SchemeType.")
    if kind.annotation_type != entry.name:
        raise ExtensionError(f"{where} has another annotation_type: {kind.annotation_type}.")
    if kind.target not in get_args(Target):
        raise ExtensionError(f"{where} must have a target of {listed(get_args(Target), 'or')}.")
    if kind.block and kind.block not in kind.configuration.model_fields:
        raise ExtensionError(f"{where} has no key {kind.block} in its configuration.")
    if bool(kind.template) != bool(kind.module):
        raise ExtensionError(f"{where} must have both a template and a module for the task page, or neither.")
    return kind


def _registered(annotation_type: str) -> str:
    known = list(scheme_types())
    hint = did_you_mean(annotation_type, known) or f" Use {listed(known, 'or')}."
    message = f"{quoted(annotation_type)} is not an annotation_type.{hint}"
    raise PydanticCustomError("unknown_type", "{message}", {"message": message})


class _SchemeOfNoType(SchemeConfiguration):
    """Reads an entry whose type is missing or unknown: always an error, beside those of the keys all types share."""

    model_config = ConfigDict(extra="ignore")

    annotation_type: Annotated[str, AfterValidator(_registered)]


@cache
def _misspelt(configuration: type[SchemeConfiguration]) -> type[SchemeConfiguration]:
    """Reads an entry whose type is nearly that of `configuration`: always an error, beside all others of its keys."""
    return create_model(
        f"Misspelt{configuration.__name__}",
        __base__=configuration,
        annotation_type=(Annotated[str, AfterValidator(_registered)], ...),
    )
