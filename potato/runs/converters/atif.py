"""The format `atif`: trajectories in the Agent Trajectory Interchange Format, of any minor version of 1.

Field notes
- {schema_version: "ATIF-v1.x", session_id, trajectory_id, agent: {name, version, model_name, extra: {cwd}}, steps,
  final_metrics, subagent_trajectories, extra}. session_id may be missing since 1.7. A file is one, a list, or lines.
- A step is {step_id, source: system | user | agent, message, model_name, reasoning_content, tool_calls: [{tool_call_id,
  function_name, arguments}], observation: {results: [{source_call_id, content, subagent_trajectory_ref}]}, metrics,
  is_copied_context}. message and content are a text or parts {type: text, text} and {type: image, source: {media_type,
  path}}.
- continued_trajectory_ref: the file in which the trajectory goes on, whose first steps may be copies.
- A result may answer a call of an earlier step. One without source_call_id answers the step's next open call; where a
  step has no call at all, its words were the act.
- subagent_trajectory_ref is a list of {trajectory_id, session_id, trajectory_path}, or one of them. What it names
  stands in subagent_trajectories, or in a file elsewhere.
- Found in the wild: schema_version "1.4"; calls with id, name and input; observation or content as a text, a list or an
  object; steps of the agent that only system steps tell; a call that a later step repeats with its result; as lines a
  first one without steps and each step behind it. Beside those lies SESSION.index.json, which has no steps.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from potato.runs.converters.blocks import Answer, Content, as_json, joined
from potato.runs.converters.conversation import Conversation
from potato.runs.converters.fields import name, objects, text
from potato.runs.converters.json_text import read_arguments
from potato.runs.converters.moments import Moments
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, read_records
from potato.runs.converters.result_pictures import pictures_in, pictures_of_message
from potato.runs.converters.tool_effects import read_tool_effects
from potato.runs.converters.tool_files import CallEffects
from potato.runs.converters.usage import positive_number, read_usage
from potato.runs.model import (
    JSON,
    AgentRun,
    ConversionReport,
    Converted,
    ReadingOptions,
    ReadPosition,
    RunFile,
    Unreadable,
)
from potato.runs.run_files import in_words

_DEEPEST = 8
_AGENTS_ADVICE = "Export it with its sub-agents inside (subagent_trajectories)."
_MOST_UNKNOWN_KEPT = 1000
_SOURCES = frozenset({"system", "user", "agent"})


class Atif:
    """Trajectories in the Agent Trajectory Interchange Format."""

    name = "atif"
    label = "ATIF trajectory"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        for record in detect_outline(head, filename).records():
            if not isinstance(record, dict):
                continue
            if text(record, "schema_version").startswith("ATIF"):
                return 0.97, f"it says {text(record, 'schema_version')[:40]}"
            if _has_steps(record) and isinstance(record.get("agent"), dict):
                return 0.95, "it has an agent and steps with step_id and source, as ATIF has"
            if _is_header(record):
                return 0.9, "it has the session and the agent of an ATIF trajectory"
        return 0.0, "no record has the schema_version or the steps of ATIF"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        open_run: _Lines | None = None
        for record in read_records(lines, options.bounds):
            if isinstance(record, Unreadable):
                yield record
            elif isinstance(record.value.get("steps"), list):
                yield _converted(record, options, lines.name)
            elif _is_header(record.value) or open_run is None:
                if open_run is not None:
                    yield open_run.finished(options, lines.name)
                open_run = _Lines(record)
            else:
                open_run.add(record, options)
        if open_run is not None:
            yield open_run.finished(options, lines.name)


def _has_steps(record: dict[str, JSON]) -> bool:
    return any("step_id" in step and text(step, "source") in _SOURCES for step in objects(record.get("steps")))


def _is_header(record: dict[str, JSON]) -> bool:
    agent = record.get("agent")
    return isinstance(agent, dict) and {"name", "version"} <= agent.keys() and "session_id" in record


@dataclass(slots=True)
class _Lines:
    """A trajectory whose steps are lines of their own."""

    first: Record
    steps: list[JSON] = field(default_factory=list)
    size: int = 0
    after: ReadPosition | None = None

    def __post_init__(self) -> None:
        if "step_id" in self.first.value:
            self.steps.append(self.first.value)

    def add(self, record: Record, options: ReadingOptions) -> None:
        self.size += record.size
        self.after = record.after
        if self.size <= options.bounds.run_bytes:
            self.steps.append(record.value)

    def finished(self, options: ReadingOptions, file: str) -> Converted | Unreadable:
        head = self.first
        if self.size > options.bounds.run_bytes:
            sentence = (
                f"The trajectory at {head.place} is over {in_words(options.bounds.run_bytes)}, the bound of one run."
            )
            return Unreadable(head.place, "too_large", sentence, self.after)
        if not self.steps:
            sentence = (
                f"{file} is the index of an ATIF trajectory and has no steps. Import the trajectory's own file, which "
                "lies beside it."
            )
            return Unreadable(head.place, "no_steps", sentence, head.after)
        value = {**head.value, "steps": self.steps}
        whole = Record(head.place, value, head.repairs, self.size, self.after or head.after)
        return _converted(whole, options, file)


def _converted(record: Record, options: ReadingOptions, file: str) -> Converted | Unreadable:
    report = ConversionReport()
    report.repairs.update(record.repairs)
    reader = _Trajectory(record.value, report, Moments(), {})
    reader.convert(0)
    steps = reader.conversation.as_steps(split_tool_calls=options.split_tool_calls)
    if not steps.steps:
        sentence = f"The trajectory at {record.place} has no step of the agent, so there is nothing to judge."
        return Unreadable(record.place, "no_steps", sentence, record.after)
    value = record.value
    first = objects(value["steps"])[0] if objects(value["steps"]) else {}
    run = AgentRun(
        external_id=name(value, "session_id") or name(value, "trajectory_id"),
        task=reader.conversation.task,
        steps=steps.steps,
        events=steps.events,
        event_steps=steps.event_steps,
        folder=reader.folder,
        agent_model=steps.agent_model,
        started_at=text(first, "timestamp"),
        unknown_events=tuple(reader.unknown),
        gaps=(*reader.gaps(), *steps.gaps),
        agent=reader.agent_name,
        cost_usd=_cost(value),
    )
    return Converted(run, report, record.place, record.after)


def _cost(value: dict[str, JSON]) -> float | None:
    """What the whole trajectory cost, else its steps together, where one of them says so."""
    totals = value.get("final_metrics")
    if isinstance(totals, dict) and (total := positive_number(totals.get("total_cost_usd"))) is not None:
        return total
    metrics = [step["metrics"] for step in objects(value["steps"]) if isinstance(step.get("metrics"), dict)]
    costs = [cost for each in metrics if (cost := positive_number(each.get("cost_usd"))) is not None]
    return round(sum(costs), 10) if costs else None


class _Trajectory:
    """Puts one trajectory, and those inside it, into conversations."""

    def __init__(
        self, value: dict[str, JSON], report: ConversionReport, moments: Moments, beside: dict[str, dict[str, JSON]]
    ) -> None:
        self._value = value
        self._report = report
        self._moments = moments
        agent = value.get("agent")
        self._model = text(agent, "model_name")
        self.agent_name = text(agent, "name")
        extra = agent.get("extra") if isinstance(agent, dict) else None
        self.folder = text(extra, "cwd") or text(value.get("extra"), "cwd")
        self.unknown: list[JSON] = []
        self._refs: dict[str, str] = {}
        self._lost = 0
        self._embedded = {**beside, **_by_id(value)}
        self.conversation = Conversation(
            report, "", moments.next, read_effects=self._effects, agents_advice=_AGENTS_ADVICE
        )

    def convert(self, depth: int) -> None:
        """Put the steps into the conversation, and attach the agents of the trajectory."""
        steps = self._value.get("steps")
        entries = steps if isinstance(steps, list) else []
        reads_system_steps = not any(
            text(step, "source") == "agent" and _says_something(step) for step in objects(entries)
        ) and any(text(step, "source") == "system" and number for number, step in enumerate(objects(entries)))
        if reads_system_steps:
            self._report.repairs["system steps alone: read as the agent's"] += 1
        for number, step in enumerate(entries, 1):
            if isinstance(step, dict):
                self._take(step, number, reads_system_steps=reads_system_steps)
            else:
                self._keep_unknown(step, "step that is no object")
        self._attach(depth)

    def gaps(self) -> list[str]:
        """What is said of the run's parts that are in other files."""
        goes_on = text(self._value, "continued_trajectory_ref")
        behind = (
            f"The trajectory goes on in another file, {goes_on[:200]}, which is a run of its own." if goes_on else ""
        )
        return [sentence for sentence in (behind, self._lost_agents()) if sentence]

    def _lost_agents(self) -> str:
        if not self._lost:
            return ""
        whose = "trajectory of a sub-agent is" if self._lost == 1 else f"trajectories of {self._lost} sub-agents are"
        return (
            f"The {whose} in another file, and what happened there is not shown. Export it with its sub-agents inside "
            "(subagent_trajectories)."
        )

    def _take(self, step: dict[str, JSON], number: int, *, reads_system_steps: bool) -> None:
        source = text(step, "source")
        if step.get("is_copied_context") is True:
            self._report.dropped["copied step"] += 1
            return
        if source == "user":
            self._answer(step, number)
            if words := self._words(step.get("message")):
                self.conversation.add_user_message(words, pictures_of_message(step.get("message")))
        elif source == "agent" or objects(step.get("tool_calls")):
            if source != "agent":
                self._report.repairs[f"{source or 'nameless'} step with calls: read as the agent's"] += 1
            self._act(step, number)
        elif source == "system":
            self._system(step, number, reads_system_steps=reads_system_steps and number > 1)
        else:
            self._keep_unknown(step, f"step of the source {source}" if source else "step without a source")

    def _system(self, step: dict[str, JSON], number: int, *, reads_system_steps: bool) -> None:
        if reads_system_steps:
            self._act(step, number)
            return
        if not self._answer(step, number):
            self._report.dropped["system step"] += 1

    def _act(self, step: dict[str, JSON], number: int) -> None:
        content = Content([self._words(step.get("message"))], [text(step, "reasoning_content")])
        for position, call in enumerate(objects(step.get("tool_calls")), 1):
            call_id = name(call, "tool_call_id") or name(call, "id") or f"{number}.{position}"
            if "function_name" not in call:
                self._report.repairs["call with other names than ATIF's"] += 1
            function = call.get("function")
            tool = text(call, "function_name", "name") or text(function, "name") or "(no name)"
            keys = ("arguments", "input", "args")
            arguments = next((call[key] for key in keys if key in call), None)
            if arguments is None and isinstance(function, dict):
                arguments = function.get("arguments")
            content.calls.append((call_id, tool, read_arguments(arguments)))
        at = text(step, "timestamp")
        model = text(step, "model_name") or self._model
        usage = read_usage(step.get("metrics"))
        self.conversation.add_agent_message(content, message_id=f"step {number}", at=at, model=model, usage=usage)
        self._answer(step, number)

    def _answer(self, step: dict[str, JSON], number: int) -> bool:
        """The results that a step has, if any."""
        observation = step.get("observation")
        if observation is None:
            return False
        results = observation.get("results") if isinstance(observation, dict) else None
        if not isinstance(results, list):
            self._report.repairs["observation in another form than ATIF's"] += 1
            results = observation if isinstance(observation, list) else [{"content": _inner(observation)}]
        own = [name(call, "tool_call_id") or name(call, "id") for call in objects(step.get("tool_calls"))]
        calls = [call_id or f"{number}.{at}" for at, call_id in enumerate(own, 1)]
        for at, entry in enumerate(results, 1):
            result = entry if isinstance(entry, dict) else {"content": entry}
            call_id = name(result, "source_call_id") or name(result, "tool_call_id")
            if not call_id:
                call_id = next((known for known in calls if self._is_open(known)), "")
            if not call_id or call_id not in self.conversation.calls:
                call_id = self._add_call(step, number, at)
            inner = result["content"] if "content" in result else _inner(result)
            words = self._words(inner)
            extra = result.get("extra")
            failed = isinstance(extra, dict) and (
                extra.get("is_error") is True or extra.get("tool_result_is_error") is True
            )
            if self._is_open(call_id):
                answer = Answer(call_id, words, failed, pictures_in(inner))
                self.conversation.answer(answer, at=text(step, "timestamp"))
            else:
                self._report.repairs["second result of a call"] += 1
            for ref in _refs(result.get("subagent_trajectory_ref")):
                for key in (name(ref, "trajectory_id"), name(ref, "session_id"), name(ref, "trajectory_path")):
                    if key:
                        self._refs.setdefault(key, call_id)
                if not any(
                    name(ref, key) in self._embedded for key in ("trajectory_id", "session_id", "trajectory_path")
                ):
                    self._lost += 1
                    doubt = CallEffects(doubts_all="A sub-agent, whose trajectory is in another file,")
                    self.conversation.record_effects(call_id, doubt)
        return bool(results)

    def _is_open(self, call_id: str) -> bool:
        call = self.conversation.calls.get(call_id)
        return call is not None and call.answer is None

    def _add_call(self, step: dict[str, JSON], number: int, at: int) -> str:
        """A call for a result that answers none: the words of the step were the act."""
        self._report.repairs["result without its call"] += 1
        call_id = f"{number}.result {at}"
        content = Content(calls=[(call_id, "(no call)", None)])
        model = text(step, "model_name") or self._model
        self.conversation.add_agent_message(
            content, message_id=f"step {number}", at=text(step, "timestamp"), model=model
        )
        return call_id

    def _attach(self, depth: int) -> None:
        for key, value in _own(self._value):
            child = _Trajectory(value, self._report, self._moments, self._embedded)
            if depth < _DEEPEST:
                child.convert(depth + 1)
            keys = (key, name(value, "trajectory_id"), name(value, "session_id"))
            call_id = next((self._refs[known] for known in keys if known in self._refs), "")
            if not child.conversation.has_messages():
                self._report.dropped["sub-agent without a step"] += 1
                continue
            self.conversation.attach(child.agent_name or "agent", call_id, child.conversation, _begin(value))
            self.unknown += child.unknown
            self._lost += child._lost

    def _effects(
        self, tool: str, arguments: JSON, outcome: JSON, answer: Answer, report: ConversionReport
    ) -> CallEffects:
        return read_tool_effects(tool, arguments, None, answer, report, folder=self.folder)

    def _words(self, content: JSON) -> str:
        if isinstance(content, str):
            return content
        if isinstance(content, list):
            return joined([self._part(part) for part in content])
        return "" if content is None else as_json(content)

    def _part(self, part: JSON) -> str:
        kind = text(part, "type")
        if isinstance(part, str):
            return part
        if kind == "text":
            return text(part, "text")
        if kind == "image":
            source = part.get("source")
            return f"[{text(source, 'media_type') or 'image'} {text(source, 'path', 'url')}]".replace(" ]", "]")
        self._report.unknown[f"part {kind[:40] or 'without a type'}"] += 1
        return as_json(part)

    def _keep_unknown(self, step: JSON, kind: str) -> None:
        self._report.unknown[kind[:80]] += 1
        if len(self.unknown) < _MOST_UNKNOWN_KEPT:
            self.unknown.append(step)


