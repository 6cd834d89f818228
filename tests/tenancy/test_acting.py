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
from tests.worlds import World

LOUD = "no organisation is active"


@pytest.fixture(autouse=True)
def nobody_afterwards() -> Iterator[None]:
    """Doors enter for the rest of a transaction; the test's own is taken back, the context variable by this."""
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


def is_loud() -> bool:
    try:
        with transaction.atomic():
            Project.objects.count()
    except ProgrammingError as error:
        return LOUD in str(error)
    return False


ACME = ["Parser review of Acme Research"]
BIRCH = ["Parser review of Birch Labs"]


@pytest.mark.parametrize(
    "query",
    [
        lambda world: Project.objects.count(),
        lambda world: Project.objects.exists(),
        lambda world: Project.objects.exclude(slug="x").exists(),
        lambda world: Project._base_manager.first(),
        lambda world: Project.objects.update(name="ours"),
        lambda world: Project.objects.filter(slug="parser").delete(),
        lambda world: world.acme_project.refresh_from_db(),
        lambda world: world.acme_project.delete(),
        lambda world: world.acme_project.save(),
        lambda world: Project.objects.create(slug="stray", name="stray"),
        lambda world: Project.objects.bulk_create([Project(organisation=world.acme, slug="stray", name="stray")]),
        lambda world: list(Project.objects.raw("SELECT * FROM accounts_project")),
        lambda world: list(Project.objects.iterator()),
    ],
)
def test_without_an_organisation_the_database_is_loud(world: World, query: Callable[[World], object]) -> None:
    with pytest.raises(DatabaseError, match=r"no organisation is active|null value in column"), transaction.atomic():
        query(world)


def test_an_organisation_sees_its_own_projects(world: World) -> None:
    with acting_in(world.acme):
        assert projects() == ACME
    assert is_loud()


def test_an_organisation_can_be_given_by_its_id_in_two_ways(world: World) -> None:
    for given in (world.acme.pk, str(world.acme.pk)):
        with acting_in(given, str(world.alice.pk)):
            assert projects() == ACME
            assert current() == Actor(world.acme.pk, (world.acme.pk,), world.alice.pk)


def test_new_rows_belong_to_the_active_organisation(world: World) -> None:
    with acting_in(world.birch):
        assert active_organisation() == world.birch.pk
        assert Project.objects.create(slug="new", name="new").organisation == world.birch
    assert active_organisation() is None


def test_saving_and_deleting_a_row_of_another_organisation_fails(world: World) -> None:
    with acting_in(world.acme):
        world.birch_project.name = "ours"
        with pytest.raises(ProgrammingError, match="violates row-level security"), transaction.atomic():
            world.birch_project.save()
        with pytest.raises(DatabaseError, match="did not affect any rows"), transaction.atomic():
            world.birch_project.save(update_fields=["name"])
        assert Project.objects.filter(pk=world.birch_project.pk).delete()[0] == 0
        assert Project.objects.filter(pk=world.birch_project.pk).update(name="ours") == 0
    with acting_in(world.birch):
        assert projects() == BIRCH


# --- Blocks in blocks ---------------------------------------------------------------------------------------------


def test_blocks_nest_and_each_end_restores_what_was(world: World) -> None:
    with acting_in(world.acme, world.alice):
        outer = active_settings()
        with acting_in(world.birch, world.charlie):
            assert projects() == BIRCH
            with acting_in(world.acme):
                assert projects() == ACME
            assert projects() == BIRCH
        assert projects() == ACME
        assert active_settings() == outer
    assert active_settings() == ("", "", "")
    assert current() is NOBODY


def test_an_exception_in_an_inner_block_restores_the_outer_one(world: World) -> None:
    with acting_in(world.acme):
        with pytest.raises(ZeroDivisionError), acting_in(world.birch):
            raise ZeroDivisionError
        assert projects() == ACME
        with pytest.raises(DatabaseError), acting_in(world.birch), connection.cursor() as cursor:
            cursor.execute("SELECT no_such_column")
        assert projects() == ACME
        assert current().organisation == world.acme.pk


def test_a_block_that_fails_takes_its_rows_along(world: World) -> None:
    with acting_in(world.acme):
        with suppress(ZeroDivisionError), acting_in(world.acme):
            Project.objects.create(slug="half", name="half")
            raise ZeroDivisionError
        assert projects() == ACME


