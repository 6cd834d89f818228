"""`hf_dataset`: a folder that the Hugging Face Hub and `datasets` take as it is, with a card and its metadata."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from potato.formats.croissant import croissant
from potato.formats.dataset_card import Facts, Guideline, card, file_name
from potato.formats.dataset_splits import (
    SPLITS,
    Rows,
    Split,
    Splits,
    identity,
    row_within,
    shared_identities,
    split_rows,
    with_identities,
)
from potato.formats.notes import Lines
from potato.formats.options import RowOptions
from potato.formats.parquet import demand_parquet, parquet_pieces, record_columns, record_row, row_line
from potato.formats.registry import Format
from potato.formats.training import readable
from potato.formats.writing import Digest
from potato.records.sources import Project, Record, RecordsError, RecordSource, TraceFacts, json_text
from potato.runs.model import AgentRun
from potato.runs.tasks import hash_task_text, resolve_task_id
from potato.schemes.registry import scheme_types
from potato.statistics.extras import MissingExtra, demand_extra

AGREEMENT_TRACES = 10_000
"""So many runs with two annotations or more are compared at most: those whose ids' hashes are lowest."""
_SHARE = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]


class HfDatasetOptions(RowOptions):
    license: Annotated[str, StringConstraints(pattern=r"^[a-z0-9.+-]{0,60}$")] = ""
    """the licence as the Hugging Face Hub names it, such as cc-by-4.0; without it the card says that none was stated"""
    title: Annotated[str, StringConstraints(max_length=200)] = ""
    """what the data set is called; without it the task_name of the configuration"""
    split_by: Literal["repository", "task"] = "repository"
    """what is in one split alone: a repository (a task where no repository is known), or a task"""
    test_share: _SHARE = 0.1
    """the share of the rows that is for testing"""
    validation_share: _SHARE = 0.1
    """the share of the rows that is for validation"""

    @model_validator(mode="after")
    def _something_is_left(self) -> "HfDatasetOptions":
        if self.test_share + self.validation_share >= 1:
            raise PydanticCustomError(
                "no_train", "test_share and validation_share leave nothing to train on: together they must be below 1."
            )
        return self


