"""Builds a run's steps and file events from a conversation in Anthropic's form, message by message.

A step is one message of the agent, which may come in several pieces with one message id, with the answers to its
tool calls. What the user says is the task, and then the prompt of the step that follows. The agents that a call started
have conversations of their own, which stand with the step of that call: what they did to files was done by that step.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from potato.runs.converters.blocks import Answer, Content, joined
from potato.runs.converters.fields import text
from potato.runs.converters.file_order import order_file_events
from potato.runs.converters.moments import Moment, Moments
from potato.runs.converters.prompts import INTERRUPTED, refusal
from potato.runs.converters.tool_files import CallEffects, read_call_effects
from potato.runs.model import (
    JSON,
    NO_USAGE,
    ConversionReport,
    Divider,
    FileEvent,
    Screenshot,
    Step,
    SubAgent,
    ToolCall,
    Usage,
)

AGENT_TOOLS = frozenset({"Task", "Agent", "Workflow"})
"""Calls of these start agents that have transcripts of their own."""
READ_ONLY_AGENTS = frozenset({"Explore", "Plan", "claude-code-guide"})
AGENTS_ADVICE = "Import the session's file together with the folder of its name, as a folder or a ZIP."
_NEVER: Moment = (1 << 60, "", 0)
ReadEffects: TypeAlias = Callable[[str, JSON, JSON, Answer, ConversionReport], CallEffects]
"""What an answered call did to files, by its tool's name, its arguments, what the trace says beside, and its answer."""


@dataclass(slots=True)
class Call:
    """A call of a tool, and what is known of its answer."""

    id: str
    name: str
    arguments: JSON
    answer: Answer | None = None
    outcome: JSON = None
    answered: Moment = _NEVER
    is_refused: bool = False
    effects: list[tuple[Moment, CallEffects]] = field(default_factory=list)


@dataclass(slots=True)
class _Message:
    at: str
    prompt: str
    dividers: tuple[Divider, ...]
    prompt_pictures: tuple[Screenshot, ...] = ()
    model: str = ""
    agent: str = ""
    usage: Usage = NO_USAGE
    content: Content = field(default_factory=Content)
    calls: list[Call] = field(default_factory=list)
    agents: "list[_Agent]" = field(default_factory=list)

    def is_empty(self) -> bool:
        return not self.calls and not joined(self.content.texts) and not joined(self.content.thoughts)


@dataclass(slots=True)
class _Agent:
    name: str
    call_id: str
    conversation: "Conversation"


@dataclass(frozen=True, slots=True)
class ConversationSteps:
    """The steps, the files' events in the order of the answers, and the model that wrote most of the messages, with
    the agent that acted in most of them."""

    steps: tuple[Step, ...]
    events: tuple[FileEvent, ...]
    event_steps: tuple[int | None, ...]
    agent_model: str
    gaps: tuple[str, ...] = ()
    agent: str = ""


