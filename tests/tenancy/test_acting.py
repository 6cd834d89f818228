"""Who acts, and what the database shows and takes."""

import pytest
from django.db import ProgrammingError, connection, transaction

from accounts.models import Project
from tenancy.actor import acting_in, unscoped
from tests.worlds import World


def current_role() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        return str(cursor.fetchone()[0])


def test_without_an_organisation_the_database_is_loud(world: World) -> None:
    with pytest.raises(ProgrammingError, match="no organisation is active"), transaction.atomic():
        Project.objects.count()


def test_an_organisation_sees_its_own_projects(world: World) -> None:
    with acting_in(world.acme):
        assert [project.name for project in Project.objects.all()] == ["Parser review of Acme Research"]


def test_unscoped_sees_all_and_the_role_comes_back(world: World) -> None:
    with unscoped("count every project"):
        assert Project.objects.count() == 2
    assert current_role() == "potato_app"
