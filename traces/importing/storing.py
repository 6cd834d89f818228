"""Stores runs as traces with their steps and files, many at once, or finds that they are known."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from jobs.row_text import storable
from potato.configuration.project import Secrets
from potato.runs.changes.derive import derive
from potato.runs.changes.model import FileChange
from potato.runs.converters.native import run_as_native
from potato.runs.exact_json import change_record, hash_and_length, json_sha256, step_record, usage_record
from potato.runs.model import JSON, AgentRun, ConversionReport, Converted, Step
from potato.runs.tasks import hash_task_text
from tenancy.bulk_insert import insert_many
from tenancy.models import new_id
from traces.contents import keep_contents
from traces.importing.kept_test_runs import kept_test_runs
from traces.importing.known_beginnings import GROWING, is_known_beginning
from traces.importing.line_links import stored_links
from traces.importing.screening import DEFAULT, Screened, screen, secrets_row
from traces.importing.screenshots import result_pictures
from traces.models import Body, ImportedFile, ImportProblem, Trace, TraceFile, TraceSecrets, TraceStep
from traces.models.bodies import pack, pack_in_parts
from traces.rendering.diff import content_hash
from traces.rendering.tool_calls import is_noise, step_title
from traces.run_names import run_name

FILES_A_RUN = 3_000
DIVIDERS_KEPT = 12
ID_LENGTH = 300
LARGE = 1_000_000
"""From so many bytes on a run is packed in parts, which takes longer and less memory."""
COUNTED_FIRST = 1_000
"""When an import has brought so many runs, and each time as many again, PostgreSQL counts their tables."""


class UnusableRun(Exception):  # noqa: N818  (an answer to the person who imports)
    """A run that cannot become a trace; the sentence says why and what to do."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


Outcome: TypeAlias = int | UnusableRun
"""Which version a run became: 0 for one whose content is there already, or more of it, and which did not come in."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A run that is ready to be stored: what read it, what identifies it in its project, and its size in bytes.

    `member` is the file that it came from where several came together, "" else. `screened` says what was found in it.
    `trace` is the id that its trace is to have, None for one that says when it was stored.
    """

    converted: Converted
    converter: str
    external_id: str
    native: dict[str, JSON]
    sha256: str
    size: int
    member: str = ""
    screened: Screened | None = None
    trace: UUID | None = None

    @property
    def original_sha256(self) -> str:
        return self.screened.original_sha256 if self.screened else ""


def ready(converted: Converted, file: ImportedFile, member: str = "", secrets: Secrets = DEFAULT) -> Ready:
    """The run by its id and the hash of its content, looked through for secrets. One without an id is named after its
    file, which is the `member` where several came together."""
    screened = screen(converted, secrets)
    if screened is not None:
        converted = screened.converted
    external_id = _external_id(converted.run, converted.report)
    if not external_id:
        name = storable(member or file.name, 280)
        external_id = name if converted.place == 1 else f"{name}#{converted.place}"
        converted.report.repairs["no id: named after its file"] += 1
    native = run_as_native(converted.run)
    sha256, size = hash_and_length(native)
    return Ready(converted, file.chosen, external_id, native, sha256, size, member, screened)


def store_run(converted: Converted, file: ImportedFile, trace: UUID | None = None) -> bool:
    """Store the run as a new trace of the file's project, under that id if one is named; False where the same content
    is there already, or content of which this is an older beginning.

    Raises UnusableRun for one with nothing to judge. As store_runs for one run.
    """
    (outcome,) = store_runs([replace(ready(converted, file), trace=trace)], file)
    if isinstance(outcome, UnusableRun):
        raise outcome
    return bool(outcome)


def store_runs(runs: Sequence[Ready], file: ImportedFile) -> list[Outcome]:
    """Store the runs as new traces of the file's project, with few statements for all; answers what became of each.

    Other content under the same external id becomes the next version, also within the runs. Parts of a run that could
    not be read are noted on the file; a run that is refused keeps no other one out.
    """
    with transaction.atomic():
        keep_contents()
        one_at_a_time(file)
        with connection.cursor() as cursor:
            # At the end of the transaction the checks of a part's rows would take as long again, unseen by its clock.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        known = _Known(file, {run.external_id for run in runs})
        rows = Rows(file)
        outcomes: list[Outcome] = []
        for run in runs:
            if run.converter in GROWING and rows.have(run):
                rows.store()
            if known.has(run):
                outcomes.append(0)
                continue
            try:
                outcomes.append(rows.add(run, known))
            except UnusableRun as unusable:
                outcomes.append(unusable)
        rows.store()
    return outcomes


