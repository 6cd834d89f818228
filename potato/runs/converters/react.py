"""The format `react`: runs that think, act and observe in turn, as text or as JSON.

Field notes (ReAct of Yao et al., arXiv 2210.03629, and what agent frameworks write in its manner)
- Text: the task, then "Thought n:", "Action n:", "Observation n:", numbers optional, each with the lines that follow.
  Several runs stand in one file, apart by a line of dashes, or one after another where the last one has finished.
  The task's first line may begin with the run's number ("3687 Claim: ..."), which is its id.
- After a run its program may print a result such as {'steps': 2, 'reward': 1} and a line of running averages. Neither
  is a part of the run; both are counted as left out.
- An action is name[argument]; one that is written otherwise is kept whole as its argument, under the name "action".
- JSON: an object for each run with the steps [{thought, action, observation}] under steps, trajectory, history or
  react. An action is such a text, or an object with name (or tool) and arguments (or input); action_input stands
  beside an action that is the tool's name alone.
- The thought is the step's message: it is said aloud, and a step without it would not be understood.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from potato.runs.converters.facts import read_facts
from potato.runs.converters.fields import name, text
from potato.runs.converters.native_members import WrongShape, json_type_name, members, text_member
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, numbered_lines, read_records, resumable
from potato.runs.model import (
    JSON,
    AgentRun,
    ConversionReport,
    Converted,
    ReadingOptions,
    RunFile,
    Step,
    ToolCall,
    Unreadable,
)

_LABEL = re.compile(r"(?P<label>Thought|Action|Observation)(?: (?P<number>\d{1,6}))?:[ \t]?(?P<rest>.*)", re.DOTALL)
_RULE = re.compile(r"-{3,}\s*")
_RESULT = re.compile(r"\{'.*\}\s*", re.DOTALL)
_AVERAGES = re.compile(r"\d+ \d+ [\d.]+ [\d.]+\s*")
_TASK = re.compile(r"(?:(?P<id>\d{1,18}) )?(?P<task>(?:Question|Claim|Task|Instruction):.*)", re.DOTALL)
_CALL = re.compile(r"(?P<name>[A-Za-z_][\w .-]{0,63}?)\[(?P<argument>.*)\]\s*", re.DOTALL)
_LISTS = ("steps", "trajectory", "history", "react")
_STEP_MEMBERS = frozenset({"thought", "action", "action_input", "observation"})


class React:
    """Thought, action, observation."""

    name = "react"
    label = "ReAct: thought, action, observation"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        outline = detect_outline(head, filename)
        if outline.layout == "text":
            labels = {
                match["label"]
                for line in head.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace").splitlines()
                if (match := _LABEL.match(line))
            }
            if {"Thought", "Action"} <= labels:
                return 0.9, "it has lines that begin with Thought: and Action:"
            return 0.0, "no lines begin with Thought: and Action:"
        for record in outline.records():
            if isinstance(record, dict) and any(_has_steps(record.get(key)) for key in _LISTS):
                return 0.95, "it has steps with thought, action and observation"
        return 0.0, "no record has steps with thought, action and observation"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        layout = detect_outline(lines.head(), lines.name).layout
        if layout in ("text", "empty"):
            yield from _Text(lines.name, options).runs(lines)
            return
        for record in read_records(lines, options.bounds):
            yield record if isinstance(record, Unreadable) else resumable(_converted(record, options), record.after)


def _has_steps(value: JSON) -> bool:
    """Formats of other agents have these members beside more of their own, which would be lost here."""
    return (
        isinstance(value, list)
        and any(isinstance(step, dict) and "thought" in step and "action" in step for step in value)
        and all(isinstance(step, dict) and step.keys() <= _STEP_MEMBERS for step in value)
    )


# --- Text ---


@dataclass(slots=True)
class _Section:
    """One labelled part of a run, as its lines."""

    label: str
    lines: list[str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip("\n")


@dataclass(slots=True)
class _Run:
    """A run as far as it was read."""

    place: int
    task: list[str] = field(default_factory=list)
    sections: list[_Section] = field(default_factory=list)
    report: ConversionReport = field(default_factory=ConversionReport)
    size: int = 0

    @property
    def has_finished(self) -> bool:
        last = next((section for section in reversed(self.sections) if section.label == "Action"), None)
        return last is not None and last.text.lstrip().lower().startswith("finish")


class _Text:
    """Reads a file of text line by line, holding one run."""

    def __init__(self, filename: str, options: ReadingOptions) -> None:
        self._filename = filename
        self._bounds = options.bounds
        self._count = 0

    def runs(self, source: RunFile) -> Iterator[Converted | Unreadable]:
        run = _Run(source.begin.before + 1)
        self._count = source.begin.state or 0
        for entry in numbered_lines(source):
            if isinstance(entry, Unreadable):
                yield replace(entry, after=None)
                continue
            data = entry.text
            text = data.removeprefix(codecs.BOM_UTF8) if entry.number == 1 else data
            line = text.decode("utf-8", "surrogateescape")
            if self._begins_another(run, line):
                for ended in self._ended(run):
                    yield resumable(ended, entry.before(self._count))
                run = _Run(entry.number)
            if not self._is_between(run, line):
                yield from self._added(run, line, len(data))
        yield from self._ended(run)

    def _begins_another(self, run: _Run, line: str) -> bool:
        return bool(run.sections) and (
            bool(_RULE.fullmatch(line)) or (run.has_finished and _TASK.fullmatch(line) is not None)
        )

    def _is_between(self, run: _Run, line: str) -> bool:
        """Whether the line is none of a run's own."""
        if not run.sections and not run.task:
            return not line.strip() or bool(_RULE.fullmatch(line))
        if run.has_finished and run.sections[-1].label == "Observation":
            for pattern, noise in ((_RESULT, "result of the run"), (_AVERAGES, "running averages")):
                if pattern.fullmatch(line):
                    run.report.dropped[noise] += 1
                    return True
        return False

    def _added(self, run: _Run, line: str, size: int) -> Iterator[Unreadable]:
        was_too_large = run.size > self._bounds.run_bytes
        run.size += size
        if run.size > self._bounds.run_bytes:
            if not was_too_large:
                yield Unreadable(run.place, "too_large", f"The run that begins in line {run.place} is too large.")
            run.sections = run.sections[-1:]
            return
        match = _LABEL.fullmatch(line)
        if match:
            run.sections.append(_Section(match["label"], [match["rest"]]))
        elif run.sections:
            run.sections[-1].lines.append(line)
        else:
            run.task.append(line)

    def _ended(self, run: _Run) -> Iterator[Converted | Unreadable]:
        if run.size > self._bounds.run_bytes:
            return
        if not run.sections:
            if run.task:
                sentence = f"The text from line {run.place} on has no line that begins with Thought: or Action:."
                yield Unreadable(run.place, "no_steps", sentence)
            return
        self._count += 1
        task = "\n".join(run.task).strip()
        named = _TASK.fullmatch(task)
        steps = tuple(_read_steps(run.sections, run.report))
        if len(steps) > self._bounds.steps:
            sentence = f"The run that begins in line {run.place} has {len(steps)} steps; {self._bounds.steps} are read."
            yield Unreadable(run.place, "too_large", sentence)
            return
        agent_run = AgentRun(
            external_id=(named["id"] if named and named["id"] else f"{self._filename}#{self._count}"),
            task=named["task"] if named else task,
            steps=steps,
        )
        yield Converted(agent_run, run.report, run.place)


