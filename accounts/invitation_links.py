"""What stands in the link of an invitation, and how it is kept out of logs. No Django, no database."""

import re
import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

_TOKEN = re.compile(r"(?P<organisation>[0-9a-f]{32})\.(?P<secret>[A-Za-z0-9_-]{32})")
# From the dot on, which is looked for quickly, where a search for 32 digits stops at each.
_SECRET_OF_TOKEN = re.compile(r"\.(?<=[0-9a-f]{32}\.)[A-Za-z0-9_-]{32}")

_API_TOKEN = re.compile(r"(?P<prefix>pt_[0-9a-f]{32}_[0-9a-f]{12})_[0-9a-f]{48}")
_NAMED = re.compile(
    r"(?P<name>(?:token|secret|passw(?:or)?d|signature|api_?key|credential|auth)[\w-]{0,30}=)[^&\s\"'#\\;]+", re.I
)

_PASSWORD = re.compile(r"(?P<path>/password/set/[0-9a-f-]{36}/)[^/\s\"']+")


@dataclass(frozen=True)
class InvitationToken:
    """The organisation that the look-up is confined to, and the secret that proves the rest."""

    organisation_id: UUID
    secret: str

    @classmethod
    def new(cls, organisation_id: UUID) -> "InvitationToken":
        """A token with 192 random bits."""
        return cls(organisation_id, secrets.token_urlsafe(24))

    @classmethod
    def read(cls, text: str) -> "InvitationToken | None":
        """The token of a link; None for text that no link of ours ever held."""
        match = _TOKEN.fullmatch(text)
        return cls(UUID(match["organisation"]), match["secret"]) if match else None

    @property
    def digest(self) -> str:
        """What is stored: 64 hexadecimal digits. The secret is random and long, so a slow hash would guard no more."""
        return sha256(self.secret.encode()).hexdigest()

    def __str__(self) -> str:
        return f"{self.organisation_id.hex}.{self.secret}"

    def __repr__(self) -> str:
        return f"InvitationToken({self.organisation_id.hex})"


def without_secrets(logger: Any, method: str, line: str) -> str:
    """The line of a log, after all other processors, with the secret of every link and API token blotted out, and what
    an address or a form gives under the name of a secret: `?token=...`.

    Every request writes a line, and most have no `=`: with the question for it, and tokens searched from their dot on,
    a line takes 15,000 instructions of the processor instead of 440,000, and an annotator's loop 1.7 of 68 million less
    (`bench/bench_annotator_loop.py`).
    """
    line = _PASSWORD.sub(r"\g<path>[secret]", line)
    line = _SECRET_OF_TOKEN.sub(".[secret]", line)
    line = _API_TOKEN.sub(r"\g<prefix>_[secret]", line)
    return _NAMED.sub(r"\g<name>[secret]", line) if "=" in line else line
