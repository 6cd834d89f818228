"""What was expected of a practice task, beside one's own answer: at its lines, its file or its step."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assignments.summaries import ShownChoice
from gold.models import PracticeAttempt
from potato.configuration import ProjectConfiguration, UnreadablePinError
from potato.records.annotations import opinions
from potato.schemes.comparisons import ValueComparison
from potato.schemes.registry import scheme_types
from potato.wording import lines_in_words
from traces.evidence.excerpts import excerpts_by_file
from traces.evidence.fragments import DisplayOptions
from traces.evidence.judged_files import exact_paths
from traces.models import Trace, TraceFile
from traces.rendering.safe import SafeHtml

Part = Mapping[str, Any]


@dataclass(frozen=True)
class ShownComment:
    """A comment in words, with the lines that it is about."""

    choices: tuple[ShownChoice, ...]
    text: str
    lines: str


@dataclass(frozen=True)
class ShownPlace:
    """An expected comment and one's own there; one of them may be missing. `lines` are the lines of the place, None
    where the trace does not show them."""

    part: Part
    lines: SafeHtml | None
    expected: ShownComment | None
    own: ShownComment | None


@dataclass(frozen=True)
class ShownFile:
    path: str
    places: tuple[ShownPlace, ...]

    @property
    def found(self) -> int:
        return sum(place.part["outcome"] == "as_expected" for place in self.places)

    @property
    def to_look_at(self) -> int:
        return sum(place.part["outcome"] in ("missed", "in_part") for place in self.places)


@dataclass(frozen=True)
class ShownValue:
    """A value that was expected and one's own, of the whole, a file or a step. `points` are the scale of a rating, each
    with whether it is one's own and whether it is expected; empty for values that are no numbers."""

    part: Part
    expected: ShownChoice | None
    own: ShownChoice | None
    points: tuple[tuple[int, bool, bool], ...]
    step: int | None


@dataclass(frozen=True)
class ShownTotal:
    """How many parts of one question are as expected."""

    title: str
    met: int
    wanted: int


@dataclass(frozen=True)
class PracticeComparison:
    files: tuple[ShownFile, ...]
    values: tuple[tuple[str, tuple[ShownValue, ...]], ...]
    """By what was asked."""
    totals: tuple[ShownTotal, ...]


def compare_practice(attempt: PracticeAttempt) -> PracticeComparison:
    """The parts of the attempt with what both say in words."""
    said = {"expected": attempt.expected.annotations, "given": attempt.submission.result}
    return compare_parts(attempt.submission.assignment.trace, attempt.parts, said, _configuration(attempt))


def compare_parts(
    trace: Trace, parts: Sequence[Part], said: Mapping[str, Any], configuration: ProjectConfiguration | None
) -> PracticeComparison:
    """The parts of a score in words, with what was `said`: the annotations "expected" and "given"."""
    words = _Words(said, configuration)
    by_title: dict[str, list[ShownValue]] = {}
    for part in parts:
        if not _is_place(part):
            by_title.setdefault(str(part["title"]), []).append(words.value(part))
    return PracticeComparison(
        tuple(_files(trace, parts, words, configuration)),
        tuple((title, tuple(values)) for title, values in by_title.items()),
        tuple(_totals(parts)),
    )


