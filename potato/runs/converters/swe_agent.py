"""The format `swe_agent`: a trajectory of SWE-agent, *.traj.

Field notes (SWE-agent 0.6 to 1.1: sweagent/types.py, agent/agents.py, run/hooks/trajectory.py of its repository)
- One JSON object: trajectory: [{action, observation, response, thought, state, execution_time, query or messages,
  extra_info}], history: [{role, content, message_type, agent, is_demo, thought, action, tool_calls, tool_call_ids,
  thinking_blocks}], info: {submission, exit_status, model_stats, edited_files30/50/70, ...}, environment,
  replay_config (an object, or its text), and `attempts` where an agent tried several times: then `trajectory` and
  `info` are the chosen one's. Demonstrations may have `history` alone.
- A step is one entry of `trajectory`. `thought` is what the agent said aloud, `response` the same with its action;
  `thinking_blocks` is hidden reasoning. `state` is an object, or its text: {open_file, working_dir}; in 1.x it is that
  after the action, before that it is that before it, so that it serves for names of files alone.
- The history has the prompts, of which the first names the task, and calls in JSON. Messages with is_demo are a
  demonstration and no part of the run. It may be shortened: the trajectory goes before it.
- A picture that a tool shows stands in the observation as Markdown with a data URL, in the history also as a part.
- info.submission is the patch, or an answer of another kind (the flag of a contest). A terminal may have ended all its
  lines with CR LF.
- Instance and task: replay_config.problem_statement {id, text, github_url}; repository: replay_config.env.repo
  {repo_name, github_url, base_commit}; model: replay_config.agent.model.name. Without them the instance is read off the
  file's name, <instance_id>.traj, if it has the form of SWE-bench, and the task off the first prompt.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from potato.runs.converters.blocks import Answer, Content, as_json, read_content
from potato.runs.converters.chat_messages import content_text
from potato.runs.converters.conversation import Conversation
from potato.runs.converters.facts import read_facts, repository_named_by
from potato.runs.converters.fields import name, objects, text
from potato.runs.converters.inline_pictures import without_pictures
from potato.runs.converters.json_text import Malformed, parsed
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, read_records, resumable
from potato.runs.converters.result_pictures import pictures_of_message
from potato.runs.converters.submission import submitted_patch
from potato.runs.converters.swe_agent_actions import WindowFiles, is_failure, read_action
from potato.runs.converters.templates import task_in_prompt
from potato.runs.converters.usage import duration, positive_number
from potato.runs.model import (
    JSON,
    AgentRun,
    ConversionReport,
    Converted,
    ReadingOptions,
    RunFile,
    Screenshot,
    Unreadable,
)

_OWN = frozenset({"response", "state"})
_STEP_MEMBERS = _OWN | {"action", "observation", "thought", "execution_time", "query", "messages", "extra_info"}
_MEMBERS = frozenset({"trajectory", "history", "info", "environment", "replay_config", "attempts"})
_FACTS = frozenset({"id", "task_id", "agent_model", "model", "instance_id", "repo", "tags", "base_commit"})
_GITHUB = re.compile(r"github\.com[/:]([\w.-]+/[\w.-]+?)(?:\.git)?(?:/|\Z)")
_HISTORY = frozenset({"message_type", "agent", "thought", "action", "is_demo"})


class SweAgent:
    """Trajectories of SWE-agent."""

    name = "swe_agent"
    label = "SWE-agent trajectory"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        for record in detect_outline(head, filename).records():
            if not isinstance(record, dict):
                continue
            steps = objects(record.get("trajectory"))
            if any({"action", "observation"} <= step.keys() and not _OWN.isdisjoint(step) for step in steps):
                return 0.97, "its trajectory has steps with action, observation, response and state"
            if filename.lower().endswith(".traj") and any("action" in step for step in steps):
                # The first observation alone may be longer than what is seen of the file.
                return 0.9, "it is a .traj file with a trajectory of actions"
            messages = objects(record.get("history"))
            if any("role" in message and not _HISTORY.isdisjoint(message) for message in messages):
                return 0.9, "its history has messages with agent, thought and action"
            if filename.lower().endswith(".traj") and any("role" in message for message in messages):
                return 0.9, "it is a .traj file with a history of messages"
        return 0.0, "no record has a trajectory of actions and observations, or a history"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        for record in read_records(lines, options.bounds):
            if isinstance(record, Unreadable):
                yield record
            else:
                yield resumable(_converted(record, lines.name, options), record.after)


def _converted(record: Record, filename: str, options: ReadingOptions) -> Converted | Unreadable:
    report = ConversionReport()
    report.repairs.update(record.repairs)
    value = record.value
    for key in value.keys() - _MEMBERS - _FACTS - {options.id_key, options.text_key}:
        report.unknown[f"member {key}"[:100]] += 1
    if (attempts := len(objects(value.get("attempts"))) - 1) > 0:
        report.dropped["attempt that was not chosen"] += attempts
    history = [message for message in objects(value.get("history")) if not message.get("is_demo")]
    if demonstrations := len(objects(value.get("history"))) - len(history):
        report.dropped["message of a demonstration"] += demonstrations
    steps = objects(value.get("trajectory"))
    configuration = _object(value.get("replay_config"), options)
    task, pictures = without_pictures(read_facts(value, options).task or _task(configuration, history))
    if steps:
        pictures += _pictures_of_task(history)
    read = _Trajectory(report, task, _folder(steps or history, options), options, pictures)
    if steps:
        read.read_steps(steps, history)
    else:
        read.read_history(history)
    run = read.run(_facts(value, configuration, filename, options), _member(value, "info"))
    if not run.steps:
        sentence = f"{filename} has no step of the agent under trajectory or history, so there is nothing to judge."
        return Unreadable(record.place, "no_steps", sentence)
    return Converted(run, report, record.place)


class _Trajectory:
    """Takes steps or messages in their order."""

    def __init__(
        self,
        report: ConversionReport,
        task: str,
        folder: str,
        options: ReadingOptions,
        pictures: tuple[Screenshot, ...] = (),
    ) -> None:
        self._report = report
        self._options = options
        self._folder = folder
        self._working = folder
        self._conversation = Conversation(report, task, read_effects=WindowFiles(folder).effects)
        if pictures:
            self._conversation.add_user_message(task, pictures)
        self._count = 0

    def read_steps(self, steps: list[dict[str, JSON]], history: list[dict[str, JSON]]) -> None:
        calls = _CallsOfHistory(history)
        for step in steps:
            for key in step.keys() - _STEP_MEMBERS:
                self._report.unknown[f"member trajectory[].{key}"[:100]] += 1
            if "query" in step or "messages" in step:
                self._report.dropped["copy of the messages before a step"] += 1
            action = text(step, "action")
            message = calls.next(action)
            content = Content(texts=[text(step, "thought") or (text(step, "response") if not action.strip() else "")])
            content.thoughts += _thoughts(message)
            self._add(
                content, action, _call(message, self._options), step.get("observation"), _state(step, self._options)
            )
            self._conversation.took(duration(step.get("execution_time")))

    def read_history(self, history: list[dict[str, JSON]]) -> None:
        waiting: tuple[Content, str, JSON] | None = None
        for message in history:
            words, pictures = _words_and_pictures(message.get("content"), self._report)
            match text(message, "role"):
                case "assistant":
                    if waiting:
                        self._add(*waiting, None, {})
                    action = text(message, "action")
                    content = Content(texts=[text(message, "thought") or ("" if action else words)])
                    content.thoughts += _thoughts(message)
                    waiting = content, action, _call(message, self._options)
                case "user" | "tool" if waiting:
                    self._add(*waiting, words, {}, pictures)
                    waiting = None
                case "user" | "tool":
                    self._conversation.add_user_message(words, pictures)
                case "system":
                    self._report.dropped["instruction of the agent"] += 1
                case role:
                    self._report.unknown[f"message of the role {role or '(none)'}"[:100]] += 1
        if waiting:
            self._add(*waiting, None, {})

    def _add(
        self,
        content: Content,
        action: str,
        call: JSON,
        observation: JSON,
        state: dict[str, JSON],
        shown: tuple[Screenshot, ...] = (),
    ) -> None:
        """One step. `shown` are pictures of the observation that are no part of its text."""
        self._count += 1
        key = f"step {self._count}"
        if action.strip() or call is not None:
            tool, arguments = read_action(action, call)
            content.calls.append((key, tool, arguments))
        elif not any(words.strip() for words in content.texts + content.thoughts):
            content.texts = ["(The agent gave no action.)"]
        self._conversation.add_agent_message(content, message_id=key, at="", model="")
        answer = observation if isinstance(observation, str) or observation is None else as_json(observation)
        pictures = shown
        if answer is not None:
            answer, inline = without_pictures(answer)
            pictures += inline
        if content.calls and answer is not None:
            outcome = {**state, "before": self._working}
            has_failed = is_failure(content.calls[0][1], answer)
            self._conversation.answer(Answer(key, answer, has_failed, pictures), outcome)
        elif answer and answer.strip():
            self._conversation.add_user_message(answer, pictures)
        self._working = text(state, "working_dir") or self._working

    def run(self, facts: AgentRun, info: dict[str, JSON]) -> AgentRun:
        """The run, with the patch that was submitted."""
        if facts.patch is None:
            facts = replace(facts, patch=submitted_patch(info.get("submission"), self._report))
        read = self._conversation.as_steps(split_tool_calls=self._options.split_tool_calls)
        return replace(
            facts,
            task=self._conversation.task,
            steps=read.steps,
            events=read.events,
            event_steps=read.event_steps,
            gaps=read.gaps,
            folder=self._folder,
            agent="SWE-agent",
            # Zero stands where a model has no price.
            cost_usd=positive_number(_member(info, "model_stats").get("instance_cost")) or None,
        )


class _CallsOfHistory:
    """The agent's messages of the history, which are asked for in the order of the steps. One that is missing there is
    passed over."""

    def __init__(self, history: list[dict[str, JSON]]) -> None:
        self._messages = [message for message in history if text(message, "role") == "assistant"]
        self._at = 0

    def next(self, action: str) -> dict[str, JSON]:
        for at in range(self._at, len(self._messages)):
            if text(self._messages[at], "action").strip() == action.strip():
                self._at = at + 1
                return self._messages[at]
        return {}


@dataclass(frozen=True, slots=True)
class _Configuration:
    """What a run says of its task."""

    statement: dict[str, JSON]
    repository: dict[str, JSON]
    model: str
    template: str


def _object(value: JSON, options: ReadingOptions) -> dict[str, JSON]:
    """An object, or the object that a text is."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            ignored = ConversionReport()
            value = parsed(value.encode("utf-8", "surrogatepass"), ignored.repairs, depth=options.bounds.depth)
        except Malformed:
            return {}
    return value if isinstance(value, dict) else {}