def _read_steps(sections: list[_Section], report: ConversionReport) -> Iterator[Step]:
    """A step for each thought with the actions and observations after it, or for each action without a thought."""
    thought, calls = "", list[ToolCall]()
    is_open = False
    for section in sections:
        if section.label == "Thought" or (section.label == "Action" and calls):
            if is_open:
                yield Step(message=thought, calls=tuple(calls))
            thought, calls = "", []
        is_open = True
        match section.label:
            case "Thought":
                thought = section.text
            case "Action":
                calls.append(_read_call(section.text))
            case _ if calls and calls[-1].result is None:
                calls[-1] = replace(calls[-1], result=section.text)
            case _:
                report.repairs["observation without an action"] += 1
                calls.append(ToolCall("", "observation", {}, section.text))
    if is_open:
        yield Step(message=thought, calls=tuple(calls))


def _read_call(action: str) -> ToolCall:
    match = _CALL.fullmatch(action.strip())
    if match:
        return ToolCall("", match["name"], {"input": match["argument"]})
    return ToolCall("", "action", {"input": action})


# --- JSON ---


def _converted(record: Record, options: ReadingOptions) -> Converted | Unreadable:
    report = ConversionReport()
    report.repairs.update(record.repairs)
    key = next((key for key in _LISTS if record.value.get(key)), _LISTS[0])
    try:
        steps = tuple(_step(step, f"{key}[{at}]", report) for at, step in enumerate(members(record.value, key)))
    except WrongShape as error:
        return Unreadable(record.place, "wrong_shape", f"Record {record.place}: {error}")
    if not steps:
        sentence = f"Record {record.place} has no steps under {', '.join(_LISTS[:-1])} or {_LISTS[-1]}."
        return Unreadable(record.place, "no_steps", sentence)
    run = replace(
        read_facts(record.value, options).run(),
        task=text(record.value, options.text_key, "task", "question", "claim", "instruction"),
        steps=steps,
    )
    return Converted(run, report, record.place)


def _step(value: dict[str, JSON], place: str, report: ConversionReport) -> Step:
    for member in value.keys() - _STEP_MEMBERS:
        report.unknown[f"member {member}"[:100]] += 1
    thought = text_member(value, "thought", f"{place}.thought")
    observation = value.get("observation")
    if observation is not None and not isinstance(observation, str):
        raise WrongShape(f"{place}.observation must be a text, got {json_type_name(observation)}.")
    action = value.get("action")
    if action is None:
        if observation is None:
            return Step(message=thought)
        return Step(message=thought, calls=(ToolCall("", "observation", {}, observation),))
    return Step(message=thought, calls=(replace(_json_call(action, value, place), result=observation),))


def _json_call(action: JSON, value: dict[str, JSON], place: str) -> ToolCall:
    if isinstance(action, str):
        if "action_input" in value:
            return ToolCall("", action, _arguments(value["action_input"]))
        return _read_call(action)
    if isinstance(action, dict):
        called = name(action, "name") or name(action, "tool") or "action"
        arguments: JSON = next(
            (action[key] for key in ("arguments", "args", "input", "tool_input") if key in action), {}
        )
        return ToolCall(name(action, "id"), called, _arguments(arguments))
    raise WrongShape(f"{place}.action must be a text or an object, got {json_type_name(action)}.")


def _arguments(arguments: JSON) -> JSON:
    return arguments if isinstance(arguments, dict) else {"input": arguments}
