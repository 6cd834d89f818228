"""A step of an agent's run as an HTML fragment: thought, message, tool calls and what came back. The same for every
reader: it holds no label, no score and no form; those are mounted in its header and after its body.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from potato.runs.model import Step, SubAgent, ToolCall
from traces.rendering import excerpts
from traces.rendering.ansi import Terminal
from traces.rendering.diff_rows import painted
from traces.rendering.dividers import ShownDivider, shown_dividers
from traces.rendering.escaping import escaped
from traces.rendering.folding import LINES_OF_RESULTS, LINES_SHOWN, folded_text
from traces.rendering.highlight import highlighted
from traces.rendering.icons import icon
from traces.rendering.parts import Part, nodes_in
from traces.rendering.prose import markdown
from traces.rendering.safe import trusted
from traces.rendering.screenshots import result_figures, screenshot_figure, sent_figures
from traces.rendering.tool_calls import Use, describe_call, step_title

_SHORT = 200
_MOST_ARGUMENTS = 60
_COLOURED = 32_000
_AGENT_STEPS_SHOWN = 5
_AGENT_STEPS_LOADED = 20
_LONGEST_PREFIX = 24

Display: TypeAlias = Literal["coding_trace", "agent_trace", "web_agent"]
_KEYS: dict[Display, str] = {"coding_trace": "", "agent_trace": "-agent", "web_agent": "-web"}


@dataclass(frozen=True, slots=True)
class StepOptions:
    """What a project chooses."""

    syntax_highlight: bool = True
    display: Display = "coding_trace"

    @property
    def key(self) -> str:
        """Names these options in a store, together with the content's hash and RENDER_VERSION."""
        return f"step-{'coloured' if self.syntax_highlight else 'plain'}{_KEYS[self.display]}"


@dataclass(frozen=True, slots=True)
class RenderedStep:
    """The step's own part "0", and the parts that its buttons name."""

    parts: tuple[Part, ...]
    nodes: int


def render_step(step: Step, options: StepOptions) -> RenderedStep:
    """The body of a step. The page writes the article and its header, which know the step's place in the run."""
    writer = _Writer(options)
    match options.display:
        case "coding_trace":
            html = _coding(writer, step) + screenshot_figure(step)
        case "agent_trace":
            html = _in_three_parts(writer, step) + screenshot_figure(step)
        case "web_agent":
            html = _beside_its_page(writer, step)
    html = html or '<p class="muted">This step holds nothing.</p>'
    return RenderedStep((Part("0", trusted(html), 0, nodes_in(html)), *writer.parts), nodes_in(html))


def _coding(writer: "_Writer", step: Step) -> str:
    """The way of coding agents: what is said, then each call as its tool is best shown; the thought is folded."""
    blocks = [writer.prompt(step), writer.thought(step.thought), writer.message(step.message)]
    for number, call in enumerate(step.calls):
        blocks += [*writer.call(call, writer.key(f"call-{number}")), writer.agents(step, call.id)]
    return "".join([*blocks, writer.agents(step), writer.after(step)])


def _in_three_parts(writer: "_Writer", step: Step) -> str:
    """Thought, action, observation, each under its name. A message without an action is what the agent answers."""
    message = writer.open_thought(step.thought) + writer.message(step.message)
    is_answer = not step.calls and not step.thought.strip()
    parts = [
        writer.prompt(step),
        (_block("message-square", "Message", message) if is_answer else _block("brain", "Thought", message))
        if message
        else "",
    ]
    for number, call in enumerate(step.calls):
        key = writer.key(f"call-{number}")
        parts += [writer.action(call, key), writer.observation(call, key), writer.agents(step, call.id)]
    return "".join([*parts, writer.agents(step), writer.after(step)])


def _beside_its_page(writer: "_Writer", step: Step) -> str:
    """What the agent thought and did, and beside it the page that it saw."""
    shot = screenshot_figure(step)
    seen = writer.seen(step.prompt)
    parts = replace(step, prompt="")
    if not shot:
        return _in_three_parts(writer, parts) + seen
    label = "Screenshot before the action" if step.calls else "Screenshot"
    acts, page = _in_three_parts(writer, parts), _block("camera", label, shot) + seen
    return f'<div class="duo"><div class="duo__side">{acts}</div><div class="duo__side">{page}</div></div>'


