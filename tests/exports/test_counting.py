"""Which submissions an export reads: those the queryset says, with few reads whatever PostgreSQL believes of tables."""

import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts.actions.projects import publish_configuration
from accounts.models import Membership, User
from assignments.actions.submitting import withdraw
from assignments.models import Assignment, Submission
from exports import counting
from exports import stored as stored_source
from exports.stored import StoredProject
from exports.stored_facts import reading
from potato.records.filters import Filters
from potato.records.sources import Resolve
from tenancy.actor import Actor, acting, acting_in
from tenancy.snapshots import Snapshot
from tests.exports import seeding
from tests.exports.conftest import Reviews
from tests.exports.reviewing import review_at_random
from tests.tenants import Tenants
from traces.models import Trace

ROWS, AT_ONCE = 3_000, 300
READS_A_RECORD = 60
"""An export reads some ten rows for each record; a bad plan reads a table for each."""
TABLES = ("assignments_submission", "assignments_assignment", "assignments_withdrawal", "traces_trace")
YAML = "task_name: Review\nannotation_schemes: [{name: verdict, annotation_type: code_review_verdict}]\n"


def as_owner(*statements: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")
        for statement in statements:
            cursor.execute(statement)
        cursor.execute(f"SET ROLE {connection.ops.quote_name(settings.DATABASE_APP_ROLE)}")


def rows_read() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        # A statement of its own: what this session has read is handed in between two of them.
        cursor.execute(
            "SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables "
            "WHERE relname = ANY(%s)",
            [list(TABLES)],
        )
        return int(cursor.fetchone()[0] or 0)


@pytest.fixture
def believed(request: pytest.FixtureRequest, committed_tenants: Tenants) -> Iterator[Tenants]:
    """A project with many submissions, of whose tables PostgreSQL believes what the parameter says."""
    tenants = committed_tenants
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=YAML)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seeding, "count_rows", lambda: None)
        match request.param:
            case "they are empty":
                as_owner("ANALYZE")
            case "every row is of an organisation of its own":
                as_owner(*(f"ALTER TABLE {table} ALTER organisation_id SET (n_distinct = -1)" for table in TABLES))
            case "all rows are another organisation's":
                with acting_in(tenants.birch, tenants.charlie):
                    publish_configuration(project=tenants.birch_project, source=YAML)
                seeding.seed(tenants.birch, tenants.birch_project, ROWS)
                as_owner("ANALYZE")
                patch.setattr(seeding, "_people", _same_people)
        seeding.seed(tenants.acme, tenants.acme_project, ROWS)
    if request.param in ("what is so", "every row is of an organisation of its own"):
        as_owner("ANALYZE")
    yield tenants
    as_owner(*(f"ALTER TABLE {table} ALTER organisation_id RESET (n_distinct)" for table in TABLES))


def _same_people() -> list[User]:
    users = list(User.objects.filter(username__startswith="reviewer").order_by("username"))
    for number, user in enumerate(users):
        Membership.objects.create(user=user, annotator_name=f"reviewer_{number:02}")
    return users


