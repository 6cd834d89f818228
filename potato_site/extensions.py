"""Packages of others that bring templates and static files: they name their Django app by an entry point."""

from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec

from django.core.exceptions import ImproperlyConfigured

ENTRY_POINT_GROUP = "potato.apps"


def installed_apps() -> list[str]:
    """What such packages add to INSTALLED_APPS, in the order of its names.

    It comes after our own apps, so that a template or a static file of ours is never replaced.
    """
    return list(dict.fromkeys(_app(entry) for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=_value)))


def _value(entry: EntryPoint) -> str:
    return entry.value


def _app(entry: EntryPoint) -> str:
    # Not imported: apps are loaded in their order, after the settings.
    name = entry.value.partition(".")[0]
    if find_spec(name) is None:
        package = entry.dist.name if entry.dist else entry.name
        raise ImproperlyConfigured(
            f"The package {package} names the app {entry.value} in {ENTRY_POINT_GROUP}, and there is no {name} to "
            "import. Install the package again, or uninstall it."
        )
    return entry.value
