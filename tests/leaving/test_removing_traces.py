"""A secret leaked into a trace: the trace goes with all that hangs on it, and with every copy that the site has."""

import gzip
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuditEvent, ConfigurationVersion, Project
from agreement.models import AgreementReport, Source, SourceAnswer
from assignments.actions.claiming import claim_next
from assignments.models import Assignment, Draft, Submission
from dashboard.actions import take_in
from dashboard.models import ProjectTally
from exports.models import Export
from jobs.models import Job, JobState, OutboxEvent
from jobs.runner import run
from leaving import removing_traces
from leaving.models import TraceRemoval
from leaving.removing_traces import preview, request_removal
from leaving.scrubbing import replace_in
from leaving.searching import files_with, rows_with
from potato.runs.model import Screenshot, ToolCall
from tenancy import audit
from tenancy.actor import acting, acting_in, unscoped
from tests.rewards.judging import Judging
from tests.tenants import Tenants
from tests.traces.stored import outcome, step, stored
from traces.contents import may_remove_contents
from traces.models import Body, Fragment, Picture, Trace
from traces.models.bodies import pack
from webhooks.models import Delivery, Endpoint

SECRET, NAME = "skZx81QwertyLeaked", "leaky-run-0815"
PAGE = ToolCall("2", "Look", {}, "", pictures=(Screenshot("page.png", sha256="a" * 64),))
STEPS = (step(f"I read {SECRET}"), replace(step("Done"), calls=(PAGE,)))


@pytest.fixture
def judging(tenants: Tenants, tmp_path: Path, settings: Settings) -> Judging:
    settings.MEDIA_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path)}},
        "exports": {"BACKEND": "exports.storage.DurableFileSystemStorage", "OPTIONS": {"location": str(tmp_path)}},
    }
    made = Judging(tenants, tenants.acme_project, tmp_path)
    made.publish(target=2)
    return made


@pytest.fixture
def leaky(judging: Judging, tenants: Tenants) -> Trace:
    """It was judged, drafted, exported, reported, told to webhooks and answered by a machine."""
    trace = stored(
        tenants.acme, judging.project, outcome("deploy.env", None, f"KEY={SECRET}\n"), external_id=NAME,
        task=f"Deploy with {SECRET}", steps=STEPS,
    )  # fmt: skip
    with acting_in(tenants.acme, tenants.alice):
        Picture.objects.create(
            sha256="a" * 64, source_sha256="b" * 64, width=1, height=1, whole=SECRET.encode(), small=b"x"
        )
    submission = judging.rate(tenants.bob, "correct", "incorrect")
    with acting_in(tenants.acme, tenants.alice):
        take_in(project=judging.project, assignments={submission.assignment_id})
        Fragment.objects.create(
            sha256=trace.files.get().sha256, render_version=1, view="unified", part="0", rows=1,
            gzipped=gzip.compress(SECRET.encode()),
        )  # fmt: skip
        Draft.objects.update_or_create(
            assignment=submission.assignment, defaults={"packed": pack({"note": SECRET}), "revision": 2}
        )
        file = trace.file
        file.stored_as = default_storage.save(f"imports/{tenants.acme.pk}/upload", ContentFile(SECRET.encode()))
        file.save(update_fields=["stored_as"])
        source = Source.objects.create(project=judging.project, name="judge", model="m", version="1")
        SourceAnswer.objects.create(
            project=judging.project, source=source, trace=trace, version=ConfigurationVersion.objects.get(),
            packed=pack({"say": SECRET}), given_sha256="0" * 64,
        )  # fmt: skip
        AgreementReport.objects.create(project=judging.project, figures={"worst": [{"trace": NAME}]})
        endpoint = Endpoint.objects.create(url="https://a.example", events=[])
        body = json.dumps({"trace": {"id": str(trace.pk), "name": NAME}})
        Delivery.objects.create(endpoint=endpoint, event=endpoint.pk, type="x", body=body)
        OutboxEvent.objects.create(topic="x", payload={"trace": str(trace.pk)})
        audit.record("trace.looked_at", trace, trace=NAME)
        export = Export.objects.create(
            project=judging.project, format="archive", sha256="0" * 64, parts=[{"name": "x"}],
            ready_at=timezone.now(), expires_at=timezone.now() + timedelta(days=1),
        )  # fmt: skip
        folder = judging.folder / export.folder
        folder.mkdir(parents=True)
        (folder / "0").write_text(SECRET)
        audit.record("export.downloaded", export)
    judging.trace("other-run", 2)
    judging.rate(tenants.bob, "correct", "correct")
    return trace


def places(*marks: str) -> set[str]:
    with unscoped("a test looks for marks"):
        return {place.where for place in rows_with(marks)} | {place.where for place in files_with(marks)}


def worked_off(removal: TraceRemoval, judging: Judging) -> Job:
    for _ in range(20):
        run(job_id=removal.job_id, actor=judging.actor)  # type: ignore[arg-type]  # request_removal has set it
        with acting(judging.actor):
            job = Job.objects.get(pk=removal.job_id)  # type: ignore[misc]
        if not job.is_open:
            return job
    raise AssertionError(f"the job does not end: {job.error}")


