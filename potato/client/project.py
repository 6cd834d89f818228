"""What a program asks of one project."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from potato.api.adjudication import AdjudicationQueue, AdjudicationShape, TakenTrace, ToSettle, WaitingTrace
from potato.api.agreement import AgreementReportWithFigures
from potato.api.checks import ListedReport, TraceChecks
from potato.api.exports import Export
from potato.api.imports import Import, Unread
from potato.api.people import ProjectInvitation, ProjectInvitations, ProjectPeople, ProjectRole, ProjectRoleOfPerson
from potato.api.projects import CheckedForProject, ProjectState, Published, Version
from potato.api.repositories import AttachedRepository
from potato.api.shapes import Claim, Submission
from potato.api.suggestions import Suggestion, SuggestionsTaken, UnreadSuggestion
from potato.api.traces import ListedTrace, WholeTrace
from potato.client import tables
from potato.client.errors import NothingToSend, WrongFile
from potato.client.gold import GoldOperations
from potato.client.operations import operation, stream
from potato.client.progress import Report
from potato.client.reviewing import ReviewQueueOperations
from potato.client.schedules import ScheduleOperations
from potato.client.site import configuration_body
from potato.client.sources import SourceOperations
from potato.client.steering import SteeringOperations
from potato.client.steps import (
    Request,
    Rows,
    Steps,
    Stream,
    ask,
    collect,
    get,
    next_cursor,
    pages,
    path,
    send,
    tell,
    until_over,
)
from potato.client.uploads import files_at, import_steps

_SUGGESTIONS_AT_ONCE = 200


class ProjectOperations(
    SteeringOperations, ReviewQueueOperations, GoldOperations, SourceOperations, ScheduleOperations
):
    """The operations of a project. What runs in the background is waited for where the name says so; `patience` is for
    how many seconds at most, None for ever, and raises Unfinished after that."""

    _report: Report

    # --- The project ---

    @operation
    def state(self) -> Steps[ProjectState]:
        """Whether it is published and whether it is archived."""
        return ask(get(self._path()), ProjectState)

    @operation
    def check(
        self, source: str | None = None, *, configuration: Mapping[str, Any] | None = None
    ) -> Steps[CheckedForProject]:
        """What is wrong with a configuration, and what publishing it here would take from annotations."""
        body = configuration_body(source, configuration)
        return ask(send("POST", self._path("configuration", "check"), body), CheckedForProject)

    @operation
    def publish(
        self,
        source: str | None = None,
        *,
        configuration: Mapping[str, Any] | None = None,
        note: str = "",
        confirmed: bool = False,
        move_held: bool = False,
    ) -> Steps[Published]:
        """Publish a configuration, or the saved draft. What is published already stays as it is. Raises NotAcceptable
        with its `problems`, and Conflict with the `losses` where annotations would lose something unless `confirmed`.
        `move_held`: tasks that people hold are finished under the new version."""
        body = configuration_body(source, configuration)
        body |= {"note": note, "confirmed": confirmed, "held": "move" if move_held else "stay"}
        return ask(send("POST", self._path("versions"), body), Published)

    @stream
    def versions(self) -> Stream[Version]:
        """The published versions of the configuration, the oldest first."""
        return pages(self._path("versions"), Version)

    # --- Runs ---

    @operation
    def import_files(
        self, *paths: str | Path, format: str = "", wait: bool = True, patience: float | None = None
    ) -> Steps[list[Import]]:
        """Send files, and folders with all that is in them, as one import, and wait until they are read. It goes in
        parts, and what a lost connection stopped goes on where it was. `format` is found by the content when empty."""
        started = yield from import_steps(self.slug, files_at(paths), format, self._report)
        if not wait:
            return started
        over = []
        for one in started:
            over.append((yield from self._import_over(one.id, patience)))
        return over

    @operation
    def add_run(self, run: Mapping[str, Any]) -> Steps[Import]:
        """Bring one run in as it ends, in Potato's own format. The same run again is known; another one under its id is
        a new version."""
        return ask(send("POST", self._path("traces"), dict(run)), Import)

    @operation
    def wait_for_import(self, one: Import | UUID, *, patience: float | None = None) -> Steps[Import]:
        """What came of the import, once it is over. Raises JobFailed."""
        return self._import_over(one.id if isinstance(one, Import) else one, patience)

    def _import_over(self, one: UUID, patience: float | None) -> Steps[Import]:
        def progress(seen: Import) -> None:
            if seen.files_done is not None:
                self._report("Reading", seen.files_done, seen.files)

        return until_over(get(path("imports", one)), Import, what="The import", patience=patience, progress=progress)

    @operation
    def add_suggestions(self, records: Iterable[Mapping[str, Any]]) -> Steps[SuggestionsTaken]:
        """Send what a model suggests of traces, each with `id`, `model`, `model_version` and `annotations`. They go in
        parts; the places of `refused` count all records from 1. The same again is known."""
        whole = SuggestionsTaken(taken=0, known=0, refused=[])
        rows, sent = iter(records), 0
        while part := [dict(row) for row in islice(rows, _SUGGESTIONS_AT_ONCE)]:
            body = {"suggestions": part}
            request = send("POST", self._path("suggestions"), body)
            taken = yield from ask(request, SuggestionsTaken)
            refused = [
                UnreadSuggestion(place=sent + one.place, field=one.field, sentence=one.sentence)
                for one in taken.refused
            ]
            whole = SuggestionsTaken(
                taken=whole.taken + taken.taken, known=whole.known + taken.known, refused=[*whole.refused, *refused]
            )
            sent += len(part)
        return whole

    @stream
    def suggestions(self) -> Stream[Suggestion]:
        """What models suggest of the project's traces, with who saw it and from whom it was kept."""
        return pages(self._path("suggestions"), Suggestion)

    @operation
    def attach_repository(
        self, name: str, file: str | Path, *, commit: str = "", clone_url: str = ""
    ) -> Steps[AttachedRepository]:
        """Attach a git bundle or an archive to the name of a repository, as runs name it: their pages show whole files
        around the changes. `commit` is of which one an archive is that does not say it."""
        given = Path(file)
        if not given.is_file():
            raise NothingToSend(f"There is no file {given}.")
        form = {"name": name, "commit": commit, "clone_url": clone_url}
        content = (given.name, given.read_bytes())
        # The same file again is answered with what is attached.
        return ask(
            Request("POST", self._path("repositories"), form=form, file=content, is_repeatable=True), AttachedRepository
        )

    @stream
    def repositories(self) -> Stream[AttachedRepository]:
        """The files that are attached to names of repositories."""
        return pages(self._path("repositories"), AttachedRepository)

    @operation
    def remove_repository(self, one: AttachedRepository | UUID) -> Steps[None]:
        """Take an attached file away. Comments on its lines stay."""
        found = one if isinstance(one, UUID) else one.id
        return tell(Request("DELETE", path("repositories", found), is_repeatable=True))

    @stream
    def imports(self) -> Stream[Import]:
        """The project's imports, the oldest first."""
        return pages(self._path("imports"), Import)

    @stream
    def import_problems(self, one: Import | UUID) -> Stream[Unread]:
        """What of an import could not be read, and remarks."""
        return pages(path("imports", one.id if isinstance(one, Import) else one, "problems"), Unread)

    @stream
    def traces(self, /, **filters: str | Sequence[str]) -> Stream[ListedTrace]:
        """The project's traces, the oldest first, by the filters of the page: `state="pool"`, `model=["a", "b"]`."""
        return pages(self._path("traces"), ListedTrace, **filters)

    @operation
    def trace(self, trace: UUID) -> Steps[WholeTrace]:
        """One trace."""
        return ask(get(self._path("traces", trace)), WholeTrace)

    @stream
    def reports(self) -> Stream[ListedReport]:
        """The reports of tests and checkers that were imported, each with the run that it is of."""
        return pages(self._path("reports"), ListedReport)

    @operation
    def checks(self, trace: UUID) -> Steps[TraceChecks]:
        """What tests and checkers said of a run: reports that were imported, and the tests that the agent ran."""
        return ask(get(self._path("traces", trace, "checks")), TraceChecks)

    # --- Annotations ---

    @operation
    def next(self, *, another: bool = False) -> Steps[Claim]:
        """Claim a trace: the one that is open, else the next free one; with `another`, one more. Where there is none,
        `nothing` says why."""
        return ask(send("POST", self._path("next"), {"another": another}), Claim)

    @stream
    def submissions(self, *, mine: bool = False, surplus: bool = False) -> Stream[Submission]:
        """What was submitted, the oldest first: everybody's for who may see it, with `mine` the caller's own."""
        return pages(self._path("annotations"), Submission, mine=int(mine), surplus=int(surplus))

    @stream
    def records(self, *, mine: bool = False, surplus: bool = False) -> Stream[dict[str, Any]]:
        """The records of what was submitted, the oldest first, exactly as exports have them. Some thousand
        are asked for when those before them were read, so that any number of them takes no more memory than these."""
        return self._records(mine, surplus)

    def _records(self, mine: bool, surplus: bool) -> Stream[dict[str, Any]]:
        cursor: str | None = None
        while True:
            asked = get(self._path("records"), mine=int(mine), surplus=int(surplus), cursor=cursor)
            reply = yield asked
            # A line feed stands between records and never in one: all of an answer is read at once.
            yield Rows(json.loads(b"[%s]" % reply.content.rstrip(b"\n").replace(b"\n", b",")))
            cursor = next_cursor(reply)
            if cursor is None:
                return

    @operation
    def to_pandas(self, *, mine: bool = False, surplus: bool = False) -> Steps[Any]:
        """The records as a pandas.DataFrame: a column for each key, and `annotations.<scheme>` for each scheme."""
        return tables.frame((yield from collect(self._records(mine, surplus))))

    @operation
    def to_datasets(self, *, mine: bool = False, surplus: bool = False) -> Steps[Any]:
        """The records as a datasets.Dataset, with `annotations` as JSON text."""
        return tables.dataset((yield from collect(self._records(mine, surplus))))

    # --- Adjudication and agreement ---

    @operation
    def adjudication_queue(self) -> Steps[list[WaitingTrace]]:
        """The traces whose annotators disagree and nobody has settled, what matters most first."""
        found = yield from ask(get(self._path("adjudication")), AdjudicationQueue)
        return found.results

    @operation
    def take_to_settle(self, trace: UUID | None = None) -> Steps[ToSettle | None]:
        """Take a trace to settle, the first of the queue where none is named; None where nothing waits."""
        body = {} if trace is None else {"trace": str(trace)}
        taken = yield from ask(send("POST", self._path("adjudication"), body), TakenTrace)
        return taken.to_settle

    @stream
    def adjudications(self) -> Stream[AdjudicationShape]:
        """What was settled and stands, the oldest first."""
        return pages(self._path("adjudications"), AdjudicationShape)

    @operation
    def agreement(
        self,
        *,
        tolerance: int = 3,
        samples: int = 1000,
        seed: int = 0,
        filters: Mapping[str, Any] | None = None,
        patience: float | None = None,
    ) -> Steps[AgreementReportWithFigures]:
        """Have it computed how far people agree, and wait for all figures."""
        body = {"tolerance": tolerance, "samples": samples, "seed": seed, "filters": dict(filters or {})}
        answer = (yield send("POST", self._path("agreement"), body)).json()

        def progress(seen: AgreementReportWithFigures) -> None:
            self._report("Computing agreement", seen.progress, seen.total)

        return (
            yield from until_over(
                get(path("agreement", answer["id"])),
                AgreementReportWithFigures,
                what="The report of agreement",
                patience=patience,
                progress=progress,
            )
        )

    @operation
    def overview(self) -> Steps[dict[str, Any]]:
        """How far the project is and what was said: the figures of its page, as plain JSON."""
        return (yield get(self._path("overview"))).json()  # type: ignore[no-any-return]

    @operation
    def statistics(self) -> Steps[dict[str, Any]]:
        """The newest figures of process rewards, as plain JSON; docs/analysis.md says what they are."""
        return (yield get(self._path("statistics"))).json()  # type: ignore[no-any-return]

    # --- Exports ---

    @operation
    def export(
        self,
        format: str,
        output: str | Path,
        *,
        options: Mapping[str, Any] | None = None,
        patience: float | None = None,
    ) -> Steps[Export]:
        """Ask for an export, wait for its file, download it to `output`, and compare its SHA-256 with what the site
        says. The file is there whole or not at all."""
        asked = yield from self._request_export(format, options)
        ready = yield from self._export_over(asked.id, patience)
        yield from _download(ready, Path(output), self._report)
        return ready

    @operation
    def request_export(self, format: str, *, options: Mapping[str, Any] | None = None) -> Steps[Export]:
        """Ask for an export, and do not wait for it."""
        return self._request_export(format, options)

    @operation
    def wait_for_export(self, one: Export | UUID, *, patience: float | None = None) -> Steps[Export]:
        """The export once its file is there. Raises JobFailed."""
        return self._export_over(one.id if isinstance(one, Export) else one, patience)

    @operation
    def download_export(self, ready: Export, output: str | Path) -> Steps[None]:
        """Download the file of an export, and compare its SHA-256. Raises WrongFile."""
        return _download(ready, Path(output), self._report)

    @stream
    def exports(self) -> Stream[Export]:
        """The project's exports, the oldest first."""
        return pages(self._path("exports"), Export)

    def _request_export(self, format: str, options: Mapping[str, Any] | None) -> Steps[Export]:
        body = {"format": format, "options": dict(options or {})}
        return ask(send("POST", self._path("exports"), body), Export)

    def _export_over(self, one: UUID, patience: float | None) -> Steps[Export]:
        def progress(seen: Export) -> None:
            self._report("Exporting", seen.progress, seen.total)

        return until_over(get(path("exports", one)), Export, what="The export", patience=patience, progress=progress)

    # --- People ---

    @operation
    def people(self) -> Steps[ProjectPeople]:
        """Who works on the project, what each did and holds, and who left."""
        return ask(get(self._path("people")), ProjectPeople)

    @operation
    def put_person(self, name: str, role: ProjectRole, *, may_export: bool = False) -> Steps[ProjectRoleOfPerson]:
        """Put a member of the organisation on the project, or change their role there."""
        return ask(
            send("PUT", self._path("people", name), {"role": role, "may_export": may_export}), ProjectRoleOfPerson
        )

    @operation
    def remove_person(self, name: str) -> Steps[None]:
        """Take somebody off the project. What they hold goes back; annotations stay."""
        return tell(Request("DELETE", self._path("people", name), is_repeatable=True))

    @operation
    def invite(
        self, addresses: Iterable[str] = (), *, places: int | None = None, role: ProjectRole = "annotator"
    ) -> Steps[list[ProjectInvitation]]:
        """Invite by mail addresses, a link each, or by one link for so many `places`; the links are in this answer
        alone."""
        body: dict[str, Any] = {"addresses": list(addresses), "places": places, "role": role}
        made = yield from ask(send("POST", self._path("invitations"), body), ProjectInvitations)
        return made.results


def _download(ready: Export, output: Path, report: Report) -> Steps[None]:
    """The file beside its place first, and then in it."""
    output.parent.mkdir(parents=True, exist_ok=True)
    part = output.with_name(f".{output.name}.part")
    try:
        with part.open("w+b") as file:
            where = path("exports", ready.id, "file")
            yield Request("GET", where, headers={"Accept": "*/*"}, is_repeatable=True, sink=file)
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != ready.sha256:
            raise WrongFile(f"The file has the SHA-256 {digest}, and the site says {ready.sha256}. Download it again.")
        part.replace(output)
    finally:
        part.unlink(missing_ok=True)
    report("Downloading", ready.bytes, ready.bytes)
