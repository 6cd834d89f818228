"""Gives texts of tasks that came later to traces that are there: as a new version, because a trace never changes.

Traces that somebody has judged or holds keep what these people read, and are counted.
"""

import time
from collections import Counter
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db.models import Q

from jobs.kinds import SECONDS_A_PART
from potato.configuration.project import Secrets
from potato.runs.converters.native import run_in
from potato.runs.model import ConversionReport, Converted, ReadingOptions
from traces.importing.storing import Ready, ready, store_runs
from traces.importing.task_texts import JOINED, ids_to_join_by, texts_by_id, texts_without_trace, with_text
from traces.models import Body, ImportedFile, ImportProblem, Trace
from traces.uses import in_use

TRACES_AT_ONCE = 200


def join_tasks(file: ImportedFile, cursor: dict[str, Any], secrets: Secrets) -> bool:
    """Join what the file states to the project's traces, from the cursor on; answers whether all were looked at.

    The cursor's `joined` counts the traces that got a text, `kept` those that people work with already.
    """
    progress: dict[str, Any] = cursor.setdefault("join", {"after": None, "joined": 0, "kept": 0})
    ends = time.monotonic() + SECONDS_A_PART
    own = Trace.objects.filter(organisation=file.organisation_id, project=file.project_id)
    # Also those that have an earlier text of a data set: the newest one counts.
    silent = own.filter(Q(task="") | Q(report__repairs__has_key=JOINED)).newest()
    while True:
        after = UUID(progress["after"]) if progress["after"] else UUID(int=0)
        traces = list(silent.filter(pk__gt=after).order_by("pk")[:TRACES_AT_ONCE])
        if not traces:
            return True
        _join(file, traces, progress, secrets)
        progress["after"] = str(traces[-1].pk)
        if time.monotonic() >= ends:
            return False


def note_joined(file: ImportedFile, cursor: dict[str, Any]) -> dict[str, int]:
    """What came of the texts, for the import's result; a remark says whose texts nobody was given."""
    without = len(texts_without_trace(file))
    progress = cursor["join"]
    stated = file.texts.count()
    if progress["kept"]:
        who = "1 trace keeps" if progress["kept"] == 1 else f"{progress['kept']:,} traces keep"
        sentence = f"{who} no text of a task, because somebody has judged or holds them already."
        ImportProblem.objects.create(file=file, place=ImportProblem.WHOLE_FILE, code="judged", sentence=sentence)
    return {"joined": progress["joined"], "matched": stated - without, "unmatched": without}


def _join(file: ImportedFile, traces: list[Trace], progress: dict[str, Any], secrets: Secrets) -> None:
    ids = {trace.pk: ids_to_join_by(trace) for trace in traces}
    texts = texts_by_id(file.project, (id for own in ids.values() for id in own))
    asked = {key: next((texts[id] for id in own if id in texts), "") for key, own in ids.items()}
    meant = [trace for trace in traces if asked[trace.pk] and asked[trace.pk] != trace.task]
    used = in_use([trace.pk for trace in meant])
    bodies = {body.sha256: body for body in Body.objects.filter(sha256__in=[trace.content_sha256 for trace in meant])}
    progress["kept"] += sum(trace.pk in used for trace in meant)
    new = [
        _with_text(trace, bodies[trace.content_sha256], asked[trace.pk], file, secrets)
        for trace in meant
        if trace.pk not in used
    ]
    outcomes = store_runs([run for run in new if run is not None], file)
    progress["joined"] += sum(isinstance(outcome, int) and outcome > 0 for outcome in outcomes)


def _with_text(trace: Trace, body: Body, text: str, file: ImportedFile, secrets: Secrets) -> Ready | None:
    run = run_in(body.content, ReadingOptions())
    if run is None:
        return None
    # What the conversion said of the trace holds of this version as well.
    report = ConversionReport(**{name: Counter(counts) for name, counts in trace.report.items()})
    report.repairs[JOINED] = 1
    joined = ready(Converted(with_text(run, text), report, 1), file, secrets=secrets)
    return replace(joined, converter=trace.converter, external_id=trace.external_id)
