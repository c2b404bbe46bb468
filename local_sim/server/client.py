"""Talks to a running server's control endpoint."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .control import TOKEN_HEADER
from .errors import ServerUnreachable
from .front import CONTROL_PREFIX
from .state import FILE_NAME, ServerState, read_state

_SECONDS = 5.0
_STOP_SECONDS = 20.0


class ControlClient:
    """The control endpoint of the server on a data folder. Raises ServerNotRunning when there is none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state: ServerState = read_state(folder)

    def call(self, method: str, path: str, document: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and return the answer's document. Raises ServerUnreachable, also when it is refused."""
        address = urlsplit(self.state.endpoint)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=_SECONDS)
        body = None if document is None else json.dumps(document).encode()
        try:
            connection.request(method, CONTROL_PREFIX + path, body, {TOKEN_HEADER: self.state.token})
            answer = connection.getresponse()
            found = json.loads(answer.read())
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise ServerUnreachable(self.state.endpoint, str(error) or type(error).__name__) from error
        finally:
            connection.close()
        if answer.status != 200:
            raise ServerUnreachable(self.state.endpoint, str(found.get("error", answer.status)))
        return dict(found)

    def stop(self) -> None:
        """Ask the server to stop and wait until it has. Raises ServerUnreachable when it does not."""
        self.call("POST", "stop")
        deadline = time.monotonic() + _STOP_SECONDS
        while time.monotonic() < deadline:
            if not (self.folder / FILE_NAME).exists():
                return
            time.sleep(0.02)
        raise ServerUnreachable(self.state.endpoint, f"process {self.state.pid} has not stopped")