class _Writer:
    """Writes a step's blocks and gathers the parts that their buttons name."""

    def __init__(self, options: StepOptions, prefix: str = "", said_by: str = "The user") -> None:
        self._options = options
        self._prefix = prefix
        self._said_by = said_by
        self.parts: list[Part] = []

    def key(self, name: str) -> str:
        """The name of a part of this step, which may stand among others'."""
        return f"{self._prefix}{name}"

    def thought(self, text: str) -> str:
        if not text.strip():
            return ""
        shown = self._folded(
            text, self.key("thought"), lambda start, end: f'<p class="thought">{escaped(text[start:end])}</p>'
        )
        return f'<details class="fold"><summary>{icon("brain")} Thought</summary>{shown}</details>'

    def open_thought(self, text: str) -> str:
        """The thought where it is what the reader is to follow."""
        if not text.strip():
            return ""
        return self._folded(
            text, self.key("thought"), lambda start, end: f'<p class="thought">{escaped(text[start:end])}</p>'
        )

    def _thought(self, text: str) -> str:
        def draw(start: int, end: int) -> str:
            return f'<p class="thought">{escaped(text[start:end])}</p>'

        return self._folded(text, self.key("thought"), draw)

    def seen(self, text: str) -> str:
        """What the agent read beside the picture, such as the labelled elements of a page: folded, for it is long."""
        if not text.strip():
            return ""
        prose = f'<div class="prose">{self._prose(text, self.key("prompt"))}</div>'
        return f'<details class="fold"><summary>{icon("eye")} Text that came with the page</summary>{prose}</details>'

    def message(self, text: str) -> str:
        return f'<div class="prose">{self._prose(text, self.key("message"))}</div>' if text.strip() else ""

    def prompt(self, step: Step) -> str:
        """What the user said and sent before the step: shown apart from what the agent did."""
        text, figures = step.prompt, sent_figures(step.prompt_pictures, self._said_by)
        if not text.strip() and not figures:
            return ""
        prose = f'<div class="prose">{self._prose(text, self.key("prompt"))}</div>' if text.strip() else ""
        # Pictures of the task, whose words stand above all steps, come without any.
        label = f"{self._said_by} {'said' if prose else 'sent'}, before this step"
        return f'<div class="step__before">{_block("user", label, prose + figures)}</div>'

    def after(self, step: Step) -> str:
        """What the user said and sent when no step came any more."""
        text, figures = step.after, sent_figures(step.after_pictures, self._said_by)
        if not text.strip() and not figures:
            return ""
        prose = f'<div class="prose">{self._prose(text, self.key("after"))}</div>' if text.strip() else ""
        label = f"{self._said_by} {'said' if prose else 'sent'}, after this step"
        return f'<div class="step__before">{_block("user", label, prose + figures)}</div>'

    def agents(self, step: Step, call_id: str = "") -> str:
        """The agents that this call started, folded; without a call those of which no call is known."""
        known = {call.id for call in step.calls}
        shown = []
        for number, agent in enumerate(step.agents):
            if agent.call_id == call_id if call_id else agent.call_id not in known:
                shown.append(self._agent(agent, self.key(f"a{number}-")))
        return "".join(shown)

    def _agent(self, agent: SubAgent, prefix: str) -> str:
        task = self._prose(agent.task, f"{prefix}task") if agent.task.strip() else ""
        instruction = f'<div class="step__before">{_block("message-square", "It was told", task)}</div>' if task else ""
        inner, parts = self._first_steps(agent, prefix)
        self.parts += parts
        count = "1 step" if len(agent.steps) == 1 else f"{len(agent.steps):,} steps"
        name = f"<b>{escaped(agent.name)}</b>"
        return (
            f'<details class="fold agent"><summary>{icon("bot")} <span>Sub-agent {name}: {count}</span></summary>'
            f'<div class="agent__body">{instruction}{inner}</div></details>'
        )

    def _first_steps(self, agent: SubAgent, prefix: str) -> tuple[str, list[Part]]:
        """The first steps, and parts with the others, each with the button for the next."""
        pieces: list[str] = []
        parts: list[Part] = []
        for number, step in enumerate(agent.steps):
            writer = _Writer(self._options, _short_key(f"{prefix}{number}-"), "The calling agent")
            title = step_title(step)
            # A step without a call is what the agent says, which stands below.
            head = ": ".join(filter(None, (title.title, title.detail))) if step.calls else "Message"
            marks = "".join(f'<p class="divider"><span>{divider.sentence}</span></p>' for divider in _dividers(step))
            body = _coding(writer, step) or '<p class="muted">This step holds nothing.</p>'
            pieces.append(
                f'{marks}<section class="agent__step"><p class="agent__title">{number + 1}. {escaped(head)}</p>'
                f"{body}</section>"
            )
            parts += writer.parts
        starts = [0, *range(_AGENT_STEPS_SHOWN, len(pieces), _AGENT_STEPS_LOADED), len(pieces)]
        for at in range(1, len(starts) - 1):
            more = self._more_button(prefix, at + 1, len(pieces) - starts[at + 1])
            html = "".join(pieces[starts[at] : starts[at + 1]]) + more
            parts.append(Part(f"{_short_key(prefix)}more-{at}", trusted(html), 0, nodes_in(html)))
        first = "".join(pieces[: starts[1]])
        return first + self._more_button(prefix, 1, len(pieces) - starts[1]), parts

    def _more_button(self, prefix: str, part: int, left: int) -> str:
        if left <= 0:
            return ""
        steps = "1 more step" if left == 1 else f"{left:,} more steps"
        return f'<button type="button" class="rest" data-part="{_short_key(prefix)}more-{part}">Load {steps}</button>'

    def _prose(self, text: str, key: str) -> str:
        prose = markdown(text, self._options.syntax_highlight)
        if prose is not None:
            return prose
        return self._folded(text, key, lambda start, end: f'<p class="plain">{escaped(text[start:end])}</p>')

    def call(self, call: ToolCall, key: str) -> list[str]:
        use = describe_call(call)
        if use.kind == "command":
            arguments = self._arguments(call, use, key) if not use.command or _others(call, use) else ""
            head = _block("wrench", "Tool call", _call_box(call.name, arguments, "")) if arguments else ""
            return [head, _block("terminal", "Terminal", self._terminal(call, use, key) + result_figures(call), call)]
        made = "".join(self._made(use, key))
        lines, rest = excerpts.numbered_lines(call.result) if use.kind == "read" and call.result else ([], "")
        if lines and len(lines) <= excerpts.MOST_LINES and not call.is_error:
            made += self._gathered(excerpts.file_lines(self._coloured(use.path), lines, f"{key}-lines"))
            output = self._output(rest, key) if rest.strip() else ""
        else:
            output = self._output(call.result, key)
        output += result_figures(call)
        box = _call_box(call.name, self._arguments(call, use, key), made)
        return [
            _block("wrench", "Tool call", box),
            _block("file-text", "Output", output, call) if output else "",
        ]

    def action(self, call: ToolCall, key: str) -> str:
        """The call alone: its name and arguments, an edit or a command as such."""
        use = describe_call(call)
        if use.kind == "command" and use.command:
            command, name = use.command, f"{key}-command"
            shown = self._folded(command, name, lambda start, end: f"<pre>{escaped(command[start:end])}</pre>")
            made = f'<div class="term" dir="ltr" translate="no">{shown}</div>'
        else:
            made = "".join(self._made(use, key))
        return _block("wrench", "Action", _call_box(call.name, self._arguments(call, use, key), made))

    def observation(self, call: ToolCall, key: str) -> str:
        """What came back; nothing for a call whose trace says that nothing did."""
        if call.result is not None and not call.result.strip() and not call.is_error and not call.pictures:
            return ""
        return _block("eye", "Observation", self._output(call.result, key) + result_figures(call), call)

    def _made(self, use: Use, key: str) -> list[str]:
        """The edits that the call made, or the file that it wrote."""
        made = []
        for number, edit in enumerate(use.edits):
            name = f"{key}-edit-{number}"
            if edit.old.count("\n") + edit.new.count("\n") <= excerpts.MOST_LINES:
                made.append(self._gathered(excerpts.edit(self._coloured(use.path), edit.old, edit.new, name)))
            else:
                made += [_named("Replaced", self._text(edit.old, f"{name}-old"))]
                made += [_named("By", self._text(edit.new, f"{name}-new"))]
        if use.written is not None:
            lines = use.written.removesuffix("\n").split("\n")
            if len(lines) <= excerpts.MOST_LINES:
                rows = list(enumerate(lines, 1))
                made.append(
                    self._gathered(excerpts.file_lines(self._coloured(use.path), rows, f"{key}-new", is_new=True))
                )
            else:
                made.append(self._text(use.written, f"{key}-new"))
        return made

    def _terminal(self, call: ToolCall, use: Use, key: str) -> str:
        prompt = ""
        if use.command:
            command = use.command
            sign = '<span class="t-p">$</span> '
            prompt = self._folded(
                command,
                f"{key}-command",
                lambda start, end: f"<pre>{sign if not start else ''}{escaped(command[start:end])}</pre>",
            )
        terminal = Terminal()
        result = call.result or ""
        printed = self._folded(
            result,
            f"{key}-result",
            lambda start, end: f"<pre>{terminal.html(result[start:end])}</pre>",
            LINES_OF_RESULTS,
        )
        state = "not answered" if call.result is None else "" if result else "no output"
        return (
            f'<div class="term" dir="ltr" translate="no"><div class="term__head"><span>{escaped(call.name)}</span>'
            f'<span class="push">{state}</span></div>{prompt}{printed if result else ""}</div>'
        )

    def _output(self, result: str | None, key: str) -> str:
        if result is None:
            return '<p class="muted">The call was never answered.</p>'
        if not result.strip():
            return '<p class="muted">Nothing came back.</p>'
        pretty = _pretty_json(result) if result.lstrip()[:1] in "{[" else None
        if pretty is not None:
            return self._text(pretty, f"{key}-result", "x.json", LINES_OF_RESULTS)
        terminal = Terminal()
        if "\x1b[" in result:
            printed = self._folded(
                result,
                f"{key}-result",
                lambda start, end: f"<pre>{terminal.html(result[start:end])}</pre>",
                LINES_OF_RESULTS,
            )
            return f'<div class="term" dir="ltr" translate="no">{printed}</div>'
        return self._text(result, f"{key}-result", shown=LINES_OF_RESULTS)

    def _arguments(self, call: ToolCall, use: Use, key: str) -> str:
        """The arguments that are not shown in another way, as a list of names and values."""
        arguments = call.arguments
        if isinstance(arguments, str):
            return self._text(arguments, f"{key}-arguments") if arguments else ""
        if not isinstance(arguments, dict) or len(arguments) > _MOST_ARGUMENTS:
            pretty = _dumped(arguments)
            return self._text(pretty, f"{key}-arguments", "x.json") if arguments not in (None, {}) else ""
        items = []
        for number, (name, value) in enumerate(arguments.items()):
            if name in use.shown:
                continue
            if isinstance(value, str) and (len(value) > _SHORT or "\n" in value):
                shown = self._text(value, f"{key}-argument-{number}")
            elif isinstance(value, str):
                shown = escaped(value)
            elif isinstance(value, dict | list) and value:
                shown = self._text(_dumped(value), f"{key}-argument-{number}", "x.json")
            else:
                shown = escaped(_dumped(value))
            items.append(f"<dt>{escaped(str(name))}</dt><dd>{shown}</dd>")
        return f'<dl class="call__args">{"".join(items)}</dl>' if items else ""

    def _text(self, text: str, key: str, path: str = "", shown: int = LINES_SHOWN) -> str:
        """A text as it came, coloured by the language of `path`."""
        if path and self._options.syntax_highlight and len(text) <= _COLOURED:
            lines = text.split("\n")
            tokens = highlighted(path, [lines])[0]

            def draw(start: int, end: int) -> str:
                first = text.count("\n", 0, start)
                shown = text[start:end].split("\n")
                if any(tokens[first : first + len(shown)]):
                    return "\n".join(
                        painted(line, tokens[first + at] if line == lines[first + at] else (), [])
                        for at, line in enumerate(shown)
                    )
                return escaped(text[start:end])
        else:

            def draw(start: int, end: int) -> str:
                return escaped(text[start:end])

        return self._folded(text, key, lambda start, end: f'<pre class="out">{draw(start, end)}</pre>', shown)

    def _folded(self, text: str, key: str, draw: Callable[[int, int], str], shown: int = LINES_SHOWN) -> str:
        return self._gathered(folded_text(text, key, draw, shown))

    def _gathered(self, made: tuple[str, list[Part]]) -> str:
        html, parts = made
        self.parts += parts
        return html

    def _coloured(self, path: str) -> str:
        """The path where its language is to be coloured."""
        return path if self._options.syntax_highlight else ""


