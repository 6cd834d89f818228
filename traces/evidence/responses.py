"""What the routes to a trace share, whoever may ask: its two tabs, and its fragments.

Finds no trace and grants nothing: the caller has found the trace that this person may see.
"""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.cache import patch_vary_headers

from potato.configuration import ProjectConfiguration
from potato.configuration.agentic import CodingTraceDisplay
from tenancy.ids import read_number
from traces.evidence.base_files import bases_of, missing_commit, split_key
from traces.evidence.fragments import VIEWS, DisplayOptions, View, file_fragment, step_fragment
from traces.evidence.pages import Address, files_page, steps_page
from traces.models import Fragment, Picture, Trace, step_with_picture
from traces.rendering.diff import RENDER_VERSION

PICTURE_SIZES = ("whole", "small")
VIEW_COOKIE = "potato_view"
WHITESPACE_COOKIE = "potato_whitespace"
"""What the reader chose last, as static/js/trace-page.js writes it: the layout of diffs, and "hidden" white space."""

_OLD_ADDRESS = "The page that asks for this is older than the site or the project's configuration. Load it again."
_FOR_EVER = "private, max-age=31536000, immutable"
_LONGEST_WORDS = 200
_LARGEST_INDEX = 2**31 - 1


def display_settings(configuration: ProjectConfiguration | None) -> CodingTraceDisplay:
    return configuration.agentic.coding_trace_display if configuration else CodingTraceDisplay()


def files_tab(
    request: HttpRequest,
    trace: Trace,
    configuration: ProjectConfiguration | None,
    address: Address,
    *,
    with_links: bool = True,
) -> dict[str, Any]:
    """The context of the tab "Files changed". `with_links`: lines name the steps that wrote them, which a page whose
    reader may not know of later steps does not do. Of the address, `view` chooses unified or split, else the reader's
    last choice does, else the configuration; `file` is the file that is shown first."""
    hides_whitespace = request.COOKIES.get(WHITESPACE_COOKIE) == "hidden"
    options = replace(DisplayOptions.of(configuration), hides_whitespace=hides_whitespace)
    chosen = request.GET.get("view")
    view = _view(chosen) or _view(request.COOKIES.get(VIEW_COOKIE)) or options.view
    page = files_page(
        trace,
        options,
        view,
        address,
        wanted=_number(request, "file"),
        page=max(_number(request, "page") or 1, 1),
        with_links=with_links,
    )
    return {
        "tab": "files",
        "evidence": page,
        "base_remark": missing_commit(trace, page.base),
        "view": view,
        "view_is_asked_for": chosen in VIEWS,
        "hides_whitespace": hides_whitespace,
        "view_query": f"view={view}&" if chosen in VIEWS else "",
    }


def steps_tab(
    request: HttpRequest,
    trace: Trace,
    configuration: ProjectConfiguration | None,
    address: Address,
    *,
    hides_later_steps: bool = False,
    with_names: bool = False,
) -> dict[str, Any]:
    """The context of the tab "Agent trace". `step` is the step from which on bodies are in the response, `q` what
    steps must say. Where later steps are a secret still, nothing is searched and no step tells what became of its
    lines. `with_names`: the reader may know models and agents."""
    words = request.GET.get("q", "").strip()[:_LONGEST_WORDS] if not hides_later_steps else ""
    page = steps_page(
        trace,
        DisplayOptions.of(configuration),
        address,
        wanted=_number(request, "step"),
        page=max(_number(request, "page") or 1, 1),
        words=words,
        with_links=not hides_later_steps,
        with_names=with_names,
    )
    return {
        "tab": "steps",
        "evidence": page,
        "words": words,
        "words_query": f"{urlencode({'q': words})}&" if words else "",
    }


def answer_file(
    request: HttpRequest,
    trace: Trace,
    configuration: ProjectConfiguration | None,
    *,
    index: int,
    sha256: str,
    version: int,
    key: str,
    part: str,
) -> HttpResponse:
    """A part of a file's difference with the configuration's own options, in either view, with white space or not."""
    known = {
        options.diff(view).key: (options, view)
        for options in (replace(DisplayOptions.of(configuration), hides_whitespace=hides) for hides in (False, True))
        for view in VIEWS
    }
    options_key, base = split_key(key)
    if options_key not in known or version != RENDER_VERSION or index > _LARGEST_INDEX:
        raise Http404(_OLD_ADDRESS)
    file = get_object_or_404(trace.files, index=index, sha256=sha256)
    bases = bases_of(trace, [file])
    if bases.ids.get(file.sha256, "") != base:
        raise Http404(_OLD_ADDRESS)
    try:
        return _immutable(request, file_fragment(file, *known[options_key], part, bases))
    except LookupError as error:
        raise Http404(str(error)) from None


def answer_step(
    request: HttpRequest,
    trace: Trace,
    configuration: ProjectConfiguration | None,
    *,
    index: int,
    sha256: str,
    version: int,
    key: str,
    part: str,
) -> HttpResponse:
    """A part of a step, with the configuration's own options."""
    options = DisplayOptions.of(configuration)
    if key != options.step().key or version != RENDER_VERSION or index > _LARGEST_INDEX:
        raise Http404(_OLD_ADDRESS)
    step = get_object_or_404(trace.steps, index=index, sha256=sha256)
    try:
        return _immutable(request, step_fragment(step, options, part))
    except LookupError as error:
        raise Http404(str(error)) from None


def answer_picture(trace: Trace, *, sha256: str, size: str) -> HttpResponse:
    """A picture of this trace, whole or small, for ever: its address names its content."""
    if size not in PICTURE_SIZES or step_with_picture(trace.steps.all(), sha256) is None:
        raise Http404(f"No step of this trace has the picture {sha256[:64]} in the size {size[:20]}.")
    picture = get_object_or_404(Picture.objects.only(size), sha256=sha256)
    response = HttpResponse(bytes(getattr(picture, size)), content_type=Picture.MEDIA_TYPE)
    response["Cache-Control"] = _FOR_EVER
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def _view(name: str | None) -> View | None:
    return next((view for view in VIEWS if view == name), None)


def _number(request: HttpRequest, name: str) -> int | None:
    """A whole number of the address, None where it says none."""
    number = read_number(request.GET.get(name, ""), 11)
    return None if number is None else min(number, _LARGEST_INDEX)


def _immutable(request: HttpRequest, fragment: Fragment) -> HttpResponse:
    """A fragment as it lies in the store, for ever: its address names its content."""
    response = HttpResponse(content_type="text/html; charset=utf-8")
    response["Cache-Control"] = _FOR_EVER
    patch_vary_headers(response, ["Accept-Encoding"])
    if re.search(r"\bgzip\b", request.headers.get("Accept-Encoding", "")):
        response["Content-Encoding"] = "gzip"
        response.content = bytes(fragment.gzipped)
    else:
        response.content = fragment.html.encode()
    return response
