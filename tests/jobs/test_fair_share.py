"""Whose turn it is: organisations take turns, none holds every process, and nobody waits for ever."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Organisation
from jobs import fair_share
from jobs.actions import cancel_job
from jobs.fair_share import Busy, Worker
from jobs.models import Job, JobState
from jobs.runner import work
from tenancy.actor import acting_in
from tests.faults.conftest import eventually
from tests.jobs.conftest import Notifications, Start
from tests.jobs.numbered import NAME, Numbered, fail_in, written
from tests.tenants import Tenants

SEVERAL = Worker("a worker", processes=4, queues=frozenset({"interactive", "imports", "exports", "statistics"}))


@pytest.fixture(autouse=True)
def back_to_no_worker() -> Iterator[None]:
    yield
    fair_share.become(Worker())


def ask(organisation: Organisation, times: int = 1, *, queue: str = "exports", **fields: object) -> list[Job]:
    """So many jobs of the organisation, one asked for after the other."""
    with acting_in(organisation):
        return [
            Job.objects.create(kind=NAME, queue=queue, **{"parameters": {"parts": 1}, **fields}) for _ in range(times)
        ]


def begin(queue: str = "exports", *, lost_message: str = "") -> tuple[Organisation, Job] | None:
    """Take the next turn, as a process does, and keep it."""
    with transaction.atomic():
        turn = fair_share.choose(queue, lost_message=lost_message)
        if turn is None or turn.actor.organisation is None:
            return None
        with acting_in(turn.actor.organisation):
            job = Job.objects.select_related("organisation").get(pk=turn.job)
            now = timezone.now()
            job.state, job.fencing_token, job.turn_at, job.heartbeat_at = (
                JobState.RUNNING,
                job.fencing_token + 1,
                now,
                now,
            )
            job.lease_until, job.worker = now + timedelta(seconds=60), fair_share.this_worker().name
            job.save()
    return job.organisation, job


def end(job: Job) -> None:
    with acting_in(job.organisation):
        Job.objects.filter(pk=job.pk).update(state=JobState.DONE, finished_at=timezone.now(), lease_until=None)


def order_of_turns(*organisations: Organisation) -> list[str]:
    """The organisations in the order in which their jobs had their last turns."""
    turns_of: list[tuple[datetime, str]] = []
    for organisation in organisations:
        with acting_in(organisation):
            times = Job.objects.exclude(turn_at=None).values_list("turn_at", flat=True)
            turns_of += [(at, organisation.slug) for at in times if at]
    return [slug for _, slug in sorted(turns_of)]


def test_organisations_take_turns_however_much_one_has_asked_for(
    committed_tenants: Tenants, numbered: Numbered
) -> None:
    acme, birch = committed_tenants.acme, committed_tenants.birch
    ask(acme, 6)
    ask(birch, 2)
    work(queue="exports")
    assert order_of_turns(acme, birch) == ["acme", "birch", "acme", "birch", "acme", "acme", "acme", "acme"]


def test_a_job_of_many_parts_gives_its_place_to_others_after_each(
    committed_tenants: Tenants, start: Start, notifications: Notifications
) -> None:
    acme, birch = committed_tenants.acme, committed_tenants.birch
    heard: list[tuple[str, int]] = []

    def during(job: Job, number: int) -> None:
        heard.append((job.organisation.slug, number))
        if heard == [("acme", 1), ("acme", 2), ("acme", 3)]:
            with acting_in(birch):
                Job.objects.create(kind=NAME, queue="exports", parameters={"parts": 2})

    start(Numbered(during))
    (long,) = ask(acme, parameters={"parts": 7})
    work(queue="exports")
    assert heard == [
        ("acme", 1), ("acme", 2), ("acme", 3),
        ("birch", 1), ("acme", 4), ("birch", 2),
        ("acme", 5), ("acme", 6), ("acme", 7),
    ]  # fmt: skip
    with acting_in(acme):
        long.refresh_from_db()
        assert (long.state, long.attempts, written()) == (JobState.DONE, 3, [1, 2, 3, 4, 5, 6, 7])


def test_an_organisation_runs_no_more_heavy_jobs_than_the_setting_says_in_all_queues_together(
    committed_tenants: Tenants, numbered: Numbered, settings: Settings
) -> None:
    fair_share.become(SEVERAL)
    settings.JOBS_RUNNING_PER_ORGANISATION = 2
    acme, birch = committed_tenants.acme, committed_tenants.birch
    ask(acme, 3, queue="exports")
    ask(acme, 3, queue="imports")
    first, second = begin("exports"), begin("imports")
    assert first
    assert second
    assert (first[0], second[0]) == (acme, acme)
    assert begin("exports") is None
    assert begin("imports") is None
    ask(birch, 1, queue="imports")
    taken = begin("exports")
    assert taken
    assert (taken[0], taken[1].queue) == (birch, "imports"), "a process that is free helps in every queue it serves"
    end(first[1])
    again = begin("exports")
    assert again
    assert again[0] == acme


def test_who_runs_the_fewest_comes_first_also_after_who_had_the_last_turn(
    committed_tenants: Tenants, numbered: Numbered, settings: Settings
) -> None:
    settings.JOBS_RUNNING_PER_ORGANISATION = 9
    fair_share.become(Worker("a worker", processes=9, queues=SEVERAL.queues))
    acme, birch = committed_tenants.acme, committed_tenants.birch
    ask(acme, 3)
    first, second = begin(), begin()
    ask(birch, 3)
    third = begin()
    assert first
    assert second
    assert third
    assert (first[0], second[0], third[0]) == (acme, acme, birch)
    taken = begin()
    assert taken
    assert taken[0] == birch, "its turn was the last one, but it runs one job and the other two"


def test_in_an_organisation_what_waits_longest_comes_first_whatever_queue_it_is_in(
    committed_tenants: Tenants, numbered: Numbered
) -> None:
    fair_share.become(SEVERAL)
    for order in (("exports", "imports", "statistics"), ("statistics", "imports", "exports")):
        asked = [ask(committed_tenants.acme, queue=queue)[0] for queue in order]
        for job in asked:
            taken = begin("imports")
            assert taken
            assert taken[1] == job
            end(job)


def test_a_process_stays_for_small_work_however_many_organisations_have_heavy_work(
    committed_tenants: Tenants, numbered: Numbered, settings: Settings
) -> None:
    settings.JOBS_RUNNING_PER_ORGANISATION = 9
    fair_share.become(SEVERAL)
    ask(committed_tenants.acme, 2)
    ask(committed_tenants.birch, 2)
    begun = [begin() for _ in range(4)]
    assert [one[0].slug if one else None for one in begun] == ["acme", "birch", "acme", None]
    ask(committed_tenants.birch, queue="interactive")
    assert begin("interactive")


def test_one_process_of_a_worker_is_left_for_those_who_come_later(
    committed_tenants: Tenants, numbered: Numbered, settings: Settings
) -> None:
    settings.JOBS_RUNNING_PER_ORGANISATION = 9
    acme, birch = committed_tenants.acme, committed_tenants.birch
    ask(acme, 9)
    fair_share.become(Worker("small", processes=3, queues=SEVERAL.queues))
    assert begin()
    assert begin() is None, "one of the three is for small work, one for those who come later"
    ask(birch, 2)
    taken = begin()
    assert taken
    assert taken[0] == birch
    assert begin() is None, "the third is for small work alone"
    fair_share.become(Worker("heavy", processes=3, queues=SEVERAL.queues - {"interactive"}))
    begun = [begin() for _ in range(4)]
    assert [one[0].slug if one else None for one in begun] == ["acme", "birch", "acme", None]


def test_a_worker_of_one_process_ends_its_task_after_each_heavy_part_so_that_small_work_comes_between(
    committed_tenants: Tenants, numbered: Numbered, notifications: Notifications
) -> None:
    fair_share.become(Worker("one", processes=1, queues=SEVERAL.queues))
    ask(committed_tenants.acme, parameters={"parts": 3})
    for parts in (1, 2):
        work(queue="exports")
        with acting_in(committed_tenants.acme):
            assert len(written()) == parts
        assert notifications.notified() == ["exports"] * parts
    ask(committed_tenants.acme, queue="interactive", parameters={"parts": 3})
    work(queue="interactive")
    with acting_in(committed_tenants.acme):
        assert len(written()) == 5, "small work is not ended"


def test_small_work_is_not_bounded_by_heavy_work(committed_tenants: Tenants, numbered: Numbered) -> None:
    fair_share.become(SEVERAL)
    ask(committed_tenants.acme, 2, queue="imports")
    ask(committed_tenants.acme, 3, queue="interactive")
    assert [begin("imports") is not None for _ in range(3)] == [True, True, False]
    assert [begin("interactive") is not None for _ in range(4)] == [True, True, True, False]


def test_a_worker_takes_only_from_queues_that_it_serves(committed_tenants: Tenants, numbered: Numbered) -> None:
    fair_share.become(Worker("of exports", processes=2, queues=frozenset({"exports"})))
    ask(committed_tenants.acme, queue="imports")
    assert begin("exports") is None


def test_a_job_keeps_its_place_where_those_who_wait_may_not_run_now(
    committed_tenants: Tenants, numbered: Numbered, settings: Settings
) -> None:
    settings.JOBS_RUNNING_PER_ORGANISATION = 1
    acme, birch = committed_tenants.acme, committed_tenants.birch
    now = timezone.now()
    until = now + timedelta(seconds=60)
    ask(acme, state=JobState.RUNNING, fencing_token=1, worker="another", heartbeat_at=now, lease_until=until)
    ask(acme, 2)
    (long,) = ask(birch, parameters={"parts": 4})
    ask(birch)
    work(queue="exports")
    with acting_in(birch):
        long.refresh_from_db()
    said = "acme has as many running as it may have, and a turn's time before its own is not over"
    assert (long.state, long.attempts) == (JobState.DONE, 1), said


def test_a_job_gives_its_place_to_one_whose_worker_is_gone(
    committed_tenants: Tenants, start: Start, settings: Settings
) -> None:
    acme, birch = committed_tenants.acme, committed_tenants.birch
    silent = timezone.now() - timedelta(seconds=settings.JOBS_HEARTBEAT_SECONDS * 2 + 1)
    heard: list[tuple[str, int]] = []

    def during(job: Job, number: int) -> None:
        heard.append((job.organisation.slug, number))
        if heard == [("birch", 1), ("birch", 2)]:
            until = timezone.now() + timedelta(seconds=60)
            ask(acme, state=JobState.RUNNING, fencing_token=1, worker="gone", heartbeat_at=silent, lease_until=until)

    start(Numbered(during))
    ask(birch, parameters={"parts": 4})
    work(queue="exports")
    assert heard == [("birch", 1), ("birch", 2), ("acme", 1), ("birch", 3), ("birch", 4)]


def test_in_an_organisation_a_short_job_does_not_wait_for_the_end_of_a_long_one(
    committed_tenants: Tenants, numbered: Numbered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The long one has had its time after the first part here."""
    monkeypatch.setattr(fair_share, "SECONDS_A_TURN", 0)
    long, short = finished_in(committed_tenants.acme, 10, 1)
    assert short < long


