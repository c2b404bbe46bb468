"""Option texts to values."""

from __future__ import annotations

import json
import re
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
    try:
        value = json.loads(content)
    except json.JSONDecodeError as error:
        where = f"{text}:{error.lineno}:{error.colno}" if name.startswith("file") else f"column {error.colno}"
        raise BadInput(f"{name}is not JSON: {error.msg} ({where})") from None
    except RecursionError:
        raise BadInput(f"{name}is nested too deeply") from None
    if not isinstance(value, dict):
        raise BadInput(f"{name}must be a JSON object, not {type(value).__name__}")
    return value


def read_decision(text: str, states: frozenset[str]) -> Decision:
    """Return the decision of `--decide`: a JSON object or a word, after `STATE=` when that names a state."""
    state, found, rest = text.partition("=")
    # `more_info note=x` is an answer with a field; only one word before the sign can be meant as a state.
    if found and (state in states or re.fullmatch(r"\w+", state)):
        return Decision(value=read_value(rest), state=state)
    return Decision(value=read_value(text))


def read_value(text: str) -> object:
    """Return a JSON object as such; anything else is a plain word."""
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise BadInput(f"of a decision is not JSON: {error.msg} (column {error.colno})") from None
    return text
