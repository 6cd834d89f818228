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
    IdempotencyKey,
    Invitation,
    InvitationProject,
    Membership,
    Organisation,
    Project,
    ProjectMember,
    TokenProject,
    User,
)
from adjudication.models import Adjudication, Disagreement, Side
from agreement.models import (
    AgreementReport,
    AgreementRule,
    AgreementSchedule,
    Source,
    SourceAnswer,
    SourceReport,
    TraceAgreement,
)
from assignments.models import (
    Assignment,
    Batch,
    BatchPerson,
    BatchPosition,
    Correction,
    Decision,
    Draft,
    Note,
    NoteAnswer,
    Outcome,
    Question,
    QuestionAnswer,
    QueuePosition,
    Reservation,
    ReviewHold,
    StandingRule,
    Steering,
    SteeringAct,
    Submission,
    Suggestion,
    SuggestionExposure,
    TraceQuota,
    Withdrawal,
)
from dashboard.models import CountedAnnotation, Dismissal, ProjectTally
from exports.models import Export, ExportPolicy, ExportSchedule
from gold.models import (
    AddedAnnotator,
    Admission,
    ExpectedAnnotation,
    GoldScore,
    GoldStanding,
    Origin,
    PracticeAttempt,
)
from jobs.models import Job, OutboxEvent, ScheduleRun
from leaving.models import PersonalCopy, RetentionPolicy, TraceRemoval
from potato.configuration import check_configuration
from potato.runs.changes.model import FileChange
from potato.runs.changes.texts import diff_texts
from potato.runs.exact_json import change_record, json_sha256, step_record
from potato.runs.model import Step
from potato.statistics.rewards.curves import Curve, RewardCurves
from potato.statistics.rewards.figures import RewardTally
from rewards.models import RewardStatistics
from rewards.statistics import kept_figures
from tenancy.actor import acting_in
from tests.tenants import Tenants
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
from webhooks.models import Delivery, Endpoint

CONFIGURATION = """task_name: {mark}
annotation_schemes:
  - annotation_type: code_review_verdict
    name: verdict
    description: Is the change of {mark} good?
"""


@dataclass
class Fixtures:
    """One organisation, the word that marks all its texts, and its rows by model label."""

    organisation: Organisation
    mark: str
    person: User
    # Any, so that a factory can say fixtures.rows["accounts.Project"] where a Project is wanted.
    rows: dict[str, Any] = field(default_factory=dict)


def _membership(fixtures: Fixtures) -> Membership:
    user = User.objects.create_user(fixtures.mark, email=f"{fixtures.mark}@example.org", name=fixtures.mark)
    return Membership.objects.create(user=user, annotator_name=fixtures.mark)


def token_of(fixtures: Fixtures) -> InvitationToken:
    """What stands in the link of the fixtures's invitation."""
    return InvitationToken(fixtures.organisation.pk, "s" * 32)


def _invitation(fixtures: Fixtures) -> Invitation:
    return Invitation.objects.create(
        email=f"invited-{fixtures.mark}@example.org",
        annotator_name=f"invited-{fixtures.mark}",
        secret_sha256=token_of(fixtures).digest,
        created_by=fixtures.person,
        expires_at=timezone.now() + timedelta(days=7),
    )


def _project(fixtures: Fixtures) -> Project:
    return Project.objects.create(
        slug=fixtures.mark, name=fixtures.mark, draft=CONFIGURATION.format(mark=fixtures.mark)
    )


def _version(fixtures: Fixtures) -> ConfigurationVersion:
    checked = check_configuration(CONFIGURATION.format(mark=fixtures.mark))
    assert checked.configuration is not None, checked.problems
    return ConfigurationVersion.objects.create(
        project=fixtures.rows["accounts.Project"],
        number=1,
        source=CONFIGURATION.format(mark=fixtures.mark),
        configuration=checked.configuration.model_dump(mode="json"),
        note=fixtures.mark,
        published_by=fixtures.person,
    )


def _audit_event(fixtures: Fixtures) -> AuditEvent:
    return AuditEvent.objects.create(verb="project.created", target_label=fixtures.mark, detail={"mark": fixtures.mark})


