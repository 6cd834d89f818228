"""The format `native`: Potato's own, a JSON object for each run, as `docs/trace-format.md` describes it.

Field notes
- JSONL, a JSON list, or one object: id, task_description (the project may name both otherwise), task_id, agent_model,
  agent, instance_id, repo, base_commit, cost_usd, tags, folder, started_at; steps: [{message, thought, prompt,
  prompt_pictures, after, after_pictures, at, model, agent, usage: {input_tokens, output_tokens, cached_tokens,
  seconds}, tool_calls: [{id, name, arguments, result, is_error, pictures}], url, screenshot, click, box}]; files:
  [{path, old_path, operation, old_text, new_text}]; patch: a unified diff.
- file_events: [{kind: read|edit|write|patch|outcome|touched, step, ...}] is the long form of files, in the order of
  the acts.
- A patch that is no UTF-8 holds each such byte 0xNN as the lone surrogate U+DCNN.
- Members that the form does not know are counted; a member of a wrong type makes the record unreadable.
- Two lone surrogates that make a pair are one character after a trip through JSON: JSON has no other way to say it.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

from potato.runs.converters.blocks import result_text
from potato.runs.converters.facts import read_facts
from potato.runs.converters.native_files import event_as_native, read_file_event, read_outcome
from potato.runs.converters.native_members import WrongShape, boolean, json_type_name, members, text_member
from potato.runs.converters.native_pages import (
    PAGE_MEMBERS,
    SCREENSHOT_MEMBERS,
    page_as_native,
    read_page,
    read_screenshot,
    screenshot_as_native,
)
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, read_records, resumable
from potato.runs.converters.result_pictures import pictures_in
from potato.runs.converters.usage import LARGEST_AMOUNT
from potato.runs.exact_json import usage_record
from potato.runs.model import (
    JSON,
    AgentRun,
    ConversionReport,
    Converted,
    Divider,
    FileEvent,
    FileOutcome,
    ReadingOptions,
    RunFile,
    Screenshot,
    Step,
    SubAgent,
    ToolCall,
    Unreadable,
    Usage,
)

_RUN_MEMBERS = frozenset(
    {
        "task_id", "agent_model", "model", "instance_id", "repo", "tags", "folder", "started_at", "steps", "files",
        "file_events", "patch", "unknown_events", "gaps", "agent", "base_commit", "cost_usd",
    }
)  # fmt: skip
_TEXTS = ("message", "thought", "prompt", "at", "after", "model", "agent")
_USERS_PICTURES = ("prompt_pictures", "after_pictures")
_MESSAGE_MEMBERS = frozenset({"message", "thought", "prompt", "at", "tool_calls"})
_STEP_MEMBERS = (
    _MESSAGE_MEMBERS | PAGE_MEMBERS | {"after", "dividers", "agents", "model", "agent", "usage", *_USERS_PICTURES}
)
_CALL_MEMBERS = frozenset({"id", "name", "arguments", "result", "is_error", "refused", "pictures"})
_AGENT_MEMBERS = frozenset({"name", "call_id", "task", "steps"})
_USAGE_MEMBERS = frozenset(Usage.__slots__)
_DIVIDERS = get_args(Divider)
_AGENTS_DEEP = 8
_FILE_MEMBERS = frozenset({"path", "old_path", "operation", "old_text", "new_text"})


class Native:
    """Potato's own trace format."""

    name = "native"
    label = "Potato's own trace format"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        for record in detect_outline(head, filename).records():
            if not isinstance(record, dict) or "schema_version" in record or "trajectory" in record:
                continue
            steps = record.get("steps")
            if isinstance(steps, list) and all(isinstance(step, dict) and _is_step(step) for step in steps):
                return 0.9, "it has steps with message, thought or tool_calls"
            files = record.get("files", record.get("file_events"))
            if isinstance(files, list) and files and all(isinstance(file, dict) and "path" in file for file in files):
                return 0.8, "it has files with paths"
            if isinstance(record.get("patch"), str) and ("id" in record or "task_description" in record):
                return 0.6, "it has a patch and an id or a task_description"
        return 0.0, "no record has steps, files or a patch"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        for record in read_records(lines, options.bounds):
            yield record if isinstance(record, Unreadable) else resumable(_converted(record, options), record.after)


