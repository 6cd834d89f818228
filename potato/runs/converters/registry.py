"""Finds the installed converters by the entry-point group `potato.trace_converters`, in the order of their names."""

from functools import cache

from potato.entry_points import TRACE_CONVERTERS, installed
from potato.runs.model import Converter


@cache
def trace_converters() -> dict[str, Converter]:
    """Every installed converter by its name: an entry point names a class that is made without arguments."""
    return {name: entry.load()() for name, entry in installed(TRACE_CONVERTERS).items()}
