"""Fragments of safe HTML: made once from a body, stored compressed, handed out as they lie there."""

import gzip
from dataclasses import dataclass
from typing import Literal

from django.db.models import QuerySet

from accounts.configuration import ProjectConfiguration, pinned
from accounts.models import Project
from tenancy.prepared import prepared
from traces.models import Body, Fragment, TraceFile, TraceStep
from traces.records import change_from, step_from
from traces.rendering.diff import RENDER_VERSION, DiffOptions, expand, is_offered, render_views
from traces.rendering.parts import Part
from traces.rendering.steps import Display, StepOptions, render_step

View = Literal["unified", "split"]
VIEWS: tuple[View, ...] = ("unified", "split")


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


def configuration_of(project: Project) -> ProjectConfiguration | None:
    """What the project's newest published version says; None while nothing is published.

    Raises UnreadablePinError where that version does not load, as where a scheme type was uninstalled.
    """
    newest = project.newest_version()
    return pinned(newest.configuration) if newest else None


def render_trace_file(file: TraceFile, options: DisplayOptions, *views: View) -> None:
    """Make and store the file's fragments in these views, those that are not there."""
    missing = [one for one in map(options.diff, views) if not _is_there(file.sha256, one.key)]
    if missing:
        change = change_from(Body.objects.get(sha256=file.sha256).content)
        for one, rendered in zip(missing, render_views(change, missing), strict=True):
            _store(file.sha256, one.key, rendered.parts)


def render_trace_step(step: TraceStep, options: DisplayOptions) -> None:
    """Make and store the step's fragments, unless they are there."""
    step_options = options.step()
    if not _is_there(step.sha256, step_options.key):
        content = step_from(Body.objects.get(sha256=step.sha256).content)
        _store(step.sha256, step_options.key, render_step(content, step_options).parts)


def file_fragment(file: TraceFile, options: DisplayOptions, view: View, part: str) -> Fragment:
    """One part of a file's difference. Raises LookupError for a part that the file does not have.

    Hidden rows are made here, when somebody asks for them, and kept; so is a view with options of a later version.
    """
    diff_options = options.diff(view)
    render_trace_file(file, options, view)
    found = _fragment(file.sha256, diff_options.key, part)
    if found is None and part.startswith("rows-"):
        first, last = _rows(part)
        change = change_from(Body.objects.get(sha256=file.sha256).content)
        if not is_offered(change, first, last, diff_options):
            raise LookupError(f"No button of {file.path!r} shows {part}.")
        _store(file.sha256, diff_options.key, expand(change, first, last, diff_options))
        found = _fragment(file.sha256, diff_options.key, part)
    if found is None:
        raise LookupError(f"There is no part {part!r} of {file.path!r}.")
    return found


def step_fragment(step: TraceStep, options: DisplayOptions, part: str) -> Fragment:
    """One part of a step. Raises LookupError for a part that the step does not have."""
    render_trace_step(step, options)
    found = _fragment(step.sha256, options.step().key, part)
    if found is None:
        raise LookupError(f"There is no part {part!r} of step {step.index}.")
    return found


def rows_of_first_parts(hashes: set[str], view: str) -> dict[str, int]:
    """How many rows the first parts have, by the bodies' hashes; those that are not made yet are left out."""
    return dict(_rows_of_first.rows(sorted(hashes), view))


def first_parts(hashes: set[str], view: str) -> dict[str, Fragment]:
    """The first parts by the bodies' hashes; those that are not made yet are left out."""
    return {fragment.sha256: fragment for fragment in _first.rows(sorted(hashes), view)}


@prepared
def _first(hashes: list[str], view: str) -> "QuerySet[Fragment]":
    return Fragment.objects.filter(sha256__any_of=hashes, render_version=RENDER_VERSION, view=view, part="0")


@prepared
def _rows_of_first(hashes: list[str], view: str) -> "QuerySet[Fragment, tuple[str, int]]":
    first = Fragment.objects.filter(sha256__any_of=hashes, render_version=RENDER_VERSION, view=view, part="0")
    return first.values_list("sha256", "rows")


def _rows(part: str) -> tuple[int, int]:
    first, _, last = part.removeprefix("rows-").partition("-")
    if not (first.isdecimal() and last.isdecimal() and len(part) < 40):
        raise LookupError(f"{part!r} names no rows.")
    return int(first), int(last)


def _fragment(sha256: str, view: str, part: str) -> Fragment | None:
    return Fragment.objects.filter(sha256=sha256, render_version=RENDER_VERSION, view=view, part=part).first()


def _is_there(sha256: str, view: str) -> bool:
    return Fragment.objects.filter(sha256=sha256, render_version=RENDER_VERSION, view=view, part="0").exists()


def _store(sha256: str, view: str, parts: "tuple[Part, ...]") -> None:
    """Two who render the same at once write the same; the second changes nothing."""
    Fragment.objects.bulk_create(
        (
            Fragment(
                sha256=sha256,
                render_version=RENDER_VERSION,
                view=view,
                part=part.key,
                rows=part.rows,
                nodes=part.nodes,
                gzipped=gzip.compress(part.html.encode("utf-8"), 6, mtime=0),
            )
            for part in parts
        ),
        batch_size=50,
        ignore_conflicts=True,
    )
