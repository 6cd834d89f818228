"""What happens below reaches the queue by itself: new traces, new configurations, and the passing of time."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from assignments.actions import quotas
from assignments.models import Assignment, TraceQuota
from assignments.subscribers import job_finished
from jobs import outbox, sweeps
from jobs.models import Job, JobState, OutboxEvent
from tenancy.actor import current
from tests.assignments.conftest import Queue
from traces.importing.import_job import ImportTraces
from traces.models import ImportedFile


def test_the_traces_of_a_finished_import_are_in_the_queue(queue: Queue) -> None:
    job = Job.objects.create(kind=ImportTraces.name, state=JobState.DONE, finished_at=timezone.now())
    file = ImportedFile.objects.filter(project=queue.project).get()
    file.job = job
    file.save()
    outbox.publish_finished(job)
    outbox.deliver(current())
    assert TraceQuota.objects.filter(project=queue.project, target=1).count() == 3


def test_a_large_import_joins_the_queue_part_by_part_so_that_no_claim_waits_for_all(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "OPENED_AT_ONCE", 2)
    queue.add_traces(4, "more")
    job = Job.objects.create(kind=ImportTraces.name, state=JobState.DONE, finished_at=timezone.now())
    ImportedFile.objects.filter(project=queue.project).update(job=job)
    outbox.publish_finished(job)
    job_finished(OutboxEvent.objects.get(topic=outbox.JOB_FINISHED))
    assert TraceQuota.objects.count() == 4, "one part for each file of the job"
    outbox.deliver(current())
    assert TraceQuota.objects.count() == 7


def test_a_published_configuration_changes_how_many_annotators_are_wanted(queue: Queue) -> None:
    queue.claimed(queue.tenants.bob)
    queue.publish(target=4)
    outbox.deliver(current())
    assert set(TraceQuota.objects.values_list("target", "slots")) == {(4, 4)}


def test_the_tick_finds_the_organisations_where_leases_ended(queue: Queue) -> None:
    leases = sweeps.named("assignments.leases")
    held = queue.claimed(queue.tenants.bob)
    assert leases.organisations() == []
    # The story is one transaction, in which the database's clock stands still.
    Assignment.objects.update(lease_until=Now() - timedelta(seconds=1))
    assert leases.organisations() == [queue.tenants.acme.pk]
    leases.run(current())
    held.refresh_from_db()
    assert held.state == "expired"
    assert leases.organisations() == []
