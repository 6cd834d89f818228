"""The page on which a trace is settled: each question with its evidence, its answers, and what may be chosen."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from adjudication.actions import OpenAdjudication
from adjudication.disagreements import range_words
from adjudication.settlements import title_of
from adjudication.weighing import Weighed, weighed_answers
from assignments.history import trace_title
from assignments.submission_records import annotator_names
from assignments.summaries import ShownChoice, submission_briefs
from potato.schemes.comparisons import PlacedComment
from potato.schemes.opinions import Opinion
from potato.schemes.parts import Field, Part
from potato.statistics.agreement.settling import Item
from potato.wording import counted, listed
from traces.evidence.excerpts import excerpts_by_file
from traces.evidence.fragments import DisplayOptions
from traces.evidence.judged_files import exact_paths
from traces.evidence.pages import addresses, files_in_trace, in_order
from traces.evidence.responses import display_settings
from traces.evidence.task_description import asked_for
from traces.models import TraceFile, TraceStep
from traces.rendering.safe import SafeHtml

MOST_BUTTONS = 9
ICONS = {"place": "message-square", "file": "gauge", "step": "footprints", "whole": "scale"}


@dataclass(frozen=True)
class Person:
    """Whose annotation it is, under its letter; `name` is empty while names are hidden."""

    letter: str
    colour: str
    name: str
    words: str
    choice: ShownChoice | None

    @property
    def label(self) -> str:
        return self.name or f"Annotator {self.letter}"


@dataclass(frozen=True)
class Answer:
    """What one annotation says of a question; `opinions` are empty where it says nothing."""

    person: Person
    part: Part | None
    cells: tuple["AnswerCell", ...]


@dataclass(frozen=True)
class AnswerCell:
    opinion: Opinion
    choices: tuple[ShownChoice, ...]

    @property
    def number(self) -> str:
        number = self.opinion.number
        return "" if number is None else f"{number:g}"


@dataclass(frozen=True)
class ShownStep:
    """A step that is evidence, and where its content comes from."""

    index: int
    title: str
    src: str


@dataclass(frozen=True)
class ShownOffer:
    """A value that may be chosen, with the people who did."""

    at: int
    value: str | int | float | bool | None
    choice: ShownChoice
    people: tuple[Person, ...]


@dataclass(frozen=True)
class ShownField:
    field: Field
    offers: tuple[ShownOffer, ...]


@dataclass(frozen=True)
class ShownWeighed:
    """What the answers say together, weighed: whose annotation says so first, in which words, how probable it is."""

    person: Person
    words: str
    weighed: Weighed


@dataclass(frozen=True)
class Question:
    at: int
    item: Item
    title: str
    range: str
    answers: tuple[Answer, ...]
    consensus: Person | None
    fields: tuple[ShownField, ...]
    lines: SafeHtml | None
    steps: tuple[ShownStep, ...]
    weighed: ShownWeighed | None = None

    @property
    def short_title(self) -> str:
        """Beside its sign, where room is short: "parser.py line 15"."""
        return self.title.removeprefix(f"{self.item.shown.title} on ") if self.is_place else self.title

    @property
    def icon(self) -> str:
        part = self.item.shown
        if part.place is not None:
            return ICONS["place"]
        return ICONS["file"] if part.file else ICONS["step"] if part.steps else ICONS["whole"]

    @property
    def has_lines_above(self) -> bool:
        """Its lines stand with questions before it."""
        return self.lines is not None and not self.lines

    @property
    def is_place(self) -> bool:
        return self.item.shown.place is not None

    @property
    def place(self) -> PlacedComment:
        """The lines that it is about. Only where `is_place`."""
        place = self.item.shown.place
        assert place is not None  # noqa: S101 - asked of questions about lines alone
        return place

    @property
    def is_optional(self) -> bool:
        return self.item.shown.is_optional

    @property
    def is_rating(self) -> bool:
        """Whether it is a point on the scale of a file, which a row of a table settles."""
        part = self.item.shown
        return part.file is not None and part.number is not None and len(self.fields) == 1 and bool(self.offers)

    @property
    def offers(self) -> tuple[ShownOffer, ...]:
        """What may be chosen of its first field; none where that is a text."""
        return self.fields[0].offers if self.fields else ()

    @property
    def choices(self) -> tuple[ShownOffer, ...]:
        """Those of the whole trace and of steps that are few enough to stand as buttons."""
        shown = self.item.shown
        return self.offers if not (shown.place or shown.file) and 1 < len(self.offers) <= MOST_BUTTONS else ()

    @property
    def step(self) -> int | None:
        """The step that it is about, None where it is about none or several."""
        return self.item.shown.steps[0] if len(self.item.shown.steps) == 1 else None

    @property
    def spread(self) -> float | None:
        """How far the numbers are apart."""
        numbers = [part.number for part in self.item.parts if part is not None and part.number is not None]
        return max(numbers) - min(numbers) if numbers else None

    @property
    def commented(self) -> int:
        return sum(part is not None for part in self.item.parts)

    @property
    def verdict(self) -> str:
        """How the answers stand to each other."""
        if not self.item.differs:
            return "All say the same"
        if self.is_place:
            return self._differing()
        return "Decides training data" if self.item.decides else "Differ"

    def _differing(self) -> str:
        """Of comments at one place: who is alone there, or what of them differs."""
        said = [answer for answer in self.answers if answer.part is not None]
        if len(said) == 1:
            return f"{said[0].person.letter} alone"
        fields = [shown.field for shown in self.fields if shown.offers]
        differing = [
            field.title for field in fields if len({one.part.value.get(field.name) for one in said if one.part}) > 1
        ]
        if not differing:
            return "Not all commented" if len(said) < len(self.answers) else "Differ"
        words = listed([differing[0], *(title.lower() for title in differing[1:])], "and")
        return f"{words} differ{'s' if len(differing) == 1 else ''}"


@dataclass(frozen=True)
class ShownFile:
    """A file with the questions about its lines, in their order. `file` is None where the trace has no such file."""

    path: str
    file: TraceFile | None
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class StepRow:
    """A step as a row of the table: `question` is settled beside it."""

    question: Question
    index: int
    title: str


def page_context(opened: OpenAdjudication) -> dict[str, Any]:
    """What the template is given."""
    assignment, compared = opened.assignment, opened.compared
    trace, project = assignment.trace, assignment.project
    people = _people(opened)
    questions = _questions(opened, people)
    order = [
        *(q for q in questions if q.item.is_open),
        *(q for q in questions if q.item.differs and not q.item.is_open),
    ]
    return {
        "project": project,
        "trace": trace,
        "title": trace_title(trace.task, trace.external_id),
        "asked": asked_for(trace),
        "tab": "adjudicate",
        "display": display_settings(compared.configuration),
        "version": assignment.version.number,
        "people": list(people.values()),
        "questions": order,
        **_by_evidence(opened, questions),
        "hides_names": opened.hides_names,
        "newer": opened.newer,
        "lease_until": assignment.lease_until,
        "page_data": {
            "assignment": str(assignment.pk),
            "lease_token": assignment.fencing_token,
            "revision": opened.revision,
            "settled": [dict(row) for row in opened.stored],
            "api": f"{reverse('organisation')}api/v1/adjudication/{assignment.pk}/",
            "queue": reverse("adjudicate", args=[project.slug]),
            "questions": {f"q{question.at}": _data(question) for question in order},
        },
    }


def _by_evidence(opened: OpenAdjudication, questions: Sequence[Question]) -> dict[str, Any]:
    """The questions where their evidence is: lines in their files, ratings in a table, steps in another one, and
    `whole`, which are about all of the trace. `agreed` are those of these on which nobody differs."""
    lines = [question for question in questions if question.is_place]
    ratings = [question for question in questions if question.is_rating]
    by_scheme = Counter(question.item.scheme for question in questions if question.step is not None)
    steps = [question for question in questions if question.step is not None and by_scheme[question.item.scheme] > 1]
    placed = {question.at for question in (*lines, *ratings, *steps)}
    rest = [question for question in questions if question.at not in placed]
    return {
        "files": _by_file(opened, lines),
        "ratings": sorted(ratings, key=lambda question: (not question.item.is_open, -(question.spread or 0))),
        "step_groups": _by_difference(opened, steps),
        "whole": [question for question in rest if question.item.differs],
        "agreed": [question for question in rest if not question.item.differs],
    }


def _by_file(opened: OpenAdjudication, questions: Sequence[Question]) -> list[ShownFile]:
    files = in_order(files_in_trace.rows(opened.assignment.trace.pk))
    paths = exact_paths(files)
    rows, order = dict(zip(paths, files, strict=True)), {path: at for at, path in enumerate(paths)}
    by_path: dict[str, list[Question]] = {}
    for question in questions:
        by_path.setdefault(question.place.file, []).append(question)
    return [
        ShownFile(
            path, rows.get(path), tuple(sorted(own, key=lambda question: (*_place_key(question.place), question.at)))
        )
        for path, own in sorted(by_path.items(), key=lambda row: order.get(row[0], len(order)))
    ]


def _place_key(place: PlacedComment) -> tuple[int, int]:
    """By which the questions of a file stand below each other."""
    return place.first, place.last


def _by_difference(opened: OpenAdjudication, questions: Sequence[Question]) -> list[tuple[str, list[StepRow]]]:
    """The rows of steps, those that differ first, each group with its heading."""
    titles = dict(opened.assignment.trace.steps.values_list("index", "title")) if questions else {}
    groups: tuple[list[StepRow], list[StepRow]] = ([], [])
    for question in sorted(questions, key=lambda one: (not one.item.is_open, one.step or 0)):
        index = question.step or 0
        groups[not question.item.differs].append(StepRow(question, index, titles.get(index, "")))
    headings = (
        f"{counted(len(groups[0]), 'step')} {'differs' if len(groups[0]) == 1 else 'differ'}",
        f"{counted(len(groups[1]), 'step')}, all agree",
    )
    return [(heading, rows) for heading, rows in zip(headings, groups, strict=True) if rows]


def _people(opened: OpenAdjudication) -> dict[str, Person]:
    names = {} if opened.hides_names else annotator_names(row.assignment.user_id for row in opened.letters.values())
    briefs = submission_briefs(list(opened.letters.values()))
    return {
        letter: Person(
            letter,
            f"p{at + 1}" if at < 5 else "p0",
            names.get(row.assignment.user_id, ""),
            ", ".join(briefs[row.pk].words),
            briefs[row.pk].choice,
        )
        for at, (letter, row) in enumerate(opened.letters.items())
    }


def _questions(opened: OpenAdjudication, people: Mapping[str, Person]) -> list[Question]:
    compared = opened.compared
    by_submission = {row.pk: letter for letter, row in opened.letters.items()}
    order = [people[by_submission[row.pk]] for row in compared.submissions]
    lines = _lines(opened)
    steps = _steps(opened)
    weighed = weighed_answers(opened.assignment.project, compared)
    return [
        Question(
            at,
            item,
            title_of(item),
            range_words(item),
            tuple(_answers(item, order)),
            None if item.consensus is None else order[item.consensus],
            tuple(_field(item, field, order) for field in item.shown.fields),
            lines.get(at),
            tuple(steps[index] for index in sorted(_step_indexes(item)) if index in steps),
            _weighed(item, order, weighed.get((item.scheme, item.key))),
        )
        for at, item in enumerate(compared.items)
    ]


def _weighed(item: Item, order: Sequence[Person], weighed: Weighed | None) -> ShownWeighed | None:
    part = None if weighed is None else item.parts[weighed.at]
    if weighed is None or part is None or not part.opinions or not part.opinions[0].choices:
        return None
    return ShownWeighed(order[weighed.at], part.opinions[0].choices[0].words, weighed)


def _answers(item: Item, order: Sequence[Person]) -> list[Answer]:
    answers = [
        Answer(
            person,
            part,
            tuple(
                AnswerCell(opinion, tuple(ShownChoice.of(choice, item.scheme) for choice in opinion.choices))
                for opinion in (part.opinions if part is not None else ())
            ),
        )
        for person, part in zip(order, item.parts, strict=True)
    ]
    return sorted(answers, key=lambda answer: answer.person.letter)


def _field(item: Item, field: Field, order: Sequence[Person]) -> ShownField:
    return ShownField(
        field,
        tuple(
            ShownOffer(
                at,
                offer.value,
                ShownChoice.of(offer.choice, item.scheme),
                tuple(
                    sorted(
                        (
                            person
                            for person, part in zip(order, item.parts, strict=True)
                            if part is not None and part.value.get(field.name) == offer.value
                        ),
                        key=lambda person: person.letter,
                    )
                ),
            )
            for at, offer in enumerate(field.offers)
        ),
    )


def _data(question: Question) -> dict[str, Any]:
    """What the page's script knows of a question."""
    item = question.item
    return {
        "scheme": item.scheme,
        "key": item.key,
        "title": question.title,
        "isOpen": item.is_open,
        "isOptional": question.is_optional,
        "isPlace": question.is_place,
        "isRating": question.is_rating,
        "consensus": question.consensus.letter if question.consensus else None,
        "answers": {answer.person.letter: dict(answer.part.value) for answer in question.answers if answer.part},
        "fields": [
            {
                "name": shown.field.name,
                "isRequired": shown.field.is_required,
                "values": [offer.value for offer in shown.field.offers],
            }
            for shown in question.fields
        ],
    }


