"""The routes by which a program steers a campaign: batches, pauses, and what is done to many traces at once."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Annotated, Any, Literal
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.exceptions import ParseError, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import Body, read
from accounts.api.views import ApiView
from accounts.models import Membership, Project, User
from assignments.actions.editing_batches import decisions, edit_batch
from assignments.actions.held_tasks import give_back_tasks, held_tasks, reassign_tasks
from assignments.actions.outcomes import Outcome
from assignments.actions.reassigning import reassign
from assignments.actions.releasing import (
    BatchFacts,
    release_batch,
    release_draft,
    withdraw_batch,
)
from assignments.actions.steering import (
    limit_person,
    pause_batch,
    pause_person,
    pause_project,
    project_pause,
    queue_position,
    resume_batch,
    resume_person,
    resume_project,
)
from assignments.actions.steering_people import limit_people, pause_people, resume_people, take_people_off
from assignments.actions.withholding import (
    end_offers,
    give_out_again,
    offer_to,
    prioritise,
    tag_traces,
    untag_traces,
    want_more,
    withhold,
)
from assignments.models import Assignment, Batch, Order, Priority, Steering, Withheld
from assignments.pool.filters import LISTS, PoolFilters
from assignments.pool.listing import PoolList
from assignments.pool.progress import BatchRow, batch_rows
from assignments.pool.selecting import LARGEST_SEED, Selection
from potato.api.batches import Batches, OrderName, PriorityName, ShownBatch
from potato.api.steering import (
    Paused,
    PeopleAct,
    ProjectPause,
    Reassigned,
    Steered,
    TracesAct,
)
from tenancy.actor import active_organisation
from tenancy.errors import Refused
from tenancy.roles import Right
from traces.models import Trace

_PRIORITIES = {label.lower(): value for value, label in Priority.choices}
Redundancy = Annotated[int, Field(ge=1, le=100)]


class Release(Body):
    name: Annotated[str, Field(min_length=1, max_length=200)]
    filter: dict[str, str | list[str]] = {}
    """As in the address of the list of traces: `{"model": ["agent-c"], "tag": ["pilot"]}`."""
    take: Literal["all", "number", "share"] = "all"
    number: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    share: Annotated[float, Field(gt=0, le=100)] = 100.0
    """Per cent of what fits."""
    stratum: Literal["", "model", "repo", "size", "tag"] = ""
    seed: Annotated[int, Field(ge=0, le=LARGEST_SEED)] = 0
    redundancy: Redundancy | None = None
    priority: PriorityName = "normal"
    order: OrderName = "imported"
    deadline: str | None = None
    """A date as 2026-12-04."""
    people: list[str] = []
    """Annotator names; empty for everybody of the project."""
    draft: bool = False
    rule: bool = False
    """Do the same with every later import."""


class Steer(Body):
    state: Literal["open", "paused", "withdrawn"] | None = None
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    priority: PriorityName | None = None
    order: OrderName | None = None
    redundancy: Annotated[int, Field(ge=0, le=100)] | None = None
    """Annotations a trace; 0 for as many as the configuration says."""
    deadline: str | None = None
    """A date as 2026-12-04, "" for none."""
    people: list[str] | None = None
    """Annotator names, all who may take its traces; [] for everybody of the project."""


class Pause(Body):
    paused: bool
    reason: Annotated[str, Field(max_length=500)] = ""
    """Everybody reads it where they would be given a task."""


class SteerPerson(Body):
    paused: bool | None = None
    reason: Annotated[str, Field(max_length=500)] = ""
    """Of a pause: the person reads it where they would be given a task."""
    limit: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    """Annotations that the person may make in the project at most; 0 for as many as the configuration says."""
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    """Which part of all annotations the person may make at most: 0.25 is a quarter; 0 for what the configuration
    says."""


class SteerTraces(Body):
    act: TracesAct
    traces: Annotated[list[str], Field(max_length=10_000)] = []
    """Ids of traces, as records name them; all versions of one are meant."""
    filter: dict[str, str | list[str]] = {}
    """Instead of `traces`: as in the address of the list of traces, `{"agreement": ["low"], "state": ["open"]}`."""
    reason: str = ""
    """Needed for excluding."""
    tag: str = ""
    more: Annotated[int, Field(ge=-20, le=20)] = 1
    """Of `more_annotators`: so many more of each trace than now; below zero takes back what was asked for like this."""
    priority: PriorityName = "normal"
    people: list[str] = []
    """Of an offer: annotator names of those who are given the traces before all others."""
    days: Annotated[int, Field(ge=1, le=90)] = 7
    """Of an offer: for so many days nobody else is given them."""


class SteerTasks(Body):
    act: Literal["give_back", "reassign"]
    traces: Annotated[list[str], Field(max_length=10_000)] = []
    """Ids of traces, as records name them: what is held of them."""
    people: list[str] = []
    """Annotator names: what these people hold, of the traces where some are named."""
    to: str = ""
    """Of `reassign`: the annotator name of who goes on with the tasks."""
    keep_draft: bool = False


class SteerPeople(Body):
    act: PeopleAct
    people: Annotated[list[str], Field(min_length=1, max_length=1_000)]
    """Annotator names."""
    reason: Annotated[str, Field(max_length=500)] = ""
    """Of a pause: the people read it where they would be given a task."""
    limit: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Annotations that each of them may make in the project at most; null for as many as the configuration says."""
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    """Which part of all annotations each of them may make at most."""


