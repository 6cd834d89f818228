"""Fragments of safe HTML: made once from a body, stored compressed, handed out as they lie there."""

import gzip
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, TypeVar

from django.db.models import QuerySet

from accounts.models import Project
from potato.configuration import ProjectConfiguration, pinned
from potato.runs.exact_json import change_from, step_from
from tenancy.bulk_insert import insert_many
from tenancy.models import new_id
from tenancy.prepared import prepared
from traces.contents import keep_contents
from traces.evidence.base_files import NO_BASES, Bases
from traces.models import Body, Fragment, TraceFile, TraceStep
from traces.rendering.diff import (
    EXPANDED,
    RENDER_VERSION,
    ROWS_EXPANDED,
    DiffOptions,
    HiddenPart,
    expand,
    is_offered,
    render_views,
)
from traces.rendering.parts import Part
from traces.rendering.steps import Display, StepOptions, render_step

View = Literal["unified", "split"]
VIEWS: tuple[View, ...] = ("unified", "split")
BODIES_AT_ONCE = 8


@dataclass(frozen=True)
class DisplayOptions:
    """How diffs and steps are shown: the view that pages open with, and what goes into every fragment's key. All but
    `hides_whitespace`, a reader's choice, is the project's."""

    view: View = "unified"
    context: int = 5
    syntax_highlight: bool = True
    hides_whitespace: bool = False
    display: Display = "coding_trace"

    @classmethod
    def of(cls, configuration: ProjectConfiguration | None) -> "DisplayOptions":
        if configuration is None:
            return cls()
        display = configuration.agentic.coding_trace_display
        return cls(
            display.diff_style,
            display.diff_context_lines,
            display.syntax_highlight,
            display=configuration.agentic.display_type,
        )

    def diff(self, view: View | None = None) -> DiffOptions:
        return DiffOptions(view or self.view, self.context, self.syntax_highlight, self.hides_whitespace)

    def step(self) -> StepOptions:
        return StepOptions(self.syntax_highlight, self.display)


def published_configuration(project: Project) -> ProjectConfiguration | None:
    """What the project's newest published version says; None while nothing is published.

    Raises UnreadablePinError where that version does not load, as where a scheme type was uninstalled.
    """
    newest = project.newest_version()
    return pinned(newest.configuration) if newest else None


@dataclass
class Making:
    """Fragments that are made now, and stored together when all are made.

    Two who make the same at once make the same. They are stored late and in one order, so that nobody waits long for a
    row that another transaction is about to write, nor two for each other.
    """

    options: DisplayOptions
    hashes: set[str] = field(default_factory=set)
    """Of the bodies whose fragments were made."""
    size: int = 0
    """How many bytes wait to be stored."""
    made: list[Fragment] = field(default_factory=list)
    """Those that wait."""

    def files(self, files: Iterable[TraceFile], bases: Bases = NO_BASES) -> Iterator[TraceFile]:
        """Make the fragments of files, in every view, as they are gone through: a file is lexed once for all."""
        options = [self.options.diff(view) for view in VIEWS]
        for file, content in _with_bodies(files):
            change, remark = bases.completed(file.sha256, change_from(content))
            for view, rendered in zip(options, render_views(change, options, remark), strict=True):
                self.add(file.sha256, bases.key(view, file.sha256), rendered.parts)
            yield file

    def steps(self, steps: Iterable[TraceStep]) -> Iterator[TraceStep]:
        """Make the fragments of steps as they are gone through."""
        options = self.options.step()
        for step, content in _with_bodies(steps):
            self.add(step.sha256, options.key, render_step(step_from(content), options).parts)
            yield step

    def first_parts(self, views: Mapping[str, str]) -> dict[str, Fragment]:
        """Those that were made, by the bodies' hashes; `views` are their keys by the same."""
        return {
            fragment.sha256: fragment
            for fragment in self.made
            if fragment.part == "0" and views.get(fragment.sha256) == fragment.view
        }

    def store(self) -> None:
        """Store what was made; left out is what was made of a content that was removed meanwhile."""
        if not self.made:
            return
        names = ("sha256", "render_version", "view", "part", "rows", "nodes", "gzipped")
        keep_contents()
        there = _there({fragment.sha256 for fragment in self.made})
        kept = (fragment for fragment in self.made if fragment.sha256 in there)
        made = sorted(kept, key=lambda fragment: (fragment.sha256, fragment.view, fragment.part))
        rows = ({"id": str(new_id()), **{name: getattr(fragment, name) for name in names}} for fragment in made)
        insert_many(Fragment, rows, ignore_conflicts=True)
        self.made, self.size = [], 0

    def add(self, sha256: str, view: str, parts: "tuple[Part, ...]") -> None:
        self.hashes.add(sha256)
        for part in parts:
            gzipped = gzip.compress(part.html.encode("utf-8"), 6, mtime=0)
            self.size += len(gzipped)
            self.made.append(
                Fragment(
                    sha256=sha256,
                    render_version=RENDER_VERSION,
                    view=view,
                    part=part.key,
                    rows=part.rows,
                    nodes=part.nodes,
                    gzipped=gzipped,
                )
            )


