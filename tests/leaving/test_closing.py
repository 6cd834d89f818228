"""A contract ends: the organisation is frozen, its data can be taken, and then nothing of it is left anywhere."""

from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection, transaction
from django.test import Client
from pytest_django import Settings

from accounts.actions.organisations import NotForAdmins, add_service_account
from accounts.actions.tokens import make_token
from accounts.models import Membership, Organisation, Project, User
from exports.actions import request_export
from exports.models import ExportSchedule
from jobs.actions import request_job
from jobs.models import JobState
from jobs.runner import run
from leaving.closing import (
    NotFrozen,
    SomethingLeft,
    freeze_organisation,
    remove_due,
    remove_organisation,
    still_there,
    thaw_organisation,
)
from leaving.searching import files_with, rows_with
from tenancy.actor import Actor, acting_in, unscoped
from tenancy.catalogue import children_first, tenant_tables
from tenancy.errors import Frozen
from tests.isolation.fixtures import make_fixtures
from tests.isolation.rows.fixtures import Fixtures
from tests.rewards.judging import Judging
from tests.tenants import PASSWORD, Tenants


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Settings) -> Path:
    settings.MEDIA_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path)}},
        "exports": {"BACKEND": "exports.storage.DurableFileSystemStorage", "OPTIONS": {"location": str(tmp_path)}},
    }
    return tmp_path


@pytest.fixture
def both(tenants: Tenants) -> tuple[Fixtures, Fixtures]:
    """Acme's and Birch's rows of every tenant table, and files in every folder."""
    fixtures = make_fixtures(tenants)
    for each in fixtures:
        for name in ("imports/{0}/a", "exports/{0}/b/c", "personal/{0}/d/e"):
            default_storage.save(name.format(each.organisation.pk), ContentFile(each.mark.encode()))
    return fixtures


def marked(mark: str) -> list[str]:
    with unscoped("a test looks for marks"):
        return [str(place) for place in (*rows_with([mark]), *files_with([mark]))]


def frozen(tenants: Tenants, days: int = 14) -> Organisation:
    with acting_in(tenants.acme, tenants.alice):
        return freeze_organisation(organisation=tenants.acme, by_owner=True, days=days)


def test_every_table_has_a_row_that_the_search_sees(both: tuple[Fixtures, Fixtures], tenants: Tenants) -> None:
    with unscoped("a test looks for marks"):
        tables = {place.where.split(".")[0] for place in rows_with([str(tenants.acme.pk)])}
    assert set(tenant_tables()) <= tables
    assert len([place for place in marked("quartz-acme") if "/" in place]) == 3


def test_nothing_is_left_in_any_table_or_folder_and_the_neighbour_has_all(
    both: tuple[Fixtures, Fixtures], tenants: Tenants, folder: Path
) -> None:
    with acting_in(tenants.acme, tenants.alice):
        add_service_account(name="acme-machine")
    before = marked("walnut-birch")
    organisation = frozen(tenants)
    assert still_there(organisation.pk) != []
    removed = remove_organisation(organisation=organisation, at_most=3)
    assert removed is not None
    assert removed.files == 3
    for mark in ("Acme Research", "acme-machine", str(tenants.acme_project.pk), str(organisation.pk)):
        assert marked(mark) == [], mark
    # Accounts are people's own: that of the fixtures' member is named after the mark.
    assert {place.split(".")[0] for place in marked("quartz-acme")} == {"accounts_user"}
    assert marked("walnut-birch") == before
    assert list(folder.glob(f"*/{organisation.pk}*")) == []
    assert not Organisation.objects.filter(pk=organisation.pk).exists()
    assert not User.objects.filter(username__startswith="service-").exists()


def test_the_platforms_trail_says_by_whom_with_ids_alone(both: tuple[Fixtures, Fixtures], tenants: Tenants) -> None:
    remove_organisation(organisation=frozen(tenants))
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE potato_owner")
        cursor.execute("SELECT reason FROM accounts_platformevent ORDER BY at")
        reasons = [reason for (reason,) in cursor.fetchall()]
        cursor.execute("SET LOCAL ROLE potato_app")
    about = f"organisation {tenants.acme.pk}, frozen by {tenants.alice.pk}: removed"
    assert any(reason.startswith(about) for reason in reasons)
    assert not any("acme" in reason.lower() or "quartz" in reason for reason in reasons)