def _says_something(step: dict[str, JSON]) -> bool:
    return bool(step.get("message") or step.get("tool_calls") or step.get("reasoning_content"))


def _own(value: dict[str, JSON]) -> list[tuple[str, dict[str, JSON]]]:
    """The trajectories inside this one, in their order; in some files they stand under their ids."""
    inside = value.get("subagent_trajectories")
    if isinstance(inside, dict):
        return [(key, child) for key, child in inside.items() if isinstance(child, dict)]
    return [("", child) for child in objects(inside)]


def _by_id(value: dict[str, JSON]) -> dict[str, dict[str, JSON]]:
    known: dict[str, dict[str, JSON]] = {}
    for key, child in _own(value):
        for own in (key, name(child, "trajectory_id"), name(child, "session_id")):
            if own:
                known[own] = child
    return known


def _refs(value: JSON) -> list[dict[str, JSON]]:
    return [value] if isinstance(value, dict) else objects(value)


def _begin(value: dict[str, JSON]) -> str:
    return next((at for step in objects(value.get("steps")) if (at := text(step, "timestamp"))), "")


def _inner(value: JSON) -> JSON:
    """The content of a result in another form."""
    if isinstance(value, dict):
        return next((value[key] for key in ("content", "output", "result", "text") if key in value), value)
    return value
