"""Lines of a trace's files, as pages show them that are about a few of them."""

from collections.abc import Sequence
from uuid import UUID

from potato.runs.exact_json import change_from
from traces.evidence.base_files import bases_of
from traces.models import Body, Trace, TraceFile
from traces.models.bodies import unpack
from traces.rendering.diff import DiffOptions, lines_with_context
from traces.rendering.safe import SafeHtml


def excerpts_by_file(
    trace: Trace,
    files: Sequence[tuple[TraceFile, Sequence[tuple[str, int, int]]]],
    options: DiffOptions,
    *,
    each_once: bool = False,
) -> dict[UUID, list[SafeHtml | None]]:
    """The lines of these places (side, first line and last line) of each file, by the file's id, in their order. One
    query, and a few more where an attached repository has lines around the changes. `each_once` is that of
    lines_with_context()."""
    hashes = {file.sha256 for file, _ in files}
    bodies = dict(Body.objects.filter(sha256__in=hashes).values_list("sha256", "packed")) if hashes else {}
    bases = bases_of(trace, [file for file, _ in files])
    return {
        file.pk: lines_with_context(
            bases.completed(file.sha256, change_from(unpack(bodies[file.sha256])))[0],
            places,
            options,
            each_once=each_once,
        )
        for file, places in files
    }
