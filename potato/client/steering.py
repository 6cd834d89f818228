"""What a program asks of a campaign: batches, pauses, and what is done to many traces, tasks or people at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict, Unpack
from uuid import UUID

from potato.api.batches import Batches, OrderName, PriorityName, ShownBatch
from potato.api.steering import (
    Paused,
    PeopleAct,
    ProjectPause,
    Reassigned,
    ReleasePreview,
    Rule,
    SkipCounts,
    Steered,
    TracesAct,
    Undone,
)
from potato.client.operations import OfProject, operation, stream
from potato.client.steps import Request, Steps, Stream, ask, get, pages, send, tell


class ReleaseOptions(TypedDict, total=False):
    """What a release takes of the pool, and what its batch decides; the site's page of the API says each."""

    filter: dict[str, str | list[str]]
    take: Literal["all", "number", "share"]
    number: int
    share: float
    stratum: Literal["", "model", "repo", "size", "tag"]
    seed: int
    redundancy: int
    priority: PriorityName
    order: OrderName
    deadline: str
    people: Sequence[str]
    draft: bool
    rule: bool


class BatchChanges(TypedDict, total=False):
    """`redundancy` 0 is as the configuration says, `deadline` "" is none, `people` [] are all of the project."""

    state: Literal["open", "paused", "withdrawn"]
    name: str
    priority: PriorityName
    order: OrderName
    redundancy: int
    deadline: str
    people: Sequence[str]


class TracesOptions(TypedDict, total=False):
    """Of an act alone each: `reason` of excluding, `tag`, `more` annotators, `priority`, `people` and `days` of an
    offer."""

    reason: str
    tag: str
    more: int
    priority: PriorityName
    people: Sequence[str]
    days: int


