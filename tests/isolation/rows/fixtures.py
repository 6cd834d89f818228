"""The rows of one organisation, and what makes one of a table."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db import models

from accounts.models import Organisation, User


@dataclass
class Fixtures:
    """One organisation, the word that marks all its texts, and its rows by model label."""

    organisation: Organisation
    mark: str
    person: User
    # Any, so that a factory can say fixtures.rows["accounts.Project"] where a Project is wanted.
    rows: dict[str, Any] = field(default_factory=dict)


Factories = dict[str, Callable[[Fixtures], models.Model]]
"""What makes a row of each table, by the label of its model. The order is that of their foreign keys: a factory finds
the rows of those above it in `fixtures.rows`."""