def _lines(opened: OpenAdjudication) -> dict[int, SafeHtml | None]:
    """The lines of each question about some, by its position; each line of a file once, with the first about it."""
    trace = opened.assignment.trace
    files = in_order(files_in_trace.rows(trace.pk))
    by_path = dict(zip(exact_paths(files), files, strict=True))
    wanted: dict[str, list[tuple[int, PlacedComment]]] = {}
    for at, item in enumerate(opened.compared.items):
        place = item.shown.place
        if place is not None and place.file in by_path:
            wanted.setdefault(place.file, []).append((at, place))
    for places in wanted.values():
        places.sort(key=lambda row: (*_place_key(row[1]), row[0]))
    excerpts = excerpts_by_file(
        trace,
        [
            (by_path[path], [(place.side, place.first, place.last) for _, place in places])
            for path, places in wanted.items()
        ],
        DisplayOptions.of(opened.compared.configuration).diff("unified"),
        each_once=True,
    )
    return {
        at: lines
        for path, places in wanted.items()
        for (at, _), lines in zip(places, excerpts[by_path[path].pk], strict=True)
    }


def _step_indexes(item: Item) -> set[int]:
    return {index for part in item.parts if part is not None for index in part.steps}


def _steps(opened: OpenAdjudication) -> dict[int, ShownStep]:
    trace = opened.assignment.trace
    wanted = {index for item in opened.compared.items if item.differs for index in _step_indexes(item)}
    if not wanted:
        return {}
    address = addresses("trace-step-fragment", trace.project.slug, trace.pk)
    key = DisplayOptions.of(opened.compared.configuration).step().key
    rows = TraceStep.objects.filter(trace=trace, index__in=wanted)
    return {row.index: ShownStep(row.index, row.title, address(row.index, row.sha256, key)) for row in rows}
