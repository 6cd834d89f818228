"""A trace with files and a code review of it over the API, for stories of people and programs that annotate."""

import copy
import json
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.test import Client

from accounts.actions.projects import publish_configuration
from accounts.models import Organisation, Project, User
from potato.runs.model import FileEvent
from tenancy.actor import acting_in
from tests.assignments.described import deviations
from tests.review.documented_record import RECORD
from tests.review.evidence import numbered
from tests.traces.stored import outcome, stored
from traces.models import Trace

DOCUMENTED: dict[str, Any] = RECORD["annotations"]
FILES = (
    outcome("src/parser.py", numbered(60), numbered(60, (15, 42))),
    outcome("tests/test_parser.py", numbered(26), numbered(31)),
)


def review_yaml(**blocks: Any) -> str:
    """A project of code review, as JSON, which is YAML: its three schemes with these settings, and blocks beside
    them."""
    schemes = {
        "inline_comments": ("code_review_comments", {"severity": {"enabled": True}}),
        "file_ratings": ("code_review_file_ratings", {}),
        "verdict": ("code_review_verdict", {}),
    }
    entries = [
        {"name": name, "annotation_type": kind, name: {**block, **blocks.get(name, {})}}
        for name, (kind, block) in schemes.items()
    ]
    given = {name: blocks[name] for name in ("assignment", "guidelines", "review", "visibility") if name in blocks}
    return json.dumps({"task_name": "Review", "annotation_schemes": entries, **given})


def reviewed(
    organisation: Organisation,
    project: Project,
    *events: FileEvent,
    external_id: str = "trace_042",
    patch: bytes | None = None,
    **blocks: Any,
) -> Trace:
    """The trace of these files in the project, published with these settings."""
    with acting_in(organisation):
        publish_configuration(project=project, source=review_yaml(**blocks))
    return stored(organisation, project, *(events or FILES), external_id=external_id, patch=patch)


@dataclass
class Api:
    """The API as one person or program calls it. Every answer is compared with the description of the API."""

    client: Client
    base: str = "/o/acme/api/v1/"
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **query: str) -> Any:
        return self._asked("GET", path, self.client.get(self.base + path, query, headers=self.headers))

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        given = {**self.headers, **headers}
        answer = self.client.post(self.base + path, dumps(body or {}), "application/json", headers=given)
        return self._asked("POST", path, answer)

    def put(self, path: str, body: Any) -> Any:
        answer = self.client.put(self.base + path, dumps(body), "application/json", headers=self.headers)
        return self._asked("PUT", path, answer)

    def _asked(self, method: str, path: str, answer: Any) -> Any:
        assert deviations(method, self.base + path, answer) == []
        return answer

    def claim(self, project: str = "parser") -> dict[str, Any]:
        answer = self.post(f"projects/{project}/next/")
        assert answer.status_code == 200, answer.content
        found: dict[str, Any] = answer.json()["assignment"]
        return found

    def save(self, assignment: dict[str, Any], content: Any, revision: int = 0) -> Any:
        body = {"lease_token": assignment["lease_token"], "revision": revision, "content": content}
        return self.put(f"assignments/{assignment['id']}/draft/", body)

    def submit(self, assignment: dict[str, Any], annotations: Any, key: str = "") -> Any:
        body = {"lease_token": assignment["lease_token"], "annotations": annotations}
        return self.post(f"assignments/{assignment['id']}/submit/", body, **{"Idempotency-Key": key or str(uuid4())})


def dumps(body: Any) -> str:
    return json.dumps(body, ensure_ascii=True)


def api_of(person: User | None, *, csrf: bool = False) -> Api:
    client = Client(enforce_csrf_checks=csrf)
    if person is not None:
        client.force_login(person)
    return Api(client)


def documented() -> dict[str, Any]:
    """The answers of the documented record, each time a new copy."""
    return copy.deepcopy(DOCUMENTED)
