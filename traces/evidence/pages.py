"""What the two evidence pages show of a trace: its files and steps, and which of them stand in the response itself.

The first pieces are in the response, within a bound of rows and nodes; all others are addresses of fragments. A trace
with very many files or steps is shown on several pages, so that no page grows without bound.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, repeat
from posixpath import basename, dirname
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse

from tenancy.prepared import prepared
from traces.evidence.base_files import BaseCommit, Bases, bases_of
from traces.evidence.fragments import DisplayOptions, Making, View, first_parts, rows_of_first_parts
from traces.evidence.line_links import WrittenLines, written_by_step
from traces.evidence.search import FoundSteps, steps_saying
from traces.models import Fragment, Trace, TraceFile, TraceStep
from traces.models.traces import Operation
from traces.rendering.diff import NODES_IN_PART, RENDER_VERSION
from traces.rendering.dividers import ShownDivider, shown_dividers
from traces.rendering.parts import nodes_in
from traces.rendering.safe import SafeHtml, trusted
from traces.rendering.steps import Display

ROWS_AT_ONCE = 1_000
NODES_AT_ONCE = 18_000
FILES_ON_A_PAGE = 150
STEPS_ON_A_PAGE = 500
STEPS_AT_ONCE = 10
NOISE_IN_A_ROW = 3
"""So many steps that only look around, one after another, get a heading."""
LINES_RENDERED_AT_ONCE = 2_000
"""A file with more changed lines, whose fragments are not made yet, does not hold the page up: it is loaded later."""

_LOOKS = {
    "added": ("file-plus", "added"),
    "modified": ("file-pen", "modified"),
    "deleted": ("file-minus", "deleted"),
    "renamed": ("corner-down-right", "a"),
    "copied": ("copy", "a"),
    "unchanged": ("eye", "neutral"),
}
_OPERATIONS = {operation.value: operation.label for operation in Operation}
_STEP_ICONS = {
    "command": "terminal",
    "read": "file-text",
    "edit": "pencil",
    "write": "file-plus",
    "search": "search",
    "web": "globe",
    "plan": "list-todo",
    "agent": "bot",
    "message": "message-square",
}
_NOISE = {"read": ("read", "reads"), "search": ("search", "searches"), "command": ("command", "commands")}
_TOOK = {"input_tokens": "{:,} tokens in", "output_tokens": "{:,} out", "seconds": "{:,.1f} s"}
_BRIEF = ("read", "search", "plan")
# On a task with what its modules add: marks, the rating of a file before it comes near.
_NODES_AROUND_A_FILE = 64
_NODES_AROUND_A_STEP = 33

Address = Callable[[int, str, str], str]
"""Where the first part of a file or step is, by its index, its body's hash and the key of the options."""


def addresses(route: str, *where: object) -> Address:
    """The addresses of fragments behind a route whose first arguments are `where`."""

    # Looked up once: it takes as long as all else that a page needs of a file.
    pattern = reverse(route, args=[*where, 0, "hash", RENDER_VERSION, "key", "0"])
    start, end = pattern.split(f"0/hash/{RENDER_VERSION}/key/")

    def address(index: int, sha256: str, key: str) -> str:
        return f"{start}{index}/{sha256}/{RENDER_VERSION}/{key}/{end}"

    return address