def run_as_native(run: AgentRun) -> dict[str, JSON]:
    """The run as a native record with the default names of its id and task; reading it gives an equal run.

    `json.dumps` with its default `ensure_ascii` writes every such record, NUL and lone surrogates included.
    """
    record: dict[str, Any] = {"id": run.external_id, "task_description": run.task}
    for key in ("task_id", "agent_model", "instance_id", "repo", "folder", "started_at", "agent", "base_commit"):
        if value := getattr(run, key):
            record[key] = value
    if run.cost_usd is not None:
        record["cost_usd"] = run.cost_usd
    if run.tags:
        record["tags"] = list(run.tags)
    if run.steps:
        record["steps"] = [_step_as_native(step) for step in run.steps]
    outcomes = [event for event in run.events if isinstance(event, FileOutcome)]
    if run.events and len(outcomes) == len(run.events) and set(run.event_steps) == {None}:
        record["files"] = [event_as_native(event) for event in outcomes]
    elif run.events:
        record["file_events"] = [
            event_as_native(event, kind=True) | ({} if step is None else {"step": step})
            for event, step in zip(run.events, run.event_steps, strict=True)
        ]
    if run.patch is not None:
        record["patch"] = run.patch.decode("utf-8", "surrogateescape")
    if run.unknown_events:
        record["unknown_events"] = list(run.unknown_events)
    if run.gaps:
        record["gaps"] = list(run.gaps)
    return record


def run_in(value: JSON, options: ReadingOptions) -> AgentRun | None:
    """The run of one native record that was parsed already; None for a value that is none."""
    read = _converted(Record(1, value, Counter(), 0), options) if isinstance(value, dict) else None
    return read.run if isinstance(read, Converted) else None


def _is_step(step: dict[str, JSON]) -> bool:
    return not _MESSAGE_MEMBERS.isdisjoint(step) and not {"step_id", "action", "observation"} & step.keys()


def _step_as_native(step: Step) -> dict[str, JSON]:
    record: dict[str, Any] = {key: value for key in _TEXTS if (value := getattr(step, key))}
    if step.calls:
        record["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments, "result": call.result}
            | ({"is_error": True} if call.is_error else {})
            | ({"refused": True} if call.refused else {})
            | ({"pictures": [screenshot_as_native(each) for each in call.pictures]} if call.pictures else {})
            for call in step.calls
        ]
    if step.dividers:
        record["dividers"] = list(step.dividers)
    if step.agents:
        record["agents"] = [
            {"name": agent.name, "call_id": agent.call_id, "task": agent.task}
            | {"steps": [_step_as_native(step) for step in agent.steps]}
            for agent in step.agents
        ]
    if step.usage:
        record["usage"] = usage_record(step.usage)
    for name in _USERS_PICTURES:
        if pictures := getattr(step, name):
            record[name] = [screenshot_as_native(each) for each in pictures]
    return record | page_as_native(step)


def _converted(record: Record, options: ReadingOptions) -> Converted | Unreadable:
    report = ConversionReport()
    report.repairs.update(record.repairs)
    try:
        run = _run(record.value, options, report)
    except WrongShape as error:
        return Unreadable(record.place, "wrong_shape", f"Record {record.place}: {error}")
    if not run.steps and not run.events and run.patch is None:
        return Unreadable(
            record.place,
            "no_steps",
            f"Record {record.place} has no steps, no files and no patch, so there is nothing to judge.",
        )
    return Converted(run, report, record.place)


def _run(value: dict[str, JSON], options: ReadingOptions, report: ConversionReport) -> AgentRun:
    _count_unknown(value, _RUN_MEMBERS | {options.id_key, options.text_key}, "", report)
    text_member(value, options.text_key, options.text_key)
    text_member(value, "patch", "patch")
    steps = tuple(_step(step, f"steps[{index}]", report) for index, step in enumerate(members(value, "steps")))
    events: list[FileEvent] = []
    event_steps: list[int | None] = []
    for index, event in enumerate(members(value, "file_events")):
        events.append(read_file_event(event, f"file_events[{index}]"))
        event_steps.append(_step_index(event, f"file_events[{index}]", len(steps)))
    for index, file in enumerate(members(value, "files")):
        _count_unknown(file, _FILE_MEMBERS, "files[].", report)
        events.append(read_outcome(file, f"files[{index}]"))
        event_steps.append(None)
    unknown = value.get("unknown_events")
    return replace(
        read_facts(value, options).run(),
        steps=steps,
        events=tuple(events),
        event_steps=tuple(event_steps),
        folder=text_member(value, "folder", "folder"),
        started_at=text_member(value, "started_at", "started_at"),
        agent=text_member(value, "agent", "agent"),
        cost_usd=_amount(value, "cost_usd", "cost_usd"),
        unknown_events=tuple(unknown) if isinstance(unknown, list) else (),
        gaps=tuple(_read_texts(value, "gaps", "gaps")),
    )


def _read_texts(value: dict[str, JSON], key: str, place: str) -> list[str]:
    texts = value.get(key) or []
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise WrongShape(f"{place} must be a list of texts.")
    return texts


