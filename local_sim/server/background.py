"""Starts a server in a process of its own and waits until it answers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import ServerFailed, ServerNotRunning
from .state import ServerState, read_state

LOG_NAME = "server.log"
_SECONDS = 60.0
_TAIL = 2000


def start_background(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> ServerState:
    """Run `local-sim serve` with `arguments` detached and return its state. Raises ServerFailed.

    `environment` is added to the process's own, for what others must not read in a list of processes. The log goes to
    `server.log` in the data folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / LOG_NAME
    with log.open("ab") as output:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own module
            [sys.executable, "-m", "local_sim.cli", "serve", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        state = _state_of(folder, process.pid)
        if state is not None:
            return state
        if process.poll() is not None:
            break
        time.sleep(0.02)
    process.kill()
    process.wait()
    raise ServerFailed(log, log.read_bytes()[-_TAIL:].decode("utf-8", "replace"))


def _state_of(folder: Path, pid: int) -> ServerState | None:
    try:
        state = read_state(folder)
    except ServerNotRunning:
        return None
    return state if state.pid == pid else None
