"""An admin asks for an export in the browser, and takes the file away when its job is done."""

import hashlib
from pathlib import Path

import pytest
from playwright.sync_api import expect
from pytest_django.fixtures import Settings

from exports.models import Export
from jobs.runner import run
from tenancy.actor import Actor, acting
from tests.exports.conftest import Reviews
from tests.stories.conftest import Reader
from tests.worlds import World

pytestmark = pytest.mark.browser


def test_an_admin_exports_verdicts(
    world_of_browsers: World, themed_reader: Reader, tmp_path: Path, settings: Settings
) -> None:
    world, reader, page = world_of_browsers, themed_reader, themed_reader.page
    settings.STORAGES = {
        **settings.STORAGES,
        "exports": {"BACKEND": "exports.storage.DurableFileSystemStorage", "OPTIONS": {"location": str(tmp_path)}},
    }
    reviews = Reviews(world, world.acme_project, tmp_path)
    reviews.publish()
    reviews.trace()
    reviews.submit(world.bob)

    reader.sign_in("dora")
    reader.open("/o/acme/")
    page.get_by_role("link", name="Exports").click()
    page.get_by_role("link", name="Add export").click()
    page.get_by_label("Project").select_option(label=world.acme_project.name)
    page.get_by_label("Format").select_option("code_review")
    page.get_by_label("Resolve").select_option("majority")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("There is no majority of single annotations")).to_be_visible()
    reader.assert_clean("with what was refused")
    page.get_by_label("Format").select_option("code_review_verdicts")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/change/", timeout=20_000)
    expect(page.get_by_text("code_review_verdicts is being exported.")).to_be_visible()
    expect(page.get_by_role("link", name="Queued, 0")).to_be_visible()
    reader.assert_clean("while it waits")

    actor = Actor(world.acme.pk, (world.acme.pk,), world.dora.pk)
    with acting(actor):
        export = Export.objects.get()
    assert export.job_id is not None
    run(job_id=export.job_id, actor=actor, redelivered=False)
    page.reload()
    expect(page.get_by_text("Ready", exact=True)).to_be_visible()
    reader.assert_clean("when it is ready")
    with page.expect_download() as downloading:
        page.get_by_role("link", name=".json").click()
    data = downloading.value.path().read_bytes()
    with acting(actor):
        export.refresh_from_db()
    assert hashlib.sha256(data).hexdigest() == export.sha256
    assert downloading.value.suggested_filename.endswith(".json")
    assert data == reviews.export("code_review_verdicts", "--resolve", "majority")
