"""The format `codex`: rollouts of Codex, one session a file, as `~/.codex/sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl`.

What a rollout's lines hold stands in `codex_session`, what its items hold in `codex_items`. What `codex exec --json`
prints is read as a rollout too (`codex_exec`).

Field notes
- The id of a run is its thread's, its task the first prompt that a person wrote, its model the one that wrote most of
  its messages, its folder the session's cwd, its repository the end of git.repository_url.
- An agent that another one started has a rollout of its own beside, whose session_meta names `parent_thread_id`. It is
  folded under the call that started it; alone in an import it is a run.
- Rollouts that are packed with Zstandard (`.jsonl.zst`) are unpacked in reading (`potato.runs.unpacking`).
"""

from collections.abc import Iterator

from potato.runs.converters.codex_exec import is_exec_line
from potato.runs.converters.codex_lines import ThreadFacts, as_rollout_line, thread_facts
from potato.runs.converters.codex_session import Rollout
from potato.runs.converters.fields import text
from potato.runs.converters.moments import Moment, Moments
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import read_records
from potato.runs.converters.tool_files import CallEffects
from potato.runs.model import (
    AgentRun,
    ConversionReport,
    Converted,
    ReadingOptions,
    RunFile,
    Unreadable,
)
from potato.runs.run_files import StoredRunFile, in_words
from potato.runs.unpacking import NotUnpacked, is_zstandard, unpacked

_KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
_DEEPEST = 8


class Codex:
    """Rollouts of Codex, from the first versions to those of today."""

    name = "codex"
    label = "Codex rollout"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        outline = detect_outline(head, filename)
        records = [record for record in outline.records() if isinstance(record, dict)]
        for record in records:
            if text(record, "type") in _KINDS and "payload" in record:
                return 0.95, f"its lines are those of a Codex rollout (type {text(record, 'type')})"
            if is_exec_line(record):
                return 0.95, f"its lines are what `codex exec --json` prints (type {text(record, 'type')})"
        if outline.layout == "lines" and records and not text(records[0], "type"):
            first, items = records[0], records[1:]
            is_old = {"id", "timestamp", "instructions"} <= first.keys()
            if is_old and any(
                "record_type" in item or text(item, "type") in ("message", "reasoning") for item in items
            ):
                return 0.9, "its first line has id, timestamp and instructions, as Codex wrote them before 0.20"
        return 0.0, "no line is one of a rollout (type and payload)"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        report = ConversionReport()
        moments = Moments()
        rollout = Rollout(report, moments.next)
        size = place = 0
        excess = ""
        after = None
        for record in read_records(lines, options.bounds):
            if isinstance(record, Unreadable):
                yield record
                continue
            place = place or record.place
            after = record.after
            size += record.size
            report.repairs.update(record.repairs)
            excess = excess or _excess(size, len(rollout.lines), options)
            if excess:
                rollout.lines.clear()
            else:
                rollout.add(record.value)
        if not place:
            return
        if excess:
            yield Unreadable(place, "too_large", f"The rollout {lines.name} {excess}", after)
            return
        rollout.convert()
        agents = _Agents(lines, options, moments, report, size)
        agents.attach_to(rollout)
        if agents.excess:
            yield Unreadable(place, "too_large", f"The rollout {lines.name} {agents.excess}", after)
            return
        steps = rollout.conversation.as_steps(split_tool_calls=options.split_tool_calls)
        if not steps.steps:
            yield Unreadable(
                place,
                "no_steps",
                f"The rollout {lines.name} has no message and no call of the agent, so there is nothing to judge. "
                "Import the rollout of a session in which the agent answered.",
                after,
            )
            return
        facts = rollout.facts
        run = AgentRun(
            external_id=facts.thread_id,
            task=rollout.conversation.task,
            steps=steps.steps,
            events=steps.events,
            event_steps=steps.event_steps,
            folder=facts.folder,
            agent_model=steps.agent_model,
            repo=facts.repo,
            base_commit=facts.base_commit,
            agent="Codex",
            started_at=facts.started_at,
            unknown_events=tuple(rollout.unknown),
            gaps=(*agents.gaps(), *_program_gaps(rollout), *_unanswered_gaps(rollout), *steps.gaps),
        )
        yield Converted(run, report, place, after)


def _excess(size: int, count: int, options: ReadingOptions) -> str:
    bounds = options.bounds
    if size > bounds.run_bytes:
        return f"is over {in_words(bounds.run_bytes)}, the bound of one run."
    return f"has over {bounds.events:,} lines, the bound of one run." if count > bounds.events else ""


