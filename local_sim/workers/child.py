"""The child process of ProcessWorker: one function instance, fed over a socket until the parent goes away."""

from __future__ import annotations

import importlib
import logging
import os
import socket
import sys
import time
from typing import Any

from local_sim.workers import contract, wire

LOG_END = "\0end "
INVOKE, INITIALIZE, PRE_STOP = "invoke", "initialize", "pre-stop"
_DEBUG_HOST = "127.0.0.1"
_PORT_SECONDS = 10


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
    if spec.debug_port:
        _await_debugger(spec.debug_port)
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


def _await_debugger(port: int) -> None:
    """Let an editor attach before any of the function's code is imported, so that every breakpoint is met."""
    debugpy = importlib.import_module("debugpy")
    deadline = time.monotonic() + _PORT_SECONDS
    while True:
        try:
            debugpy.listen((_DEBUG_HOST, port))
            break
        except (OSError, RuntimeError):  # the instance before this one is just letting the port go
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
    debugpy.wait_for_client()


def _serve_one(channel: socket.socket, instance: contract.Instance) -> None:
    message, event = wire.receive(channel)
    request_id = message["request_id"]
    try:
        answer = _answer(instance, message["hook"], event, request_id)
    finally:
        # SystemExit leaves through here: what was printed must reach the parent before the process ends.
        sys.stdout.flush()
        sys.stderr.flush()
    os.write(2, f"{LOG_END}{request_id}\n".encode())
    wire.send(channel, {"error_type": answer.error_type, "memory": contract.memory_mb()}, answer.body)


def _answer(instance: contract.Instance, hook: str, event: bytes, request_id: str) -> contract.Answer:
    if hook == INITIALIZE:
        return instance.initialize(request_id) or contract.Answer(b"")
    if hook == PRE_STOP:
        instance.pre_stop(request_id)
        return contract.Answer(b"")
    return instance.call(event, request_id)
