"""The child process of ProcessWorker: one function instance, fed over a socket until the parent goes away."""

from __future__ import annotations

import logging
import os
import socket
import sys
from typing import Any

from local_sim.workers import contract, wire

LOG_END = "\0end "


def main(descriptor: int) -> None:
    """Load the function the first message describes, say whether that worked, then answer events until the channel
    closes.
    """
    channel = socket.socket(fileno=descriptor)
    try:
        message, _ = wire.receive(channel)
        instance = _load(channel, message)
        while instance is not None:
            _serve_one(channel, instance)
    except wire.Closed:
        return


def _load(channel: socket.socket, message: dict[str, Any]) -> contract.Instance | None:
    spec = contract.Spec(**message)
    os.chdir(spec.code)
    sys.path[:0] = [spec.code, *spec.beside]
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s [%(levelname)s] %(message)s")
    try:
        instance = contract.Instance(spec)
    except contract.NotLoadable as error:
        wire.send(channel, {"ok": False, "file": error.file, "reason": error.reason})
        return None
    wire.send(channel, {"ok": True})
    return instance


def _serve_one(channel: socket.socket, instance: contract.Instance) -> None:
    message, event = wire.receive(channel)
    request_id = message["request_id"]
    try:
        answer = instance.call(event, request_id)
    finally:
        # SystemExit leaves through here: what was printed must reach the parent before the process ends.
        sys.stdout.flush()
        sys.stderr.flush()
    os.write(2, f"{LOG_END}{request_id}\n".encode())
    wire.send(channel, {"error_type": answer.error_type, "memory": contract.memory_mb()}, answer.body)