class Reassign(Body):
    to: str
    """The annotator name of who goes on with the task."""
    keep_draft: bool = False


class SteeringView(ApiView):
    right = Right.MANAGE_PROJECTS


class BatchesView(SteeringView):
    @extend_schema(responses=Batches)
    def get(self, request: Request, project: str) -> Response:
        """The project's batches in the order in which they are given out."""
        return Response(Batches(results=[_shown(row) for row in batch_rows(self.project())]))

    @extend_schema(request=Release, responses={201: ShownBatch})
    def post(self, request: Request, project: str) -> Response:
        """Release traces of the pool as a batch. The same filter, share and seed draw the same traces."""
        chosen, body = self.project(), read(Release, request)
        batch = release_batch(
            project=chosen,
            selection=release_selection(body),
            facts=BatchFacts(
                name=body.name,
                redundancy=body.redundancy,
                priority=_PRIORITIES[body.priority],
                order=body.order,
                deadline=_date(body.deadline),
                people=tuple(_person(name).pk for name in body.people),
            ),
            is_draft=body.draft,
            is_rule=body.rule,
        )
        return Response(_of_number(chosen, batch.number), status=201)


class BatchView(SteeringView):
    @extend_schema(request=Steer, responses=ShownBatch)
    def post(self, request: Request, project: str, number: int) -> Response:
        """Change what is named: the state, and what the batch decides of its traces. All of it, or nothing."""
        chosen, body = self.project(), read(Steer, request)
        batch = get_object_or_404(Batch.objects.for_project(chosen), number=number)
        wanted = {name: value for name, value in body.model_dump(exclude={"state"}).items() if value is not None}
        if wanted:
            changes = {name: _DECIDED.get(name, lambda value: value)(value) for name, value in wanted.items()}
            edit_batch(batch=batch, wanted=replace(decisions(batch), **changes))
            batch.refresh_from_db()
        if body.state == "paused":
            pause_batch(batch=batch)
        elif body.state == "withdrawn":
            withdraw_batch(batch=batch)
        elif body.state == "open":
            action = release_draft if batch.state == "draft" else resume_batch
            action(batch=batch)
        return Response(_of_number(chosen, number))


class PauseView(SteeringView):
    @extend_schema(responses=ProjectPause)
    def get(self, request: Request, project: str) -> Response:
        """Whether the project is paused, since when and why."""
        return Response(_pause(project_pause(self.project())))

    @extend_schema(request=Pause, responses=ProjectPause)
    def post(self, request: Request, project: str) -> Response:
        """Pause the project, with a reason, or let it go on. Held tasks may be finished."""
        chosen, body = self.project(), read(Pause, request)
        if body.paused:
            return Response(_pause(pause_project(project=chosen, reason=body.reason)))
        return Response(_pause(resume_project(project=chosen)))


