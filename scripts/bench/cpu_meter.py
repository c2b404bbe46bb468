"""CPU time of this process and of a server's, which tells more than the clock on a machine that does other work too."""

from __future__ import annotations

import os
import time
from pathlib import Path


class Meter:
    """Counts from its making on. `server` is the process id of the other side."""

    def __init__(self, server: int) -> None:
        self._server = server
        self._ours, self._theirs = time.process_time(), cpu_seconds(server) or 0.0

    def each_ms(self, count: int) -> tuple[float, float]:
        """Return milliseconds of CPU for each of `count` operations: the server's, then this process's."""
        ours = time.process_time() - self._ours
        theirs = (cpu_seconds(self._server) or 0.0) - self._theirs
        return theirs / max(count, 1) * 1000, ours / max(count, 1) * 1000


def cpu_seconds(process: int) -> float | None:
    """Return the CPU time of another process, where the system tells it."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
