"""Statements that are built once give what Django's own give, for whoever asks, and refuse what they cannot prepare."""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuditEvent, Membership, Project, User
from jobs.models import OutboxEvent
from tenancy.actor import acting_in, active_organisation, current
from tenancy.prepared import insert, prepared, prepared_update
from tests.tenants import Tenants
from traces.models import Fragment


@prepared
def members_since(start: datetime, user: UUID) -> "QuerySet[Membership]":
    return Membership.objects.filter(created_at__gt=start, user=user).select_related("user", "organisation")


@prepared
def named(slugs: list[str]) -> "QuerySet[Project]":
    return Project.objects.filter(slug__any_of=slugs).order_by("slug").defer("draft")


@prepared
def facts(slug: str) -> "QuerySet[Project, Any]":
    return Project.objects.filter(slug=slug).values("name", "pk", shouted=F("slug"))


@prepared
def names(slug: str) -> "QuerySet[Project, str]":
    return Project.objects.filter(slug=slug).values_list("name", flat=True)


@prepared
def payloads(topic: str) -> "QuerySet[OutboxEvent, tuple[str, Any]]":
    return OutboxEvent.objects.filter(topic=topic).values_list("topic", "payload")


@prepared
def fragments(sha256: str) -> "QuerySet[Fragment]":
    return Fragment.objects.filter(sha256=sha256)


@prepared
def contents(sha256: str) -> "QuerySet[Fragment, tuple[Any, ...]]":
    rows = Fragment.objects.filter(sha256=sha256)
    return rows.values_list("gzipped", "organisation", "organisation__created_at", "rows")


@prepared
def locked(project: UUID) -> "QuerySet[Project]":
    return Project.objects.filter(pk=project).select_for_update(no_key=True)


@prepared_update
def tried_again(event: UUID, attempts: int, at: datetime, error: str) -> "tuple[QuerySet[OutboxEvent], dict[str, Any]]":
    rows = OutboxEvent.objects.filter(pk=event, delivered_at__isnull=True)
    return rows, {"attempts": F("attempts") + attempts, "retry_at": at, "error": error}


def test_rows_are_those_of_the_queryset_with_the_rows_beside_them(tenants: Tenants) -> None:
    long_ago = timezone.now() - timedelta(days=1)
    with acting_in(tenants.acme):
        (found,) = members_since.rows(long_ago, tenants.bob.pk)
        expected = Membership.objects.get(user=tenants.bob)
        with CaptureQueriesContext(connection) as asked:
            beside = found.user.username, found.organisation.slug
        assert beside == (tenants.bob.username, "acme")
        assert not asked.captured_queries
        assert found == expected
        assert vars(found).keys() - {"_state"} == vars(expected).keys() - {"_state"}
        assert members_since.rows(timezone.now(), tenants.bob.pk) == []
        assert members_since.first(long_ago, uuid4()) is None
        with pytest.raises(Membership.DoesNotExist):
            members_since.get(long_ago, uuid4())


def test_the_same_statement_sees_each_organisations_rows_alone(tenants: Tenants) -> None:
    slugs = ["parser", "no-such-project"]  # both organisations have a project of the first name
    with acting_in(tenants.acme):
        assert named.rows(slugs) == [tenants.acme_project]
    with acting_in(tenants.birch):
        assert named.rows(slugs) == [tenants.birch_project]
        assert named.rows([]) == []
        assert "draft" in named.rows(slugs)[0].get_deferred_fields()


