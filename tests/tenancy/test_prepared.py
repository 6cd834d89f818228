"""Statements that are built once give what Django's own give, for whoever asks, and refuse what they cannot prepare."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F, QuerySet
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuditEvent, Membership, Project, User
from jobs.models import OutboxEvent
from tenancy.actor import acting_in
from tenancy.prepared import insert, prepared, prepared_update
from tests.worlds import World


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
def locked(project: UUID) -> "QuerySet[Project]":
    return Project.objects.filter(pk=project).select_for_update(no_key=True)


@prepared_update
def tried_again(event: UUID, attempts: int, at: datetime, error: str) -> "tuple[QuerySet[OutboxEvent], dict[str, Any]]":
    rows = OutboxEvent.objects.filter(pk=event, delivered_at__isnull=True)
    return rows, {"attempts": F("attempts") + attempts, "retry_at": at, "error": error}


def test_rows_are_those_of_the_queryset_with_the_rows_beside_them(world: World) -> None:
    long_ago = timezone.now() - timedelta(days=1)
    with acting_in(world.acme):
        (found,) = members_since.rows(long_ago, world.bob.pk)
        expected = Membership.objects.get(user=world.bob)
        with CaptureQueriesContext(connection) as asked:
            beside = found.user.username, found.organisation.slug
        assert beside == (world.bob.username, "acme")
        assert not asked.captured_queries
        assert found == expected
        assert vars(found).keys() - {"_state"} == vars(expected).keys() - {"_state"}
        assert members_since.rows(timezone.now(), world.bob.pk) == []
        assert members_since.first(long_ago, uuid4()) is None
        with pytest.raises(Membership.DoesNotExist):
            members_since.get(long_ago, uuid4())


def test_the_same_statement_sees_each_organisation_behind_its_own_wall(world: World) -> None:
    slugs = ["parser", "no-such-project"]  # both organisations have a project of the first name
    with acting_in(world.acme):
        assert named.rows(slugs) == [world.acme_project]
    with acting_in(world.birch):
        assert named.rows(slugs) == [world.birch_project]
        assert named.rows([]) == []
        assert "draft" in named.rows(slugs)[0].get_deferred_fields()


def test_a_statement_that_postgresql_has_planned_still_sees_one_organisation(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.ensure_connection()
    monkeypatch.setattr(connection.connection, "prepare_threshold", 0)
    for _ in range(8):  # after the fifth time PostgreSQL may keep a plan for all values
        for organisation, project in ((world.acme, world.acme_project), (world.birch, world.birch_project)):
            with acting_in(organisation):
                assert named.rows(["parser"]) == [project]
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%accounts_project%'")
        assert cursor.fetchone() == (1,)


def test_values_come_in_every_form_that_a_queryset_gives(world: World) -> None:
    slug, name = world.acme_project.slug, world.acme_project.name
    with acting_in(world.acme):
        assert facts.get(slug) == Project.objects.values("name", "pk", shouted=F("slug")).get(slug=slug)
        assert names.rows(slug) == [name]
        insert(OutboxEvent(topic="tests.told", payload={"deep": ["1", None]}))
        assert payloads.get("tests.told") == ("tests.told", {"deep": ["1", None]})


def test_an_update_changes_the_rows_that_it_names_and_counts_them(world: World) -> None:
    with acting_in(world.acme):
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


def test_an_inserted_row_is_as_one_that_was_saved_and_a_second_one_is_refused_or_left_out(world: World) -> None:
    with acting_in(world.acme):
        event = AuditEvent(verb="tests.made", detail={"snowman": "\u2603"}, target_id=uuid4())
        assert insert(event)
        assert AuditEvent.objects.get(pk=event.pk).detail == {"snowman": "\u2603"}
        again = AuditEvent(pk=event.pk, verb="tests.again")
        assert insert(again, unless_there=True) is False
        with pytest.raises(IntegrityError), transaction.atomic():
            insert(again)
        assert AuditEvent.objects.get(pk=event.pk).verb == "tests.made"


def test_a_row_is_locked_inside_a_transaction_alone(committed_world: World) -> None:
    with acting_in(committed_world.acme):
        assert locked.get(committed_world.acme_project.pk) == committed_world.acme_project
    with pytest.raises(TransactionManagementError):
        locked.rows(committed_world.acme_project.pk)


def test_a_parameter_that_does_not_stand_in_the_sql_as_it_is_is_refused_at_the_first_use(world: World) -> None:
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
