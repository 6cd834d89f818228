"""The format `inspect`: logs of Inspect, each sample of an evaluation a run.

What a sample holds stands in `inspect_samples`.

Field notes
- A log as JSON is {version, status, eval: {eval_id, run_id, task, model, created}, plan, results, stats, samples}.
- A log as .eval is a ZIP: header.json, which is that without the samples, samples/ID_epoch_N.json, and for a run that
  has not ended _journal/start.json in place of the header. `potato.runs.packages` gives its samples one by one.
- A large sample may be a folder in it: samples/ID_epoch_N/sample.json with `message_refs` and without messages, events
  and attachments, which lie in {messages,events,attachments}/START.json, each a list whose first entry has the number
  START among all. message_refs are ranges [begin, end) of the messages; "attachment://7" is the attachment 7.
- A run's id is the sample's uuid or, in older logs, the evaluation's id with the sample's and the epoch; its task is
  named by the evaluation's task and the sample, its instance is the sample. The task's text is the sample's input.
- The test files of Inspect's own viewer have {events} alone.
"""

import re
from collections import Counter
from collections.abc import Iterator

from potato.runs.converters.fields import name, objects, text
from potato.runs.converters.inspect_samples import Sample, referred_to
from potato.runs.converters.json_text import Malformed, parsed
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, read_records
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
from potato.runs.run_files import in_words

_HEADERS = ("header.json", "_journal/start.json")
_SAMPLE_NAME = re.compile(r".+_epoch_\d+\.json")
_MARKS = frozenset({"epoch", "target", "scores", "store", "attachments"})


class Inspect:
    """Logs of Inspect evaluations."""

    name = "inspect"
    label = "Inspect log"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        for record in detect_outline(head, filename).records():
            if not isinstance(record, dict):
                continue
            if isinstance(record.get("eval"), dict) and "status" in record:
                return 0.97, "it has the eval and the status of an Inspect log"
            if _is_shell(record):
                return 0.95, "it is a sample of an Inspect log, in pieces (message_refs)"
            if _is_sample(record) or ("epoch" in record and _SAMPLE_NAME.fullmatch(filename)):
                return 0.95, "it is a sample of an Inspect log (epoch and target)"
            if _has_events(record):
                return 0.9, "it has events of an Inspect log"
        return 0.0, "no record is an Inspect log or a sample of one"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        for record in read_records(lines, options.bounds):
            if isinstance(record, Unreadable):
                yield record
                continue
            value = _shell_with_pieces(lines, record, options) if _is_shell(record.value) else record.value
            if isinstance(value, Unreadable):
                yield value
                continue
            if _is_sample(value) or _has_events(value) or ("epoch" in value and "samples" not in value):
                yield _converted(value, _header(lines, options), record.place, 1, record.repairs, options)
                continue
            samples = value.get("samples")
            if not isinstance(samples, list) or not samples:
                yield Unreadable(
                    record.place,
                    "no_steps",
                    f"The Inspect log {lines.name} has no samples: nothing to judge. Log them (log_samples), or import "
                    "a log that has them.",
                )
                continue
            for number, sample in enumerate(samples, 1):
                if isinstance(sample, dict):
                    repairs = record.repairs if number == 1 else Counter[str]()
                    yield _converted(sample, value, record.place, number, repairs, options)
                else:
                    sentence = f"Sample {number} is no JSON object, so it can be no run."
                    yield Unreadable(number, "not_an_object", sentence)


def _is_sample(record: dict[str, JSON]) -> bool:
    has_marks = {"epoch", "target"} <= record.keys() or len(_MARKS & record.keys()) > 2
    return has_marks and bool({"messages", "events", "input"} & record.keys()) and "eval" not in record


def _is_shell(record: dict[str, JSON]) -> bool:
    return "epoch" in record and isinstance(record.get("message_refs"), list)