def count_rows(before: int, after: int) -> None:
    """Has PostgreSQL count the tables of traces when an import, which had stored `before` runs and now has `after`,
    passes 1,000, 2,000, 4,000 and so on.

    The planner knows nothing of a table that is new, and nothing of an organisation that is: until autovacuum has come
    by, it reads all of the organisation's rows for each check of a foreign key and for each batch's known ids. Tables
    that somebody else is counting are left out, so that no import waits for another.
    """
    if (before // COUNTED_FIRST).bit_length() < (after // COUNTED_FIRST).bit_length():
        with connection.cursor() as cursor:
            cursor.execute("SELECT traces_analyze()")


def one_at_a_time(file: ImportedFile) -> None:
    """Imports into one project store, and are undone, one after another: else two that bring the same ids would count
    versions alike. Until the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"traces of {file.project_id}"])


class _Known:
    """The versions that a project has of some external ids."""

    def __init__(self, file: ImportedFile, external_ids: set[str]) -> None:
        self._newest: Counter[str] = Counter()
        self._contents: defaultdict[str, set[str]] = defaultdict(set)
        self._traces = Trace.objects.filter(organisation=file.organisation_id, project=file.project_id)
        known = self._traces.filter(external_id__any_of=sorted(external_ids))
        columns = ("external_id", "version", "content_sha256", "original_sha256")
        for external_id, version, *hashes in known.values_list(*columns):
            self._newest[external_id] = max(self._newest[external_id], version)
            self._contents[external_id].update(filter(None, hashes))

    def has(self, run: Ready) -> bool:
        """Whether a version has the run's content, also one before it in the runs; a stored one also more of it."""
        if not self._contents[run.external_id].isdisjoint({run.sha256, run.original_sha256}):
            return True
        if not self._newest[run.external_id]:
            return False
        return is_known_beginning(run.converted.run, run.converter, self._traces.filter(external_id=run.external_id))

    def add(self, run: Ready) -> int:
        """The version that the run becomes."""
        self._newest[run.external_id] += 1
        self._contents[run.external_id].add(run.sha256)
        return self._newest[run.external_id]


@dataclass
class Rows:
    """The rows of several traces, by the names of their columns, until they are stored together."""

    file: ImportedFile
    traces: list[dict[str, Any]] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)
    problems: list[ImportProblem] = field(default_factory=list)
    secrets: list[dict[str, Any]] = field(default_factory=list)
    bodies: dict[str, bytes] = field(default_factory=dict)

    def add(self, ready: Ready, known: _Known) -> int:
        """The version that the run becomes. Raises UnusableRun, and adds nothing, for one with nothing to judge."""
        run = ready.converted.run
        changes = derive(run)
        if not run.steps and not changes.files:
            reason = changes.problems[0].sentence if changes.problems else "It holds no step and no changed file."
            raise UnusableRun("nothing_to_judge", f"{run_name(run.task, ready.external_id)}: {reason}")
        if len(changes.files) > FILES_A_RUN:
            raise UnusableRun(
                "too_many_files",
                f"{run_name(run.task, ready.external_id)} has {len(changes.files):,} files; a run may have "
                f"{FILES_A_RUN:,}. Split it.",
            )
        self.problems += (
            ImportProblem(
                file=self.file,
                member=ready.member,
                place=ready.converted.place,
                code=problem.code,
                sentence=_without_secrets(ready, f"{run_name(run.task, ready.external_id)}: {problem.sentence}"),
            )
            for problem in changes.problems
        )
        trace, version = str(ready.trace or new_id()), known.add(ready)
        self.add_rows(trace, ready, version, changes.files)
        if ready.screened is not None:
            self.secrets.append(secrets_row(trace, ready.screened, changes.files))
        return version

    def add_rows(self, trace: str, ready: Ready, version: int, files: Sequence[FileChange]) -> None:
        """What is stored of a run under this id."""
        run = ready.converted.run
        self.traces.append(_trace(trace, ready, self.file, version, files))
        if ready.sha256 not in self.bodies:
            self.bodies[ready.sha256] = pack(ready.native) if ready.size < LARGE else pack_in_parts(ready.native)
        for index, step in enumerate(run.steps):
            record = step_record(step)
            sha256 = json_sha256(record)
            self._keep(sha256, record)
            self.steps.append(_step(trace, index, step, sha256))
        for index, change in enumerate(files):
            sha256 = content_hash(change)
            self._keep(sha256, change_record(change))
            self.files.append(_file(trace, index, change, sha256, run.steps))

    def have(self, run: Ready) -> bool:
        """Whether a version of the run waits here, where the database cannot be asked of its steps."""
        return any(trace["external_id"] == run.external_id for trace in self.traces)

    def store(self) -> None:
        """Store what waits, and wait for more."""
        # Bodies that are there already are the same: the hash says so. In the order of their hashes, because two
        # imports that store the same ones would wait for each other in a circle.
        bodies = ({"id": str(new_id()), "sha256": key, "packed": self.bodies[key]} for key in sorted(self.bodies))
        insert_many(Body, bodies, ignore_conflicts=True)
        insert_many(Trace, self.traces)
        insert_many(TraceStep, self.steps)
        insert_many(TraceFile, self.files)
        insert_many(TraceSecrets, self.secrets)
        ImportProblem.objects.bulk_create(self.problems, batch_size=500)
        self.traces, self.steps, self.files, self.problems, self.secrets, self.bodies = [], [], [], [], [], {}

    def _keep(self, sha256: str, record: JSON) -> None:
        if sha256 not in self.bodies:
            self.bodies[sha256] = pack(record)


