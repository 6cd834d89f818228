"""Rows of every tenant table, told apart by a word that stands in their text. A new tenant model brings its factory."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import models
from django.utils import timezone

from accounts.invitation_links import InvitationToken
from accounts.models import (
    ApiToken,
    AuditEvent,
    ConfigurationVersion,
    Invitation,
    Membership,
    Organisation,
    Project,
    User,
)
from assignments.models import Assignment, Desk, Draft, Submission, TracePlaces, Withdrawal
from dashboard.models import CountedAnnotation, ProjectTally, RewardStatistics
from dashboard.statistics import figures_of
from exports.models import Export
from jobs.models import Job, OutboxEvent
from potato.configuration import check_configuration
from potato.runs.changes.model import FileChange
from potato.runs.changes.texts import hunks_of
from potato.runs.exact_json import change_record, sha256_of, step_record
from potato.runs.model import Step
from potato.statistics.rewards.curves import Curve, RewardCurves
from potato.statistics.rewards.figures import RewardTally
from tenancy.actor import acting_in
from tests.worlds import World
from traces.fragments import DisplayOptions, render_files, render_steps
from traces.models import Body, Fragment, ImportedFile, ImportProblem, Picture, TaskText, Trace, TraceFile, TraceStep
from traces.models.bodies import pack
from traces.rendering.diff import content_hash

CONFIGURATION = """task_name: {mark}
annotation_schemes:
  - annotation_type: code_review_verdict
    name: verdict
    description: Is the change of {mark} good?
"""


@dataclass
class House:
    """One organisation, the word that marks all its texts, and its rows by model label."""

    organisation: Organisation
    mark: str
    person: User
    # Any, so that a factory can say house.rows["accounts.Project"] where a Project is wanted.
    rows: dict[str, Any] = field(default_factory=dict)


def _membership(house: House) -> Membership:
    user = User.objects.create_user(house.mark, email=f"{house.mark}@example.org", name=house.mark)
    return Membership.objects.create(user=user, annotator_name=house.mark)


def token_of(house: House) -> InvitationToken:
    """What stands in the link of the house's invitation."""
    return InvitationToken(house.organisation.pk, "s" * 32)


def _invitation(house: House) -> Invitation:
    return Invitation.objects.create(
        email=f"invited-{house.mark}@example.org",
        annotator_name=f"invited-{house.mark}",
        secret_sha256=token_of(house).digest,
        created_by=house.person,
        expires_at=timezone.now() + timedelta(days=7),
    )


def _project(house: House) -> Project:
    return Project.objects.create(slug=house.mark, name=house.mark, draft=CONFIGURATION.format(mark=house.mark))


def _version(house: House) -> ConfigurationVersion:
    checked = check_configuration(CONFIGURATION.format(mark=house.mark))
    assert checked.configuration is not None, checked.problems
    return ConfigurationVersion.objects.create(
        project=house.rows["accounts.Project"],
        number=1,
        source=CONFIGURATION.format(mark=house.mark),
        configuration=checked.configuration.model_dump(mode="json"),
        note=house.mark,
        published_by=house.person,
    )


def _audit_event(house: House) -> AuditEvent:
    return AuditEvent.objects.create(verb="project.created", target_label=house.mark, detail={"mark": house.mark})


def _api_token(house: House) -> ApiToken:
    return ApiToken.objects.create(
        name=house.mark,
        membership=house.rows["accounts.Membership"],
        prefix="0" * 12,
        secret_sha256="0" * 64,
        created_by=house.person,
    )


def _job(house: House) -> Job:
    return Job.objects.create(kind=house.mark, parameters={"mark": house.mark}, created_by=house.person)


def _outbox_event(house: House) -> OutboxEvent:
    return OutboxEvent.objects.create(topic=house.mark, payload={"mark": house.mark})


def _imported_file(house: House) -> ImportedFile:
    return ImportedFile.objects.create(
        project=house.rows["accounts.Project"],
        job=house.rows["jobs.Job"],
        name=house.mark,
        size=1,
        sha256="0" * 64,
        format="auto",
        added_by=house.person,
    )


def _import_problem(house: House) -> ImportProblem:
    return ImportProblem.objects.create(
        file=house.rows["traces.ImportedFile"], place=1, code="broken", sentence=house.mark
    )


def _task_text(house: House) -> TaskText:
    return TaskText.objects.create(project=house.rows["accounts.Project"], instance_id=house.mark, text=house.mark)


def _trace(house: House) -> Trace:
    return Trace.objects.create(
        project=house.rows["accounts.Project"],
        file=house.rows["traces.ImportedFile"],
        external_id=house.mark,
        content_sha256="0" * 64,
        task=f"The task of {house.mark}",
        task_id=house.mark,
        agent_model=house.mark,
        tags=[house.mark],
        converter="native",
        steps_count=1,
        tool_calls=0,
        files_count=1,
        added=1,
        removed=0,
    )


def _body(house: House) -> Body:
    """The body of the step; that of the file is made with the file."""
    record = step_record(Step(message=house.mark))
    return Body.objects.create(sha256=sha256_of(record), packed=pack(record))


def _picture(house: House) -> Picture:
    """No browser decodes it: the wall is what counts."""
    content = house.mark.encode()
    sha256 = hashlib.sha256(content).hexdigest()
    return Picture.objects.create(sha256=sha256, source_sha256=sha256, width=1, height=1, whole=content, small=content)


