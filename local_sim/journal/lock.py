"""One process at a time drives the executions of a data folder; readers need no lock."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import IO

from .errors import JournalInUse, JournalUnusable


class FolderLock:
    """An exclusive lock on a folder. The system drops it when the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        """Take the lock. Raises JournalInUse, and JournalUnusable when the folder cannot be made or written."""
        self._file: IO[str] | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = (folder / "lock").open("a+", encoding="ascii")
        except OSError as error:
            raise JournalUnusable(folder, error.strerror or str(error)) from None
        try:
            _lock(file)
        except OSError:
            file.seek(0)
            text = file.read().strip()
            file.close()
            raise JournalInUse(folder, int(text) if text.isdigit() else None) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._file = file

    def release(self) -> None:
        """Give the lock back; safe to call twice."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.truncate(0)
            self._file.close()
            self._file = None


def _lock(file: IO[str]) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
