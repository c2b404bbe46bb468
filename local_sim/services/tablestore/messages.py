"""The protobuf messages of the wire, taken from the SDK package on first use.

Importing any part of the SDK runs all of it - an HTTP client, numpy, half a second, and two warnings about native
code - while the message files need nothing but protobuf. So the files are run alone. Should the SDK be imported too,
before or after, both get the same classes, since protobuf keeps one class for each message.
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from local_sim.services.tablestore.errors import ParameterInvalid


def table_pb2() -> ModuleType:
    """Return the module with the requests and responses."""
    return _load("table_store_pb2")


def filter_pb2() -> ModuleType:
    """Return the module with conditions and filters."""
    return _load("table_store_filter_pb2")


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
    package = importlib.util.find_spec("tablestore")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("the package 'tablestore', whose messages the service speaks, is not installed")
    file = Path(package.origin).parent / "protobuf" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{__package__}.{name}", file)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"{file} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
