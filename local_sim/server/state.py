"""The file that says where a data folder's server is: read by `stop`, `env` and `fault`, readable by its owner only."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .errors import ServerNotRunning

FILE_NAME = "server.json"


@dataclass(frozen=True, slots=True)
class ServerState:
    """A running server: its process, its address, the token of its control endpoint, and the variables clients need."""

    pid: int
    endpoint: str
    token: str
    environment: Mapping[str, str] = field(default_factory=dict)


def write_state(folder: Path, state: ServerState) -> None:
    """Write the file whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    staged = folder / f"{FILE_NAME}.{os.getpid()}"
    with open(staged, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        json.dump(asdict(state), file, indent=2)
    staged.replace(folder / FILE_NAME)


def read_state(folder: Path) -> ServerState:
    """Return what the file says. Raises ServerNotRunning when there is none."""
    try:
        return ServerState(**json.loads((folder / FILE_NAME).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise ServerNotRunning(folder) from None


def remove_state(folder: Path, token: str) -> None:
    """Remove the file of the server with this token; another server's stays."""
    try:
        if read_state(folder).token == token:
            (folder / FILE_NAME).unlink(missing_ok=True)
    except ServerNotRunning:
        return
