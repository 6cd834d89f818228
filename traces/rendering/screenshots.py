"""A screenshot with what the agent did on it, as HTML: address bar, picture, mark, and the way to see it larger; and
the pictures that tools gave back or the user sent.

Pictures lie at an address relative to the page, so that one fragment serves the pages of managers and annotators.
"""

from potato.runs.model import Screenshot, Step, ToolCall
from traces.rendering.click_marks import Mark, click_mark, shown_address
from traces.rendering.escaping import attribute, escaped
from traces.rendering.icons import icon
from traces.rendering.tool_calls import step_title


def picture_address(sha256: str, size: str) -> str:
    """Where a picture is, seen from a page of steps; `size` is whole or small."""
    return f"../pictures/{sha256}/{size}.webp"


def screenshot_figure(step: Step) -> str:
    """The screenshot that the agent acted on; a placeholder that names it where it cannot be shown; "" for none."""
    shot = step.screenshot
    if shot is None:
        return ""
    bar = _address_bar(shown_address(step), shot.name)
    if not shot.sha256:
        return f'<figure class="shot">{bar}{_absent(shot)}</figure>'
    mark = click_mark(step)
    return f'<figure class="shot">{bar}{_link(shot, _words(step, mark), _drawn(mark, shot))}</figure>'


def result_figures(call: ToolCall) -> str:
    """The pictures that the call gave back, in their order; "" for none."""
    return _figures(call.pictures, f"that {call.name[:60]} gave back")


def sent_figures(pictures: tuple[Screenshot, ...], said_by: str) -> str:
    """The pictures that `said_by` put into a message, in their order; "" for none."""
    return _figures(pictures, f"that {said_by[:1].lower()}{said_by[1:]} sent")


def _figures(pictures: tuple[Screenshot, ...], whose: str) -> str:
    count = len(pictures)
    figures = []
    for number, picture in enumerate(pictures, 1):
        which = "picture" if count == 1 else f"picture {number} of {count}"
        shown = _link(picture, f"{which} {whose}") if picture.sha256 else _absent(picture)
        figures.append(f'<figure class="shot shot--result">{shown}</figure>')
    return "".join(figures)


def _link(shot: Screenshot, words: str, drawn: str = "") -> str:
    return (
        f'<a class="shot__open" href="{picture_address(shot.sha256, "whole")}" '
        f'target="_blank" rel="noopener" data-shot aria-label="Enlarge: {attribute(words)}">'
        f'<img src="{picture_address(shot.sha256, "whole")}" width="{shot.width}" height="{shot.height}" '
        f'loading="lazy" decoding="async" alt="">{drawn}</a>'
    )


def _absent(shot: Screenshot) -> str:
    problem = shot.problem or "it did not come with the trace"
    return (
        f'<div class="shot__none">{icon("eye-off")}<b class="mono">{escaped(shot.name)}</b>'
        f"<span>cannot be shown: {escaped(problem)}.</span></div>"
    )


def _address_bar(url: str, name: str) -> str:
    if not url:
        return f'<figcaption class="shot__url"><span class="trunc">{escaped(name)}</span></figcaption>'
    # Told in words, as no icon of a lock would be true of an address that nobody checked; never a link.
    return (
        f'<figcaption class="shot__url">{icon("globe")}<span class="vh">Address: </span>'
        f'<span class="trunc" dir="ltr">{escaped(url)}</span></figcaption>'
    )


def _words(step: Step, mark: Mark) -> str:
    title = step_title(step)
    where = "the point is marked" if mark.point else "the element is marked" if mark.box else ""
    act = f"before “{' '.join(filter(None, (title.title, title.detail)))[:120]}”" if step.calls else ""
    return ", ".join(filter(None, (f"screenshot {act}".strip(), where)))


def _drawn(mark: Mark, shot: Screenshot) -> str:
    """The mark in the pixels of the picture. Its line keeps its width at every size."""
    if not mark:
        return ""
    shapes = ""
    if mark.box is not None:
        x, y, width, height = map(_number, mark.box)
        shapes += f'<rect class="hit" x="{x}" y="{y}" width="{width}" height="{height}" rx="3"/>'
    if mark.point is not None:
        x, y = map(_number, mark.point)
        radius = max(shot.width, shot.height) / 50
        shapes += f'<circle class="hit" cx="{x}" cy="{y}" r="{_number(radius)}"/>'
        shapes += f'<circle class="hit2" cx="{x}" cy="{y}" r="{_number(radius / 5)}"/>'
    return f'<svg viewBox="0 0 {shot.width} {shot.height}" aria-hidden="true">{shapes}</svg>'


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