class _Words:
    """The words of the configuration for values, and the comments of both results."""

    def __init__(self, said: Mapping[str, Any], configuration: ProjectConfiguration | None) -> None:
        self._comments: dict[str, dict[str, list[ShownComment]]] = {"expected": {}, "given": {}}
        self._choices: dict[tuple[str, str], ShownChoice] = {}
        self._scales: dict[tuple[str, str], Sequence[Any]] = {}
        self._steps: set[tuple[str, str]] = set()
        if configuration is None:
            return
        for side, result in said.items():
            self._read(side, result, configuration)
        for scheme in configuration.annotation_schemes:
            for comparison in scheme_types()[scheme.annotation_type].comparisons(scheme):
                if isinstance(comparison, ValueComparison):
                    self._scales[scheme.name, comparison.title] = comparison.scale
                    if comparison.by_position:
                        self._steps.add((scheme.name, comparison.title))

    def _read(self, side: str, result: Mapping[str, Any], configuration: ProjectConfiguration) -> None:
        try:
            said = list(opinions(result, configuration))
        except (AttributeError, KeyError, TypeError, ValueError):
            # An expected annotation may be a draft that lacks what every submission has.
            return
        for scheme, _, opinion in said:
            choices = tuple(ShownChoice.of(choice, scheme.name) for choice in opinion.choices)
            for choice, shown in zip(opinion.choices, choices, strict=True):
                self._choices[scheme.name, choice.value] = shown
            if opinion.place is not None:
                place = opinion.place
                lines = lines_in_words(place.first, place.last)
                old = "old " if place.side == "old" else ""
                comment = ShownComment(choices, opinion.text, f"{old}{lines}")
                self._comments[side].setdefault(scheme.name, []).append(comment)

    def comment(self, part: Part, side: str) -> ShownComment | None:
        at = part[f"{side}_at"]
        comments = self._comments[side].get(part["scheme"], [])
        return comments[at] if at is not None and at < len(comments) else None

    def value(self, part: Part) -> ShownValue:
        scheme, title = part["scheme"], part["title"]
        scale = self._scales.get((scheme, title), ())
        is_rating = bool(scale) and all(isinstance(point, int) for point in scale)
        points = tuple((point, point == part["given"], point == part["expected"]) for point in scale)
        step = part["unit"] if (scheme, title) in self._steps and isinstance(part["unit"], int) else None
        return ShownValue(
            part,
            self._choice(scheme, part["expected"]),
            self._choice(scheme, part["given"]),
            points if is_rating and step is None else (),
            step,
        )

    def _choice(self, scheme: str, value: Any) -> ShownChoice | None:
        if value is None:
            return None
        return self._choices.get((scheme, str(value))) or ShownChoice(str(value), None, "")


def _files(
    trace: Trace, parts: Sequence[Part], words: _Words, configuration: ProjectConfiguration | None
) -> Iterator[ShownFile]:
    by_file: dict[str, list[Part]] = {}
    for part in parts:
        if _is_place(part):
            by_file.setdefault(_place(part)["file"], []).append(part)
    if not by_file:
        return
    rows = list(TraceFile.objects.filter(trace=trace).order_by("index"))
    files = {path: row for row, path in zip(rows, exact_paths(rows), strict=True) if path in by_file}
    wanted = [
        (row, [(place["side"], place["first"], place["last"]) for place in map(_place, by_file[path])])
        for path, row in files.items()
    ]
    excerpts = excerpts_by_file(trace, wanted, DisplayOptions.of(configuration).diff("unified"))
    for path in [*files, *(path for path in by_file if path not in files)]:
        lines = excerpts[files[path].pk] if path in files else [None] * len(by_file[path])
        yield ShownFile(
            path,
            tuple(
                ShownPlace(part, shown, words.comment(part, "expected"), words.comment(part, "given"))
                for part, shown in zip(by_file[path], lines, strict=True)
            ),
        )


def _totals(parts: Sequence[Part]) -> Iterator[ShownTotal]:
    for title in dict.fromkeys(str(part["title"]) for part in parts):
        own = [part for part in parts if part["title"] == title and part["outcome"] != "extra"]
        if own:
            yield ShownTotal(title, sum(part["outcome"] == "as_expected" for part in own), len(own))


def _is_place(part: Part) -> bool:
    return any(isinstance(part[side], Mapping) for side in ("expected", "given"))


def _place(part: Part) -> Mapping[str, Any]:
    """Where it is shown: where it is expected, else where one commented."""
    place: Mapping[str, Any] = part["expected"] or part["given"]
    return place


def _configuration(attempt: PracticeAttempt) -> ProjectConfiguration | None:
    try:
        return attempt.submission.assignment.configuration()
    except UnreadablePinError:
        return None
