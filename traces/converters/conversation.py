"""Builds a run's steps and file events from a conversation in Anthropic's form, message by message.

A step is one message of the agent, which may come in several pieces with one message id, with the answers to its
tool calls. What the user says is the task, and then the prompt of the step that follows.
"""

from collections import Counter
from dataclasses import dataclass, field

from traces.converters.blocks import Answer, Content, joined
from traces.converters.tool_files import files_of_call
from traces.runs import JSON, ConversionReport, FileEvent, Step, ToolCall


@dataclass(slots=True)
class _Call:
    id: str
    name: str
    arguments: JSON
    answer: Answer | None = None
    outcome: JSON = None
    answered_at: int = 0


@dataclass(slots=True)
class _Message:
    at: str
    prompt: str
    model: str = ""
    content: Content = field(default_factory=Content)
    calls: list[_Call] = field(default_factory=list)

    def is_empty(self) -> bool:
        return not self.calls and not joined(self.content.texts) and not joined(self.content.thoughts)


@dataclass(frozen=True, slots=True)
class Told:
    """The steps, the files' events in the order of the answers, and the model that wrote most of the messages."""

    steps: tuple[Step, ...]
    events: tuple[FileEvent, ...]
    event_steps: tuple[int | None, ...]
    agent_model: str


class Conversation:
    """Takes the messages in their order; side conversations of sub-agents leave their file events alone."""

    def __init__(self, report: ConversionReport, task: str = "") -> None:
        self._report = report
        self._messages: dict[str, _Message] = {}
        self._calls: dict[str, _Call] = {}
        self._side_calls: dict[str, _Call] = {}
        self._pending: list[str] = []
        self._clock = 0
        self.task = task

    def user_says(self, prompt: str) -> None:
        """A prompt. The first one is the task, unless the trace states another task beside its messages."""
        self.task = self.task or prompt
        if self._messages or prompt.strip() != self.task.strip():
            self._pending.append(prompt)

    def agent_says(self, content: Content, *, message_id: str, at: str, model: str) -> None:
        """A message of the agent, or one more piece of it."""
        message = self._messages.get(message_id)
        if message is None:
            message = self._messages[message_id] = _Message(at, joined(self._pending))
            self._pending = []
        message.model = message.model or model
        message.content.texts += content.texts
        message.content.thoughts += content.thoughts
        message.calls += self._register(content, self._calls)

    def sub_agent_says(self, content: Content) -> None:
        """A message outside every step: only its calls are remembered, for what they do to files."""
        self._register(content, self._side_calls)

    def answer(self, answer: Answer, outcome: JSON = None) -> None:
        """What a tool gave back; `outcome` is what the trace says beside it about files."""
        self._clock += 1
        call = self._calls.get(answer.call_id) or self._side_calls.get(answer.call_id)
        if call is None:
            self._report.repairs["result without its call"] += 1
        elif call.answer is not None:
            self._report.repairs["second result of a call"] += 1
        else:
            call.answer, call.outcome, call.answered_at = answer, outcome, self._clock

    def told(self, *, split_tool_calls: bool) -> Told:
        """Everything so far as steps and events."""
        if self._pending:
            self._report.dropped["prompt after the last step"] += len(self._pending)
        steps: list[Step] = []
        step_of_call: dict[str, int] = {}
        models: Counter[str] = Counter()
        for message in self._messages.values():
            if message.is_empty():
                self._report.dropped["empty message"] += 1
                continue
            if message.model:
                models[message.model] += 1
            whole = _step(message)
            parts = _split(whole) if split_tool_calls else [whole]
            for part in parts:
                step_of_call.update((call.id, len(steps)) for call in part.calls)
                steps.append(part)
        events: list[FileEvent] = []
        event_steps: list[int | None] = []
        for call in sorted((*self._calls.values(), *self._side_calls.values()), key=lambda call: call.answered_at):
            if call.answer is not None and not call.answer.is_error:
                done = files_of_call(call.name, call.arguments, call.outcome, call.answer.text, self._report.unknown)
                events += done
                event_steps += [step_of_call.get(call.id)] * len(done)
        model = models.most_common(1)[0][0] if models else ""
        return Told(tuple(steps), tuple(events), tuple(event_steps), model)

    def _register(self, content: Content, known: dict[str, _Call]) -> list[_Call]:
        new = []
        for given_id, name, arguments in content.calls:
            call_id = given_id or f"call {len(self._calls) + len(self._side_calls) + 1}"
            if call_id in known:
                self._report.repairs["tool call that stands twice"] += 1
                continue
            call = known[call_id] = _Call(call_id, name, arguments)
            new.append(call)
        return new


def _step(message: _Message) -> Step:
    calls = tuple(
        ToolCall(
            id=call.id,
            name=call.name,
            arguments=call.arguments,
            result=None if call.answer is None else call.answer.text,
            is_error=call.answer is not None and call.answer.is_error,
        )
        for call in message.calls
    )
    texts, thoughts = joined(message.content.texts), joined(message.content.thoughts)
    return Step(message=texts, thought=thoughts, calls=calls, at=message.at, prompt=message.prompt)


def _split(step: Step) -> list[Step]:
    if len(step.calls) < 2:
        return [step]
    first = Step(step.message, step.thought, step.calls[:1], step.at, step.prompt)
    return [first, *(Step(calls=(call,), at=step.at) for call in step.calls[1:])]
