"""Webhooks of Acme, and a receiver for them on this machine, which the installation names."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from pytest_django import Settings
from time_machine import TimeMachineFixture

from tests.exports.conftest import reviews as reviews  # a fixture
from tests.webhooks.receiver import Receiver, receiving


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.WEBHOOK_ALLOWED_HOSTS = ["127.0.0.1"]
    settings.SITE_URL = "https://review.example.org"
    with receiving() as made:
        yield made


@pytest.fixture
def clock(time_machine: TimeMachineFixture) -> TimeMachineFixture:
    """The time now, which goes on, and can be shifted."""
    time_machine.move_to(datetime.now(UTC))
    return time_machine