def _api_token(fixtures: Fixtures) -> ApiToken:
    return ApiToken.objects.create(
        name=fixtures.mark,
        membership=fixtures.rows["accounts.Membership"],
        prefix="0" * 12,
        secret_sha256="0" * 64,
        created_by=fixtures.person,
    )


def _project_member(fixtures: Fixtures) -> ProjectMember:
    return ProjectMember.objects.create(
        project=fixtures.rows["accounts.Project"],
        membership=fixtures.rows["accounts.Membership"],
        added_by=fixtures.person,
    )


def _invitation_project(fixtures: Fixtures) -> InvitationProject:
    return InvitationProject.objects.create(
        invitation=fixtures.rows["accounts.Invitation"], project=fixtures.rows["accounts.Project"]
    )


def _token_project(fixtures: Fixtures) -> TokenProject:
    return TokenProject.objects.create(
        token=fixtures.rows["accounts.ApiToken"], project=fixtures.rows["accounts.Project"]
    )


def _idempotency_key(fixtures: Fixtures) -> IdempotencyKey:
    return IdempotencyKey.objects.create(
        digest=hashlib.sha256(fixtures.mark.encode()).hexdigest(),
        request_sha256="0" * 64,
        location=f"/api/v1/{fixtures.mark}/",
    )


def _job(fixtures: Fixtures) -> Job:
    return Job.objects.create(kind=fixtures.mark, parameters={"mark": fixtures.mark}, created_by=fixtures.person)


def _outbox_event(fixtures: Fixtures) -> OutboxEvent:
    return OutboxEvent.objects.create(topic=fixtures.mark, payload={"mark": fixtures.mark})


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


def _trace_places(fixtures: Fixtures) -> TraceQuota:
    return TraceQuota.objects.create(
        batch=fixtures.rows["assignments.Batch"],
        is_released=True,
        trace=fixtures.rows["traces.Trace"],
        project=fixtures.rows["accounts.Project"],
        target=1,
        slots=1,
        active=1,
    )


def _batch(fixtures: Fixtures) -> Batch:
    return Batch.objects.create(project=fixtures.rows["accounts.Project"], number=1, name=f"Batch of {fixtures.mark}")


def _batch_person(fixtures: Fixtures) -> BatchPerson:
    return BatchPerson.objects.create(batch=fixtures.rows["assignments.Batch"], user=fixtures.person)


def _batch_position(fixtures: Fixtures) -> BatchPosition:
    return BatchPosition.objects.create(
        batch=fixtures.rows["assignments.Batch"], user=fixtures.person, returned_at=timezone.now()
    )


def _standing_rule(fixtures: Fixtures) -> StandingRule:
    return StandingRule.objects.create(
        project=fixtures.rows["accounts.Project"],
        batch=fixtures.rows["assignments.Batch"],
        number=1,
        selection={"filter": {"q": fixtures.mark}},
    )


def _steering(fixtures: Fixtures) -> Steering:
    return Steering.objects.create(project=fixtures.rows["accounts.Project"])


def _reservation(fixtures: Fixtures) -> Reservation:
    return Reservation.objects.create(
        project=fixtures.rows["accounts.Project"],
        trace=fixtures.rows["traces.Trace"],
        user=fixtures.person,
        until=timezone.now() + timedelta(days=1),
    )


def _steering_act(fixtures: Fixtures) -> SteeringAct:
    # Too long ago to be undone, however long a test takes.
    return SteeringAct.objects.create(
        project=fixtures.rows["accounts.Project"],
        verb="traces.held-back",
        sentence=fixtures.mark,
        packed=pack([]),
        done_at=timezone.now() - timedelta(hours=1),
    )


def _queue_position(fixtures: Fixtures) -> QueuePosition:
    return QueuePosition.objects.create(project=fixtures.rows["accounts.Project"], user=fixtures.person)


def _assignment(fixtures: Fixtures) -> Assignment:
    return Assignment.objects.create(
        project=fixtures.rows["accounts.Project"],
        trace=fixtures.rows["traces.Trace"],
        user=fixtures.person,
        version=fixtures.rows["accounts.ConfigurationVersion"],
        state="skipped",
        skip_reason=fixtures.mark,
    )


def _draft(fixtures: Fixtures) -> Draft:
    return Draft.objects.create(assignment=fixtures.rows["assignments.Assignment"], packed=pack(fixtures.mark))


