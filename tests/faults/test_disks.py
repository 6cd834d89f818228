"""Test 18 of the reliability notes, for exports: a full disk ends an export in words, and leaves nothing of it.

(For uploads: tests/traces/test_uploads.py.)
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pytest_django import Settings

from exports.actions import request_export
from exports.models import Export
from jobs import outbox
from jobs.models import Job, JobState
from jobs.runner import run
from tenancy.actor import acting
from tests.exports.conftest import Reviews
from tests.exports.conftest import reviews as reviews  # a fixture
from tests.small_disks import enlarge, mounted


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", "32k") as disk:
        yield disk


@pytest.mark.parametrize("full", ["storage", "scratch"])
@pytest.mark.parametrize("format", ["code_review", "archive"])
def test_18_an_export_onto_a_full_disk_fails_in_words_and_leaves_nothing(
    reviews: Reviews, small_disk: Path, settings: Settings, tmp_path: Path, full: str, format: str
) -> None:
    for number in range(8):
        reviews.trace(f"t{number}")
        reviews.submit(reviews.tenants.bob)
    places = {name: (small_disk if name == full else tmp_path) / name for name in ("storage", "scratch")}
    settings.EXPORT_SCRATCH = places["scratch"]
    settings.EXPORT_RECORDS_A_PART = 5
    settings.STORAGES = {
        **settings.STORAGES,
        "exports": {
            "BACKEND": "exports.storage.DurableFileSystemStorage",
            "OPTIONS": {"location": str(places["storage"])},
        },
    }
    filling = small_disk / "filling"
    with suppress(OSError), filling.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    failed = _worked(reviews, format)
    assert failed.state == JobState.FAILED
    assert "disk for exports is full" in failed.error
    assert [path for path in small_disk.rglob("*") if path.is_file()] == [filling]
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.parent.name != "disk"] == []
    with acting(reviews.actor):
        assert Export.objects.get().parts == []
    settings.EXPORT_RECORDS_A_PART = 20_000
    filling.unlink()
    enlarge(small_disk, "8m")
    assert _worked(reviews, format).state == JobState.DONE, "with room again it can be asked for once more"


def _worked(reviews: Reviews, format: str) -> Job:
    with acting(reviews.actor):
        export = request_export(project=reviews.project, format=format, options={})
    assert export.job_id is not None
    for _ in range(20):
        run(job_id=export.job_id, actor=reviews.actor)
        with acting(reviews.actor):
            job = Job.objects.get(pk=export.job_id)
        if not job.is_open:
            break
    outbox.deliver(reviews.actor)
    return job
