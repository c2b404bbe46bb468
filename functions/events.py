"""From the bytes FC hands over to a checked event, and from an answer back to text.

FC's `event` is always bytes, never parsed (function-compute.md section 2); tests and other runtimes hand over text or a
dict. Whatever cannot be read is `InvalidInput` saying what is wrong and, for a field, its path (case C53).
"""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from functions.errors import InvalidInput, SystemFault
from functions.settings import Settings

__all__ = ["answer_text", "parse_event", "parse_model", "read_json"]

M = TypeVar("M", bound=BaseModel)


def read_json(event: object) -> Any:
    """The JSON value of `event`: bytes, bytearray, memoryview, text, or a value that is parsed already."""
    if isinstance(event, bytes | bytearray | memoryview):
        event = _decode(bytes(event))
    if not isinstance(event, str):
        return event
    if not event.strip():
        raise InvalidInput("the event is empty; a JSON object is wanted", reason="empty")
    try:
        value = json.loads(event.removeprefix("\ufeff"), parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("the event holds half a surrogate pair", reason="not Unicode text") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the event is not JSON: {str(error)[:100]}", reason="not JSON") from error
    return value


def parse_event(event: object, model: type[M]) -> M:
    """`event` as `model`. Raises `InvalidInput` naming the first bad field."""
    value = read_json(event)
    if not isinstance(value, dict):
        kind = "null" if value is None else type(value).__name__
        raise InvalidInput(f"the event is {kind}; a JSON object is wanted", reason="not an object")
    return parse_model(value, model)


def parse_model(value: object, model: type[M], prefix: str = "") -> M:
    """`value` as `model`; the path in the error starts with `prefix`."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        _refuse(error, prefix)


def answer_text(answer: dict[str, Any], settings: Settings) -> str:
    """`answer` as the text a handler returns: only text and bytes are documented (decision A34).

    Raises `SystemFault` for what JSON cannot carry (NaN, a value that contains itself, bytes), and over `state_bytes`:
    CloudFlow would kill the flow at 64 KiB, out of reach of any Catch (C55).
    """
    try:
        text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise SystemFault(f"the answer is not JSON: {str(error)[:200]}") from error
    if size > settings.state_bytes:
        raise SystemFault(f"the answer has {size} bytes; {settings.state_bytes} are allowed (STEPKEEPER_STATE_BYTES)")
    return text


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the event is not UTF-8 (byte {error.start})", reason="not UTF-8") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _refuse(error: ValidationError, prefix: str) -> NoReturn:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    first = problems[0]
    # Names of union members are no part of the path a person sees.
    parts = [str(part) for part in first["loc"] if str(part) not in {"PayloadRef", "Inline"}]
    path = ".".join([prefix, *parts] if prefix else parts)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    raise InvalidInput(f"{path or 'event'}: {first['msg']}{more}", path=path, reason=first["type"]) from None