def _member(value: JSON, *keys: str) -> dict[str, JSON]:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _state(step: dict[str, JSON], options: ReadingOptions) -> dict[str, JSON]:
    return _object(step.get("state"), options)


def _folder(steps: list[dict[str, JSON]], options: ReadingOptions) -> str:
    """The first working folder that a step names."""
    return next((folder for step in steps if (folder := text(_state(step, options), "working_dir"))), "")


def _thoughts(message: dict[str, JSON]) -> list[str]:
    ignored = ConversionReport()
    return read_content(message.get("thinking_blocks"), ignored.unknown).thoughts


def _call(message: dict[str, JSON], options: ReadingOptions) -> JSON:
    """The call in JSON that an agent's message has: {name, arguments}."""
    function = _member(next(iter(objects(message.get("tool_calls"))), {}), "function")
    arguments = _object(function.get("arguments"), options)
    called = text(function, "name")
    return {"name": called, "arguments": arguments} if called and (arguments or called == "submit") else None


def _task(configuration: dict[str, JSON], history: list[dict[str, JSON]]) -> str:
    if statement := text(_member(configuration, "problem_statement"), "text"):
        return statement
    template = text(_member(configuration, "agent", "templates"), "instance_template")
    ignored = ConversionReport()
    for message in history:
        if text(message, "role") == "user":
            return task_in_prompt(content_text(message.get("content"), ignored.unknown), template)
    return ""


