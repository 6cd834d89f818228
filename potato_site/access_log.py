"""gunicorn's log of requests, for who switches it on, without the secrets of invitations' links."""

from typing import Any

from gunicorn.glogging import Logger

from accounts.invitation_links import without_secrets


class AccessLog(Logger):  # type: ignore[misc]  # gunicorn ships no types
    def atoms(self, *args: Any) -> dict[str, Any]:
        """What a format can ask for: the path, the referring page and every header among it."""
        atoms: dict[str, Any] = super().atoms(*args)
        return {
            name: without_secrets(self, "", each) if isinstance(each, str) else each for name, each in atoms.items()
        }
