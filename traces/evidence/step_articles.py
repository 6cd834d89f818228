"""The steps of a page as HTML, and their list beside them. Written here and not by a template, which takes half a
millisecond for each step: a page has up to 500 of them.
"""

from collections.abc import Iterable
from typing import Any

from django.template.loader import render_to_string

from accounts.drawn_icons import drawn_icon
from traces.evidence.pages import ShownStep
from traces.rendering.escaping import escaped
from traces.rendering.safe import SafeHtml, trusted
from traces.rendering.shortened import cut_in_the_middle


def step_article(shown: ShownStep, *, is_judged: bool, shows_titles_alone: bool, lines_url: str) -> SafeHtml:
    """One step with its body, which is in the page, or an address that <lazy-fragment> loads.

    `is_judged`: on a task that judges steps, where what was only looked at is closed. `lines_url` is the tab "Files
    changed", "" where there is none.
    """
    step = shown.step
    index = step.index
    is_closed = (is_judged and shown.is_brief) or shows_titles_alone
    body = _later(shown, is_judged=is_judged) if shown.piece.html is None else shown.piece.html
    classes = f"step{' is-error' if step.is_error else ''}{' is-closed' if is_closed else ''}"
    return trusted(
        f'<article class="{classes}" id="s{index}" data-base="{shown.piece.base}" aria-label="Step {index}">'
        f'<header class="step__head"><a class="snum" href="#s{index}" aria-label="Link to step {index}">{index}</a>'
        f"{drawn_icon(shown.icon, 'i step__kind')}{_title(shown)}"
        f"{_failed() if step.is_error else ''}"
        '<button class="btn btn--quiet btn--s btn--icon needs-script" type="button" data-toggle '
        f'aria-expanded="{"false" if is_closed else "true"}" aria-label="Body of step {index}"></button></header>'
        f'<div class="step__body">{body}</div>{_lines(shown, lines_url) if shown.written else ""}</article>'
    )


def rail_items(steps: Iterable[ShownStep], *, is_judged: bool) -> SafeHtml:
    """The links to the steps. A task has room for words of its own in each."""
    return trusted("".join(_rail_item(shown, is_judged=is_judged) for shown in steps))


def _title(shown: ShownStep) -> str:
    step, took = shown.step, shown.took
    detail = cut_in_the_middle(step.detail, "") if step.detail else ""
    names = "".join(f"<b>{escaped(name)}</b> " for name in shown.names)
    beside = f'<span class="step__took tiny muted num">{names}{took}</span>' if names or took else ""
    return f'<div class="step__title"><b>{escaped(step.title)}</b>{detail}{beside}</div>'


def _failed() -> str:
    return f'<span class="badge bad-t">{drawn_icon("circle-alert")} Failed</span>'


def _later(shown: ShownStep, *, is_judged: bool) -> str:
    """Where the body is, for a page without JavaScript too; a task names a page of them above the steps."""
    index = shown.step.index
    link = "" if is_judged else f'<a href="?step={index}#s{index}">Show step {index}</a>'
    return f'<lazy-fragment src="{shown.piece.src}" data-rows="{shown.piece.rows}">{link}</lazy-fragment>'


def _lines(shown: ShownStep, lines_url: str) -> str:
    context: dict[str, Any] = {"written": shown.written, "lines_url": lines_url}
    return render_to_string("traces/partials/step_lines.html", context)


def _rail_item(shown: ShownStep, *, is_judged: bool) -> str:
    step = shown.step
    error, mark = "", ""
    if step.is_error:
        error = " is-error"
        mark = f'<span class="bad-t">{drawn_icon("circle-alert", "i i--s")}<span class="vh">failed</span></span>'
    words = '<span class="sub"></span>' if is_judged else cut_in_the_middle(shown.hint, "sub") if step.detail else ""
    return (
        f'<a class="srail__item{error}" href="#s{step.index}"><span class="snum">{step.index}</span>'
        f"{cut_in_the_middle(step.title, '')}{mark}{words}</a>"
    )
