"""Loads the demo organisation: projects, traces and three weeks of people's work. Repeating it changes nothing."""

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from accounts.actions.members import put_on_project
from accounts.actions.organisations import add_member, add_service_account, create_organisation
from accounts.actions.projects import create_project, publish_configuration
from accounts.models import Membership, Organisation, Project, User
from adjudication.actions import open_adjudication, settle
from adjudication.disagreements import next_annotated, update_traces
from adjudication.queue import take_next
from agreement.actions import request_report
from agreement.models import Compares
from agreement.scheduling import Definition as AgreementDefinition
from agreement.scheduling import make_schedule as make_agreement_schedule
from agreement.sources.actions import take_answers
from assignments.actions.asking import ask
from assignments.actions.deciding import accept, return_to_annotator
from assignments.actions.releasing import BatchFacts, release_batch
from assignments.actions.steering import let_imports_wait, pause_batch
from assignments.models import Assignment, Kind, Order, Priority, Submission
from assignments.pool.selecting import Selection
from assignments.review_notes import ReviewNote
from assignments.suggestions.taking import take_suggestions
from dashboard.actions import take_everything_in
from exports.actions import request_export
from exports.scheduling import Definition, make_schedule
from gold.actions import expect
from gold.models import Use
from gold.standing import take_in
from potato_site.demo import judgements
from potato_site.demo.clock import PastClock
from potato_site.demo.people import EXPERT, JUDGE, REWARD_MODEL
from potato_site.demo.people import PEOPLE as ANNOTATORS
from potato_site.demo.runs import FOLDER as DEMO
from potato_site.demo.runs import InventedRun, invented_runs, write_runs
from potato_site.demo.suggested import SUGGESTIONS
from potato_site.demo.work import Work, first_day
from rewards.statistics import request_statistics
from tenancy.actor import Actor, acting_in
from tenancy.roles import ProjectRole, Role
from traces.actions import import_now
from traces.attaching import attach_repository
from traces.models import CheckReport, Trace

PASSWORD = "potato-demo"  # noqa: S105  (a demo on this machine, which production refuses)
MANAGER = "manager"
RETURNED_TO = "annotator"
"""Who has a task that came back from its reviewer."""
PEOPLE = (
    ("owner", Role.OWNER, "owner_01"),
    ("admin", Role.ADMIN, "admin_01"),
    (MANAGER, Role.MEMBER, "manager_01"),
    ("lead", Role.MEMBER, "lead_01"),
    ("viewer", Role.VIEWER, "viewer_01"),
    *((person.username, Role.ANNOTATOR, person.name) for person in ANNOTATORS),
)
MANAGES: dict[str, tuple[str, ...]] = {
    MANAGER: ("agent-code-review", "web-agents"),
    "lead": ("process-rewards", "first-errors"),
}
"""The projects of the two managers: neither sees those of the other."""
SERVICE_ACCOUNTS: tuple[tuple[str, ProjectRole, tuple[str, ...]], ...] = (
    ("judge-large", ProjectRole.MANAGER, ("agent-code-review",)),
    ("ci-export", ProjectRole.VIEWER, ("agent-code-review", "process-rewards")),
)
"""As whom programs act: one brings an automated reviewer's answers, one exports."""
WITHOUT_LOGIN = frozenset(person.username for person in ANNOTATORS if not person.signs_in)
KNOWN, PRACTISED = 4, 2
"""So many of the invented runs have a known answer that annotators are scored by, and that newcomers practise on."""
INVENTED = "invented-runs.jsonl"
"""Runs that are made when the demo is loaded, and that its people have judged."""


class DemoProject(NamedTuple):
    """A project by its slug: its name, its configuration, and the files of its traces below the demo's folder.

    `judged` are those that the demo's people found there, `new` those that came in yesterday: nobody has had them.
    `exports` are formats that were asked for.
    """

    slug: str
    name: str
    configuration: str
    judged: tuple[str, ...]
    new: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    has_rewards: bool = False


# Whose new traces wait in the pool, for two batches.
CAMPAIGN = "agent-code-review"