def _pictures_of_task(history: list[dict[str, JSON]]) -> tuple[Screenshot, ...]:
    """Those that stand as parts in the first prompt."""
    first = next((message for message in history if text(message, "role") == "user"), {})
    return pictures_of_message(first.get("content"))


def _words_and_pictures(content: JSON, report: ConversionReport) -> tuple[str, tuple[Screenshot, ...]]:
    """What a message says, with a line for each picture, and the pictures, in the text or as parts."""
    words, inline = without_pictures(content_text(content, report.unknown))
    return words, (*inline, *pictures_of_message(content))


def _facts(value: dict[str, JSON], configuration: dict[str, JSON], filename: str, options: ReadingOptions) -> AgentRun:
    facts = read_facts(value, options).run()
    statement = _member(configuration, "problem_statement")
    repository = _member(configuration, "env", "repo")
    stem = PurePosixPath(filename).name.removesuffix(".traj")
    instance = facts.instance_id or name(statement, "id") or (stem if repository_named_by(stem) else "")
    model = facts.agent_model or text(_member(configuration, "agent", "model"), "name")
    address = _GITHUB.search(text(repository, "github_url") or text(statement, "github_url"))
    return replace(
        facts,
        external_id=facts.external_id or (f"{instance}@{model}" if instance and model else instance or stem),
        instance_id=instance,
        agent_model=model,
        repo=facts.repo or (address[1] if address else repository_named_by(instance)),
        base_commit=facts.base_commit or text(repository, "base_commit"),
    )
