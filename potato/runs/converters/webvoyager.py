"""The format `webvoyager`: an agent that reads pages by their screenshots, as a list of chat messages.

Field notes (WebVoyager of He et al., arXiv 2401.13919, file interact_messages.json of a run's folder)
- A JSON list of {role, content}; content is a text, or parts {type: text} and {type: image_url}. The system message is
  the agent's instruction. The first user message names the task between "Now given a task:" and "Please interact with
  ADDRESS and get the answer". Or a record for each run, with such a list under messages and facts beside it.
- A message of the agent is a step: "Thought: ... Action: ...". Actions are Click [9], Type [2]; text, Scroll [WINDOW or
  9]; up or down, Wait, GoBack, Google, ANSWER; text. The numbers are labels that the program drew on the screenshot;
  where their elements are on the page stands nowhere in the file, so no box is known.
- The user message before the agent's holds what it saw: a picture and the labelled elements, "[2]: <input> "Search";".
  The program keeps both of the last few messages only; others say "(Omitted in context.)", which is left out. A user
  message of another kind is what the program answered to the action before: an error, or the text of a file.
- The picture of the agent's n-th message is screenshotN.png beside the file, whether or not the message has it; after
  an action that could not be done there is none. Dumps have "{b64_img}" for the picture, or the picture as a data URL.
- The file has no id: the run is named after its folder, else after its content.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from potato.runs.converters.facts import read_facts
from potato.runs.converters.fields import objects, text
from potato.runs.converters.native_pages import is_data_url, picture_bytes
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, read_records, resumable
from potato.runs.model import (
    JSON,
    Bounds,
    ConversionReport,
    Converted,
    ReadingOptions,
    RunFile,
    Screenshot,
    Step,
    ToolCall,
    Unreadable,
)

_TASK = re.compile(
    r"\s*Now given a task:\s*(?P<task>.*?)\s*Please interact with\s+(?P<url>\S+)\s+and get the answer\.?(?P<rest>.*)",
    re.DOTALL,
)
_OBSERVATION = re.compile(
    r"\s*Observation:(?P<observation>.*?)\s*please analyze the attached (?:screenshot|accessibility tree)\b"
    r"(?:.*?refer to the textual information\.|.*?give the Thought and Action\.)\s*(?P<elements>.*)",
    re.DOTALL,
)
_ELEMENT = re.compile(r"\[(\d+)\]: (.*?);?\s*(?=\[\d+\]: |\Z)", re.DOTALL)
_OMITTED = re.compile(r"\s*Observation: A screenshot and some texts\. \(Omitted in context\.\)\s*", re.DOTALL)
_ACT = re.compile(r"\s*(?:Thought:\s*)?(?P<thought>.*?)\s*(?:^|\n)\s*Action:\s*(?P<action>.*)", re.DOTALL)
_ACTIONS = (
    (re.compile(r"Click \[?(\d+)\]?\.?", re.IGNORECASE), "Click", ("element",)),
    (re.compile(r"Type \[?(\d+)\]?[; ]+\[?(.*?)\]?", re.IGNORECASE | re.DOTALL), "Type", ("element", "content")),
    (
        re.compile(r"Scroll \[?(\d+|WINDOW)\]?[; ]+\[?(up|down)\]?\.?", re.IGNORECASE),
        "Scroll",
        ("element", "direction"),
    ),
    (re.compile(r"Wait\.?", re.IGNORECASE), "Wait", ()),
    (re.compile(r"GoBack\.?", re.IGNORECASE), "GoBack", ()),
    (re.compile(r"Google\.?", re.IGNORECASE), "Google", ()),
    (re.compile(r"ANSWER[; ]+(.*)", re.IGNORECASE | re.DOTALL), "ANSWER", ("content",)),
)
_ROLES = frozenset({"system", "user", "assistant"})
_FAILED = re.compile(r"error|cannot be|could not|failed|invalid", re.IGNORECASE)


class WebVoyager:
    """Messages with screenshots."""

    name = "webvoyager"
    label = "WebVoyager: messages with screenshots"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        for record in detect_outline(head, filename).records():
            listed = record.get("messages") if isinstance(record, dict) else None
            for message in objects(listed) if listed else objects([record]):
                if message.get("role") == "user" and _TASK.match(_read_content(message.get("content")).text):
                    return 0.95, "a message gives a task and the address of a page to interact with"
                if message.get("role") == "system" and "Numerical Label" in _read_content(message.get("content")).text:
                    return 0.9, "its instruction speaks of numerical labels on a screenshot"
        return 0.0, "no message gives a task and the address of a page to interact with"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        messages = _Messages(options.bounds)
        for record in read_records(lines, options.bounds):
            if isinstance(record, Unreadable):
                # Messages before are a part of a run that goes on.
                yield resumable(record, None if messages.first else record.after)
            elif isinstance(record.value.get("messages"), list):
                converted = _converted(record.value, objects(record.value["messages"]), record, lines, options)
                yield resumable(converted, None if messages.first else record.after)
            elif text(record.value, "role") in _ROLES:
                yield from messages.add(record)
            else:
                sentence = f"Record {record.place} is no message: it has no role of system, user or assistant."
                yield Unreadable(record.place, "no_message", sentence)
        if messages.first is not None and not messages.is_too_large:
            yield _converted({}, messages.values, messages.first, lines, options)


@dataclass(slots=True)
class _Messages:
    """The messages of a file that is one run."""

    bounds: Bounds
    first: Record | None = None
    values: list[dict[str, JSON]] = field(default_factory=list)
    size: int = 0

    @property
    def is_too_large(self) -> bool:
        return self.size > self.bounds.run_bytes

    def add(self, record: Record) -> Iterator[Unreadable]:
        was_too_large = self.is_too_large
        self.first = self.first or record
        self.size += record.size
        if not self.is_too_large:
            self.values.append(record.value)
        elif not was_too_large:
            self.values = []
            yield Unreadable(record.place, "too_large", f"The run is too large at message {record.place}. Split it.")


@dataclass(frozen=True, slots=True)
class _Content:
    """What a message says, and the picture that it has: None for none, b"" for one that the file leaves out."""

    text: str
    picture: bytes | None = None


def _read_content(content: JSON) -> _Content:
    if isinstance(content, str):
        return _Content(content)
    texts: list[str] = []
    picture = None
    for part in objects(content):
        if "image_url" in part or part.get("type") == "image_url":
            address = part.get("image_url")
            url = text(address, "url") if isinstance(address, dict) else text(part, "image_url")
            picture = picture_bytes(url) if is_data_url(url) and "{" not in url else b""
        else:
            texts.append(text(part, "text"))
    return _Content("\n".join(filter(None, texts)), picture)


def _converted(
    about: dict[str, JSON], messages: list[dict[str, JSON]], record: Record, source: RunFile, options: ReadingOptions
) -> Converted | Unreadable:
    report = ConversionReport()
    report.repairs.update(record.repairs)
    facts = read_facts(about, options)
    story = _Story(report)
    for message in messages:
        story.add(message)
    if not story.steps:
        return Unreadable(record.place, "no_steps", f"Record {record.place} has no message of the agent: no step.")
    steps = tuple(story.steps)
    run = replace(
        facts.run(),
        external_id=facts.external_id or source.folder or _file_name(messages),
        task=facts.task or text(about, "task", "ques", "question") or story.task,
        steps=steps,
    )
    return Converted(run, report, record.place)


def _file_name(messages: list[dict[str, JSON]]) -> str:
    content = json.dumps(messages, sort_keys=True, ensure_ascii=True).encode("ascii")
    return f"webvoyager-{hashlib.sha256(content).hexdigest()[:12]}"


class _Story:
    """Takes the messages in their order, and makes a step of each one of the agent."""

    def __init__(self, report: ConversionReport) -> None:
        self._report = report
        self.task = ""
        self.steps: list[Step] = []
        self._url = ""
        self._elements = ""
        self._picture: bytes | None = None
        self._had_page = True

    def add(self, message: dict[str, JSON]) -> None:
        content = _read_content(message.get("content"))
        match message.get("role"):
            case "system":
                self._report.dropped["instruction of the agent"] += 1
            case "user":
                self._user(content)
            case "assistant":
                self._agent(content.text)
            case _:
                self._report.unknown[f"role {message.get('role')}"[:100]] += 1

    def _user(self, content: _Content) -> None:
        words = content.text
        if not self.steps and (match := _TASK.fullmatch(words)):
            self.task, self._url = match["task"], match["url"]
            words = match["rest"]
        self._picture = content.picture
        seen = _OBSERVATION.fullmatch(words)
        self._had_page = content.picture is not None or _OMITTED.fullmatch(words) is not None or not self.steps
        if seen:
            self._elements = _listed(seen["elements"].strip())
            self._answered(seen["observation"].strip())
            self._had_page = True
        elif _OMITTED.fullmatch(words):
            self._report.dropped["observation that the file leaves out"] += 1
        elif self.steps:
            self._answered(words.strip())
        else:
            self.task = self.task or words.strip()

    def _answered(self, answer: str) -> None:
        """What the program said of the action before."""
        if not answer:
            return
        if not self.steps or not self.steps[-1].calls:
            self._elements = "\n".join(filter(None, (answer, self._elements)))
            return
        step = self.steps[-1]
        call = replace(step.calls[-1], result=answer, is_error=_FAILED.search(answer) is not None)
        self.steps[-1] = replace(step, calls=(*step.calls[:-1], call))

    def _agent(self, words: str) -> None:
        act = _ACT.fullmatch(words)
        number = len(self.steps) + 1
        screenshot = Screenshot(f"screenshot{number}.png", self._picture or b"") if self._had_page else None
        self.steps.append(
            Step(
                message=act["thought"] if act else words.strip(),
                calls=(_call(act["action"].strip()),) if act else (),
                prompt=self._elements,
                url=self._url,
                screenshot=screenshot,
            )
        )
        self._url, self._elements, self._picture, self._had_page = "", "", None, False


def _listed(elements: str) -> str:
    """The labelled elements as a list of Markdown, which would else read "[2]: ..." as the address of a link."""
    lines = (f"- [{number}] {what}" for number, what in _ELEMENT.findall(elements))
    return "\n".join(lines) or elements


def _call(action: str) -> ToolCall:
    for pattern, name, names in _ACTIONS:
        if match := pattern.fullmatch(action):
            values = (
                int(value) if value.isdecimal() and key == "element" else value
                for key, value in zip(names, match.groups(), strict=True)
            )
            return ToolCall("", name, dict(zip(names, values, strict=True)), "")
    return ToolCall("", "action", {"input": action}, "")
