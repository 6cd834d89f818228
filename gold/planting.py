"""Planting faults: copies of traces that are known to be good, each with one fault, become gold or practice.

A job does it, trace by trace. The copy is stored as an import stores a run, and its answer is known in the same
transaction, so that no claim ever meets it as an ordinary task.
"""

import hashlib
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from accounts.job_sentences import named_projects
from accounts.models import Project
from assignments.models import TraceQuota
from gold.actions import NotScorable, expect, newest_configuration
from gold.models import ExpectedAnnotation, Origin, Use
from jobs.actions import request_job
from jobs.kinds import JobFailed, Part
from jobs.models import Job
from potato.api.gold import LARGEST_SEED, MOST_AT_ONCE
from potato.checks.places import files_meant
from potato.planting.changes import NothingToPlant, PlantedFault
from potato.planting.faults import KINDS, FaultKind
from potato.planting.runs import plant_in_run
from potato.records.folders import BOUNDS
from potato.runs.converters.native import run_in
from potato.runs.model import AgentRun, ConversionReport, Converted, ReadingOptions
from potato.schemes.gold import expected_answers
from tenancy import audit
from tenancy.actor import current
from tenancy.errors import Refused
from tenancy.models import new_id
from traces.evidence.checks import stored_reports
from traces.importing.storing import UnusableRun, store_run
from traces.models import Body, CheckReport, ImportedFile, Trace, TraceFile

KIND_TITLES: dict[FaultKind, str] = {
    "off_by_one": "Off by one",
    "swapped_arguments": "Swapped arguments",
    "dropped_check": "Dropped check",
    "wrong_operator": "Wrong operator",
    "removed_await": "Removed await",
}
FILE_NAME = "Planted faults"
_TRIED_NAMES = 200
_PROBLEMS_KEPT = 20
_TIME_BEHIND = 80
"""Behind so many bits a UUID of version 7 has its time."""


class NotPlantable(Refused):
    """No fault can be planted there; the sentence says why, and what to do."""

    code = "not_plantable"
    status = 422


@dataclass(frozen=True)
class Planting:
    """What is asked for: a fault of that kind (None: drawn by the seed) in each of these traces."""

    traces: Sequence[UUID]
    seed: int
    kind: FaultKind | None
    use: Use


def sources(project: Project) -> "QuerySet[TraceQuota]":
    """The traces that a fault may be planted in: with a change, and all their annotations.

    What is still given out is none of them: whoever met both would see where they differ. Nor is what has a known
    answer itself, or has had a fault planted already.
    """
    own = ExpectedAnnotation.objects.for_project(project)
    planted = own.filter(origin=Origin.PLANTED, source=OuterRef("trace"), retired_at__isnull=True)
    known = own.filter(trace=OuterRef("trace"))
    rows = TraceQuota.objects.for_project(project).filter(done__gt=0, done__gte=F("target"), active=0)
    rows = rows.filter(trace__files_count__gt=0).exclude(Exists(planted)).exclude(Exists(known))
    return rows.select_related("trace__project").order_by("trace")


def request_planting(
    *, project: Project, traces: Iterable[UUID], number: int, seed: int, kind: str = "", use: Use = Use.GOLD
) -> Job:
    """Have faults planted in these traces or, where none are named, in so many that the seed draws among all sources.

    The same sources, number and seed draw the same. Raises NotPlantable, NotScorable where nothing is published, and
    what request_job() raises.
    """
    if kind and kind not in KINDS:
        raise NotPlantable(f"There is no kind of fault {kind[:100]!r}. The kinds: {', '.join(KINDS)}.")
    if not 0 <= seed <= LARGEST_SEED:
        raise NotPlantable(f"A seed is a whole number from 0 to {LARGEST_SEED:,}.")
    newest_configuration(project)
    named = list(dict.fromkeys(traces))
    rows = sources(project)
    if named:
        chosen = list(rows.filter(trace__in=named).values_list("trace", flat=True))
        if len(chosen) < len(named):
            raise NotPlantable(
                f"{len(named) - len(chosen)} of these traces cannot be planted in: they have no change, are still "
                "given to annotators, or have had a fault planted. Choose among those of the list."
            )
    else:
        everything = list(rows.values_list("trace", flat=True))
        if not everything:
            raise NotPlantable(
                "No trace can be planted in yet. It takes traces with a change that have all their annotations, so "
                "that nobody is given both."
            )
        if number < 1:
            raise NotPlantable("Say in how many traces a fault is to be planted, from 1.")
        chosen = sorted(random.Random(seed).sample(everything, min(number, len(everything))))  # noqa: S311
    if len(chosen) > MOST_AT_ONCE:
        raise NotPlantable(f"Plant {MOST_AT_ONCE} faults at most at once, not {len(chosen)}.")
    return request_job(
        kind=PlantFaults.name,
        parameters={
            "project": str(project.pk),
            "traces": [str(trace) for trace in chosen],
            "seed": seed,
            "kind": kind,
            "use": use,
        },
        by_person=current().user is not None,
    )