class Conversation:
    """Takes the messages in their order. `moment` gives each answer its place among those of all conversations.
    `is_left_behind`: the person went back behind it, so that what it did to files may have been taken back.
    `read_effects` tells what an answered call did to files, for agents whose tools have other names and arguments.
    `agents_advice`: what to do about sub-agents that are missing.
    """

    def __init__(
        self,
        report: ConversionReport,
        task: str = "",
        moment: Callable[[str], Moment] | None = None,
        *,
        is_left_behind: bool = False,
        read_effects: ReadEffects = read_call_effects,
        agents_advice: str = AGENTS_ADVICE,
    ) -> None:
        self._report = report
        self._read_effects = read_effects
        self._agents_advice = agents_advice
        self._messages: dict[str, _Message] = {}
        self.calls: dict[str, Call] = {}
        self._pending: list[str] = []
        self._pending_pictures: list[Screenshot] = []
        self._dividers: list[Divider] = []
        self._moment = moment or Moments().next
        self._call_effects: list[tuple[Moment, CallEffects]] = []
        self._loose: list[_Agent] = []
        self._left: list[Conversation] = []
        self._is_left_behind = is_left_behind
        self.task = task

    def add_user_message(self, prompt: str, pictures: Iterable[Screenshot] = ()) -> None:
        """A prompt, with the pictures in it. The first one is the task, unless the trace states another task beside its
        messages."""
        self._pending_pictures += pictures
        self.task = self.task or prompt
        if self._messages or prompt.strip() != self.task.strip():
            self._pending.append(prompt)

    def user_runs(self, command: str, at: str) -> None:
        """A command of the person's own, which may have changed files as one of the agent's may."""
        self._call_effects.append((self._moment(at), CallEffects(command=command, by="The user's command")))

    def changed_outside(self, path: str, at: str) -> None:
        """Somebody else changed a file, and the agent was told so."""
        self._call_effects.append((self._moment(at), CallEffects(outside=path)))

    def divide(self, divider: Divider) -> None:
        """Something happened to the conversation before the next step. Nothing before the first message is divided."""
        if self._messages and self._dividers[-1:] != [divider]:
            self._dividers.append(divider)

    def add_agent_message(
        self, content: Content, *, message_id: str, at: str, model: str, usage: Usage = NO_USAGE, agent: str = ""
    ) -> None:
        """A message of the agent, or one more piece of it. Results of tools at the model's side stand in it, too.
        `usage` is that of the whole message as it is known now: the one that was told last counts."""
        message = self._messages.get(message_id)
        if message is None:
            message = _Message(at, joined(self._pending), tuple(self._dividers), tuple(self._pending_pictures))
            self._messages[message_id] = message
            self._pending, self._dividers, self._pending_pictures = [], [], []
        message.model = message.model or model
        message.agent = message.agent or agent
        message.usage = usage or message.usage
        self._add(message.content.texts, content.texts)
        self._add(message.content.thoughts, content.thoughts)
        message.calls += self._register(content)
        for answer in content.answers:
            self.answer(answer, at=at)

    def took(self, usage: Usage, message_id: str = "") -> None:
        """What a message took, the newest one where none is named, in addition to what is known. Before the first
        message it is nobody's."""
        newest = message_id or next(reversed(self._messages), "")
        if newest in self._messages:
            self._messages[newest].usage += usage

    def answer(self, answer: Answer, outcome: JSON = None, at: str = "") -> None:
        """What a tool gave back; `outcome` is what the trace says beside it about files. A person's refusal is the
        person's word, and no failure."""
        moment = self._moment(at)
        call = self.calls.get(answer.call_id)
        if call is None:
            self._report.repairs["result without its call"] += 1
        elif call.answer is not None:
            self._report.repairs["second result of a call"] += 1
        else:
            call.answer, call.outcome, call.answered = answer, outcome, moment
            words = refusal(answer.text, outcome) if answer.is_error or isinstance(outcome, str) else None
            call.is_refused = words is not None
            if words:
                self.add_user_message(words)

    def record_effects(self, call_id: str, effects: CallEffects, at: str = "") -> None:
        """What the trace itself says that a call did to files. It goes before what the call's arguments say; of a call
        that is not known it is an act outside every step."""
        acts = self.calls[call_id].effects if call_id in self.calls else self._call_effects
        acts.append((self._moment(at), effects))

    def attach(self, name: str, call_id: str, conversation: "Conversation", before: str = "") -> None:
        """The conversation of an agent that works for this one. Where no call is known that started it, it stands with
        the step that was the last one before the time `before`, or before now."""
        agent = _Agent(name, call_id, conversation)
        if call_id:
            next(message for message in self._messages.values() if _has_call(message, call_id)).agents.append(agent)
        else:
            earlier = [
                message
                for message in self._messages.values()
                if not message.is_empty() and (not before or message.at <= before)
            ]
            (earlier[-1].agents if earlier else self._loose).append(agent)

    def has_messages(self) -> bool:
        return bool(self._messages)

    def left_behind(self, conversation: "Conversation") -> None:
        """A branch that the person left: no steps, but what it did to files happened."""
        self._left.append(conversation)

    def last_was_refused(self) -> bool:
        """Whether the person refused a call of the newest message."""
        newest = next(reversed(self._messages.values()), None)
        return newest is not None and any(call.is_refused for call in newest.calls)

    def as_steps(self, *, split_tool_calls: bool) -> ConversationSteps:
        """Everything so far as steps and events."""
        steps: list[Step] = []
        step_of_call: dict[str, int] = {}
        usual = self._usual()
        call_effects = list(self._acts_with(None, self._call_effects))
        for left in self._left:
            call_effects += left._everything(None)
        loose = self._loose
        for message in self._messages.values():
            if message.is_empty():
                self._report.dropped["empty message"] += 1
                continue
            whole = _step(message, loose, usual)
            agents, loose = [*loose, *message.agents], []
            first = len(steps)
            for part in _split(whole) if split_tool_calls else [whole]:
                step_of_call.update((call.id, len(steps)) for call in part.calls)
                steps.append(part)
            call_effects += self._message_acts(message, step_of_call)
            for agent in agents:
                call_effects += agent.conversation._everything(step_of_call.get(agent.call_id, first))
        if steps:
            steps[-1] = replace(steps[-1], after=self._last_words(), after_pictures=tuple(self._pending_pictures))
        else:
            for agent in loose:
                call_effects += agent.conversation._everything(None)
        events, event_steps, gaps = order_file_events(call_effects)
        if lost := self.lost_agents():
            whose = "transcript of a sub-agent is" if lost == 1 else f"transcripts of {lost} sub-agents are"
            gaps = (
                f"The {whose} missing, and what happened there is not shown. {self._agents_advice}",
                *gaps,
            )
        return ConversationSteps(tuple(steps), events, event_steps, usual.model, gaps, usual.agent)

    def _usual(self) -> "_Usual":
        """The model and the agent of most messages."""
        messages = [message for message in self._messages.values() if not message.is_empty()]
        models = Counter(message.model for message in messages if message.model)
        agents = Counter(message.agent for message in messages if message.agent)
        return _Usual(*(counts.most_common(1)[0][0] if counts else "" for counts in (models, agents)))

    def lost_agents(self) -> int:
        """How many calls, of this conversation and those attached to it, started an agent of which nothing is here."""
        lost = 0
        for message in self._messages.values():
            there = {agent.call_id for agent in message.agents}
            lost += sum(call.id not in there and _is_lost_agent(call) for call in message.calls)
            lost += sum(agent.conversation.lost_agents() for agent in message.agents)
        return lost + sum(agent.conversation.lost_agents() for agent in self._loose)

    def steps(self, usual: "_Usual") -> tuple[Step, ...]:
        """The steps alone, with the agents that worked for them. They name what is not as usual in the whole run."""
        steps = []
        loose = self._loose
        for message in self._messages.values():
            if not message.is_empty():
                steps.append(_step(message, loose, usual))
                loose = []
        if steps:
            steps[-1] = replace(steps[-1], after=self._last_words(), after_pictures=tuple(self._pending_pictures))
        return tuple(steps)

    def _last_words(self) -> str:
        stopped = ["(The user interrupted the agent.)"] if "interrupted" in self._dividers else []
        return joined([*stopped, *self._pending])

    def _everything(self, step: int | None) -> Iterator[tuple[Moment, CallEffects, int | None]]:
        """What this conversation and those attached to it did to files, in the name of one step of the run."""
        yield from self._acts_with(step, self._call_effects)
        for message in self._messages.values():
            yield from self._message_acts(message, {call.id: step for call in message.calls})
            for agent in message.agents:
                yield from agent.conversation._everything(step)
        for agent in self._loose:
            yield from agent.conversation._everything(step)

    @staticmethod
    def _acts_with(
        step: int | None, call_effects: list[tuple[Moment, CallEffects]]
    ) -> Iterator[tuple[Moment, CallEffects, int | None]]:
        return ((moment, effects, step) for moment, effects in call_effects)

    def _message_acts(
        self, message: _Message, steps: "dict[str, int] | dict[str, int | None]"
    ) -> Iterator[tuple[Moment, CallEffects, int | None]]:
        there = {agent.call_id for agent in message.agents}
        for call in message.calls:
            if call.effects:
                yield from (
                    (moment, replace(effects, is_left_behind=self._is_left_behind), steps.get(call.id))
                    for moment, effects in call.effects
                )
            elif call.id not in there and _is_lost_agent(call) and may_change_files(call):
                yield (
                    call.answered,
                    CallEffects(doubts_all="A sub-agent, whose transcript is missing,"),
                    steps.get(call.id),
                )
            elif call.answer is not None and (not call.is_refused or call.answer.text.lstrip().startswith(INTERRUPTED)):
                # A command that a person stopped ran for a while.
                effects = self._read_effects(call.name, call.arguments, call.outcome, call.answer, self._report)
                effects = replace(effects, is_left_behind=self._is_left_behind)
                yield call.answered, effects, steps.get(call.id)

    def _add(self, known: list[str], new: list[str]) -> None:
        """The texts of one more piece; what a piece only says again, as some programs write it, is counted."""
        for piece in new:
            if piece.strip() and piece in known:
                self._report.repairs["block that stands twice"] += 1
            else:
                known.append(piece)

    def _register(self, content: Content) -> list[Call]:
        new = []
        for own_id, name, arguments in content.calls:
            call_id = own_id or f"call {len(self.calls) + 1}"
            if call_id in self.calls:
                self._report.repairs["tool call that stands twice"] += 1
                continue
            call = self.calls[call_id] = Call(call_id, name, arguments)
            new.append(call)
        return new


