"""`local-sim exec`."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from local_sim.cloud import LocalCloud
from local_sim.errors import LocalSimError
from local_sim.journal.lock import FolderLock

from .places import choose_data, choose_project


class CommandNotFound(LocalSimError):
    """The command to run does not exist or may not be run."""


def exec_command(command: Sequence[str], data: Path | None, project: Path | None, ports: tuple[int, int]) -> int:
    """Run a command beside the services and return its exit status, 128 + N when signal N ended it.

    `ports` are those of Tablestore and OSS, 0 for free ones.
    """
    chosen = choose_project(project)
    folder = choose_data(data, chosen)
    lock = FolderLock(folder)
    try:
        with LocalCloud(chosen, folder, tablestore_port=ports[0], oss_port=ports[1]) as cloud:
            return _run(command, {**os.environ, **cloud.environment})
    finally:
        lock.release()


def _run(command: Sequence[str], environment: dict[str, str]) -> int:
    try:
        process = subprocess.Popen(list(command), env=environment)  # noqa: S603 - the user's own command
    except OSError as error:
        raise CommandNotFound(f"cannot run {command[0]}: {error.strerror or error}") from None
    while True:
        try:
            status = process.wait()
        except KeyboardInterrupt:
            # The terminal has sent it to the command too; the services stay up until that has dealt with it.
            continue
        return 128 + signal.Signals(-status).value if status < 0 else status
