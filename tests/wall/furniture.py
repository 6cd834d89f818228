"""Rows of every tenant table, told apart by a word that stands in their text. A new tenant model brings its factory."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db import models

from accounts.models import AuditEvent, ConfigurationVersion, Membership, Organisation, Project, User
from jobs.models import Job, OutboxEvent
from tenancy.actor import acting_in
from tests.worlds import World

CONFIGURATION = """annotation_task_name: {mark}
annotation_schemes:
  - annotation_type: code_review_verdict
    name: verdict
    description: Is the change of {mark} good?
"""


@dataclass
class House:
    """One organisation, the word that marks all its texts, and its rows by model label."""

    organisation: Organisation
    mark: str
    person: User
    # Any, so that a factory can say house.rows["accounts.Project"] where a Project is wanted.
    rows: dict[str, Any] = field(default_factory=dict)


def _membership(house: House) -> Membership:
    user = User.objects.create_user(house.mark, email=f"{house.mark}@example.org", name=house.mark)
    return Membership.objects.create(user=user, annotator_name=house.mark)


def _project(house: House) -> Project:
    return Project.objects.create(slug=house.mark, name=house.mark, draft=CONFIGURATION.format(mark=house.mark))


def _version(house: House) -> ConfigurationVersion:
    return ConfigurationVersion.objects.create(
        project=house.rows["accounts.Project"],
        number=1,
        source=CONFIGURATION.format(mark=house.mark),
        configuration={"task_name": house.mark, "annotation_task_name": house.mark},
        note=house.mark,
        published_by=house.person,
    )


def _audit_event(house: House) -> AuditEvent:
    return AuditEvent.objects.create(verb="project.created", target_label=house.mark, detail={"mark": house.mark})


def _job(house: House) -> Job:
    return Job.objects.create(kind=house.mark, parameters={"mark": house.mark}, created_by=house.person)


def _outbox_event(house: House) -> OutboxEvent:
    return OutboxEvent.objects.create(topic=house.mark, payload={"mark": house.mark})


# In the order of their foreign keys: a factory finds the rows of those above it in house.rows.
FACTORIES: dict[str, Callable[[House], models.Model]] = {
    "accounts.Membership": _membership,
    "accounts.Project": _project,
    "accounts.ConfigurationVersion": _version,
    "accounts.AuditEvent": _audit_event,
    "jobs.Job": _job,
    "jobs.OutboxEvent": _outbox_event,
}


def furnish(world: World) -> tuple[House, House]:
    """Acme's and Birch's rows, one of every tenant model each."""
    houses = House(world.acme, "quartz-acme", world.alice), House(world.birch, "walnut-birch", world.charlie)
    for house in houses:
        with acting_in(house.organisation, house.person):
            for label, make in FACTORIES.items():
                house.rows[label] = make(house)
    return houses