class HfDataset(Format):
    """`README.md` is the card, with the metadata that the Hub reads: the licence, the splits with the leakage check,
    how far annotators agree, with intervals, and the versions of the guidelines, each in `guidelines/`. `data/` has a
    Parquet file for each split, with the columns of `records_parquet` and of the run `agent_model`, `repository`,
    `instance_id`, `task_id` and `task_description`. `croissant.json` says the same to programs, with the
    responsible-AI fields that conferences demand; what an export cannot know stands in them as a sentence that says so.

    A repository, or a task, is in one split alone. Which groups are for testing is decided by the hashes of their
    names, so the same annotations have the same splits. The leakage check counts what stands in two splits all the
    same: task texts, runs with the same steps, traces. It is in the card, and a finding is said when the export ends.
    Where there are fewer than three groups there is one split.

    Agreement is computed of at most 10,000 runs with two annotations or more. Not in the folder: the steps and files
    of the runs, and runs without a trace, which are counted. A ZIP where -o ends so, and on the site; else a folder.
    Needs `pip install "potato-review[parquet,agreement]"`."""

    name = "hf_dataset"
    label = "A data set with card, splits and metadata, for the Hugging Face Hub (folder or ZIP)"
    suffix = ".zip"
    media_type = "application/zip"
    options = HfDatasetOptions
    needs = frozenset({"run"})
    needs_traces = True
    gathers = True
    zips = True
    in_order = True
    in_folders = True
    folders = frozenset({"data", "guidelines"})
    example_file = "README.md"

    def __init__(self, project: Project, options: Any, state: Mapping[str, Any] | None = None) -> None:
        demand_parquet(self.name)
        try:
            demand_extra("agreement", package="numpy", what="The agreement on a data set's card is computed")
        except MissingExtra as missing:
            raise RecordsError(str(missing)) from None
        super().__init__(project, options, state)

    @classmethod
    def options_by(cls, path: Path) -> dict[str, Any]:
        if path.suffix.lower() != ".zip" and path.suffix and not path.is_dir():
            raise RecordsError(f"{path.name} must end in .zip, or be a folder.")
        return {}

    def start(self) -> dict[str, Any]:
        return {"rows": 0, "annotators": {}, "kinds": {}, "versions": {}, "first": "", "last": "", "guidelines": []}

    def write(self, record: Record, facts: TraceFacts) -> bytes:
        run = facts.run
        if run is None:
            return self.leave_out("without_trace")
        row = record_row(record, self.project)
        self.state["rows"] += 1
        for key, value in (("annotators", row["annotator"]), ("kinds", record.kind)):
            self.state[key][value] = self.state[key].get(value, 0) + 1
        version = str(record.configuration_version or "")
        self.state["versions"][version] = self.state["versions"].get(version, 0) + 1
        if at := row.get("timestamp"):
            self.state["first"] = min(self.state["first"] or at, at)
            self.state["last"] = max(self.state["last"], at)
        return with_identities(self._identities(record, run), row_line(row | _run_columns(run)))

    def finish(self, source: RecordSource) -> None:
        # The configurations are in no note, and whoever writes the files has no source.
        self.state["guidelines"] = [[number, text, note] for number, text, note in source.configuration_sources()]

    def members(self, notes: Lines) -> Iterator[tuple[str, Iterable[bytes]]]:
        guidelines = self.state.pop("guidelines", [])
        if not self.rows:
            return
        rows = Rows.read(notes)
        splits = split_rows(rows, {"test": self.chosen.test_share, "validation": self.chosen.validation_share})
        facts = self._facts(notes, rows, splits, guidelines)
        if facts.is_leaking:
            for name, many in facts.shared.items():
                self.count(f"{name}_in_two_splits", many)
        self.state["splits"] = len(facts.splits)
        hashes: dict[Split, tuple[str, int]] = {}
        for split in facts.splits:
            digest = Digest()
            lines = _rows_at(notes, splits, SPLITS.index(split))
            yield file_name(split), digest.passing(parquet_pieces(lines, _columns()))
            hashes[split] = digest.sha256, digest.size
        for number, text, _ in guidelines:
            yield _guideline_file(number), [text.encode("utf-8", "backslashreplace")]
        yield "croissant.json", [json.dumps(croissant(facts, hashes), indent=2).encode("ascii") + b"\n"]
        yield "README.md", [card(facts).encode("utf-8", "backslashreplace")]

    def files(self, notes: Lines) -> Iterator[tuple[str, Iterable[bytes]]]:
        return self.members(notes)

    def remarks(self) -> list[str]:
        remarks = []
        if not self.chosen.license:
            remarks.append("The card states no licence: --license names one, such as cc-by-4.0.")
        shared = {name: many for name, many in self.counts.items() if name.endswith("_in_two_splits") and many}
        if shared:
            numbers = ", ".join(f"{many:,} {name.removesuffix('_in_two_splits')}" for name, many in shared.items())
            remarks.append(
                f"The splits are not independent. In more than one of them: {numbers}. The card has the table."
            )
        if self.state.get("splits") == 1:
            remarks.append(
                f"There is one split alone. Splits are made by {self.chosen.split_by}, and need three groups at least; "
                "--split-by chooses another."
            )
        return remarks

    def nothing(self) -> str:
        return "The export selects nothing: no annotation is of a trace that is there. Nothing was written."

    def _identities(self, record: Record, run: AgentRun) -> dict[str, str]:
        task = resolve_task_id(run)
        repository = f"repository {run.repo}" if run.repo else ""
        trace = f"trace {record.id}"
        of_task = f"task {task}" if task else trace
        return {
            "group": identity(of_task if self.chosen.split_by == "task" else repository or of_task),
            "repository": identity(repository),
            "task": identity(hash_task_text(run.task) if run.task.strip() else ""),
            "run": identity(_acts(run)),
            "trace": identity(trace),
        }

    def _facts(self, notes: Lines, rows: Rows, splits: Splits, guidelines: list[Any]) -> Facts:
        per_trace = rows.annotations_per_trace
        agreement, compared = _agreement(notes, rows, self.project)
        versions = {number for number, _, _ in guidelines}
        newest = None if self.project.is_assumed else self.project.newest
        return Facts(
            name=readable(self.chosen.title or (newest.task_name if newest else "") or "Annotations"),
            license=self.chosen.license,
            rows=self.rows,
            traces=len(per_trace),
            annotators=len(self.state["annotators"]),
            most_by_one=max(self.state["annotators"].values()),
            per_trace=(int(per_trace.min()), float(per_trace.mean()), int(per_trace.max())),
            kinds=self.state["kinds"],
            first=self.state["first"],
            last=self.state["last"],
            split_by=self.chosen.split_by,
            splits={split: (splits.rows(split), splits.groups[split]) for split in splits.filled},
            shared=shared_identities(rows, splits),
            agreement=agreement,
            agreement_traces=compared,
            guidelines=[
                Guideline(number, note, _guideline_file(number), self.state["versions"].get(str(number), 0))
                for number, _, note in guidelines
            ],
            unlisted=sum(
                many for version, many in self.state["versions"].items() if not version or int(version) not in versions
            ),
        )


