"""Where the embedded servers keep their files, and which user they run as.

Makes folders, and refuses those that belong to somebody else. Changes no permission outside its own folders
and makes no system user.
"""

import hashlib
import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from potato_site.devservices.errors import ServiceError

Purpose = Literal["development", "test"]

CHECKOUT = Path(__file__).resolve().parents[2]
SHARED = Path("/var/tmp")  # noqa: S108 - survives a reboot; every folder we make in it is checked for its owner

# A socket's path has room for 107 bytes on Linux and 103 on macOS.
SOCKET_PATH_BYTES = 100
LONGEST_SOCKET_NAME = "postgresql-18/.s.PGSQL.5432"


@dataclass(frozen=True)
class Locations:
    """The folders of one checkout and one purpose.

    `user` is the unprivileged one that the servers run as when root starts them, else None.
    """

    purpose: Purpose
    base: Path
    sockets: Path
    user: pwd.struct_passwd | None

    @property
    def home(self) -> Path:
        """Locks, logs and one data folder for each server."""
        return self.base / self.purpose

    @property
    def credentials(self) -> Path:
        """The passwords made for a server that was given by its administrator's address."""
        return self.base / "credentials.json"

    def make(self) -> None:
        """Make the folders that hold all others; repeatable."""
        own_folder(self.base, 0o755)
        for folder in (self.home, self.sockets):
            own_folder(folder, 0o755 if self.user else 0o700)

    def make_private(self, folder: Path) -> None:
        """Make a folder that nobody but the servers' user, and root, may enter; repeatable.

        This is the only lock on the sockets: behind it PostgreSQL trusts whoever connects. When root
        starts the servers, another process of the user `nobody` could pass too; a developer's machine
        can live with that.
        """
        own_folder(folder, 0o700, self.user)


def find_locations(purpose: Purpose, *, checkout: Path = CHECKOUT, shared: Path = SHARED) -> Locations:
    """The folders for `purpose` in this checkout: `.local/`, or for root one of its own in `shared`."""
    digest = hashlib.sha256(os.fsencode(checkout)).hexdigest()[:12]
    if os.geteuid() == 0:
        # A checkout below a root-only home can't be entered by the user the servers run as.
        base = shared / f"potato-{digest}"
        return Locations(purpose, base, base / purpose / "sockets", pwd.getpwnam("nobody"))
    base = checkout / ".local"
    sockets = base / purpose / "sockets"
    if len(os.fsencode(sockets / LONGEST_SOCKET_NAME)) > SOCKET_PATH_BYTES:
        # The folder is private, and checked for its owner.
        sockets = Path("/tmp") / f"potato-{os.geteuid()}-{digest}-{purpose}"  # noqa: S108
    return Locations(purpose, base, sockets, None)


def own_folder(folder: Path, mode: int, owner: pwd.struct_passwd | None = None) -> None:
    """Make `folder` with `mode` and `owner` (by default this process's user), or check that it is so."""
    uid, gid = (owner.pw_uid, owner.pw_gid) if owner else (os.geteuid(), -1)
    try:
        folder.mkdir(mode=0o700)
        if owner:
            os.chown(folder, uid, gid)
        folder.chmod(mode)
    except FileExistsError:
        pass
    except OSError as error:
        raise ServiceError(
            f"{folder} can't be made: {error.strerror}. Use a checkout in a folder you may write to."
        ) from error
    state = folder.lstat()
    if not stat.S_ISDIR(state.st_mode):
        raise ServiceError(f"{folder} is not a folder. Remove it and try again.")
    if state.st_uid == os.geteuid() and uid != state.st_uid:
        # We were interrupted between mkdir and chown.
        os.chown(folder, uid, gid)
    elif state.st_uid != uid:
        raise ServiceError(
            f"{folder} belongs to user id {state.st_uid}, not to {uid}: somebody else made it. "
            "Remove it, or use a checkout of your own."
        )
    if stat.S_IMODE(state.st_mode) & ~mode & 0o077:
        raise ServiceError(
            f"{folder} is open to other users (mode {stat.S_IMODE(state.st_mode):o}, expected {mode:o}). "
            "If what is in it is yours, close it with chmod and try again; if not, remove it."
        )
