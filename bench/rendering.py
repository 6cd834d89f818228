"""Renders traces and says how much processor time it took: run by its path, with the checkout to be measured as the
path of imports, so that two of them can be compared on the same data. Prints seconds, of files and of steps."""

import gzip
import json
import resource
import runpy
from pathlib import Path

TRACES = 12


def measured() -> dict[str, float]:
    from potato.runs.changes.derive import derive
    from potato.runs.converters.native import Native
    from potato.runs.model import Converted, ReadingOptions
    from potato.runs.run_files import InMemoryRunFile
    from traces.rendering import highlight
    from traces.rendering.diff import DiffOptions, render_views
    from traces.rendering.steps import StepOptions, render_step

    changes = runpy.run_path(str(Path(__file__).with_name("changes.py")))
    content = changes["as_file"]([changes["record"](number, files=12, lines=25) for number in range(TRACES)])
    entries = Native().read(InMemoryRunFile("runs.jsonl", content), ReadingOptions())
    runs = [(entry.run, derive(entry.run)) for entry in entries if isinstance(entry, Converted)]
    options = [DiffOptions("unified"), DiffOptions("split")]
    begin, sent = processor(), 0
    for _, change_set in runs:
        for change in change_set.files:
            for rendered in render_views(change, options):
                sent += sum(len(gzip.compress(part.html.encode(), 6)) for part in rendered.parts)
    for run, _ in runs:
        for step in run.steps:
            sent += sum(len(gzip.compress(part.html.encode(), 6)) for part in render_step(step, StepOptions()).parts)
    # Its time counts when it has ended.
    highlight._process.close()
    return {"seconds": (processor() - begin) / len(runs), "bytes": sent / len(runs)}


def processor() -> float:
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usage)


if __name__ == "__main__":
    print(json.dumps(measured()))