@cache
def _columns() -> Any:
    import pyarrow as pa

    names = ("agent_model", "repository", "instance_id", "task_id", "task_description")
    return pa.schema([*record_columns(), *((name, pa.string()) for name in names)])


def _run_columns(run: AgentRun) -> dict[str, str]:
    values = {
        "agent_model": run.agent_model,
        "repository": run.repo,
        "instance_id": run.instance_id,
        "task_id": resolve_task_id(run),
        "task_description": run.task,
    }
    return {name: readable(text) for name, text in values.items() if text}


def _acts(run: AgentRun) -> str:
    """What the agent said and called, as one text; "" for a run without steps."""
    acts = [[step.message, [[call.name, call.arguments] for call in step.calls]] for step in run.steps]
    return json_text(acts) if acts else ""


def _guideline_file(number: int) -> str:
    return f"guidelines/version-{number}.yaml"


def _rows_at(notes: Lines, splits: Splits, place: int) -> Iterator[bytes]:
    return (row_within(line) for line, own in zip(notes, splits.places.tolist(), strict=True) if own == place)


def _agreement(notes: Lines, rows: Rows, project: Project) -> tuple[list[dict[str, str]], int]:
    """The rows of the card's table, under the newest configuration, and how many runs they are of."""
    import numpy as np

    from potato.statistics.agreement.collecting import collector
    from potato.statistics.agreement.report import TITLES, Answered, Settings
    from potato.statistics.agreement.words import CHANCE_CORRECTED, in_words

    names, many = np.unique(rows.of("trace"), return_counts=True)
    chosen = set(names[many > 1][:AGREEMENT_TRACES].tolist())
    configuration = project.newest
    schemes = configuration.annotation_schemes if configuration else ()
    # They take in answer by answer, and keep of each what is compared alone.
    collectors = {
        scheme.name: [
            collector(scheme.name, comparison, Settings())
            for comparison in scheme_types()[scheme.annotation_type].comparisons(scheme)
        ]
        for scheme in schemes
    }
    answered: set[str] = set()
    people: defaultdict[int, set[str]] = defaultdict(set)
    for line, trace in zip(notes, rows.of("trace").tolist(), strict=True):
        if trace not in chosen:
            continue
        row = json.loads(row_within(line))
        if row["kind"] != "normal":
            continue
        people[trace].add(row["annotator"])
        parts = json.loads(row["annotations"])
        for scheme in schemes:
            part = parts.get(scheme.name)
            if part is not None and not scheme_types()[scheme.annotation_type].malformed(part):
                answered.add(scheme.name)
                answer = Answered((trace, row["trace_version"]), row["annotator"], part)
                for collected in collectors[scheme.name]:
                    collected.add(answer)
    shared = Counter(len(names) > 1 for names in people.values())[True]
    table = []
    for scheme in schemes if shared else ():
        for collected in collectors[scheme.name] if scheme.name in answered else ():
            compared = collected.compared()
            for measure, estimate in compared.figures.items():
                interval = "" if estimate.low is None else f"{estimate.low:.2f} to {estimate.high:.2f}"
                table.append(
                    {
                        "question": f"{compared.title} ({scheme.name})",
                        "measure": TITLES[measure],
                        "value": "not defined" if estimate.value is None else f"{estimate.value:.2f}",
                        "interval": interval,
                        "pairs": f"{estimate.pairs:,}",
                        "in words": in_words(estimate) if measure in CHANCE_CORRECTED else "",
                    }
                )
    return table, shared
