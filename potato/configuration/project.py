"""The configuration of a project as one typed, frozen object; every key that is left out has its default here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from posixpath import normpath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, PlainValidator, SerializeAsAny, ValidationError, create_model

from potato.configuration.agentic import Agentic
from potato.schemes.answers import is_whole
from potato.schemes.registry import SchemeConfiguration, default_entries, scheme_types
from potato.schemes.suggested import KEY as SUGGESTIONS
from potato.validation.blocks import Block, BlockValues, Entries, LocalPath, Remark, repeated, text, without_effect
from potato.wording import quoted, shortened

RecordKey = Annotated[str, text(200)]


def _read_scheme(value: Any) -> SchemeConfiguration:
    if isinstance(value, SchemeConfiguration):
        return value
    scheme = SchemeConfiguration.model_for(value).model_validate(value)
    assert isinstance(scheme, SchemeConfiguration)  # noqa: S101 - model_for is typed for all blocks
    return scheme


def _default_schemes() -> tuple[SchemeConfiguration, ...]:
    return tuple(_read_scheme(entry) for entry in default_entries())


class ItemProperties(Block):
    """Which keys of an imported record say what it is."""

    id_key: RecordKey = "id"
    """The key that holds the record's id."""
    text_key: RecordKey = "task_description"
    """The key that holds what the agent was asked to do."""


Share = Annotated[float, Field(ge=0, le=1)]


class AddOnDisagreement(Block):
    """Asks one more annotator at a time where the annotators of a trace disagree."""

    below: Annotated[float, Field(gt=0, le=1)] = 0.5
    """One more annotator is asked of a trace whose annotators all have submitted and agree less than that, from 0 to
    1."""
    up_to: Annotated[int, Field(ge=2, le=100)] = 3
    """How many annotators a trace has at most by that."""


class Assignment(Block):
    """How traces are given to annotators."""

    annotations_per_trace: Annotated[int, Field(ge=1, le=100)] = 1
    """How many annotators judge each trace."""
    lease_minutes: Annotated[int, Field(ge=1, le=10_080)] = 30
    """How long a claimed trace is kept for its annotator without a sign of work."""
    max_open: Annotated[int, Field(ge=1, le=100)] = 1
    """How many claimed traces an annotator may have at once."""
    order: Literal["imported", "random", "priority", "fewest"] = "imported"
    """In which order the traces of the project's own batch are given out: as imported, in another order for each
    annotator, by the priority that a manager gives each trace, or those with the fewest annotations first. The
    priorities of batches always come first."""
    limit_per_annotator: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """How many annotations one annotator may make in the project. A manager can set another limit for a person."""
    share_per_annotator: Annotated[float, Field(gt=0, le=1)] | None = None
    """Which part of all released annotations one annotator may make: 0.25 is a quarter."""
    add_on_disagreement: AddOnDisagreement | None = None
    """Asks one more annotator at a time where the annotators of a trace disagree. Without it nobody is added."""

    @classmethod
    def remarks(cls, values: BlockValues) -> Iterator[Remark]:
        added = values.get("add_on_disagreement")
        if not isinstance(added, Mapping):
            return
        wanted, most = values.get("annotations_per_trace", 1), added.get("up_to", 3)
        if not is_whole(wanted) or not is_whole(most):
            return
        if wanted < 2:
            reason = "one annotator disagrees with nobody. Set annotations_per_trace to 2 or more."
            yield without_effect("add_on_disagreement", reason)
        elif most <= wanted:
            yield Remark(
                ("add_on_disagreement", "up_to"),
                "nobody_to_add",
                f"up_to must be more than annotations_per_trace, which is {wanted}: nobody could be added.",
            )


class _Practice(Block):
    traces: Annotated[int, Field(ge=1, le=100)] = 3
    """How many practice traces a newcomer passes before the first task."""
    attempts: Annotated[int, Field(ge=1, le=100)] = 2
    """How often a newcomer may try each of them."""

    @property
    def pass_from(self) -> float:
        """The key `pass`, which is no name in Python."""
        passes: float = getattr(self, "pass")
        return passes