@pytest.mark.parametrize(
    "believed",
    [
        "what is so",
        "nothing",
        "they are empty",
        "every row is of an organisation of its own",
        "all rows are another organisation's",
    ],
    indirect=True,
)
def test_an_export_reads_a_few_rows_for_each_record_whatever_the_statistics_say(
    believed: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_source, "ROWS_AT_ONCE", AT_ONCE)
    monkeypatch.setattr(stored_source, "TRACES_AT_ONCE", AT_ONCE // seeding.PEOPLE)
    monkeypatch.setattr(counting, "LATEST_AT_ONCE", AT_ONCE)
    actor = Actor(believed.acme.pk, (believed.acme.pk,), believed.alice.pk)
    with acting(actor):
        at = Snapshot.now()
    whole = StoredProject(believed.acme_project, actor, at)
    some = StoredProject(believed.acme_project, actor, at, filters=Filters(annotators=("reviewer_03",)))
    new = StoredProject(believed.acme_project, actor, at, since=Snapshot("1:1:", at.at - timedelta(hours=1)))

    def records(source: StoredProject, resolve: Resolve) -> int:
        return sum(1 for batch in source.records(resolve, buffered=False) for _ in batch)

    asked: dict[str, tuple[Callable[[], int], int]] = {
        "how many": (lambda: some.count("all"), ROWS // seeding.PEOPLE),
        "all": (lambda: records(whole, "all"), ROWS),
        "latest": (lambda: records(whole, "latest"), ROWS // seeding.PEOPLE),
        "of one annotator": (lambda: records(some, "all"), ROWS // seeding.PEOPLE),
        "new": (lambda: records(new, "all"), ROWS),
        "adjudicated": (lambda: int(whole.has_records("adjudicated")), 0),
        "by trace": (lambda: sum(len(names) for _, names in whole.by_trace(lambda record: record.annotator)), ROWS),
    }
    read = {}
    for name, (ask, expected) in asked.items():
        before = rows_read()
        assert ask() == expected, name
        read[name] = rows_read() - before
    assert read["all"] >= ROWS
    assert max(read.values()) < READS_A_RECORD * ROWS, read


def test_what_was_submitted_again_is_found_without_reading_the_index_of_all(tenants: Tenants) -> None:
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=YAML)
    seeding.seed(tenants.acme, tenants.acme_project, ROWS)
    as_owner("ANALYZE")
    actor = Actor(tenants.acme.pk, (tenants.acme.pk,), tenants.alice.pk)
    asked: list[tuple[str, Any]] = []

    def remember(execute: Callable[..., Any], sql: str, parameters: Any, many: bool, context: Any) -> Any:
        if "string_agg" in sql:
            asked.append((sql, parameters))
        return execute(sql, parameters, many, context)

    # A moment to come: what this test has not committed counts in it.
    source = StoredProject(tenants.acme_project, actor, Snapshot("1:1:", timezone.now() + timedelta(hours=1)))
    with connection.execute_wrapper(remember):
        assert source.has_records("all")
    with reading(actor), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {asked[-1][0]}", asked[-1][1])
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert len(asked) == 2, "The batch, and what replaces some of it"
    assert "Index Scan using assignments_submission_again" in plan, plan


def test_batches_select_what_the_queryset_of_a_moment_says(reviews: Reviews, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a game of submitting, taking back and reviewing, for two moments and what is new between them."""
    tenants = reviews.tenants
    monkeypatch.setattr(stored_source, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(counting, "LATEST_AT_ONCE", 3)
    monkeypatch.setattr(counting, "TRACES_LOOKED_AT", 2)
    # More than what is kept at the later moments, and less at the first ones.
    monkeypatch.setattr(counting, "AGAIN_AT_MOST", 2)
    chance = random.Random(11)  # noqa: S311 - a game that can be played again
    for number in range(6):
        reviews.trace(f"t{number}", f"model-{number % 2}")
    moments = []
    for turn in range(40):
        user = chance.choice([tenants.alice, tenants.bob, tenants.dora])
        with acting_in(tenants.acme, user):
            done = Assignment.objects.of(user).held_or_decided().count()
        if done < 6:
            made = reviews.submit(user)
            if chance.random() < 0.4:
                with acting_in(tenants.acme, user):
                    withdraw(submission=made)
        review_at_random(reviews, chance)
        if turn in (15, 39):
            with acting(reviews.actor):
                moments.append(Snapshot.now())
    then, now = moments

    def by_queryset(at: Snapshot, model: str | None, *, latest: bool) -> set[tuple[bytes, str]]:
        with acting_in(tenants.acme):
            rows = Submission.objects.for_project(reviews.project).counted_at(at)
            if model:
                rows = rows.filter(assignment__trace__in=Trace.objects.filter(agent_model=model))
            places = rows.order_by("submitted_at", "pk").values_list(
                "assignment__trace", "assignment__user__username", "pk", "submitted_at"
            )
            if latest:
                seconds = {(trace, at.replace(microsecond=0), pk): user for trace, user, pk, at in places}
                newest = {trace: (trace, seconds[trace, at, pk], pk) for trace, at, pk in sorted(seconds)}
                return {(pk.bytes, user) for _, user, pk in newest.values()}
            return {(pk.bytes, user) for _, user, pk, _ in places}

    def by_batches(at: Snapshot, since: Snapshot | None, model: str | None, resolve: Resolve) -> list[bytes]:
        filters = Filters(agent_models=(model,) if model else ())
        selected = counting.Counting(reviews.project, reviews.actor, at, since, filters)
        return [place.pk for places, _ in selected.batches(resolve, None, 3) for place in places]

    differing = 0
    for model in (None, "model-1"):
        for latest in (False, True):
            resolve: Resolve = "latest" if latest else "all"
            wanted, before = ({pk for pk, _ in by_queryset(at, model, latest=latest)} for at in (now, then))
            assert by_batches(now, None, model, resolve) == sorted(wanted)
            assert by_batches(then, None, model, resolve) == sorted(before)
            assert by_batches(now, then, model, resolve) == sorted(wanted - before)
            differing += len(before - wanted)
    assert differing > 0
