"""A git pack, read in one pass with bounds. Pure Python, as zlib does the work.

Field notes (git's gitformat-pack)
- "PACK", version 2 (or 3), the number of objects, then the objects, then the SHA-1 of all before it.
- An object: a number whose first byte has the kind in bits 4 to 6 and the size from bit 0 on, seven more bits a byte
  while the high bit is set; then zlib data. A delta first names its base: by the distance back (kind 6), or by id (7).
- A delta: the sizes of base and result, then instructions: copy from the base, or insert what follows. What it makes
  is bounded while it is made: seven bytes may ask for 16 MB.
- A pack of a bundle with prerequisites may have deltas whose base is not in it: these are left out.
"""

import hashlib
import zlib
from collections.abc import Iterator

from potato.repositories.model import ObjectKind, RepositoryBounds, UnreadableRepository, object_id

_KINDS: dict[int, ObjectKind] = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_OFFSET_DELTA, _ID_DELTA = 6, 7
_LONGEST_CHAIN = 4_095
"""The longest chain of deltas that git writes."""


def objects_in(pack: bytes, bounds: RepositoryBounds) -> Iterator[tuple[str, ObjectKind, bytes]]:
    """Every object that the pack holds whole, with its id and kind.

    Raises UnreadableRepository where the pack is broken, or over a bound.
    """
    return _Pack(pack, bounds).objects()


