"""The format `webarena`: the page render_N.html that WebArena writes of a run.

Field notes (browser_env/helper_functions.py of web-arena-x/webarena, class RenderHelper)
- HTML in which nothing is escaped: what the agent saw and said stands between marks, as it was. First the task's
  configuration, <pre> with a line "key: value" for each of sites, task_id, start_url, intent, eval and more. `eval` has
  the expected answer, which is nobody's to see who judges: of the configuration task_id, intent and start_url are read.
- Each step: <h2>New Page</h2>, <h3 class='url'><a href=URL>, <div class='state_obv'><pre> with the accessibility tree,
  perhaps <img src='data:image/png;base64,...'>, <div class='prev_action'> with what became of the action before, and
  <div class='predict_action'> with raw_parsed_prediction (what the agent said), action_object (a program's form of the
  action, left out) and parsed_action; for agents that write code, the code alone.
- The agent ends with its action between three backticks: click [id], type [id] [text] [enter], hover [id], press [key],
  scroll [direction], goto [url], new_tab, close_tab, tab_focus [n], go_back, go_forward, stop [answer].
- prev_action begins with "Attempt to perfom" (so written), or "The previous prediction you issued was", where the
  action could not be done.
- Pages of later benchmarks in its manner write the same marks; what they add is passed over.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from potato.runs.converters.native_pages import is_data_url, picture_bytes
from potato.runs.converters.outline import detect_outline
from potato.runs.model import (
    JSON,
    AgentRun,
    ConversionReport,
    Converted,
    ReadingOptions,
    RunFile,
    Screenshot,
    Step,
    TooLarge,
    ToolCall,
    Unreadable,
)

_NEW_PAGE = "<h2>New Page</h2>"
_URL = re.compile(r"<h3 class=['\"]url['\"]>\s*<a href=['\"]?([^>'\"]{0,4000})")
_SEEN = re.compile(r"<div class=['\"]state_obv['\"]>\s*<pre>")
_PICTURE = re.compile(r"<img src=['\"](data:image/[^'\"]{1,100000000})['\"]")
_BEFORE = re.compile(r"<div class=['\"]prev_action['\"][^>]{0,200}>")
_PREDICTED = re.compile(r"<div class=['\"]predict_action['\"][^>]{0,200}>")
_SAID = re.compile(r"<div class=['\"]raw_parsed_prediction['\"][^>]{0,200}>\s*<pre>")
_OBJECT = re.compile(r"<div class=['\"]action_object['\"][^>]{0,200}>")
_PARSED = re.compile(r"<div class=['\"]parsed_action['\"][^>]{0,200}>\s*<pre>")
_CONFIGURED = re.compile(r"^(task_id|intent|start_url): (.*)$", re.MULTILINE)
_ACTION = re.compile(r"```[ \t]*\n?([a-z_]+\b[^`]*)```")
_CALL = re.compile(r"(?P<name>[a-z_]{1,40})\s*(?P<rest>.*)", re.DOTALL)
_ARGUMENT = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]", re.DOTALL)
_ARGUMENTS = {
    "click": ("element",), "hover": ("element",), "type": ("element", "content", "press_enter"), "press": ("keys",),
    "scroll": ("direction",), "goto": ("url",), "tab_focus": ("tab",), "stop": ("content",),
}  # fmt: skip
_NOT_DONE = ("Attempt to perf", "The previous prediction you issued was")


class WebArena:
    """Pages of WebArena."""

    name = "webarena"
    label = "WebArena: render_N.html"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        if detect_outline(head, filename).layout != "text" or b"<pre>" not in head:
            return 0.0, "it is no page of HTML with <pre>"
        if b"class='state_obv'" in head or b'class="state_obv"' in head or b"class='predict_action'" in head:
            return 0.97, "it is a page with what an agent saw (state_obv) and did (predict_action)"
        if re.search(rb"^task_id: ", head, re.MULTILINE) and re.search(rb"^intent: ", head, re.MULTILINE):
            return 0.9, "it is a page with the task_id and intent of a task of WebArena"
        return 0.0, "the page has no state_obv and no predict_action"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        try:
            data = lines.whole()
        except TooLarge as error:
            yield Unreadable(1, "too_large", str(error))
            return
        report = ConversionReport()
        try:
            page = data.decode("utf-8")
        except UnicodeDecodeError:
            report.repairs["bytes that are not UTF-8"] += 1
            page = data.decode("utf-8", "surrogateescape")
        head, *sections = page.split(_NEW_PAGE)
        facts = dict(_CONFIGURED.findall(head))
        steps: list[Step] = []
        for number, section in enumerate(sections, 1):
            _add_step(steps, section, number, report)
        if not steps:
            sentence = (
                f"{lines.name} has no step: no action stands below <h2>New Page</h2>, so there is nothing to judge."
            )
            yield Unreadable(1, "no_steps", sentence)
            return
        if facts:
            report.dropped["configuration of the task and its expected answer"] += 1
        task_id = facts.get("task_id", "").strip()
        stem = lines.name.rpartition("/")[2].removesuffix(".html")
        named = f"webarena-{task_id}" if task_id else stem
        run = AgentRun(
            external_id=f"{named}@{lines.folder}" if lines.folder else named,
            task=facts.get("intent", "").strip(),
            steps=tuple(steps),
            task_id=f"webarena-{task_id}" if task_id else "",
        )
        yield Converted(run, report, 1)


def _add_step(steps: list[Step], section: str, number: int, report: ConversionReport) -> None:
    """The step of one page, and what it says of the action before."""
    predicted = _PREDICTED.search(section)
    if predicted is None:
        report.repairs["page without an action"] += 1
        return
    shown, prediction = section[: predicted.start()], section[predicted.end() :]
    before = _between(_BEFORE, shown, "</div>").strip()
    if steps and steps[-1].calls:
        failed = before.startswith(_NOT_DONE)
        call = replace(steps[-1].calls[0], result=before if failed else "", is_error=failed)
        steps[-1] = replace(steps[-1], calls=(call,))
    url = _URL.search(shown)
    picture = _PICTURE.search(shown)
    words = _between(_SAID, prediction, "</pre>")
    parsed = _between(_PARSED, prediction, "</pre>")
    if _OBJECT.search(prediction):
        report.dropped["program's form of an action"] += 1
    code = "" if words or parsed else re.sub(r"</div>\s*(?:</body>.*)?\Z", "", prediction, flags=re.DOTALL).strip()
    action = _ACTION.findall(words)
    call = _read_call(action[-1] if action else parsed or code)
    steps.append(
        Step(
            message=words.strip() or parsed.strip(),
            calls=(call,),
            prompt=_fenced(_between(_SEEN, shown, "</pre>")),
            url=url[1].strip() if url else "",
            screenshot=_screenshot(picture[1], number) if picture else None,
        )
    )


def _between(mark: re.Pattern[str], text: str, end: str) -> str:
    """What stands behind the first mark, up to the next end; "" where the mark is missing."""
    match = mark.search(text)
    return text[match.end() :].partition(end)[0] if match else ""


def _screenshot(address: str, number: int) -> Screenshot:
    name = f"screenshot of step {number}"
    return Screenshot(name, picture_bytes(address)) if is_data_url(address) else Screenshot(name)


def _fenced(seen: str) -> str:
    """The accessibility tree as a block of Markdown, which would else read its brackets as links."""
    if not seen.strip():
        return ""
    marks = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", seen)), 3)
    return f"{marks}\n{seen.strip(chr(10))}\n{marks}"


def _read_call(action: str) -> ToolCall:
    action = action.strip()
    match = _CALL.fullmatch(action)
    if match is None or (match["name"] not in _ARGUMENTS and match["rest"].strip()):
        return ToolCall("", "action", {"input": action}, "")
    values = _ARGUMENT.findall(match["rest"])
    names = _ARGUMENTS.get(match["name"], ())
    arguments: dict[str, JSON] = dict(zip(names, values, strict=False))
    return ToolCall("", match["name"], arguments, "")
