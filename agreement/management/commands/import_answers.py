"""Imports a source's answers, and compares it with people: in this process, so that no worker is needed."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import Organisation, Project
from agreement.models import Source, SourceKind, SourceReport
from agreement.sources.actions import import_now, named
from agreement.sources.comparing import compute
from agreement.sources.importing import in_words
from agreement.sources.of_tool import of_tool
from potato.records.other_tools.reading import FOUND_BY_ITSELF, READERS
from tenancy.actor import acting_in
from tenancy.errors import Refused


class Command(BaseCommand):
    help = (
        "Import answers of automated sources (records, a line each), or annotations that were made in another tool, "
        "into ORG/PROJECT, and say how each source stands beside people. Exits 1 where no answer was taken or known."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="ORG/PROJECT")
        parser.add_argument("file", metavar="FILE|FOLDER", type=Path)
        parser.add_argument("--source", default="", metavar="NAME", help="the source of records that name none")
        parser.add_argument("--source-version", default="", metavar="VERSION", help="its version")
        parser.add_argument("--model", default="", help="its model")
        parser.add_argument("--kind", default="", choices=["", *SourceKind.values], help="what it is")
        tools = parser.add_argument_group("annotations of another tool")
        tools.add_argument("--from", dest="tool", default="", choices=[*READERS, FOUND_BY_ITSELF], help="which tool")
        tools.add_argument("--trace", default="", metavar="ID", help="the trace that all of the file is about")
        tools.add_argument("--id-key", default="", metavar="KEY", help="the key of Label Studio's data with the trace")
        tools.add_argument(
            "--name", action="append", default=[], metavar="THEIRS=SCHEME", help="a question; repeatable"
        )
        tools.add_argument("--value", action="append", default=[], metavar="THEIRS=OURS", help="a value; repeatable")
        parser.add_argument("--strict", action="store_true", help="exit 1 for any line that was refused")

    def handle(self, *args: Any, **options: Any) -> None:
        organisation, project = _named(options["project"])
        path = options["file"]
        if not (path.is_dir() if options["tool"] and not path.is_file() else path.is_file()):
            raise CommandError(f"There is no file {path}.")
        try:
            tool = of_tool(
                options["tool"],
                trace=options["trace"],
                id_key=options["id_key"],
                names=options["name"],
                values=options["value"],
                version=options["source_version"],
            )
            version = "" if tool else options["source_version"]
            default = named(options["source"], version, options["model"], options["kind"])
            result = import_now(organisation=organisation, project=project, path=path, default=default, tool=tool)
        except Refused as refusal:
            raise CommandError(refusal.sentence) from None
        self.stdout.write(
            f"{path.name}: {result['taken']:,} answers taken, {result['known']:,} known, {result['refused']:,} refused."
            + (f" {result['left_out']:,} parts were left out." if result["left_out"] else "")
        )
        for problem in result["problems"]:
            self.stderr.write(f"{path.name}: {in_words(*problem)}")
        with acting_in(organisation):
            waiting = SourceReport.objects.filter(project=project, source__in=result["sources"], computed_at=None)
            for report in waiting.select_related("project", "source").order_by("requested_at"):
                compute(report)
            for source in Source.objects.for_project(project).filter(pk__in=result["sources"]):
                newest = SourceReport.objects.of(source).computed().first()
                self.stdout.write(newest.figures["headline"] if newest else f"{source} is not compared yet.")
        if options["strict"] and result["refused"]:
            raise CommandError("Some lines were refused, and --strict was given. The good ones were taken.")


def _named(name: str) -> tuple[Organisation, Project]:
    slug, _, project_slug = name.partition("/")
    organisation = Organisation.objects.filter(slug=slug).first()
    if organisation is None or not project_slug:
        raise CommandError(f"{name!r} names no project. Write ORG/PROJECT, as in demo/agent-code-review.")
    with acting_in(organisation):
        project = Project.objects.filter(slug=project_slug).first()
    if project is None:
        raise CommandError(f"{slug} has no project {project_slug!r}.")
    return organisation, project
