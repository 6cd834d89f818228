"""An agent's run as every converter hands it on. Pure data: nothing here reads, checks or shows anything.

Texts are kept as they came, NUL and lone surrogates included; who stores or shows them decides how.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from potato.runs.named_keys import NamedKeys

JSON: TypeAlias = Any  # What json.loads returns; a recursive type would be in every reader's way.


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, with what came back.

    `result` is None for a call that was never answered. A part of a result that is not text stands in it as a
    line that names it: "[image/png, 48213 bytes]". `refused`: a person did not let the agent do it, so that nothing
    happened and nothing failed. `pictures` are those of the result, in the order of their lines.
    """

    id: str
    name: str
    arguments: JSON
    result: str | None = None
    is_error: bool = False
    refused: bool = False
    pictures: "tuple[Screenshot, ...]" = ()


@dataclass(frozen=True, slots=True)
class Screenshot:
    """A picture: what the agent saw before it acted, or what a tool gave back.

    `name` is the picture's name in the trace. `data` are its bytes where the trace itself holds them; the import stores
    the picture and hands on its hash `sha256` instead. Where it has none, `problem` says why the picture cannot be
    shown. `width` and `height` are those of the picture as it came, in whose pixels clicks and boxes are told.
    """

    name: str = ""
    data: bytes = field(default=b"", repr=False)
    sha256: str = ""
    width: int = 0
    height: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one step took, as far as the trace says; None where it does not.

    `input_tokens` are those that the model read, with `cached_tokens`, which were read from a cache; `output_tokens`
    those that it wrote, hidden thoughts included. `seconds` is how long the step took, its tools where the trace has
    one figure for both.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    seconds: float | None = None

    def __bool__(self) -> bool:
        return self != NO_USAGE

    def __add__(self, other: "Usage") -> "Usage":
        """Both together; what only one of them says stands."""
        return Usage(*(_sum(getattr(self, name), getattr(other, name)) for name in Usage.__slots__))


NO_USAGE = Usage()