def plant(*, trace: Trace, file: ImportedFile, seed: int, kind: FaultKind | None, use: Use) -> ExpectedAnnotation:
    """Store a copy of the trace with one fault, with what is expected of who judges it.

    Raises NotPlantable, and what expect() raises.
    """
    project = trace.project
    schemes = newest_configuration(project).annotation_schemes
    try:
        run, fault = plant_in_run(_run(trace), seed, kind)
    except NothingToPlant as refusal:
        raise NotPlantable(str(refusal)) from None
    expected = expected_answers(fault.known, schemes)
    name = _name_like(trace, random.Random(f"{seed}/{trace.pk}"))  # noqa: S311 - a name, and no secret
    with transaction.atomic():
        try:
            store_run(Converted(replace(run, external_id=name), ConversionReport(), 1), file, _id_like(trace))
        except UnusableRun as unusable:
            raise NotPlantable(unusable.sentence) from None
        copy = Trace.objects.select_related("project").get(project=project, file=file, external_id=name)
        _copy_reports(trace, copy, file, fault)
        return expect(
            trace=copy,
            annotations=expected,
            use=use,
            origin=Origin.PLANTED,
            why=fault.why,
            source=trace,
            fault=fault.kind,
        )


class PlantFaults:
    """Job parameters: as request_planting() writes them. The cursor is how many traces are done, the import that the
    copies are of, how many became gold, and why others did not."""

    name = "plant_faults"
    label = "Planting faults"
    queue = "statistics"

    def run_part(self, job: Job) -> Part:
        asked = job.parameters
        project = Project.objects.filter(pk=asked["project"]).first()
        if project is None:
            raise JobFailed("The project was deleted meanwhile.")
        cursor = job.cursor or {"at": 0, "file": None, "planted": 0, "problems": []}
        at, problems = cursor["at"], cursor["problems"]
        traces = asked["traces"]
        if at >= len(traces):
            result = {"planted": cursor["planted"], "problems": problems}
            return Part(None, len(traces), total=len(traces), finished=True, result=result)
        file = self._file(project, cursor["file"], asked["seed"], job)
        trace = Trace.objects.select_related("project").filter(pk=traces[at]).first()
        planted = 0
        try:
            if trace is None:
                raise NotPlantable("The trace was removed meanwhile.")
            kind = next((known for known in KINDS if known == asked["kind"]), None)
            with transaction.atomic():
                plant(trace=trace, file=file, seed=asked["seed"], kind=kind, use=Use(asked["use"]))
            planted = 1
        except NotScorable as refusal:
            raise JobFailed(refusal.sentence) from None
        except Refused as refusal:
            name = traces[at] if trace is None else trace.external_id
            problems = [*problems, f"{name}: {refusal.sentence}"][:_PROBLEMS_KEPT]
        after = {
            "at": at + 1,
            "file": str(file.pk),
            "planted": cursor["planted"] + planted,
            "problems": problems,
        }
        return Part(cursor=after, progress=at + 1, total=len(traces))

    def _file(self, project: Project, known: str | None, seed: int, job: Job) -> ImportedFile:
        if known is not None:
            return ImportedFile.objects.get(pk=known)
        file = ImportedFile.objects.create(
            project=project,
            name=f"{FILE_NAME}, seed {seed}",
            size=0,
            sha256="0" * 64,
            format="native",
            chosen="native",
            added_by_id=job.created_by_id,
        )
        audit.record("gold.planted", file, project=project.slug, traces=len(job.parameters["traces"]), seed=seed)
        return file


