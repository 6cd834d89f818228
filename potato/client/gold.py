"""What a program asks of a project's known answers: gold, practice, and where people stand by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

from potato.api.gold import Done, Expected, Made, PlantingJob, ScoreShape, Standings, UseName
from potato.client.operations import operation, stream
from potato.client.steps import Steps, Stream, ask, get, pages, path, send


class GoldOperations:
    """Known answers are for managers alone; no annotator is told which traces have one."""

    slug: str

    @stream
    def expected(self) -> Stream[Expected]:
        """The expected annotations, the oldest first, with those that are retired."""
        return pages(self._gold(), Expected)

    @operation
    def expect(self, records: Iterable[Mapping[str, Any]], *, use: UseName = "gold") -> Steps[list[Expected]]:
        """Make records the known answers of their traces, all or none: each with `id`, `annotations`, and `why`."""
        body = {"records": [dict(record) for record in records], "use": use}
        made = yield from ask(send("POST", self._gold(), body), Made)
        return made.results

    @operation
    def plant_faults(
        self,
        traces: Sequence[UUID] = (),
        *,
        number: int = 10,
        seed: int = 0,
        kind: str = "",
        use: UseName = "gold",
    ) -> Steps[PlantingJob]:
        """Have faults planted in copies of good traces, in the background: in these, or in so many that the seed
        draws."""
        body = {"traces": [str(one) for one in traces], "number": number, "seed": seed, "kind": kind, "use": use}
        return ask(send("POST", self._gold("plant"), body), PlantingJob)

    @operation
    def change_expected(
        self, one: Expected | UUID, annotations: Mapping[str, Any], *, why: str = ""
    ) -> Steps[Expected]:
        """Expect something else of the trace. Who was scored by it is scored anew."""
        where = self._gold(one if isinstance(one, UUID) else one.id)
        return ask(send("PUT", where, {"annotations": dict(annotations), "why": why}), Expected)

    @operation
    def retire_expected(self, one: Expected | UUID) -> Steps[Expected]:
        """Score nobody by it any more. Its scores stay."""
        return ask(send("POST", self._gold(one if isinstance(one, UUID) else one.id, "retire")), Expected)

    @stream
    def gold_scores(self) -> Stream[ScoreShape]:
        """Every score with its parts, the oldest first."""
        return pages(self._gold("scores"), ScoreShape)

    @operation
    def gold_standings(self) -> Steps[Standings]:
        """Where everybody stands by their scores, and how far people agree with themselves."""
        return ask(get(self._gold("people")), Standings)

    @operation
    def let_go_on(self, name: str, *, act: Literal["go_on", "admit"] = "go_on") -> Steps[Done]:
        """Let somebody go on whom their scores have paused; with `admit`, let a newcomer begin without practice."""
        return ask(send("POST", self._gold("people", name), {"act": act}), Done)

    def _gold(self, *parts: object) -> str:
        return path("projects", self.slug, "gold", *parts)
