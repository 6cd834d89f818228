"""Who acts, and what the database shows and takes."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from django.db import DatabaseError, OperationalError, ProgrammingError, connection, transaction
from django.http import StreamingHttpResponse

from accounts.models import AuditEvent, Membership, Organisation, PlatformEvent, Project
from tenancy import audit
from tenancy.actor import (
    NOBODY,
    Actor,
    acting,
    acting_as,
    acting_in,
    active_organisation,
    current,
    enter,
    enter_organisation,
    on_commit,
    restore,
    unscoped,
)
from tests.tenants import Tenants

NO_ORGANISATION = "no organisation is active"


@pytest.fixture(autouse=True)
def nobody_afterwards() -> Iterator[None]:
    """Entry points enter for the rest of a transaction; the test's own is taken back, the context variable by this."""
    yield
    restore(NOBODY, send=False)


def current_role() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        return str(cursor.fetchone()[0])


def active_settings() -> tuple[str, ...]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('app.organisation', true), current_setting('app.organisations', true),"
            " current_setting('app.user', true)"
        )
        return tuple(value or "" for value in cursor.fetchone())


def projects() -> list[str]:
    return [project.name for project in Project.objects.all()]


def fails_closed() -> bool:
    try:
        with transaction.atomic():
            Project.objects.count()
    except ProgrammingError as error:
        return NO_ORGANISATION in str(error)
    return False


ACME = ["Parser review of Acme Research"]
BIRCH = ["Parser review of Birch Labs"]


@pytest.mark.parametrize(
    "query",
    [
        lambda tenants: Project.objects.count(),
        lambda tenants: Project.objects.exists(),
        lambda tenants: Project.objects.exclude(slug="x").exists(),
        lambda tenants: Project._base_manager.first(),
        lambda tenants: Project.objects.update(name="ours"),
        lambda tenants: Project.objects.filter(slug="parser").delete(),
        lambda tenants: tenants.acme_project.refresh_from_db(),
        lambda tenants: tenants.acme_project.delete(),
        lambda tenants: tenants.acme_project.save(),
        lambda tenants: Project.objects.create(slug="stray", name="stray"),
        lambda tenants: Project.objects.bulk_create([Project(organisation=tenants.acme, slug="stray", name="stray")]),
        lambda tenants: list(Project.objects.raw("SELECT * FROM accounts_project")),
        lambda tenants: list(Project.objects.iterator()),
    ],
)
def test_without_an_organisation_each_query_fails_closed(tenants: Tenants, query: Callable[[Tenants], object]) -> None:
    with pytest.raises(DatabaseError, match=r"no organisation is active|null value in column"), transaction.atomic():
        query(tenants)


