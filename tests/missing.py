"""What a test needs and this machine may lack."""

import os
from typing import NoReturn

import pytest


def missing(what: str) -> NoReturn:
    """Skip the test by name; with CI=true it fails, so that nothing goes untested there without a word."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what}. With CI=true nothing is skipped.", pytrace=False)
    pytest.skip(what)