def _sum(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    # Milliseconds, which sums of binary fractions are not.
    return round(one + other, 3) if isinstance(one + other, float) else one + other


Divider: TypeAlias = Literal["compacted", "plan_accepted", "restarted", "interrupted"]
"""What happened to the conversation between two steps."""


@dataclass(frozen=True, slots=True)
class Step:
    """One ratable act of the agent: a message with its tool calls and their results. Never the user's prompt.

    `message` is the agent's visible text (Markdown), `thought` its hidden reasoning; either may be empty.
    `at` is an ISO 8601 timestamp, or "" where the trace has none. `prompt` is what the user said since the step
    before: evidence to read the step by, never a part of what is rated; the first prompt is the run's task. `after` is
    what the user said when no step followed any more, `dividers` what happened between the step before and this one.
    `agents` are the agents that a call of this step started: what they did is evidence for that call, and no step of
    this run, so that a step has the same index whether or not their transcripts are there.
    `prompt_pictures` are those that the user put into the prompt; with the first step also those of the task, and
    `after_pictures` those that came when no step followed any more.
    `model` is the model that wrote it and `agent` the agent that acted, each only where it is another than the run's.
    `usage` is what the step took.
    Of an agent that sees pages, `url` is the page's address, `click` a point (x, y) and `box` an element
    (x, y, width, height) on its screenshot.
    """

    message: str = ""
    thought: str = ""
    calls: tuple[ToolCall, ...] = ()
    at: str = ""
    prompt: str = ""
    url: str = ""
    screenshot: Screenshot | None = None
    click: tuple[float, float] | None = None
    box: tuple[float, float, float, float] | None = None
    dividers: tuple[Divider, ...] = ()
    after: str = ""
    agents: "tuple[SubAgent, ...]" = ()
    model: str = ""
    agent: str = ""
    usage: Usage = NO_USAGE
    prompt_pictures: tuple[Screenshot, ...] = ()
    after_pictures: tuple[Screenshot, ...] = ()


@dataclass(frozen=True, slots=True)
class SubAgent:
    """An agent that works for another one: its name, the call that started it, what it was told, and its steps.

    `call_id` is "" where the trace does not say which call it was.
    """

    name: str
    call_id: str = ""
    task: str = ""
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines that follow one another in a file, from line `first` (from 1) on, without their ends."""

    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileRead:
    """The agent read a file. `text` is the whole file, or None where only a part or nothing of it is known; then
    `excerpts` are the parts of which the trace says where they stand."""

    path: str
    text: str | None = None
    excerpts: tuple[Excerpt, ...] = ()


@dataclass(frozen=True, slots=True)
class FileEdit:
    """The agent replaced `old` by `new` in a file, once or wherever it stands.

    `original` is the whole file before this edit where the trace has it. `line` is for an insertion, whose `old` is
    empty: the new text follows that line, 0 being the file's beginning. `takes_line_end`: a line end that follows the
    old text goes with it, wherever one does. `shown` are lines around the edit as they stood
    after it, where the tool showed them with their numbers.
    """

    path: str
    old: str
    new: str
    replace_all: bool = False
    original: str | None = None
    line: int | None = None
    shown: tuple[Excerpt, ...] = ()
    takes_line_end: bool = False

    def old_in(self, text: str) -> str:
        """The text that goes, as it stands in this text of the file."""
        return f"{self.old}\n" if self.takes_line_end and f"{self.old}\n" in text else self.old


@dataclass(frozen=True, slots=True)
class FileWrite:
    """The agent wrote a whole file. `original` is the file before, None where unknown; `created`: there was none.

    `is_shared`: others wrote at the same time, and it may be theirs.
    """

    path: str
    text: str
    original: str | None = None
    created: bool | None = None
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The agent applied edit blocks or a patch fragment to a file, whose base text the trace does not have.

    `hunks` are pairs of (old lines, new lines) without line numbers. `starts` has for each hunk the line, from 1, at
    which it begins in the file before, where the trace says so; else it is empty. `is_shared`: others wrote at the same
    time, so that it may be theirs, and may be recorded in another event too.
    """

    path: str
    hunks: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    operation: Literal["added", "modified", "deleted"] = "modified"
    moved_to: str = ""
    starts: tuple[int, ...] = ()
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """The trace states what became of a file in the whole run: its text before and after.

    `old_text` is None where there was no file (added) or its text is unknown, `new_text` likewise (deleted).
    """

    path: str
    operation: Literal["added", "modified", "deleted", "renamed"]
    old_path: str = ""
    old_text: str | None = None
    new_text: str | None = None


@dataclass(frozen=True, slots=True)
class FileTouched:
    """Something changed a file, or may have where `is_certain` is false, and the trace does not say how.

    `by` names it as the beginning of a sentence: "The command `make format`". Where later acts show that the file is
    as it was, an uncertain one meant nothing.
    """

    path: str
    by: str
    is_certain: bool = False


FileEvent: TypeAlias = FileRead | FileEdit | FileWrite | FilePatch | FileOutcome | FileTouched


@dataclass(frozen=True, slots=True)
class AgentRun:
    """One run, in the order in which it happened.

    `external_id` and `task` may be empty: the import says so, it invents nothing. `patch` is the change set that the
    trace itself states as its outcome, as bytes because patches have no encoding; where it is there, it is the truth
    about the files. `folder` is the absolute working folder by which paths of `events` are made relative.
    `event_steps[i]` is the index of the step that caused `events[i]`, or None for an act outside every step.
    `unknown_events` are the trace's events of kinds that the converter does not know, as they came. `gaps` are
    sentences that say what happened and is not in the trace, so that its files may be others than the ones shown.
    `agent` is the name of the agent, which is the program and not its model, `base_commit` the commit of `repo` on
    which it began, and `cost_usd` what the trace says that the run cost.
    """

    external_id: str
    task: str
    steps: tuple[Step, ...] = ()
    events: tuple[FileEvent, ...] = ()
    event_steps: tuple[int | None, ...] = ()
    patch: bytes | None = None
    folder: str = ""
    task_id: str = ""
    agent_model: str = ""
    instance_id: str = ""
    repo: str = ""
    tags: tuple[str, ...] = ()
    started_at: str = ""
    unknown_events: tuple[JSON, ...] = ()
    gaps: tuple[str, ...] = ()
    agent: str = ""
    base_commit: str = ""
    cost_usd: float | None = None

    @property
    def usage(self) -> Usage:
        """What its steps took together, the agents that they started included."""
        return sum((_usage_of(step) for step in self.steps), NO_USAGE)


def _usage_of(step: Step) -> Usage:
    inner = sum((_usage_of(each) for agent in step.agents for each in agent.steps), NO_USAGE)
    # A sub-agent works while the call that started it waits.
    return step.usage + Usage(inner.input_tokens, inner.output_tokens, inner.cached_tokens)


@dataclass(slots=True)
class ConversionReport:
    """What a converter left out, did not know, and mended, counted by a short name each.

    `dropped`: noise that no reader of the trace misses. `unknown`: events of a kind that the converter does not
    know; they are kept and counted. `repairs`: what was not as the format says and was read all the same.
    """

    dropped: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    repairs: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class ReadPosition:
    """Where reading goes on: the byte there, and how many lines or records of the file lie before it.

    `line` is the number of the line there where records are counted. `state` is what the converter has to know there
    of what came before, as JSON.
    """

    offset: int = 0
    before: int = 0
    line: int = 1
    state: JSON = None


BEGINNING = ReadPosition()


@dataclass(frozen=True, slots=True)
class Converted:
    """One run out of a file, and where in the file it began (line or record number, from 1).

    `after` is where reading can begin anew behind it; None where that is not possible, as inside one document.
    """

    run: AgentRun
    report: ConversionReport
    place: int
    after: ReadPosition | None = None


@dataclass(frozen=True, slots=True)
class StatedTask:
    """What a data set says that agents are asked at one of its instances, for runs that do not say it themselves."""

    place: int
    instance_id: str
    text: str
    after: ReadPosition | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """One line or record that gave no run: where, and a sentence that says why and what to do. `after`: as of a run."""

    place: int
    code: str
    sentence: str
    after: ReadPosition | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a file is read at once, and how much one run may hold. What is over a bound is an error by name."""

    line_bytes: int = 16 * 2**20
    document_bytes: int = 64 * 2**20
    run_bytes: int = 128 * 2**20
    events: int = 200_000
    steps: int = 10_000
    picture_bytes: int = 20 * 2**20
    depth: int = 100
    """How deep JSON may be nested."""


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What the project says about reading: the names of the id and task fields, and how messages become steps.

    `named_keys` is told which of the two were found, record by record.
    """

    id_key: str = "id"
    text_key: str = "task_description"
    split_tool_calls: bool = False
    bounds: Bounds = Bounds()
    named_keys: NamedKeys = field(default_factory=NamedKeys, compare=False, repr=False)


class Converter(Protocol):
    """Reads the files of one format. Found by its name in the entry-point group `potato.trace_converters`.

    `recognises` looks at the beginning of a file (at most 64 KiB) and answers how sure it is, from 0 to 1, and why,
    as a sentence. `read` yields runs, texts of tasks and unreadable records one by one, in the order of the file,
    reading no further ahead than one run; it raises nothing for the file's content.

    A large file is read in several goes, each of which begins at the source's `begin`: the `after` of an entry that
    `read` gave before. Entries without one are read again, and passed over, when reading goes on behind them.
    """

    name: str
    label: str

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]: ...

    def read(self, lines: "RunFile", options: ReadingOptions) -> Iterator[Converted | StatedTask | Unreadable]: ...


