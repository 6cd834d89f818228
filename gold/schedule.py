"""At which places of a person's tasks gold comes. Nobody can foresee it, and asked again it is the same.

Each place is drawn by itself, with the site's secret, so that what came before tells nothing of what comes next. That
it can be asked again lets a page count the gold that is to come among the tasks that are left: the number of them is
the same before and after a task, whatever it was.
"""

from hashlib import blake2b
from uuid import UUID

from django.conf import settings

_DRAWN_OF = 2**16
_A_BLOCK = 32


class Schedule:
    """The places of one person in one project, from 0, of which a share has gold."""

    def __init__(self, project: UUID, user: UUID, rate: float) -> None:
        secret = blake2b(settings.SECRET_KEY.encode(), digest_size=32).digest()
        self._key = blake2b(project.bytes + user.bytes, key=secret, digest_size=32, person=b"gold").digest()
        self._below = round(rate * _DRAWN_OF)

    def has_gold(self, place: int) -> bool:
        return self._block(place // _A_BLOCK)[place % _A_BLOCK]

    def number_among(self, place: int, left: int, available: int) -> int:
        """How much gold comes, of what is available, from the place on until so many other tasks were taken."""
        number = 0
        block = self._block(place // _A_BLOCK)
        while left > 0 and number < available:
            if block[place % _A_BLOCK]:
                number += 1
            else:
                left -= 1
            place += 1
            if not place % _A_BLOCK:
                block = self._block(place // _A_BLOCK)
        return number

    @property
    def start(self) -> float:
        """From which value on, of 0 to 1, the person is given gold in the order of its own."""
        drawn = blake2b(b"", key=self._key, digest_size=7, person=b"start").digest()
        return int.from_bytes(drawn, "big") / 2**56

    def rank(self, name: UUID) -> bytes:
        """A value by which things are put in an order that is this person's alone."""
        return blake2b(name.bytes, key=self._key, digest_size=16, person=b"order").digest()

    def _block(self, number: int) -> list[bool]:
        drawn = blake2b(number.to_bytes(8, "big"), key=self._key, digest_size=2 * _A_BLOCK).digest()
        return [int.from_bytes(drawn[at : at + 2], "big") < self._below for at in range(0, 2 * _A_BLOCK, 2)]
