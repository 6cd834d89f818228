"""What makes a row of each tenant table of traces."""

import hashlib

from potato.runs.changes.model import FileChange
from potato.runs.changes.texts import diff_texts
from potato.runs.exact_json import change_record, json_sha256, step_record
from potato.runs.model import Step
from tests.isolation.rows.fixtures import Factories, Fixtures
from traces.evidence.fragments import DisplayOptions, render_files, render_steps
from traces.models import (
    Body,
    CheckReport,
    Fragment,
    ImportedFile,
    ImportedMember,
    ImportProblem,
    Picture,
    Repository,
    RepositoryCommit,
    RepositoryObject,
    SecretsState,
    TaskText,
    Trace,
    TraceFile,
    TraceSecrets,
    TraceStep,
)
from traces.models.bodies import pack
from traces.rendering.diff import content_hash


def _imported_file(fixtures: Fixtures) -> ImportedFile:
    return ImportedFile.objects.create(
        project=fixtures.rows["accounts.Project"],
        job=fixtures.rows["jobs.Job"],
        name=fixtures.mark,
        size=1,
        sha256="0" * 64,
        format="auto",
        added_by=fixtures.person,
    )


def _imported_member(fixtures: Fixtures) -> ImportedMember:
    return ImportedMember.objects.create(file=fixtures.rows["traces.ImportedFile"], number=0, name=fixtures.mark)


def _import_problem(fixtures: Fixtures) -> ImportProblem:
    return ImportProblem.objects.create(
        file=fixtures.rows["traces.ImportedFile"], place=1, code="broken", sentence=fixtures.mark
    )


def _trace_secrets(fixtures: Fixtures) -> TraceSecrets:
    return TraceSecrets.objects.create(
        trace=fixtures.rows["traces.Trace"],
        state=SecretsState.REPORTED,
        kinds={"email": 1},
        places=[{"kind": "email", "step": 0, "part": "message", "file": fixtures.mark, "line": 1}],
        occurrences=1,
    )


def _task_text(fixtures: Fixtures) -> TaskText:
    return TaskText.objects.create(
        project=fixtures.rows["accounts.Project"], instance_id=fixtures.mark, text=fixtures.mark
    )


def _check_report(fixtures: Fixtures) -> CheckReport:
    return CheckReport.objects.create(
        project=fixtures.rows["accounts.Project"],
        file=fixtures.rows["traces.ImportedFile"],
        member=fixtures.mark,
        identity_sha256="3" * 64,
        kind="junit",
        name=fixtures.mark,
        names={"ids": [fixtures.mark], "model": "", "hints": []},
        external_id=fixtures.mark,
        outcome="failed",
        failed=1,
        content={"tests": [{"name": fixtures.mark, "outcome": "failed"}], "findings": [], "left_out": {}},
    )


def _trace(fixtures: Fixtures) -> Trace:
    return Trace.objects.create(
        project=fixtures.rows["accounts.Project"],
        file=fixtures.rows["traces.ImportedFile"],
        external_id=fixtures.mark,
        content_sha256=json_sha256(step_record(Step(message=fixtures.mark))),
        task=f"The task of {fixtures.mark}",
        task_id=fixtures.mark,
        agent_model=fixtures.mark,
        tags=[fixtures.mark],
        converter="native",
        steps_count=1,
        tool_calls=0,
        files_count=1,
        added=1,
        removed=0,
    )


def _body(fixtures: Fixtures) -> Body:
    """The body of the step; that of the file is made with the file."""
    record = step_record(Step(message=fixtures.mark))
    return Body.objects.create(sha256=json_sha256(record), packed=pack(record))


def _picture(fixtures: Fixtures) -> Picture:
    """No browser decodes it: who may read it is what counts."""
    content = fixtures.mark.encode()
    sha256 = hashlib.sha256(content).hexdigest()
    return Picture.objects.create(sha256=sha256, source_sha256=sha256, width=1, height=1, whole=content, small=content)


def _repository(fixtures: Fixtures) -> Repository:
    return Repository.objects.create(
        project=fixtures.rows["accounts.Project"],
        name=fixtures.mark,
        file_name=fixtures.mark,
        kind="archive",
        size=1,
        sha256=hashlib.sha256(fixtures.mark.encode()).hexdigest(),
        commits_count=1,
        left_out=0,
        objects_held=bytes(20),
    )


def _repository_commit(fixtures: Fixtures) -> RepositoryCommit:
    repository = fixtures.rows["traces.Repository"]
    return RepositoryCommit.objects.create(repository=repository, commit="1" * 40, tree="2" * 40)


def _repository_object(fixtures: Fixtures) -> RepositoryObject:
    return RepositoryObject.objects.create(git_id="2" * 40, packed=fixtures.mark.encode())


def _trace_step(fixtures: Fixtures) -> TraceStep:
    return TraceStep.objects.create(
        picture=fixtures.rows["traces.Picture"].sha256,
        trace=fixtures.rows["traces.Trace"],
        index=0,
        title=fixtures.mark,
        kind="message",
        sha256=fixtures.rows["traces.Body"].sha256,
    )


def _trace_file(fixtures: Fixtures) -> TraceFile:
    change = FileChange(
        path=fixtures.mark,
        old_path="",
        operation="added",
        source="content",
        old_text="",
        new_text=f"{fixtures.mark}\n",
        hunks=tuple(diff_texts("", f"{fixtures.mark}\n", 3)),
        added=1,
    )
    sha256 = content_hash(change)
    Body.objects.create(sha256=sha256, packed=pack(change_record(change)))
    return TraceFile.objects.create(
        trace=fixtures.rows["traces.Trace"],
        index=0,
        path=fixtures.mark,
        operation="added",
        added=1,
        removed=0,
        sha256=sha256,
    )


def _fragment(fixtures: Fixtures) -> Fragment:
    render_steps([fixtures.rows["traces.TraceStep"]], DisplayOptions())
    render_files([fixtures.rows["traces.TraceFile"]], DisplayOptions())
    return Fragment.objects.get(sha256=fixtures.rows["traces.TraceFile"].sha256, view="unified-5-coloured", part="0")


FACTORIES: Factories = {
    "traces.ImportedFile": _imported_file,
    "traces.ImportedMember": _imported_member,
    "traces.ImportProblem": _import_problem,
    "traces.TaskText": _task_text,
    "traces.CheckReport": _check_report,
    "traces.Trace": _trace,
    "traces.Body": _body,
    "traces.Picture": _picture,
    "traces.Repository": _repository,
    "traces.RepositoryCommit": _repository_commit,
    "traces.RepositoryObject": _repository_object,
    "traces.TraceStep": _trace_step,
    "traces.TraceSecrets": _trace_secrets,
    "traces.TraceFile": _trace_file,
    "traces.Fragment": _fragment,
}
