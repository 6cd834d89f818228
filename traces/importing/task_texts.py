"""The texts of tasks that a data set states beside the runs: kept by their instance, and given to runs without one."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from django.db.models import Exists, OuterRef, Q

from accounts.models import Project
from jobs.row_text import storable
from potato.runs.converters.task_texts import has_tasks
from potato.runs.model import AgentRun, Converted, StatedTask
from potato.runs.run_files import StoredRunFile
from traces.models import ImportedFile, ImportProblem, TaskText, Trace

LONGEST = 100_000
JOINED = "task text from the data set"
"""What a trace's report says where the run did not say itself what was asked."""
_ID_LENGTH = 300


def keep_tasks(project: Project, stated: Iterable[StatedTask], file: ImportedFile | None = None) -> None:
    """Keep what a data set says of its instances, with one statement; it takes the place of what was said before, and
    of two texts of one instance the later one stays."""
    texts = {storable(task.instance_id, _ID_LENGTH): storable(task.text, LONGEST) for task in stated}
    TaskText.objects.bulk_create(
        [TaskText(project=project, file=file, instance_id=instance, text=text) for instance, text in texts.items()],
        update_conflicts=True,
        unique_fields=["organisation", "project", "instance_id"],
        update_fields=["text", "file"],
    )


def has_texts(project: Project) -> bool:
    """Whether any text was stated for the project's tasks."""
    return TaskText.objects.filter(organisation=project.organisation_id, project=project).exists()


def with_task(converted: Converted, project: Project) -> Converted:
    """A run that does not say what was asked, with the text that the project has of it."""
    run = converted.run
    if run.task.strip():
        return converted
    ids = _ids(run.instance_id, run.task_id, run.external_id)
    text = texts_by_id(project, ids)
    first = next((text[id] for id in ids if id in text), "")
    if not first:
        return converted
    converted.report.repairs[JOINED] += 1
    return replace(converted, run=with_text(run, first))


def with_text(run: AgentRun, text: str) -> AgentRun:
    """The run with what was asked."""
    return replace(run, task=text)


def ids_to_join_by(trace: Trace) -> list[str]:
    """What a text may name a trace by: the instance, else the task, else the run itself."""
    return _ids(trace.instance_id, trace.task_id, trace.external_id)


def texts_by_id(project: Project, ids: Iterable[str]) -> dict[str, str]:
    """The texts that the project has of these ids."""
    rows = TaskText.objects.filter(organisation=project.organisation_id, project=project, instance_id__in=set(ids))
    return dict(rows.values_list("instance_id", "text"))


def texts_without_trace(file: ImportedFile) -> "Sequence[str]":
    """The ids of the file's texts that no trace of the project is joined by, in their order; kept for later imports."""
    traces = Trace.objects.filter(organisation=file.organisation_id, project=file.project_id)
    named = (Q(**{name: OuterRef("instance_id")}) for name in ("instance_id", "task_id", "external_id"))
    # One EXISTS a column: each has an index of its own, which no OR of them could use.
    conditions = [~Exists(traces.filter(condition)) for condition in named]
    rows = TaskText.objects.filter(*conditions, organisation=file.organisation_id, file=file)
    return list(rows.order_by("instance_id").values_list("instance_id", flat=True))


def note_silent_tasks(file: ImportedFile) -> None:
    """Say of a file how many of its traces do not say what the agent was asked: nobody could judge them well."""
    traces = Trace.objects.filter(file=file)
    silent = traces.filter(task="")
    count = silent.count()
    if not count:
        return
    of_instances = silent.exclude(instance_id="").exists()
    remedy = (
        "Import the rows of the data set (instance_id and problem_statement, as JSON lines, JSON or CSV): they are "
        "joined to the traces that are there."
        if of_instances
        else "Say it in the file, under the project's text_key."
    )
    whole = traces.count()
    who = "The trace does" if whole == 1 else f"{count:,} of {whole:,} traces do"
    sentence = f"{who} not say what the agent was asked, so people judge without it. {remedy}"
    ImportProblem.objects.create(file=file, place=ImportProblem.WHOLE_FILE, code="no_task_text", sentence=sentence)


def are_tasks_first(source: StoredRunFile) -> bool:
    """Whether a file is to be imported before those of runs, for its texts belong to them."""
    return has_tasks(source.head(), source.name)


def _ids(*names: str) -> list[str]:
    return [id for name in names if (id := storable(name, _ID_LENGTH))]