class PersonView(SteeringView):
    @extend_schema(request=SteerPerson, responses=Paused)
    def post(self, request: Request, project: str, annotator: str) -> Response:
        """Pause a person in the project, let them go on, or limit how many annotations they make."""
        chosen, body, person = self.project(), read(SteerPerson, request), _person(annotator)
        if body.limit is not None or body.share is not None:
            position = queue_position(chosen, person)
            limit = position.annotation_limit if body.limit is None else body.limit or None
            share = position.annotation_share if body.share is None else body.share or None
            position = limit_person(project=chosen, user=person, limit=limit, share=share)
        elif body.paused is None:
            raise ParseError("Say paused, limit or share, or several of them.", code="invalid_request")
        if body.paused:
            position = pause_person(project=chosen, user=person, reason=body.reason)
        elif body.paused is not None:
            position = resume_person(project=chosen, user=person)
        return Response(Paused(paused=position.paused_at is not None))


class TracesView(SteeringView):
    largest_body = 1_000_000

    @extend_schema(request=SteerTraces, responses=Steered)
    def post(self, request: Request, project: str) -> Response:
        """Withhold, give out again, tag, prioritise, ask for more annotators of, or offer to named people, many traces
        at once."""
        chosen, body = self.project(), read(SteerTraces, request)
        if bool(body.traces) == bool(body.filter):
            raise ParseError("Name traces by their ids, or by a filter.", code="invalid_request")
        if unknown := body.filter.keys() - {*LISTS, "q", "task", "versions"}:
            raise ParseError(f"Traces have no filter {min(unknown)!r}.", code="invalid_request")
        traces = Trace.objects.filter(organisation=chosen.organisation_id, project=chosen)
        keys = list(traces.filter(external_id__in=body.traces).values_list("pk", flat=True))
        if body.filter:
            keys = PoolList(chosen, PoolFilters.from_data(body.filter)).ids()
        outcome = _carried_out(chosen, body, keys)
        return Response(_steered(outcome))


class TasksView(SteeringView):
    largest_body = 1_000_000

    @extend_schema(request=SteerTasks, responses=Steered)
    def post(self, request: Request, project: str) -> Response:
        """Put held tasks back into the queue, or give them to one person, many at once."""
        chosen, body = self.project(), read(SteerTasks, request)
        if not body.traces and not body.people:
            raise ParseError("Name traces, people, or both.", code="invalid_request")
        traces = Trace.objects.filter(organisation=chosen.organisation_id, project=chosen)
        keys = list(traces.filter(external_id__in=body.traces).values_list("pk", flat=True)) if body.traces else None
        people = [_person(name).pk for name in body.people] if body.people else None
        tasks = held_tasks(chosen, traces=keys, people=people)
        if body.act == "give_back":
            return Response(_steered(give_back_tasks(project=chosen, tasks=tasks)))
        person = _person(body.to)
        return Response(_steered(reassign_tasks(project=chosen, tasks=tasks, user=person, keep_draft=body.keep_draft)))


class PeopleView(SteeringView):
    @extend_schema(request=SteerPeople, responses=Steered)
    def post(self, request: Request, project: str) -> Response:
        """Pause, limit or take off several people at once, or let them go on. Taking off needs the right to manage
        members."""
        chosen, body = self.project(), read(SteerPeople, request)
        people = [_member(name) for name in dict.fromkeys(body.people)]
        if body.act == "pause":
            return Response(_steered(pause_people(project=chosen, people=people, reason=body.reason)))
        if body.act == "resume":
            return Response(_steered(resume_people(project=chosen, people=people)))
        if body.act == "limit":
            return Response(_steered(limit_people(project=chosen, people=people, limit=body.limit, share=body.share)))
        if not self.membership.may_in(Right.MANAGE_MEMBERS, chosen):
            raise PermissionDenied
        return Response(_steered(take_people_off(project=chosen, people=people)))


