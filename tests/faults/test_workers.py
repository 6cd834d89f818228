"""Workers die, freeze and are sent away in the tenth of twenty parts: 20 rows are written all the same."""

import os
import signal
from collections.abc import Callable

from django.utils import timezone

from jobs.actions import cancel_job
from jobs.models import Job, JobState
from tenancy.actor import acting_in
from tests.faults.conftest import PATIENCE_SECONDS, Machine, Numbers, eventually
from tests.jobs.numbered import NAME, PARTS
from tests.tenants import Tenants

Ask = Callable[..., Numbers]
ALL = list(range(1, PARTS + 1))


def test_the_process_that_runs_the_job_is_killed(machine: Machine, ask: Ask) -> None:
    machine.worker()
    machine.beat()
    numbers = ask()
    os.kill(numbers.reached(), signal.SIGKILL)
    seconds = eventually(lambda: (numbers.folder / "reached-2").exists(), "another process takes it")
    print(f"recovered after {seconds:.1f} s")
    numbers.let_go_on(2)
    numbers.becomes(JobState.DONE)
    assert numbers.rows() == ALL
    assert (numbers.row().fencing_token, numbers.row().attempts) == (2, 2)


def test_the_whole_worker_is_killed(machine: Machine, ask: Ask) -> None:
    first = machine.worker()
    machine.beat()
    numbers = ask()
    numbers.reached()
    first.kill_all()
    died = timezone.now()
    machine.worker()
    numbers.let_go_on(2)
    numbers.becomes(JobState.DONE)
    print(f"recovered after {(timezone.now() - died).total_seconds():.1f} s")
    assert numbers.rows() == ALL
    assert numbers.row().fencing_token == 2


def test_a_frozen_worker_wakes_up_after_another_has_gone_on(machine: Machine, ask: Ask) -> None:
    frozen = machine.worker()
    machine.beat()
    numbers = ask()
    child = numbers.reached()
    os.kill(child, signal.SIGSTOP)
    stopped = timezone.now()
    machine.worker()
    numbers.let_go_on(1, 2)
    numbers.becomes(JobState.DONE)
    print(f"recovered after {(timezone.now() - stopped).total_seconds():.1f} s")
    assert numbers.rows() == ALL
    finished = numbers.row()

    os.kill(child, signal.SIGCONT)
    eventually(lambda: frozen.has_said("jobs.fenced"), "the frozen worker learns that it is out")
    assert numbers.rows() == ALL
    assert (numbers.row().fencing_token, numbers.row().finished_at) == (2, finished.finished_at)


def test_a_worker_that_is_sent_away_finishes_its_part_and_leaves_the_rest(machine: Machine, ask: Ask) -> None:
    machine.settings["JOBS_TASK_BUDGET_SECONDS"] = "0"
    worker = machine.worker()
    numbers = ask()
    numbers.reached(fencing_token=10)
    worker.process.send_signal(signal.SIGTERM)
    eventually(lambda: worker.has_said("Warm shutdown"), "the worker has heard")
    numbers.let_go_on(10)
    assert worker.process.wait(PATIENCE_SECONDS) == 0
    row = numbers.row()
    assert (row.state, row.progress, row.failures) == (JobState.QUEUED, 10, 0)
    machine.worker()
    numbers.becomes(JobState.DONE)
    assert numbers.rows() == ALL
    assert numbers.row().attempts == PARTS


def test_a_part_that_takes_too_long_is_stopped_and_tried_again(machine: Machine, committed_tenants: Tenants) -> None:
    machine.settings["TESTS_SOFT_TIME_LIMIT"] = "2"
    machine.worker()
    machine.beat()
    # Whoever notifies may send the limit along, so the worker's own sweep has to.
    with acting_in(committed_tenants.acme):
        job = Job.objects.create(kind=NAME, parameters={"folder": str(machine.folder), "sleeps in the database": True})
    numbers = Numbers(committed_tenants, machine.folder, job)
    numbers.let_go_on(2)
    eventually(lambda: numbers.row().failures == 1, "the part is stopped")
    assert (numbers.row().state, numbers.row().error) == (
        JobState.QUEUED,
        "SoftTimeLimitExceeded: SoftTimeLimitExceeded()",
    )
    with acting_in(committed_tenants.acme):
        Job.objects.filter(pk=numbers.job.pk).update(run_at=timezone.now())
    numbers.becomes(JobState.DONE)
    assert numbers.rows() == ALL


def test_a_message_that_is_handed_out_twice_runs_nothing_twice(machine: Machine, ask: Ask) -> None:
    """The broker hands a message on whose worker is slower than the visibility timeout."""
    machine.settings["TESTS_VISIBILITY_TIMEOUT"] = "1"
    worker = machine.worker(processes=2)
    numbers = ask()
    numbers.reached()
    eventually(lambda: worker.log.read_text().count("jobs.tasks.run_waiting[") > 1, "the message comes again")
    eventually(lambda: worker.has_said(" succeeded in "), "it is answered")
    numbers.let_go_on(1, 2)
    numbers.becomes(JobState.DONE)
    assert numbers.rows() == ALL
    assert numbers.row().fencing_token == 1


def test_a_running_job_is_cancelled_between_two_parts(machine: Machine, ask: Ask, committed_tenants: Tenants) -> None:
    machine.worker()
    numbers = ask()
    numbers.reached()
    with acting_in(committed_tenants.acme, committed_tenants.dora):
        assert cancel_job(job=numbers.row()).is_cancelling
    numbers.let_go_on(1)
    numbers.becomes(JobState.CANCELLED)
    assert numbers.rows() == ALL[:10]


def test_beat_notifies_of_a_job_whose_notification_was_lost(machine: Machine, committed_tenants: Tenants) -> None:
    machine.worker()
    with acting_in(committed_tenants.acme):
        job = Job.objects.create(kind=NAME)
    numbers = Numbers(committed_tenants, machine.folder, job)
    began = timezone.now()
    machine.beat()
    numbers.becomes(JobState.DONE)
    print(f"recovered after {(timezone.now() - began).total_seconds():.1f} s")
    assert numbers.rows() == ALL
