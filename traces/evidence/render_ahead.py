"""Rendering before somebody looks: what a project's queue hands out next, a bounded number of traces, as a job.

Most of a large pool is never rendered here. A page that comes sooner renders what it shows. Which traces come next is
known to the app above, which registers that when it is ready.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

from accounts.models import Project
from jobs.actions import request_job
from jobs.kinds import JobFailed, Part
from jobs.models import Job
from potato.configuration import UnreadablePinError
from tenancy.actor import acting_in
from traces.evidence.base_files import NO_BASES, Bases, bases_of
from traces.evidence.fragments import DisplayOptions, Making, hashes_there, published_configuration
from traces.evidence.pages import FILES_ON_A_PAGE, files_in_trace, in_order
from traces.models import Trace, TraceFile, TraceStep

TRACES_AHEAD = 24
STEPS_AHEAD = 200
"""Of one trace the first so many steps are rendered ahead, and the files of the first page."""
SECONDS_A_PART = 2.0
STORED_AT_ONCE = 8 * 2**20

NextTraces = Callable[[Project, int], Sequence[UUID]]
"""The traces of a project that are handed out next, at most so many, the very next one first."""

_next_traces: list[NextTraces] = []


def register(next_traces: NextTraces) -> None:
    """Called in AppConfig.ready() by the app that hands traces out."""
    _next_traces[:] = [next_traces]


class RenderAhead:
    """Job parameters: `project`, its id. Each part looks anew which traces come next; it ends where none is left."""

    name = "render_ahead"
    label = "Rendering of the next traces"
    queue = "interactive"

    def run_part(self, job: Job) -> Part:
        project = Project.objects.get(pk=job.parameters["project"])
        try:
            options = DisplayOptions.of(published_configuration(project))
        except UnreadablePinError as reason:
            raise JobFailed(reason.sentence) from reason
        ends = time.monotonic() + SECONDS_A_PART
        rendered = job.cursor or 0
        making = Making(options)
        is_over = True
        for trace in _next(project):
            for _ in _rendered(trace, making):
                rendered += 1
                if time.monotonic() >= ends or making.size >= STORED_AT_ONCE:
                    is_over = False
                    break
            if not is_over:
                break
        making.store()
        return Part(cursor=rendered, progress=rendered, finished=is_over, result={"rendered": rendered})


def ask(project: Project) -> Job | None:
    """Have the next traces rendered in the background; None where that is being done, or where those that come very
    next are rendered."""
    if Job.objects.open().filter(kind=RenderAhead.name, parameters__project=str(project.pk)).exists():
        return None
    options = DisplayOptions.of(published_configuration(project))
    traces = _next(project)
    near = traces[: -(-len(traces) // 2)]
    if all(next(_missing(trace, options), None) is None for trace in near):
        return None
    # Not in the name of the person whose act led here.
    with acting_in(project.organisation):
        return request_job(kind=RenderAhead.name, parameters={"project": str(project.pk)})


def _next(project: Project) -> Sequence[UUID]:
    return _next_traces[0](project, TRACES_AHEAD) if _next_traces else ()


def _rendered(trace: UUID, making: Making) -> Iterator[TraceFile | TraceStep]:
    missing = [part for part in _missing(trace, making.options) if part.sha256 not in making.hashes]
    files = [part for part in missing if isinstance(part, TraceFile)]
    yield from making.files(files, _bases(trace) if files else NO_BASES)
    yield from making.steps(part for part in missing if isinstance(part, TraceStep))


def _missing(trace: UUID, options: DisplayOptions) -> Iterator[TraceFile | TraceStep]:
    """What of the trace is to be rendered ahead and is not: the files of its first page, then its first steps."""
    files = in_order(files_in_trace.rows(trace))[:FILES_ON_A_PAGE]
    bases = _bases(trace)
    there = hashes_there({file.sha256: bases.key(options.diff(), file.sha256) for file in files})
    yield from (file for file in files if file.sha256 not in there)
    steps = list(TraceStep.objects.filter(trace=trace).order_by("index")[:STEPS_AHEAD])
    there = hashes_there(dict.fromkeys((step.sha256 for step in steps), options.step().key))
    yield from (step for step in steps if step.sha256 not in there)


def _bases(trace: UUID) -> Bases:
    return bases_of(Trace.objects.only("project", "repo", "base_commit").get(pk=trace))
