"""Two or three annotations of a trace beside each other: what each says of the whole, of files, lines and steps.

Reads no database, and knows no way of judging but by its hooks.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from assignments.summaries import ShownChoice
from potato.configuration import ProjectConfiguration
from potato.records.annotations import opinions, unjudged_reason
from potato.schemes.comparisons import PlacedComment
from potato.schemes.matching import TOLERANCE
from potato.schemes.opinions import Choice, Opinion
from potato.schemes.unjudged import KEY
from potato.schemes.unjudged import TITLE as UNJUDGED
from potato.statistics.agreement.source_places import common_places
from potato.wording import lines_in_words

MOST_COMPARED = 3
FAR_APART = 2
"""Ratings so many points apart are a difference; nearer ones are a small one."""


@dataclass(frozen=True)
class Cell:
    """What one of those compared says of one thing; `opinion` is None where they say nothing of it."""

    person: int
    opinion: Opinion | None
    choices: tuple[ShownChoice, ...] = ()
    is_off: bool = False
    """Its number is not the median of all."""

    @property
    def number(self) -> str:
        """A rating as it is, a score with its sign."""
        number = self.opinion.number if self.opinion else None
        if number is None:
            return ""
        return f"{number:g}" if self.opinion and self.opinion.file is not None else signed(number)


@dataclass(frozen=True)
class Row:
    """One thing that all are asked about, with what each says of it.

    `spread` is how far apart their numbers are, None where they have none. `differs`: not all say the same, or not all
    say something.
    """

    title: str
    cells: tuple[Cell, ...]
    file: str | None = None
    step: int | None = None
    anchor: str = ""
    is_comment: bool = False
    """General comments, on `file` or on the whole change."""

    @property
    def words(self) -> str:
        """What it is about, for people."""
        return f"{self.title} on {self.file}" if self.is_comment and self.file is not None else self.title

    @property
    def opinions(self) -> tuple[Opinion, ...]:
        """What is said, without those who say nothing."""
        return tuple(cell.opinion for cell in self.cells if cell.opinion is not None)

    @property
    def differs(self) -> bool:
        return len(self.opinions) < len(self.cells) or len({opinion.answer for opinion in self.opinions}) > 1

    @property
    def spread(self) -> float | None:
        numbers = [opinion.number for opinion in self.opinions if opinion.number is not None]
        return max(numbers) - min(numbers) if len(numbers) > 1 else None

    @property
    def is_small(self) -> bool:
        """They differ by their numbers alone, and not by much."""
        values = {tuple(choice.value for choice in opinion.choices) for opinion in self.opinions}
        has_all = len(self.opinions) == len(self.cells)
        return has_all and len(values) == 1 and self.spread is not None and self.spread < FAR_APART

    @property
    def spread_words(self) -> str:
        """As "2 apart", "same"; for steps the number alone."""
        if not self.differs:
            return "same"
        if self.spread is None:
            return "differ"
        return f"{self.spread:g} apart" if self.step is None else signed(self.spread).removeprefix("+")

    @property
    def range_words(self) -> str:
        """As "2-4" of ratings, "2 : 1" of votes."""
        numbers = [opinion.number for opinion in self.opinions if opinion.number is not None]
        if numbers and self.step is None:
            low, high = min(numbers), max(numbers)
            return f"{low:g}" if low == high else f"{low:g}\u2013{high:g}"
        counts: dict[Any, int] = {}
        for opinion in self.opinions:
            counts[opinion.answer] = counts.get(opinion.answer, 0) + 1
        return " : ".join(str(count) for count in sorted(counts.values(), reverse=True))


@dataclass(frozen=True)
class CommentedLines:
    """Lines on which at least one of them commented, with the comment of each there."""

    file: str
    side: str
    first: int
    last: int
    cells: tuple[Cell, ...]
    anchor: str

    @property
    def commented(self) -> int:
        return sum(cell.opinion is not None for cell in self.cells)

    @property
    def words(self) -> str:
        lines = lines_in_words(self.first, self.last)
        return f"old {lines}" if self.side == "old" else lines

    @property
    def verdict(self) -> str:
        """How they stand to each other there."""
        opinions_here = [cell.opinion for cell in self.cells if cell.opinion is not None]
        if len(opinions_here) == 1:
            return "One alone"
        places = [opinion.place for opinion in opinions_here if opinion.place is not None]
        parts = [
            name
            for name, values in (
                ("category", {place.category for place in places}),
                ("severity", {place.severity for place in places}),
            )
            if len(values) > 1
        ]
        if parts:
            words = " and ".join(parts)
            return f"{words[:1].upper()}{words[1:]} differ{'' if len(parts) > 1 else 's'}"
        return "The same" if len(opinions_here) == len(self.cells) else "Same category"

    @property
    def differs(self) -> bool:
        return self.verdict != "The same"


@dataclass(frozen=True)
class Comparison:
    """All that is compared; rows of one kind in the order of the configuration and of the trace."""

    whole: tuple[Row, ...]
    ratings: tuple[Row, ...]
    places: tuple[CommentedLines, ...]
    steps: tuple[Row, ...]
    totals: tuple[Row, ...] = field(default=())
    """What is said of the whole run where steps are judged: it stands below them."""

    @property
    def differences(self) -> int:
        rows = (*self.whole, *self.totals, *self.ratings, *self.steps)
        return sum(row.differs and not row.is_small for row in rows) + sum(place.differs for place in self.places)

    @property
    def is_the_same(self) -> bool:
        rows = (*self.whole, *self.totals, *self.ratings, *self.steps)
        return not any(row.differs for row in rows) and not any(place.differs for place in self.places)


def compare(
    annotations: Sequence[tuple[Mapping[str, Any], ProjectConfiguration]],
    files: Sequence[str],
    tolerance: int = TOLERANCE,
) -> Comparison:
    """The `annotations` of records, each with the configuration that it was made under; `files` are the paths of the
    trace in their order."""
    by_person = [list(opinions(result, configuration)) for result, configuration in annotations]
    number = len(by_person)
    order = {path: at for at, path in enumerate(files)}
    rows: dict[tuple[Any, ...], list[Cell]] = {}
    placed: dict[str, list[list[tuple[PlacedComment, Opinion]]]] = {}
    targets: dict[str, str] = {}
    for person, own in enumerate(by_person):
        general = Counter[tuple[str, str | None]]()
        for scheme, kind, opinion in own:
            targets[scheme.name] = kind.target
            if opinion.place is not None:
                comments = placed.setdefault(scheme.name, [[] for _ in range(number)])
                comments[person].append((opinion.place, opinion))
                continue
            number_there = 0
            if opinion.is_comment:
                # The first one on a file stands beside everybody's first one on it, and so on.
                general[scheme.name, opinion.file] += 1
                number_there = general[scheme.name, opinion.file]
            key = (scheme.name, opinion.title, opinion.file, opinion.step, number_there)
            cells = rows.setdefault(key, [Cell(at, None) for at in range(number)])
            cells[person] = _cell(person, opinion, scheme.name)
        if (why := unjudged_reason(*annotations[person])) is not None:
            # Of the whole trace: it belongs to no scheme, and stands where its first one does.
            said = Opinion(UNJUDGED, (Choice(KEY, UNJUDGED),), text=why)
            cells = rows.setdefault(("", UNJUDGED, None, None, 0), [Cell(at, None) for at in range(number)])
            cells[person] = _cell(person, said, "")
    made = [
        Row(title, _with_medians(cells), file, step, f"row-{at}", is_comment=bool(number_there))
        for at, ((_, title, file, step, number_there), cells) in enumerate(rows.items())
    ]
    scheme_of = {f"row-{at}": key[0] for at, key in enumerate(rows)}
    whole = [row for row in made if row.is_comment or (row.file is None and row.step is None)]
    is_of_steps = {name for name, target in targets.items() if target == "agentic_steps"}
    return Comparison(
        tuple(row for row in whole if scheme_of[row.anchor] not in is_of_steps),
        tuple(
            sorted(
                (row for row in made if row.file is not None and not row.is_comment),
                key=lambda row: order.get(row.file or "", len(order)),
            )
        ),
        tuple(_places(placed, order, number, tolerance)),
        tuple(sorted((row for row in made if row.step is not None), key=lambda row: row.step or 0)),
        tuple(row for row in whole if scheme_of[row.anchor] in is_of_steps),
    )


def signed(number: float) -> str:
    """As pages write scores: "+3.25", "+1.0", "0.0"."""
    size = f"{abs(number):.1f}" if float(number).is_integer() else f"{abs(number):g}"
    return f"{'+' if number > 0 else chr(0x2212) if number < 0 else ''}{size}"


def _cell(person: int, opinion: Opinion, scheme: str) -> Cell:
    return Cell(person, opinion, tuple(ShownChoice.of(choice, scheme) for choice in opinion.choices))


def _with_medians(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """The cells, of which those off the median of the numbers say so."""
    cells = tuple(cells)
    numbers = [cell.opinion.number for cell in cells if cell.opinion is not None and cell.opinion.number is not None]
    if len(numbers) < 3:
        return cells
    middle = median(numbers)
    return tuple(
        Cell(cell.person, cell.opinion, cell.choices, is_off=cell.opinion.number != middle)
        if cell.opinion is not None and cell.opinion.number is not None
        else cell
        for cell in cells
    )


def _places(
    placed: Mapping[str, Sequence[Sequence[tuple[PlacedComment, Opinion]]]],
    order: Mapping[str, int],
    number: int,
    tolerance: int,
) -> list[CommentedLines]:
    """The places by the library's rule of which comments mean the same one, in the order of the files and lines."""
    places: list[CommentedLines] = []
    for scheme, by_person in placed.items():
        people = {str(person): [place for place, _ in own] for person, own in enumerate(by_person)}
        for common in common_places(people, tolerance):
            there = {int(name): at for name, at in common.by_person.items()}
            comments = {person: by_person[person][at] for person, at in there.items()}
            cells = tuple(
                _cell(person, comments[person][1], scheme) if person in comments else Cell(person, None)
                for person in range(number)
            )
            lines = [place for place, _ in comments.values()]
            places.append(
                CommentedLines(
                    common.comment.file,
                    common.comment.side,
                    min(place.first for place in lines),
                    max(place.last for place in lines),
                    cells,
                    "",
                )
            )
    ordered = sorted(places, key=lambda place: (order.get(place.file, len(order)), place.file, place.last, place.first))
    return [
        CommentedLines(place.file, place.side, place.first, place.last, place.cells, f"place-{at}")
        for at, place in enumerate(ordered)
    ]