def _shell_with_pieces(source: RunFile, record: Record, options: ReadingOptions) -> dict[str, JSON] | Unreadable:
    """The sample as it is where it is whole."""
    lists: dict[str, list[JSON]] = {"messages": [], "events": [], "attachments": []}
    size = record.size

    def begin(member: str) -> int:
        return int(member.rpartition("/")[2].partition(".")[0][:18])

    for member in sorted(source.companions(), key=begin):
        piece = source.companion(member)
        kind = member.partition("/")[0]
        if piece is None or kind not in lists:
            continue
        try:
            data = piece.whole()
            values = parsed(data, record.repairs, depth=options.bounds.depth)
        except (TooLarge, Malformed) as error:
            sentence = f"{member}, a piece of the sample {source.name}, cannot be read: {error}"
            return Unreadable(record.place, "not_json", sentence)
        size += len(data)
        if size > options.bounds.run_bytes:
            bound = in_words(options.bounds.run_bytes)
            return Unreadable(record.place, "too_large", f"The sample {source.name} is over {bound}.")
        lists[kind] += values if isinstance(values, list) else []
    if not lists["messages"] and not lists["events"]:
        sentence = (
            f"{source.name} is a sample of an Inspect log whose messages and events lie in files beside it, and they "
            "are not here. Import the whole log, the .eval file."
        )
        return Unreadable(record.place, "no_steps", sentence)
    return {
        **record.value,
        "messages": referred_to(record.value["message_refs"], lists["messages"]),
        "events": lists["events"],
        "events_data": {"messages": lists["messages"]},
        "attachments": {str(number): words for number, words in enumerate(lists["attachments"])},
    }


def _has_events(record: dict[str, JSON]) -> bool:
    return "eval" not in record and any(
        text(event, "event") in ("span_begin", "model", "sample_init", "tool", "state")
        and ("working_start" in event or "span_id" in event)
        for event in objects(record.get("events"))
    )


def _header(source: RunFile, options: ReadingOptions) -> dict[str, JSON]:
    """What a log in a ZIP says of all its samples."""
    # An id may have strokes in it, and a sample a folder of its own.
    up = "../" * max(1, source.name.count("/") if source.name.startswith("samples/") else 1)
    for member in _HEADERS:
        header = source.companion(f"{up}{member}")
        if header is None:
            continue
        try:
            value = parsed(header.whole(), Counter(), depth=options.bounds.depth)
        except (TooLarge, Malformed):
            continue
        if isinstance(value, dict):
            return value
    return {}


def _converted(
    value: dict[str, JSON],
    log: dict[str, JSON],
    place: int,
    number: int,
    repairs: Counter[str],
    options: ReadingOptions,
) -> Converted | Unreadable:
    evaluation = log.get("eval")
    report = ConversionReport()
    report.repairs.update(repairs)
    sample = Sample(value, text(evaluation, "model"), report)
    sample.convert()
    steps = sample.conversation.as_steps(split_tool_calls=options.split_tool_calls)
    sample_id = name(value, "id")
    if not steps.steps:
        sentence = f"Sample {sample_id or number} of the Inspect log has no message of the model: nothing to judge."
        return Unreadable(max(place, number), "no_steps", sentence)
    origin = text(evaluation, "eval_id", "run_id", "task_id")
    parts = [part for part in (origin, sample_id, name(value, "epoch")) if part]
    task = text(evaluation, "task")
    run = AgentRun(
        external_id=text(value, "uuid") or ("/".join(parts) if sample_id else ""),
        task=sample.conversation.task,
        steps=steps.steps,
        events=steps.events,
        event_steps=steps.event_steps,
        task_id=f"{task}/{sample_id}" if task and sample_id else "",
        instance_id=sample_id,
        agent_model=steps.agent_model,
        started_at=sample.started_at or text(evaluation, "created"),
        unknown_events=tuple(sample.unknown),
        gaps=steps.gaps,
    )
    return Converted(run, report, max(place, number))
