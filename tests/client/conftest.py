"""A running site with a worker, and a token of Dora, who is an admin of Acme. All else is asked of the site."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from accounts.actions.tokens import make_token
from accounts.models import Membership
from jobs import notifier
from tenancy.actor import acting_in
from tests.faults.conftest import Machine
from tests.faults.conftest import machine as machine
from tests.tenants import Tenants

__all__ = ["machine"]  # A fixture.


@dataclass(frozen=True)
class Site:
    address: str
    token: str


@pytest.fixture
def site(
    machine: Machine, settings: Settings, tmp_path: Path, live_server: LiveServer, committed_tenants: Tenants
) -> Site:
    folder = str(tmp_path / "media")
    settings.MEDIA_ROOT = folder
    settings.STORAGES = {
        **settings.STORAGES,
        "exports": {**settings.STORAGES["exports"], "OPTIONS": {"location": folder}},
    }
    machine.settings |= {"MEDIA_ROOT": folder, "EXPORT_ROOT": folder, "SCHEDULES_SECONDS": "0.5"}
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        member = Membership.objects.get(user=committed_tenants.dora)
        _, text = make_token(membership=member, name="a program", by_owner=True)
    notifier.resume()
    machine.worker()
    # The first request of a run waits for Django to load its routes.
    Client().get("/accounts/login/")
    return Site(live_server.url, str(text))
