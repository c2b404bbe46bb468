"""Can every handler be imported? From the source folders that stand in for the code, or from the built folder (C52)."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.checking.model import Findings
from scripts.template import Node, Resource, Template

__all__ = ["check_code", "stand_ins"]

_SECONDS = 120
_PROBE = """
import importlib, json, sys
job = json.loads(sys.argv[1])
sys.path[:0] = job["folders"]
problems = {}
for handler in job["handlers"]:
    module, _, name = handler.rpartition(".")
    try:
        loaded = importlib.import_module(module.replace("/", "."))
        if not callable(getattr(loaded, name, None)):
            problems[handler] = f"{module}.py defines no function {name!r}"
    except ModuleNotFoundError as error:
        problems[handler] = f"module {error.name!r} is missing"
    except SyntaxError as error:
        problems[handler] = f"syntax error at {error.filename}:{error.lineno}: {error.msg}"
    except BaseException as error:
        problems[handler] = f"{type(error).__name__}: {error}"
print("\\n" + json.dumps(problems))
"""


@dataclass(frozen=True)
class _Handler:
    text: str
    node: Node
    folders: tuple[Path, ...]


def check_code(template: Template, findings: Findings) -> None:
    """Report code that is not there and handlers that are no `file.function` or cannot be imported."""
    table = stand_ins(template.file.parent)
    handlers: list[_Handler] = []
    for resource in template.functions():
        found = _handler(resource, template.file.parent, table, findings)
        if found is not None:
            handlers.append(found)
    for folders in dict.fromkeys(handler.folders for handler in handlers):
        mine = [handler for handler in handlers if handler.folders == folders]
        for text, problem in _imported(folders, [handler.text for handler in mine]).items():
            for handler in mine:
                if handler.text == text:
                    findings.error("SD12", f"handler {text!r}: {problem}", handler.node.place)


def stand_ins(root: Path) -> Mapping[str, tuple[str, ...]]:
    """`[tool.local-sim] code` of pyproject.toml: the source folders that stand in for a built code folder."""
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        document = toml.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    table = document.get("tool", {}).get("local-sim", {}).get("code", {})
    return {key: tuple(value) for key, value in table.items() if isinstance(value, list)}


def _handler(
    resource: Resource, root: Path, table: Mapping[str, tuple[str, ...]], findings: Findings
) -> _Handler | None:
    handler, code = resource.props.fields.get("handler"), resource.props.fields.get("code")
    runtime = resource.props.fields.get("runtime")
    if handler is None or code is None or runtime is None or handler.open or code.open:
        return None
    if not runtime.text.startswith("python") or not code.text or code.text.startswith(("http:", "https:")):
        return None
    if not re.fullmatch(r"[A-Za-z_][\w/]*\.[A-Za-z_]\w*", handler.text):
        findings.error("SD12", f"handler {handler.text!r} is not file.function", handler.place)
        return None
    folders = _folders(root, code.text, table)
    if not folders:
        findings.error("SD14", f"code: there is no {code.text}; has it been built?", code.place)
        return None
    return _Handler(handler.text, handler, folders)


def _folders(root: Path, code: str, table: Mapping[str, tuple[str, ...]]) -> tuple[Path, ...]:
    target = (root / code).resolve()
    for built, sources in table.items():
        if (root / built).resolve() == target:
            return tuple((root / source).resolve() for source in sources)
    return (target,) if target.exists() else ()


def _imported(folders: Sequence[Path], handlers: Sequence[str]) -> Mapping[str, str]:
    """What is wrong with each handler, imported in a process of its own."""
    job = json.dumps({"folders": [str(folder) for folder in folders], "handlers": list(handlers)})
    command = [sys.executable, "-B", "-W", "ignore", "-c", _PROBE, job]
    try:
        done = subprocess.run(  # noqa: S603 (this interpreter)
            command, capture_output=True, text=True, timeout=_SECONDS, check=False, cwd=folders[0]
        )
        return dict(json.loads(done.stdout.rsplit("\n", 2)[-2]))
    except (subprocess.TimeoutExpired, ValueError, IndexError):
        return dict.fromkeys(handlers, "importing it ended the process or took too long")