def _is_lost_agent(call: Call) -> bool:
    """Whether the call started an agent, as far as it shows; the caller knows that its transcript is not here."""
    failed = call.is_refused or (call.answer is not None and call.answer.is_error)
    return call.name in AGENT_TOOLS and not failed


def may_change_files(call: Call) -> bool:
    """Whether the agent that the call started may have changed files: its kind, or the counts beside its answer, may
    say that it did not."""
    result = call.outcome if isinstance(call.outcome, dict) else {}
    counts = result.get("toolStats")
    if isinstance(counts, dict) and "editFileCount" in counts and "bashCount" in counts:
        return bool(counts["editFileCount"] or counts["bashCount"])
    kind = text(call.arguments, "subagent_type") or text(result, "agentType")
    return kind not in READ_ONLY_AGENTS


def _has_call(message: _Message, call_id: str) -> bool:
    return any(call.id == call_id for call in message.calls)


@dataclass(frozen=True, slots=True)
class _Usual:
    """The model and the agent that a run has where its steps do not say otherwise."""

    model: str
    agent: str


def _step(message: _Message, loose: list[_Agent], usual: _Usual) -> Step:
    calls = tuple(
        ToolCall(
            id=call.id,
            name=call.name,
            arguments=call.arguments,
            result=None if call.answer is None else call.answer.text,
            is_error=call.answer is not None and call.answer.is_error and not call.is_refused,
            refused=call.is_refused,
            pictures=() if call.answer is None else call.answer.pictures,
        )
        for call in message.calls
    )
    texts, thoughts = joined(message.content.texts), joined(message.content.thoughts)
    agents = tuple(
        SubAgent(agent.name, agent.call_id, agent.conversation.task, agent.conversation.steps(usual))
        for agent in (*loose, *message.agents)
    )
    return Step(
        message=texts,
        thought=thoughts,
        calls=calls,
        at=message.at,
        prompt=message.prompt,
        prompt_pictures=message.prompt_pictures,
        dividers=message.dividers,
        agents=agents,
        model="" if message.model == usual.model else message.model,
        agent="" if message.agent == usual.agent else message.agent,
        usage=message.usage,
    )


def _split(step: Step) -> list[Step]:
    if len(step.calls) < 2:
        return [step]
    known = {call.id for call in step.calls}

    def agents_started_by(call: ToolCall) -> tuple[SubAgent, ...]:
        return tuple(agent for agent in step.agents if agent.call_id == call.id)

    first, *others = step.calls
    loose = tuple(agent for agent in step.agents if agent.call_id not in known)
    return [
        replace(step, calls=(first,), agents=(*agents_started_by(first), *loose)),
        # One message wrote them all: what it took stands with the first.
        *(
            Step(calls=(call,), at=step.at, agents=agents_started_by(call), model=step.model, agent=step.agent)
            for call in others
        ),
    ]