class Surveyor(Protocol):
    """A converter that has to know the whole of a file before it reads the first run, such as where sessions end.

    `survey` goes through the file from the source's `begin` on, notes in `survey`, which is JSON, what it finds, and
    yields the places at which it can go on. `read` then has it as the source's `survey`; where that is None nobody
    surveyed the file, and `read` does so itself.
    """

    def survey(self, lines: "RunFile", options: ReadingOptions, survey: dict[str, JSON]) -> Iterator[ReadPosition]: ...


class Lines(Protocol):
    """Lines one after another; `offset` is the byte behind the last one."""

    offset: int

    def __iter__(self) -> Iterator[bytes]: ...

    def __next__(self) -> bytes: ...


class RunFile(Protocol):
    """An uploaded file: bytes, read as often as a converter likes, bounded by the import.

    `folder` is the name of the folder in which the file lies, "" where it came alone. `begin` is where reading begins,
    and `survey` what a survey of the whole file noted, None where there was none.
    """

    name: str
    size: int
    folder: str
    begin: ReadPosition
    survey: dict[str, JSON] | None

    def head(self) -> bytes:
        """The file's first 64 KiB, or all of a shorter file."""
        ...

    def at(self, place: ReadPosition, survey: dict[str, JSON] | None = None) -> "RunFile":
        """The same file, to be read from this place on."""
        ...

    def lines(self) -> Lines:
        """Lines from `begin` on, without their end (LF or CR LF), split at LF alone.

        Raises TooLarge at a line over the bound; the next line can be asked for all the same.
        """
        ...

    def chunks(self) -> Iterator[bytes]:
        """All bytes from `begin` on, in chunks of 256 KiB."""
        ...

    def whole(self) -> bytes:
        """All bytes, for formats that are one document. Raises TooLarge over the bound for documents."""
        ...

    def beside(self, name: str) -> bytes | None:
        """A picture that came with the file, by its name from the file's folder; None where there is none.

        Raises TooLarge over the bound for pictures.
        """
        ...

    def companions(self) -> "tuple[str, ...]":
        """Names, seen from the file's folder, of the files that belong to this one: those in the folder that has the
        file's own name without its ending, however deep, and other JSON lines beside it. Sorted."""
        ...

    def companion(self, name: str) -> "RunFile | None":
        """One of them, to be read as this file is; None where it is not there."""
        ...


class TooLarge(Exception):  # noqa: N818  (an answer to the person who uploaded the file)
    """The file, or a line of it, is over a bound; the sentence names both and says what to do."""