def test_in_an_organisation_what_is_soon_done_is_done_in_one_go(committed_tenants: Tenants, numbered: Numbered) -> None:
    """Else of many short jobs of a few parts none would be done before the last one had begun."""
    ask(committed_tenants.birch, parameters={"parts": 5})
    first, second = finished_in(committed_tenants.acme, 3, 3)
    with acting_in(committed_tenants.acme):
        assert Job.objects.filter(turn_at__lt=first).count() == 1, "also while another organisation's comes between"
    assert first < second


def finished_in(organisation: Organisation, *parts: int) -> list[datetime]:
    """When jobs of so many parts, asked for in this order, were done."""
    jobs = [ask(organisation, parameters={"parts": number})[0] for number in parts]
    work(queue="exports")
    with acting_in(organisation):
        found = [Job.objects.get(pk=job.pk).finished_at for job in jobs]
    return [at for at in found if at]


def test_what_waits_longest_has_its_turn_although_new_work_keeps_coming(
    committed_tenants: Tenants, start: Start, settings: Settings
) -> None:
    """A hundred organisations are not needed: one that never stops asking is enough to starve somebody."""
    acme, birch = committed_tenants.acme, committed_tenants.birch
    came: list[int] = []

    def ask_again(job: Job, number: int) -> None:
        if job.organisation_id == acme.pk and len(came) < 30:
            came.append(number)
            Job.objects.create(kind=NAME, queue="exports", parameters={"parts": 1})

    start(Numbered(ask_again))
    ask(acme)
    (long,) = ask(birch, parameters={"parts": 5})
    work(queue="exports")
    with acting_in(birch):
        long.refresh_from_db()
    with acting_in(acme):
        before = Job.objects.filter(finished_at__lt=long.finished_at).count()
    assert before <= 6, "one turn each, again and again"


