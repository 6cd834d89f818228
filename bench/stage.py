"""What the measured site holds: an organisation, its annotators with sessions, and a project with imported traces."""

import os
from dataclasses import dataclass

import yaml
from django.conf import settings
from django.test import Client

from accounts.actions.organisations import add_member, create_organisation
from accounts.actions.projects import create_project, publish_configuration
from accounts.models import Organisation, Project, User
from jobs.models import Job
from potato.runs.run_files import InMemoryRunFile
from potato_site.demo.runs import FOLDER as DEMO
from tenancy.actor import acting_in
from tenancy.roles import Role
from traces.evidence.fragments import DisplayOptions, published_configuration, render_files, render_steps
from traces.importing.import_job import ImportTraces
from traces.models import ImportedFile, Trace

PLACES = 8
"""Annotations that each trace is given out for."""
OPTIONAL = ("review", "adjudication", "suggestions", "gold", "practice")
"""Blocks of the demo's configuration that are left out, for figures that can be compared with those of releases before
them; BENCH_OPTIONAL=1 measures with them."""


@dataclass(frozen=True)
class Stage:
    organisation: Organisation
    project: Project
    annotators: list[User]


def build_stage(annotators: int) -> Stage:
    """A published project of code review without traces: as the demo configures it, without the optional blocks."""
    organisation = create_organisation(slug="bench", name="Bench Research")
    users = [_person(number) for number in range(annotators)]
    with acting_in(organisation):
        for user in users:
            add_member(user=user, role=Role.ANNOTATOR, annotator_name=user.username)
        project = create_project(slug="review", name="Review")
        configuration = yaml.safe_load((DEMO / "code-review.yaml").read_text(encoding="utf-8"))
        configuration["assignment"]["annotations_per_trace"] = PLACES
        if os.environ.get("BENCH_OPTIONAL") != "1":
            configuration = {key: block for key, block in configuration.items() if key not in OPTIONAL}
        publish_configuration(project=project, source=yaml.safe_dump(configuration, sort_keys=False))
    return Stage(organisation, project, users)


def _person(number: int) -> User:
    name = f"annotator{number}"
    return User.objects.create_user(name, email=f"{name}@example.org", name=name)


def import_traces(stage: Stage, content: bytes, *, rendered: bool = True) -> None:
    """Import records of the format `native` as a worker does; `rendered`: all of them, as if the queue came near."""
    name = "runs.jsonl"
    source = InMemoryRunFile(name, content)
    kind = ImportTraces()
    with acting_in(stage.organisation):
        file = ImportedFile.objects.create(project=stage.project, name=name, size=source.size, format="native")
    job = Job(parameters={"file": str(file.pk)})
    finished = False
    while not finished:
        with acting_in(stage.organisation):
            part = kind.do_part(job, source)
        job.cursor, finished = part.cursor, part.finished
    with acting_in(stage.organisation):
        options = DisplayOptions.of(published_configuration(stage.project))
        traces = list(Trace.objects.filter(file=file))
    for trace in traces if rendered else ():
        with acting_in(stage.organisation):
            render_files(trace.files.all(), options)
            render_steps(trace.steps.all(), options)
    imported = len(traces)
    if imported != content.count(b"\n"):
        raise RuntimeError(f"{imported} of the runs of {name} were imported. Are they too large for an import?")


def sign_in_cookie(user: User) -> str:
    """The cookie's value of a session in which the person is signed in; the site must have our SECRET_KEY."""
    client = Client()
    client.force_login(user)
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)
