"""Events and commands as JSON objects and back: what the journal stores.

An object is `{"type": "TaskFailed", ...}` with the dataclass's own field names; fields at their default are written
too, and may be missing when read. The values inside (`input`, `output`, `parameters`) are kept as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from enum import Enum
from typing import Any, TypeVar, cast, get_args

from local_sim.definition.model import TaskMode

from .commands import Command, Ignored, Reason
from .errors import BadEventError
from .events import Event, Json, Status

_T = TypeVar("_T")

_READERS: dict[str, Callable[[Any], object]] = {"status": Status, "mode": TaskMode, "path": tuple}


class _Shape:
    """One dataclass as the codec sees it: its field names and the ones that must be there."""

    def __init__(self, kind: type[Any]) -> None:
        self.kind = kind
        self.names = tuple(item.name for item in fields(kind))
        self.required = frozenset(
            item.name for item in fields(kind) if item.default is MISSING and item.default_factory is MISSING
        )
        self.readers = {name: _READERS[name] for name in self.names if name in _READERS}
        if kind is Ignored:
            self.readers["reason"] = Reason


_EVENTS = {kind.__name__: _Shape(kind) for kind in get_args(Event)}
_COMMANDS = {kind.__name__: _Shape(kind) for kind in get_args(Command)}


def encode_event(event: Event) -> dict[str, Json]:
    """Return the event as a JSON object."""
    return _encode(event, _EVENTS)


def decode_event(stored: Json) -> Event:
    """Return the event of an object that `encode_event` made. Raises BadEventError."""
    return cast(Event, _decode(stored, _EVENTS))


def encode_command(command: Command) -> dict[str, Json]:
    """Return the command as a JSON object."""
    return _encode(command, _COMMANDS)


def decode_command(stored: Json) -> Command:
    """Return the command of an object that `encode_command` made. Raises BadEventError."""
    return cast(Command, _decode(stored, _COMMANDS))


def _encode(item: object, shapes: dict[str, _Shape]) -> dict[str, Json]:
    name = type(item).__name__
    stored: dict[str, Json] = {"type": name}
    for field in shapes[name].names:
        value = getattr(item, field)
        stored[field] = value.value if isinstance(value, Enum) else list(value) if type(value) is tuple else value
    return stored


def _decode(stored: Json, shapes: dict[str, _Shape]) -> object:
    if not isinstance(stored, dict) or not isinstance(stored.get("type"), str):
        raise BadEventError("an object with a type was expected", stored)
    shape = shapes.get(stored["type"])
    if shape is None:
        raise BadEventError(f"unknown type {stored['type']!r}", stored)
    values = {key: value for key, value in stored.items() if key != "type"}
    if unknown := values.keys() - set(shape.names):
        raise BadEventError(f"{stored['type']} has no field {min(unknown)!r}", stored)
    if missing := shape.required - values.keys():
        raise BadEventError(f"{stored['type']} lacks the field {min(missing)!r}", stored)
    try:
        for field, read in shape.readers.items():
            if field in values:
                values[field] = read(values[field])
    except (TypeError, ValueError) as error:
        raise BadEventError(f"{stored['type']}: {error}", stored) from None
    return shape.kind(**values)