# In the order in which a newcomer meets them.
PROJECTS = (
    DemoProject(
        "agent-code-review",
        "Coding Agent Code Review",
        "code-review.yaml",
        (INVENTED,),
        (
            "traces/coding-traces.jsonl",
            "traces/structured-turns.jsonl",
            "traces/claude-code-session.jsonl",
            "traces/close-response-bodies.patch",
            "secrets/pool-size.jsonl",
            "checks/ledgerlite-118-harbor.junit.xml",
            "checks/ledgerlite-118-marlin.junit.xml",
            "checks/ledgerlite-118-marlin.sarif",
        ),
        ("code_review", "code_review_comments"),
    ),
    DemoProject(
        "process-rewards",
        "Process Rewards, Per Step",
        "process-rewards.yaml",
        (INVENTED,),
        ("process-rewards/agent-runs.jsonl",),
        ("prm",),
        has_rewards=True,
    ),
    DemoProject(
        "first-errors",
        "Process Rewards, First Error",
        "first-errors.yaml",
        (INVENTED,),
        ("process-rewards/agent-runs.jsonl",),
        has_rewards=True,
    ),
    DemoProject(
        "web-agents", "Web Agents, Per Step", "web-agents.yaml", ("web-agent/lamp-shop.jsonl",), has_rewards=True
    ),
)


