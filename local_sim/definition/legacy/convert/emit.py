"""Writes states as YAML, with the old text's comments before them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from local_sim.definition.scalars import BadScalar, read_plain, reading_of_yaml_11

Json = Any
State = dict[str, Any]
_PLAIN = re.compile(r"[^\W\d](?:[\w .()/-]|:(?=[\w:]))*(?:\.\$)?|\$[\w.]+")
_PLAIN_IN_BLOCK = re.compile(r"[^\W\d][\w.]*\((?:[\w.$, -]|\[\d+\])*\)|\$[\w.]+(?:\[\d+\][\w.]*)*")
_SCOPES = ("Branches", "Processor")


def emit_flow(header: Mapping[str, Json], states: Sequence[State], comments: Mapping[int, Sequence[str]]) -> str:
    """Return the text of a flow. `comments` are by the state's identity (`id`); key 0: those before the flow."""
    lines = [f"# {comment}".rstrip() for comment in comments.get(0, ())]
    lines += [f"{key}: {scalar(value)}" for key, value in header.items()]
    return "\n".join([*lines, "States:", *_states(states, "  ", comments), ""])


def _states(states: Sequence[State], indent: str, comments: Mapping[int, Sequence[str]]) -> Iterator[str]:
    for state in states:
        yield from (f"{indent}# {comment}".rstrip() for comment in comments.get(id(state), ()))
        first = True
        for key, value in state.items():
            lead = f"{indent}{'- ' if first else '  '}"
            first = False
            if key in _SCOPES and state["Type"] != "Choice":
                yield f"{lead}{key}:"
                yield from _scopes(value, f"{indent}    ", comments)
            else:
                yield from _entry(key, value, lead, f"{indent}    ")


def _scopes(value: Json, indent: str, comments: Mapping[int, Sequence[str]]) -> Iterator[str]:
    listed = isinstance(value, list)
    for scope in value if listed else [value]:
        yield f"{indent}{'- ' if listed else ''}StartAt: {scalar(scope['StartAt'])}"
        inner = f"{indent}  " if listed else indent
        yield f"{inner}States:"
        yield from _states(scope["States"], f"{inner}  ", comments)


def _entry(key: str, value: Json, lead: str, indent: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        yield f"{lead}{scalar(key)}:"
        for inner, item in value.items():
            yield from _entry(inner, item, indent, f"{indent}  ")
    elif isinstance(value, list) and value and any(isinstance(item, dict | list) and item for item in value):
        yield f"{lead}{scalar(key)}:"
        for item in value:
            yield from _item(item, indent)
    else:
        yield f"{lead}{scalar(key)}: {_block(value)}"


def _item(item: Json, indent: str) -> Iterator[str]:
    if not isinstance(item, dict) or not item:
        yield f"{indent}- {_flow(item)}"
        return
    lead = f"{indent}- "
    for key, value in item.items():
        yield from _entry(key, value, lead, f"{indent}    ")
        lead = f"{indent}  "


def _block(value: Json) -> str:
    return value if isinstance(value, str) and _PLAIN_IN_BLOCK.fullmatch(value) else _flow(value)


def _flow(value: Json) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{scalar(key)}: {_flow(item)}' for key, item in value.items())}}}"
    return f"[{', '.join(map(_flow, value))}]" if isinstance(value, list) else scalar(value)


def scalar(value: Json) -> str:
    """Return a scalar; text is quoted unless every reader of YAML 1.1 and 1.2 takes it for that text."""
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value == value.strip() and not _ambiguous(value):
        return value
    if '"' in value and "'" not in value and value.isprintable():
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=not value.isprintable())


def _ambiguous(text: str) -> bool:
    try:
        return not isinstance(read_plain(text), str) or bool(reading_of_yaml_11(text))
    except BadScalar:
        return True