def test_a_block_can_ask_to_be_rolled_back(world: World) -> None:
    with acting_in(world.acme):
        with acting_in(world.birch):
            Project.objects.create(slug="half", name="half")
            transaction.set_rollback(True)
        assert projects() == ACME
        assert active_settings()[0] == str(world.acme.pk)
        with unscoped("to be rolled back"):
            transaction.set_rollback(True)
        assert current_role() == "potato_app"
        assert projects() == ACME
    with acting_in(world.birch):
        assert projects() == BIRCH


def test_savepoints_inside_a_block_change_nothing_about_who_acts(world: World) -> None:
    with acting_in(world.acme):
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            raise ZeroDivisionError
        with transaction.atomic():
            assert projects() == ACME
        assert projects() == ACME


def test_a_block_inside_an_atomic_block_does_not_leave_its_organisation_behind(world: World) -> None:
    with transaction.atomic():
        with acting_in(world.acme):
            pass
        assert is_loud()


@pytest.mark.django_db(transaction=True)
def test_a_commit_ends_the_organisation_and_a_rollback_too(committed_world: World) -> None:
    with acting_in(committed_world.acme):
        assert projects() == ACME
    assert is_loud()
    with pytest.raises(ZeroDivisionError), acting_in(committed_world.acme):
        raise ZeroDivisionError
    assert is_loud()
    assert connection.get_autocommit()


# --- Several organisations of a person ----------------------------------------------------------------------------


def test_acting_as_a_person_reads_many_and_writes_none(world: World) -> None:
    with acting_as(world.mallory):
        assert sorted(projects()) == ACME + BIRCH
        for write in (
            lambda: Project.objects.create(organisation=world.acme, slug="new", name="new"),
            lambda: Project.objects.update(name="ours"),
            lambda: Project.objects.all().delete(),
            lambda: Membership.objects.filter(user=world.mallory).delete(),
            lambda: Project.objects.select_for_update().first(),
            lambda: AuditEvent.objects.create(organisation=world.birch, verb="made.up"),
            lambda: Membership.objects.create(organisation=world.birch, user=world.bob, annotator_name="bob"),
        ):
            with pytest.raises(ProgrammingError, match=LOUD), transaction.atomic():
                write()
    assert is_loud()


def test_acting_as_a_person_ends_with_the_membership(world: World) -> None:
    with acting_in(world.acme):
        Membership.objects.filter(user=world.mallory).update(is_active=False)
    with acting_as(world.mallory):
        assert projects() == BIRCH


def test_acting_as_a_stranger_shows_nothing_of_the_organisation(world: World) -> None:
    with acting_as(world.charlie):
        assert projects() == BIRCH


# --- Through the wall ---------------------------------------------------------------------------------------------


def platform_reasons() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE potato_owner")
        cursor.execute("SELECT reason FROM accounts_platformevent ORDER BY at")
        found = [reason for (reason,) in cursor.fetchall()]
        cursor.execute("SET LOCAL ROLE potato_app")
    return found


def test_unscoped_sees_all_and_the_role_comes_back(world: World) -> None:
    with unscoped("count every project"):
        assert current_role() == "potato_platform"
        assert Project.objects.count() == 2
    assert current_role() == "potato_app"
    assert is_loud()


def test_unscoped_brings_the_role_back_after_an_exception(world: World) -> None:
    for failure in (ZeroDivisionError, DatabaseError):
        with pytest.raises(failure), unscoped("fail"):
            raise failure
        assert current_role() == "potato_app"
    with pytest.raises(ProgrammingError), unscoped("fail in the database"), connection.cursor() as cursor:
        cursor.execute("SELECT no_such_column")
    assert current_role() == "potato_app"


def test_unscoped_inside_an_organisation_returns_there(world: World) -> None:
    with acting_in(world.acme):
        with unscoped("count every project"):
            assert Project.objects.count() == 2
        assert projects() == ACME
        assert current_role() == "potato_app"


def test_unscoped_in_unscoped_returns_to_the_platform_first(world: World) -> None:
    with unscoped("outer"):
        with unscoped("inner"):
            pass
        assert current_role() == "potato_platform"
        assert Project.objects.count() == 2
    assert current_role() == "potato_app"


