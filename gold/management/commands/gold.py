"""Known answers from a shell: what there is, how people do, importing and retiring."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import Organisation, Project
from gold.actions import expect_records, retire
from gold.figures import shown_gold, shown_standings
from gold.models import ExpectedAnnotation, Use
from gold.planting import request_planting
from potato.planting.faults import KINDS
from potato.wording import counted
from tenancy.actor import acting_in
from tenancy.errors import Refused
from traces.models import Trace


class Command(BaseCommand):
    help = (
        "Known answers of ORG/PROJECT: list them, say where people stand, import records, plant faults, retire the "
        "answer to a trace."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        for name, words in (("list", "the known answers"), ("people", "where people stand")):
            acts.add_parser(name, help=words).add_argument("project", metavar="ORG/PROJECT")
        importing = acts.add_parser("import", help="take records, one object a line: id, annotations, why")
        importing.add_argument("project", metavar="ORG/PROJECT")
        importing.add_argument("file", metavar="FILE.jsonl", type=Path)
        importing.add_argument("--practice", action="store_true", help="for practice instead of gold")
        planting = acts.add_parser("plant", help="have faults planted in copies of traces that are known to be good")
        planting.add_argument("project", metavar="ORG/PROJECT")
        planting.add_argument("--trace", action="append", default=[], metavar="ID", help="in this one; several times")
        planting.add_argument("--number", type=int, default=10, help="in so many, where no trace is named (10)")
        planting.add_argument("--kind", choices=KINDS, default="", help="the kind; drawn by the seed when left out")
        planting.add_argument(
            "--seed", type=int, default=0, metavar="N", help="the same seed plants the same faults (0)"
        )
        planting.add_argument("--practice", action="store_true", help="for practice instead of gold")
        retiring = acts.add_parser("retire", help="give the trace to nobody any more to score them by it")
        retiring.add_argument("project", metavar="ORG/PROJECT")
        retiring.add_argument("trace", help="as its importer called it")

    def handle(self, *args: Any, **options: Any) -> None:
        organisation, project = _named(options["project"])
        with acting_in(organisation):
            getattr(self, f"_{options['act']}")(project, options)

    def _list(self, project: Project, options: dict[str, Any]) -> None:
        for use in Use:
            for row in shown_gold(project, use):
                mean = "-" if row.mean is None else f"{row.mean:.2f}"
                origin = row.expected.get_origin_display()
                self.stdout.write(
                    f"{use.label:<9}{mean:>5}{row.scored:>6}  {row.expected.trace}  {origin}  {row.doubt}"
                )

    def _people(self, project: Project, options: dict[str, Any]) -> None:
        for one in shown_standings(project):
            self.stdout.write(f"{one.name:<20}{one.label:<14}{one.standing.sentence}")

    def _import(self, project: Project, options: dict[str, Any]) -> None:
        path = options["file"]
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            records = [json.loads(line) for line in lines if line.strip()]
        except (OSError, ValueError) as error:
            raise CommandError(f"{path} cannot be read: {error}") from None
        try:
            made = expect_records(
                project=project, records=records, use=Use.PRACTICE if options["practice"] else Use.GOLD
            )
        except Refused as refused:
            raise CommandError(refused.sentence) from None
        self.stdout.write(f"{len(made):,} expected annotations taken.")

    def _plant(self, project: Project, options: dict[str, Any]) -> None:
        named = options["trace"]
        rows = Trace.objects.filter(project=project, external_id__in=named).order_by("external_id", "-version")
        traces = {row.external_id: row.pk for row in reversed(rows)}
        if missing := [name for name in named if name not in traces]:
            raise CommandError(f"{project.slug} has no trace {missing[0]!r}.")
        try:
            job = request_planting(
                project=project,
                traces=traces.values(),
                number=options["number"],
                seed=options["seed"],
                kind=options["kind"],
                use=Use.PRACTICE if options["practice"] else Use.GOLD,
            )
        except Refused as refused:
            raise CommandError(refused.sentence) from None
        self.stdout.write(f"Job {job.pk} plants a fault in each of {counted(len(job.parameters['traces']), 'trace')}.")

    def _retire(self, project: Project, options: dict[str, Any]) -> None:
        rows = ExpectedAnnotation.objects.for_project(project).filter(
            trace__external_id=options["trace"], retired_at__isnull=True
        )
        expected = rows.first()
        if expected is None:
            raise CommandError(f"{project.slug} has no known answer to {options['trace']!r}.")
        retire(expected=expected)
        self.stdout.write(f"{options['trace']} is retired. Its scores stay.")


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
