"""Schemathesis with all its checks against a running site, once for every kind of caller.

Requests are made from docs/openapi.yaml, with ids of rows that are there. `make fuzz` asks FUZZ_EXAMPLES times as much.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pytest_django.live_server_helper import LiveServer

from accounts.actions.members import put_on_project
from accounts.actions.tokens import make_token
from accounts.models import Membership, User
from tenancy.actor import acting_in
from tenancy.roles import ProjectRole, Role
from tests.isolation.addresses import _VALUES
from tests.isolation.fixtures import make_fixtures
from tests.isolation.rows.fixtures import Fixtures
from tests.tenants import Tenants

ROOT = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "1"))
CALLERS = ("owner", "manager", "annotator", "viewer", "service")

SETTINGS = """
[parameters]
{parameters}

[checks.positive_data_acceptance]
# Rules of the site say more than a JSON Schema can: a configuration has to be publishable, a name has to be free.
expected-statuses = ["2xx", "400", "401", "403", "404", "405", "409", "410", "413", "415", "422", "423", "429"]

[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "410", "411", "413", "415", "422", "423", "429"]
"""


def caller(tenants: Tenants, fixtures: Fixtures, role: str) -> str:
    """The text of a token of somebody who is that in Acme, or on the project of its rows."""
    with acting_in(tenants.acme, tenants.alice):
        if role in ("owner", "manager"):
            member = Membership.objects.get(user=tenants.alice if role == "owner" else tenants.mallory)
        else:
            user = User.objects.create_user(role, email=f"{role}@example.org", name=role.title())
            of = Role.SERVICE if role == "service" else Role.MEMBER
            member = Membership.objects.create(user=user, role=of, annotator_name=role)
            place = ProjectRole.VIEWER if role == "viewer" else ProjectRole.ANNOTATOR
            put_on_project(project=fixtures.rows["accounts.Project"], membership=member, role=place)
        return str(make_token(membership=member, name="fuzzing", by_owner=True)[1])


def parameters(fixtures: Fixtures) -> str:
    """The places of addresses, with the rows of Acme."""
    taken = sorted(name for name in _VALUES if name in described_places())
    values = {name: _VALUES[name](fixtures, "") for name in taken}
    return "\n".join(f'"path.{name}" = {json.dumps(value)}' for name, value in values.items())


def described_places() -> set[str]:
    text = (ROOT / "docs/openapi.yaml").read_text(encoding="utf-8")
    return {name for name in _VALUES if f"{{{name}}}" in text}


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(60 + 600 * EXAMPLES)
@pytest.mark.parametrize("role", CALLERS)
def test_every_route_keeps_to_its_description(
    committed_tenants: Tenants, live_server: LiveServer, tmp_path: Path, role: str
) -> None:
    acme, _ = make_fixtures(committed_tenants)
    token = caller(committed_tenants, acme, role)
    described = yaml.safe_load((ROOT / "docs/openapi.yaml").read_text(encoding="utf-8"))
    # A session opens nothing at this address: a wrong one beside a token would be taken for a wrong way in.
    del described["components"]["securitySchemes"]["session"]
    for methods in described["paths"].values():
        for operation in methods.values():
            operation["security"] = [{"token": []}]
    (tmp_path / "openapi.json").write_text(json.dumps(described), encoding="utf-8")
    settings = tmp_path / "schemathesis.toml"
    settings.write_text(SETTINGS.format(parameters=parameters(acme)), encoding="utf-8")
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            "--config-file", settings,
            "run", tmp_path / "openapi.json",
            "--url", f"{live_server.url}/api/v1",
            "--header", f"Authorization: Bearer {token}",
            "--checks", "all",
            "--phases", "fuzzing",
            "--max-examples", str(EXAMPLES),
            "--seed", str(abs(hash(role)) % 2**31 if EXAMPLES > 1 else CALLERS.index(role)),
            "--continue-on-failure",
            "--generation-database", "none",
            "--suppress-health-check", "all",
            "--warnings", "off",
            "--no-color",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-20000:]}\n{done.stderr[-4000:]}"
