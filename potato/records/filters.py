"""Which records count at all. What is filtered out is as if nobody had made it: filters come before resolving."""

from collections.abc import Callable, Hashable
from dataclasses import astuple, dataclass, replace
from typing import Any

from potato.records.archives import Record, json_text
from potato.runs.model import AgentRun
from potato.wording import UNKNOWN


@dataclass(frozen=True)
class Filters:
    """Empty members let everything pass. Days are texts as 2026-11-22, of UTC, both of them included.

    A batch is the one in which a trace was when it was annotated. A site knows batches by their names, too; kept() asks
    for the number that a record has, and who reads files refuses other names.
    `sources` are the automated sources whose answers count besides, by name or by name and version; without `people`
    theirs count alone.
    """

    schemes: tuple[str, ...] = ()
    annotators: tuple[str, ...] = ()
    agent_models: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    batches: tuple[str, ...] = ()
    made_from: str = ""
    made_until: str = ""
    sources: tuple[str, ...] = ()
    people: bool = True

    def __bool__(self) -> bool:
        """Whether they leave out anything that people said. Sources add to it."""
        return any(astuple(replace(self, sources=(), people=False))) or not self.people

    @property
    def of_days(self) -> "Filters":
        """What they say of the time of an annotation."""
        return Filters(made_from=self.made_from, made_until=self.made_until)

    @property
    def of_assignments(self) -> bool:
        """Whether they say who annotates, or under which configuration."""
        return bool(self.annotators or self.schemes)

    @property
    def of_traces(self) -> bool:
        """Whether they say which runs are annotated."""
        return bool(self.agent_models or self.tags)

    def kept(self, record: Record, read_run: Callable[[Hashable], AgentRun | None]) -> Record | None:
        """The record as far as it counts; None where nothing of it does."""
        if not (self.people if record.source is None else record.source.is_named(self.sources)):
            return None
        day = "" if record.timestamp == UNKNOWN else record.timestamp[:10]
        if self.annotators and record.source is None and record.annotator not in self.annotators:
            return None
        if (self.made_from and day < self.made_from) or (self.made_until and not "" < day <= self.made_until):
            return None
        if self.batches and record.source is None and str(record.batch) not in self.batches:
            return None
        if self.agent_models or self.tags:
            run = read_run(record.trace)
            if run is None or (self.agent_models and run.agent_model not in self.agent_models):
                return None
            if self.tags and not {*self.tags} & {*run.tags}:
                return None
        return self.reduced(record)

    def reduced(self, record: Record) -> Record | None:
        """The record with the answers under the chosen schemes alone; None where it has none."""
        if not self.schemes:
            return record
        answers: dict[str, Any] = {name: part for name, part in record.annotations.items() if name in self.schemes}
        return replace(record, annotations_text=json_text(answers), _parsed=None) if answers else None