def test_a_pause_after_an_error_is_given_to_others(committed_tenants: Tenants, start: Start) -> None:
    failed_once = fail_in(1, OSError("busy"), times=1)
    start(Numbered(failed_once))
    first, second = ask(committed_tenants.acme, 2)
    work(queue="exports")
    with acting_in(committed_tenants.acme):
        states = list(Job.objects.filter(pk__in=[first.pk, second.pk]).order_by("created_at"))
    assert [job.state for job in states] == [JobState.QUEUED, JobState.DONE]


def test_a_job_whose_worker_is_gone_comes_first_and_is_not_counted_twice(
    committed_tenants: Tenants, numbered: Numbered, settings: Settings
) -> None:
    fair_share.become(SEVERAL)
    settings.JOBS_RUNNING_PER_ORGANISATION = 1
    acme = committed_tenants.acme
    silent = timezone.now() - timedelta(seconds=settings.JOBS_HEARTBEAT_SECONDS * 2 + 1)
    until = timezone.now() + timedelta(seconds=60)
    ask(acme)
    (lost,) = ask(acme, state=JobState.RUNNING, fencing_token=3, heartbeat_at=silent, lease_until=until)
    taken = begin()
    assert taken
    assert taken[1] == lost
    assert begin() is None


def test_a_silent_worker_whose_part_goes_on_keeps_its_job(
    committed_tenants: Tenants, numbered: Numbered, settings: Settings
) -> None:
    """Its heartbeats do not come through, but its transaction lives: until the lease ends it is believed."""
    silent = timezone.now() - timedelta(seconds=settings.JOBS_HEARTBEAT_SECONDS * 2 + 1)
    (job,) = ask(
        committed_tenants.acme,
        state=JobState.RUNNING,
        fencing_token=3,
        message="its message",
        heartbeat_at=silent,
        lease_until=timezone.now() + timedelta(seconds=60),
    )
    held, done = threading.Event(), threading.Event()

    def part() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [str(job.pk)])
            held.set()
            assert done.wait(20)
        connection.close()

    thread = threading.Thread(target=part)
    thread.start()
    assert held.wait(20)
    assert begin() is None
    assert begin(lost_message="its message") is None
    with acting_in(committed_tenants.acme):
        Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    taken = begin()
    done.set()
    thread.join(20)
    assert taken
    assert taken[1] == job


