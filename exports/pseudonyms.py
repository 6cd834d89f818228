"""Other names for annotators: the same person has the same one in every export, until the key is replaced.

A keyed hash of the person, not of the name: nobody without the key can try names out.
"""

import hmac
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

_DIGITS = 12


@dataclass(frozen=True)
class Pseudonyms:
    """Names by the organisation's key, which is hexadecimal."""

    key: str
    made_at: datetime

    def of(self, user: UUID, name: str) -> str:
        """The name under which the person leaves."""
        digest = hmac.new(bytes.fromhex(self.key), user.bytes, sha256).hexdigest()
        return f"person_{digest[:_DIGITS]}"

    @property
    def key_id(self) -> str:
        """Tells keys apart, and says nothing of them."""
        return sha256(f"potato pseudonyms {self.key}".encode()).hexdigest()[:12]

    def as_json(self) -> dict[str, Any]:
        """What a manifest says: exports with the same key id name the same people alike."""
        return {"method": "HMAC-SHA256", "key_id": self.key_id, "key_since": self.made_at.isoformat()}
