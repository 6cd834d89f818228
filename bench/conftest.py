"""Measurements run on the tests' servers and fixtures; the servers write without fsync, so disks are left out."""

from tests.conftest import *  # noqa: F403  (the same fixtures)
from tests.faults.conftest import machine  # noqa: F401  (a broker and workers of its own)
