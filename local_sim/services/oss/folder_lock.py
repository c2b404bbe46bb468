"""One process a folder: an advisory lock that the system drops when the process dies, however it dies."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from local_sim.services.oss.errors import FolderBusy


class FolderLock:
    """Holds `folder`/lock. Raises `FolderBusy` when another process (or store of this one) holds it."""

    def __init__(self, folder: Path) -> None:
        self._descriptor: int | None = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(self._descriptor)
        except OSError:
            self.release()
            raise FolderBusy(folder) from None

    @property
    def held(self) -> bool:
        """Whether the lock is held."""
        return self._descriptor is not None

    def release(self) -> None:
        """Give the folder back. Safe to call twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:

    def _lock(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