_PASS = "The score from which on a practice trace is passed, from 0 to 1."  # noqa: S105  (a sentence)
if TYPE_CHECKING:

    class Practice(_Practice):
        """What newcomers practise."""
else:
    Practice = create_model(
        "Practice",
        __base__=_Practice,
        __module__=__name__,
        __doc__="What newcomers practise, with feedback, before their first task. Without it nobody practises.",
        **{"pass": (Annotated[Share, Field(description=_PASS)], 0.7)},
    )


class Gold(Block):
    """How tasks with a known answer are mixed in, and what follows from how people do there. Without it none are."""

    rate: Annotated[float, Field(gt=0, le=0.5)] = 0.1
    """Which part of each annotator's tasks has a known answer: 0.1 is one in ten."""
    warn_below: Share | None = None
    """The manager is warned of an annotator whose mean score of the last 20 is less than that, from 0 to 1; 0.65 is a
    good start."""
    pause_below: Share | None = None
    """An annotator whose mean score, at the upper end of its interval, is less than that is paused until the manager
    lets them go on; 0.65 is a good start."""
    after: Annotated[int, Field(ge=1, le=1_000)] = 5
    """From how many scores on an annotator may be warned or paused."""
    line_tolerance: Annotated[int, Field(ge=0, le=50)] = 3
    """How many lines a comment may be away from the expected one."""
    step_tolerance: Annotated[int, Field(ge=0, le=50)] = 1
    """How many steps a first error may be away from the expected one."""
    rating_tolerance: Annotated[int, Field(ge=0, le=50)] = 1
    """How many points a rating may be away from the expected one."""


class Repeat(Block):
    """Which of their own traces annotators judge once more, to see how far they agree with themselves."""

    share: Share = 0
    """Which part of an annotator's traces comes again: 0.05 is one in twenty."""
    after_days: Annotated[int, Field(ge=1, le=365)] = 7
    """After how many days at the earliest."""


class Review(Block):
    """Which annotations reviewers are asked to look at. Without it none are, and reviewers choose by themselves."""

    share: Annotated[float, Field(ge=0, le=1)] = 0
    """Which part of all annotations is reviewed, drawn at random: 0.1 is a tenth, 1 is all."""
    low_agreement_below: Annotated[float, Field(gt=0, le=1)] | None = None
    """Annotations of a trace whose annotators agree less than that are reviewed, from 0 to 1."""
    new_people: Annotated[int, Field(ge=1, le=1_000)] | None = None
    """How many of each annotator's first annotations are reviewed."""


class Adjudication(Block):
    """Which traces wait for somebody who settles what their annotators disagree about. Without it none do."""

    when: Literal["never", "disagreement", "always"] = "never"
    """Traces on which annotators disagree, or all that two people or more have annotated."""
    below: Annotated[float, Field(gt=0, le=1)] | None = None
    """Of traces on which annotators disagree only those with less agreement than that, from 0 to 1."""
    hide_names: bool = True
    """Whether whoever settles it sees letters in place of names, in a shuffled order."""

    @classmethod
    def remarks(cls, values: BlockValues) -> Iterator[Remark]:
        if values.get("below") is not None and values.get("when", "never") != "disagreement":
            yield without_effect("below", "when is not disagreement.")


class Visibility(Block):
    """What annotators see of what became of their work, and of others'."""

    others_after_submit: bool = False
    """Whether annotators may read what others say of a trace, without names, once they can change nothing of their own
    annotation any more and the trace has all that it needs. Tasks with a known answer and repeats cannot be mixed in
    beside it."""
    outcomes: Literal["shown", "hidden"] = "shown"
    """Whether they see what reviewers decided of their annotations, how far they agree with others, and how they did
    where the answer was known. Where that is hidden, a returned task still has its notes."""


