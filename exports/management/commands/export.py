"""Exports the annotations of a project, or of files as `python -m potato.export` does, to a file."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import Organisation, Project
from exports.policies import pseudonyms
from exports.stored import StoredProject
from potato.commands.export import (
    Request,
    UsageError,
    add_arguments,
    export,
    read_request,
    refuse_own_input,
    refuse_pseudonyms,
)
from potato.records.folders import Folder
from potato.records.sources import RecordsError
from tenancy.actor import Actor, acting, acting_in
from tenancy.snapshots import Snapshot


class Command(BaseCommand):
    help = "Export annotations of ORG/PROJECT, or of files, to a file. Exits 1 where nothing is selected."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="ORG/PROJECT", help="the project to export")
        add_arguments(parser, input_is_required=False)

    def handle(self, *args: Any, **options: Any) -> None:
        name, path = options["project"], options["input"]
        if bool(name) == bool(path):
            raise CommandError("Say what to export: --project ORG/PROJECT, or -i PATH.", returncode=2)
        try:
            request = read_request(options)
            refuse_own_input(request, path, options["config"])
            if path:
                refuse_pseudonyms(request)
                with Folder(path, options["config"], request.options.filters) as folder:
                    self._say(*export(request, folder))
            else:
                self._export_project(name, request, options)
        except UsageError as refusal:
            raise CommandError(refusal.sentence, returncode=2) from None
        except RecordsError as refusal:
            raise CommandError(refusal.sentence) from None

    def _export_project(self, name: str, request: Request, options: dict[str, Any]) -> None:
        if options["config"] and request.output:
            raise UsageError("--config says where to write without -o. Leave one of the two out.")
        organisation, project = _named(name)
        actor = Actor(organisation.pk, (organisation.pk,))
        with acting(actor):
            snapshot = Snapshot.now()
            names = pseudonyms() if request.options.pseudonyms == "yes" else None
        source = StoredProject(project, actor, snapshot, filters=request.options.filters, pseudonyms=names)
        self._say(*export(request, source))

    def _say(self, said: str, remarks: list[str]) -> None:
        self.stdout.write(said)
        for remark in remarks:
            self.stderr.write(remark)


def _named(name: str) -> tuple[Organisation, Project]:
    slug, _, project = name.partition("/")
    if not (slug and project):
        raise UsageError(f"{name!r} names no project. Write ORG/PROJECT, as in demo/agent-code-review.")
    organisation = Organisation.objects.filter(slug=slug).first()
    if organisation is None:
        raise RecordsError(f"There is no organisation {slug!r}.")
    with acting_in(organisation):
        row = Project.objects.filter(slug=project).first()
    if row is None:
        raise RecordsError(f"{slug} has no project {project!r}.")
    return organisation, row