def _submission(fixtures: Fixtures) -> Submission:
    return Submission.objects.create(
        project=fixtures.rows["accounts.Project"],
        assignment=fixtures.rows["assignments.Assignment"],
        number=1,
        packed=pack({"verdict": fixtures.mark}),
        key=fixtures.mark,
        request_sha256="0" * 64,
    )


def _withdrawal(fixtures: Fixtures) -> Withdrawal:
    return Withdrawal.objects.create(submission=fixtures.rows["assignments.Submission"], withdrawn_by=fixtures.person)


def _note(fixtures: Fixtures) -> Note:
    submission = fixtures.rows["assignments.Submission"]
    return Note.objects.create(submission=submission, text=fixtures.mark, written_by=fixtures.person)


def _decision(fixtures: Fixtures) -> Decision:
    submission = fixtures.rows["assignments.Submission"]
    return Decision.objects.create(
        project=fixtures.rows["accounts.Project"],
        submission=submission,
        number=1,
        outcome=Outcome.CORRECTED,
        notes=[{"text": fixtures.mark}],
        correction=submission,
        decided_by=fixtures.person,
    )


def _note_answer(fixtures: Fixtures) -> NoteAnswer:
    decision = fixtures.rows["assignments.Decision"]
    return NoteAnswer.objects.create(decision=decision, note=0, is_kept=True, text=fixtures.mark)


def _question(fixtures: Fixtures) -> Question:
    return Question.objects.create(
        project=fixtures.rows["accounts.Project"],
        assignment=fixtures.rows["assignments.Assignment"],
        text=fixtures.mark,
    )


def _suggestion(fixtures: Fixtures) -> Suggestion:
    return Suggestion.objects.create(
        project=fixtures.rows["accounts.Project"],
        trace=fixtures.rows["traces.Trace"],
        configuration=fixtures.rows["accounts.ConfigurationVersion"],
        model=fixtures.mark,
        model_version="1",
        provenance={"prompt": fixtures.mark},
        packed=pack({"review_verdict": {"decision": "approve", "notes": fixtures.mark}}),
        given_sha256="0" * 64,
        added_by=fixtures.person,
    )


def _suggestion_exposure(fixtures: Fixtures) -> SuggestionExposure:
    return SuggestionExposure.objects.create(
        assignment=fixtures.rows["assignments.Assignment"],
        suggestion=fixtures.rows["assignments.Suggestion"],
        is_shown=True,
    )


def _question_answer(fixtures: Fixtures) -> QuestionAnswer:
    question = fixtures.rows["assignments.Question"]
    return QuestionAnswer.objects.create(question=question, text=fixtures.mark, answered_by=fixtures.person)


def _correction(fixtures: Fixtures) -> Correction:
    return Correction.objects.create(
        assignment=fixtures.rows["assignments.Assignment"], submission=fixtures.rows["assignments.Submission"]
    )


def _review_hold(fixtures: Fixtures) -> ReviewHold:
    submission = fixtures.rows["assignments.Submission"]
    return ReviewHold.objects.create(submission=submission, user=fixtures.person, until=timezone.now())


def _project_tally(fixtures: Fixtures) -> ProjectTally:
    counts = {"code_review_verdict/verdict": {"decision": {fixtures.mark: 1}}}
    return ProjectTally.objects.create(project=fixtures.rows["accounts.Project"], counts=counts, annotations=1)


def _counted_annotation(fixtures: Fixtures) -> CountedAnnotation:
    return CountedAnnotation.objects.create(
        project=fixtures.rows["accounts.Project"],
        assignment=fixtures.rows["assignments.Assignment"],
        submission=fixtures.rows["assignments.Submission"],
        user=fixtures.person,
        submitted_at=timezone.now(),
        is_surplus=False,
    )


def _reward_statistics(fixtures: Fixtures) -> RewardStatistics:
    curves = RewardCurves({fixtures.mark: Curve(1, [1.0], [1])})
    figures = kept_figures(RewardTally(), curves)
    return RewardStatistics.objects.create(
        project=fixtures.rows["accounts.Project"], job=fixtures.rows["jobs.Job"], figures=figures
    )


