"""Imports files of agent runs into a project: at once, or as background jobs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from django.core.files import File
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import Organisation, Project
from potato.runs.converters.detection import AUTOMATIC
from potato.runs.packages import packed, run_files
from potato.runs.run_files import source_at
from tenancy.actor import acting_in
from tenancy.errors import Refused
from traces.actions import Imported, import_now, request_import, tasks_first
from traces.import_messages import import_sentence, problem_lines
from traces.importing.task_texts import are_tasks_first


@contextmanager
def _opened_files(path: Path) -> Iterator[File[bytes]]:
    """What is sent to the background: the file, or a ZIP of the folder, or of the file and what belongs to it."""
    with TemporaryFile() as package:
        if packed(path, package):
            package.seek(0)
            yield File(package, name=f"{path.resolve().name}.zip")
            return
    with path.open("rb") as opened:
        yield File(opened, name=path.name)


class Command(BaseCommand):
    help = (
        "Import agent runs from files or folders into ORG/PROJECT. Exits 0 if a trace came in or was known, 1 if none."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="ORG/PROJECT")
        parser.add_argument("files", metavar="FILE|FOLDER", nargs="+", type=Path)
        parser.add_argument("--format", default=AUTOMATIC, help="the files' format (default: the project's converter)")
        parser.add_argument("--background", action="store_true", help="leave the work to a worker, and return at once")
        parser.add_argument("--strict", action="store_true", help="exit 1 for any line that could not be read")

    def handle(self, *args: Any, **options: Any) -> None:
        organisation, slug = self._named(options["project"])
        missing = [str(path) for path in options["files"] if not path.exists()]
        if missing:
            raise CommandError(f"No such file: {', '.join(missing)}. Nothing was imported.")
        empty = [str(path) for path in options["files"] if path.is_dir() and not run_files(path)]
        if empty:
            raise CommandError(f"No file of agent runs in {', '.join(empty)}. Nothing was imported.")
        with acting_in(organisation):
            project = Project.objects.filter(slug=slug).first()
        if project is None:
            raise CommandError(f"{organisation.slug} has no project {slug!r}. load_project makes one.")
        try:
            if options["background"]:
                self._request(organisation, project, options)
            else:
                self._import(organisation, project, options)
        except Refused as refusal:
            raise CommandError(refusal.sentence) from None

    def _named(self, name: str) -> tuple[Organisation, str]:
        slug, _, project = name.partition("/")
        if not (slug and project):
            raise CommandError(f"{name!r} names no project. Write ORG/PROJECT, as in demo/agent-code-review.")
        organisation = Organisation.objects.filter(slug=slug).first()
        if organisation is None:
            raise CommandError(f"There is no organisation {slug!r}.")
        return organisation, project

    def _request(self, organisation: Organisation, project: Project, options: dict[str, Any]) -> None:
        for path in tasks_first(options["files"]):
            if path.is_file() and are_tasks_first(source_at(path)):
                # At once: a worker may take the runs before.
                self._one(organisation, project, path, options)
                continue
            with acting_in(organisation), _opened_files(path) as content:
                file = request_import(project=project, content=content, format=options["format"])
            self.stdout.write(f"{path.name}: job {file.job_id} imports it.")

    def _import(self, organisation: Organisation, project: Project, options: dict[str, Any]) -> None:
        results = list(self._results(organisation, project, options))
        if all(result.is_empty for result in results):
            raise CommandError("No trace came in.")
        if options["strict"] and any(result.errors for result in results):
            raise CommandError("Some lines could not be read, and --strict was given. The good ones were imported.")

    def _results(self, organisation: Organisation, project: Project, options: dict[str, Any]) -> Iterator[Imported]:
        for path in tasks_first(
            path for named in options["files"] for path in (run_files(named) if named.is_dir() else [named])
        ):
            yield self._one(organisation, project, path, options)

    def _one(self, organisation: Organisation, project: Project, path: Path, options: dict[str, Any]) -> Imported:
        result = import_now(organisation=organisation, project=project, path=path, format=options["format"])
        self.stdout.write(import_sentence(path.name, result))
        for line in problem_lines(organisation, path.name, result):
            self.stderr.write(line)
        return result