def test_nothing_of_it_is_in_any_table_or_file_afterwards(judging: Judging, leaky: Trace, tenants: Tenants) -> None:
    before = places(SECRET, NAME)
    assert before >= {
        "traces_trace.task", "traces_body.packed", "traces_fragment.gzipped", "assignments_draft.packed",
        "agreement_sourceanswer.packed", "agreement_agreementreport.figures", "webhooks_delivery.body",
        "accounts_auditevent.target_label", "accounts_auditevent.detail", "traces_picture.whole",
    }  # fmt: skip
    assert len([place for place in before if place.startswith(("imports/", "exports/"))]) == 2
    with acting(judging.actor):
        going = preview(leaky, [judging.project])
        assert (going.annotations, going.answers, going.files, going.reports, going.downloads, going.told) == (
            1, 1, 1, 1, 1, 1,
        )  # fmt: skip
        removal = request_removal(trace=leaky, projects=[judging.project])
    job = worked_off(removal, judging)
    assert (job.state, job.error, job.cursor) == (JobState.DONE, "", None)
    assert places(SECRET, NAME) == set()
    with acting(judging.actor):
        removal.refresh_from_db()
        assert (removal.result["files"], removal.result["downloads"]) == (2, 1)
        assert [trace.external_id for trace in Trace.objects.all()] == ["other-run"]
        assert Submission.objects.count() == 1
        event = AuditEvent.objects.get(verb="traces.removed")
        assert event.detail["traces"] == [str(leaky.pk)]
        assert event.person_id == tenants.alice.pk


def test_whoever_removes_contents_has_changed_no_mention_in_that_part(
    judging: Judging, leaky: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Imports of the organisation wait for that part, and may have rows from which mentions are taken out."""
    parts: list[list[str]] = []
    lock, take_out = may_remove_contents, replace_in
    remove_part = removing_traces.remove_part

    def locked(organisation: UUID) -> None:
        parts[-1].append("lock")
        lock(organisation)

    def taken_out(*where: Any, **how: Any) -> int:
        changed = take_out(*where, **how)
        parts[-1].extend(["mention"] if changed else ["look"])
        return changed

    def part(*about: Any) -> int:
        parts.append([])
        return remove_part(*about)

    monkeypatch.setattr(removing_traces, "may_remove_contents", locked)
    monkeypatch.setattr(removing_traces, "replace_in", taken_out)
    monkeypatch.setattr(removing_traces, "remove_part", part)
    with acting(judging.actor):
        removal = request_removal(trace=leaky, projects=[judging.project])
    assert worked_off(removal, judging).state == JobState.DONE
    assert any("mention" in done for done in parts)
    assert any("lock" in done for done in parts)
    for done in parts:
        assert "lock" not in done or (done[-1] == "lock" and "mention" not in done), done
    assert places(SECRET, NAME) == set()


def test_what_is_counted_goes_down_by_it_and_other_traces_stay_whole(
    judging: Judging, leaky: Trace, tenants: Tenants
) -> None:
    with acting(judging.actor):
        take_in(project=judging.project, assignments=set(Assignment.objects.values_list("pk", flat=True)))
        assert ProjectTally.objects.get().annotations == 2
        removal = request_removal(trace=leaky, projects=[judging.project])
    worked_off(removal, judging)
    with acting(judging.actor):
        assert ProjectTally.objects.get().annotations == 1
        other = Trace.objects.get()
        hashes = [*other.steps.values_list("sha256", flat=True), *other.files.values_list("sha256", flat=True)]
        assert Body.objects.filter(sha256__in=hashes).count() == len(set(hashes))
        assert Body.objects.filter(sha256=other.content_sha256).exists()


def test_it_is_given_to_nobody_from_the_moment_it_is_asked_for(
    judging: Judging, leaky: Trace, tenants: Tenants
) -> None:
    with acting_in(tenants.acme, tenants.mallory):
        held = claim_next(project=judging.project, user=tenants.mallory)
        assert isinstance(held, Assignment)
        assert held.trace_id == leaky.pk
    with acting(judging.actor):
        request_removal(trace=leaky, projects=[judging.project])
    with acting_in(tenants.acme, tenants.mallory):
        assert not Assignment.objects.of(tenants.mallory).open().exists()
        following = claim_next(project=judging.project, user=tenants.mallory)
        assert isinstance(following, Assignment)
        assert following.trace_id != leaky.pk


def test_every_version_and_every_copy_in_ones_projects_goes_along(
    judging: Judging, leaky: Trace, tenants: Tenants
) -> None:
    with acting(judging.actor):
        other = Project.objects.create(slug="other", name="Other")
        foreign = Project.objects.create(slug="foreign", name="Foreign")
    parts: dict[str, Any] = {"task": f"Deploy with {SECRET}", "steps": STEPS}
    event = outcome("deploy.env", None, f"KEY={SECRET}\n")
    copy = stored(tenants.acme, other, event, external_id=NAME, **parts)
    stored(tenants.acme, foreign, event, external_id=NAME, **parts)
    newer = stored(tenants.acme, judging.project, external_id=NAME, task="Newer", steps=(step("New"),))
    with acting(judging.actor):
        going = preview(leaky, [judging.project, other])
        assert {trace.pk for trace in going.traces} == {leaky.pk, copy.pk, newer.pk}
        removal = request_removal(trace=leaky, projects=[judging.project, other])
    assert worked_off(removal, judging).state == JobState.DONE
    with acting(judging.actor):
        assert set(Trace.objects.filter(external_id=NAME).values_list("project__slug", flat=True)) == {"foreign"}
        kept = Trace.objects.get(external_id=NAME)
        assert Body.objects.filter(sha256=kept.content_sha256).exists()
