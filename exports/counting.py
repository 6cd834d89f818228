"""Which submissions of a project count at a moment, found batch by batch.

Each statement asks one table about a whole batch, and what they answer is put together here. With a join or a subquery
the planner chooses the index that looks up each row, and it chooses by statistics of another day: where these say that
every row is another organisation's, it reads the whole organisation once for each row of the batch. A statement about
one table reads an index's range, or the table once at the worst.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property, partial
from struct import iter_unpack
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import BigIntegerField, F, ForeignKey, Func, Lookup, Q, UUIDField
from django.db.models.functions import Length

from accounts.models import ConfigurationVersion, Membership, Project
from assignments.filtering import chosen_batches, filtered, traces_filtered, versions_filtered
from assignments.models import Assignment, Decision, Kind, Outcome, Submission, Withdrawal
from assignments.models.submissions import OUT_OF_COUNTS
from exports.stored_facts import reading, reading_tables
from potato.records.filters import Filters
from potato.records.sources import AMONG_ANNOTATORS, Resolve
from tenancy.actor import Actor
from tenancy.snapshots import Snapshot
from traces.models import Trace

LATEST_AT_ONCE = 2_000
"""Of each all submissions of its trace are looked at."""
TRACES_LOOKED_AT = 1_000
AGAIN_AT_MOST = 10_000
"""So many later submissions of assignments are kept; where there are more, each batch asks for its own."""
_PACKED = "string_agg(uuid_send(id) || uuid_send(assignment) || int4send(number) || int8send(value), '')"
_LAYOUT = ">16s16siq"
_SECOND = Func(
    F("submitted_at"), template="floor(extract(epoch FROM %(expressions)s))::int8", output_field=BigIntegerField()
)
"""The clock of records has whole seconds."""


class AnyOfIds(Lookup[Any]):
    """`field__any_of=[...]` for ids as their 16 bytes: one constant, which is hashed where a table is read."""

    lookup_name = "any_of"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        column, values = self.process_lhs(compiler, connection)
        ids = ",".join(key.hex() for key in self.rhs)
        return f"{column} = ANY(%s::uuid[])", (*values, f"{{{ids}}}")


UUIDField.register_lookup(AnyOfIds)
ForeignKey.register_lookup(AnyOfIds)


class SubmissionKey(NamedTuple):
    """A submission: its id and its assignment's, which of the assignment's it is, and what else was asked for."""

    pk: bytes
    assignment: bytes
    number: int
    value: int


_submission_key = partial(tuple.__new__, SubmissionKey)
"""As `_make`, which counts the members once more: 0.3 us a row."""


def kind_of_assignments(resolve: Resolve) -> Kind | None:
    """The kind of assignments whose annotations alone are read; None for those of annotators and of adjudicators."""
    if resolve == "adjudicated":
        return Kind.ADJUDICATION
    return Kind.NORMAL if resolve in AMONG_ANNOTATORS else None


class Counting:
    """The submissions of a project that count at the snapshot, as an export selects them.

    With `since`, those alone that did not count at that earlier moment.
    """

    def __init__(
        self, project: Project, actor: Actor, snapshot: Snapshot, since: Snapshot | None, filters: Filters
    ) -> None:
        self._project = project
        self._actor = actor
        self._snapshot = snapshot
        self._since = since
        self._filters = filters
        # Asked here, because rows are chosen outside of transactions.
        with reading(actor):
            self._batches = chosen_batches(project, filters)
        self._again: dict[Snapshot, list[SubmissionKey] | None] = {}

    def about(self, resolve: Resolve) -> int:
        """About how many there are: what was taken back is among them, which a count would take long to ask."""
        with reading_tables(self._actor):
            return int(self._about(resolve).count())

    def traces_about(self) -> int:
        """About how many traces have one."""
        with reading_tables(self._actor):
            return int(self._about("all").values("assignment__trace").distinct().count())

    def exists(self, resolve: Resolve) -> bool:
        return next(self.batches(resolve, None, LATEST_AT_ONCE), None) is not None

    def batches(self, resolve: Resolve, after: bytes | None, rows: int) -> Iterator[tuple[list[SubmissionKey], bool]]:
        """Those behind that id in the order of their ids, each with the size of its answers; no batch is empty. Beside
        each batch stands whether nothing of the project was left out between its first and its last."""
        at_once = min(rows, LATEST_AT_ONCE) if resolve == "latest" else rows
        while True:
            behind = self._added() if after is None else self._added().filter(pk__gt=UUID(bytes=after))
            places = self._places(behind, Length("packed"), at_once)
            if chosen := self._chosen(places, resolve):
                yield chosen, len(chosen) == len(places)
            if len(places) < at_once:
                return
            after = places[-1].pk

    def under(self, assignments: Collection[bytes]) -> list[SubmissionKey]:
        """Those under the assignments, each with the size of its answers."""
        rows = self._added().filter(assignment__any_of=assignments)
        return self._chosen(self._places(rows, Length("packed")), "all")

    def traces_with_one(self, traces: Collection[bytes]) -> set[bytes]:
        """Those of the traces under which there is one."""
        assignments = self.assignments(traces)
        return {assignments[place.assignment] for place in self.under(assignments)}

    def assignments(self, traces: Collection[bytes]) -> dict[bytes, bytes]:
        """The assignments of the traces, each with its trace."""
        with reading(self._actor):
            rows = Assignment.objects.for_project(self._project).filter(trace__any_of=traces)
            return {pk.bytes: trace.bytes for pk, trace in rows.values_list("pk", "trace_id")}

    def _about(self, resolve: Resolve) -> Any:
        rows = filtered(self._seen(self._snapshot), self._project, self._filters)
        if self._since is not None:
            rows = rows.exclude(self._since.saw())
        return rows.filter(assignment__kind=kind) if (kind := kind_of_assignments(resolve)) else rows

    def _seen(self, snapshot: Snapshot) -> Any:
        """What was there, and has not come too late: taken back or not, and whatever the filters say of its trace."""
        rows = Submission.objects.for_project(self._project).filter(snapshot.saw(), is_surplus=False, is_check=False)
        rows = filtered(rows, self._project, self._filters.of_days)
        return rows.filter(batch_number__in=self._batches) if self._batches else rows

    def _added(self) -> Any:
        """Those seen at the snapshot; with `since`, as far as they may not have counted then."""
        rows = self._seen(self._snapshot)
        if self._since is None:
            return rows
        # Where something was taken back or decided since an older submission may count again, and nowhere else.
        return rows.filter(~self._since.saw() | Q(assignment__any_of=self._assignments_that_may_count_again))

    @cached_property
    def _assignments_that_may_count_again(self) -> list[bytes]:
        """All those of the traces where something was taken back, or decided, since."""
        if self._since is None:
            return []
        organisation = self._project.organisation_id
        with reading(self._actor):
            withdrawn = Withdrawal.objects.filter(~self._since.saw(), organisation=organisation)
            submissions = [pk.bytes for pk in withdrawn.values_list("submission_id", flat=True)]
            # What was returned or voided may count again since.
            decided = Decision.objects.for_project(self._project).filter(~self._since.saw())
            decided = decided.exclude(outcome=Outcome.ACCEPTED, number=1)
            submissions += {pk.bytes for pk in decided.values_list("submission_id", flat=True)}
            rows = Submission.objects.for_project(self._project).filter(pk__any_of=submissions)
            assignments = {pk.bytes for pk in rows.values_list("assignment_id", flat=True)}
        return list(self.assignments(set(self._traces(assignments).values())))

    def _traces(self, assignments: Collection[bytes]) -> dict[bytes, bytes]:
        """The trace of each of the assignments."""
        with reading(self._actor):
            rows = Assignment.objects.filter(pk__any_of=assignments).values_list("pk", "trace_id")
            return {pk.bytes: trace.bytes for pk, trace in rows}

    def _places(self, rows: Any, value: Any, at_most: int | None = None) -> list[SubmissionKey]:
        """All as one row: so many rows would take as long as those of the records. They stand in the order in which
        the statement inside gives them: sorting them once more takes as long as reading them."""
        if at_most is not None:
            rows = rows.order_by("pk")
        chosen = rows.annotate(value=value).values_list("pk", "assignment_id", "number", "value")
        statement, parameters = chosen[:at_most].query.sql_with_params()
        packed = f"SELECT {_PACKED} FROM ({statement}) AS places (id, assignment, number, value)"  # noqa: S608 - ours
        with reading(self._actor), connection.cursor() as cursor:
            cursor.execute(packed, parameters)
            (places,) = cursor.fetchone()
        return list(map(_submission_key, iter_unpack(_LAYOUT, places or b"")))

    def _chosen(self, places: Sequence[SubmissionKey], resolve: Resolve) -> list[SubmissionKey]:
        """Those of the places that an export selects."""
        chosen = self._resolved(places, resolve, self._snapshot)
        if self._since is None or not chosen:
            return chosen
        then = {place.pk for place in self._resolved(self._seen_at(self._since, chosen), resolve, self._since)}
        return [place for place in chosen if place.pk not in then]

    def _seen_at(self, snapshot: Snapshot, places: Sequence[SubmissionKey]) -> list[SubmissionKey]:
        rows = Submission.objects.filter(snapshot.saw(), pk__any_of=[place.pk for place in places])
        with reading(self._actor):
            seen = {pk.bytes for pk in rows.values_list("pk", flat=True)}
        return [place for place in places if place.pk in seen]

    def _resolved(self, places: Sequence[SubmissionKey], resolve: Resolve, snapshot: Snapshot) -> list[SubmissionKey]:
        """Those that counted at that moment, and were what is asked for."""
        counted = self._counted(self._passing(places, resolve), snapshot)
        if resolve != "latest" or not counted:
            return counted
        traces = sorted(set(self._traces({place.assignment for place in counted}).values()))
        latest: set[bytes] = set()
        for start in range(0, len(traces), TRACES_LOOKED_AT):
            latest |= self._latest(traces[start : start + TRACES_LOOKED_AT], snapshot)
        return [place for place in counted if place.pk in latest]

    def _latest(self, traces: Collection[bytes], snapshot: Snapshot) -> set[bytes]:
        """The latest of each trace; what was made in one second is told apart by its id."""
        assignments = self.assignments(traces)
        rows = self._seen(snapshot).filter(assignment__any_of=assignments)
        counted = self._counted(self._passing(self._places(rows, _SECOND), "all"), snapshot)
        newest: dict[bytes, SubmissionKey] = {}
        for place in sorted(counted, key=lambda place: (place.value, place.pk)):
            newest[assignments[place.assignment]] = place
        return {place.pk for place in newest.values()}

    def _passing(self, places: Sequence[SubmissionKey], resolve: Resolve) -> Sequence[SubmissionKey]:
        """Those whose assignment and trace are what is asked for, and what the filters let pass."""
        filters = self._filters
        kind = kind_of_assignments(resolve)
        if not places or not (kind or filters.of_assignments or filters.of_traces):
            return places
        rows = Assignment.objects.filter(pk__any_of={place.assignment for place in places})
        if kind:
            rows = rows.filter(kind=kind)
        if filters.annotators:
            rows = rows.filter(user__any_of=self._users)
        if filters.schemes:
            rows = rows.filter(version__any_of=self._versions)
        with reading(self._actor):
            traces = {pk.bytes: trace.bytes for pk, trace in rows.values_list("pk", "trace_id")}
        if filters.of_traces:
            passing = self._passing_traces(set(traces.values()))
            traces = {assignment: trace for assignment, trace in traces.items() if trace in passing}
        return [place for place in places if place.assignment in traces]

    def _passing_traces(self, traces: Collection[bytes]) -> set[bytes]:
        rows = traces_filtered(Trace.objects.filter(pk__any_of=traces), self._filters)
        with reading(self._actor):
            return {pk.bytes for pk in rows.values_list("pk", flat=True)}

    @cached_property
    def _users(self) -> list[bytes]:
        with reading(self._actor):
            members = Membership.objects.filter(annotator_name__in=self._filters.annotators)
            return [user.bytes for user in members.values_list("user_id", flat=True)]

    @cached_property
    def _versions(self) -> list[bytes]:
        """Those that have one of the schemes."""
        rows = versions_filtered(ConfigurationVersion.objects.filter(project=self._project), self._filters)
        with reading(self._actor):
            return [pk.bytes for pk in rows.values_list("pk", flat=True)]

    def _counted(self, places: Sequence[SubmissionKey], snapshot: Snapshot) -> list[SubmissionKey]:
        """Those that were not taken back, returned or voided, and that no later one under their assignment replaces."""
        if not places:
            return []
        newest = self._newest_numbers({place.assignment for place in places}, snapshot)
        out = self._taken_back(places, snapshot) | self._set_aside(places, snapshot)
        if not newest and not out:
            return list(places)
        return [place for place in places if place.pk not in out and newest.get(place.assignment, 0) <= place.number]

    def _newest_numbers(self, assignments: Collection[bytes], snapshot: Snapshot) -> dict[bytes, int]:
        """The number of the newest submission that stands, of those assignments that had more than one."""
        later = self._submitted_again(snapshot)
        if later is None:
            later = self._places(self._later(snapshot).filter(assignment__any_of=assignments), F("number"))
        else:
            later = [place for place in later if place.assignment in assignments]
        taken_back = self._taken_back(later, snapshot) if later else ()
        newest: defaultdict[bytes, int] = defaultdict(int)
        for place in later:
            if place.pk not in taken_back:
                newest[place.assignment] = max(newest[place.assignment], place.number)
        return newest

    def _later(self, snapshot: Snapshot) -> Any:
        """What was submitted again, seen at that moment."""
        return Submission.objects.filter(snapshot.saw(), organisation=self._project.organisation_id, number__gt=1)

    def _submitted_again(self, snapshot: Snapshot) -> list[SubmissionKey] | None:
        """All that was submitted again in the organisation; None where that is much.

        Read once, because a statement that names the assignments of a batch takes 1.5 us a row to be written and
        planned, and nearly always answers nothing.
        """
        if snapshot not in self._again:
            # In no order, for which the index of all would be walked.
            places = self._places(self._later(snapshot)[: AGAIN_AT_MOST + 1], F("number"))
            self._again[snapshot] = places if len(places) <= AGAIN_AT_MOST else None
        return self._again[snapshot]

    def _taken_back(self, places: Iterable[SubmissionKey], snapshot: Snapshot) -> set[bytes]:
        keys = {place.pk for place in places}
        rows = Withdrawal.objects.filter(
            snapshot.saw(),
            organisation=self._project.organisation_id,
            submission__gte=UUID(bytes=min(keys)),
            submission__lte=UUID(bytes=max(keys)),
        )
        with reading(self._actor):
            return {pk.bytes for pk in rows.values_list("submission_id", flat=True)} & keys

    def _set_aside(self, places: Iterable[SubmissionKey], snapshot: Snapshot) -> set[bytes]:
        """Those whose newest decision at that moment was that they do not count."""
        keys = {place.pk for place in places}
        rows = Decision.objects.filter(snapshot.saw(), organisation=self._project.organisation_id)
        between = rows.filter(submission__gte=UUID(bytes=min(keys)), submission__lte=UUID(bytes=max(keys)))
        with reading(self._actor):
            # Most decisions are that something counts: those that set aside have an index of their own.
            out = set(between.filter(outcome__in=OUT_OF_COUNTS).values_list("submission_id", flat=True))
            own = rows.filter(submission__in=[pk for pk in out if pk.bytes in keys])
            decided = list(own.order_by("number").values_list("submission_id", "outcome"))
        outcomes = {pk.bytes: outcome for pk, outcome in decided}
        return {pk for pk, outcome in outcomes.items() if outcome in OUT_OF_COUNTS} & keys