class Suggestions(Block):
    """Whether annotators see what a model suggests of a trace. Nothing is ever chosen for them."""

    shown: bool = False
    """Whether suggestions that came with a trace are shown to its annotators."""
    hidden_share: Share = 0.2
    """From which part of the tasks that have suggestions they are kept all the same, drawn at random, so that it can be
    measured how far people follow them: 0.2 is a fifth."""

    @classmethod
    def remarks(cls, values: BlockValues) -> Iterator[Remark]:
        if "hidden_share" in values and values.get("shown", False) is False:
            yield without_effect("hidden_share", "suggestions are not shown.")


Handling = Literal["hold", "replace", "report", "ignore"]


class Secrets(Block):
    """What is done at import with runs in which keys or personal data are found: they are held back from annotators
    until a manager clears them (hold), come in with placeholders of the same length (replace), are only listed
    (report), or are not looked at (ignore)."""

    keys: Handling = "hold"
    """Keys, tokens and passwords of about fifty kinds."""
    personal_data: Handling = "report"
    """E-mail addresses, and the names of people's home folders."""


class ProjectConfiguration(Block):
    """Everything that a project's YAML says.

    `model_dump(mode="json")` is plain JSON and validates back to an equal object, so that it can be pinned in a row.
    """

    task_name: Annotated[str, text(200)]
    """Title of the project."""
    task_dir: LocalPath = "."
    """Folder of the project on a person's machine; read by the commands only."""
    data_files: Annotated[tuple[LocalPath, ...], Entries(1000)] | None = None
    """Files of traces beside the configuration; read by the commands only."""
    item_properties: ItemProperties = ItemProperties()
    """Which keys of an imported record say what it is."""
    agentic: Agentic = Agentic()
    """How agent runs are read and shown."""
    annotation_schemes: Annotated[
        tuple[SerializeAsAny[Annotated[SchemeConfiguration, PlainValidator(_read_scheme)]], ...], Entries(20)
    ] = Field(default_factory=_default_schemes)
    """What annotators judge; at most one scheme of each type."""
    output_annotation_dir: LocalPath = "output/"
    """Folder for exports beside the configuration; read by the commands only."""
    output_annotation_format: Literal["jsonl"] = "jsonl"
    """File format of stored annotations."""
    secrets: Secrets = Secrets()
    """What is done at import with runs in which keys or personal data are found."""
    guidelines: Annotated[str, text(100_000)] | None = None
    """Instructions for annotators in Markdown, shown beside the work."""
    assignment: Assignment = Assignment()
    """How traces are given to annotators."""
    review: Review = Review()
    """Which annotations reviewers are asked to look at."""
    adjudication: Adjudication = Adjudication()
    """Which traces wait for somebody who settles what their annotators disagree about."""
    practice: Practice | None = None
    """What newcomers practise before their first task."""
    gold: Gold | None = None
    """How tasks with a known answer are mixed in."""
    repeat: Repeat = Repeat()
    """Which of their own traces annotators judge once more."""
    visibility: Visibility = Visibility()
    """What annotators see of what became of their work."""
    suggestions: Suggestions = Suggestions()
    """Whether annotators see what a model suggests."""

    @classmethod
    def remarks(cls, values: BlockValues) -> Iterator[Remark]:
        yield from _gold_out_of_order(values)
        yield from _remarks_on_suggestions(values)
        yield from _remarks_on_others_answers(values)
        yield from repeated(values, "annotation_schemes", "name")
        yield from _second_of_a_type(values.get("annotation_schemes"))
        yield from _files_named_twice(values.get("data_files"))
        if isinstance(agentic := values.get("agentic"), Mapping):
            for remark in Agentic.remarks_beside(agentic, _types_of_steps(values.get("annotation_schemes"))):
                yield remark.below("agentic")


def _gold_out_of_order(values: BlockValues) -> Iterator[Remark]:
    """Where traces come in an order that annotators can see, those of another place in it stand out."""
    assignment = values.get("assignment")
    order = assignment.get("order", "imported") if isinstance(assignment, Mapping) else "imported"
    if isinstance(values.get("gold"), Mapping) and order == "imported":
        yield Remark(
            ("gold",),
            "gold_in_order",
            "Tasks with a known answer can stand out where the others come in the order of their import. Write "
            "order: random in assignment.",
            "warning",
            is_about_key=True,
        )