def test_an_organisation_sees_its_own_projects(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        assert projects() == ACME
    assert fails_closed()


def test_an_organisation_can_be_given_by_its_id_in_two_ways(tenants: Tenants) -> None:
    for given in (tenants.acme.pk, str(tenants.acme.pk)):
        with acting_in(given, str(tenants.alice.pk)):
            assert projects() == ACME
            assert current() == Actor(tenants.acme.pk, (tenants.acme.pk,), tenants.alice.pk)


def test_new_rows_belong_to_the_active_organisation(tenants: Tenants) -> None:
    with acting_in(tenants.birch):
        assert active_organisation() == tenants.birch.pk
        assert Project.objects.create(slug="new", name="new").organisation == tenants.birch
    assert active_organisation() is None


def test_saving_and_deleting_a_row_of_another_organisation_fails(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        tenants.birch_project.name = "ours"
        with pytest.raises(ProgrammingError, match="violates row-level security"), transaction.atomic():
            tenants.birch_project.save()
        with pytest.raises(DatabaseError, match="did not affect any rows"), transaction.atomic():
            tenants.birch_project.save(update_fields=["name"])
        assert Project.objects.filter(pk=tenants.birch_project.pk).delete()[0] == 0
        assert Project.objects.filter(pk=tenants.birch_project.pk).update(name="ours") == 0
    with acting_in(tenants.birch):
        assert projects() == BIRCH


# --- Blocks in blocks ---------------------------------------------------------------------------------------------


def test_blocks_nest_and_each_end_restores_what_was(tenants: Tenants) -> None:
    with acting_in(tenants.acme, tenants.alice):
        outer = active_settings()
        with acting_in(tenants.birch, tenants.charlie):
            assert projects() == BIRCH
            with acting_in(tenants.acme):
                assert projects() == ACME
            assert projects() == BIRCH
        assert projects() == ACME
        assert active_settings() == outer
    assert active_settings() == ("", "", "")
    assert current() is NOBODY


def test_an_exception_in_an_inner_block_restores_the_outer_one(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        with pytest.raises(ZeroDivisionError), acting_in(tenants.birch):
            raise ZeroDivisionError
        assert projects() == ACME
        with pytest.raises(DatabaseError), acting_in(tenants.birch), connection.cursor() as cursor:
            cursor.execute("SELECT no_such_column")
        assert projects() == ACME
        assert current().organisation == tenants.acme.pk


def test_a_block_that_fails_takes_its_rows_along(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        with suppress(ZeroDivisionError), acting_in(tenants.acme):
            Project.objects.create(slug="half", name="half")
            raise ZeroDivisionError
        assert projects() == ACME


def test_a_block_can_ask_to_be_rolled_back(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        with acting_in(tenants.birch):
            Project.objects.create(slug="half", name="half")
            transaction.set_rollback(True)
        assert projects() == ACME
        assert active_settings()[0] == str(tenants.acme.pk)
        with unscoped("to be rolled back"):
            transaction.set_rollback(True)
        assert current_role() == "potato_app"
        assert projects() == ACME
    with acting_in(tenants.birch):
        assert projects() == BIRCH


def test_savepoints_inside_a_block_change_nothing_about_who_acts(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            raise ZeroDivisionError
        with transaction.atomic():
            assert projects() == ACME
        assert projects() == ACME


def test_a_block_inside_an_atomic_block_does_not_leave_its_organisation_behind(tenants: Tenants) -> None:
    with transaction.atomic():
        with acting_in(tenants.acme):
            pass
        assert fails_closed()


@pytest.mark.django_db(transaction=True)
def test_a_commit_ends_the_organisation_and_a_rollback_too(committed_tenants: Tenants) -> None:
    with acting_in(committed_tenants.acme):
        assert projects() == ACME
    assert fails_closed()
    with pytest.raises(ZeroDivisionError), acting_in(committed_tenants.acme):
        raise ZeroDivisionError
    assert fails_closed()
    assert connection.get_autocommit()


# --- Several organisations of a person ----------------------------------------------------------------------------


def test_acting_as_a_person_reads_many_and_writes_none(tenants: Tenants) -> None:
    with acting_as(tenants.mallory):
        assert sorted(projects()) == ACME + BIRCH
        for write in (
            lambda: Project.objects.create(organisation=tenants.acme, slug="new", name="new"),
            lambda: Project.objects.update(name="ours"),
            lambda: Project.objects.all().delete(),
            lambda: Membership.objects.filter(user=tenants.mallory).delete(),
            lambda: Project.objects.select_for_update().first(),
            lambda: AuditEvent.objects.create(organisation=tenants.birch, verb="made.up"),
            lambda: Membership.objects.create(organisation=tenants.birch, user=tenants.bob, annotator_name="bob"),
        ):
            with pytest.raises(ProgrammingError, match=NO_ORGANISATION), transaction.atomic():
                write()
    assert fails_closed()


def test_acting_as_a_person_ends_with_the_membership(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        Membership.objects.filter(user=tenants.mallory).update(is_active=False)
    with acting_as(tenants.mallory):
        assert projects() == BIRCH


def test_acting_as_a_stranger_shows_nothing_of_the_organisation(tenants: Tenants) -> None:
    with acting_as(tenants.charlie):
        assert projects() == BIRCH


# --- Past row-level security ---------------------------------------------------------------------------------------


def platform_reasons() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE potato_owner")
        cursor.execute("SELECT reason FROM accounts_platformevent ORDER BY at")
        found = [reason for (reason,) in cursor.fetchall()]
        cursor.execute("SET LOCAL ROLE potato_app")
    return found


def test_unscoped_sees_all_and_the_role_comes_back(tenants: Tenants) -> None:
    with unscoped("count every project"):
        assert current_role() == "potato_platform"
        assert Project.objects.count() == 2
    assert current_role() == "potato_app"
    assert fails_closed()


def test_unscoped_brings_the_role_back_after_an_exception(tenants: Tenants) -> None:
    for failure in (ZeroDivisionError, DatabaseError):
        with pytest.raises(failure), unscoped("fail"):
            raise failure
        assert current_role() == "potato_app"
    with pytest.raises(ProgrammingError), unscoped("fail in the database"), connection.cursor() as cursor:
        cursor.execute("SELECT no_such_column")
    assert current_role() == "potato_app"


def test_unscoped_inside_an_organisation_returns_there(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        with unscoped("count every project"):
            assert Project.objects.count() == 2
        assert projects() == ACME
        assert current_role() == "potato_app"


def test_unscoped_in_unscoped_returns_to_the_platform_first(tenants: Tenants) -> None:
    with unscoped("outer"):
        with unscoped("inner"):
            pass
        assert current_role() == "potato_platform"
        assert Project.objects.count() == 2
    assert current_role() == "potato_app"


def test_unscoped_leaves_its_reason_where_the_site_cannot_read_it(tenants: Tenants) -> None:
    with unscoped("count every project"):
        pass
    with pytest.raises(ZeroDivisionError), unscoped("fail"):
        raise ZeroDivisionError
    assert platform_reasons() == ["count every project"]
    for read in (PlatformEvent.objects.count, PlatformEvent.objects.all().delete):
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            read()
    with pytest.raises(ProgrammingError, match="permission denied"), unscoped("try to read the trail"):
        PlatformEvent.objects.count()


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_unscoped_needs_a_reason(tenants: Tenants, reason: str) -> None:
    with pytest.raises(ValueError, match="needs a reason"), unscoped(reason):
        pass
    assert current_role() == "potato_app"


# --- Entry points -------------------------------------------------------------------------------------------------


def test_a_member_enters_and_a_stranger_does_not(tenants: Tenants) -> None:
    membership = enter_organisation(tenants.mallory, "acme")
    assert membership is not None
    assert (membership.role, membership.organisation_name) == ("manager", "Acme Research")
    assert projects() == ACME
    assert (current().user, current().name) == (tenants.mallory.pk, str(tenants.mallory))
    audit.record("tests.entered")
    written = AuditEvent.objects.get(verb="tests.entered")
    assert (written.person_id, written.person_name) == (tenants.mallory.pk, str(tenants.mallory))
    for user, slug in (
        (tenants.charlie, "acme"),
        (tenants.mallory, "nowhere"),
        (tenants.mallory, "ACME"),
        (tenants.bob, ""),
    ):
        assert enter_organisation(user, slug) is None
        assert current() == Actor(user=user.pk)
        assert fails_closed()


def test_a_former_member_does_not_enter(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        Membership.objects.filter(user=tenants.bob).update(is_active=False)
    assert enter_organisation(tenants.bob, "acme") is None
    assert fails_closed()


@pytest.mark.django_db(transaction=True)
def test_entering_outside_a_transaction_is_refused() -> None:
    with pytest.raises(RuntimeError, match="outside a transaction"):
        enter(NOBODY)


# --- After commit, in threads, on closed connections, while streaming ---------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_callback_after_commit_acts_as_who_registered_it(committed_tenants: Tenants) -> None:
    seen: list[tuple[list[str], Actor]] = []
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        on_commit(lambda: seen.append((projects(), current())))
        with acting_in(committed_tenants.birch):
            on_commit(lambda: seen.append((projects(), current())))
        assert seen == []
    assert [found for found, _ in seen] == [ACME, BIRCH]
    assert seen[0][1].user == committed_tenants.alice.pk
    assert fails_closed()


@pytest.mark.django_db(transaction=True)
def test_djangos_own_callback_after_commit_fails_closed(committed_tenants: Tenants) -> None:
    seen: list[bool] = []
    with acting_in(committed_tenants.acme):
        transaction.on_commit(lambda: seen.append(fails_closed()))
    assert seen == [True]


@pytest.mark.django_db(transaction=True)
def test_a_thread_does_not_inherit_the_organisation(committed_tenants: Tenants) -> None:
    seen: list[object] = []

    def look(organisation: Organisation | None) -> None:
        try:
            seen.append(fails_closed())
            if organisation is not None:
                with acting_in(organisation):
                    seen.append(projects())
        finally:
            connection.close()

    with acting_in(committed_tenants.acme):
        for organisation in (None, committed_tenants.birch):
            thread = threading.Thread(target=look, args=(organisation,))
            thread.start()
            thread.join()
        assert projects() == ACME
    assert seen == [True, True, BIRCH]


@pytest.mark.django_db(transaction=True)
def test_a_connection_closed_inside_a_block_ends_in_an_error_and_the_next_block_is_clean(
    committed_tenants: Tenants,
) -> None:
    def count_on_a_closed_connection() -> None:
        with acting_in(committed_tenants.acme):
            connection.close()
            Project.objects.count()

    with pytest.raises(OperationalError):
        count_on_a_closed_connection()
    assert current() is NOBODY
    with acting_in(committed_tenants.birch):
        assert projects() == BIRCH
    assert fails_closed()


@pytest.mark.django_db(transaction=True)
def test_a_stream_opens_its_own_block(committed_tenants: Tenants) -> None:
    actor = Actor(committed_tenants.acme.pk, (committed_tenants.acme.pk,))

    def good() -> Iterator[str]:
        with acting(actor):
            yield from projects()

    def forget() -> Iterator[str]:
        yield from projects()

    with acting(actor):
        well_made = StreamingHttpResponse(good())
        forgetful = StreamingHttpResponse(forget())
    assert b"".join(well_made.streaming_content) == ACME[0].encode()  # type: ignore[arg-type]  # not asynchronous
    assert fails_closed()
    with pytest.raises(ProgrammingError, match=NO_ORGANISATION):
        b"".join(forgetful.streaming_content)  # type: ignore[arg-type]  # not asynchronous
