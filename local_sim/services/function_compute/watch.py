"""Notices that a project's code has changed, so that the next invocation gets a fresh instance."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

VARIABLE = "LOCAL_SIM_CODE_STAMP"
"""Holds the stamp in a handler's environment: workers keep no instance whose environment differs."""
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "python", "dist-info"})
_PAUSE_SECONDS = 0.5


class CodeWatch:
    """Tells a stamp of code folders that changes with their files; looks at the disk at most twice a second."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._known: dict[tuple[Path, ...], tuple[float, str]] = {}

    def stamp(self, folders: Iterable[Path]) -> str:
        """Return the present stamp of the folders. Folders of installed packages are left out."""
        key = tuple(folders)
        now = self._seconds()
        looked, stamp = self._known.get(key, (float("-inf"), ""))
        if now - looked >= _PAUSE_SECONDS:
            stamp = _stamp(key)
            self._known[key] = (now, stamp)
        return stamp


def _stamp(folders: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for folder in folders:
        for parent, names, files in os.walk(folder):
            names[:] = sorted(name for name in names if name not in _SKIPPED and not name.startswith("."))
            for file in sorted(files):
                path = os.path.join(parent, file)
                try:
                    found = os.stat(path)
                except OSError:  # removed while we look
                    continue
                digest.update(f"{path}\0{found.st_mtime_ns}\0{found.st_size}\n".encode("utf-8", "replace"))
    return digest.hexdigest()[:16]
