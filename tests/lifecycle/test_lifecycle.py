"""Annotators, reviewers, adjudicators and managers at the same tasks at once, in threads that are killed now and then,
against a model of what may happen: never more live and done than slots, nothing lost, nobody waits for ever, and counts
and exports are the model's.

`POTATO_LIFECYCLE_STEPS=10000` plays longer, and `POTATO_LIFECYCLE_SEED` another game.
"""

import json
import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from accounts.actions.projects import publish_configuration
from adjudication.models import Adjudication
from assignments.actions.claiming import NothingToDo, claim_next
from assignments.actions.quotas import open_quotas
from assignments.actions.steering import resume_person
from assignments.actions.submitting import submit
from assignments.models import Assignment, Draft, Kind, Submission, TraceQuota
from assignments.progress import project_progress
from dashboard.actions import take_everything_in
from dashboard.models import CountedAnnotation
from gold.actions import expect
from tenancy.actor import Actor, acting, acting_in
from tests.assignments.conftest import annotators
from tests.lifecycle.driver import APPROVE, REFUSE, Driver, answer_notes, watch_the_sweep
from tests.lifecycle.model import Act, Model
from tests.tenants import Tenants
from tests.traces.stored import outcome, stored
from traces.models import Trace

STEPS = int(os.environ.get("POTATO_LIFECYCLE_STEPS", "900"))
SEED = int(os.environ.get("POTATO_LIFECYCLE_SEED", "1"))
STEPS_A_ROUND, THREADS, PEOPLE, WANTED = 450, 12, 9, 3
# So many that people find work throughout, and so few that they meet at the same ones.
STEPS_A_TRACE = 30
MOST_ROUNDS = STEPS // STEPS_A_ROUND + 8
EVERY_ACT = {
    *("claim", "resume", "save", "submit", "skip", "release", "withdraw", "expire", "accept", "give_back", "void"),
    *("undo", "correct", "settle", "unsettle", "pause", "go_on", "expect", "retire", "withhold", "give_out"),
}

YAML = """
task_name: Review
annotation_schemes:
  - {annotation_type: code_review_verdict, name: verdict, verdict: {require_summary: false, summary_min_length: 0}}
assignment: {order: random, annotations_per_trace: 3, max_open: 2}
adjudication: {when: always}
gold: {rate: 0.15, pause_below: 0.0, warn_below: 0.0}
"""


