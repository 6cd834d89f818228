"""load_demo: four projects with the work of six people in the three weeks before today, the same at every loading."""

import io
from collections import Counter
from datetime import timedelta

import pytest
import time_machine
from django.core.management import call_command
from django.db.models import Count, F
from django.utils import timezone

from accounts.models import AuditEvent, ConfigurationVersion, Membership, Organisation, Project, User
from adjudication.models import Adjudication, Disagreement
from agreement.models import AgreementReport, Source
from assignments.actions.claiming import claim_next
from assignments.models import Assignment, AssignmentState, Decision, Kind, Submission, TraceQuota
from assignments.models.questions import Question
from dashboard.models import CountedAnnotation
from exports.models import Export, ExportSchedule
from gold.models import GoldStanding
from jobs.models import OutboxEvent
from potato_site.demo.runs import invented_runs
from rewards.models import RewardStatistics
from tenancy.actor import acting_in
from traces.models import RepositoryCommit, Trace

pytestmark = pytest.mark.django_db(transaction=True)

MONDAY_MORNING = "2026-11-23T10:00:00Z"


def load() -> str:
    out = io.StringIO()
    call_command("load_demo", stdout=out)
    return out.getvalue()


def judgements() -> Counter[tuple[str, str, str, str]]:
    """Who said how much of which trace, and when; without what is another with each loading."""
    rows = Submission.objects.values_list(
        "project__slug", "assignment__user__username", "assignment__trace__external_id", "submitted_at"
    )
    return Counter((slug, person, trace, at.isoformat()) for slug, person, trace, at in rows)


def test_loading_it_again_changes_nothing() -> None:
    for _ in range(2):
        assert "annotator2" in load()
    with acting_in(Organisation.objects.get(slug="demo")):
        assert ConfigurationVersion.objects.count() == Project.objects.count() == 4
        assert set(Trace.objects.values_list("version", flat=True)) == {1}
        assert Membership.objects.count() == 13
        traces = {project.slug: Trace.objects.filter(project=project) for project in Project.objects.all()}
        assert traces["agent-code-review"].count() >= len(invented_runs()) + 12
        runs = traces["process-rewards"].order_by("pk").values_list("task_id", "agent_model")
        assert list(traces["first-errors"].order_by("pk").values_list("task_id", "agent_model")) == list(runs)
        # Several agents at each task, as pairs of preferences need them.
        assert len(runs) == len(set(runs)) == len(invented_runs()) + 7
        assert len({task for task, _ in runs}) == 12 + 3
        assert traces["web-agents"].count() == 2
        # One of the runs began from a repository that is there.
        (commit,) = RepositoryCommit.objects.filter(
            commit__in=Trace.objects.exclude(repo="").values_list("base_commit", flat=True)
        )
        assert commit.repository.name == "rail-board"
        made = judgements()
        load()
        assert judgements() == made
        assert Export.objects.count() == 3
        assert RewardStatistics.objects.count() == 3
        assert AgreementReport.objects.count() == 4
        assert {source.name: source.answers.count() for source in Source.objects.all()} == {
            "review-judge": len(invented_runs()),
            "step-reward": len(invented_runs()),
        }
        assert ExportSchedule.objects.count() == 2
        assert Adjudication.objects.in_force().count() == 2
        assert Disagreement.objects.filter(differing__gt=0).count() > 5


@time_machine.travel(MONDAY_MORNING, tick=True)
def test_six_people_worked_for_three_weeks_and_every_constraint_of_their_times_holds() -> None:
    load()
    now = timezone.now()
    with acting_in(Organisation.objects.get(slug="demo")):
        rows = Submission.objects.filter(assignment__kind__in=(Kind.NORMAL, Kind.GOLD))
        scored = GoldStanding.objects.values_list("number", flat=True)
        assert sum(scored) == rows.filter(assignment__kind=Kind.GOLD).count() > 0
        assert Question.objects.get().assignment.is_open
        timed = rows.annotate(took=F("submitted_at") - F("assignment__claimed_at"))
        assert rows.count() > 230
        assert all(timedelta(0) < took < timedelta(minutes=45) for took in timed.values_list("took", flat=True))
        days = {timezone.localdate(row.submitted_at) for row in rows}
        assert min(days) >= timezone.localdate(now) - timedelta(days=21)
        assert max(row.submitted_at for row in rows) < now
        assert not rows.exclude(active_seconds__gt=1, active_seconds__lt=45 * 60).exists()
        assert 14 <= len(days) <= 19, "working days, and a few Saturdays"
        assert all(day.weekday() != 6 for day in days)
        assert max(days) >= timezone.localdate(now) - timedelta(days=3), "also last week, up to its end"
        people = Counter(rows.values_list("assignment__user__username", flat=True))
        assert len(people) == 6
        assert min(people.values()) >= 20
        # The trail and the outbox have the same times, and ids are in their order.
        made = list(rows.order_by("pk").values_list("submitted_at", flat=True))
        assert made == sorted(made)
        settled = AuditEvent.objects.filter(verb="trace.adjudicated").values("target_id")
        trail = AuditEvent.objects.filter(verb="submission.made").exclude(target_id__in=settled)
        assert sorted(trail.values_list("at", flat=True)) == made
        assert not AuditEvent.objects.filter(verb__in=["submission.made", "traces.imported"], at__gt=now).exists()
        assert not OutboxEvent.objects.filter(created_at__gt=timezone.now()).exists()
        assert Assignment.objects.filter(state=AssignmentState.SKIPPED).exclude(skip_reason="").exists()
        assert Assignment.objects.open().count() == 1, "what a reviewer returned"
        assert not Assignment.objects.open().filled_in_turn().exists()
        outcomes = Counter(Decision.objects.values_list("outcome", flat=True))
        assert outcomes == {"accepted": 7, "returned": 1}
        (returned,) = Decision.objects.filter(outcome="returned")
        assert returned.submission.assignment.user.username == "annotator", "who signs in reads it"
        assert [note.get("line", 0) > 0 for note in returned.notes] == [True, False]


