"""What Celery makes of the settings, asked where it is used: the reasons were measured, and each is easily lost."""

import re
from pathlib import Path
from typing import Any

from django.conf import settings
from kombu import Connection

from jobs import notifier, tasks
from jobs.fair_share import Worker
from jobs.kinds import QUEUES, SECONDS_A_PART
from potato_site.celery import app
from potato_site.checks import tasks_end_before_redis_hands_them_on
from potato_site.management.commands import run
from tests.jobs.conftest import Notifications

ROOT = Path(__file__).parents[2]
TASKS = (
    tasks.run_waiting,
    tasks.notify_of_waiting,
    tasks.deliver_events,
    tasks.sweep,
    tasks.sweep_organisation,
    tasks.fire_schedules,
    tasks.fire_organisation_schedules,
)


def test_a_message_outlives_the_worker_that_holds_it() -> None:
    for task in TASKS:
        assert task.acks_late
        assert task.reject_on_worker_lost


def test_a_worker_holds_no_messages_that_it_does_not_work_on() -> None:
    assert app.conf.worker_prefetch_multiplier == 1


def test_a_task_ends_long_before_its_message_is_handed_on() -> None:
    for task in TASKS:
        assert (task.soft_time_limit, task.time_limit) == (270, 300)
    assert app.conf.broker_transport_options["visibility_timeout"] == 900
    assert settings.JOBS_TASK_BUDGET_SECONDS + settings.JOBS_LEASE_SECONDS < 270
    assert settings.JOBS_HEARTBEAT_SECONDS * 3 < settings.JOBS_LEASE_SECONDS
    assert tasks_end_before_redis_hands_them_on(None) == []


def test_a_lost_job_is_taken_over_within_75_seconds_and_a_slow_worker_is_not_taken_for_a_dead_one() -> None:
    """The worst is a worker that is frozen: its lease ends, and then somebody has to look (docs/jobs.md)."""
    assert settings.JOBS_LEASE_SECONDS + settings.JOBS_RECOVERY_SECONDS + SECONDS_A_PART <= 75
    assert settings.JOBS_LEASE_SECONDS >= 4 * settings.JOBS_HEARTBEAT_SECONDS
    assert settings.JOBS_HEARTBEAT_SECONDS * 2 > SECONDS_A_PART


def test_the_worker_as_shipped_leaves_a_process_for_others_and_one_for_small_work() -> None:
    for text in (
        (ROOT / "docker/entrypoint.sh").read_text(),
        (ROOT / "potato_site/management/commands/run.py").read_text(),
    ):
        assert re.search(r'--concurrency("?, "4"| "\$\{WORKER_CONCURRENCY:-4\}")', text)
    worker = Worker("shipped", 4, frozenset(QUEUES))
    assert (worker.most_heavy, worker.most_of_one_organisation) == (3, 2)
    assert settings.JOBS_RUNNING_PER_ORGANISATION == 2


def test_the_visibility_timeout_stands_wherever_celery_may_read_it(notifications: Notifications) -> None:
    assert app.conf.visibility_timeout == 900
    assert app.conf.result_backend_transport_options["visibility_timeout"] == 900
    with app.connection_for_read() as worker, app.connection_for_write() as web:
        assert channel_of(worker) == channel_of(web) == (900, 1)


def channel_of(connection: Connection) -> tuple[int, int]:
    channel: Any = connection.default_channel  # kombu's stubs know no Redis
    return channel.visibility_timeout, channel.unacked_restore_throttle


def test_messages_are_json_and_results_are_the_rows() -> None:
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_serializer == "json"
    assert app.conf.task_ignore_result
    assert app.conf.result_backend is None


def test_every_task_that_is_sent_by_its_name_exists() -> None:
    assert tasks.run_waiting.name == notifier.RUN_WAITING
    assert tasks.deliver_events.name == notifier.DELIVER_EVENTS


def test_memory_that_a_process_lost_comes_back() -> None:
    assert app.conf.worker_max_tasks_per_child == 200


def test_a_worker_waits_for_its_broker_for_ever() -> None:
    assert app.conf.broker_connection_retry_on_startup
    assert app.conf.broker_connection_max_retries is None


def test_every_queue_has_a_worker_in_development() -> None:
    assert tuple(run.QUEUES.split(",")) == QUEUES
    assert app.conf.task_default_queue in QUEUES


def test_the_sweep_is_on_the_schedule_and_does_not_pile_up() -> None:
    entries = {entry["task"]: entry for entry in app.conf.beat_schedule.values()}
    assert entries.keys() == {tasks.sweep.name, tasks.notify_of_waiting.name, tasks.fire_schedules.name}
    entry = entries[tasks.notify_of_waiting.name]
    assert entry["schedule"].run_every.total_seconds() == settings.JOBS_RECOVERY_SECONDS == 15
    assert entry["options"]["expires"] == settings.JOBS_RECOVERY_SECONDS
    entry = entries[tasks.sweep.name]
    assert entry["schedule"].run_every.total_seconds() == settings.JOBS_SWEEP_SECONDS == 60
    assert entry["options"]["expires"] == settings.JOBS_SWEEP_SECONDS