@pytest.mark.timeout(3600)
def test_whatever_people_do_at_once_is_what_a_model_allows(
    committed_tenants: Tenants, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    watch_the_sweep(monkeypatch)
    tenants, project = committed_tenants, committed_tenants.acme_project
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=project, source=YAML)
        people = annotators(PEOPLE)
    for number in range(max(20, STEPS // STEPS_A_TRACE)):
        stored(tenants.acme, project, outcome("a.py", "a\n", "b\n"), external_id=f"t{number:04}")
    driver = Driver(project, tenants.acme.pk, people, [tenants.alice, tenants.dora, tenants.mallory])
    with acting_in(tenants.acme, tenants.alice):
        while open_quotas(project=project):
            pass
        traces = list(Trace.objects.filter(project=project).order_by("pk").select_related("project"))
        model = Model([trace.pk for trace in traces], WANTED)
        for trace in traces[:6]:
            expect(trace=trace, annotations=REFUSE)
            model.replay(Act(0, "expect", {"trace": trace.pk}))
    dice = random.Random(SEED)  # noqa: S311 - a game
    rounds = 0
    # Who meets whom is the machine's choice: on some a rare act waits for another round.
    while rounds * STEPS_A_ROUND < STEPS or (not set(model.done) >= EVERY_ACT and rounds < MOST_ROUNDS):
        rounds += 1
        driver.left = STEPS_A_ROUND
        with ThreadPoolExecutor(THREADS) as threads:
            players = [threads.submit(driver.play, dice.randrange(2**32)) for _ in range(THREADS)]
            for player in players:
                player.result(timeout=300)
        for act in driver.since_last():
            model.replay(act)
        _compare(model, driver)
    print(sum(driver.counts.values()), "steps:", dict(sorted(driver.counts.items())))
    assert set(model.done) >= EVERY_ACT
    _work_off(model, driver)
    _compare(model, driver)
    _compare_counts_and_exports(model, driver, tmp_path)


def _compare(model: Model, driver: Driver) -> None:
    """What is stored is what the model has."""
    with acting(Actor(driver.organisation, (driver.organisation,))):
        quotas = {
            row.trace_id: (row.active, row.done, row.slots, not row.is_released)
            for row in TraceQuota.objects.for_project(driver.project)
        }
        wanted = {pk: (row.active, row.done, row.slots, row.is_out) for pk, row in model.traces.items()}
        assert quotas == wanted
        tasks = Assignment.objects.for_project(driver.project).filter(kind__in=(Kind.NORMAL, Kind.GOLD))
        assert {row.pk: (row.state, row.fencing_token) for row in tasks} == {
            pk: (task.state, task.token) for pk, task in model.tasks.items()
        }
        live = [(task.user, task.trace) for task in model.tasks.values() if not task.is_gold]
        assert len(live) == len(set(live))
        drafts = Draft.objects.filter(assignment__in=tasks)
        assert {row.assignment_id: (row.revision, row.content) for row in drafts} == {
            pk: (task.revision, task.draft) for pk, task in model.tasks.items() if task.revision
        }
        rows = Submission.objects.for_project(driver.project)
        acknowledged = {pk: row.result for pk, (_, row) in model.submissions.items()}
        made = rows.exclude(assignment__kind=Kind.ADJUDICATION)
        assert {row.pk: row.result for row in made} == acknowledged, "what was acknowledged is stored, and nothing else"
        counted = rows.counted().filter(assignment__kind=Kind.NORMAL)
        assert {row.pk: row.result for row in counted} == model.counted()
        settled = Adjudication.objects.for_project(driver.project).in_force().select_related("submission")
        assert {row.submission_id: row.submission.result for row in settled} == model.in_force()


def _work_off(model: Model, driver: Driver) -> None:
    """Everybody who may do something is given it: nothing is lost of the queue."""
    for person in driver.people:
        with acting_in(driver.organisation, person):
            resume_person(project=driver.project, user=person)
        model.replay(Act(0, "go_on", {"user": person.pk}))
    for person in driver.people:
        while True:
            with acting_in(driver.organisation, person):
                given = claim_next(project=driver.project, user=person)
                if isinstance(given, NothingToDo):
                    break
                facts: dict[str, Any] = {"pk": given.pk, "token": given.fencing_token}
                is_gold = given.kind == Kind.GOLD
                claimed = {**facts, "trace": given.trace_id, "user": person.pk, "is_gold": is_gold}
                answer_notes(given)
                made = submit(
                    assignment=given, fencing_token=given.fencing_token, key=str(given.pk), annotations=APPROVE
                )
            model.replay(Act(0, "claim", claimed))
            stored = {**facts, "key": str(given.pk), "submission": made.pk, "result": made.result}
            model.replay(Act(0, "submit", {**stored, "is_surplus": made.is_surplus}))
        assert model.may_have(person.pk) == [], "told that nothing is left, and there is"


def _compare_counts_and_exports(model: Model, driver: Driver, folder: Path) -> None:
    actor = Actor(driver.organisation, (driver.organisation,))
    with acting(actor):
        names = {row.pk: row.external_id for row in Trace.objects.filter(project=driver.project)}
        progress = project_progress([driver.project], driver.reviewers[0])[driver.project.pk]
        take_everything_in(actor)
        assert CountedAnnotation.objects.for_project(driver.project).counted().count() == len(model.counted())
    # What a voided annotation and the one in its place have more than is wanted is no progress.
    finished = [row for row in model.traces.values() if not row.is_out and row.done >= row.wanted]
    assert progress.done >= len(finished)
    for resolve, expected in (("all", {**model.counted(), **model.in_force()}), ("adjudicated", model.in_force())):
        path = folder / f"{resolve}.jsonl"
        options = () if resolve == "all" else ("--resolve", resolve)
        call_command("export", "--project", "acme/parser", "-f", "code_review", "-o", str(path), *options)
        exported = [json.loads(line) for line in path.read_text().splitlines()]
        of_trace = {pk: names[model.submissions[pk][0].trace] for pk in model.counted()}
        of_trace |= {pk: names[model.adjudications[pk][0]] for pk in model.in_force()}
        assert sorted((row["id"], _words(row["annotations"])) for row in exported) == sorted(
            (of_trace[pk], _words(result)) for pk, result in expected.items()
        )


def _words(result: Any) -> str:
    return json.dumps(result, sort_keys=True)
