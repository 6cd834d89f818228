"""An admin asks for an export in the browser, and takes the file away when its job is done."""

import hashlib
import json
from pathlib import Path

import pytest
from playwright.sync_api import expect
from pytest_django.fixtures import Settings

from accounts.actions.projects import publish_configuration
from exports.models import Export
from jobs.runner import run
from tenancy.actor import Actor, acting, acting_in
from tests.exports.conftest import Reviews
from tests.stories.conftest import Reader
from tests.stories.test_the_project_page import assert_fits
from tests.tenants import Tenants

pytestmark = pytest.mark.browser


def test_an_admin_exports_verdicts(
    tenants_of_browsers: Tenants, themed_reader: Reader, tmp_path: Path, settings: Settings
) -> None:
    tenants, reader, page = tenants_of_browsers, themed_reader, themed_reader.page
    settings.STORAGES = {
        **settings.STORAGES,
        "exports": {"BACKEND": "exports.storage.DurableFileSystemStorage", "OPTIONS": {"location": str(tmp_path)}},
    }
    reviews = Reviews(tenants, tenants.acme_project, tmp_path)
    reviews.publish()
    reviews.trace()
    reviews.submit(tenants.bob)

    reader.sign_in("dora")
    reader.open("/o/acme/")
    page.get_by_role("link", name="Exports").click()
    page.get_by_role("link", name="Add export").click()
    page.get_by_label("Project").select_option(label=tenants.acme_project.name)
    page.get_by_label("Format").select_option("code_review")
    page.locator("#id_option_resolve").select_option("majority")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("There is no majority of single annotations")).to_be_visible()
    reader.assert_clean("with what was refused")
    page.get_by_label("Format").select_option("code_review_verdicts")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/change/", timeout=20_000)
    expect(page.get_by_text("code_review_verdicts is being exported.")).to_be_visible()
    expect(page.get_by_role("link", name="Queued, 0")).to_be_visible()
    reader.assert_clean("while it waits")

    actor = Actor(tenants.acme.pk, (tenants.acme.pk,), tenants.dora.pk)
    with acting(actor):
        export = Export.objects.get()
    assert export.job_id is not None
    run(job_id=export.job_id, actor=actor)
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


def test_a_manager_exports_pairs_with_a_score_gap(tenants_of_browsers: Tenants, themed_reader: Reader) -> None:
    tenants, reader, page = tenants_of_browsers, themed_reader, themed_reader.page
    schemes = [{"name": "process_reward", "annotation_type": "process_reward", "mode": "per_step"}]
    with acting_in(tenants.acme, tenants.alice):
        source = json.dumps({"task_name": "Rewards", "annotation_schemes": schemes})
        publish_configuration(project=tenants.acme_project, source=source, confirmed=True)

    reader.sign_in("mallory")
    reader.open(f"/o/acme/p/{tenants.acme_project.slug}/")
    page.get_by_role("region", name="Exports").get_by_role("link", name="New export").click()
    expect(page.locator('input[name="format"]:enabled')).to_have_count(12)
    page.locator('input[value="dpo"]').check()
    options = page.get_by_role("group", name="Options of dpo")
    for width in (1920, 1440, 768, 320):
        page.set_viewport_size({"width": width, "height": 1000})
        assert_fits(page)
        reader.assert_clean(f"with the options at {width} px")
    page.set_viewport_size({"width": 1440, "height": 1000})
    options.get_by_label("Min score gap").fill("0.75")
    options.get_by_label("Prompt style").select_option("messages")
    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("dpo is being exported.")
    with acting_in(tenants.acme, tenants.mallory):
        options = Export.objects.get().options
    assert (options["min_score_gap"], options["prompt_style"], options["pairs"]) == (0.75, "messages", "traces")


def test_the_form_says_how_much_an_export_would_be(
    tenants_of_browsers: Tenants, themed_reader: Reader, tmp_path: Path
) -> None:
    tenants, reader, page = tenants_of_browsers, themed_reader, themed_reader.page
    reviews = Reviews(tenants, tenants.acme_project, tmp_path)
    reviews.publish()
    reviews.trace()
    reviews.submit(tenants.bob)
    reviews.submit(tenants.dora)

    reader.sign_in("mallory")
    reader.open("/o/acme/p/parser/exports/new/?format=code_review")
    estimated = page.get_by_role("region", name="What you will get")
    expect(estimated).to_contain_text("2 annotations")
    page.locator('[name="code_review.annotators"]').evaluate(
        "(field) => { field.value = 'bob'; field.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    expect(estimated).to_contain_text("1 annotation, ")
    expect(estimated).to_contain_text("Left out: 1 filtered.")
    reader.assert_clean("with an estimate")