def test_a_statement_that_postgresql_has_planned_still_sees_one_organisation(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.ensure_connection()
    monkeypatch.setattr(connection.connection, "prepare_threshold", 0)
    for _ in range(8):  # after the fifth time PostgreSQL may keep a plan for all values
        for organisation, project in ((tenants.acme, tenants.acme_project), (tenants.birch, tenants.birch_project)):
            with acting_in(organisation):
                assert named.rows(["parser"]) == [project]
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%accounts_project%'")
        assert cursor.fetchone() == (1,)


def test_values_come_in_every_form_that_a_queryset_gives(tenants: Tenants) -> None:
    slug, name = tenants.acme_project.slug, tenants.acme_project.name
    with acting_in(tenants.acme):
        assert facts.get(slug) == Project.objects.values("name", "pk", shouted=F("slug")).get(slug=slug)
        assert names.rows(slug) == [name]
        insert(OutboxEvent(topic="tests.told", payload={"deep": ["1", None]}))
        assert payloads.get("tests.told") == ("tests.told", {"deep": ["1", None]})


def test_contents_come_as_they_are_also_beside_times(tenants: Tenants) -> None:
    every_byte = bytes(range(256)) * 3
    with acting_in(tenants.acme):
        insert(Fragment(sha256="a" * 64, render_version=1, view="é", part="0", rows=2**31 - 1, gzipped=every_byte))
        expected = Fragment.objects.get()
        found = fragments.get("a" * 64)
        assert vars(found).keys() == vars(expected).keys()
        for name in vars(expected).keys() - {"_state"}:
            assert getattr(found, name) == getattr(expected, name), name
            assert type(getattr(found, name)) is type(getattr(expected, name)), name
        # Django reads times from PostgreSQL's text, and so the whole row comes as text.
        created = tenants.acme.created_at
        assert contents.get("a" * 64) == (every_byte, tenants.acme.pk, created, 2**31 - 1)


def test_an_update_changes_the_rows_that_it_names_and_counts_them(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        event, other = OutboxEvent(topic="tests.one"), OutboxEvent(topic="tests.other")
        assert insert(event)
        assert insert(other)
        later = timezone.now() + timedelta(hours=1)
        assert tried_again.run(event.pk, 3, later, "it's \\ %s") == 1
        assert tried_again.run(uuid4(), 3, later, "") == 0
        event.refresh_from_db()
        other.refresh_from_db()
        assert (event.attempts, event.retry_at, event.error) == (3, later, "it's \\ %s")
        assert (other.attempts, other.error) == (0, "")


def test_an_inserted_row_is_as_one_that_was_saved_and_a_second_one_is_refused_or_left_out(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        event = AuditEvent(verb="tests.made", detail={"snowman": "\u2603"}, target_id=uuid4())
        assert insert(event)
        assert AuditEvent.objects.get(pk=event.pk).detail == {"snowman": "\u2603"}
        again = AuditEvent(pk=event.pk, verb="tests.again")
        assert insert(again, ignore_conflicts=True) is False
        with pytest.raises(IntegrityError), transaction.atomic():
            insert(again)
        assert AuditEvent.objects.get(pk=event.pk).verb == "tests.made"


def test_rows_that_leave_other_columns_to_the_database_are_stored_as_they_are(tenants: Tenants) -> None:
    def fragment(part: str, **more: int) -> Fragment:
        return Fragment(sha256="0" * 64, render_version=1, view="unified", part=part, rows=1, gzipped=b"", **more)

    with acting_in(tenants.acme):
        for part, more in (("0", {}), ("1", {"nodes": 777}), ("2", {}), ("3", {"nodes": 0})):
            row = fragment(part, **more)
            assert insert(row)
            assert row.nodes == more.get("nodes", 0)
        assert list(Fragment.objects.order_by("part").values_list("nodes", flat=True)) == [0, 777, 0, 0]


def test_a_field_that_fills_itself_when_a_row_is_saved_does_so_here(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OutboxEvent._meta.get_field("retry_at"), "auto_now_add", True)
    with acting_in(tenants.acme):
        event = OutboxEvent(topic="tests.stamped")
        insert(event)
        assert OutboxEvent.objects.get(pk=event.pk).retry_at == event.retry_at
        assert event.retry_at is not None


def test_a_row_is_locked_inside_a_transaction_alone(committed_tenants: Tenants) -> None:
    with acting_in(committed_tenants.acme):
        assert locked.get(committed_tenants.acme_project.pk) == committed_tenants.acme_project
    with pytest.raises(TransactionManagementError):
        locked.rows(committed_tenants.acme_project.pk)


def test_a_parameter_that_does_not_stand_in_the_sql_as_it_is_is_refused_at_the_first_use(tenants: Tenants) -> None:
    @prepared
    def hidden(name: str) -> "QuerySet[User]":
        return User.objects.filter(username=name.upper())

    @prepared
    def unused(user: UUID, name: str) -> "QuerySet[User]":
        return User.objects.filter(pk=user)

    with pytest.raises(TypeError, match="does not use name as it is"):
        hidden.rows("alice")
    with pytest.raises(TypeError, match="does not use name as it is"):
        unused.rows(uuid4(), "alice")


FROZEN = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        (lambda: Q(created_at__lt=timezone.now()), "has datetime.datetime"),
        (lambda: Q(created_at__lt=FROZEN), "has datetime.datetime"),
        (lambda: Q(created_at__date=timezone.now().date()), "has datetime.date"),
        (lambda: Q(created_at__time=time(12)), "has datetime.time"),
        (lambda: Q(organisation=active_organisation()), "has UUID"),
        (lambda: Q(pk__in=[uuid4(), uuid4()]), "has UUID"),
        (lambda: Q(draft={"by": str(active_organisation())}), "reads the clock, chance, or who acts"),
        (lambda: Q(name=current().name), "reads the clock, chance, or who acts"),
        (lambda: Q(name=str(timezone.now())), "reads the clock, chance, or who acts"),
        (lambda: Q(name=User.objects.get(username="alice").name), "asks the database while it is built"),
        (lambda: Q(pk__in=list(Project.objects.values_list("pk", flat=True))), "asks the database while it is built"),
    ],
)
def test_what_would_stay_in_the_statement_of_every_organisation_is_refused(
    tenants: Tenants, condition: Callable[[], Q], why: str
) -> None:
    @prepared
    def frozen(slug: str) -> "QuerySet[Project]":
        return Project.objects.filter(condition(), slug=slug)

    @prepared_update
    def written(slug: str) -> "tuple[QuerySet[Project], dict[str, Any]]":
        return Project.objects.filter(condition(), slug=slug), {"name": "Changed"}

    with acting_in(tenants.acme):
        with pytest.raises(TypeError, match=why):
            frozen.rows("parser")
        with pytest.raises(TypeError, match=why):
            written.run("parser")
        assert Project.objects.get().name == "Parser review of Acme Research"
        assert active_organisation() == tenants.acme.pk


def test_a_new_value_that_reads_the_clock_is_refused(tenants: Tenants) -> None:
    @prepared_update
    def ended(event: UUID) -> "tuple[QuerySet[OutboxEvent], dict[str, Any]]":
        return OutboxEvent.objects.filter(pk=event), {"delivered_at": timezone.now()}

    with acting_in(tenants.acme), pytest.raises(TypeError, match=r"ended has datetime\.datetime"):
        ended.run(uuid4())


def test_the_clock_of_the_database_and_constants_of_the_code_stay_allowed(tenants: Tenants) -> None:
    @prepared
    def settled(state: str) -> "QuerySet[OutboxEvent, str]":
        recent = OutboxEvent.objects.filter(created_at__lte=Now(), created_at__gt=Now() - timedelta(days=1))
        known = recent.filter(topic=state, attempts__in=[0, 1], error="", payload={"by": [1, "alice"]})
        return known.values_list("topic", flat=True)

    with acting_in(tenants.acme):
        insert(OutboxEvent(topic="tests.now", payload={"by": [1, "alice"]}))
        insert(OutboxEvent(topic="tests.now", payload={"by": [1, "bob"]}))
        assert settled.rows("tests.now") == ["tests.now"]