def _there(hashes: set[str]) -> set[str]:
    """Those of the hashes that are of a content of the organisation."""
    return set(Body.objects.filter(sha256__any_of=sorted(hashes)).values_list("sha256", flat=True)) if hashes else set()


Rendered = TypeVar("Rendered", TraceFile, TraceStep)


def _with_bodies(pieces: Iterable[Rendered]) -> Iterator[tuple[Rendered, Any]]:
    """Each of the pieces with its content, a few at a time, and those of one content once."""
    left = iter({piece.sha256: piece for piece in pieces}.values())
    while some := {piece.sha256: piece for piece in islice(left, BODIES_AT_ONCE)}:
        bodies = {body.sha256: body for body in _bodies.rows(list(some))}
        for sha256, piece in some.items():
            yield piece, bodies[sha256].content


@prepared
def _bodies(hashes: list[str]) -> "QuerySet[Body]":
    return Body.objects.filter(sha256__any_of=hashes)


def render_files(files: Iterable[TraceFile], options: DisplayOptions, bases: Bases = NO_BASES) -> None:
    """Make and store the files' fragments in every view."""
    making = Making(options)
    for _ in making.files(files, bases):
        pass
    making.store()


def render_steps(steps: Iterable[TraceStep], options: DisplayOptions) -> None:
    """Make and store the steps' fragments."""
    making = Making(options)
    for _ in making.steps(steps):
        pass
    making.store()


def hashes_there(views: Mapping[str, str]) -> set[str]:
    """Of these bodies those whose fragments are there with these keys."""
    return set(rows_of_first_parts(views))


def file_fragment(file: TraceFile, options: DisplayOptions, view: View, part: str, bases: Bases = NO_BASES) -> Fragment:
    """One part of a file's difference. Raises LookupError for a part that the file does not have.

    Hidden rows are made here, when somebody asks for them, and kept but for a few of many; so is a view with options of
    a later version.
    """
    diff_options = options.diff(view)
    key = bases.key(diff_options, file.sha256)
    fragment = _fragment(file.sha256, key, part)
    if fragment is None and not hashes_there({file.sha256: key}):
        render_files([file], options, bases)
        fragment = _fragment(file.sha256, key, part)
    if fragment is None and part.startswith(EXPANDED):
        asked = HiddenPart.named(part)
        change, _ = bases.completed(file.sha256, change_from(Body.objects.get(sha256=file.sha256).content))
        if not is_offered(change, asked.first, asked.last, diff_options):
            raise LookupError(f"No button of {file.path!r} shows {part}.")
        making = Making(options)
        parts = expand(change, asked.first, asked.last, diff_options, asked.piece)
        if asked.piece != "rows" or not is_offered(change, asked.first, asked.last, diff_options, step=ROWS_EXPANDED):
            # A fold is opened from both ends in very many ways: these are not kept, but for the rests of long lines.
            making.add(file.sha256, key, parts[1:])
            making.store()
            making.add(file.sha256, key, parts[:1])
            return making.made[0]
        making.add(file.sha256, key, parts)
        making.store()
        fragment = _fragment(file.sha256, key, part)
    if fragment is None:
        raise LookupError(f"There is no part {part!r} of {file.path!r}.")
    return fragment


def step_fragment(step: TraceStep, options: DisplayOptions, part: str) -> Fragment:
    """One part of a step. Raises LookupError for a part that the step does not have."""
    key = options.step().key
    fragment = _fragment(step.sha256, key, part)
    if fragment is None and not hashes_there({step.sha256: key}):
        render_steps([step], options)
        fragment = _fragment(step.sha256, key, part)
    if fragment is None:
        raise LookupError(f"There is no part {part!r} of step {step.index}.")
    return fragment


def rows_of_first_parts(views: Mapping[str, str]) -> dict[str, int]:
    """How many rows the first parts have, by the bodies' hashes; those that are not made yet are left out. `views` are
    the keys of the fragments by the same."""
    found = _rows_of_first.rows(sorted(views), sorted({*views.values()}))
    return {sha256: rows for sha256, view, rows in found if views[sha256] == view}


def first_parts(views: Mapping[str, str]) -> dict[str, Fragment]:
    """The first parts by the bodies' hashes; those that are not made yet are left out. `views` as above."""
    found = _first.rows(sorted(views), sorted({*views.values()}))
    return {fragment.sha256: fragment for fragment in found if views[fragment.sha256] == fragment.view}


@prepared
def _first(hashes: list[str], views: list[str]) -> "QuerySet[Fragment]":
    return Fragment.objects.filter(sha256__any_of=hashes, render_version=RENDER_VERSION, view__any_of=views, part="0")


@prepared
def _rows_of_first(hashes: list[str], views: list[str]) -> "QuerySet[Fragment, tuple[str, str, int]]":
    first = Fragment.objects.filter(sha256__any_of=hashes, render_version=RENDER_VERSION, view__any_of=views, part="0")
    return first.values_list("sha256", "view", "rows")


def _fragment(sha256: str, view: str, part: str) -> Fragment | None:
    return Fragment.objects.filter(sha256=sha256, render_version=RENDER_VERSION, view=view, part=part).first()
