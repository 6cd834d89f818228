"""What the tests of the task page do: publish a configuration, import a small trace, claim it and open its page."""

import json
import re
from typing import Any
from uuid import uuid4

from django.test import Client

from accounts.actions.projects import publish_configuration
from accounts.models import User
from assignments.actions.claiming import claim_next
from assignments.actions.submitting import store_submission
from assignments.models import Assignment
from tenancy.actor import acting_in
from tests.pages import text_of
from tests.tenants import Tenants
from tests.traces.stored import code, outcome, read, step, stored
from traces.models import Trace

GUIDELINES = """\
guidelines: |
  Look at **edge cases** first.
"""
DEFAULTS = 'task_name: "Coding Agent Code Review"\n'
REWARDS = "annotation_schemes:\n  - {name: rewards, annotation_type: process_reward, mode: first_error}\n"


def publish(tenants: Tenants, source: str = DEFAULTS) -> None:
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=source, confirmed=True)


def display(**options: str) -> str:
    """A configuration with these keys of coding_trace_display, or below `file_tree__`."""
    plain = [f"    {key}: {value}" for key, value in options.items() if not key.startswith("file_tree__")]
    tree = [f"      {key[11:]}: {value}" for key, value in options.items() if key.startswith("file_tree__")]
    lines = ["agentic:", "  coding_trace_display:", *plain, *(["    file_tree:", *tree] if tree else [])]
    return DEFAULTS + "\n".join(lines) + "\n"


def small(tenants: Tenants, **more: Any) -> Trace:
    files = (
        outcome("src/parser.py", code(40), code(40).replace("old 20", "new 20")),
        outcome("src/new.py", None, code(3)),
        outcome("tests/gone.py", code(3), None),
        read("README.md", "read me\n"),
    )
    return stored(tenants.acme, tenants.acme_project, *files, steps=(step("I look."), step("I fix.")), **more)


def claimed(tenants: Tenants, user: User | None = None) -> Assignment:
    with acting_in(tenants.acme, user or tenants.bob):
        given = claim_next(project=tenants.acme_project, user=user or tenants.bob)
        assert isinstance(given, Assignment), given
        return given


def path_of(assignment: Assignment, tab: str = "") -> str:
    return f"/o/acme/p/parser/tasks/{assignment.pk}/{tab}"


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script id="task-data" type="application/json">(.*?)</script>', page)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def opened(tenants: Tenants, client: Client, source: str = DEFAULTS, tab: str = "") -> str:
    """The page of a task under this configuration."""
    publish(tenants, source)
    small(tenants)
    return text_of(client.get(path_of(claimed(tenants), tab)))


def submit_verdict(assignment: Assignment) -> None:
    result: dict[str, Any] = {"verdict": {"decision": "approve", "summary": "Good, and I looked at all of it."}}
    store_submission(
        assignment=assignment,
        fencing_token=assignment.fencing_token,
        key=str(uuid4()),
        payload=result,
        result=result,
    )
