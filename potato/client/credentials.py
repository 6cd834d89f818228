"""Where a token comes from: the program, the environment, or what `potato login` kept. It is kept by keyring where that
is installed and has a place for it, else in a file that its owner alone can read."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from potato.client.errors import NotConfigured

SERVICE = "potato-review"
URL, TOKEN = "POTATO_URL", "POTATO_TOKEN"


@dataclass(frozen=True)
class Login:
    """A site and a token for it."""

    address: str
    token: str

    def __repr__(self) -> str:
        return f"Login({self.address!r}, ...)"


def saved_login(address: str | None = None, token: str | None = None) -> Login:
    """What is given, completed from the environment and then from what was kept. A token that was kept goes to its own
    site alone. Raises NotConfigured."""
    kept = _read()
    address = address or os.environ.get(URL) or kept.get("address")
    if not address:
        raise NotConfigured(f"It is not known which site to ask. Run `potato login ADDRESS`, or set {URL}.")
    token = token or os.environ.get(TOKEN)
    if not token and kept.get("address") == address.rstrip("/"):
        token = kept.get("token") or _from_keyring(address.rstrip("/"))
    if not token:
        raise NotConfigured(f"There is no token for {address}. Run `potato login {address}`, or set {TOKEN}.")
    return Login(address.rstrip("/"), token)


def keep(login: Login) -> str:
    """Keep the login, in place of another; answers where its token is, for people."""
    forget()
    facts = {"address": login.address}
    where = "the keyring of this account"
    if not _to_keyring(login):
        facts["token"] = login.token
        where = str(place())
    place().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Made with its rights: at no moment can others read it.
    handle = os.open(place(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        json.dump(facts, file)
    return where


def forget() -> str | None:
    """Forget the login that was kept; answers its site. The token itself is valid until it is revoked."""
    kept = _read()
    address = kept.get("address")
    if address and "token" not in kept and (ring := _keyring()) is not None:
        with suppress(ring.errors.KeyringError):
            ring.delete_password(SERVICE, address)
    place().unlink(missing_ok=True)
    return address


def place() -> Path:
    """The file of the login."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "potato" / "login.json"


def _read() -> dict[str, Any]:
    try:
        facts = json.loads(place().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _keyring() -> Any:
    try:
        import keyring
        import keyring.errors
    except ImportError:
        return None
    return keyring


def _from_keyring(address: str) -> str | None:
    ring = _keyring()
    if ring is None:
        return None
    try:
        token: str | None = ring.get_password(SERVICE, address)
    except ring.errors.KeyringError:
        return None
    return token


def _to_keyring(login: Login) -> bool:
    ring = _keyring()
    if ring is None:
        return False
    try:
        ring.set_password(SERVICE, login.address, login.token)
    except ring.errors.KeyringError:
        return False
    return True
