"""How one parameter's text becomes a typed value: the field helpers that `requests` is made of, and the decoder.

Parsing is lenient where clients differ: `True`, `true` and `1` are the same (cloudflow-api page, section 2, rule 6).
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from local_sim.services.timestamps import parse_ms

from . import limits
from .errors import EntityTooLarge, InvalidArgument, MissingParameter

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,127}", re.ASCII)
"""Flow, execution, schedule and alias names (cloudflow-api page, section 5.1)."""

_Parser = Callable[[str, str], Any]
_Call = TypeVar("_Call")


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable of a flow."""

    name: str
    value: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Environment:
    """A flow's environment variables, in the order given."""

    variables: tuple[Variable, ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """A version and its share, out of the sum of the weights."""

    version: str
    weight: int


@dataclass(frozen=True, slots=True)
class Routing:
    """Where an alias points: one or two versions."""

    routes: tuple[Route, ...]


@dataclass(frozen=True, slots=True)
class _Rule:
    wire: str
    parse: _Parser
    required: bool
    empty: bool = False


def _field(wire: str, parse: _Parser, required: bool, *, empty: bool = False, default: Any = None) -> Any:
    metadata = {"rule": _Rule(wire, parse, required, empty)}
    return dataclasses.field(metadata=metadata) if required else dataclasses.field(default=default, metadata=metadata)


def text(wire: str, *, required: bool = False, longest: int | None = None, empty: bool = False) -> Any:
    """A field of text of at most `longest` characters; `empty`: an empty one counts as given."""

    def parse(parameter: str, value: str) -> str:
        if longest is not None and len(value) > longest:
            raise InvalidArgument(f"Parameter '{parameter}' is longer than {longest} characters.", parameter)
        return value

    return _field(wire, parse, required, empty=empty)


def name(wire: str, *, required: bool = True) -> Any:
    """A field for a name of flow, execution, schedule or alias."""

    def parse(parameter: str, value: str) -> str:
        if not NAME.fullmatch(value):
            rule = "a letter or underscore first, then letters, digits, '_' and '-', 1 to 128 characters"
            raise InvalidArgument(f"Parameter '{parameter}' is not a name: {rule}.", parameter)
        return value

    return _field(wire, parse, required)


def whole(wire: str, low: int, high: int, *, default: int | None = None) -> Any:
    """A field for a whole number from `low` to `high`."""

    def parse(parameter: str, value: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", value.strip(), re.ASCII) or not low <= int(value) <= high:
            raise InvalidArgument(f"Parameter '{parameter}' must be a whole number from {low} to {high}.", parameter)
        return int(value)

    return _field(wire, parse, required=False, default=default)


def fraction(wire: str, low: float, high: float) -> Any:
    """A field for a number from `low` to `high`, fractions allowed."""

    def parse(parameter: str, value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not low <= number <= high:
            raise InvalidArgument(f"Parameter '{parameter}' must be a number from {low} to {high}.", parameter)
        return number

    return _field(wire, parse, required=False)


def flag(wire: str, *, default: bool | None = None) -> Any:
    """A field for a truth value in any of the spellings that clients send."""

    def parse(parameter: str, value: str) -> bool:
        spelled = value.strip().lower()
        if spelled not in ("true", "false", "1", "0"):
            raise InvalidArgument(f"Parameter '{parameter}' must be true or false.", parameter)
        return spelled in ("true", "1")

    return _field(wire, parse, required=False, default=default)


def time(wire: str) -> Any:
    """A field for an RFC 3339 time; its value is milliseconds since the epoch."""

    def parse(parameter: str, value: str) -> int:
        try:
            return parse_ms(value)
        except (ValueError, OverflowError) as error:
            raise InvalidArgument(f"Parameter '{parameter}' is not an RFC 3339 time with a zone.", parameter) from error

    return _field(wire, parse, required=False)


def json_text(wire: str, *, required: bool = False, must_be_object: bool = False) -> Any:
    """A field for JSON kept as its text, at most 64 KiB."""

    def parse(parameter: str, value: str) -> str:
        size = len(value.encode())
        if size > limits.PAYLOAD_BYTES:
            raise EntityTooLarge(f"Parameter '{parameter}'", size, limits.PAYLOAD_BYTES)
        decoded = load_json(parameter, value)
        if must_be_object and not isinstance(decoded, dict):
            raise InvalidArgument(f"Parameter '{parameter}' must be the text of a JSON object.", parameter)
        return value

    return _field(wire, parse, required)


def environment_of(wire: str) -> Any:
    """A field for `{"Variables": [{"Name", "Value", "Description"}]}` as JSON text."""
    return _field(wire, _parse_environment, required=False)


def routing_of(wire: str, *, required: bool = False) -> Any:
    """A field for `[{"Version", "Weight"}]` as JSON text: one or two versions."""
    return _field(wire, _parse_routing, required)


def load_json(parameter: str, value: str) -> Any:
    """Return the JSON value of `value`; raises InvalidArgument for other text, for NaN and for endless nesting."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads(value, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"Parameter '{parameter}' is not JSON: {error}", parameter) from error


def decode_call(kind: type[_Call], values: Mapping[str, str]) -> _Call:
    """Return a `kind` of `requests` built from the wire's parameters; unknown ones are ignored.

    Raises MissingParameter, InvalidArgument or EntityTooLarge.
    """
    arguments: dict[str, Any] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        rule: _Rule = field.metadata["rule"]
        value = values.get(rule.wire)
        if value or (value == "" and rule.empty):
            arguments[field.name] = rule.parse(rule.wire, value)
        elif rule.required:
            raise MissingParameter(rule.wire)
    return kind(**arguments)


def wire_names(kind: type[Any]) -> tuple[str, ...]:
    """Return the parameters of an action in the wire's spelling."""
    return tuple(field.metadata["rule"].wire for field in dataclasses.fields(kind))


def _parse_environment(parameter: str, value: str) -> Environment:
    decoded = load_json(parameter, value)
    items = decoded.get("Variables", []) if isinstance(decoded, dict) else None
    if not isinstance(items, list):
        raise InvalidArgument(f"Parameter '{parameter}' must be an object with a list 'Variables'.", parameter)
    variables = tuple(_parse_variable(parameter, item) for item in items)
    if len({variable.name for variable in variables}) != len(variables):
        raise InvalidArgument(f"Parameter '{parameter}' names a variable twice.", parameter)
    return Environment(variables)


def _parse_variable(parameter: str, item: object) -> Variable:
    fields = item if isinstance(item, dict) else {}
    found = [fields.get("Name"), fields.get("Value", ""), fields.get("Description") or ""]
    if not found[0] or not all(isinstance(part, str) for part in found):
        raise InvalidArgument(f"Parameter '{parameter}': a variable needs texts 'Name' and 'Value'.", parameter)
    return Variable(*found)


def _parse_routing(parameter: str, value: str) -> Routing:
    decoded = load_json(parameter, value)
    if not isinstance(decoded, list) or not 1 <= len(decoded) <= 2:
        raise InvalidArgument(f"Parameter '{parameter}' must be a list of one or two versions with weights.", parameter)
    routes = tuple(_parse_route(parameter, item) for item in decoded)
    if len({route.version for route in routes}) != len(routes):
        raise InvalidArgument(f"Parameter '{parameter}' names a version twice.", parameter)
    if not sum(route.weight for route in routes):
        raise InvalidArgument(f"Parameter '{parameter}': the weights must not all be 0.", parameter)
    return Routing(routes)


def _parse_route(parameter: str, item: object) -> Route:
    fields = item if isinstance(item, dict) else {}
    version, weight = fields.get("Version"), fields.get("Weight")
    if isinstance(version, int) and not isinstance(version, bool):
        version = str(version)
    if (
        not isinstance(version, str)
        or isinstance(weight, bool)
        or not isinstance(weight, int)
        or not 0 <= weight <= 100
    ):
        raise InvalidArgument(f"Parameter '{parameter}': give 'Version' and a whole 'Weight' from 0 to 100.", parameter)
    return Route(version, weight)
