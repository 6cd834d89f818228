"""One project of somebody's own runs, on their own machine: what `potato review` opens."""

from collections.abc import Callable, Sequence
from pathlib import Path

from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.text import slugify

from accounts.actions.organisations import add_member, create_organisation
from accounts.actions.projects import create_project, publish_configuration
from accounts.models import Organisation, Project, User
from potato.runs.packages import run_files
from project_setup.project_templates import TEMPLATES
from tenancy.actor import acting_in
from tenancy.roles import Role
from tenancy.urls import organisation_reverse
from traces.actions import import_now, tasks_first
from traces.import_messages import import_sentence, problem_lines

ORGANISATION, LOGIN = "own-runs", "reviewer"
PASSWORD = "potato-demo"  # noqa: S105  (as the demo's: the site of development is reached from its machine alone)


class NothingCameIn(Exception):  # noqa: N818  (an answer to the person who asked)
    """No file has a run; the text says what each of them is."""


def load_own_runs(files: Sequence[Path], template: str, say: Callable[[str], None]) -> str:
    """Make the project of these files where it is missing, and import them; answers the address below the site's of
    the page that opens it. The same files again change nothing. Raises NothingCameIn."""
    paths = [one for path in files for one in (run_files(path) if path.is_dir() else [path])]
    with transaction.atomic():
        organisation, user = _organisation()
        with acting_in(organisation, user):
            project = _project(files[0], template)
    came, said = 0, []
    for path in tasks_first(paths):
        try:
            result = import_now(organisation=organisation, project=project, path=path)
        except OSError as error:
            said.append(f"{path} cannot be read: {error.strerror}.")
            continue
        said += [import_sentence(path.name, result), *problem_lines(organisation, path.name, result)]
        came += not result.is_empty
    for sentence in said:
        say(sentence)
    if not came:
        raise NothingCameIn("\n".join(["No run came in.", *said]))
    page = organisation_reverse(ORGANISATION, "project", project=project.slug)
    return f"{reverse('account_login')}?{urlencode({'next': page})}"


def _organisation() -> tuple[Organisation, User]:
    user = User.objects.filter(username=LOGIN).first()
    if user is None:
        user = User.objects.create_user(LOGIN, email=f"{LOGIN}@example.org", name="Reviewer", password=PASSWORD)
    organisation = Organisation.objects.filter(slug=ORGANISATION).first()
    if organisation is None:
        organisation = create_organisation(slug=ORGANISATION, name="Own runs")
        with acting_in(organisation):
            add_member(user=user, role=Role.OWNER, annotator_name=LOGIN)
    return organisation, user


def _project(file: Path, template: str) -> Project:
    name = file.name[:150] or "Runs"
    slug = f"{slugify(file.stem.replace('_', '-'))[:50].strip('-') or 'runs'}-{template}"
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        source = next(one for one in TEMPLATES if one.key == template).source(name)
        try:
            project = create_project(slug=slug, name=name)
        except ValidationError as refused:
            raise NothingCameIn(" ".join(refused.messages)) from None
        publish_configuration(project=project, source=source)
    return project
