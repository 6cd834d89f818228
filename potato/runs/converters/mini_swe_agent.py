"""The format `mini_swe_agent`: a trajectory of mini-swe-agent, *.traj.json.

Field notes (mini-swe-agent 1.0 to 2.x: agents/default.py, models/utils/actions_*.py, run/benchmarks/swebench.py)
- {info: {exit_status, submission, model_stats: {instance_cost, api_calls}, mini_version, config: {agent, model,
  environment}}, messages, trajectory_format: "mini-swe-agent-1" or "mini-swe-agent-1.1", instance_id}. Before that, and
  in its own examples, a bare list of messages.
- 1.x: a message of the agent has its action in a block ```bash or ```mswea_bash_command, or as another configuration
  says (swebench_xml.yaml, its action_regex) between <bash_code> or <mswea_bash_command> and the end of that; just one,
  or it was refused. The user message behind it is the answer, <returncode>N</returncode> and <output>, by the
  configuration's template. A long output is cut: <output_head>, <elided_chars>, <output_tail>. A message that says
  neither is the program's word: a refused format, a time limit, at the end the submission itself.
- 2.x: `extra.actions` [{command, tool_call_id}] has the commands; beside them are OpenAI tool_calls, or an OpenAI
  response {object: "response", output}. Answers are messages of the role tool {tool_call_id}, items
  {type: function_call_output, call_id, output}, or user messages; `extra` has raw_output, returncode, timestamp,
  exception_info. The last message has the role exit, with extra {exit_status, submission}.
- Content may be OpenAI's parts, {type: text, text} and {type: image_url, image_url: {url}}: a data URL that a command
  printed between marks (`inline_pictures`), or a picture of the task.
- A command runs in a shell of its own in the environment's folder (config.environment.cwd).
- extra.response is the model's answer as it came: it names the model, and is left out otherwise.
- The submission is what the last command printed, a patch where it was one.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from potato.runs.converters.blocks import Answer, Content, result_text
from potato.runs.converters.chat_messages import content_text
from potato.runs.converters.conversation import Conversation
from potato.runs.converters.facts import read_facts, repository_named_by
from potato.runs.converters.fields import name, objects, text, text_or_none
from potato.runs.converters.inline_pictures import without_pictures
from potato.runs.converters.marked import Stretch, stretches
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, read_records, resumable
from potato.runs.converters.result_pictures import pictures_of_message
from potato.runs.converters.shell_files import ShellFiles
from potato.runs.converters.submission import submitted_patch
from potato.runs.converters.templates import task_in_prompt
from potato.runs.converters.tool_files import CallEffects
from potato.runs.converters.usage import positive_number, read_usage
from potato.runs.model import JSON, ConversionReport, Converted, ReadingOptions, RunFile, Screenshot, Unreadable

_BLOCK = re.compile(r"^```(mswea_bash_command|bash)[ \t]*\n", re.MULTILINE)
_END_OF_BLOCK = re.compile(r"^```[ \t]*$", re.MULTILINE)
_TAG = re.compile(r"<(?:bash_code|mswea_bash_command)>")
_END_OF_TAG = re.compile(r"</(?:bash_code|mswea_bash_command)>")
_RETURNED = re.compile(r"\s*<returncode>(-?\d{1,9})</returncode>\s*")
_OUTPUT = re.compile(r"<output>\n?(.*)</output>\s*\Z", re.DOTALL)
_ROLES = frozenset({"system", "user", "assistant", "tool", "exit"})
_MEMBERS = frozenset({"info", "messages", "trajectory_format", "instance_id", "instance"})
_FACTS = frozenset({"id", "task_id", "agent_model", "model", "repo", "tags", "base_commit"})


class MiniSweAgent:
    """Trajectories of mini-swe-agent."""

    name = "mini_swe_agent"
    label = "mini-swe-agent trajectory"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        records = [record for record in detect_outline(head, filename).records() if isinstance(record, dict)]
        for record in records:
            info = record.get("info")
            if text(record, "trajectory_format").startswith("mini-swe-agent"):
                return 1.0, f"its trajectory_format is {text(record, 'trajectory_format')[:40]}"
            if isinstance(info, dict) and "mini_version" in info:
                return 0.97, "its info has a mini_version"
        lists = [objects(record.get("messages")) for record in records if "messages" in record] or [records]
        for messages in lists:
            if any(_is_message(message) for message in messages):
                return 0.9, "its messages have actions in blocks for bash and answers with a returncode"
            if filename.lower().endswith(".traj.json") and any(text(message, "role") in _ROLES for message in messages):
                return 0.85, "it is a .traj.json file of messages"
        return 0.0, "no record has messages of mini-swe-agent"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        messages: list[dict[str, JSON]] = []
        first: Record | None = None
        size = 0
        for record in read_records(lines, options.bounds):
            if isinstance(record, Unreadable):
                yield resumable(record, None if messages else record.after)
            elif isinstance(record.value.get("messages"), list):
                yield resumable(_converted(record, lines.name, options), None if messages else record.after)
            elif _is_part(record.value):
                first = first or record
                size += record.size
                if size > options.bounds.run_bytes:
                    yield Unreadable(record.place, "too_large", f"The run is too large at message {record.place}.")
                    return
                messages.append(record.value)
            else:
                sentence = f"Record {record.place} is no message: it has no role of mini-swe-agent, and no messages."
                yield Unreadable(record.place, "no_message", sentence)
        if first is not None:
            whole = replace(first, value={"messages": messages})
            yield resumable(_converted(whole, lines.name, options), None)


def _is_part(value: dict[str, JSON]) -> bool:
    return text(value, "role") in _ROLES or "type" in value or value.get("object") == "response"


def _is_message(message: dict[str, JSON]) -> bool:
    content = text(message, "content")
    if text(message, "role") == "assistant":
        extra = message.get("extra")
        is_acting = isinstance(extra, dict) and isinstance(extra.get("actions"), list)
        return is_acting or "```mswea_bash_command" in content or "<mswea_bash_command>" in content
    return text(message, "role") == "user" and _RETURNED.match(content) is not None


def _member(value: JSON, *keys: str) -> dict[str, JSON]:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _converted(record: Record, filename: str, options: ReadingOptions) -> Converted | Unreadable:
    report = ConversionReport()
    report.repairs.update(record.repairs)
    value = record.value
    for key in value.keys() - _MEMBERS - _FACTS - {options.id_key, options.text_key}:
        report.unknown[f"member {key}"[:100]] += 1
    info = _member(value, "info")
    facts = read_facts(value, options).run()
    story = _Story(report, facts.task, _member(info, "config"))
    for message in value["messages"]:
        story.add(message if isinstance(message, dict) else {"content": message})
    submission = text_or_none(info, "submission")
    patch = submitted_patch(story.submission if submission is None else submission, report)
    read = story.conversation.as_steps(split_tool_calls=options.split_tool_calls)
    if not read.steps:
        sentence = f"Record {record.place} has no message of the agent, so there is nothing to judge."
        return Unreadable(record.place, "no_steps", sentence)
    instance = facts.instance_id or name(value, "instance")
    model = facts.agent_model or text(_member(info, "config", "model"), "model_name") or read.agent_model
    run = replace(
        facts,
        external_id=facts.external_id or (f"{instance}@{model}" if instance and model else instance or filename),
        task=story.conversation.task,
        steps=read.steps,
        events=read.events,
        event_steps=read.event_steps,
        gaps=read.gaps,
        patch=patch if facts.patch is None else facts.patch,
        folder=story.folder,
        agent_model=model,
        instance_id=instance,
        repo=facts.repo or repository_named_by(instance),
        started_at=read.steps[0].at,
        unknown_events=tuple(story.unknown),
        agent="mini-swe-agent",
        cost_usd=positive_number(_member(info, "model_stats").get("instance_cost")),
    )
    return Converted(run, report, record.place)


class _Story:
    """Takes the messages in their order."""

    def __init__(self, report: ConversionReport, task: str, configuration: dict[str, JSON]) -> None:
        self._report = report
        self._template = text(_member(configuration, "agent"), "instance_template")
        by = (text(_member(configuration, of), "action_regex") for of in ("agent", "model"))
        self._is_tagged = any(_TAG.match(pattern) for pattern in by)
        self.folder = text(_member(configuration, "environment"), "cwd")
        self._files = ShellFiles(self.folder, is_only_tool=True)
        self.conversation = Conversation(report, task, read_effects=self._effects)
        self.unknown: list[JSON] = []
        self.submission: str | None = None
        self._waiting: list[str] = []
        self._count = 0
        self._asked = bool(task)

    def add(self, message: dict[str, JSON]) -> None:
        """One more message."""
        role = text(message, "role")
        if text(message, "object") == "response" or role == "assistant":
            self._agent(message)
        elif text(message, "type") == "function_call_output" or role == "tool":
            self._answer(message, name(message, "call_id") or name(message, "tool_call_id"))
        elif role == "user":
            self._user(message)
        elif role == "system":
            self._report.dropped["instruction of the agent"] += 1
        elif role == "exit":
            self._end(message)
        else:
            self._report.unknown[f"message of the role {role or '(none)'}"[:100]] += 1
            self.unknown.append(message)

    def _agent(self, message: dict[str, JSON]) -> None:
        self._count += 1
        key = f"message {self._count}"
        extra = _member(message, "extra")
        content = _message_content(message, self._report)
        actions = objects(extra.get("actions"))
        if not actions and len(content.texts) == 1:
            blocks = _blocks(content.texts[0], self._is_tagged)
            # The program refuses a message with any other number of actions.
            if len(blocks) == 1:
                actions = [{"command": blocks[0].body.strip()}]
        self._waiting = []
        for number, action in enumerate(actions, 1):
            call_id = name(action, "tool_call_id") or f"{key}.{number}"
            command = text(action, "command") or text(action, "action")
            content.calls.append((call_id, "bash", {"command": command}))
            self._waiting.append(call_id)
            content.texts = [_without_block(words, command) for words in content.texts]
        if not actions and not any(words.strip() for words in content.texts + content.thoughts):
            content.texts = ["(The agent gave no action.)"]
        if "response" in extra:
            self._report.dropped["copy of the model's answer"] += 1
        model = text(message, "model") or text(_member(extra, "response"), "model")
        usage = read_usage(_member(extra, "response").get("usage", message.get("usage")))
        self.conversation.add_agent_message(content, message_id=key, at=_time(extra), model=model, usage=usage)

    def _user(self, message: dict[str, JSON]) -> None:
        words, pictures = _words_and_pictures(message.get("content"), self._report)
        if not self._count:
            if self._asked:
                self._report.dropped["further prompt before the first step"] += 1
            else:
                self._asked = True
                self.conversation.add_user_message(task_in_prompt(words, self._template), pictures)
        elif self._waiting:
            self._answer(message, self._waiting[0])
        else:
            self.conversation.add_user_message(words, pictures)

    def _answer(self, message: dict[str, JSON], call_id: str) -> None:
        if call_id in self._waiting:
            self._waiting.remove(call_id)
        extra = _member(message, "extra")
        words, pictures = _words_and_pictures(message.get("content", message.get("output")), self._report)
        returned = _RETURNED.match(words)
        code = extra.get("returncode", int(returned[1]) if returned else None)
        shown = text_or_none(extra, "raw_output")
        if shown is None and returned and (output := _OUTPUT.match(words, returned.end())):
            shown = output[1]
        has_failed = (isinstance(code, int) and code != 0) or bool(text(extra, "exception_info"))
        # A message without a code says that a time limit was reached, or it is the submission.
        outcome = {"output": shown or "", "is_known": shown is not None}
        self.submission = words if code is None and not extra else None
        self.conversation.answer(Answer(call_id, words, has_failed, pictures), outcome, _time(extra))

    def _end(self, message: dict[str, JSON]) -> None:
        extra = _member(message, "extra")
        self.submission = text_or_none(extra, "submission")
        words = result_text(message.get("content"), self._report.unknown)
        if self._waiting:
            self.conversation.answer(Answer(self._waiting[0], words, False), {}, _time(extra))
        elif words.strip() and words != self.submission:
            self.conversation.add_user_message(words)

    def _effects(
        self, tool: str, arguments: JSON, outcome: JSON, answer: Answer, report: ConversionReport
    ) -> CallEffects:
        shown = text(outcome, "output")
        return self._files.effects(text(arguments, "command"), shown, failed=answer.is_error)


def _message_content(message: dict[str, JSON], report: ConversionReport) -> Content:
    """What the agent said aloud and thought, of a chat message or a response."""
    content = Content()
    for item in objects(message.get("output")) if text(message, "object") == "response" else []:
        if text(item, "type") == "message":
            content.texts += [text(part, "text") for part in objects(item.get("content"))]
        elif text(item, "type") == "reasoning":
            content.thoughts += [text(part, "text") for part in objects(item.get("summary"))]
        elif text(item, "type") != "function_call":
            report.unknown[f"item {text(item, 'type') or 'without a type'}"[:100]] += 1
    if "content" in message:
        content.texts.append(result_text(message["content"], report.unknown))
    content.thoughts.append(text(message, "reasoning_content", "reasoning"))
    return content


def _words_and_pictures(content: JSON, report: ConversionReport) -> tuple[str, tuple[Screenshot, ...]]:
    """What a message says, with a line for each picture, and the pictures."""
    if not isinstance(content, list):
        return without_pictures(result_text(content, report.unknown))
    return content_text(content, report.unknown), pictures_of_message(content)


def _blocks(words: str, is_tagged: bool) -> list[Stretch]:
    """What the program takes for actions in the words: blocks between backticks, or between tags."""
    tagged = list(stretches(words, _TAG, _END_OF_TAG))
    if is_tagged:
        return tagged
    blocks = list(stretches(words, _BLOCK, _END_OF_BLOCK))
    return [block for block in blocks if block.opening[1] != "bash"] or blocks or tagged


def _without_block(words: str, command: str) -> str:
    """The words without the block that has the command, which stands beside them as a call."""
    for block in (*stretches(words, _BLOCK, _END_OF_BLOCK), *stretches(words, _TAG, _END_OF_TAG)):
        if block.body.strip() == command.strip():
            return (words[: block.begin].rstrip() + "\n\n" + words[block.end :].lstrip()).strip()
    return words


def _time(extra: dict[str, JSON]) -> str:
    """The time of a message, which is a number of seconds."""
    seconds = extra.get("timestamp")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 253_000_000_000:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat()
