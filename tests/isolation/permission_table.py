"""Who gets which answer from every route: one line a route, or one a method where GET and POST differ.

The people: nobody signed in; charlie, a stranger in Acme; bob, mallory, dora and alice, who annotate, manage,
administer and own there. All ask under Acme's slug for Acme's rows; `foreign` is alice asking under it for Birch's
rows, and has a dash where the address names no row. Outside organisations the same people ask; of the API there,
which tokens alone open, tests/accounts/test_tokens.py says who is let in.

The lines stand in tests/isolation/permissions. A new route gets one: tests/isolation/test_permission_table.py prints
those that are missing, with the answers of today: read them before you copy them.
"""

from dataclasses import dataclass

from tests.isolation.addresses import Address
from tests.isolation.permissions.admin import ADMIN
from tests.isolation.permissions.api import API
from tests.isolation.permissions.pages import PAGES

PEOPLE = ("anonymous", "stranger", "annotator", "manager", "admin", "owner")


@dataclass(frozen=True)
class Row:
    """The expected answers to one method, or to GET and POST alike where it is `any`."""

    method: str
    address: Address
    statuses: tuple[int, ...]
    """One a person, in the order of PEOPLE."""
    foreign: int | None

    @property
    def methods(self) -> tuple[str, ...]:
        return ("GET", "POST") if self.method == "any" else (self.method,)

    def __str__(self) -> str:
        answers = [*self.statuses, "-" if self.foreign is None else self.foreign]
        return f"{self.method:<7}{self.address.text:<76}" + " ".join(f"{answer:>9}" for answer in answers)


def read_table(text: str) -> list[Row]:
    rows = []
    for line in text.splitlines()[2:]:
        if line.strip():
            method, address, *statuses, foreign = line.split()
            rows.append(
                Row(method, Address(address), tuple(map(int, statuses)), None if foreign == "-" else int(foreign))
            )
    return rows


ROWS = [row for table in (PAGES, ADMIN, API) for row in read_table(table)]
