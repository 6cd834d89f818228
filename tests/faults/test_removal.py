"""Acceptance test 24, removal of an organisation: killed again and again, it ends with nothing of it left anywhere, and
the neighbour keeps everything."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from pytest_django import Settings

from accounts.models import Organisation
from leaving.closing import freeze_organisation, still_there
from leaving.searching import files_with, rows_with
from tenancy.actor import acting_in, unscoped
from tests.faults.conftest import Machine
from tests.isolation.fixtures import make_fixtures
from tests.isolation.rows.fixtures import Fixtures
from tests.tenants import Tenants

KILLS = 4
_ROW_BY_ROW = """
import django
django.setup()
from accounts.models import Organisation
from leaving.closing import remove_organisation
organisation = Organisation.objects.get(slug="acme")
remove_organisation(organisation=organisation, at_most=1, said=lambda sentence: print(sentence, flush=True))
"""
_COMMAND = """
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "purge_organisation", "acme", "--yes", "--now"])
"""


@pytest.fixture
def both(machine: Machine, committed_tenants: Tenants, settings: Settings, tmp_path: Path) -> tuple[Fixtures, Fixtures]:
    settings.MEDIA_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path)}},
        "exports": {"BACKEND": "exports.storage.DurableFileSystemStorage", "OPTIONS": {"location": str(tmp_path)}},
    }
    machine.settings |= {"MEDIA_ROOT": str(tmp_path), "EXPORT_ROOT": str(tmp_path)}
    fixtures = make_fixtures(committed_tenants)
    for each in fixtures:
        storages["exports"].save(f"exports/{each.organisation.pk}/x/0", ContentFile(each.mark.encode()))
    return fixtures


def marked(mark: str) -> list[str]:
    with unscoped("a test looks for marks"):
        return [str(place) for place in (*rows_with([mark]), *files_with([mark]))]


def test_24_a_removal_that_is_killed_goes_on_and_leaves_nothing(
    machine: Machine, both: tuple[Fixtures, Fixtures], committed_tenants: Tenants
) -> None:
    acme = committed_tenants.acme
    with acting_in(acme, committed_tenants.alice):
        freeze_organisation(organisation=acme, by_owner=True)
    neighbour = marked("walnut-birch")
    environment = {**os.environ, **machine.settings, "DJANGO_SETTINGS_MODULE": "potato_site.settings"}
    folder = Path(__file__).parents[2]
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-c", _ROW_BY_ROW], env=environment, cwd=folder, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for _ in range(6):
            assert "rows removed" in process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert still_there(acme.pk) != []
        assert Organisation.objects.filter(pk=acme.pk).exists()
    ended = subprocess.run(
        [sys.executable, "-c", _COMMAND],
        env=environment, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "nothing is left" in ended.stdout
    assert still_there(acme.pk) == []
    assert {place.split(".")[0] for place in marked("quartz-acme")} == {"accounts_user"}
    assert marked(str(acme.pk)) == []
    assert marked("walnut-birch") == neighbour