def _step(value: dict[str, JSON], place: str, report: ConversionReport, depth: int = 0) -> Step:
    _count_unknown(value, _STEP_MEMBERS, "steps[].", report)
    calls = [
        _call(call, f"{place}.tool_calls[{index}]", report)
        for index, call in enumerate(members(value, "tool_calls", place))
    ]
    # Any, as the members of a step have several types.
    its: dict[str, Any] = {key: text_member(value, key, f"{place}.{key}") for key in _TEXTS}
    if isinstance(value.get("screenshot"), dict):
        _count_unknown(value["screenshot"], SCREENSHOT_MEMBERS, "steps[].screenshot.", report)
    dividers = _read_texts(value, "dividers", f"{place}.dividers")
    if strange := next((divider for divider in dividers if divider not in _DIVIDERS), None):
        raise WrongShape(f"{place}.dividers may hold {', '.join(_DIVIDERS)}, got {strange!r:.60}.")
    agents = tuple(
        _agent(agent, f"{place}.agents[{index}]", report, depth)
        for index, agent in enumerate(members(value, "agents", place))
    )
    usage = value.get("usage")
    if not isinstance(usage, dict | None):
        raise WrongShape(f"{place}.usage must be an object.")
    _count_unknown(usage or {}, _USAGE_MEMBERS, "steps[].usage.", report)
    took = {
        name: _amount(usage or {}, name, f"{place}.usage.{name}", whole=name != "seconds") for name in _USAGE_MEMBERS
    }
    its["usage"] = Usage(**took)
    for name in _USERS_PICTURES:
        its[name] = _pictures(value.get(name), f"{place}.{name}", f"steps[].{name}[].", report)
    # Any, since each of them was looked up among the names above.
    known: Any = tuple(dividers)
    return Step(calls=tuple(calls), dividers=known, agents=agents, **its, **read_page(value, place))


def _agent(value: dict[str, JSON], place: str, report: ConversionReport, depth: int) -> SubAgent:
    if depth >= _AGENTS_DEEP:
        raise WrongShape(f"{place}: agents may start agents {_AGENTS_DEEP} levels deep.")
    _count_unknown(value, _AGENT_MEMBERS, "steps[].agents[].", report)
    name, call_id, task = (text_member(value, key, f"{place}.{key}") for key in ("name", "call_id", "task"))
    steps = [
        _step(step, f"{place}.steps[{index}]", report, depth + 1)
        for index, step in enumerate(members(value, "steps", place))
    ]
    if pictures := sum(step.screenshot is not None for step in steps):
        # Pictures are kept for the run's own steps alone.
        report.dropped["screenshot of a sub-agent"] += pictures
        steps = [replace(step, screenshot=None) for step in steps]
    return SubAgent(name, call_id, task, tuple(steps))


def _call(value: dict[str, JSON], place: str, report: ConversionReport) -> ToolCall:
    _count_unknown(value, _CALL_MEMBERS, "steps[].tool_calls[].", report)
    result = value.get("result")
    given = _pictures(value.get("pictures"), f"{place}.pictures", "steps[].tool_calls[].pictures[].", report)
    pictures = given or pictures_in(result)
    if result is not None and not isinstance(result, str):
        report.repairs["result that is no text"] += 1
        result = result_text(result, report.unknown)
    return ToolCall(
        id=text_member(value, "id", f"{place}.id"),
        name=text_member(value, "name", f"{place}.name"),
        arguments=value.get("arguments"),
        result=result,
        is_error=boolean(value, "is_error", f"{place}.is_error"),
        refused=boolean(value, "refused", f"{place}.refused"),
        pictures=pictures,
    )


def _pictures(value: JSON, place: str, kind: str, report: ConversionReport) -> tuple[Screenshot, ...]:
    if not isinstance(value, list | None):
        raise WrongShape(f"{place} must be a list, got {json_type_name(value)}.")
    read = (_picture(each, f"{place}[{index}]", kind, report) for index, each in enumerate(value or []))
    return tuple(each for each in read if each is not None)


def _picture(value: JSON, place: str, kind: str, report: ConversionReport) -> Screenshot | None:
    if isinstance(value, dict):
        _count_unknown(value, SCREENSHOT_MEMBERS, kind, report)
    return read_screenshot(value, place)


def _amount(value: dict[str, JSON], key: str, place: str, *, whole: bool = False) -> Any:
    """A number that is not negative, None where there is none."""
    amount = value.get(key)
    if amount is None:
        return None
    is_number = isinstance(amount, int) or (isinstance(amount, float) and not whole)
    if isinstance(amount, bool) or not is_number or not 0 <= amount <= LARGEST_AMOUNT:
        raise WrongShape(f"{place} must be a {'whole ' if whole else ''}number from 0 on, got {amount!r:.40}.")
    return amount


def _step_index(event: dict[str, JSON], place: str, steps: int) -> int | None:
    step = event.get("step")
    if step is None:
        return None
    if not isinstance(step, int) or isinstance(step, bool) or not 0 <= step < steps:
        raise WrongShape(f"{place}.step must be the index of a step, below {steps}, got {step!r}.")
    return step


def _count_unknown(value: dict[str, JSON], known: frozenset[str], prefix: str, report: ConversionReport) -> None:
    for key in value.keys() - known:
        report.unknown[f"member {prefix}{key}"[:100]] += 1
