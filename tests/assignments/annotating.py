"""Acme's project at work, for stories that enter no organisation: published, claimed from, submitted."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from accounts.actions.projects import publish_configuration
from accounts.models import Project, User
from assignments.actions.claiming import claim_next
from assignments.actions.submitting import submit
from assignments.models import Assignment, Submission
from tenancy.actor import Actor, acting_in
from tests.tenants import Tenants


@dataclass
class Annotating:
    """The project, seen by its people."""

    tenants: Tenants
    project: Project
    folder: Path

    @property
    def actor(self) -> Actor:
        return Actor(self.tenants.acme.pk, (self.tenants.acme.pk,), self.tenants.alice.pk)

    def publish_schemes(self, task_name: str, *schemes: dict[str, Any], target: int) -> None:
        source = {
            "task_name": task_name,
            "annotation_schemes": schemes,
            "assignment": {"annotations_per_trace": target},
        }
        with acting_in(self.tenants.acme, self.tenants.alice):
            publish_configuration(project=self.project, source=json.dumps(source), confirmed=True)

    def claim(self, user: User) -> Assignment:
        with acting_in(self.tenants.acme, user):
            given = claim_next(project=self.project, user=user)
            assert isinstance(given, Assignment), given
            return Assignment.objects.select_related("trace", "user").get(pk=given.pk)

    def submit_annotations(self, assignment: Assignment, annotations: dict[str, Any]) -> Submission:
        with acting_in(self.tenants.acme, assignment.user):
            return submit(
                assignment=assignment, fencing_token=assignment.fencing_token, key=str(uuid4()), annotations=annotations
            )