def _trace_step(house: House) -> TraceStep:
    return TraceStep.objects.create(
        picture=house.rows["traces.Picture"].sha256,
        trace=house.rows["traces.Trace"],
        index=0,
        title=house.mark,
        kind="message",
        sha256=house.rows["traces.Body"].sha256,
    )


def _trace_file(house: House) -> TraceFile:
    change = FileChange(
        path=house.mark,
        old_path="",
        operation="added",
        source="content",
        old_text="",
        new_text=f"{house.mark}\n",
        hunks=tuple(hunks_of("", f"{house.mark}\n", 3)),
        added=1,
    )
    sha256 = content_hash(change)
    Body.objects.create(sha256=sha256, packed=pack(change_record(change)))
    return TraceFile.objects.create(
        trace=house.rows["traces.Trace"],
        index=0,
        path=house.mark,
        operation="added",
        added=1,
        removed=0,
        sha256=sha256,
    )


def _fragment(house: House) -> Fragment:
    render_steps([house.rows["traces.TraceStep"]], DisplayOptions())
    render_files([house.rows["traces.TraceFile"]], DisplayOptions())
    return Fragment.objects.get(sha256=house.rows["traces.TraceFile"].sha256, view="unified-5-coloured", part="0")


def _trace_places(house: House) -> TracePlaces:
    return TracePlaces.objects.create(
        trace=house.rows["traces.Trace"], project=house.rows["accounts.Project"], wanted=1, places=1, live=1
    )


def _desk(house: House) -> Desk:
    return Desk.objects.create(project=house.rows["accounts.Project"], user=house.person)


def _assignment(house: House) -> Assignment:
    return Assignment.objects.create(
        project=house.rows["accounts.Project"],
        trace=house.rows["traces.Trace"],
        user=house.person,
        version=house.rows["accounts.ConfigurationVersion"],
        state="skipped",
        skip_reason=house.mark,
    )


def _draft(house: House) -> Draft:
    return Draft.objects.create(assignment=house.rows["assignments.Assignment"], packed=pack(house.mark))


def _submission(house: House) -> Submission:
    return Submission.objects.create(
        project=house.rows["accounts.Project"],
        assignment=house.rows["assignments.Assignment"],
        number=1,
        packed=pack({"verdict": house.mark}),
        key=house.mark,
        request_sha256="0" * 64,
    )


def _withdrawal(house: House) -> Withdrawal:
    return Withdrawal.objects.create(submission=house.rows["assignments.Submission"], withdrawn_by=house.person)


def _project_tally(house: House) -> ProjectTally:
    counts = {"code_review_verdict/verdict": {"decision": {house.mark: 1}}}
    return ProjectTally.objects.create(project=house.rows["accounts.Project"], counts=counts, annotations=1)


def _counted_annotation(house: House) -> CountedAnnotation:
    return CountedAnnotation.objects.create(
        project=house.rows["accounts.Project"],
        assignment=house.rows["assignments.Assignment"],
        submission=house.rows["assignments.Submission"],
        user=house.person,
        submitted_at=timezone.now(),
        is_surplus=False,
    )


def _reward_statistics(house: House) -> RewardStatistics:
    curves = RewardCurves({house.mark: Curve(1, [1.0], [1])})
    figures = figures_of(RewardTally(), curves)
    return RewardStatistics.objects.create(
        project=house.rows["accounts.Project"], job=house.rows["jobs.Job"], figures=figures
    )


def _export(house: House) -> Export:
    return Export.objects.create(
        project=house.rows["accounts.Project"],
        job=house.rows["jobs.Job"],
        format="code_review",
        options={"resolve": house.mark},
        requested_by=house.person,
        sha256="0" * 64,
        manifest={"project": house.mark},
        ready_at=timezone.now(),
        expires_at=timezone.now() + timedelta(days=1),
    )


# In the order of their foreign keys: a factory finds the rows of those above it in house.rows.
FACTORIES: dict[str, Callable[[House], models.Model]] = {
    "accounts.Membership": _membership,
    "accounts.Invitation": _invitation,
    "accounts.Project": _project,
    "accounts.ConfigurationVersion": _version,
    "accounts.AuditEvent": _audit_event,
    "accounts.ApiToken": _api_token,
    "jobs.Job": _job,
    "jobs.OutboxEvent": _outbox_event,
    "traces.ImportedFile": _imported_file,
    "traces.ImportProblem": _import_problem,
    "traces.TaskText": _task_text,
    "traces.Trace": _trace,
    "traces.Body": _body,
    "traces.Picture": _picture,
    "traces.TraceStep": _trace_step,
    "traces.TraceFile": _trace_file,
    "traces.Fragment": _fragment,
    "assignments.TracePlaces": _trace_places,
    "assignments.Desk": _desk,
    "assignments.Assignment": _assignment,
    "assignments.Draft": _draft,
    "assignments.Submission": _submission,
    "assignments.Withdrawal": _withdrawal,
    "dashboard.ProjectTally": _project_tally,
    "dashboard.CountedAnnotation": _counted_annotation,
    "dashboard.RewardStatistics": _reward_statistics,
    "exports.Export": _export,
}


def furnish(world: World) -> tuple[House, House]:
    """Acme's and Birch's rows, one of every tenant model each."""
    houses = House(world.acme, "quartz-acme", world.alice), House(world.birch, "walnut-birch", world.charlie)
    for house in houses:
        with acting_in(house.organisation, house.person):
            for label, make in FACTORIES.items():
                house.rows[label] = make(house)
    return houses