class SteeringOperations(OfProject):
    """Steering asks for a manager."""

    # --- Batches ---

    @operation
    def batches(self) -> Steps[list[ShownBatch]]:
        """The batches of the project, in the order in which they are given out."""
        found = yield from ask(get(self._path("batches")), Batches)
        return found.results

    @operation
    def preview_release(self, /, **options: Unpack[ReleaseOptions]) -> Steps[ReleasePreview]:
        """What `release` would take of the pool with the same options; nothing is released."""
        body = {"name": "preview", **options}
        return ask(send("POST", self._path("batches", "preview"), body), ReleasePreview)

    @operation
    def release(self, name: str, /, **options: Unpack[ReleaseOptions]) -> Steps[ShownBatch]:
        """Release traces of the pool as a batch; with `rule`, what fits of later imports, too."""
        return ask(send("POST", self._path("batches"), {"name": name, **options}), ShownBatch)

    @operation
    def change_batch(self, batch: ShownBatch | int, /, **changes: Unpack[BatchChanges]) -> Steps[ShownBatch]:
        """Change what is named, all of it or nothing."""
        number = batch if isinstance(batch, int) else batch.number
        return ask(send("POST", self._path("batches", number), dict(changes)), ShownBatch)

    @stream
    def rules(self) -> Stream[Rule]:
        """What of each later import goes into a batch, in the order in which the rules are asked."""
        return pages(self._path("rules"), Rule)

    @operation
    def change_rule(
        self,
        rule: Rule | UUID,
        *,
        filter: Mapping[str, str | list[str]] | None = None,
        share: float = 100,
        seed: int = 0,
    ) -> Steps[Rule]:
        """Change what a rule takes of later imports. What it released stays released."""
        body = {"filter": dict(filter or {}), "share": share, "seed": seed}
        return ask(send("PUT", self._path("rules", rule if isinstance(rule, UUID) else rule.id), body), Rule)

    @operation
    def end_rule(self, rule: Rule | UUID) -> Steps[None]:
        """Later imports wait in the pool again. What the rule released stays released."""
        where = self._path("rules", rule if isinstance(rule, UUID) else rule.id)
        return tell(Request("DELETE", where, is_repeatable=True))

    @operation
    def skips(self) -> Steps[SkipCounts]:
        """How often tasks were skipped, and why."""
        return ask(get(self._path("skips")), SkipCounts)

    # --- The whole project, and one person ---

    @operation
    def pause(self, reason: str = "") -> Steps[ProjectPause]:
        """Give out nothing any more; held tasks may be finished. Annotators read the reason."""
        return ask(send("POST", self._path("pause"), {"paused": True, "reason": reason}), ProjectPause)

    @operation
    def go_on(self) -> Steps[ProjectPause]:
        """Give out tasks again."""
        return ask(send("POST", self._path("pause"), {"paused": False}), ProjectPause)

    @operation
    def paused(self) -> Steps[ProjectPause]:
        """Whether the project is paused, since when and why."""
        return ask(get(self._path("pause")), ProjectPause)

    @operation
    def steer_person(
        self,
        name: str,
        *,
        paused: bool | None = None,
        reason: str = "",
        limit: int | None = None,
        share: float | None = None,
    ) -> Steps[Paused]:
        """Pause somebody in the project or let them go on, or bound how many annotations they make, or which part of
        all; 0 for the bound of the configuration."""
        body = {"paused": paused, "reason": reason, "limit": limit, "share": share}
        return ask(send("POST", self._path("people", name, "steering"), body), Paused)

    # --- Many at once ---

    @operation
    def steer_traces(
        self,
        act: TracesAct,
        traces: Sequence[str] | Mapping[str, str | list[str]],
        /,
        **options: Unpack[TracesOptions],
    ) -> Steps[Steered]:
        """Do that to traces, by the ids that records name them by, or to all that fit a filter of the list. What the
        answer names as `act`, `undo_steering` takes back."""
        chosen = {"filter": dict(traces)} if isinstance(traces, Mapping) else {"traces": list(traces)}
        body = {"act": act, **chosen, **options}
        return ask(send("POST", self._path("traces", "steer"), body), Steered)

    @operation
    def give_back_tasks(self, *, traces: Sequence[str] = (), people: Sequence[str] = ()) -> Steps[Steered]:
        """Put held tasks back into the queue: those of these traces, of these people, or of both."""
        body = {"act": "give_back", "traces": list(traces), "people": list(people)}
        return ask(send("POST", self._path("steering", "tasks"), body), Steered)

    @operation
    def reassign_tasks(
        self, to: str, *, traces: Sequence[str] = (), people: Sequence[str] = (), keep_draft: bool = False
    ) -> Steps[Steered]:
        """Give held tasks to one person, who goes on with them."""
        body = {"act": "reassign", "traces": list(traces), "people": list(people), "to": to, "keep_draft": keep_draft}
        return ask(send("POST", self._path("steering", "tasks"), body), Steered)

    @operation
    def reassign(self, assignment: UUID, to: str, *, keep_draft: bool = False) -> Steps[Reassigned]:
        """Give one held task to another person."""
        where = self._path("assignments", assignment, "reassign")
        return ask(send("POST", where, {"to": to, "keep_draft": keep_draft}), Reassigned)

    @operation
    def steer_people(
        self,
        act: PeopleAct,
        people: Sequence[str],
        *,
        reason: str = "",
        limit: int | None = None,
        share: float | None = None,
    ) -> Steps[Steered]:
        """Pause, limit or take off several people at once, or let them go on."""
        body = {"act": act, "people": list(people), "reason": reason, "limit": limit, "share": share}
        return ask(send("POST", self._path("steering", "people"), body), Steered)

    @operation
    def undo_steering(self, done: Steered | UUID) -> Steps[Undone]:
        """Take back what was done to many, within 30 seconds; what was changed since stays as it is. Raises ValueError
        for what changed nothing, or cannot be taken back."""
        act = done if isinstance(done, UUID) else done.act
        if act is None:
            raise ValueError(f"There is nothing to take back: {done.sentence if isinstance(done, Steered) else done}")
        return ask(send("POST", self._path("steering", act, "undo")), Undone)