def test_an_interrupted_removal_goes_on_where_it_was(both: tuple[Fixtures, Fixtures], tenants: Tenants) -> None:
    organisation = frozen(tenants)
    turns = iter([True] * 7)
    assert remove_organisation(organisation=organisation, goes_on=lambda: next(turns, False), at_most=1) is None
    assert Organisation.objects.filter(pk=organisation.pk).exists()
    assert remove_organisation(organisation=organisation) is not None
    assert still_there(organisation.pk) == []


def test_what_is_left_is_named_and_the_organisation_stays(
    both: tuple[Fixtures, Fixtures], tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    organisation = frozen(tenants)
    monkeypatch.setattr("leaving.closing._remove_files", lambda organisation: 0)
    with pytest.raises(SomethingLeft, match=f"exports/{organisation.pk}/b/c"):
        remove_organisation(organisation=organisation)
    assert Organisation.objects.filter(pk=organisation.pk).exists()


def test_only_a_frozen_organisation_is_removed_and_only_when_its_days_are_over(tenants: Tenants) -> None:
    with pytest.raises(NotFrozen, match="Freeze it first"):
        remove_organisation(organisation=tenants.acme)
    organisation = frozen(tenants)
    actor = Actor(organisation.pk, (organisation.pk,))
    assert remove_due(actor) is False
    with unscoped("a test turns the clock"), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('app.removing', 'on', true)")
        cursor.execute("UPDATE accounts_organisation SET removal_at = now() WHERE id = %s", [organisation.pk])
    assert remove_due(actor) is True
    assert not Organisation.objects.filter(pk=organisation.pk).exists()


def test_admins_neither_freeze_nor_open_it(tenants: Tenants) -> None:
    with acting_in(tenants.acme, tenants.dora):
        with pytest.raises(NotForAdmins):
            freeze_organisation(organisation=tenants.acme, by_owner=False)
        with pytest.raises(NotForAdmins):
            thaw_organisation(organisation=tenants.acme, by_owner=False)


@pytest.fixture
def judging(tenants: Tenants, tmp_path: Path) -> Judging:
    made = Judging(tenants, tenants.acme_project, tmp_path)
    made.publish(target=2)
    for number in range(3):
        made.trace(f"run-{number}", 2)
    made.rate(tenants.bob, "correct", "incorrect")
    return made


def test_nothing_new_is_kept_and_who_tries_gets_a_sentence(judging: Judging, tenants: Tenants, client: Client) -> None:
    with acting_in(tenants.acme, tenants.alice):
        _, token = make_token(membership=Membership.objects.get(user=tenants.alice), name="t", by_owner=True)
    frozen(tenants)
    client.force_login(tenants.mallory)
    for address, sent in (
        ("/o/acme/projects/new/", {"name": "New", "slug": "new", "template": "code-review"}),
        ("/o/acme/p/parser/set-up/settings/", {"name": "Other", "slug": "parser"}),
    ):
        answer = client.post(address, sent)
        assert (answer.status_code, "is being closed" in answer.content.decode()) == (423, True), address
    client.force_login(tenants.bob)
    answer = client.post("/o/acme/p/parser/next/")
    assert answer.status_code == 423
    api = Client(headers={"authorization": f"Bearer {token}"})
    answer = api.post("/api/v1/projects/parser/next/", content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (423, "organisation_frozen")
    with acting_in(tenants.acme):
        assert not Project.objects.filter(slug="new").exists()


def test_the_database_itself_refuses_every_table_that_is_not_for_reading_and_exporting(
    both: tuple[Fixtures, Fixtures], tenants: Tenants
) -> None:
    frozen(tenants)
    written: set[str] = set()
    refusals: dict[str, str] = {}
    with acting_in(tenants.acme), connection.cursor() as cursor:
        for table in tenant_tables():
            try:
                with transaction.atomic():
                    cursor.execute(f"INSERT INTO {table} SELECT * FROM {table} WHERE false")  # noqa: S608
                written.add(table)
            except DatabaseError as refused:
                refusals[table] = getattr(refused.__cause__, "sqlstate", "")
    assert set(refusals.values()) == {Frozen.SQLSTATE}
    assert written == {
        "accounts_auditevent", "accounts_idempotencykey", "dashboard_countedannotation", "dashboard_projecttally",
        "exports_export", "exports_exportpolicy", "jobs_job", "jobs_outboxevent", "jobs_schedulerun",
        "leaving_personalcopy", "leaving_traceremoval", "rewards_rewardstatistics", "traces_fragment",
        "webhooks_delivery",
    }  # fmt: skip
    with acting_in(tenants.birch):
        Project.objects.create(slug="still", name="Birch goes on")


def test_it_can_be_read_and_exported_while_it_is_frozen(
    committed_tenants: Tenants, tmp_path: Path, client: Client
) -> None:
    tenants = committed_tenants
    judging = Judging(tenants, tenants.acme_project, tmp_path)
    judging.publish(target=2)
    judging.trace("run-1", 2)
    judging.rate(tenants.bob, "correct", "incorrect")
    frozen(tenants)
    client.force_login(tenants.alice)
    for address in ("", "p/parser/", "p/parser/traces/", "p/parser/people/", "p/parser/exports/", "people/", "admin/"):
        assert client.get(f"/o/acme/{address}").status_code == 200, address
    with acting_in(tenants.acme, tenants.alice):
        export = request_export(project=tenants.acme_project, format="prm", options={})
    for _ in range(5):
        run(job_id=export.job_id, actor=judging.actor)  # type: ignore[arg-type]  # request_export has set it
    with acting_in(tenants.acme):
        export.refresh_from_db()
        assert export.is_ready, export.state


def test_freezing_ends_other_work_and_pauses_schedules_and_opening_takes_that_back(
    judging: Judging, tenants: Tenants
) -> None:
    with acting_in(tenants.acme, tenants.alice):
        job = request_job(kind="import_traces", parameters={})
        ExportSchedule.objects.create(name="Weekly", project=judging.project, interval_minutes=60, format="prm")
    organisation = frozen(tenants)
    with acting_in(tenants.acme, tenants.alice):
        job.refresh_from_db()
        assert job.state == JobState.CANCELLED
        assert ExportSchedule.objects.get().is_paused
        thaw_organisation(organisation=organisation, by_owner=True)
        assert not ExportSchedule.objects.get().is_paused
        assert organisation.frozen_at is None
        Project.objects.create(slug="new", name="New")


def test_who_signs_in_afterwards_has_an_account_and_no_organisation(tenants: Tenants) -> None:
    remove_organisation(organisation=frozen(tenants))
    client = Client()
    assert client.login(username="alice", password=PASSWORD)
    assert client.get("/").status_code == 200
    assert client.get("/o/acme/").status_code == 404


@pytest.mark.django_db
def test_the_catalogue_gives_an_order_in_which_all_can_be_removed() -> None:
    order = children_first(tenant_tables())
    assert order.index("traces_tracestep") < order.index("traces_trace") < order.index("accounts_project")
    assert order.index("accounts_membership") < order.index("accounts_invitation")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "target", ["traces_trace", "traces_importedfile", "assignments_assignment", "assignments_submission"]
)
def test_what_hangs_on_rows_that_are_many_is_found_along_an_index(target: str) -> None:
    """When a row is removed PostgreSQL looks by each foreign key for rows that hang on it: without an index that is a
    walk through the whole table, for each of a million rows. One of the rows that have the key is enough."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT f.conrelid::regclass::text, f.conname FROM pg_constraint f WHERE f.contype = 'f'"
            " AND f.confrelid = %s::regclass AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = f.conrelid"
            " AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) ~ '^\\([a-z_]+ IS NOT NULL\\)$')"
            " AND f.conkey @> (i.indkey::int2[])[0:array_length(f.conkey, 1) - 1]"
            " AND f.conkey <@ (i.indkey::int2[])[0:array_length(f.conkey, 1) - 1])",
            [target],
        )
        assert cursor.fetchall() == []
