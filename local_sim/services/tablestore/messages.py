"""The protobuf messages of the wire, taken from the SDK package on first use.

Importing any part of the SDK runs all of it (half a second) and, where its native coder has no build, logs two
warnings that mean nothing to a server; so it is imported late and quietly.
"""

from __future__ import annotations

import functools
import importlib
import logging
from types import ModuleType
from typing import Any

from local_sim.services.tablestore.errors import ParameterInvalid

_NOISY = ("tablestore.encoder", "tablestore.decoder")


def table_pb2() -> ModuleType:
    """Return the module with the requests and responses."""
    return _load("tablestore.protobuf.table_store_pb2")


def filter_pb2() -> ModuleType:
    """Return the module with conditions and filters."""
    return _load("tablestore.protobuf.table_store_filter_pb2")


def parse(message: Any, data: bytes) -> Any:
    """Return a `message` (a class) read from `data`; raises `ParameterInvalid` when the bytes are not one."""
    from google.protobuf.message import DecodeError

    parsed = message()
    try:
        parsed.ParseFromString(data)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ParameterInvalid(f"Failed to parse the ProtoBuf message: {error}.") from error
    if not parsed.IsInitialized():
        raise ParameterInvalid(f"Missing fields in the ProtoBuf message: {parsed.FindInitializationErrors()}.")
    return parsed


@functools.cache
def _load(name: str) -> ModuleType:
    loggers = [logging.getLogger(noisy) for noisy in _NOISY]
    for logger in loggers:
        logger.addFilter(_drop_native_warning)
    try:
        return importlib.import_module(name)
    finally:
        for logger in loggers:
            logger.removeFilter(_drop_native_warning)


def _drop_native_warning(record: logging.LogRecord) -> bool:
    return "not available" not in record.getMessage()