def _dividers(step: Step) -> list[ShownDivider]:
    return shown_dividers(" ".join(step.dividers))


def _short_key(prefix: str) -> str:
    """A prefix that leaves room for names behind it: agents of agents may have long ones."""
    if len(prefix) <= _LONGEST_PREFIX:
        return prefix
    return f"h{hashlib.sha256(prefix.encode()).hexdigest()[:16]}-"


def _others(call: ToolCall, use: Use) -> bool:
    """Whether a command has arguments that its terminal does not show."""
    return isinstance(call.arguments, dict) and bool(set(call.arguments) - use.shown)


def _block(name: str, label: str, html: str, call: ToolCall | None = None) -> str:
    """A labelled part of a step; with the call whose answer it is, what became of that."""
    error = ""
    if call is not None and call.refused:
        error = f'<span class="badge warn-t">{icon("ban")} Refused by the user</span>'
    elif call is not None and call.is_error:
        error = '<span class="badge bad-t">Error</span>'
    return f'<div class="block"><div class="block__label">{icon(name)} {label} {error}</div>{html}</div>'


def _call_box(name: str, arguments: str, made: str) -> str:
    return (
        f'<div class="call"><div class="call__head"><code class="mono strong">{escaped(name)}</code></div>'
        f"{arguments}{made}</div>"
    )


def _named(label: str, html: str) -> str:
    return f'<div class="call__part"><div class="label">{label}</div>{html}</div>'


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)
    except RecursionError:
        return "(nested too deeply to be shown)"


def _pretty_json(text: str) -> str | None:
    if len(text) > _COLOURED:
        return None
    try:
        return _dumped(json.loads(text))
    except (ValueError, RecursionError):
        return None