def _dismissal(fixtures: Fixtures) -> Dismissal:
    return Dismissal.objects.create(
        project=fixtures.rows["accounts.Project"],
        key=fixtures.mark,
        reason=fixtures.mark,
        dismissed_by=fixtures.person,
        until=timezone.now() + timedelta(days=7),
    )


def _agreement_report(fixtures: Fixtures) -> AgreementReport:
    return AgreementReport.objects.create(
        project=fixtures.rows["accounts.Project"],
        job=fixtures.rows["jobs.Job"],
        requested_by=fixtures.person,
        settings={"tolerance": 3, "samples": 0, "seed": 0},
        figures={"compared": [], "mark": fixtures.mark},
        requested_at=timezone.now() - timedelta(hours=1),
        sha256="0" * 64,
        computed_at=timezone.now(),
    )


def _agreement_rule(fixtures: Fixtures) -> AgreementRule:
    return AgreementRule.objects.create(project=fixtures.rows["accounts.Project"], watched=fixtures.mark)


def _agreement_schedule(fixtures: Fixtures) -> AgreementSchedule:
    return AgreementSchedule.objects.create(
        name=fixtures.mark,
        project=fixtures.rows["accounts.Project"],
        cron="0 2 * * *",
        next_at=timezone.now(),
        settings={"tolerance": 3, "samples": 0, "seed": 0},
        created_by=fixtures.person,
    )


def _schedule_run(fixtures: Fixtures) -> ScheduleRun:
    return ScheduleRun.objects.create(
        kind="exports",
        schedule=fixtures.rows["exports.ExportSchedule"].pk,
        name=fixtures.mark,
        project=fixtures.rows["accounts.Project"],
        job=fixtures.rows["jobs.Job"],
        fire_time=timezone.now(),
        state="failed",
        error=fixtures.mark,
        finished_at=timezone.now(),
    )


def _export_schedule(fixtures: Fixtures) -> ExportSchedule:
    return ExportSchedule.objects.create(
        name=fixtures.mark,
        project=fixtures.rows["accounts.Project"],
        cron="0 6 * * 1",
        next_at=timezone.now(),
        format="code_review",
        options={"resolve": fixtures.mark},
        created_by=fixtures.person,
    )


def _export(fixtures: Fixtures) -> Export:
    return Export.objects.create(
        project=fixtures.rows["accounts.Project"],
        schedule=fixtures.rows["exports.ExportSchedule"],
        job=fixtures.rows["jobs.Job"],
        format="code_review",
        options={"resolve": fixtures.mark},
        requested_by=fixtures.person,
        sha256="0" * 64,
        manifest={"project": fixtures.mark},
        ready_at=timezone.now(),
        expires_at=timezone.now() + timedelta(days=1),
    )


def _export_policy(fixtures: Fixtures) -> ExportPolicy:
    return ExportPolicy.objects.create(quota_mib=1_000, retention_days=30)


def _endpoint(fixtures: Fixtures) -> Endpoint:
    return Endpoint.objects.create(
        project=fixtures.rows["accounts.Project"],
        url=f"https://{fixtures.mark}.example.org/",
        description=fixtures.mark,
        events=["export.finished"],
        created_by=fixtures.person,
    )


def _delivery(fixtures: Fixtures) -> Delivery:
    return Delivery.objects.create(
        endpoint=fixtures.rows["webhooks.Endpoint"],
        event=fixtures.rows["jobs.OutboxEvent"].pk,
        type="export.finished",
        body=f'{{"type": "export.finished", "data": {{"format": "{fixtures.mark}"}}}}',
    )


def _source(fixtures: Fixtures) -> Source:
    return Source.objects.create(
        project=fixtures.rows["accounts.Project"], name=fixtures.mark, model=fixtures.mark, version=fixtures.mark
    )


def _source_answer(fixtures: Fixtures) -> SourceAnswer:
    return SourceAnswer.objects.create(
        project=fixtures.rows["accounts.Project"],
        source=fixtures.rows["agreement.Source"],
        trace=fixtures.rows["traces.Trace"],
        version=fixtures.rows["accounts.ConfigurationVersion"],
        packed=pack({"verdict": {"decision": "approve", "summary": fixtures.mark}}),
        given_sha256="0" * 64,
    )


def _trace_agreement(fixtures: Fixtures) -> TraceAgreement:
    return TraceAgreement.objects.create(
        project=fixtures.rows["accounts.Project"], trace=fixtures.rows["traces.Trace"], value=0.5, annotations=2
    )


