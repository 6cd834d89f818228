"""Makes runs of spans: calls of a model, calls of tools, and agents, each under another one.

Field notes
- A request to a model repeats the conversation so far. Only what a request has more than those before it is new.
- A tool's span says what the tool was given and gave back; the next request says it too. Where contents were not
  recorded, the spans of tools are all that is known of the calls.
- What lies under an agent that another agent started was done by that one. Agents that nobody started are the run's
  own.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from potato.runs.converters.blocks import Answer, Content
from potato.runs.converters.conversation import Call, Conversation
from potato.runs.converters.moments import Moments
from potato.runs.converters.span_messages import ChatMessage
from potato.runs.converters.tool_effects import read_tool_effects
from potato.runs.converters.tool_files import CallEffects
from potato.runs.model import (
    JSON,
    NO_USAGE,
    AgentRun,
    ConversionReport,
    Converted,
    ReadingOptions,
    Screenshot,
    Unreadable,
    Usage,
)

MODEL, TOOL, AGENT, OTHER = "model", "tool", "agent", "other"
_NO_CONTENTS = (
    "The spans have no messages: what was said was not recorded. Record message contents to judge more than the calls."
)


@dataclass(slots=True)
class Span:
    """One span, as far as it matters. `start` orders spans; `at` is its time as ISO 8601."""

    id: str
    parent: str
    trace: str
    kind: str
    start: float = 0.0
    at: str = ""
    name: str = ""
    conversation: str = ""
    model: str = ""
    inputs: list[ChatMessage] = field(default_factory=list)
    outputs: list[ChatMessage] = field(default_factory=list)
    call_id: str = ""
    arguments: JSON = None
    result: str | None = None
    pictures: tuple[Screenshot, ...] = ()
    is_error: bool = False
    usage: Usage = NO_USAGE
    cost_usd: float | None = None
    place: int = 1


def run_of_spans(
    key: str, spans: list[Span], report: ConversionReport, unknown: list[JSON], options: ReadingOptions
) -> Converted | Unreadable:
    """The run of the spans of one trace, or of one conversation in several."""
    place = min(span.place for span in spans)
    tree = _Tree(spans, report)
    tree.convert()
    steps = tree.main.as_steps(split_tool_calls=options.split_tool_calls)
    if not steps.steps:
        sentence = (
            f"The trace {key[:80]} has no call of a tool and no message of a model, so there is nothing to judge. "
            "Record message contents where the spans are made."
        )
        return Unreadable(place, "no_steps", sentence)
    costs = [span.cost_usd for span in spans if span.cost_usd is not None]
    cost = round(sum(costs), 10) if costs else None
    has_contents = any(span.inputs or span.outputs for span in spans)
    run = AgentRun(
        external_id=key,
        task=tree.main.task,
        steps=steps.steps,
        events=steps.events,
        event_steps=steps.event_steps,
        agent_model=steps.agent_model,
        started_at=tree.started_at,
        unknown_events=tuple(unknown),
        gaps=((() if has_contents else (_NO_CONTENTS,)) + steps.gaps),
        agent=tree.agent,
        cost_usd=cost,
    )
    return Converted(run, report, place)


class _Tree:
    def __init__(self, spans: list[Span], report: ConversionReport) -> None:
        self._report = report
        self._spans = sorted(spans, key=lambda span: span.start)
        self._by_id = {span.id: span for span in self._spans if span.id}
        self._moments = Moments()
        self.main = self._new("")
        self._readers: dict[str, _Reader] = {"": _Reader(self.main, report)}
        self.started_at = next((span.at for span in self._spans if span.at), "")
        self.agent = next(
            (span.name for span in self._spans if span.kind == AGENT and span.name and not self._is_sub_agent(span)), ""
        )

    def _new(self, task: str) -> Conversation:
        return Conversation(self._report, task, self._moments.next, read_effects=_effects)

    def convert(self) -> None:
        carries = self._agents_with_messages()
        for span in self._spans:
            reader = self._reader(self._owner(span))
            if span.kind == MODEL:
                reader.model_called(span)
            elif span.kind == TOOL:
                reader.tool_called(span)
            elif span.kind == AGENT:
                own = self._reader(span.id if self._is_sub_agent(span) else "")
                if span.id in carries:
                    own.model_called(span)
                else:
                    own.asked(span)
            else:
                self._report.dropped[f"span {span.name[:60]}" if span.name else "span without a name"] += 1
        for agent, reader in self._readers.items():
            if agent and reader.conversation.has_messages():
                self._attach(self._by_id[agent], reader)

    def _agents_with_messages(self) -> set[str]:
        """Agents under which no model's call is recorded, so that their own messages are all there is."""
        with_models: set[str] = set()
        for span in self._spans:
            if span.kind == MODEL:
                with_models.update(above.id for above in self._above(span) if above.kind == AGENT)
        return {span.id for span in self._spans if span.kind == AGENT and span.id not in with_models and span.outputs}

    def _above(self, span: Span) -> Iterable[Span]:
        """The spans above this one, the nearest first."""
        seen = {span.id}
        at = self._by_id.get(span.parent)
        while at is not None and at.id not in seen:
            yield at
            seen.add(at.id)
            at = self._by_id.get(at.parent)

    def _is_sub_agent(self, span: Span) -> bool:
        return bool(span.id) and any(above.kind == AGENT for above in self._above(span))

    def _owner(self, span: Span) -> str:
        """The agent that did this, "" for the run's own."""
        agent = next((above for above in self._above(span) if above.kind == AGENT), None)
        return agent.id if agent is not None and self._is_sub_agent(agent) else ""

    def _reader(self, agent: str) -> "_Reader":
        if agent not in self._readers:
            self._readers[agent] = _Reader(self._new(""), self._report)
        return self._readers[agent]

    def _attach(self, agent: Span, reader: "_Reader") -> None:
        parent = self._reader(self._owner(agent)).conversation
        if parent is reader.conversation:
            return
        call = next((above for above in self._above(agent) if above.kind in (TOOL, AGENT)), None)
        call_id = call.call_id if call is not None and call.kind == TOOL else ""
        before = agent.at
        parent.attach(agent.name or "agent", call_id if call_id in parent.calls else "", reader.conversation, before)