class ReassignView(SteeringView):
    @extend_schema(request=Reassign, responses=Reassigned)
    def post(self, request: Request, project: str, assignment_id: UUID) -> Response:
        """Give somebody's held task to another person of the project, who holds it then."""
        chosen, body = self.project(), read(Reassign, request)
        held = Assignment.objects.for_project(chosen).select_related("project", "user")
        assignment = get_object_or_404(held, pk=assignment_id)
        row = reassign(assignment=assignment, user=_person(body.to), keep_draft=body.keep_draft)
        return Response(Reassigned(assignment=str(row.pk), annotator=body.to))


def release_selection(body: Release) -> Selection:
    """What a release draws from the pool. Raises ParseError for a filter that it cannot have."""
    refuse_unknown(body.filter)
    return Selection(
        filters=PoolFilters.from_data(body.filter),
        take=body.take,
        number=body.number,
        share=body.share,
        stratum=body.stratum,
        seed=body.seed,
    )


def refuse_unknown(filters: dict[str, Any]) -> None:
    """Raises ParseError for a filter that no release, and no rule, can have."""
    unknown = filters.keys() - {*LISTS, "q", "task", "versions"} | filters.keys() & {"state"}
    if unknown:
        raise ParseError(f"A release has no filter {min(unknown)!r}.", code="invalid_request")


def _carried_out(project: Project, body: SteerTraces, traces: list[Any]) -> Outcome:
    if body.act == "priority":
        return prioritise(project=project, traces=traces, priority=_PRIORITIES[body.priority])
    if body.act == "offer":
        people = [_person(name).pk for name in body.people]
        return offer_to(project=project, traces=traces, people=people, days=body.days)
    if body.act == "tag":
        return tag_traces(project=project, traces=traces, tag=body.tag)
    if body.act == "untag":
        return untag_traces(project=project, traces=traces, tag=body.tag)
    if body.act == "end_offer":
        return end_offers(project=project, traces=traces)
    if body.act == "more_annotators":
        return want_more(project=project, traces=traces, more=body.more)
    if body.act == "give_out":
        return give_out_again(project=project, traces=traces)
    why = {"hold_back": Withheld.HELD_BACK, "exclude": Withheld.EXCLUDED, "retire": Withheld.RETIRED}[body.act]
    return withhold(project=project, traces=traces, why=why, reason=body.reason)


def _pause(steering: Steering | None) -> ProjectPause:
    if steering is None or steering.paused_at is None:
        return ProjectPause(paused=False, since=None, reason="")
    return ProjectPause(paused=True, since=steering.paused_at, reason=steering.pause_reason)


def _steered(outcome: Outcome) -> Steered:
    return Steered(done=outcome.done, sentence=outcome.sentence, act=outcome.act.pk if outcome.act else None)


def _person(annotator: str) -> User:
    return _member(annotator).user


def _member(annotator: str) -> Membership:
    members = Membership.objects.filter(organisation=active_organisation(), annotator_name=annotator, is_active=True)
    return get_object_or_404(members.select_related("user"))


def _date(text: str | None) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise Refused("Write the deadline as a date: 2026-12-04.") from error


_DECIDED: dict[str, Callable[[Any], Any]] = {
    "priority": lambda name: _PRIORITIES[name],
    "redundancy": lambda number: number or None,
    "deadline": _date,
    "people": lambda names: tuple(_person(name).pk for name in names),
}


def _of_number(project: Project, number: int) -> ShownBatch:
    return next(_shown(row) for row in batch_rows(project) if row.batch.number == number)


def _shown(row: BatchRow) -> ShownBatch:
    batch = row.batch
    return ShownBatch.model_validate(
        {
            **{name: getattr(batch, name) for name in ("number", "name", "state", "redundancy")},
            "deadline": batch.deadline.isoformat() if batch.deadline else None,
            "priority": Priority(batch.priority).label.lower(),
            "order": Order(batch.order).value,
            "restricted": batch.is_restricted,
            "selection": batch.selection,
            "released_at": batch.released_at,
            **{name: getattr(row, name) for name in ("traces", "complete", "target", "done", "held")},
        }
    )
