"""What both generations of OpenHands' events share: what an edit records, and how a run is made of them."""

from dataclasses import dataclass, field

from potato.runs.converters.blocks import Answer
from potato.runs.converters.conversation import Conversation
from potato.runs.converters.fields import name, objects, text, text_or_none
from potato.runs.converters.moments import Moments
from potato.runs.converters.openhands_acp import KIND, acp_effects
from potato.runs.converters.tool_effects import read_tool_effects
from potato.runs.converters.tool_files import CallEffects
from potato.runs.converters.usage import duration, positive_number, read_usage
from potato.runs.model import JSON, NO_USAGE, ConversionReport, FileWrite, Usage

MOST_UNKNOWN_KEPT = 1000
REFUSED = "User rejected tool use"


@dataclass(slots=True)
class EventRun:
    """A run that grows event by event: its conversation, its report, and what is not known of it."""

    report: ConversionReport
    task: str = ""
    unknown: list[JSON] = field(default_factory=list)
    model: str = ""
    folder: str = ""
    external_id: str = ""
    started_at: str = ""
    gaps: list[str] = field(default_factory=list)
    cost: float | None = None
    usages: dict[str, Usage] = field(default_factory=dict)
    """What each answer of the model took, by its id."""
    conversation: Conversation = field(init=False)
    moments: Moments = field(default_factory=Moments)

    def __post_init__(self) -> None:
        self.conversation = self.new_conversation(self.task)

    def new_conversation(self, task: str = "", *, is_left_behind: bool = False) -> Conversation:
        report = ConversionReport() if is_left_behind else self.report
        return Conversation(
            report, task, self.moments.next, is_left_behind=is_left_behind, read_effects=self.read_effects
        )

    def take_state(self, state: JSON) -> None:
        """What the state of a conversation of version 1 says of it."""
        if not isinstance(state, dict):
            return
        agent = state.get("agent")
        self.model = self.model or (text(agent.get("llm"), "model") if isinstance(agent, dict) else "")
        self.folder = self.folder or text(state.get("workspace"), "working_dir")
        self.external_id = self.external_id or name(state, "id")
        self.take_statistics(state.get("stats"))

    def take_statistics(self, statistics: JSON) -> None:
        """What it took by then: all its models together, and each answer where they are counted one by one."""
        by_use = statistics.get("usage_to_metrics") if isinstance(statistics, dict) else None
        metrics = [each for each in by_use.values() if isinstance(each, dict)] if isinstance(by_use, dict) else []
        costs = [cost for each in metrics if (cost := positive_number(each.get("accumulated_cost"))) is not None]
        # Zero stands where a model has no price.
        self.cost = round(sum(costs), 10) or self.cost
        for each in metrics:
            known: dict[str, Usage] = {}
            for usage in objects(each.get("token_usages")):
                known[text(usage, "response_id")] = read_usage(usage)
            for latency in objects(each.get("response_latencies")):
                response = text(latency, "response_id")
                known[response] = known.get(response, NO_USAGE) + duration(latency.get("latency"))
            self.usages |= known

    def read_effects(
        self, tool: str, arguments: JSON, outcome: JSON, answer: Answer, report: ConversionReport
    ) -> CallEffects:
        """What a call did: what its observation records of the file, else what its arguments say."""
        if not answer.is_error and (write := recorded_write(outcome)) is not None:
            return CallEffects((write,))
        if text(outcome, "kind") == KIND:
            return acp_effects(outcome, answer, report, self.folder)
        return read_tool_effects(tool, arguments, None, answer, report, folder=self.folder)

    def keep_unknown(self, event: JSON, kind: str) -> None:
        self.report.unknown[kind[:80]] += 1
        if len(self.unknown) < MOST_UNKNOWN_KEPT:
            self.unknown.append(event)


def recorded_write(outcome: JSON) -> FileWrite | None:
    """The file before and after an edit, {path, prev_exist, old_content, new_content} or {file_path, is_new_file, ...},
    where both are recorded."""
    if not isinstance(outcome, dict) or text(outcome, "command") == "view":
        return None
    path, new = text(outcome, "path", "file_path"), text_or_none(outcome, "new_content")
    if not path or new is None:
        return None
    existed = False if outcome.get("is_new_file") is True else outcome.get("prev_exist")
    old = text_or_none(outcome, "old_content")
    created = existed is False or (existed is None and old is None)
    return FileWrite(path, new, original=None if created else old, created=True if created else None)
