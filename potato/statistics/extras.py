"""What `pip install potato-review` leaves out until somebody wants it, and the sentence that says how to get it."""

from importlib.util import find_spec


class MissingExtra(ModuleNotFoundError):  # noqa: N818  (an answer to the person who asked)
    """A figure or a plot needs a package that an extra of the distribution brings; the message names the command."""


def demand_extra(extra: str, *, package: str, what: str) -> None:
    """Raises MissingExtra where the package cannot be imported. `what` begins the sentence: "Plots are drawn"."""
    if find_spec(package) is None:
        raise MissingExtra(f'{what} with {package}, which is missing: pip install "potato-review[{extra}]"')
