"""The process that runs a project's panel modules: a line of JSON in, a line of JSON out."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any


def answer(modules: Sequence[Any], question: dict[str, Any]) -> list[Any]:
    """Return the panels of all modules; one that fails gives a panel that says so."""
    panels: list[Any] = []
    for module in modules:
        function = getattr(module, question["about"], None)
        if function is None:
            continue
        try:
            panels += function(question["execution"]) if question["about"] == "execution" else function()
        except Exception as error:  # noqa: BLE001 - whatever a project's module raises, the console goes on
            panels.append({"title": module.__name__, "note": f"{type(error).__name__}: {error}"})
    return panels


def main(names: Sequence[str]) -> None:
    """Answer questions until standard input ends. What modules print goes to standard error."""
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        modules = [import_module(name) for name in names]
        for line in sys.stdin:
            out.write(json.dumps(answer(modules, json.loads(line)), ensure_ascii=False, default=str) + "\n")
            out.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