def _remarks_on_suggestions(values: BlockValues) -> Iterator[Remark]:
    """Suggestions say what comes where later steps are a secret, and stand in results under a name of their own."""
    suggestions = values.get("suggestions")
    if not isinstance(suggestions, Mapping) or suggestions.get("shown") is not True:
        return
    for entry in _entries(values.get("annotation_schemes")):
        if not isinstance(entry, Mapping):
            continue
        if entry.get("name") == SUGGESTIONS:
            sentence = (
                f"A scheme is named {SUGGESTIONS}, under which results say what was done with suggestions. Rename it."
            )
            yield Remark(("suggestions", "shown"), "suggestions_named", sentence)
        try:
            scheme = _read_scheme(entry)
        except ValidationError:
            continue
        if scheme_types()[scheme.annotation_type].hides_later_steps(scheme):
            sentence = (
                f"{scheme.name} reveals the steps one by one, and "
                "suggestions would tell of later ones. Write reveal: all."
            )
            yield Remark(("suggestions", "shown"), "suggestions_tell", sentence)


def _remarks_on_others_answers(values: BlockValues) -> Iterator[Remark]:
    """Of a task with a known answer nothing of others could ever be read, which would tell it from the rest; and who
    has read what others say judges their own trace no more by themselves when it comes again."""
    visibility, repeat = values.get("visibility"), values.get("repeat")
    if not isinstance(visibility, Mapping) or visibility.get("others_after_submit") is not True:
        return
    where, otherwise = ("visibility", "others_after_submit"), "or write others_after_submit: false."
    if values.get("gold") is not None:
        sentence = "What others say can never be read of a task with a known answer, and that would tell which it is."
        yield Remark(where, "others_tell_gold", f"{sentence} Leave out gold, {otherwise}")
    share = repeat.get("share") if isinstance(repeat, Mapping) else None
    if isinstance(share, int | float) and share > 0:
        sentence = "Who has read what others say would judge the same trace again by that."
        yield Remark(where, "others_before_repeat", f"{sentence} Leave out repeat, {otherwise}")


def _types_of_steps(schemes: object) -> list[str]:
    """The scheme types among the entries that judge the steps of a run."""
    kinds = (scheme.get("annotation_type") for scheme in _entries(schemes) if isinstance(scheme, Mapping))
    known = (kind for kind in kinds if isinstance(kind, str) and kind in scheme_types())
    return [kind for kind in known if scheme_types()[kind].target == "agentic_steps"]


def _entries(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else default_entries() if value is None else ()


def _files_named_twice(files: object) -> Iterator[Remark]:
    """`a.jsonl` and `./a.jsonl` are one file, whose traces would be read twice."""
    first_at: dict[str, int] = {}
    for index, name in enumerate(files if isinstance(files, list | tuple) else ()):
        if not isinstance(name, str):
            continue
        first = first_at.setdefault(normpath(name), index)
        if first != index:
            yield Remark(
                ("data_files", index),
                "repeated",
                f"{quoted(name)} is already entry {first + 1} of data_files. Name each file once.",
            )


def _second_of_a_type(schemes: object) -> Iterator[Remark]:
    """One scheme of each type: a result is read by its type."""
    seen: set[str] = set()
    for index, scheme in enumerate(schemes if isinstance(schemes, Sequence) else ()):
        kind = scheme.get("annotation_type") if isinstance(scheme, Mapping) else None
        if not isinstance(kind, str) or kind not in scheme_types():
            continue
        if kind in seen:
            yield Remark(
                ("annotation_schemes", index, "annotation_type"),
                "second_of_a_type",
                f"A project has at most one scheme of the type {shortened(kind)}. Remove one of them.",
            )
        seen.add(kind)