@pytest.mark.parametrize("together", [6])
def test_processes_that_choose_at_once_never_pass_the_bound_and_never_take_the_same(
    committed_tenants: Tenants, numbered: Numbered, settings: Settings, together: int
) -> None:
    fair_share.become(Worker("a worker", processes=6, queues=SEVERAL.queues))
    settings.JOBS_RUNNING_PER_ORGANISATION = 2
    ask(committed_tenants.acme, 20)
    ask(committed_tenants.birch, 20)
    taken = at_once(together, begin)
    assert len({job.pk for _, job in taken}) == len(taken)
    assert Counter(organisation.slug for organisation, _ in taken) == {"acme": 2, "birch": 2}


AFTER_THE_LOOK = 4711
SLOW_LOOK = f"""
ALTER FUNCTION jobs_waiting_organisations(text[], text[], text[]) RENAME TO jobs_waiting_at_once;
CREATE FUNCTION jobs_waiting_organisations(queues text[], kinds text[], heavy text[])
RETURNS TABLE (organisation uuid, running bigint, last_turn timestamptz, waiting_since timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT * FROM jobs_waiting_at_once(queues, kinds, heavy);
  PERFORM pg_advisory_xact_lock_shared({AFTER_THE_LOOK});
END $$
"""  # noqa: S608  (a number of ours)
AS_BEFORE = """
DROP FUNCTION jobs_waiting_organisations(text[], text[], text[]);
ALTER FUNCTION jobs_waiting_at_once(text[], text[], text[]) RENAME TO jobs_waiting_organisations
"""


@pytest.fixture
def slow_look(committed_tenants: Tenants, settings: Settings) -> Iterator[None]:
    """Whoever has read how many jobs run waits there while the lock AFTER_THE_LOOK is another session's."""
    as_owner(SLOW_LOOK, settings.DATABASE_APP_ROLE)
    yield
    as_owner(AS_BEFORE, settings.DATABASE_APP_ROLE)


