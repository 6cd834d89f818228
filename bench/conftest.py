"""Measurements run on the tests' servers and fixtures; the servers write without fsync, so disks are left out."""

from tests.conftest import *  # noqa: F403  (the same fixtures)