class _Reader:
    """Puts the spans of one agent into its conversation."""

    def __init__(self, conversation: Conversation, report: ConversionReport) -> None:
        self.conversation = conversation
        self._report = report
        self._known: Counter[tuple[str, ...]] = Counter()
        self._count = 0
        self._last = ""

    def asked(self, span: Span) -> None:
        """What an agent was asked, where its models' calls follow."""
        if not self.conversation.task:
            words = [message for message in span.inputs if message.role == "user" and not message.answers]
            for message in words[:1]:
                self.conversation.task = "\n\n".join(part for part in message.texts if part.strip())

    def model_called(self, span: Span) -> None:
        in_this: Counter[tuple[str, ...]] = Counter()
        for message in span.inputs:
            key = message.key()
            in_this[key] += 1
            if in_this[key] > self._known[key]:
                self._known[key] += 1
                self._take(message, span, "")
        self._count += 1
        for message in span.outputs:
            self._known[message.key()] += 1
            self._take(message, span, span.model)
        if span.outputs:
            self.conversation.took(span.usage, self._last)
        if span.is_error and not span.outputs:
            self._report.dropped["call of a model that failed"] += 1

    def _take(self, message: ChatMessage, span: Span, model: str) -> None:
        if message.role == "system":
            self._report.dropped["system message"] += 1
            return
        if message.role == "assistant":
            self._say(message, span, model)
            return
        for answer in message.answers:
            self._answer(answer, span.at)
        if words := "\n\n".join(part for part in message.texts if part.strip()):
            self.conversation.add_user_message(words, message.pictures)

    def _say(self, message: ChatMessage, span: Span, model: str) -> None:
        if not model:
            # An earlier one of the conversation, of which this trace has no span.
            self._count += 1
        self._last = f"message {self._count}"
        calls = []
        for at, (call_id, tool, arguments) in enumerate(message.calls):
            known = call_id or f"{self._last}.{at}"
            if known not in self.conversation.calls:
                calls.append((known, tool, arguments))
        content = Content(message.texts, message.thoughts, calls)
        at_time = span.at if model else ""
        self.conversation.add_agent_message(content, message_id=self._last, at=at_time, model=model)
        for answer in message.answers:
            self._answer(answer, span.at)

    def _answer(self, answer: Answer, at: str) -> None:
        call_id = answer.call_id
        if call_id not in self.conversation.calls:
            named = call_id.removeprefix("name ") if call_id.startswith("name ") else ""
            waiting = (
                call
                for call in self.conversation.calls.values()
                if call.answer is None and (not call_id or call.name == named)
            )
            call_id = next((call.id for call in waiting), call_id)
        call = self.conversation.calls.get(call_id)
        if call is not None and call.answer is not None:
            if call.answer.text.strip() != answer.text.strip():
                self._report.repairs["result that its tool's span tells otherwise"] += 1
            return
        self.conversation.answer(replace(answer, call_id=call_id), at=at)

    def tool_called(self, span: Span) -> None:
        call = self.conversation.calls.get(span.call_id) if span.call_id else self._open(span.name)
        if call is None:
            if not self._last:
                self._count += 1
                self._last = f"message {self._count}"
            span.call_id = span.call_id or f"span {span.id}"
            content = Content(calls=[(span.call_id, span.name or "(no name)", span.arguments)])
            self.conversation.add_agent_message(content, message_id=self._last, at=span.at, model=span.model)
        else:
            span.call_id = call.id
            if call.answer is not None:
                return
        if span.result is not None or span.is_error:
            answer = Answer(span.call_id, span.result or "", span.is_error, span.pictures)
            self.conversation.answer(answer, at=span.at)

    def _open(self, tool: str) -> Call | None:
        waiting = (call for call in self.conversation.calls.values() if call.answer is None and call.name == tool)
        return next(waiting, None)


def _effects(tool: str, arguments: JSON, outcome: JSON, answer: Answer, report: ConversionReport) -> CallEffects:
    return read_tool_effects(tool, arguments, None, answer, report)


def iso_time(value: JSON) -> tuple[float, str]:
    """A time for ordering, and as ISO 8601: of nanoseconds since 1970, as digits or as a number, or of an ISO text."""
    if isinstance(value, str) and not value.isdigit():
        try:
            moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
        except ValueError:
            return 0.0, ""
        try:
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), value
        except (OverflowError, ValueError):
            return 0.0, ""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return 0.0, ""
    seconds = int(value[:30] if isinstance(value, str) else value) / 1e9
    try:
        return seconds, datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return 0.0, ""