def _unanswered_gaps(rollout: Rollout) -> list[str]:
    patches = [
        call
        for call in rollout.conversation.calls.values()
        if call.name == "apply_patch" and call.answer is None and not call.effects
    ]
    if not patches:
        return []
    calls = "A call of apply_patch has" if len(patches) == 1 else f"{len(patches)} calls of apply_patch have"
    return [f"{calls} no answer in the rollout: whether the patch was applied is not recorded, and it is not shown."]


def _program_gaps(rollout: Rollout) -> list[str]:
    number = rollout.unrecorded_programs()
    if not number:
        return []
    programs = "A program" if number == 1 else f"{number} programs"
    return [
        f"{programs} of the tool `exec` ran tools, and the rollout does not record which. See the programs' own text."
    ]


class _Agents:
    """The rollouts beside this one, of agents that were started in it, or by those."""

    def __init__(
        self, source: RunFile, options: ReadingOptions, moments: Moments, report: ConversionReport, size: int
    ) -> None:
        self._source = source
        self._options = options
        self._moments = moments
        self._report = report
        self._size = size
        self._lost = 0
        self.excess = ""

    def attach_to(self, rollout: Rollout) -> None:
        """Fold each agent under the call that started it, and theirs under theirs."""
        children: dict[str, list[str]] = {}
        for name in self._source.companions():
            try:
                facts = self._facts(name)
            except NotUnpacked:
                self._report.repairs["rollout beside that cannot be unpacked"] += 1
                continue
            if facts is not None and facts.parent_id and facts.thread_id != facts.parent_id:
                children.setdefault(facts.parent_id, []).append(name)
        self._attach(rollout, children, 0)

    def gaps(self) -> list[str]:
        if not self._lost:
            return []
        whose = "rollout of a sub-agent is" if self._lost == 1 else f"rollouts of {self._lost} sub-agents are"
        return [
            f"The {whose} missing, and what happened there is not shown. Import the session's rollout together with "
            "those of its agents, as a folder or a ZIP."
        ]

    def _open(self, name: str) -> RunFile | None:
        source = self._source.companion(name)
        if isinstance(source, StoredRunFile) and is_zstandard(source.head()):
            return unpacked(source, self._options.bounds)
        return source

    def _facts(self, name: str) -> ThreadFacts | None:
        source = self._open(name)
        if source is None:
            return None
        for record in read_records(source, self._options.bounds):
            if isinstance(record, Unreadable):
                return None
            line = as_rollout_line(record.value)
            return thread_facts(line.payload, line.at) if line is not None and line.kind == "session_meta" else None
        return None

    def _attach(self, rollout: Rollout, children: dict[str, list[str]], depth: int) -> None:
        linked = set()
        loose = 0
        for name in children.pop(rollout.facts.thread_id, []) if depth < _DEEPEST else []:
            try:
                child = self._read(name, rollout)
            except NotUnpacked:
                self._report.repairs["rollout beside that cannot be unpacked"] += 1
                continue
            if child is None:
                return
            call_id = rollout.spawned.get(child.facts.thread_id) or rollout.spawned.get(child.facts.agent_path, "")
            if call_id not in rollout.conversation.calls:
                call_id = ""
            linked.add(call_id)
            loose += not call_id
            self._attach(child, children, depth + 1)
            rollout.conversation.attach(
                child.facts.agent_name or "agent", call_id, child.conversation, child.facts.started_at
            )
            rollout.unknown += child.unknown
        missing = [call_id for call_id in rollout.spawn_calls if call_id not in linked]
        for call_id in missing[loose:]:
            call = rollout.conversation.calls.get(call_id)
            if call is not None and call.answer is not None and not call.answer.is_error:
                self._lost += 1
                rollout.conversation.record_effects(
                    call_id, CallEffects(doubts_all="A sub-agent, whose rollout is missing,")
                )

    def _read(self, name: str, parent: Rollout) -> Rollout | None:
        source = self._open(name)
        if source is None:
            return None
        before: Moment | None = None

        def moment(at: str) -> Moment:
            return self._moments.among(at, before)

        child = Rollout(self._report, moment)
        for record in read_records(source, self._options.bounds):
            if isinstance(record, Unreadable):
                self._report.repairs["line of a sub-agent that cannot be read"] += 1
                continue
            self._size += record.size
            self._report.repairs.update(record.repairs)
            if excess := _excess(self._size, len(child.lines), self._options):
                self.excess = f"is with its sub-agents too large: it {excess}"
                return None
            child.add(record.value)
        call_id = parent.spawned.get(child.facts.thread_id) or parent.spawned.get(child.facts.agent_path, "")
        call = parent.conversation.calls.get(call_id)
        before = call.answered if call is not None and call.answer is not None else None
        child.convert()
        return child
