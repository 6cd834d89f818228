"""Stores one run as a trace with its steps and files, or finds that it is known."""

import hashlib
from collections.abc import Iterator
from typing import Any

from django.db import transaction

from jobs.wording import storable
from traces.changes.derive import derive
from traces.changes.model import FileChange
from traces.converters.native import run_as_native
from traces.models import Body, ImportedFile, ImportProblem, Trace, TraceFile, TraceStep
from traces.models.bodies import pack
from traces.records import change_record, sha256_of, step_record
from traces.rendering.diff import content_hash
from traces.rendering.tools import is_noise, title_of
from traces.runs import AgentRun, ConversionReport, Converted
from traces.tasks import task_id_of

FILES_A_RUN = 3_000
ID_LENGTH = 300


class Refused(Exception):  # noqa: N818  (an answer to the person who imports)
    """A run that cannot become a trace; the sentence says why and what to do."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


def store_run(converted: Converted, file: ImportedFile) -> bool:
    """Store the run as a new trace of the file's project; False where the same content is there already.

    The same external id with other content becomes the next version. Parts of the run that could not be read are
    noted on the file. A run without an id is named after its file. Raises Refused for one with nothing to judge.
    """
    run = converted.run
    external_id = _external_id(run, converted.report)
    if not external_id:
        external_id = (
            storable(file.name, 280) if converted.place == 1 else f"{storable(file.name, 280)}#{converted.place}"
        )
        converted.report.repairs["no id: named after its file"] += 1
    native = run_as_native(run)
    digest = sha256_of(native)
    versions = Trace.objects.filter(project=file.project, external_id=external_id)
    if versions.filter(content_sha256=digest).exists():
        return False
    changes = derive(run)
    if not run.steps and not changes.files:
        reason = changes.refusals[0].sentence if changes.refusals else "It holds no step and no changed file."
        raise Refused("nothing_to_judge", f"{external_id}: {reason}")
    if len(changes.files) > FILES_A_RUN:
        raise Refused(
            "too_many_files",
            f"{external_id} has {len(changes.files):,} files; a run may have {FILES_A_RUN:,}. Split it.",
        )
    with transaction.atomic():
        for refusal in changes.refusals:
            ImportProblem.objects.create(
                file=file, place=converted.place, code=refusal.code, sentence=f"{external_id}: {refusal.sentence}"
            )
        newest = versions.order_by("-version").values_list("version", flat=True).first() or 0
        _keep([(digest, native)])
        trace = _trace(converted, file, external_id, newest + 1, digest, changes.files)
        _store_steps(trace, run)
        _store_files(trace, changes.files)
    return True


def _external_id(run: AgentRun, report: ConversionReport) -> str:
    """The run's id as a column keeps it. One that has to be cut or mended gets a part of its hash: ids stay apart."""
    kept = storable(run.external_id, ID_LENGTH)
    if kept == run.external_id:
        return kept
    report.repairs["id cut or mended"] += 1
    digest = hashlib.sha256(run.external_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{storable(run.external_id, ID_LENGTH - 17)}~{digest[:16]}"


def _trace(
    converted: Converted,
    file: ImportedFile,
    external_id: str,
    version: int,
    digest: str,
    files: tuple[FileChange, ...],
) -> Trace:
    run, report = converted.run, converted.report
    return Trace.objects.create(
        project=file.project,
        file=file,
        external_id=external_id,
        version=version,
        content_sha256=digest,
        task=storable(run.task, 100_000),
        task_id=storable(run.task_id, 300) or task_id_of(run.task),
        agent_model=storable(run.agent_model, 200),
        instance_id=storable(run.instance_id, 300),
        repo=storable(run.repo, 300),
        tags=[storable(tag, 100) for tag in run.tags[:50]],
        started_at=storable(run.started_at, 40),
        converter=file.chosen,
        report={
            name: {storable(key): count for key, count in getattr(report, name).items()}
            for name in ("dropped", "unknown", "repairs")
        },
        steps_count=len(run.steps),
        tool_calls=sum(len(step.calls) for step in run.steps),
        files_count=sum(1 for change in files if change.operation != "unchanged"),
        added=sum(change.added for change in files),
        removed=sum(change.removed for change in files),
        error_steps=sum(1 for step in run.steps if any(call.is_error for call in step.calls)),
        badged_files=sum(1 for change in files if change.badges),
    )


def _store_steps(trace: Trace, run: AgentRun) -> None:
    records = [(sha256_of(record), record) for record in map(step_record, run.steps)]
    _keep(records)
    TraceStep.objects.bulk_create(
        (
            _step(trace, index, step, sha256)
            for index, (step, (sha256, _)) in enumerate(zip(run.steps, records, strict=True))
        ),
        batch_size=500,
    )


def _step(trace: Trace, index: int, step: Any, sha256: str) -> TraceStep:
    title = title_of(step)
    return TraceStep(
        trace=trace,
        index=index,
        title=storable(title.title, 200),
        detail=storable(title.detail, 300),
        kind=title.kind,
        is_error=any(call.is_error for call in step.calls),
        is_noise=is_noise(step),
        picture=step.screenshot.sha256 if step.screenshot else "",
        sha256=sha256,
    )


def _store_files(trace: Trace, changes: tuple[FileChange, ...]) -> None:
    hashes = [content_hash(change) for change in changes]
    _keep((sha256, change_record(change)) for sha256, change in zip(hashes, changes, strict=True))
    TraceFile.objects.bulk_create(
        (
            TraceFile(
                trace=trace,
                index=index,
                path=storable(change.path, 4096),
                old_path=storable(change.old_path, 4096),
                operation=change.operation,
                is_binary=change.is_binary,
                added=change.added,
                removed=change.removed,
                badges=[{"code": badge.code.value, "sentence": storable(badge.sentence)} for badge in change.badges],
                touched_by=list(change.steps),
                sha256=sha256,
            )
            for index, (sha256, change) in enumerate(zip(hashes, changes, strict=True))
        ),
        batch_size=500,
    )


def _keep(bodies: Any) -> None:
    """Bodies that are there already are the same: the hash says so."""

    def rows() -> Iterator[Body]:
        seen: set[str] = set()
        for sha256, record in bodies:
            if sha256 not in seen:
                seen.add(sha256)
                yield Body(sha256=sha256, packed=pack(record))

    Body.objects.bulk_create(rows(), batch_size=100, ignore_conflicts=True)
