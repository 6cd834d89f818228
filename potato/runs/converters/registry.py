"""Finds the installed converters by the entry-point group `potato.trace_converters`, in the order of their names."""

from functools import cache
from importlib.metadata import entry_points

from potato.runs.model import Converter

ENTRY_POINT_GROUP = "potato.trace_converters"


@cache
def installed() -> dict[str, Converter]:
    """Every installed converter by its name: an entry point names a class that is made without arguments."""
    found = sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: entry.name)
    return {entry.name: entry.load()() for entry in found}
