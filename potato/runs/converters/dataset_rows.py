"""The format `dataset_rows`: published data sets of trajectories, a row for each run, as JSON lines or a list.

Field notes (the cards and first rows of the data sets; Parquet is to be written as JSON lines first)
- SWE-bench/SWE-smith-trajectories: messages (a list, or its JSON as a text), instance_id, resolved, model, traj_id,
  patch. Messages of SWE-agent with role, content, perhaps thought, action, tool_calls, tool_call_ids; in its splits
  `xml` and `ticks` the action stands in the words.
- nebius/SWE-agent-trajectories: instance_id, model_name, target, trajectory [{role: system|user|ai, text,
  system_prompt, mask, cutoff_date}], exit_status, generated_patch, eval_logs. Actions stand in blocks of backticks.
- nebius/SWE-rebench-openhands-trajectories and its like: trajectory_id, instance_id, repo, trajectory (chat messages),
  tools, model_patch, exit_status, resolved, gen_tests_correct, pred_passes_gen_tests.
- nvidia/Open-SWE-Traces: instance_id, repo, trajectory_id, messages or trajectory, tools, resolved, metadata.
- SWE-Gym/OpenHands-Sampled-Trajectories: messages, run_id, instance_id, resolved, test_result {git_patch}, with calls
  as <function=...> in the words. Others have conversations [{from: human|gpt, value}].
- A row's id is traj_id or trajectory_id; else instance and run_id; else instance and model with a part of the hash of
  its messages, since a data set has many runs of a model at one instance.
- What became of the tests (resolved, target, eval_logs and so on) is left out: nobody is to see it who judges. Other
  columns are left out and counted, too.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace

from potato.runs.converters.chat_messages import AGENT_ROLES, ChatMessages, content_text
from potato.runs.converters.facts import read_facts, repository_named_by
from potato.runs.converters.fields import name, objects, text
from potato.runs.converters.json_text import Malformed, parsed
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, read_records, resumable
from potato.runs.converters.submission import submitted_patch
from potato.runs.converters.templates import task_in_prompt
from potato.runs.model import JSON, ConversionReport, Converted, ReadingOptions, RunFile, Unreadable

_LISTS = ("messages", "trajectory", "conversations", "history")
_PATCHES = ("model_patch", "generated_patch", "git_patch", "patch")
_IDS = ("traj_id", "trajectory_id", "run_id")
_MARKS = frozenset(
    {"traj_id", "trajectory_id", "run_id", "resolved", "target", "exit_status", "model_patch", "generated_patch"}
)
_READ = frozenset(
    {
        *_LISTS, *_PATCHES, *_IDS, "instance_id", "model", "model_name", "agent_model", "repo", "id", "task_id", "tags",
        "problem_statement", "test_result",
    }
)  # fmt: skip


class DatasetRows:
    """Rows of data sets of trajectories."""

    name = "dataset_rows"
    label = "Rows of data sets of trajectories (SWE-smith, nebius, SWE-Gym)"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        for record in detect_outline(head, filename).records():
            if not isinstance(record, dict) or "instance_id" not in record or "trajectory_format" in record:
                continue
            key = next((key for key in _LISTS if _has_messages(record.get(key))), "")
            if key and not _MARKS.isdisjoint(record):
                return 0.98, f"its rows have an instance_id and {key} with roles"
        return 0.0, "no row has an instance_id and messages with roles"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        for record in read_records(lines, options.bounds):
            yield record if isinstance(record, Unreadable) else resumable(_converted(record, options), record.after)


def _has_messages(value: JSON) -> bool:
    if isinstance(value, str):
        return value.lstrip().startswith("[") and '"role"' in value[:2_000]
    return any("role" in message or "from" in message for message in objects(value))


def _converted(record: Record, options: ReadingOptions) -> Converted | Unreadable:
    report = ConversionReport()
    report.repairs.update(record.repairs)
    row = record.value
    try:
        messages = _messages(row, report, options)
    except Malformed as error:
        sentence = f"Row {record.place}: its messages are a text that is no JSON. {error}"
        return Unreadable(record.place, "not_json", sentence)
    for key in row.keys() - _READ - {options.id_key, options.text_key}:
        report.dropped[f"column {key}"[:100]] += 1
    facts = read_facts({key: value for key, value in row.items() if key != "patch"}, options).run()
    reader = ChatMessages(report, options, task=facts.task or _task(row, messages), reads_blocks=_has_blocks(messages))
    for message in messages:
        reader.add(message)
    read = reader.steps()
    if not read.steps:
        sentence = (
            f"Row {record.place} has no message of the agent under {', '.join(_LISTS[:-1])} or {_LISTS[-1]}, so there "
            "is nothing to judge."
        )
        return Unreadable(record.place, "no_steps", sentence)
    instance = facts.instance_id
    model = facts.agent_model or name(row, "model_name") or read.agent_model
    run = replace(
        facts,
        external_id=_row_id(row, instance, model, messages, options),
        task=reader.task,
        steps=read.steps,
        events=read.events,
        event_steps=read.event_steps,
        gaps=read.gaps,
        patch=_patch(row, report),
        agent_model=model,
        repo=facts.repo or repository_named_by(instance),
        unknown_events=tuple(reader.unknown),
    )
    return Converted(run, report, record.place)


def _messages(row: dict[str, JSON], report: ConversionReport, options: ReadingOptions) -> list[JSON]:
    for key in _LISTS:
        value = row.get(key)
        if isinstance(value, str) and value.strip():
            data = value.encode("utf-8", "surrogatepass")
            value = parsed(data, report.repairs, depth=options.bounds.depth)
        if isinstance(value, list) and value:
            return value
    return []


def _has_blocks(messages: list[JSON]) -> bool:
    """Whether actions stand in blocks of backticks: where no message has them in another form."""
    agent_messages = [message for message in objects(messages) if text(message, "role", "from") in AGENT_ROLES]
    ignored = ConversionReport()
    words = [content_text(message.get("content", message.get("text")), ignored.unknown) for message in agent_messages]
    return not any("tool_calls" in message or "function_call" in message for message in agent_messages) and not any(
        "<function=" in message_text or "<tool_call>" in message_text for message_text in words
    )


def _task(row: dict[str, JSON], messages: list[JSON]) -> str:
    if statement := text(row, "problem_statement"):
        return statement
    ignored = ConversionReport()
    for message in objects(messages):
        if text(message, "role", "from") in ("user", "human") and not message.get("is_demo"):
            content = next((message[key] for key in ("content", "text", "value") if message.get(key)), "")
            return task_in_prompt(content_text(content, ignored.unknown))
    return ""


def _patch(row: dict[str, JSON], report: ConversionReport) -> bytes | None:
    for where in (row, row.get("test_result")):
        for key in _PATCHES:
            if text(where, key).strip() and isinstance(where, dict):
                return submitted_patch(where[key], report)
    return None


def _row_id(row: dict[str, JSON], instance: str, model: str, messages: list[JSON], options: ReadingOptions) -> str:
    own = name(row, "traj_id") or name(row, "trajectory_id") or name(row, options.id_key)
    if own:
        return own
    if run := name(row, "run_id"):
        return f"{instance}@{run}" if instance else run
    digest = hashlib.sha256(json.dumps(messages, sort_keys=True).encode("ascii")).hexdigest()[:8]
    return f"{instance}@{model}#{digest}" if model else f"{instance}#{digest}"
