"""What can be done to sources: take answers, in the background or at once, compare, and send differences to people."""

import tempfile
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, cast
from uuid import UUID

from django.core.files import File
from django.db import transaction

from accounts.models import Organisation, Project
from agreement.models import Source
from agreement.sources.answers import Named, Taken, Taker, checked_name
from agreement.sources.comparing import request_comparison
from agreement.sources.importing import ImportAnswers, lines_of_tool
from agreement.sources.of_tool import NoAnswers, OfTool
from assignments.actions.quotas import want_one_more
from assignments.machine_records import CannotTake
from jobs.actions import request_job
from jobs.bounds import demand_capacity
from jobs.kinds import JobFailed
from jobs.models import Job
from jobs.runner import run_here
from tenancy import audit
from tenancy.actor import acting_in
from tenancy.errors import Refused
from traces.importing.uploads import demand_size, kept
from traces.models import Trace

ANSWERS_AT_ONCE = 1_000
TRACES_AT_ONCE = 1_000


class NoSuchTraces(Refused):
    code = "no_such_traces"
    status = 400


def named(name: str, version: str, model: str = "", kind: str = "") -> Named | None:
    """The source of records that name none; None where nothing is given. Raises NoAnswers for half a name."""
    if not any((name, version, model)):
        return None
    try:
        return checked_name(name, version, model, kind)
    except CannotTake as refusal:
        raise NoAnswers(refusal.sentence) from None


def request_answers(
    *, project: Project, content: File[bytes], default: Named | None = None, tool: OfTool | None = None
) -> Job:
    """Keep an uploaded file of records, or of another tool, and ask for its import in the background. The same file
    again changes nothing.

    Raises NoAnswers for an empty file, FileTooLarge, NoSpace and TooManyJobs, and keeps nothing then.
    """
    demand_capacity()
    name, size = content.name or "upload", content.size
    if not size:
        raise NoAnswers(f"{name} is empty. Choose a file with a record a line.")
    demand_size(name, size)
    with kept(content) as stored_as, transaction.atomic():
        parameters = {
            "project": str(project.pk),
            "name": name[:300],
            "size": size,
            "stored_as": stored_as,
            "source": default.__dict__ if default else None,
            **(tool.parameters if tool else {}),
        }
        job = request_job(kind=ImportAnswers.name, parameters=parameters, by_person=True)
        audit.record("answers.import-requested", project, file=name[:300])
    return job


def take_answers(*, project: Project, records: Sequence[Any], default: Named | None = None) -> Taken:
    """Take some records at once; a place counts them from 1. Asks for comparisons of the sources that got answers.

    Raises NoAnswers for none or more than ANSWERS_AT_ONCE, and NoConfiguration.
    """
    if not 0 < len(records) <= ANSWERS_AT_ONCE:
        raise NoAnswers(f"Send from 1 to {ANSWERS_AT_ONCE:,} records in a request, not {len(records):,}.")
    taken = Taken()
    with transaction.atomic():
        taker = Taker(project, default)
        for place, record in enumerate(records, 1):
            taker.take(record, place, taken)
        if taken.taken:
            refused = len(taken.problems) - taken.left_out
            audit.record("answers.imported", project, taken=taken.taken, refused=refused)
            for source in Source.objects.for_project(project).filter(pk__in=taken.sources):
                request_comparison(source=source)
    return taken


def import_now(
    *, organisation: Organisation, project: Project, path: Path, default: Named | None, tool: OfTool | None = None
) -> dict[str, Any]:
    """Import a file, or what another tool wrote, in this process, part by part; call it outside every block. Answers
    what the job's result has.

    Raises NoAnswers where nothing was taken.
    """
    kind = ImportAnswers()
    parameters = {"project": str(project.pk), "name": path.name, "source": default.__dict__ if default else None}
    job = Job(kind=kind.name, parameters=parameters | (tool.parameters if tool else {}))
    try:
        if tool is None:
            with path.open("rb") as file:
                return run_here(organisation.pk, job, partial(kind.do_part, job, file))
        with tempfile.TemporaryFile(prefix="potato-answers-") as records:
            with acting_in(organisation):
                records.writelines(lines_of_tool(path, project, job.parameters))
            return run_here(organisation.pk, job, partial(kind.do_part, job, cast(IO[bytes], records)))
    except JobFailed as failure:
        raise NoAnswers(str(failure)) from failure


def send_to_people(*, source: Source, traces: Collection[UUID]) -> int:
    """Want one annotator more of each of the traces, which the source has answered; returns how many that changed.

    Annotators get them from the queue like any others, and never see what the source said. Raises NoSuchTraces.
    """
    trace_ids = set(traces)
    if not 0 < len(trace_ids) <= TRACES_AT_ONCE:
        raise NoSuchTraces(f"Choose from 1 to {TRACES_AT_ONCE:,} traces.")
    with transaction.atomic():
        own = Trace.objects.filter(organisation=source.organisation_id, project=source.project_id, pk__in=trace_ids)
        answered = set(own.filter(pk__in=source.answers.values("trace")).values_list("pk", flat=True))
        if answered != trace_ids:
            raise NoSuchTraces("A chosen trace is not among those that this source answered. Reload the page.")
        changed = want_one_more(project=source.project, traces=sorted(answered))
        audit.record("traces.sent-to-people", source, traces=changed)
    return changed
