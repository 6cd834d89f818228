"""The broker loses everything it knew: the rows still know it."""

from collections.abc import Callable

from jobs.models import Job, JobState
from tenancy.actor import acting_in
from tests.faults.conftest import Machine, Numbers, eventually
from tests.tenants import Tenants

WAITING = 50


def test_jobs_that_waited_in_a_broker_that_forgot_them_all_run(
    machine: Machine, ask: Callable[..., Numbers], committed_tenants: Tenants
) -> None:
    worker = machine.worker()
    machine.beat()
    busy = ask()
    busy.reached()
    for _ in range(WAITING):
        ask(gate=False, parts=1)
    machine.broker.lose_everything()
    machine.broker.start()
    busy.let_go_on(1, 2, 3)

    def still_open() -> int:
        with acting_in(committed_tenants.acme):
            return Job.objects.exclude(state=JobState.DONE).count()

    seconds = eventually(lambda: still_open() == 0, "all jobs are done")
    print(f"recovered after {seconds:.1f} s")
    assert worker.process.poll() is None, "the worker was never restarted"
    with acting_in(committed_tenants.acme):
        assert Job.objects.count() == WAITING + 1
    assert sorted(busy.rows()) == sorted([*range(1, 21), *[1] * WAITING])
