"""One process a store: an advisory lock that the system drops when the process dies, however it dies."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from local_sim.services.errors import StoreInUse


class FileLock:
    """Holds the lock file `path`; `store` is what it guards.

    Raises `StoreInUse` when another process (or store of this one) holds it.
    """

    def __init__(self, path: Path, store: Path) -> None:
        self._descriptor: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(self._descriptor)
        except OSError:
            self.release()
            raise StoreInUse(store) from None

    @property
    def held(self) -> bool:
        """Whether the lock is held."""
        return self._descriptor is not None

    def release(self) -> None:
        """Give the store back. Safe to call twice."""
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
