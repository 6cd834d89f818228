"""Every route, asked by people whose place is one project, and by tokens that are limited to one.

What they get follows from the right that a route declares, so a route that is added tomorrow is asked too.
"""

from dataclasses import dataclass

import pytest
from django.test import Client
from django.urls import get_resolver

from accounts.actions.members import put_on_project
from accounts.actions.tokens import make_token
from accounts.models import Membership, Project, User
from tenancy.actor import acting_in
from tenancy.permissions import declared_permission, routes
from tenancy.roles import PROJECT_RIGHTS, SCOPED, ProjectRole, Right, Role
from tests.isolation.addresses import _CONVERTED, _NAMED_GROUP, ORGANISATION
from tests.isolation.fixtures import make_fixtures
from tests.isolation.permission_table import ROWS, Row
from tests.isolation.requests import answer, client_of
from tests.isolation.rows.fixtures import Fixtures
from tests.tenants import Tenants

PROJECT_ROUTES = [row for row in ROWS if not row.address.is_global and "/admin/" not in row.address.text]
"""Where members of single projects may come at all."""
OF_THE_ORGANISATION = {f"{ORGANISATION}{path}" for path in ("", "annotations/", "webhooks/", "webhooks/new/")}
TOKEN_ROUTES = [row for row in ROWS if row.address.text.startswith("/api/v1/")]


def rights_by_address() -> dict[str, str]:
    """What each route behind an organisation declares."""
    declared = {}
    for path, pattern in routes("potato_site.organisation_urls"):
        text = ORGANISATION + _CONVERTED.sub(r"<\1>", _NAMED_GROUP.sub(r"<\1>", path)).rstrip("$")
        declared[text] = str(declared_permission(pattern.callback))
    return declared


def changed_by_the_organisation() -> set[str]:
    """Routes that a place in a project lets somebody read, and what they change is the organisation's: its projects."""
    return {
        ORGANISATION + _CONVERTED.sub(r"<\1>", _NAMED_GROUP.sub(r"<\1>", path)).rstrip("$")
        for path, pattern in routes("potato_site.organisation_urls")
        if (right := getattr(pattern.callback, "permission_to_change", None)) is not None and right not in SCOPED
    }


def of_projects(rows: list[Row]) -> list[Row]:
    """Those whose right a place in a project can give; the others are of the whole organisation, and answer 403."""
    declared = rights_by_address()
    return [
        row
        for row in rows
        if declared[
            row.address.text.replace("/api/v1/", f"{ORGANISATION}api/v1/", 1)
            if row.address.text.startswith("/api/v1/")
            else row.address.text
        ]
        in SCOPED
    ]


@dataclass(frozen=True)
class Stage:
    acme: Fixtures
    other: Project
    """A published project of Acme in which nobody of the fixtures works."""


@pytest.fixture
def stage(tenants: Tenants) -> Stage:
    acme, _ = make_fixtures(tenants)
    with acting_in(tenants.acme, tenants.alice):
        return Stage(acme, Project.objects.create(slug="other", name="Other"))


def person_with(
    tenants: Tenants, name: str, role: Role = Role.MEMBER, *, on: Project | None = None, as_: ProjectRole | None = None
) -> Client:
    """A browser of a new member of Acme, who has a place in that project."""
    user = User.objects.create_user(name, email=f"{name}@example.org", name=name.title())
    with acting_in(tenants.acme, tenants.alice):
        membership = Membership.objects.create(user=user, role=role, annotator_name=name)
        if on is not None and as_ is not None:
            put_on_project(project=on, membership=membership, role=as_)
    return client_of(user)


def statuses(client: Client, row: Row, fixtures: Fixtures) -> dict[str, int]:
    where = row.address.filled(slug="acme", fixtures=fixtures)
    return {method: answer(client, method, where).status_code for method in row.methods}


def refused_as_missing(client: Client, fixtures: Fixtures, rows: list[Row]) -> list[str]:
    """Routes that name a row and answer something else than 404, or than 405 where nobody may ask like that."""
    return [
        f"{method} {row.address.text} answered {status}"
        for row in rows
        if row.address.names_a_row
        for method, status in statuses(client, row, fixtures).items()
        if status != 404 and not (status == 405 == row.statuses[-1])
    ]


@pytest.mark.parametrize("role", list(ProjectRole))
def test_who_works_on_another_project_gets_404_for_everything_of_this_one(
    tenants: Tenants, stage: Stage, role: ProjectRole
) -> None:
    client = person_with(tenants, "vera", on=stage.other, as_=role)
    # Of the person's own rights elsewhere: without one in any project the answer is 403, and tells nothing either.
    everything = of_projects(PROJECT_ROUTES) if role == ProjectRole.MANAGER else PROJECT_ROUTES
    asked = [row for row in everything if "<project>" in row.address.text or role == ProjectRole.MANAGER]
    assert len(asked) > 50
    assert refused_as_missing(client, stage.acme, asked) == []