def _disagreement(fixtures: Fixtures) -> Disagreement:
    return Disagreement.objects.create(
        project=fixtures.rows["accounts.Project"],
        trace=fixtures.rows["traces.Trace"],
        annotations=2,
        words=[{"title": fixtures.mark, "range": "1 : 1"}],
    )


def _adjudication(fixtures: Fixtures) -> Adjudication:
    return Adjudication.objects.create(
        project=fixtures.rows["accounts.Project"],
        trace=fixtures.rows["traces.Trace"],
        submission=fixtures.rows["assignments.Submission"],
        items=[
            {
                "scheme": "verdict",
                "key": "decision",
                "title": fixtures.mark,
                "how": "kept",
                "differed": True,
                "taken_from": [],
                "sides": [],
            }
        ],
        decided_by=fixtures.person,
    )


def _side(fixtures: Fixtures) -> Side:
    return Side.objects.create(
        adjudication=fixtures.rows["adjudication.Adjudication"],
        submission=fixtures.rows["assignments.Submission"],
        parts=2,
        same=1,
    )


def _source_report(fixtures: Fixtures) -> SourceReport:
    return SourceReport.objects.create(
        project=fixtures.rows["accounts.Project"],
        source=fixtures.rows["agreement.Source"],
        job=fixtures.rows["jobs.Job"],
        options={"method": "majority", "sure": 0.8},
        requested_by=fixtures.person,
        figures={"headline": fixtures.mark, "schemes": [], "missed_categories": {}},
        computed_at=timezone.now(),
    )


def _personal_copy(fixtures: Fixtures) -> PersonalCopy:
    return PersonalCopy.objects.create(
        membership=fixtures.rows["accounts.Membership"],
        person=fixtures.rows["accounts.Membership"].user,
        requested_by=fixtures.person,
        stored_as=f"personal/{fixtures.organisation.pk}/{fixtures.mark}",
    )


def _trace_removal(fixtures: Fixtures) -> TraceRemoval:
    return TraceRemoval.objects.create(
        project=fixtures.rows["accounts.Project"],
        traces=[],
        job=fixtures.rows["jobs.Job"],
        requested_by=fixtures.person,
        result={"mark": fixtures.mark},
    )


def _retention_policy(fixtures: Fixtures) -> RetentionPolicy:
    return RetentionPolicy.objects.create(audit_days=365)


# In the order of their foreign keys: a factory finds the rows of those above it in fixtures.rows.
def _expected_annotation(fixtures: Fixtures) -> ExpectedAnnotation:
    return ExpectedAnnotation.objects.create(
        project=fixtures.rows["accounts.Project"],
        trace=fixtures.rows["traces.Trace"],
        origin=Origin.EXPERT,
        packed=pack({"verdict": {"decision": fixtures.mark}}),
        why=fixtures.mark,
        made_by=fixtures.person,
    )


def _scored_part(fixtures: Fixtures) -> dict[str, Any]:
    nothing = dict.fromkeys(("expected", "given", "expected_at", "given_at"))
    return {
        "scheme": "verdict",
        "title": "Verdict",
        "outcome": "wrong",
        "points": 0.0,
        "unit": "",
        "sentence": fixtures.mark,
        **nothing,
    }


def _gold_score(fixtures: Fixtures) -> GoldScore:
    return GoldScore.objects.create(
        project=fixtures.rows["accounts.Project"],
        user=fixtures.person,
        expected=fixtures.rows["gold.ExpectedAnnotation"],
        submission=fixtures.rows["assignments.Submission"],
        score=0.5,
        packed=pack([_scored_part(fixtures)]),
    )


def _gold_standing(fixtures: Fixtures) -> GoldStanding:
    return GoldStanding.objects.create(
        project=fixtures.rows["accounts.Project"], user=fixtures.person, sentence=fixtures.mark
    )


def _practice_attempt(fixtures: Fixtures) -> PracticeAttempt:
    return PracticeAttempt.objects.create(
        project=fixtures.rows["accounts.Project"],
        user=fixtures.person,
        expected=fixtures.rows["gold.ExpectedAnnotation"],
        submission=fixtures.rows["assignments.Submission"],
        number=1,
        score=0.5,
        passed=True,
        packed=pack([_scored_part(fixtures)]),
    )