class Command(BaseCommand):
    help = "Load a demo organisation with people, published projects, traces and work, and print the logins."

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("The demo's passwords are known to everybody: it is not loaded in production.")
        now = timezone.now()
        with PastClock(first_day(now)).running() as clock:
            with transaction.atomic():
                organisation = self._organisation()
                projects = {one.slug: self._project(organisation, one) for one in PROJECTS}
                self._places(organisation, projects)
            is_new = self._is_new(organisation)
            for one in PROJECTS:
                self._import(organisation, projects[one.slug], one.judged)
            if is_new:
                self._know_answers(organisation, projects[CAMPAIGN])
                self._work(organisation, projects, clock, now)
            clock.moment = now - timedelta(hours=18)
            campaign = projects[CAMPAIGN]
            if is_new:
                with acting_in(organisation, User.objects.get(username=MANAGER)):
                    let_imports_wait(project=campaign, wait=True)
            for one in PROJECTS:
                self._import(organisation, projects[one.slug], one.new)
            self._attach(organisation, campaign)
            self._suggest(organisation, projects)
            if is_new:
                self._release(organisation, campaign)
        if is_new:
            self._review(organisation, projects)
            self._score(organisation, projects[CAMPAIGN])
            self._ask(organisation, projects)
            self._settle(organisation, projects[CAMPAIGN])
        for username, role, _ in PEOPLE:
            if username not in WITHOUT_LOGIN:
                managed = [one.name for one in PROJECTS if one.slug in MANAGES.get(username, ())]
                what = f"Manager of {' and '.join(managed)}" if managed else role.label
                self.stdout.write(f"  {username:<12}{PASSWORD:<14}{what}")

    def _organisation(self) -> Organisation:
        organisation = Organisation.objects.filter(slug="demo").first()
        if organisation is None:
            organisation = create_organisation(slug="demo", name="Demo Research")
        with acting_in(organisation):
            for username, role, annotator_name in PEOPLE:
                user = User.objects.filter(username=username).first()
                if user is None:
                    email = f"{username}@demo.invalid"
                    password = None if username in WITHOUT_LOGIN else PASSWORD
                    user = User.objects.create_user(username, email=email, name=annotator_name, password=password)
                if not Membership.objects.filter(user=user).exists():
                    add_member(user=user, role=role, annotator_name=annotator_name)
        return organisation

    def _places(self, organisation: Organisation, projects: dict[str, Project]) -> None:
        with acting_in(organisation, User.objects.get(username="admin")):
            for username, slugs in MANAGES.items():
                membership = Membership.objects.get(user__username=username)
                for slug in slugs:
                    put_on_project(project=projects[slug], membership=membership, role=ProjectRole.MANAGER)
            for name, role, slugs in SERVICE_ACCOUNTS:
                account = Membership.objects.filter(annotator_name=name).first() or add_service_account(name=name)
                for slug in slugs:
                    put_on_project(project=projects[slug], membership=account, role=role, may_export=True)

    def _project(self, organisation: Organisation, one: DemoProject) -> Project:
        with acting_in(organisation):
            project = Project.objects.filter(slug=one.slug).first()
            if project is None:
                project = create_project(slug=one.slug, name=one.name)
                source = (DEMO / one.configuration).read_text(encoding="utf-8")
                publish_configuration(project=project, source=source, where="command")
        return project

    def _is_new(self, organisation: Organisation) -> bool:
        """Whether nobody has worked here, and nothing is here that the demo's people would have no opinion of."""
        with acting_in(organisation):
            new = [(DEMO / name).name for one in PROJECTS for name in one.new]
            return not Assignment.objects.exists() and not Trace.objects.filter(file__name__in=new).exists()

    def _import(self, organisation: Organisation, project: Project, names: tuple[str, ...]) -> None:
        for name in names:
            with _upload(name) as path:
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                with acting_in(organisation):
                    same = {"project": project, "file__sha256": digest}
                    is_there = Trace.objects.filter(**same).exists() or CheckReport.objects.filter(**same).exists()
                if not is_there:
                    import_now(organisation=organisation, project=project, path=path)

    def _attach(self, organisation: Organisation, project: Project) -> None:
        """The repository of one of the new runs, whose files are read around its change."""
        path = DEMO / "repositories" / "rail-board.bundle"
        with acting_in(organisation, User.objects.get(username=MANAGER)):
            attach_repository(project=project, name=path.stem, file=ContentFile(path.read_bytes(), name=path.name))

    def _suggest(self, organisation: Organisation, projects: dict[str, Project]) -> None:
        """What a model suggests of the new runs, which annotators see with most of their tasks."""
        with acting_in(organisation, User.objects.get(username="admin")):
            for slug, records in SUGGESTIONS.items():
                take_suggestions(project=projects[slug], records=records)

    def _work(
        self, organisation: Organisation, projects: dict[str, Project], clock: PastClock, until: datetime
    ) -> None:
        with acting_in(organisation):
            users = User.objects.filter(username__in=[one.username for one in ANNOTATORS])
            people = {user.username: user for user in users}
        Work(organisation, projects, people).do(clock, until)

    def _review(self, organisation: Organisation, projects: dict[str, Project]) -> None:
        """The manager has looked at annotations of the last days: most were good, one goes back to its annotator."""
        with acting_in(organisation):
            reviewer = User.objects.get(username=MANAGER)
        with acting_in(organisation, reviewer):
            project = projects["agent-code-review"]
            rows = Submission.objects.for_project(project).counted().exclude(assignment__user=reviewer)
            recent = rows.select_related("project", "assignment__user", "assignment__project").order_by("-pk")
            # One of somebody who signs in, so that the demo shows what came back, with a comment to say something of.
            own = recent.filter(assignment__user__username=RETURNED_TO)
            returned = next(row for row in own if row.result["inline_comments"])
            comment = returned.result["inline_comments"][0]
            notes = [
                ReviewNote(
                    "Which input breaks this? Say it here, so that nobody has to search.",
                    comment["file"],
                    line=comment["line_start"],
                ),
                ReviewNote("Does the verdict still hold when you read the run's tests once more?"),
            ]
            return_to_annotator(submission=returned, user=reviewer, notes=notes)
            back = returned.assignment
            for submission in recent.exclude(pk=returned.pk)[:7]:
                accept(submission=submission, user=reviewer)
        with acting_in(organisation, back.user):
            ask(assignment=back, text="Does a test that fails already without the change count against the verdict?")

    def _know_answers(self, organisation: Organisation, project: Project) -> None:
        """An expert has judged some of the runs: they are mixed in among the others, and nobody is told which."""
        with acting_in(organisation, User.objects.get(username=MANAGER)):
            runs = invented_runs()
            flawed = [run for run in runs if run.truth.flaw is not None][: KNOWN // 2]
            for run in [*flawed, *[run for run in runs if run.truth.flaw is None][: KNOWN - len(flawed)]]:
                trace = Trace.objects.select_related("project").get(project=project, external_id=run.name)
                expect(trace=trace, annotations=judgements.review(EXPERT, run))

    def _score(self, organisation: Organisation, project: Project) -> None:
        """What the workers count of known answers, done at once; and two runs on which newcomers practise."""
        with acting_in(organisation, User.objects.get(username=MANAGER)):
            done = Submission.objects.for_project(project).filter(assignment__kind=Kind.GOLD).order_by("pk")
            for submission in done.select_related("project", "assignment__user", "assignment__trace"):
                take_in(submission)
            for run in invented_runs()[-PRACTISED:]:
                trace = Trace.objects.select_related("project").get(project=project, external_id=run.name)
                why = "Read each loop once with its first and its last value, and every call with what it may be given."
                expect(trace=trace, annotations=judgements.review(EXPERT, run), use=Use.PRACTICE, why=why)

    def _settle(self, organisation: Organisation, project: Project) -> None:
        """Somebody settled what annotators of two traces disagree about; more wait."""
        with acting_in(organisation, User.objects.get(username=MANAGER)):
            after = UUID(int=0)
            while traces := next_annotated(project, after):
                update_traces(project=project, traces=traces)
                after = traces[-1]
            for _ in range(2):
                row = take_next(project=project, user=User.objects.get(username=MANAGER))
                if row is None:
                    return
                taken = Assignment.objects.select_related("project", "trace", "user").get(pk=row.pk)
                opened = open_adjudication(taken)
                settlements = [
                    {
                        "scheme": item.scheme,
                        "key": item.key,
                        "how": "kept",
                        "taken_from": [opened.letter_of_first(item)],
                    }
                    for item in opened.compared.items
                    if item.is_open
                ]
                settle(
                    assignment=taken,
                    fencing_token=taken.fencing_token,
                    key="demo",
                    settlements=settlements,
                    payload=settlements,
                )

    def _release(self, organisation: Organisation, project: Project) -> None:
        """Two batches of the new traces, one of them paused; the rest waits in the pool."""
        with acting_in(organisation, User.objects.get(username=MANAGER)):
            due = timezone.localdate() + timedelta(days=12)
            second = BatchFacts(name="Second sample", priority=Priority.HIGH, deadline=due, order=Order.FEWEST)
            by_agent = Selection(take="share", share=50.0, stratum="model", seed=2026)
            release_batch(project=project, selection=by_agent, facts=second)
            later = release_batch(
                project=project, selection=Selection(take="number", number=1, seed=7), facts=BatchFacts(name="Later on")
            )
            pause_batch(batch=later)

    def _ask(self, organisation: Organisation, projects: dict[str, Project]) -> None:
        """What the workers make as soon as they run; the figures of the pages are counted at once."""
        take_everything_in(Actor(organisation.pk, (organisation.pk,)))
        with acting_in(organisation, User.objects.get(username=MANAGER)):
            for one in PROJECTS:
                for format in one.exports:
                    request_export(project=projects[one.slug], format=format, options={})
                request_report(project=projects[one.slug])
                if one.has_rewards:
                    request_statistics(project=projects[one.slug])
            for slug, source, judge in SOURCES:
                records = [{"id": run.name, "annotations": judge(run), "source": source} for run in invented_runs()]
                take_answers(project=projects[slug], records=records)
            for slug, definition in SCHEDULES:
                make_schedule(project=projects[slug], definition=definition)
            for slug, weekly in AGREEMENT_SCHEDULES:
                make_agreement_schedule(project=projects[slug], definition=weekly)


# Automated reviewers whose answers are imported: the project, the source as its records name it, and what it says.
SOURCES: tuple[tuple[str, dict[str, str], Callable[[InventedRun], dict[str, Any]]], ...] = (
    (
        "agent-code-review",
        {"name": JUDGE.name, "model": "judge-large", "version": "2026-10", "kind": "llm_judge"},
        partial(judgements.review, JUDGE),
    ),
    (
        "process-rewards",
        {"name": REWARD_MODEL.name, "model": "prm-small", "version": "3", "kind": "process_reward_model"},
        partial(judgements.step_labels, REWARD_MODEL),
    ),
)
SCHEDULES = (
    (
        "agent-code-review",
        Definition("Weekly data set", "hf_dataset", cron="0 6 * * 1", time_zone="Europe/Berlin", options={}),
    ),
    (
        "process-rewards",
        Definition("New every night", "prm", cron="0 2 * * *", time_zone="Europe/Berlin", only_new=True),
    ),
)
AGREEMENT_SCHEDULES = (
    (
        "agent-code-review",
        AgreementDefinition(
            "Before the weekly meeting", cron="0 8 * * 5", time_zone="Europe/Berlin", compares=Compares.ALL
        ),
    ),
)


@contextmanager
def _upload(name: str) -> Iterator[Path]:
    if name != INVENTED:
        yield DEMO / name
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / INVENTED
        write_runs(path)
        yield path
