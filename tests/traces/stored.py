"""Runs written by hand and stored as an import stores them, for tests of the pages that show them."""

from accounts.models import Organisation, Project
from potato.runs.model import AgentRun, ConversionReport, Converted, FileEvent, FileOutcome, FileRead, Step, ToolCall
from tenancy.actor import acting_in
from traces.importing.storing import store_run
from traces.models import ImportedFile, Trace

CODE = [
    "def total_{0}(prices: list[float], discount: float = 0.0) -> float:",
    '    """What page {0} costs, with the discount taken off."""',
    "    amount = sum(prices) * (1 - discount)",
    "    return round(amount, 2)",
    "",
]


def code(lines: int, word: str = "old") -> str:
    """So many lines of Python, each naming its number and the word."""
    return "".join(f"{CODE[at % len(CODE)].format(at)}  # {word} {at}\n" for at in range(1, lines + 1))


def outcome(path: str, old: str | None, new: str | None) -> FileOutcome:
    operation = "added" if old is None else "deleted" if new is None else "modified"
    return FileOutcome(path, operation, old_text=old, new_text=new)  # type: ignore[arg-type]  # one of the words


def read(path: str, text: str) -> FileRead:
    return FileRead(path, text)


def step(message: str = "I look around.", *, result: str = "ok", is_error: bool = False, thought: str = "") -> Step:
    call = ToolCall("1", "Bash", {"command": "make test"}, result, is_error)
    return Step(message=message, thought=thought, calls=(call,))


def stored(
    organisation: Organisation,
    project: Project,
    *events: FileEvent,
    external_id: str = "trace_042",
    task: str = "Fix the failing test in test_parser.py\n\nIt drops the **last page** of each range.",
    steps: tuple[Step, ...] = (),
    agent_model: str = "harbor-coder-2",
    tags: tuple[str, ...] = (),
    task_id: str = "",
    converter: str = "native",
    patch: bytes | None = None,
    event_steps: tuple[int | None, ...] = (),
    agent: str = "",
    base_commit: str = "",
    repo: str = "",
    cost_usd: float | None = None,
) -> Trace:
    """The trace of a run with these files and steps; a new version where its id is known. Events are outside every step
    unless `event_steps` says of each which one caused it."""
    run = AgentRun(
        external_id=external_id,
        task=task,
        steps=steps,
        events=events,
        event_steps=event_steps or tuple(None for _ in events),
        agent_model=agent_model,
        tags=tags,
        task_id=task_id,
        patch=patch,
        agent=agent,
        base_commit=base_commit,
        repo=repo,
        cost_usd=cost_usd,
    )
    with acting_in(organisation):
        file = ImportedFile.objects.create(
            project=project, name="runs.jsonl", size=1, sha256="0" * 64, format="auto", chosen=converter
        )
        report = ConversionReport()
        report.repairs["a line without a time"] += 2
        store_run(Converted(run, report, 1), file)
        return Trace.objects.get(file=file)
