"""Option texts to values."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

from local_sim.runner import BadInput, Decision


def read_input(text: str) -> object:
    """Return the JSON of `--input`: a file's, standard input's for `-`, or the text's own. Raises BadInput."""
    name, content = "", text
    if text == "-":
        name, content = "from standard input ", sys.stdin.read()
    elif not text.lstrip().startswith(("{", "[")):
        name = f"file {text} "
        try:
            content = Path(text).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise BadInput(f"file {text} is not UTF-8 text") from None
        except OSError as error:
            raise BadInput(f"file {text} cannot be read: {error.strerror or error}") from None
    value = _parsed(content, name, text if name.startswith("file") else "")
    if not isinstance(value, dict):
        raise BadInput(f"{name}must be a JSON object, not {type(value).__name__}")
    return value


def _parsed(content: str, name: str, file: str) -> object:
    """Return the JSON value of a text called `name`. Raises BadInput with the place, in `file` when there is one."""
    try:
        value = json.loads(content, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise BadInput(f"{name}is not JSON: {error.msg} ({_place(content, error.pos, file)})") from None
    except _Constant as error:
        at = next(found.start() for found in _STRING_OR_CONSTANT.finditer(content) if not found[0].startswith('"'))
        raise BadInput(f"{name}is not JSON: {error} is no JSON number ({_place(content, at, file)})") from None
    except RecursionError:
        raise BadInput(f"{name}is nested too deeply") from None
    except UnicodeEncodeError:
        at = next((found.start() for found in _SURROGATE.finditer(content)), 0)
        raise BadInput(f"{name}holds half of a surrogate pair ({_place(content, at, file)})") from None
    except ValueError as error:  # a number of more digits than Python reads (A48)
        raise BadInput(f"{name}cannot be read: {str(error).partition(';')[0]}") from None
    return value


class _Constant(Exception):
    """NaN or Infinity, which Python reads and JSON does not know."""


_STRING_OR_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity')
_SURROGATE = re.compile(r"(?i)\\ud[89a-f][0-9a-f]{2}|[\ud800-\udfff]")


def _refuse_constant(name: str) -> object:
    raise _Constant(name)


def _place(content: str, index: int, file: str) -> str:
    line, column = content.count("\n", 0, index) + 1, index - content.rfind("\n", 0, index)
    return f"{file}:{line}:{column}" if file else f"column {column}" if line == 1 else f"line {line}, column {column}"


def read_decision(text: str, states: frozenset[str], note: str | None = None) -> Decision:
    """Return the decision of `--decide`: a JSON object or a word, after `STATE=` when that names a state.

    `note` goes along with a word. Raises BadInput.
    """
    state, found, rest = text.partition("=")
    # `more_info note=x` is an answer with a field; only one word before the sign can be meant as a state.
    if found and (state in states or re.fullmatch(r"\w+", state)):
        return Decision(value=read_value(rest, note), state=state)
    return Decision(value=read_value(text, note))


def read_value(text: str, note: str | None = None) -> object:
    """Return a JSON object as such; anything else is a plain word, with the note when one is given."""
    if text.lstrip().startswith("{"):
        value = _parsed(text, "of a decision ", "")
        return {"note": note, **value} if note is not None and isinstance(value, dict) else value
    return text if note is None else f"{text} note={shlex.quote(note)}"