def _without_secrets(ready: Ready, sentence: str) -> str:
    """A sentence that may quote the run, without what was found in it."""
    return sentence if ready.screened is None else ready.screened.secrets.replaced_in(sentence)


def _external_id(run: AgentRun, report: ConversionReport) -> str:
    """The run's id as a column keeps it. One that has to be cut or mended gets a part of its hash: ids stay apart."""
    kept = storable(run.external_id, ID_LENGTH)
    if kept == run.external_id:
        return kept
    report.repairs["id cut or mended"] += 1
    digest = hashlib.sha256(run.external_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{storable(run.external_id, ID_LENGTH - 17)}~{digest[:16]}"


def _trace(trace: str, ready: Ready, file: ImportedFile, version: int, files: Sequence[FileChange]) -> dict[str, Any]:
    run, report = ready.converted.run, ready.converted.report
    return {
        "id": trace,
        "project_id": file.project_id,
        "file_id": file.pk,
        "external_id": ready.external_id,
        "version": version,
        "content_sha256": ready.sha256,
        "original_sha256": ready.original_sha256,
        "task": storable(run.task, 100_000),
        "task_id": storable(run.task_id, 300) or hash_task_text(run.task),
        "agent_model": storable(run.agent_model, 200),
        "instance_id": storable(run.instance_id, 300),
        "repo": storable(run.repo, 300),
        "base_commit": storable(run.base_commit, 100),
        "agent": storable(run.agent, 200),
        "cost_usd": run.cost_usd,
        "input_tokens": _column(run.usage.input_tokens),
        "output_tokens": _column(run.usage.output_tokens),
        "seconds": run.usage.seconds,
        "tags": [storable(tag, 100) for tag in run.tags[:50]],
        "started_at": storable(run.started_at, 40),
        "converter": ready.converter,
        "report": {
            name: {storable(key): count for key, count in getattr(report, name).items()}
            for name in ("dropped", "unknown", "repairs")
        },
        "gaps": [storable(gap, 1_000) for gap in run.gaps[:50]],
        **kept_test_runs(run),
        "steps_count": len(run.steps),
        "tool_calls": sum(len(step.calls) for step in run.steps),
        "files_count": sum(1 for change in files if change.operation != "unchanged"),
        "added": sum(change.added for change in files),
        "removed": sum(change.removed for change in files),
        "error_steps": sum(1 for step in run.steps if any(call.is_error for call in step.calls)),
        "badged_files": sum(1 for change in files if change.badges),
        "imported_at": timezone.now(),
    }


def _column(tokens: int | None) -> int | None:
    """A number of tokens as the column can hold it."""
    return None if tokens is None else min(tokens, 2**62)


def _step(trace: str, index: int, step: Step, sha256: str) -> dict[str, Any]:
    title = step_title(step)
    return {
        "id": str(new_id()),
        "trace_id": trace,
        "index": index,
        "title": storable(title.title, 200),
        "detail": storable(title.detail, 300),
        "kind": title.kind,
        "is_error": any(call.is_error for call in step.calls),
        "is_noise": is_noise(step),
        "picture": step.screenshot.sha256 if step.screenshot else "",
        "result_pictures": result_pictures(step),
        "dividers": " ".join(step.dividers[:DIVIDERS_KEPT]),
        "model": storable(step.model, 200),
        "agent": storable(step.agent, 200),
        "usage": usage_record(step.usage),
        "sha256": sha256,
    }


def _file(trace: str, index: int, change: FileChange, sha256: str, steps: Sequence[Step]) -> dict[str, Any]:
    return {
        "id": str(new_id()),
        "trace_id": trace,
        "index": index,
        "path": storable(change.path, 4096),
        "old_path": storable(change.old_path, 4096),
        "operation": change.operation,
        "is_binary": change.is_binary,
        "added": change.added,
        "removed": change.removed,
        "badges": [{"code": badge.code.value, "sentence": storable(badge.sentence)} for badge in change.badges],
        "touched_by": list(change.steps),
        "links": stored_links(change, steps),
        "sha256": sha256,
    }