class _Pack:
    def __init__(self, pack: bytes, bounds: RepositoryBounds) -> None:
        self._pack = pack
        self._bounds = bounds
        self._unpacked = 0
        self._whole: dict[int, tuple[ObjectKind, bytes]] = {}
        """Objects by their place."""
        self._places: dict[str, int] = {}
        """Places by the objects' ids."""

    def objects(self) -> Iterator[tuple[str, ObjectKind, bytes]]:
        by_place: dict[int, list[tuple[int, bytes]]] = {}
        by_id: dict[str, list[tuple[int, bytes]]] = {}
        for place, base, content in self._scanned():
            if isinstance(base, int):
                by_place.setdefault(base, []).append((place, content))
            elif isinstance(base, str):
                by_id.setdefault(base, []).append((place, content))
        left = [(place, 0) for place in self._whole]
        while left:
            place, depth = left.pop()
            kind, content = self._whole[place]
            identity = object_id(kind, content)
            for delta_place, delta in by_place.pop(place, []) + by_id.pop(identity, []):
                if depth >= _LONGEST_CHAIN:
                    raise _broken("a chain of differences is too long")
                self._whole[delta_place] = (kind, self._applied(content, delta))
                left.append((delta_place, depth + 1))
            yield identity, kind, content
            del self._whole[place]

    def _scanned(self) -> Iterator[tuple[int, int | str | None, bytes]]:
        """Deltas with their place and their base; whole objects are put where they belong."""
        pack = self._pack
        if pack[:4] != b"PACK" or len(pack) < 32 or int.from_bytes(pack[4:8], "big") not in (2, 3):
            raise _broken("it does not begin as a pack does")
        if hashlib.sha1(pack[:-20], usedforsecurity=False).digest() != pack[-20:]:
            raise _broken("its checksum is another, so it was cut off or altered")
        count = int.from_bytes(pack[8:12], "big")
        if count > self._bounds.objects:
            raise UnreadableRepository(
                "too_many_objects",
                f"It holds {count:,} objects of git; {self._bounds.objects:,} are read. Attach an archive of the one "
                "commit instead: git archive --format=tar.gz COMMIT",
            )
        at = 12
        for _ in range(count):
            place = at
            number, size, at = self._head(at)
            base: int | str | None = None
            if number == _OFFSET_DELTA:
                distance, at = self._distance(at)
                base = place - distance
            elif number == _ID_DELTA:
                base, at = pack[at : at + 20].hex(), at + 20
            elif number not in _KINDS:
                raise _broken(f"an object is of the unknown kind {number}")
            content, at = self._inflated(at, size)
            if base is None:
                self._whole[place] = (_KINDS[number], content)
            else:
                yield place, base, content

    def _head(self, at: int) -> tuple[int, int, int]:
        """The kind's number, the size, and where the rest begins."""
        byte = self._byte(at)
        number, size, shift = byte >> 4 & 7, byte & 15, 4
        while byte & 128:
            at += 1
            byte = self._byte(at)
            size |= (byte & 127) << shift
            shift += 7
            if shift > 60:
                raise _broken("the size of an object is no number")
        return number, size, at + 1

    def _distance(self, at: int) -> tuple[int, int]:
        byte = self._byte(at)
        distance = byte & 127
        while byte & 128:
            at += 1
            byte = self._byte(at)
            distance = (distance + 1) << 7 | byte & 127
            if distance > len(self._pack):
                raise _broken("a difference is to what lies before the pack")
        return distance, at + 1

    def _byte(self, at: int) -> int:
        if at >= len(self._pack) - 20:
            raise _broken("it ends within an object")
        return self._pack[at]

    def _count(self, size: int) -> None:
        if size > self._bounds.object_bytes:
            raise UnreadableRepository(
                "object_too_large",
                f"A file in it has {size:,} bytes; {self._bounds.object_bytes:,} are read. Leave it out of the "
                "repository's file.",
            )
        self._unpacked += size
        if self._unpacked > self._bounds.unpacked_bytes:
            raise UnreadableRepository(
                "unpacks_too_large",
                f"It unpacks to more than {self._bounds.unpacked_bytes:,} bytes. Attach an archive of the one commit "
                "instead: git archive --format=tar.gz COMMIT",
            )

    def _inflated(self, at: int, size: int) -> tuple[bytes, int]:
        self._count(size)
        unpacking = zlib.decompressobj()
        pieces: list[bytes] = []
        length = 0
        view = memoryview(self._pack)[: len(self._pack) - 20]
        try:
            while not unpacking.eof:
                given = view[at : at + 65_536]
                if not given:
                    raise _broken("it ends within an object")
                # One byte more than declared shows that there is more.
                piece = unpacking.decompress(given, size - length + 1)
                pieces.append(piece)
                length += len(piece)
                at += len(given) - len(unpacking.unused_data) - len(unpacking.unconsumed_tail)
                if length > size:
                    raise _broken("an object is larger than it says")
        except zlib.error as error:
            raise _broken("an object cannot be unpacked") from error
        if length != size:
            raise _broken("an object is smaller than it says")
        return b"".join(pieces), at

    def _applied(self, base: bytes, delta: bytes) -> bytes:
        """What the delta makes of its base."""
        base_size, at = _number(delta, 0)
        size, at = _number(delta, at)
        if base_size != len(base):
            raise _broken("a difference is to another text than its base")
        self._count(size)
        made: list[bytes] = []
        length = 0
        while at < len(delta):
            order = delta[at]
            at += 1
            if order & 128:
                start = count = 0
                for bit in range(7):
                    if order >> bit & 1:
                        value = delta[at] if at < len(delta) else 0
                        at += 1
                        if bit < 4:
                            start |= value << 8 * bit
                        else:
                            count |= value << 8 * (bit - 4)
                piece = base[start : start + (count or 65_536)]
                if len(piece) != (count or 65_536):
                    raise _broken("a difference copies what its base does not have")
            elif order:
                piece = delta[at : at + order]
                at += order
            else:
                raise _broken("a difference has an unknown instruction")
            length += len(piece)
            if length > size:
                raise _broken("a difference makes more than it says")
            made.append(piece)
        if length != size:
            raise _broken("a difference makes less than it says")
        return b"".join(made)


def _number(delta: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(delta) and shift < 60:
        byte = delta[at]
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if not byte & 128:
            return value, at
    raise _broken("a difference does not say its sizes")


def _broken(why: str) -> UnreadableRepository:
    return UnreadableRepository("broken_pack", f"The pack in it is broken: {why}. Make the file again.")