def test_a_service_account_of_no_project_sees_nothing_of_any(tenants: Tenants, stage: Stage) -> None:
    client = person_with(tenants, "robot", Role.SERVICE)
    asked = [row for row in PROJECT_ROUTES if "<project>" in row.address.text]
    assert refused_as_missing(client, stage.acme, asked) == []


def test_who_was_taken_off_an_open_project_gets_404_for_everything_of_it(tenants: Tenants, stage: Stage) -> None:
    from accounts.actions.members import take_off_project

    with acting_in(tenants.acme, tenants.alice):
        take_off_project(
            project=stage.acme.rows["accounts.Project"], membership=Membership.objects.get(user=tenants.bob)
        )
    asked = [row for row in PROJECT_ROUTES if "<project>" in row.address.text]
    assert refused_as_missing(client_of(tenants.bob), stage.acme, asked) == []


def test_the_manager_of_this_project_gets_what_the_manager_of_all_gets(tenants: Tenants, stage: Stage) -> None:
    client = person_with(tenants, "vera", on=stage.acme.rows["accounts.Project"], as_=ProjectRole.MANAGER)
    wrong = [
        f"{method} {row.address.text} answered {status}, and {row.statuses[3]} to the manager of all"
        for row in of_projects(PROJECT_ROUTES)
        for method, status in statuses(client, row, stage.acme).items()
        if status != row.statuses[3] and not (method == "POST" and row.address.text in changed_by_the_organisation())
    ]
    assert wrong == []


@pytest.mark.parametrize("everywhere", [True, False])
def test_a_viewer_reads_and_changes_nothing(tenants: Tenants, stage: Stage, everywhere: bool) -> None:
    if everywhere:
        client = person_with(tenants, "vera", Role.VIEWER)
    else:
        client = person_with(tenants, "vera", on=stage.acme.rows["accounts.Project"], as_=ProjectRole.VIEWER)
    declared, readable = rights_by_address(), {*PROJECT_RIGHTS[ProjectRole.VIEWER], Right.SEE_ORGANISATION}
    wrong = []
    for row in PROJECT_ROUTES:
        may_read = declared[row.address.text] in readable
        for method, status in statuses(client, row, stage.acme).items():
            as_manager = row.statuses[3]
            if method == "GET" and status != (as_manager if may_read else 403):
                wrong.append(f"GET {row.address.text} answered {status}")
            # 404: what is one's own, and is not there; 400: a dry question that a manager may ask, too.
            if method == "POST" and status not in (403, 405) and row.address.text not in _ASKED_BY_POST:
                wrong.append(f"POST {row.address.text} answered {status}")
    assert wrong == []


_ASKED_BY_POST = {ORGANISATION, f"{ORGANISATION}annotations/", f"{ORGANISATION}annotations/<submission_id>/"}
"""Pages that answer a POST as a GET."""


def test_a_token_that_is_limited_to_another_project_gets_404_for_everything_of_this_one(
    tenants: Tenants, stage: Stage
) -> None:
    with acting_in(tenants.acme, tenants.alice):
        owner = Membership.objects.get(user=tenants.alice)
        _, limited = make_token(membership=owner, name="limited", by_owner=True, projects=[stage.other])
        _, here = make_token(
            membership=owner, name="here", by_owner=True, projects=[stage.acme.rows["accounts.Project"]]
        )
        _, whole = make_token(membership=owner, name="whole", by_owner=True)
    client, wrong = Client(raise_request_exception=False), []
    for row in of_projects(TOKEN_ROUTES):
        where = row.address.filled(slug="acme", fixtures=stage.acme)
        for method in row.methods:
            client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {limited}"
            status = answer(client, method, where).status_code
            client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {whole}"
            as_owner = answer(client, method, where).status_code
            client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {here}"
            as_here = answer(client, method, where).status_code
            if row.address.names_a_row and status != 404 and not status == as_owner == 405:
                wrong.append(f"{method} {row.address.text} answered {status} to the token of another project")
            if row.address.names_a_row and as_here != as_owner:
                wrong.append(f"{method} {row.address.text} answered {as_here} instead of {as_owner} to its own")
    assert wrong == []


def test_every_route_of_a_project_names_it_or_a_row_whose_project_is_asked() -> None:
    """That is, the tests above ask for every place that an address can name."""
    assert get_resolver("potato_site.organisation_urls")
    assert {row.address.text for row in PROJECT_ROUTES if not row.address.names_a_row} >= OF_THE_ORGANISATION
