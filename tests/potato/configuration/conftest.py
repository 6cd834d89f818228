"""Tests of configurations may say what is installed."""

from collections.abc import Iterator

import pytest

from potato.configuration.converters import installed_converters


@pytest.fixture(autouse=True)
def _converters_are_looked_for_afresh() -> Iterator[None]:
    """A process looks once, and a test may change what it finds."""
    installed_converters.cache_clear()
    yield
    installed_converters.cache_clear()
