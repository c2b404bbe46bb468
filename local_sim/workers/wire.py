"""Messages between a worker and its child: a 4-byte big-endian length, JSON, then as many raw bytes as the JSON
says.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

_HEAD = struct.Struct(">II")


class Closed(Exception):
    """The other side ended."""


def send(channel: socket.socket, message: dict[str, Any], payload: bytes = b"") -> None:
    """Send one message. Raises Closed."""
    text = json.dumps(message).encode()
    try:
        channel.sendall(_HEAD.pack(len(text), len(payload)) + text + payload)
    except (BrokenPipeError, ConnectionError) as error:
        raise Closed from error


def receive(channel: socket.socket) -> tuple[dict[str, Any], bytes]:
    """Receive one message and its payload. Raises Closed, and TimeoutError when the channel has a timeout."""
    head = _exactly(channel, _HEAD.size)
    text_size, payload_size = _HEAD.unpack(head)
    message: dict[str, Any] = json.loads(_exactly(channel, text_size))
    return message, _exactly(channel, payload_size)


def _exactly(channel: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        try:
            part = channel.recv(min(size - len(parts), 1 << 20))
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed from error
        if not part:
            raise Closed
        parts += part
    return bytes(parts)
