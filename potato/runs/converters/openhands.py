"""The format `openhands`: events of OpenHands, and rows of its results.

What the events hold stands in `openhands_v0` and, since version 1, in `openhands_v1`.

Field notes
- A trajectory is a list of events, or lines of them: one run. A row of results is a run of its own: {instance_id,
  instruction, instance: {repo, base_commit}, metadata: {llm_config: {model}}, history, test_result: {git_patch},
  git_patch, metrics, error}; the issue resolver's have issue: {owner, repo, number, title, body}.
- A conversation of version 1 is a folder: base_state.json {id, agent: {llm: {model}}, workspace: {working_dir},
  leaf_event_id, stats: {usage_to_metrics: {USE: {accumulated_cost, token_usages: [{response_id, prompt_tokens, ...}],
  response_latencies: [{response_id, latency}]}}}} and events/event-NNNNN-ID.json, one event a file. As a download the
  events lie alone, as event_NNNNNN_ID.json.
- git_patch is what the run left, as the resolver prints it: with CR LF at the end of every line, which are mended.
- Working folders are named nowhere in the old events; /workspace is where OpenHands mounts them.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from potato.runs.converters.facts import patch_bytes
from potato.runs.converters.fields import name, objects, text, word_set
from potato.runs.converters.json_text import Malformed, parsed
from potato.runs.converters.openhands_events import EventRun
from potato.runs.converters.openhands_v0 import convert_v0, flat_events
from potato.runs.converters.openhands_v1 import KINDS, convert_v1
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, read_records
from potato.runs.converters.usage import positive_number
from potato.runs.model import (
    JSON,
    AgentRun,
    ConversionReport,
    Converted,
    ReadingOptions,
    RunFile,
    TooLarge,
    Unreadable,
)
from potato.runs.run_files import BASE_STATE, in_words

_NUMBER = re.compile(r"event[-_](\d+)")
_ACTIONS = word_set(
    "message run run_ipython read write edit browse browse_interactive finish reject delegate think recall system"
    " change_agent_state null agent_state_changed error"
)
_MOUNTED = "/workspace"


class OpenHands:
    """Trajectories and results of OpenHands, of every version."""

    name = "openhands"
    label = "OpenHands events and results"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        records = [record for record in detect_outline(head, filename).records() if isinstance(record, dict)]
        for record in records:
            if _is_base_state(record) or (filename == BASE_STATE and {"id", "agent"} <= record.keys()):
                return 0.95, "it is the base state of a conversation of OpenHands"
            if text(record, "kind") in KINDS:
                return 0.95, f"it has events of OpenHands (kind {text(record, 'kind')})"
            if _is_v0(record):
                return 0.95, f"it has events of OpenHands ({text(record, 'action', 'observation') or 'null'})"
            if _is_row(record) or {"instance_id", "instruction", "test_result"} <= record.keys():
                return 0.95, "its rows are results of OpenHands (history and git_patch)"
        return 0.0, "no record is an event of OpenHands or has a history of them"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        events: list[dict[str, JSON]] = []
        place = size = 0
        report = ConversionReport()
        for record in read_records(lines, options.bounds):
            if isinstance(record, Unreadable):
                yield record
            elif _is_base_state(record.value) or lines.name.rpartition("/")[2] == BASE_STATE:
                yield _folder(lines, record, options)
            elif isinstance(record.value.get("history"), list) or "git_patch" in record.value:
                yield _row(record, options)
            else:
                place = place or record.place
                size += record.size
                report.repairs.update(record.repairs)
                if size <= options.bounds.run_bytes and len(events) <= options.bounds.events:
                    events.append(record.value)
        if not place:
            return
        if excess := _excess(size, len(events), options):
            yield Unreadable(place, "too_large", f"The run of {lines.name} {excess}")
            return
        if len(events) == 1 and text(events[0], "kind") and lines.companions():
            for value in _beside(lines, options, report):
                if isinstance(value, Unreadable):
                    yield replace(value, place=place)
                    return
                events.append(value)
        run = EventRun(report)
        yield _finished(events, "", run, place, f"The run of {lines.name}", options)


def _excess(size: int, count: int, options: ReadingOptions) -> str:
    bounds = options.bounds
    if size > bounds.run_bytes:
        return f"is over {in_words(bounds.run_bytes)}, the bound of one run."
    return f"has over {bounds.events:,} events, the bound of one run." if count > bounds.events else ""


def _is_base_state(record: dict[str, JSON]) -> bool:
    marks = {"leaf_event_id", "execution_status", "confirmation_policy", "persistence_dir", "max_iterations"}
    return "agent" in record and "id" in record and len(marks & record.keys()) > 1


def _is_v0(event: dict[str, JSON]) -> bool:
    is_action = "action" in event and isinstance(event.get("args"), dict)
    is_observation = "observation" in event and "extras" in event
    return "source" in event and (is_action or is_observation)


def _is_old(event: JSON) -> bool:
    """An event of the first versions, whose members stand in it without args and extras."""
    if not isinstance(event, dict):
        return False
    is_action = text(event, "action") in _ACTIONS and "observation" not in event
    return _is_v0(event) or is_action or (text(event, "observation") in _ACTIONS and "content" in event)


def _is_row(record: dict[str, JSON]) -> bool:
    history = record.get("history")
    if not isinstance(history, list):
        return False
    marks = {"git_patch", "instruction", "test_result"} & record.keys()
    first = next(flat_events(history), None)
    # Events of the first versions look like the steps of others: thought, action, observation.
    is_event = isinstance(first, dict) and (
        _is_v0(first) or text(first, "kind") in KINDS or (bool(marks) and _is_old(first))
    )
    return is_event or (not history and len(marks) > 1) or {"git_patch", "instruction"} <= marks


def _folder(source: RunFile, record: Record, options: ReadingOptions) -> Converted | Unreadable:
    """The conversation whose base state this is."""
    state = record.value
    run = EventRun(ConversionReport())
    run.report.repairs.update(record.repairs)
    run.take_state(state)
    events = []
    for value in _beside(source, options, run.report):
        if isinstance(value, Unreadable):
            return replace(value, place=record.place)
        events.append(value)
    if not events:
        return Unreadable(
            record.place,
            "no_steps",
            f"{source.name} is the base state of a conversation, and its events are not here. Import it together with "
            "its folder events/, as a folder or a ZIP.",
        )
    return _finished(events, text(state, "leaf_event_id"), run, record.place, "The conversation", options)


def _beside(
    source: RunFile, options: ReadingOptions, report: ConversionReport
) -> Iterator[dict[str, JSON] | Unreadable]:
    """The events in files of their own, in the order of their numbers; or why the run cannot be read."""
    size = 0

    def number(member: str) -> tuple[int, str]:
        match = _NUMBER.search(member.rpartition("/")[2])
        return (int(match[1]) if match and len(match[1]) < 10 else 0, member)

    for count, member in enumerate(sorted(source.companions(), key=number)):
        companion = source.companion(member)
        if companion is None:
            continue
        repairs: Counter[str] = Counter()
        try:
            data = companion.whole()
            value = parsed(data, repairs, depth=options.bounds.depth)
        except (TooLarge, Malformed) as error:
            yield Unreadable(1, "not_json", f"{member}, an event of {source.name}: {error}")
            return
        size += len(data)
        if excess := _excess(size, count, options):
            yield Unreadable(1, "too_large", f"The conversation of {source.name} {excess}")
            return
        report.repairs.update(repairs)
        if isinstance(value, dict):
            yield value
        else:
            report.unknown["event that is no object"] += 1


def _row(record: Record, options: ReadingOptions) -> Converted | Unreadable:
    row = record.value
    run = EventRun(ConversionReport(), task=text(row, "instruction"))
    run.report.repairs.update(record.repairs)
    instance, issue, metadata = row.get("instance"), row.get("issue"), row.get("metadata")
    llm = metadata.get("llm_config") if isinstance(metadata, dict) else None
    run.model = text(llm, "model") or text(row, "model_name_or_path")
    owner, repo, number = text(issue, "owner"), text(issue, "repo"), name(issue, "number")
    issue_repo = f"{owner}/{repo}" if owner and repo else ""
    instance_id = name(row, "instance_id") or name(instance, "instance_id")
    run.external_id = instance_id or (f"{issue_repo}#{number}" if issue_repo and number else "")
    events = list(flat_events(row.get("history")))
    patch = _patch(row, run.report)
    result = _finished(events, "", run, record.place, f"The row at {record.place}", options, needs_steps=patch is None)
    if isinstance(result, Unreadable):
        return replace(result, after=record.after)
    converted = replace(
        result.run,
        patch=patch,
        # What commands may have done is in the patch.
        gaps=result.run.gaps if patch is None else tuple(run.gaps),
        instance_id=instance_id,
        repo=text(instance, "repo") or issue_repo,
        base_commit=text(instance, "base_commit"),
        cost_usd=_cost(row),
        agent_model=run.model or result.run.agent_model,
        task=result.run.task or text(instance, "problem_statement") or text(issue, "body"),
    )
    return replace(result, run=converted, after=record.after)


def _cost(row: dict[str, JSON]) -> float | None:
    metrics = row.get("metrics")
    return positive_number(metrics.get("accumulated_cost")) if isinstance(metrics, dict) else None


def _patch(row: dict[str, JSON], report: ConversionReport) -> bytes | None:
    result = row.get("test_result")
    patch = text(result, "git_patch") or text(row, "git_patch")
    if not patch:
        return None
    lines = patch.split("\n")
    if len(lines) > 1 and all(line.endswith("\r") for line in lines[:-1]):
        report.repairs["patch with CR LF at the end of every line"] += 1
        patch = patch.replace("\r\n", "\n")
    return patch_bytes(patch if patch.endswith("\n") else f"{patch}\n")


def _finished(
    events: list[JSON],
    leaf: str,
    run: EventRun,
    place: int,
    what: str,
    options: ReadingOptions,
    *,
    needs_steps: bool = True,
) -> Converted | Unreadable:
    if any(isinstance(event, dict) and "kind" in event for event in events):
        convert_v1(objects(events), leaf, run)
    else:
        convert_v0(events, run)
        run.folder = run.folder or _MOUNTED
    steps = run.conversation.as_steps(split_tool_calls=options.split_tool_calls)
    if not steps.steps and needs_steps:
        return Unreadable(place, "no_steps", f"{what} has no action and no message of the agent: nothing to judge.")
    return Converted(
        AgentRun(
            external_id=run.external_id,
            task=run.conversation.task,
            steps=steps.steps,
            events=steps.events,
            event_steps=steps.event_steps,
            folder=run.folder,
            agent_model=steps.agent_model or run.model,
            started_at=run.started_at,
            unknown_events=tuple(run.unknown),
            gaps=(*run.gaps, *steps.gaps),
            agent="OpenHands",
            cost_usd=run.cost,
        ),
        run.report,
        place,
    )