@dataclass(frozen=True)
class Pages:
    """Where a list of all files or steps is cut. Counted from 1."""

    number: int
    total: int
    first: int
    last: int
    count: int

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        return self.number + 1 if self.number < self.total else None

    @classmethod
    def around(cls, position: int, count: int, size: int) -> "Pages":
        """The page with this position, counted from 0."""
        number = min(max(position, 0), max(count - 1, 0)) // size + 1
        return cls(number, max(1, -(-count // size)), (number - 1) * size + 1, min(number * size, count), count)


@dataclass(frozen=True)
class Piece:
    """A file's or step's first part: its address, its HTML where it is in the response, its rows, 0 if not known."""

    src: str
    rows: int
    html: SafeHtml | None
    is_asked_for: bool = False

    @property
    def base(self) -> str:
        """The folder in which the other parts lie."""
        return self.src.removesuffix("0.html")


@dataclass(frozen=True)
class ShownFile:
    """A file as the page shows it: `icon` and `tone` go with the word for what was done to it. `has_links`: its lines
    name the steps that wrote them."""

    file: TraceFile
    piece: Piece
    has_links: bool = False

    @property
    def icon(self) -> str:
        return _LOOKS[self.file.operation][0]

    @property
    def tone(self) -> str:
        return _LOOKS[self.file.operation][1]

    @property
    def operation(self) -> str:
        return str(_OPERATIONS[self.file.operation])

    @property
    def folder(self) -> str:
        return dirname(self.file.path)

    @property
    def name(self) -> str:
        return basename(self.file.path) or self.file.path

    @property
    def is_unchanged(self) -> bool:
        return self.file.operation == Operation.UNCHANGED

    @property
    def is_closed(self) -> bool:
        return self.is_unchanged and not self.piece.is_asked_for


@dataclass(frozen=True)
class ShownStep:
    """`written` is what the step left in the files. `names` are the model and the agent where they change, for readers
    who may know them."""

    step: TraceStep
    piece: Piece
    written: Sequence[WrittenLines] = ()
    names: Sequence[str] = ()

    @property
    def took(self) -> str:
        """What the step took, as far as the trace says, in few words."""
        usage = self.step.usage
        return ", ".join(words.format(usage[name]) for name, words in _TOOK.items() if name in usage)

    @property
    def icon(self) -> str:
        return _STEP_ICONS.get(self.step.kind, "wrench")

    @property
    def dividers(self) -> list[ShownDivider]:
        """What happened to the conversation before the step."""
        return shown_dividers(self.step.dividers)

    @property
    def is_brief(self) -> bool:
        """The agent only looked at something, and it went well: its title says enough until somebody wants more."""
        return self.step.kind in _BRIEF and not self.step.is_error and not self.piece.is_asked_for

    @property
    def hint(self) -> str:
        """What tells the step from others of its title, in the little room of the rail."""
        detail = self.step.detail
        return detail.rpartition("/")[2] if self.step.kind in ("read", "edit", "write") else detail


@dataclass(frozen=True)
class StepGroup:
    """Steps under one heading: a row of such that only looked around; or any step alone, without a heading."""

    steps: list[ShownStep]
    heading: str = ""

    @property
    def dividers(self) -> list[ShownDivider]:
        """What stands before the group: no step within it has any."""
        return self.steps[0].dividers


@dataclass(frozen=True)
class Folder:
    """Files that stand together in the tree, and in the same order on the page."""

    path: str
    files: list[ShownFile]


@dataclass(frozen=True)
class FilesPage:
    view: View
    pages: Pages
    changed: list[ShownFile]
    unchanged: list[ShownFile]
    files: list[TraceFile]
    """Of all pages, in their order."""
    counts: list[tuple[str, int]]
    """Operations in words with the number of files, of all pages."""
    base: BaseCommit | None = None
    """The commit that the run began from, where its repository is attached."""

    @property
    def folders(self) -> list[Folder]:
        return _folders(self.changed)

    @property
    def unchanged_folders(self) -> list[Folder]:
        return _folders(self.unchanged)


@dataclass(frozen=True)
class StepsPage:
    """`found` is None where nothing was searched for; else only the steps in it are shown. `files` are those of the
    trace in their order, where the steps say what they left in them, else None."""

    pages: Pages
    steps: list[ShownStep]
    errors: int
    found: FoundSteps | None = None
    display: Display = "coding_trace"
    files: list[TraceFile] | None = None

    @property
    def groups(self) -> list[StepGroup]:
        """The steps in their order. What was searched for stands under no heading, which might hide it."""
        return [StepGroup([shown]) for shown in self.steps] if self.found else _groups(self.steps)

    @property
    def has_pictures(self) -> bool:
        return any(shown.step.has_pictures for shown in self.steps)

    @property
    def has_filmstrip(self) -> bool:
        """Whether the screenshots stand above the steps as a filmstrip."""
        return self.display == "web_agent" and any(shown.step.picture for shown in self.steps)


def files_page(
    trace: Trace,
    options: DisplayOptions,
    view: View,
    address: Address,
    *,
    wanted: int | None,
    page: int,
    with_links: bool = False,
) -> FilesPage:
    """Changed files by folder and name, then those that were only read.

    `wanted` is the index of a file that is asked for: its page is chosen, and it is the first in the response.
    Where it is None, or names no file, `page` counts.
    """
    files = in_order(files_in_trace.rows(trace.pk))
    position = next((at for at, file in enumerate(files) if file.index == wanted), None)
    asked_file = files[position] if position is not None else None
    pages = Pages.around((page - 1) * FILES_ON_A_PAGE if position is None else position, len(files), FILES_ON_A_PAGE)
    page_files = files[pages.first - 1 : pages.last]
    bases = bases_of(trace, page_files)
    keys = {file.sha256: bases.key(options.diff(view), file.sha256) for file in page_files}
    rows = rows_of_first_parts(keys)
    inline = _inline_files(page_files, asked_file, rows, options, keys, bases)
    shown = [
        ShownFile(
            file,
            Piece(
                address(file.index, file.sha256, keys[file.sha256]),
                rows.get(file.sha256, 0),
                inline.get(file.index),
                is_asked_for=file is asked_file,
            ),
            # Where nothing is known of any line the page has nothing to tell, and needs no script for it.
            has_links=with_links and any(file.links for file in page_files),
        )
        for file in page_files
    ]
    counts = [
        (operation.label.lower(), number)
        for operation in Operation
        if operation != Operation.UNCHANGED and (number := sum(file.operation == operation for file in files))
    ]
    return FilesPage(
        view=view,
        pages=pages,
        changed=[file for file in shown if not file.is_unchanged],
        unchanged=[file for file in shown if file.is_unchanged],
        files=files,
        counts=counts,
        base=bases.commit,
    )


def steps_page(
    trace: Trace,
    options: DisplayOptions,
    address: Address,
    *,
    wanted: int | None,
    page: int,
    words: str = "",
    with_links: bool = False,
    with_names: bool = False,
) -> StepsPage:
    """Steps in their order, with words those that say them: the page that has the wanted step, or page `page`."""
    matches = steps_saying(trace, words) if words else None
    steps = trace.steps.filter(index__in=matches.indexes) if matches else trace.steps.all()
    count = len(matches.indexes) if matches else trace.steps_count
    position = (page - 1) * STEPS_ON_A_PAGE if wanted is None or matches else wanted
    pages = Pages.around(position, count, STEPS_ON_A_PAGE)
    here = list(steps[pages.first - 1 : pages.last])
    at = next((at for at, step in enumerate(here) if step.index == wanted), 0)
    key = options.step().key
    first = here[at : at + STEPS_AT_ONCE]
    parts = first_parts(dict.fromkeys((step.sha256 for step in first), key))
    making = Making(options)
    for _ in making.steps(step for step in first if step.sha256 not in parts):
        pass
    parts |= making.first_parts(dict.fromkeys((step.sha256 for step in first), key))
    making.store()
    bound = NODES_AT_ONCE - _NODES_AROUND_A_STEP * len(here)
    inline = dict(_within_nodes([(step.index, parts[step.sha256]) for step in first], bound))
    rows = rows_of_first_parts(dict.fromkeys((step.sha256 for step in here), key))
    files = in_order(files_in_trace.rows(trace.pk)) if with_links and trace.files_count else None
    written = written_by_step(files or ())
    return StepsPage(
        pages=pages,
        steps=[
            ShownStep(
                step,
                Piece(
                    address(step.index, step.sha256, key),
                    rows.get(step.sha256, 0),
                    inline.get(step.index),
                    is_asked_for=step.index == wanted,
                ),
                written.get(step.index, ()),
                names,
            )
            for step, names in zip(here, _names(trace, here) if with_names else repeat(()), strict=False)
        ],
        errors=trace.error_steps,
        found=matches,
        display=options.display,
        files=files,
    )


def _names(trace: Trace, steps: Iterable[TraceStep]) -> Iterator[list[str]]:
    """For each step its model and agent where they change: against the step before, the first against the trace."""
    before = (trace.agent_model, trace.agent)
    for step in steps:
        now = (step.model or trace.agent_model, step.agent or trace.agent)
        yield [name for name, was in zip(now, before, strict=True) if name != was]
        before = now


def listed_files(trace: Trace, page: FilesPage | StepsPage | None) -> list[TraceFile]:
    """All files of the trace in their order: those that the page has read, if it has."""
    files = page.files if page else None
    return in_order(files_in_trace.rows(trace.pk)) if files is None else files


@prepared
def files_in_trace(trace: UUID) -> "QuerySet[TraceFile]":
    """All files of a trace, in no order."""
    return TraceFile.objects.filter(trace=trace).order_by()


def _groups(steps: Sequence[ShownStep]) -> list[StepGroup]:
    """Rows of noise together, if they are long enough that a heading is shorter. No step changes its place, and no
    heading hides a divider."""
    groups: list[StepGroup] = []
    for (is_noise, _), row in groupby(steps, key=_RowOf()):
        together = list(row)
        if is_noise and len(together) >= NOISE_IN_A_ROW:
            groups.append(StepGroup(together, _heading(together)))
        else:
            groups += [StepGroup([shown]) for shown in together]
    return groups


class _RowOf:
    """Whether a step is noise, and how many dividers stand before it."""

    def __init__(self) -> None:
        self._dividers = 0

    def __call__(self, shown: ShownStep) -> tuple[bool, int]:
        self._dividers += bool(shown.step.dividers)
        return shown.step.is_noise and not shown.piece.is_asked_for, self._dividers


def _heading(steps: Sequence[ShownStep]) -> str:
    """What was done how often, and where: "4 reads, 1 search, steps 3 to 7"."""
    counted = Counter(_NOISE.get(shown.step.kind, ("look around", "looks around")) for shown in steps)
    done = ", ".join(f"{number} {words[number > 1]}" for words, number in counted.items())
    return f"{done}, steps {steps[0].step.index} to {steps[-1].step.index}"


def in_order(files: Iterable[TraceFile]) -> list[TraceFile]:
    """Changed files by folder and name, then those that were only read."""
    return sorted(files, key=_place)


def _place(file: TraceFile) -> tuple[bool, str, str, int]:
    return file.operation == Operation.UNCHANGED, dirname(file.path), basename(file.path), file.index


def _folders(files: Sequence[ShownFile]) -> list[Folder]:
    folders: list[Folder] = []
    for file in files:
        if not folders or folders[-1].path != file.folder:
            folders.append(Folder(file.folder, []))
        folders[-1].files.append(file)
    return folders


def _inline_files(
    files: Sequence[TraceFile],
    first_file: TraceFile | None,
    rows: dict[str, int],
    options: DisplayOptions,
    keys: dict[str, str],
    bases: Bases,
) -> dict[int, SafeHtml]:
    """First parts by the files' index: from the file that is asked for on, as far as rows and nodes allow.

    Parts that are not made yet are made, and `rows` is told. `keys` are those of the fragments by the bodies' hashes.
    """
    making = Making(options)
    wanted = [
        file for file in files[files.index(first_file) if first_file else 0 :] if _is_shown(file) or file is first_file
    ]
    unmade = [file for file in wanted if file.sha256 not in rows]
    make = making.files((file for file in unmade if file is wanted[0] or not _is_long(file)), bases)
    chosen: list[TraceFile] = []
    lines = 0
    for file in wanted:
        if file.sha256 not in rows:
            if chosen and _is_long(file):
                continue
            next(make)
            rows[file.sha256] = making.first_parts(keys)[file.sha256].rows
        lines += rows[file.sha256]
        if chosen and lines > ROWS_AT_ONCE:
            break
        chosen.append(file)
    made = making.first_parts(keys)
    making.store()
    parts = made | first_parts({file.sha256: keys[file.sha256] for file in chosen if file.sha256 not in made})
    bound = NODES_AT_ONCE - _NODES_AROUND_A_FILE * len(files)
    return dict(_within_nodes([(file.index, parts[file.sha256]) for file in chosen], bound))


def _is_shown(file: TraceFile) -> bool:
    return file.operation != Operation.UNCHANGED


def _is_long(file: TraceFile) -> bool:
    return file.added + file.removed > LINES_RENDERED_AT_ONCE


def _within_nodes(parts: Sequence[tuple[int, Fragment]], bound: int) -> Iterator[tuple[int, SafeHtml]]:
    """The parts up to the first that goes over the bound of nodes, in any case the first of all."""
    nodes = 0
    for number, (index, fragment) in enumerate(parts):
        html = fragment.html
        nodes += fragment.nodes or nodes_in(html)
        if number and nodes > min(bound, NODES_IN_PART):
            return
        yield index, trusted(html)