def _admission(fixtures: Fixtures) -> Admission:
    return Admission.objects.create(
        project=fixtures.rows["accounts.Project"], user=fixtures.person, admitted_by=fixtures.person
    )


def _added_annotator(fixtures: Fixtures) -> AddedAnnotator:
    return AddedAnnotator.objects.create(
        project=fixtures.rows["accounts.Project"], trace=fixtures.rows["traces.Trace"], annotators=2, agreement=0.25
    )


FACTORIES: dict[str, Callable[[Fixtures], models.Model]] = {
    "accounts.Membership": _membership,
    "accounts.Invitation": _invitation,
    "accounts.Project": _project,
    "accounts.ConfigurationVersion": _version,
    "accounts.AuditEvent": _audit_event,
    "accounts.ApiToken": _api_token,
    "accounts.ProjectMember": _project_member,
    "accounts.InvitationProject": _invitation_project,
    "accounts.TokenProject": _token_project,
    "accounts.IdempotencyKey": _idempotency_key,
    "jobs.Job": _job,
    "jobs.OutboxEvent": _outbox_event,
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
    "assignments.Batch": _batch,
    "assignments.BatchPerson": _batch_person,
    "assignments.BatchPosition": _batch_position,
    "assignments.StandingRule": _standing_rule,
    "assignments.Steering": _steering,
    "assignments.Reservation": _reservation,
    "assignments.SteeringAct": _steering_act,
    "assignments.TraceQuota": _trace_places,
    "assignments.QueuePosition": _queue_position,
    "assignments.Assignment": _assignment,
    "assignments.Draft": _draft,
    "assignments.Submission": _submission,
    "assignments.Withdrawal": _withdrawal,
    "assignments.Note": _note,
    "assignments.Decision": _decision,
    "assignments.NoteAnswer": _note_answer,
    "assignments.Question": _question,
    "assignments.QuestionAnswer": _question_answer,
    "assignments.Suggestion": _suggestion,
    "assignments.SuggestionExposure": _suggestion_exposure,
    "assignments.Correction": _correction,
    "assignments.ReviewHold": _review_hold,
    "dashboard.ProjectTally": _project_tally,
    "dashboard.Dismissal": _dismissal,
    "dashboard.CountedAnnotation": _counted_annotation,
    "rewards.RewardStatistics": _reward_statistics,
    "agreement.AgreementSchedule": _agreement_schedule,
    "agreement.AgreementReport": _agreement_report,
    "agreement.AgreementRule": _agreement_rule,
    "agreement.Source": _source,
    "agreement.SourceAnswer": _source_answer,
    "agreement.SourceReport": _source_report,
    "agreement.TraceAgreement": _trace_agreement,
    "gold.ExpectedAnnotation": _expected_annotation,
    "gold.GoldScore": _gold_score,
    "gold.GoldStanding": _gold_standing,
    "gold.PracticeAttempt": _practice_attempt,
    "gold.Admission": _admission,
    "gold.AddedAnnotator": _added_annotator,
    "adjudication.Disagreement": _disagreement,
    "adjudication.Adjudication": _adjudication,
    "adjudication.Side": _side,
    "exports.ExportSchedule": _export_schedule,
    "exports.Export": _export,
    "exports.ExportPolicy": _export_policy,
    "webhooks.Endpoint": _endpoint,
    "webhooks.Delivery": _delivery,
    "jobs.ScheduleRun": _schedule_run,
    "leaving.PersonalCopy": _personal_copy,
    "leaving.TraceRemoval": _trace_removal,
    "leaving.RetentionPolicy": _retention_policy,
}


def make_fixtures(tenants: Tenants) -> tuple[Fixtures, Fixtures]:
    """Acme's and Birch's rows, one of every tenant model each."""
    all_fixtures = (
        Fixtures(tenants.acme, "quartz-acme", tenants.alice),
        Fixtures(tenants.birch, "walnut-birch", tenants.charlie),
    )
    for fixtures in all_fixtures:
        with acting_in(fixtures.organisation, fixtures.person):
            for label, make in FACTORIES.items():
                fixtures.rows[label] = make(fixtures)
    return all_fixtures
