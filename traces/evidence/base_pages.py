"""The page that reads and searches the files a run began from, and the patch to check the run's end out.

Finds no trace and grants nothing: the caller has found the trace that this person may see.
"""

from urllib.parse import parse_qs, urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from potato.runs.changes.writing import unified_patch
from potato.runs.exact_json import change_from
from traces.evidence.base_files import PATCH_NAME, BaseCommit, base_commit, checkout_commands
from traces.evidence.base_tree import MOST_FOUND, FoundLine, file_at, file_table, folder_at, search
from traces.models import Body, Trace

_LONGEST_WORDS = 200
_SHORTEST_WORDS = 2


def demand_base(trace: Trace) -> BaseCommit:
    """Raises Http404 where the commit that the run began from is not attached."""
    base = base_commit(trace)
    if base is None:
        raise Http404("No attached repository has the commit that this run began from.")
    return base


def base_page(request: HttpRequest, trace: Trace, *, back: str, patch: str) -> HttpResponse:
    """A folder or a file (`path` of the address), or what was found (`q`). `back` and `patch` are addresses: of the
    files changed, and of the patch."""
    base = demand_base(trace)
    path = asked_path(request.META["QUERY_STRING"])
    words = request.GET.get("q", "").strip()[:_LONGEST_WORDS]
    context = {
        "trace": trace,
        "base": base,
        "path": path,
        "words": words,
        "back": back,
        "patch_url": patch,
        "commands": checkout_commands(trace, base),
        "crumbs": _crumbs(path),
        "most_found": MOST_FOUND,
    }
    if words:
        found = search(base, words) if len(words) >= _SHORTEST_WORDS else None
        rows = [(line, _line_address(line)) for line in found.lines] if found else []
        return render(request, "traces/base_files.html", {**context, "found": found, "rows": rows})
    entries = folder_at(base, path)
    if entries is not None:
        prefix = f"{path}/" if path else ""
        listed = [(entry, _address(prefix + entry.name)) for entry in entries]
        return render(request, "traces/base_files.html", {**context, "entries": listed})
    file = file_at(base, path)
    if file is None:
        raise Http404(f"There is no file {path[:200]} at this commit.")
    table = file_table(file) if file.text is not None else None
    return render(request, "traces/base_files.html", {**context, "file": file, "table": table})


def patch_answer(trace: Trace) -> HttpResponse:
    """The run's change as a patch that git applies."""
    files = list(trace.files.order_by("index"))
    bodies = {row.sha256: row for row in Body.objects.filter(sha256__in={file.sha256 for file in files})}
    patch = unified_patch(change_from(bodies[file.sha256].content) for file in files)
    response = HttpResponse(patch, content_type="text/x-patch; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{PATCH_NAME}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _line_address(line: FoundLine) -> str:
    place = f"#L{line.number}" if line.number else ""
    return f"{_address(line.path)}{place}"


def _crumbs(path: str) -> list[tuple[str, str]]:
    """Folders above, with their addresses."""
    parts = path.split("/") if path else []
    return [(name, _address("/".join(parts[: at + 1]))) for at, name in enumerate(parts)]


def asked_path(query: str) -> str:
    """The path that an address names behind its question mark: also one that is not UTF-8, as git keeps it."""
    asked = parse_qs(query, errors="surrogateescape")
    return asked.get("path", [""])[-1].strip("/")


def _address(path: str) -> str:
    return f"?{urlencode({'path': path}, errors='surrogateescape')}"