def test_unscoped_leaves_its_reason_where_the_site_cannot_read_it(world: World) -> None:
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
def test_unscoped_needs_a_reason(world: World, reason: str) -> None:
    with pytest.raises(ValueError, match="needs a reason"), unscoped(reason):
        pass
    assert current_role() == "potato_app"


# --- Doors --------------------------------------------------------------------------------------------------------


def test_a_member_enters_and_a_stranger_does_not(world: World) -> None:
    membership = enter_organisation(world.mallory, "acme")
    assert membership is not None
    assert (membership.role, membership.organisation_name) == ("manager", "Acme Research")
    assert projects() == ACME
    assert (current().user, current().name) == (world.mallory.pk, str(world.mallory))
    audit.record("tests.entered")
    written = AuditEvent.objects.get(verb="tests.entered")
    assert (written.person_id, written.person_name) == (world.mallory.pk, str(world.mallory))
    for user, slug in ((world.charlie, "acme"), (world.mallory, "nowhere"), (world.mallory, "ACME"), (world.bob, "")):
        assert enter_organisation(user, slug) is None
        assert current() == Actor(user=user.pk)
        assert is_loud()


def test_a_former_member_does_not_enter(world: World) -> None:
    with acting_in(world.acme):
        Membership.objects.filter(user=world.bob).update(is_active=False)
    assert enter_organisation(world.bob, "acme") is None
    assert is_loud()


@pytest.mark.django_db(transaction=True)
def test_entering_outside_a_transaction_is_refused() -> None:
    with pytest.raises(RuntimeError, match="outside a transaction"):
        enter(NOBODY)


# --- After commit, in threads, on closed connections, while streaming ---------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_callback_after_commit_acts_as_who_registered_it(committed_world: World) -> None:
    seen: list[tuple[list[str], Actor]] = []
    with acting_in(committed_world.acme, committed_world.alice):
        on_commit(lambda: seen.append((projects(), current())))
        with acting_in(committed_world.birch):
            on_commit(lambda: seen.append((projects(), current())))
        assert seen == []
    assert [found for found, _ in seen] == [ACME, BIRCH]
    assert seen[0][1].user == committed_world.alice.pk
    assert is_loud()


@pytest.mark.django_db(transaction=True)
def test_djangos_own_callback_after_commit_is_loud(committed_world: World) -> None:
    seen: list[bool] = []
    with acting_in(committed_world.acme):
        transaction.on_commit(lambda: seen.append(is_loud()))
    assert seen == [True]


@pytest.mark.django_db(transaction=True)
def test_a_thread_does_not_inherit_the_organisation(committed_world: World) -> None:
    seen: list[object] = []

    def look(organisation: Organisation | None) -> None:
        try:
            seen.append(is_loud())
            if organisation is not None:
                with acting_in(organisation):
                    seen.append(projects())
        finally:
            connection.close()

    with acting_in(committed_world.acme):
        for organisation in (None, committed_world.birch):
            thread = threading.Thread(target=look, args=(organisation,))
            thread.start()
            thread.join()
        assert projects() == ACME
    assert seen == [True, True, BIRCH]


@pytest.mark.django_db(transaction=True)
def test_a_connection_closed_inside_a_block_ends_in_an_error_and_the_next_block_is_clean(
    committed_world: World,
) -> None:
    def count_on_a_closed_connection() -> None:
        with acting_in(committed_world.acme):
            connection.close()
            Project.objects.count()

    with pytest.raises(OperationalError):
        count_on_a_closed_connection()
    assert current() is NOBODY
    with acting_in(committed_world.birch):
        assert projects() == BIRCH
    assert is_loud()


@pytest.mark.django_db(transaction=True)
def test_a_stream_opens_its_own_block(committed_world: World) -> None:
    actor = Actor(committed_world.acme.pk, (committed_world.acme.pk,))

    def good() -> Iterator[str]:
        with acting(actor):
            yield from projects()

    def forget() -> Iterator[str]:
        yield from projects()

    with acting(actor):
        well_made = StreamingHttpResponse(good())
        forgetful = StreamingHttpResponse(forget())
    assert b"".join(well_made.streaming_content) == ACME[0].encode()  # type: ignore[arg-type]  # not asynchronous
    assert is_loud()
    with pytest.raises(ProgrammingError, match=LOUD):
        b"".join(forgetful.streaming_content)  # type: ignore[arg-type]  # not asynchronous