def as_owner(statements: str, then: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")
        cursor.execute(statements)
        cursor.execute(f"SET ROLE {connection.ops.quote_name(then)}")


def test_workers_never_pass_the_bound_of_an_organisation_by_a_number_that_one_of_them_read_before(
    committed_tenants: Tenants, numbered: Numbered, settings: Settings, slow_look: None
) -> None:
    """Workers of several names choose side by side: the lock is the organisation's, and the number is read under it."""
    settings.JOBS_RUNNING_PER_ORGANISATION = 1
    ask(committed_tenants.acme, 5)
    taken: list[tuple[Organisation, Job] | None] = []

    def second() -> None:
        taken.append(begin())
        connection.close()

    fair_share.become(Worker("the second", processes=6, queues=SEVERAL.queues))
    thread = threading.Thread(target=second)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [AFTER_THE_LOOK])
        thread.start()
        eventually(lambda: waits(cursor), "the second has read that none runs")
        fair_share.become(Worker("the first", processes=6, queues=SEVERAL.queues))
        first = begin()
        cursor.execute("SELECT pg_advisory_unlock(%s)", [AFTER_THE_LOOK])
    thread.join(20)
    assert first
    assert taken == [None]


def waits(cursor: Any) -> bool:
    cursor.execute("SELECT count(*) FROM pg_locks WHERE objid = %s AND NOT granted", [AFTER_THE_LOOK])
    return bool(cursor.fetchone()[0])


def test_a_process_that_never_comes_to_choose_is_notified_again(
    committed_tenants: Tenants, numbered: Numbered, notifications: Notifications
) -> None:
    fair_share.become(SEVERAL)
    ask(committed_tenants.acme)
    held, done = threading.Event(), threading.Event()

    def frozen() -> None:
        with transaction.atomic():
            assert fair_share.choose("exports")
            held.set()
            assert done.wait(20)
        connection.close()

    thread = threading.Thread(target=frozen)
    thread.start()
    assert held.wait(20)
    work(queue="exports")
    done.set()
    thread.join(20)
    assert notifications.notified() == ["exports"]
    assert notifications.times("jobs.tasks.run_waiting") != [None], "after a while"


def at_once(together: int, act: Callable[[], tuple[Organisation, Job] | None]) -> list[tuple[Organisation, Job]]:
    found: list[tuple[Organisation, Job]] = []
    begun = threading.Barrier(together)

    def process() -> None:
        begun.wait(20)
        try:
            while True:
                with suppress(Busy):
                    if taken := act():
                        found.append(taken)
                    return
        finally:
            connection.close()

    threads = [threading.Thread(target=process) for _ in range(together)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return found


def test_choosing_reads_as_little_among_ten_thousand_jobs_as_among_few(
    committed_tenants: Tenants, numbered: Numbered
) -> None:
    def rows_read() -> int:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)"
                " FROM pg_stat_xact_user_tables WHERE relname = 'jobs_job'"
            )
            return int(cursor.fetchone()[0])

    with acting_in(committed_tenants.acme):
        Job.objects.bulk_create([Job(kind=NAME, queue="statistics") for _ in range(10_000)], batch_size=2_000)
    ask(committed_tenants.birch)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE jobs_job")
    fair_share.become(SEVERAL)
    for organisation in (committed_tenants.acme, committed_tenants.birch):
        with transaction.atomic():
            before = rows_read()
            turn = fair_share.choose("exports")
            assert rows_read() - before < 100
            assert turn
            assert turn.actor.organisation == organisation.pk
            now = timezone.now()
            with acting_in(organisation):
                Job.objects.filter(pk=turn.job).update(
                    state=JobState.RUNNING, turn_at=now, heartbeat_at=now, lease_until=now + timedelta(seconds=60)
                )
            before = rows_read()
            assert fair_share.is_awaited("exports", organisation.pk, by_its_own=True)
            assert rows_read() - before < 100


def test_a_cancelled_job_has_no_turn(committed_tenants: Tenants, numbered: Numbered) -> None:
    (job,) = ask(committed_tenants.acme)
    with acting_in(committed_tenants.acme):
        cancel_job(job=job)
    assert begin() is None