def planting_jobs(project: Project, number: int = 3) -> list[Job]:
    """The newest jobs that plant faults in the project."""
    rows = Job.objects.filter(kind=PlantFaults.name, parameters__project=str(project.pk))
    return list(rows.order_by("-created_at", "-pk")[:number])


PLANTING: dict[str, Any] = {
    "doing": "Planting faults in traces of {what}",
    "done": "Faults were planted in traces of {what}",
    "failed": "No faults could be planted in traces of {what}",
    "icon": "bug",
    "find": named_projects("gold"),
}


def _run(trace: Trace) -> AgentRun:
    """The run as it was imported. Raises NotPlantable."""
    body = Body.objects.filter(organisation=trace.organisation_id, sha256=trace.content_sha256).first()
    run = None if body is None else run_in(body.content, ReadingOptions(bounds=BOUNDS))
    if run is None:
        raise NotPlantable("What was imported of it is not there any more.")
    return run


def _id_like(trace: Trace) -> UUID:
    """A new id of the moment at which the trace was imported: annotators read ids, and these have their time in them.
    Copies that are planted together would otherwise stand beside each other, and apart from all others."""
    return UUID(int=trace.pk.int >> _TIME_BEHIND << _TIME_BEHIND | new_id().int & ~(-1 << _TIME_BEHIND))


def _copy_reports(trace: Trace, copy: Trace, file: ImportedFile, fault: PlantedFault) -> None:
    """What tests and checkers said of the trace, said of the copy: one of which they say nothing would stand out."""
    rows = stored_reports(trace)
    moved = _lines_more(copy, fault.file) - _lines_more(trace, fault.file) if rows else 0
    for row in rows:
        identity = hashlib.sha256(f"{row.identity_sha256}/{copy.external_id}".encode()).hexdigest()
        row.pk, row.identity_sha256, row.file, row.external_id = new_id(), identity, file, copy.external_id
        row.names = {"ids": [copy.external_id], "model": "", "hints": []}
        findings = row.content.get("findings", [])
        of_file = files_meant((finding["path"] for finding in findings), [fault.file])
        row.content = {
            **row.content,
            "findings": [
                _behind(finding, fault.line, moved) if finding["path"] in of_file else finding for finding in findings
            ],
        }
    CheckReport.objects.bulk_create(rows)


def _lines_more(trace: Trace, path: str) -> int:
    """So many lines the change makes the file longer."""
    rows = TraceFile.objects.filter(trace=trace, path=path).values_list("added", "removed")
    return sum(added - removed for added, removed in rows)


def _behind(finding: dict[str, Any], line: int, moved: int) -> dict[str, Any]:
    """The finding at the line where it is since lines went."""
    ends = {name: value for name in ("line", "end_line") if (value := finding.get(name)) is not None}
    return {**finding, **{name: value + moved if value > line else value for name, value in ends.items()}}


def _name_like(trace: Trace, dice: random.Random) -> str:
    """An id that looks like the trace's own, and that the project does not have: other digits in place of its last
    ones, or else of its last letters' place."""
    name = trace.external_id
    match = list(re.finditer(r"[0-9a-f]*[0-9][0-9a-f]*", name))
    begin, end = match[-1].span() if match else (len(name), len(name))
    digits = name[begin:end] or "0000"
    alphabet = "0123456789abcdef" if re.search("[a-f]", digits) else "0123456789"
    joint = "" if match else "-"
    for tried in range(_TRIED_NAMES):
        # Where all of that length are taken, one digit more.
        length = len(digits) + tried // (_TRIED_NAMES // 4)
        candidate = name[:begin] + joint + "".join(dice.choices(alphabet, k=length)) + name[end:]
        taken = Trace.objects.filter(organisation=trace.organisation_id, project=trace.project_id)
        if not taken.filter(external_id=candidate).exists():
            return candidate
    raise NotPlantable("No id is free that looks like those of the project's traces.")