@time_machine.travel(MONDAY_MORNING, tick=True)
def test_enough_runs_are_judged_by_several_and_figures_are_counted_at_once() -> None:
    load()
    with acting_in(Organisation.objects.get(slug="demo")):
        for slug in ("agent-code-review", "process-rewards", "first-errors"):
            project = Project.objects.get(slug=slug)
            judged = Submission.objects.for_project(project).counted().values("assignment__trace")
            twice = judged.annotate(number=Count("pk")).filter(number__gte=2)
            assert twice.count() >= 25, slug
            counted = CountedAnnotation.objects.for_project(project).counted().count()
            normal = Submission.objects.for_project(project).counted().filter(assignment__kind=Kind.NORMAL)
            assert counted == normal.count()
            quotas = TraceQuota.objects.for_project(project)
            assert sum(quotas.values_list("done", flat=True)) == counted
            assert quotas.filter(target__gt=0).count() >= 36


@time_machine.travel(MONDAY_MORNING, tick=True)
def test_the_careful_see_the_planted_flaws_and_the_fast_one_does_not() -> None:
    load()
    planted = {run.name: run.truth for run in invented_runs()}
    with acting_in(Organisation.objects.get(slug="demo")):
        seen: dict[str, list[bool]] = {}
        near: dict[str, list[bool]] = {}
        took: dict[str, list[timedelta]] = {}
        people = Submission.objects.filter(assignment__kind=Kind.NORMAL)
        for row in people.select_related("assignment__trace", "assignment__user", "project"):
            name, person = row.assignment.trace.external_id, row.assignment.user.username
            truth = planted.get(name)
            if truth is None:
                continue
            assert row.assignment.claimed_at is not None
            took.setdefault(person, []).append(row.submitted_at - row.assignment.claimed_at)
            if row.project.slug == "agent-code-review" and truth.flaw:
                comments = row.result["inline_comments"]
                found = any(one["line_start"] == truth.flaw.line and one["category"] != "praise" for one in comments)
                seen.setdefault(person, []).append(found)
            if row.project.slug == "first-errors" and truth.first_error is not None:
                step = row.result["process_reward"]["first_error_step"]
                near.setdefault(person, []).append(step is not None and abs(step - truth.first_error) <= 1)

    def share(answers: list[bool]) -> float:
        return sum(answers) / len(answers)

    def median(times: list[timedelta]) -> timedelta:
        return sorted(times)[len(times) // 2]

    fast = "annotator5"
    for answers_of in (seen, near):
        careful = [answer for person, answers in answers_of.items() if person != fast for answer in answers]
        assert share(careful) > 0.75
        assert share(answers_of[fast]) < 0.5
    assert all(median(times) > 3 * median(took[fast]) for person, times in took.items() if person != fast)


def test_both_logins_have_work_of_their_own_and_tasks_to_do() -> None:
    load()
    organisation = Organisation.objects.get(slug="demo")
    for username in ("annotator", "annotator2"):
        user = User.objects.get(username=username)
        assert user.check_password("potato-demo")
        with acting_in(organisation, user):
            for project in Project.objects.all():
                assert isinstance(claim_next(project=project, user=user), Assignment), project
            assert Submission.objects.of(user).count() >= 20
    assert not any(User.objects.get(username=f"annotator{number}").has_usable_password() for number in (3, 4, 5, 6))


def test_a_demo_that_people_have_used_already_gets_no_invented_work() -> None:
    """One of an earlier release, with all its traces and nobody's annotations: somebody may have begun to read them."""
    load()
    organisation = Organisation.objects.get(slug="demo")
    with acting_in(organisation):
        submitted = Submission.objects.count()
        owner = User.objects.get(username="owner")
        claim_next(project=Project.objects.get(slug="web-agents"), user=owner)
    load()
    with acting_in(organisation):
        assert Submission.objects.count() == submitted
